"""Reads and changes programs as gen_workload writes them.

It is not a YAML reader: gen_workload writes each step and each entry of `run`
on a line of its own.
"""

import re

PICOSECONDS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
TIME = re.compile(r"(?<=compute: )([0-9.]+)(s|ms|us|ns|ps)\b")
FIELD = re.compile(r"(\w+): ([^,{}\[\]]+)")


def _picoseconds(number, unit):
    whole, _, decimals = number.partition(".")
    scale = PICOSECONDS[unit]
    return int(whole) * scale + int(decimals or 0) * scale // 10**len(decimals)


def with_slower_computation(text, factor):
    """The same program, all of whose computations take `factor` as long."""
    return TIME.sub(
        lambda m: f"{factor * _picoseconds(m[1], m[2])}ps", text)


def _numbers(line):
    """The fields of a mapping in braces whose values are numbers."""
    return {key: float(value) for key, value in FIELD.findall(line)
            if re.fullmatch(r"[-+0-9.e]+", value)}


class Module:
    def __init__(self):
        self.memory = {}
        # Computation by `when`: each micro-batch, the first, the last.
        self.compute = {"each": 0, "first": 0, "last": 0}

    def total(self, micro_batches):
        """The picoseconds that it computes for so many micro-batches."""
        return (self.compute["each"] * micro_batches + self.compute["first"] +
                self.compute["last"])


class Stage:
    def __init__(self):
        self.count = 1
        self.run = []  # Pairs of a module's name and how often it runs.
        self.after = []


def _names(line):
    return line[line.index("[") + 1:line.rindex("]")].replace(",", " ").split()


class ProgramText:
    """What the properties need of a program."""

    def __init__(self, text):
        self.text = text
        head, rest = text.split("\nmodules:\n")
        modules, stages = rest.split("\nstages:\n")
        lines = {line.split(":")[0]: line for line in head.splitlines()}
        self.sizes = {key: int(value) for key, value in
                      _numbers(lines["sizes"]).items()}
        self.gpu = _numbers(lines.get("gpu", ""))
        self.work = _numbers(lines.get("work", ""))
        self.schedule = lines.get("schedule", ":").split(":")[1].strip()
        self.modules = self._read_modules(modules)
        self.stages = self._read_stages(stages)

    @staticmethod
    def _read_modules(text):
        modules = {}
        for line in text.splitlines():
            if line.startswith("  - name: "):
                module = modules[line.split(": ")[1].strip()] = Module()
            elif line.startswith("    memory:"):
                module.memory = _numbers(line)
            elif match := TIME.search(line):
                when = re.search(r"when: (\w+)", line)
                module.compute[when[1] if when else "each"] += _picoseconds(
                    match[1], match[2])
        return modules

    @staticmethod
    def _read_stages(text):
        stages = []
        for line in text.splitlines():
            if line.startswith("  - "):
                stages.append(Stage())
            if "modules: [" in line:
                times = re.search(r"times: (\d+)", line)
                stages[-1].run += [
                    (name, int(times[1]) if times else 1)
                    for name in _names(line[line.index("modules:"):])]
            elif "count: " in line:
                stages[-1].count = int(line.split("count: ")[1])
            elif "after: [" in line:
                stages[-1].after = _names(line)
        return [stage for stage in stages for _ in range(stage.count)]

    def compute(self, stage):
        """The picoseconds that a rank of the stage computes."""
        batches = self.sizes["micro_batches"]
        return (sum(self.modules[name].total(batches) * times
                    for name, times in stage.run) +
                sum(self.modules[name].total(1) for name in stage.after))

    def memory(self, stage, part, where=lambda name: True):
        """The bytes of `part` that the modules of a stage keep."""
        return sum(self.modules[name].memory.get(part, 0) * times
                   for name, times in stage.run if where(name))

    def optimizer_time(self, stage):
        """The picoseconds that the optimizer of a stage takes."""
        return sum(self.modules[name].total(1) for name in stage.after
                   if name.startswith("optimizer"))

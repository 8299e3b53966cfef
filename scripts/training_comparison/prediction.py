"""From a row to a prediction."""

import dataclasses
import json
import subprocess

from .frameworks import Framework, find_framework, framework_options
from .frameworks import overlap_options
from .gpus import gpu_options
from .models import model_yaml
from .rows import LeftOut, integer, read_zero, with_layout
from .systems import find_system, network_options

TIME_LIMIT = 120  # Seconds for one program.


@dataclasses.dataclass(frozen=True)
class Prediction:
    """Of an iteration, and of the fullest GPU."""

    seconds: float
    allocated_gib: float | None
    reserved_gib: float | None


def layout_options(row):
    gpus = integer(row, "gpus")
    sizes = {name: integer(row, name) for name in ("tp", "pp", "cp", "ep")}
    options = ["--world-size", str(gpus)]
    for name, size in sizes.items():
        options += [f"--{name}", str(size)]
    if sizes["ep"] > 1:
        options += ["--etp", "1"]
    if sizes["cp"] > 1 and "SimuMax" in (row.get("source") or ""):
        options += ["--cp-method", "all-to-all"]  # The only one it models.
    vpp = integer(row, "vpp")
    if vpp > 1 and sizes["pp"] > 1:
        options += ["--vpp", str(vpp)]
    if sizes["tp"] > 1 and (integer(row, "sp") or sizes["ep"] > 1):
        options.append("--sp")
    for name, column in (("--micro-batch", "micro_batch"),
                         ("--global-batch", "global_batch"),
                         ("--seq-length", "seq")):
        options += [name, str(integer(row, column))]
    return options


def run(command):
    """Runs one of our programs; its one line of error is why a row is out."""
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        raise LeftOut(f"no result within {TIME_LIMIT} s") from None
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise LeftOut((errors or ["failed"])[-1].split("error: ")[-1]
                      .removeprefix("illegal layout: "))


def part_layers(row):
    """Of each chunk: the embedding and the loss count as a layer each."""
    parts = integer(row, "pp") * integer(row, "vpp")
    each, left = divmod(integer(row, "layers") + 2, parts)
    layers = [each] * (parts - left) + [each + 1] * left
    layers[0] -= 1
    layers[-1] -= 1
    return ",".join(map(str, layers))


def generate(row, options, program, bin_dir, assumed):
    """Writes the program."""
    command = [bin_dir / "gen_workload", "--format", "program", "-o", program]
    command += options + layout_options(row)
    try:
        run(command)
    except LeftOut as reason:
        if not str(reason).startswith("VPP"):
            raise
        assumed.append(f"uneven chunks, for {reason}")
        run(command + ["--stage-layers", part_layers(row)])


def predict(row, folder, bin_dir, assumed):
    row = with_layout(row, assumed)
    read_zero(row, assumed)
    system, framework = find_system(row), find_framework(row)
    if framework is None:
        assumed.append("a framework that hides nothing")
        framework = Framework("", "megatron")
    folder.mkdir(parents=True, exist_ok=True)
    model, program = folder / "model.yaml", folder / "program.yaml"
    model.write_text(model_yaml(row), encoding="utf-8")
    options = (["--model", model] + gpu_options(row, system, framework)
               + framework_options(row, framework, assumed))
    generate(row, options, program, bin_dir, assumed)
    run([bin_dir / "simai_analytical", "-w", program, "-o", folder]
        + network_options(row, system, folder)
        + overlap_options(row, framework))
    result = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    memory = result.get("memory", {})
    return Prediction(result["result"]["iteration_ps"] * 1e-12,
                      memory.get("allocated_memory_gib"),
                      memory.get("reserved_memory_gib"))

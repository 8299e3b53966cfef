"""The numbers in the JSON files of a run, under the names of simai_sweep.

A number in a nested mapping has the names of both, with the unit last: TP of
exposed_ps becomes exposed_TP_ms. Times in ps become ms.
"""

from __future__ import annotations

# Sections of run.json that say what a run came to; the others are its inputs.
_SECTIONS = ("result", "iteration", "memory", "simulated")
# Numbers that identify something or count the simulator's own work.
_NO_METRICS = ("reported_rank", "rank_programs", "sizes", "stage",
               "packet_hops", "records_left_out")
_UNITS = ("_ps", "_ns", "_us", "_ms", "_s", "_gib", "_mib", "_bytes", "_GBps",
          "_Gbps")
_PS_PER_MS = 1e9


def summary_of(files):
    """Returns {name: number} of the JSON files of a run, by their names."""
    name = next((name for name in ("run", "capacity", "plan")
                 if name in files), None)
    if name is None:
        return {}
    content = files[name]
    sections = [content[section] for section in _SECTIONS
                if isinstance(content.get(section), dict)]
    summary = {}
    for section in sections if "result" in content else [content]:
        for key, number in _numbers(section, "", ""):
            summary.setdefault(key, number)
    return summary


def _numbers(section, prefix, unit):
    """Yields (name, number) for all numbers in a section.

    Counts by reason are left out: the reasons are phrases, not names.
    """
    for key, value in section.items():
        if " " in key:
            continue
        own = next((end for end in _UNITS if key.endswith(end)), "")
        name = prefix + key[:len(key) - len(own)]
        own = own or unit
        if isinstance(value, dict):
            yield from _numbers(value, name + "_", own)
        elif isinstance(value, (bool, int, float)) and key not in _NO_METRICS:
            if own == "_ps":
                yield name + "_ms", value / _PS_PER_MS
            else:
                yield name + own, value

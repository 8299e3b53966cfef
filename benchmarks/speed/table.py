"""The table: a row for each case, five columns for each mode."""

NAME_WIDTH = 26
COLUMNS = (("wall_s", 9), ("cpu_s", 9), ("MiB", 8), ("hops", 10),
           ("skipped", 10))
MODE_WIDTH = sum(width for _, width in COLUMNS)


def header(modes):
    names = "".join(f"{mode.name:>{MODE_WIDTH}}" for mode in modes)
    columns = "".join(f"{name:>{width}}" for name, width in COLUMNS)
    return (f"{'':<{NAME_WIDTH}}{names}\n"
            f"{'case':<{NAME_WIDTH}}{columns * len(modes)}")


def count(number):
    """As a whole number up to five digits, else with three."""
    return str(number) if number < 100_000 else f"{number:.2e}"


def figures(result):
    if result.problem:
        return f"{result.problem:>{MODE_WIDTH}}"
    values = (f"{result.wall_s:.2f}", f"{result.cpu_s:.2f}",
              f"{result.peak_mib:.0f}", count(result.executed),
              count(result.skipped))
    return "".join(f"{value:>{width}}"
                   for value, (_, width) in zip(values, COLUMNS))


def row(name, results):
    return f"{name:<{NAME_WIDTH}}" + "".join(map(figures, results))

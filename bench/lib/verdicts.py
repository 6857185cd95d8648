"""How often verdicts are wrong, and how many runs they take, by simulation: core/tests/acceptance.rs, all of it."""

import os
import subprocess
from pathlib import Path

from .report import Record, say, verdict
from .server import ROOT

COMMAND = ["cargo", "test", "--release", "--locked", "--package", "pgfsbench-core", "--test", "acceptance"]


def verdicts(_):
    """A line of JSON for each figure; of each row of the table the figure that is nearest to its bound is told, or furthest beyond."""
    record = Record("verdicts")
    path = os.environ["PATH"] + os.pathsep + str(Path.home() / ".cargo/bin")
    environment = {**os.environ, "PGFSBENCH_ACCEPTANCE": "all", "PATH": path}
    done = subprocess.run(
        [*COMMAND, "--", "--nocapture"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    # The test's own words may stand before the first figure, in the same line.
    lines = (line.partition("figure: ")[2] for line in done.stdout.splitlines())
    figures = [figure_of(line) for line in lines if line]
    for figure in figures:
        record.add(**figure)
    if "test result: " not in done.stdout:
        say(done.stdout)
        verdict("the simulation broke off", False, "all rows")
    for (row, what), group in groups(figures):
        worst = min(group, key=room)
        met = all(room(figure) >= 0 for figure in group)
        verdict(f"{row}: {what}, {len(group)} settings, worst {worst['value']} ({worst['setting']})", met, f"{worst['word']} {worst['bound']}")


def figure_of(line):
    row, setting, what, value, bound, _ = line.split(" | ")
    word, _, bound = bound.rpartition(" ")
    return {"row": row, "setting": setting, "what": what, "value": float(value), "word": word, "bound": float(bound)}


def groups(figures):
    """By row and what it is of, in the order of the table."""
    order = lambda key: (int(key[0].rstrip("abc")), key[0], key[1])
    keys = sorted({(f["row"], f["what"]) for f in figures}, key=order)
    return [(key, [f for f in figures if (f["row"], f["what"]) == key]) for key in keys]


def room(figure):
    """Distance of a figure to its bound; below zero it misses the bound."""
    left = figure["bound"] - figure["value"]
    return left if figure["word"] == "at most" else -left

"""What windows of this machine differ by without PostgreSQL: how much of the noise of runs is the machine's."""

import math
import statistics
import subprocess

from .report import Record, say
from .server import ROOT

KINDS = {
    "arithmetic": "multiplications",
    "cache": "loads from the cache that processors share",
    "kernel": "system calls and page faults",
}


def spells(o):
    record = Record("spells")
    program = ROOT / "target/bench/machine"
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, ROOT / "bench/machine.c"], check=True)
    for kind, what in KINDS.items():
        output = subprocess.run([program, kind, str(o.seconds), str(2 * o.pairs)], check=True, capture_output=True, text=True).stdout
        pieces = [float(line) for line in output.split()]
        pairs = list(zip(pieces[::2], pieces[1::2], strict=True))
        sd = statistics.stdev(math.log(b / a) for a, b in pairs)
        middle = statistics.median(pieces)
        record.add(kind=kind, seconds=o.seconds, pieces=pieces, sd=sd)
        say(f"  {what}: sd of ln ratio of {len(pairs)} pairs of windows of {o.seconds} s: {100 * sd:.1f} %; from {min(pieces) / middle:.0%} to {max(pieces) / middle:.0%} of their median")

"""Differences between windows of this machine without PostgreSQL, and its speed next to windows of runs: the machine's share of the noise of runs."""

import math
import statistics
import subprocess
import tempfile

from .report import Record, say
from .server import ROOT

KINDS = {
    "arithmetic": "multiplications",
    "cache": "loads from the cache that processors share",
    "kernel": "system calls and page faults",
}


def built():
    program = ROOT / "target/bench/machine"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O2", "-pthread", "-o", program, ROOT / "bench/machine.c"], check=True)
    return program


class Beside:
    """A small piece of other work five times a second, as long as this is entered: what it took in a window tells how fast the machine was then."""

    def __enter__(self):
        self.output = tempfile.NamedTemporaryFile()
        self.process = subprocess.Popen([built(), "beside"], stdout=self.output)
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait()
        self.output.close()

    def mean(self, begin, end):
        """Microseconds of a processor between these times (s since 1970)."""
        if self.process.poll() is not None:
            raise RuntimeError("the program beside the windows has ended by itself")
        # By a description of its own, so that the process goes on writing where it is.
        with open(self.output.name, encoding="utf-8") as output:
            pieces = [line.split() for line in output.read().splitlines()[:-1]]
        return statistics.mean(float(us) for at, us in pieces if begin <= float(at) <= end)


def spells(o):
    record = Record("spells")
    program = built()
    for kind, what in KINDS.items():
        output = subprocess.run([program, kind, str(o.seconds), str(2 * o.pairs)], check=True, capture_output=True, text=True).stdout
        pieces = [float(line) for line in output.split()]
        pairs = list(zip(pieces[::2], pieces[1::2], strict=True))
        sd = statistics.stdev(math.log(b / a) for a, b in pairs)
        middle = statistics.median(pieces)
        record.add(kind=kind, seconds=o.seconds, pieces=pieces, sd=sd)
        say(f"  {what}: sd of ln ratio of {len(pairs)} pairs of windows of {o.seconds} s: {100 * sd:.1f} %; from {min(pieces) / middle:.0%} to {max(pieces) / middle:.0%} of their median")

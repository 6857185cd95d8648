"""Scripts inside the server: against pgbench with the same file, and against the builtin workload of the same statements."""

import re
import statistics
import subprocess

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, ROOT, STABLE_PLANS, Server
from .tps import PIPELINED, SCALE, paired, readable

CLIENTS = 8
# The least ratio of each comparison: of the script to that side.
TARGETS = {"pgbench": 3.0, "builtin": 0.80, "select": 4.0, "commands": 0.98, "functions": 1.0}
FLUSH_RANGE = (0.95, 1.05)
# Functions of which a million evaluations are timed.
FUNCTIONS = {
    "random": "random(1, 1000000)",
    "gaussian": "random_gaussian(1, 1000000, 2.5)",
    "exponential": "random_exponential(1, 1000000, 2.5)",
    "zipfian": "random_zipfian(1, 1000000, 1.2)",
    "zipfian-1.001": "random_zipfian(1, 1000000, 1.001)",
    "hash": "hash(123)",
    "permute": "permute(77, 1000000)",
}
EVALUATIONS = 1000


class Sides:
    """The sides of a comparison, on one server and with one length of windows."""

    def __init__(self, server, o):
        self.server, self.o = server, o

    def file(self, name, text):
        """A file for pgbench that the servers' owner can read."""
        place = (ROOT / "target/bench" / name)
        place.write_text(text)
        return readable(place)

    def script(self, text, **options):
        """tps of the script in fsbench.run."""
        return self.server.run(
            workload="script", scripts=text, scale=SCALE, clients=CLIENTS, warmup=f"{self.o.warmup} s", duration=f"{self.o.seconds} s",
            settings=STABLE, **options,
        )["tps"]

    def pgbench(self, file):
        """tps of the same file in pgbench."""
        return self.server.pgbench_tps(SCALE, CLIENTS, self.o.warmup, self.o.seconds, settings=STABLE_PLANS, script=file)

    def builtin(self):
        """tps of the workload tpcb."""
        return self.server.fsbench_tps(SCALE, CLIENTS, self.o.warmup, self.o.seconds)


STABLE = '{"enable_seqscan": "off", "plan_cache_mode": "force_generic_plan"}'


def text_of(server, name):
    """The text of a script of pgbench's own."""
    env = server.env
    # pgbench shows it on standard error.
    done = subprocess.run(["pgbench", f"--show-script={name}"], env=env, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "".join(line for line in done.stdout.splitlines(True) if not line.startswith("--"))


def compare(record, o, what, runs, target):
    """Alternates the two sides, and judges the median of their ratios."""
    above, below = runs
    found = paired(record, runs, range(o.pairs), above, below, "tps", comparison=what)
    low, high = target if isinstance(target, tuple) else (target, None)
    middle = statistics.median(found)
    shown = f"{low}x" + (f" to {high}x" if high else "")
    verdict(ratios(what, found), middle >= low and (high is None or middle <= high), shown)


def script(o):
    """Each comparison of issue 39's table of speed."""
    record = Record("script")
    with Server(NO_FLUSH, o.directory) as server:
        sides = Sides(server, o)
        tpcb, select = text_of(server, "tpcb-like"), text_of(server, "select-only")
        tpcb_file, select_file = sides.file("tpcb.sql", tpcb), sides.file("select.sql", select)
        say(f"{CLIENTS} clients, scale {SCALE}, stable plans on all sides")
        compare(record, o, "tpcb as a script, to pgbench -f", {"script": lambda: sides.script(tpcb), "pgbench": lambda: sides.pgbench(tpcb_file)}, TARGETS["pgbench"])
        compare(record, o, "tpcb as a script, to the workload tpcb", {"script": lambda: sides.script(tpcb), "builtin": sides.builtin}, TARGETS["builtin"])
        compare(record, o, "select-only as a script, to pgbench -f", {"script": lambda: sides.script(select), "pgbench": lambda: sides.pgbench(select_file)}, TARGETS["select"])
        off = '{"commands": false}'
        compare(record, o, "figures of commands, on to off", {"on": lambda: sides.script(tpcb), "off": lambda: sides.script(tpcb, options=off)}, TARGETS["commands"])
        functions(record, o, sides)
    at_a_flush(record, o)


def at_a_flush(record, o):
    """With every flush of the WAL taking 1 ms the two agree."""
    library = ROOT / "target/bench/flush1ms.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, ROOT / "bench/flush1ms.c"], check=True)
    settings = {"fsync": "on", "synchronous_commit": "on", "wal_sync_method": "fdatasync"}
    with Server(settings, o.directory, preload=readable(library)) as server:
        sides = Sides(server, o)
        tpcb = text_of(server, "tpcb-like")
        file = sides.file("tpcb.sql", tpcb)
        runs = {"script": lambda: sides.script(tpcb), "pgbench": lambda: sides.pgbench(file)}
        compare(record, o, "tpcb as a script at a flush of 1 ms, to pgbench -f", runs, FLUSH_RANGE)
        runs = {"script": lambda: sides.script(tpcb), "pipelined": lambda: sides.pgbench(PIPELINED)}
        compare(record, o, "tpcb as a script at a flush of 1 ms, to pgbench with one round trip", runs, FLUSH_RANGE)


def functions(record, o, sides):
    """A million evaluations of each function, by one client, to pgbench's: transactions a second of scripts of 1000 evaluations."""
    for name, call in FUNCTIONS.items():
        text = f"\\set x {call}\n" * EVALUATIONS
        file = sides.file(f"{name}.sql", text)

        def ours(text=text):
            run = sides.server.run(
                workload="script", scripts=text, init_script="SELECT 1;", clients=1, transactions=1000, options='{"commands": false}'
            )
            return run["tps"]

        def theirs(file=file):
            out = sides.server.pgbench("-n", "-c", 1, "-t", 1000, "-f", file, "postgres")
            return float(re.search(r"^tps = ([0-9.]+)", out, re.M).group(1))

        compare(record, o, f"a million of {name}", {"script": ours, "pgbench": theirs}, TARGETS["functions"])

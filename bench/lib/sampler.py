"""What measuring costs: the same run with and without what is measured beside transactions."""

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, Server
from .stats import lower_bound, mean_ratio, pairs_needed
from .tps import SCALE, paired

CLIENTS = 16
BOUND = 0.98
ESTIMATE = 0.99
PILOT = 12
MOST = 240
TIMING = ("track_wal_io_timing", "track_io_timing")


def sampler(o):
    """Everything that a run measures by itself."""
    against("sampler", o, NO_FLUSH, lambda on: {"options": {"sample": on}})


def timing(o):
    """The server's own clocks around each read, write and flush, which are off by default: with flushes, to tmpfs.
    Nothing is promised of it."""
    switched = lambda on: {"settings": {name: "on" if on else "off" for name in TIMING}}
    against("timing", o, {"fsync": "on", "synchronous_commit": "on"}, switched, promised=False)


def against(name, o, settings, switched, promised=True):
    """A pilot tells how many pairs the noise asks for; their number is then fixed before anyone looks again."""
    record = Record(name)
    with Server(settings, o.directory) as server:
        def run(on):
            return server.fsbench_tps(SCALE, CLIENTS, o.warmup, o.seconds, **switched(on))

        runs = {"on": lambda: run(True), "off": lambda: run(False)}
        found = []

        def measure(until):
            found.extend(paired(record, runs, range(len(found), until), "on", "off", "tps", clients=CLIENTS))

        measure(min(PILOT, o.pairs))
        needed = pairs_needed(found, BOUND, o.pairs)
        say(f"  pilot of {len(found)}: {needed} pairs (at most {o.pairs})")
        measure(needed)
        bound, mean = lower_bound(found), mean_ratio(found)
        say("  " + ratios("on / off", found))
        if not promised:
            return say(f"  mean {mean:.4f}, 95 % lower bound {bound:.4f}; only watched")
        verdict(f"mean {mean:.4f}", mean >= ESTIMATE, ESTIMATE)
        verdict(f"95 % lower bound {bound:.4f}", bound >= BOUND, BOUND)

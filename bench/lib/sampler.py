"""The cost of measuring, relative to the transactions that are measured."""

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, Server
from .stats import lower_bound, mean_ratio
from .tps import SCALE, paired

CLIENTS = 16
BOUND = 0.98
ESTIMATE = 0.99
TIMING = ("track_wal_io_timing", "track_io_timing")

def sampler(o):
    """All that a run samples beside its transactions, on and off in alternating runs."""
    record = Record("sampler")
    with Server(NO_FLUSH, o.directory) as server:
        def run(on):
            return lambda: server.fsbench_tps(SCALE, CLIENTS, o.warmup, o.seconds, options={"sample": on})

        found = paired(record, {"on": run(True), "off": run(False)}, range(o.pairs), "on", "off", "tps", clients=CLIENTS)
    say("  " + ratios("on / off", found))
    bound, mean = lower_bound(found), mean_ratio(found)
    verdict(f"mean {mean:.4f}", mean >= ESTIMATE, ESTIMATE)
    verdict(f"95 % lower bound {bound:.4f}", bound >= BOUND, BOUND)


def timing(o):
    """The server's own clocks around each read, write and flush, which are off by default: with flushes, to tmpfs.
    Nothing is promised of it."""
    record = Record("timing")
    with Server({"fsync": "on", "synchronous_commit": "on"}, o.directory) as server:
        def run(switch):
            settings = {name: switch for name in TIMING}
            return lambda: server.fsbench_tps(SCALE, CLIENTS, o.warmup, o.seconds, settings=settings)

        found = paired(record, {"on": run("on"), "off": run("off")}, range(o.pairs), "on", "off", "tps", clients=CLIENTS)
        say("  " + ratios("on / off", found))
        say(f"  mean {mean_ratio(found):.4f}, 95 % lower bound {lower_bound(found):.4f}; only watched")

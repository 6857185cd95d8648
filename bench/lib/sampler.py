"""What measuring costs beside the transactions that are measured."""

import json
import statistics

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, Server
from .stats import lower_bound, mean_ratio
from .tps import SCALE, paired

CLIENTS = 16
BOUND = 0.98
ESTIMATE = 0.99
TIMING = ("track_wal_io_timing", "track_io_timing")
# Of four seconds: one that is sampled, and its neighbour that is not. Each side comes first as often as the other.
PAIRS = ((0, 1), (3, 2))


def sampler(o):
    """Everything that a run looks at by itself, on and off by seconds of the same run: whole runs differ by more than what
    it could cost."""
    record = Record("sampler")
    found = []
    with Server(NO_FLUSH, o.directory) as server:
        while len(found) < o.pairs:
            run = server.run(
                scale=SCALE, clients=CLIENTS, warmup=f"{o.warmup} s", duration=f"{o.seconds} s",
                options=json.dumps({"sample_alternately": True}),
            )
            of_run = ratios_of(server, run["run_id"])
            record.add(clients=CLIENTS, run=run["run_id"], tps=run["tps"], ratios=of_run)
            say(f"  {run['tps']:8.0f} tps: {len(of_run)} pairs of seconds, on / off = {mean_ratio(of_run):.4f} (mean), {statistics.median(of_run):.4f} (median)")
            found += of_run
    say("  " + ratios("on / off", found))
    bound, mean = lower_bound(found), mean_ratio(found)
    verdict(f"mean {mean:.4f}", mean >= ESTIMATE, ESTIMATE)
    verdict(f"95 % lower bound {bound:.4f}", bound >= BOUND, BOUND)


def ratios_of(server, run_id):
    """tps of seconds that were sampled to that of their neighbours that were not."""
    seconds = server.query(
        f"SELECT second, transactions * 1000.0 / interval_ms AS tps, \
            EXISTS (SELECT FROM fsbench.wait_event w WHERE (w.run_id, w.second) = (s.run_id, s.second)) AS sampled \
            FROM fsbench.sample s WHERE run_id = {run_id} AND interval_ms BETWEEN 990 AND 1010"
    )
    tps = {row["second"]: row["tps"] for row in seconds}
    on = {on for on, _ in PAIRS}
    if any(row["sampled"] != (row["second"] % 4 in on) for row in seconds):
        raise SystemExit("other seconds were sampled than those that should have been")
    starts = range(0, max(tps) + 1, 4)
    pairs = [(start + on, start + off) for start in starts for on, off in PAIRS]
    return [tps[on] / tps[off] for on, off in pairs if on in tps and off in tps]


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

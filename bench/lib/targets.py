"""Targets on images in memory: how soon one is ready, how fast the data are copied, and that the tps are the server's own."""

import statistics
import subprocess
import time

from .helper import Helper, Prepared, as_postgres
from .report import Record, ratios, say, verdict
from .server import Server
from .tps import alternate, paired

SOONER = 3
COPY = 0.8
SAME = (0.95, 1.05)
FILESYSTEM = "ext4"
IMAGE = "6GB"


def target(server):
    server.sql(f"SELECT fsbench.create_target('t', filesystem => '{FILESYSTEM}', image_size => '{IMAGE}')")


def phases(run):
    return {phase["phase"]: phase for phase in run["phases"]}


def ready(o):
    """From mkfs to the first transaction, against mkfs, initdb and `pgbench -i`, the start of the server not counted. And the
    rate of our copy against that of `cp -a` and a sync to the same target, a moment later."""
    record = Record("ready")
    with Server({}, o.directory) as server, Helper(server, o.directory):
        target(server)

        def fsbench():
            run = server.run(target="t", scale=o.scale, clients=1, transactions=1, warmup="0")
            steps = phases(run)
            rate = server.query(f"SELECT (storage->'data'->>'copied_bytes')::float8 / (storage->'data'->>'copy_ms')::float8 AS rate"
                                f" FROM fsbench.environment WHERE run_id = {run['run_id']}")[0]["rate"] / 1000
            return (steps["measure"]["started_ms"] - steps["filesystem"]["started_ms"]) / 1000, rate

        def pgbench():
            with Prepared(server, "t") as made:
                seconds = made.mkfs_seconds + made.initdb()
                with made.running() as there:
                    seconds += as_postgres(there, "pgbench", "-i", "-q", "-s", o.scale, "postgres")
            return seconds, None

        def by_cp():
            source = server.sql("SELECT directory || '/data' FROM fsbench.prepared_data")
            with Prepared(server, "t") as made:
                size = int(subprocess.run(["du", "-sb", source], check=True, capture_output=True, text=True).stdout.split()[0])
                seconds = as_postgres(server, "cp", "-a", "--reflink=never", source, made.directory / "data")
                began = time.monotonic()
                subprocess.run(["sync", "-f", made.directory], check=True)
                return size / (seconds + time.monotonic() - began) / 1e6

        fsbench()  # loads the data once
        found, copies = [], []
        for pair in range(o.pairs):
            t, order = alternate({"fsbench": fsbench, "pgbench": pgbench}, pair)
            (ours, rate), (theirs, _) = t["fsbench"], t["pgbench"]
            cp = by_cp()
            found.append(theirs / ours)
            copies.append(rate / cp)
            record.add(scale=o.scale, pair=pair, order=order, seconds={"fsbench": ours, "pgbench": theirs}, ratio=found[-1],
                       copy_mb_s=rate, cp_mb_s=cp, copy_ratio=copies[-1])
            say(f"  mkfs, initdb, pgbench -i {theirs:6.2f} s / ready {ours:6.2f} s = {found[-1]:.3f}; "
                f"copy {rate:.0f} MB/s / cp -a {cp:.0f} MB/s = {copies[-1]:.3f}")
        verdict(ratios("times as soon", found), statistics.median(found) >= SOONER, f"{SOONER}x")
        verdict(ratios("of cp -a", copies), statistics.median(copies) >= COPY, f"{COPY:.0%}")


def same(o):
    """tps of run(target => ...) against those of the same run started by hand in a server on the same kind of image."""
    record = Record("same")
    clients = (o.clients or [8])[0]
    arguments = {"scale": o.scale, "clients": clients, "warmup": f"{o.warmup} s", "duration": f"{o.seconds} s"}
    with Server({}, o.directory) as server, Helper(server, o.directory):
        target(server)

        def on_target():
            return server.run(target="t", options='{"data": "loaded"}', **arguments)["tps"]

        def by_hand():
            with Prepared(server, "t") as made:
                made.initdb()
                with made.running() as there:
                    there.sql("CREATE EXTENSION pgfsbench")
                    return there.run(**arguments)["tps"]

        runs = {"target": on_target, "by hand": by_hand}
        found = paired(record, runs, range(o.pairs), "target", "by hand", "tps", clients=clients)
        median = statistics.median(found)
        verdict(ratios("of the tps by hand", found), SAME[0] <= median <= SAME[1], f"{SAME[0]} to {SAME[1]}")

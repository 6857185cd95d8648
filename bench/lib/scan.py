"""Parallel scans: their time against psql's, loading against study 4's way, and whether cold is cold and warm is warm."""

import json
import statistics
import subprocess
import time

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, Server
from .tps import paired

# The time of a scan against psql's.
SAME = (0.97, 1.03)
# Rows per second against psql's INSERT ... SELECT generate_series, with one session and with several.
LOAD = {1: 2.0, 4: 3.0}
SESSIONS = {
    "parallel_setup_cost": 0, "parallel_tuple_cost": 0, "min_parallel_table_scan_size": 0, "track_io_timing": "on",
}
TABLE = "CREATE UNLOGGED TABLE t_bit2 (id bit(200)) WITH (autovacuum_enabled = off, parallel_workers = 128)"
BITS = "10" * 100


def scan(o):
    """Both scan tables of the same rows in the same server, from the page cache: psql one that a run has left, each run its
    own. The median of five scans on either side is a pair's time; psql's first scan, which fills its caches of catalogs, is left out."""
    record = Record("scan")
    with Server(NO_FLUSH | {"shared_buffers": "256MB"}, o.directory) as server:
        def run(degree, **more):
            options = {"degrees": [degree], "repeats": 5, "readers": [], "unlogged": True}
            return server.run(workload="scan", scale=o.scale, options=json.dumps(options), **more)

        kept = run(1, keep=True)["work_database"]

        def fsbench(degree):
            run_id = run(degree)["run_id"]
            times = server.query(f"SELECT ms FROM fsbench.scan WHERE run_id = {run_id} AND used")
            return statistics.median(row["ms"] for row in times)

        def psql(degree):
            settings = SESSIONS | {"max_parallel_workers_per_gather": degree, "max_parallel_workers": 32}
            times = server.timed("SELECT count(*) FROM fsbench_scan", 6, settings, kept)
            return statistics.median(times[1:])

        server.sql("ALTER TABLE fsbench_scan SET (parallel_workers = 32)", kept)
        for degree in (1, 2, 4):
            runs = {"fsbench": lambda d=degree: fsbench(d), "psql": lambda d=degree: psql(d)}
            found = paired(record, runs, range(o.pairs), "fsbench", "psql", "ms", degree=degree)
            low, high = SAME
            verdict(ratios(f"degree {degree}, time", found), low <= statistics.median(found) <= high, f"{low} to {high}")


def scanload(o):
    """Rows per second of the load alone, with as many sessions on either side."""
    record = Record("scanload")
    rows = o.scale * 1_000_000
    with Server(NO_FLUSH, o.directory) as server:
        def fsbench(sessions):
            options = {"degrees": [1], "repeats": 1, "readers": [], "unlogged": True, "loaders": sessions}
            run = server.run(workload="scan", scale=o.scale, options=json.dumps(options))
            return next(phase["ms"] for phase in run["phases"] if phase["phase"] == "load") / 1000

        def psql(sessions):
            server.sql("CREATE DATABASE by_psql TEMPLATE template0")
            server.sql(TABLE, "by_psql")
            insert = f"INSERT INTO t_bit2 SELECT B'{BITS}' FROM generate_series(1, {rows // sessions})"
            began = time.monotonic()
            processes = [subprocess.Popen(**server.psql("-c", insert, database="by_psql")) for _ in range(sessions)]
            failed = [process for process in processes if process.wait()]
            seconds = time.monotonic() - began
            server.drop("by_psql")
            if failed:
                raise SystemExit("psql could not load")
            return seconds

        for sessions, target in LOAD.items():
            runs = {"fsbench": lambda n=sessions: fsbench(n), "psql": lambda n=sessions: psql(n)}
            found = paired(record, runs, range(o.pairs), "psql", "fsbench", "seconds", sessions=sessions)
            verdict(ratios(f"{sessions} sessions, times as fast", found), statistics.median(found) >= target, f"{target}x")


def scancold(o):
    """On a disk, whose reads the kernel counts: on memory there are none."""
    record = Record("scancold")
    with Server({"shared_buffers": "128MB"}, "/var/tmp") as server:
        for cache in ("cold", "warm"):
            options = {"degrees": [1, 2, 4], "repeats": o.pairs, "readers": [], "unlogged": True, "cache": cache}
            run = server.run(workload="scan", scale=o.scale, options=json.dumps(options))
            scans = server.query(
                "SELECT degree, device_read_bytes::float8 / bytes AS share, cached_bytes::float8 / bytes AS cached "
                f"FROM fsbench.scan WHERE run_id = {run['run_id']}"
            )
            record.add(cache=cache, scans=scans)
            if any(scan["share"] is None for scan in scans):
                say("  the reads of this device are not known")
                continue
            shares = [scan["share"] for scan in scans]
            text = f"{cache}: the device read {min(shares):.4f} to {max(shares):.4f} of the table, median {statistics.median(shares):.4f}"
            if cache == "cold":
                verdict(text, min(shares) >= 0.99, "at least 0.99 each")
            else:
                verdict(text, statistics.median(shares) < 0.01, "median under 0.01: others read, too")

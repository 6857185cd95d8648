"""Parallel scans: their time against psql's, loading against study 4's way, and whether cold is cold and warm is warm."""

import json
import re
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


# Waits for a scan of the run, and then for its end: the lock is free as soon as that is over, and holds the run's next scan, before
# its clock starts, until psql's own is done.
TURN = """DO $$
BEGIN
  FOR i IN 1 .. 2000 LOOP
    PERFORM pg_stat_clear_snapshot();
    PERFORM pg_sleep(0.01);
    EXIT WHEN EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND datname = current_database());
  END LOOP;
  PERFORM pg_sleep(0.02);
END $$;
BEGIN;
LOCK TABLE fsbench_scan IN ACCESS EXCLUSIVE MODE;
SELECT 'turn', extract(epoch FROM clock_timestamp());
\\timing on
SELECT count(*) FROM fsbench_scan;
\\timing off
COMMIT;
"""


def scan(o):
    """One run's scans and those of one psql session take turns on one and the same table, in the page cache: psql's comes between two
    of the run's, and is compared with the mean of these."""
    record = Record("scan")
    with Server(NO_FLUSH | {"shared_buffers": "256MB"}, o.directory) as server:
        for degree in (1, 2, 4):
            options = {"degrees": [degree], "repeats": o.pairs + 3, "readers": [], "unlogged": True}
            waiting = server.start_waiting(workload="scan", scale=o.scale, options=json.dumps(options))
            database = server.sql(
                "DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM fsbench.progress WHERE phase = 'measure') LOOP PERFORM pg_sleep(0.05); END LOOP; END $$; "
                "UPDATE pg_database SET datallowconn = true WHERE datname LIKE 'fsbench_work_%' RETURNING datname"
            )
            script = "".join(f"SET {name} = '{value}';\n" for name, value in SESSIONS.items())
            script += f"SET max_parallel_workers_per_gather = {degree};\n" + TURN * (o.pairs + 1)
            psql = subprocess.run(**server.psql("-f", "-", database=database, stdout=subprocess.PIPE, input=script), check=True)
            run_id = server.finish(waiting)["run_id"]
            turns = re.findall(r"^turn\|([0-9.]+)\n\d+\nTime: ([0-9.]+) ms", psql.stdout, re.M)
            ours = server.query(
                "SELECT extract(epoch FROM started_at) AS at, ms, workers_launched AS workers FROM fsbench.scan "
                f"WHERE run_id = {run_id} ORDER BY scan"
            )
            found = []
            # In its first scan a session fills its caches.
            for at, ms in turns[1:]:
                before = [scan["ms"] for scan in ours if scan["at"] < float(at)][-1]
                after = [scan["ms"] for scan in ours if scan["at"] > float(at)][0]
                found.append((before + after) / 2 / float(ms))
                record.add(degree=degree, at=at, fsbench_ms=[before, after], psql_ms=float(ms), ratio=found[-1])
            say(f"  degree {degree}: fsbench {statistics.median(scan['ms'] for scan in ours):7.1f} ms, "
                f"psql {statistics.median(float(ms) for _, ms in turns):7.1f} ms")
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

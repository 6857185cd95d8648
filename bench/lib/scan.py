"""Parallel scans: their time against psql's, loading against study 4's way, and whether cold is cold and warm is warm."""

import json
import mmap
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, Server
from .tps import alternate, paired

# The time of a scan against psql's.
SAME = (0.97, 1.03)
# Rows per second against psql's INSERT ... SELECT generate_series, with one session and with several.
LOAD = {1: 2.0, 4: 3.0}
# Bytes per second of the load, against those of a file that is written in one go.
DISK = 0.9
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
    EXIT WHEN EXISTS (SELECT FROM pg_stat_activity JOIN pg_locks USING (pid)
                      WHERE backend_type = 'parallel worker' AND relation = 'fsbench_scan'::regclass);
  END LOOP;
  PERFORM pg_sleep(0.02);
END $$;
BEGIN;
LOCK TABLE fsbench_scan IN ACCESS EXCLUSIVE MODE;
DO $$
BEGIN
  -- The run's next session is not to start beside the scan; after the last one there is none.
  FOR i IN 1 .. 100 LOOP
    EXIT WHEN EXISTS (SELECT FROM pg_locks WHERE relation = 'fsbench_scan'::regclass AND NOT granted);
    PERFORM pg_sleep(0.005);
  END LOOP;
END $$;
SELECT 'turn', extract(epoch FROM clock_timestamp());
\\timing on
SELECT count(*) FROM fsbench_scan;
\\timing off
COMMIT;
"""


def scan(o):
    """One run's scans and those of one psql session take turns on one and the same table, in the page cache: psql's comes between two
    of the run's, and is compared with the mean of these. In the larger table expressions are compiled (jit), as PostgreSQL has it."""
    record = Record("scan")
    with Server(NO_FLUSH | {"shared_buffers": "256MB"}, o.directory) as server:
        for scale in (o.scale,) if o.scale else (5, 12):
            for degree in (1, 2, 4):
                ours, turns = taking_turns(server, scale, degree, o.pairs)
                found = []
                # In its first scan a session fills its caches.
                for at, ms in turns[1:]:
                    before = [scan["ms"] for scan in ours if scan["at"] < at][-1]
                    after = [scan["ms"] for scan in ours if scan["at"] > at][0]
                    found.append((before + after) / 2 / ms)
                    record.add(scale=scale, degree=degree, at=at, fsbench_ms=[before, after], psql_ms=ms, ratio=found[-1])
                medians = [statistics.median(times) for times in ([scan["ms"] for scan in ours], [ms for _, ms in turns])]
                say(f"  {scale} million rows, degree {degree}: fsbench {medians[0]:.1f} ms, psql {medians[1]:.1f} ms")
                low, high = SAME
                met = low <= statistics.median(found) <= high
                verdict(ratios(f"{scale} million rows, degree {degree}, time", found), met, f"{low} to {high}")


def taking_turns(server, scale, degree, pairs):
    """The scans of a run, and when and how long psql scanned in between."""
    options = {"degrees": [degree], "repeats": pairs + 3, "readers": [], "unlogged": True}
    waiting = server.start_waiting(workload="scan", scale=scale, options=json.dumps(options))
    opened = "UPDATE pg_database SET datallowconn = true WHERE datname = (SELECT 'fsbench_work_' || run_id FROM fsbench.progress WHERE phase = 'measure') RETURNING datname"
    while not (database := server.sql(opened)):
        if waiting.poll() is not None:
            raise SystemExit("the run failed")
        time.sleep(0.05)
    settings = SESSIONS | {"max_parallel_workers_per_gather": degree}
    script = "".join(f"SET {name} = '{value}';\n" for name, value in settings.items()) + TURN * (pairs + 1)
    done = subprocess.run(**server.psql("-f", "-", database=database, stdout=subprocess.PIPE, input=script), check=True)
    run_id = server.finish(waiting)["run_id"]
    ours = server.query(f"SELECT extract(epoch FROM started_at) AS at, ms FROM fsbench.scan WHERE run_id = {run_id} AND used ORDER BY scan")
    turns = re.findall(r"^turn\|([0-9.]+)\n\d+\nTime: ([0-9.]+) ms", done.stdout, re.M)
    return ours, [(float(at), float(ms)) for at, ms in turns]


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


def scandisk(o):
    """Bytes per second of the load, which is over when the disk has all of them, against those of one file of the same size: 1 MB
    at a time, synced in the end, or past the page cache; the faster of the two."""
    record = Record("scandisk")
    payload = os.urandom(1 << 20)

    def file(path, length, flags):
        block = mmap.mmap(-1, 1 << 20)
        block[:] = payload
        began = time.monotonic()
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | flags, 0o600)
        for _ in range(length >> 20):
            os.write(fd, block)
        os.fsync(fd)
        seconds = time.monotonic() - began
        os.close(fd)
        path.unlink()
        return (length >> 20) * 1.048576 / seconds

    # Not next to the data, where the server's owner decides what a name leads to.
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place, Server({"shared_buffers": "128MB"}, "/var/tmp") as server:
        path = Path(place) / "sequential"

        def fsbench(loaders):
            options = {"degrees": [1], "repeats": 1, "readers": [], "unlogged": True, "loaders": loaders}
            run = server.run(workload="scan", scale=o.scale, options=json.dumps(options))
            ms = next(phase["ms"] for phase in run["phases"] if phase["phase"] == "load")
            return server.query(f"SELECT max(bytes) AS bytes FROM fsbench.scan WHERE run_id = {run['run_id']}")[0]["bytes"] / 1000 / ms

        length = int(o.scale * 60e6)
        for loaders in (1, 2):
            found = []
            sides = {
                "fsbench": lambda n=loaders: fsbench(n),
                "synced": lambda: file(path, length, 0),
                "direct": lambda: file(path, length, os.O_DIRECT),
            }
            # Memory that a virtual machine has given back comes slowly: once for nothing.
            alternate(sides, 0)
            for pair in range(o.pairs):
                t, order = alternate(sides, pair)
                found.append(t["fsbench"] / max(t["synced"], t["direct"]))
                record.add(loaders=loaders, pair=pair, order=order, mb_per_second=t, ratio=found[-1])
                say(f"  loaders {loaders}: {t['fsbench']:.0f} MB/s / one file {t['synced']:.0f} synced, {t['direct']:.0f} direct = {found[-1]:.3f}")
            verdict(ratios(f"{loaders} loaders, of the disk's speed", found), statistics.median(found) >= DISK, f"{DISK}x")


def scancold(o):
    """On a disk, whose reads the kernel counts: on memory there are none."""
    record = Record("scancold")
    with Server({"shared_buffers": "128MB"}, "/var/tmp") as server:
        for cache in ("cold", "warm"):
            options = {"degrees": [1, 2, 4], "repeats": o.pairs, "readers": [], "unlogged": True, "cache": cache}
            run = server.run(workload="scan", scale=o.scale, options=json.dumps(options))
            scans = server.query(
                "SELECT degree, used, process_read_bytes::float8 / bytes AS share, device_read_bytes::float8 / bytes AS device, "
                f"cached_bytes::float8 / bytes AS cached FROM fsbench.scan WHERE run_id = {run['run_id']}"
            )
            record.add(cache=cache, scans=scans)
            if any(scan["share"] is None or scan["device"] is None for scan in scans):
                say("  the reads of this device are not known")
                continue
            made_again = sum(not scan["used"] for scan in scans)
            for whose, key in (("its processes", "share"), ("the device", "device")):
                shares = [scan[key] for scan in scans if scan["used"]]
                text = f"{cache}: {whose} read {min(shares):.4f} to {max(shares):.4f} of the table, median {statistics.median(shares):.4f}"
                if cache == "cold":
                    verdict(text, min(shares) >= 0.99, "at least 0.99 each")
                elif key == "share":
                    verdict(text, max(shares) <= 0.01, "at most 0.01 each")
                else:
                    say(f"  {text} (for whomever)")
            say(f"  {made_again} of {len(scans)} scans were made again")

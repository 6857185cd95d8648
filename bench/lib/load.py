"""Loading at scale 100: fsbench against `pgbench -i`, and whether both make the same tables."""

import hashlib
import re
import statistics
import subprocess

from .report import Record, ratios, say, verdict
from .server import Server
from .tps import paired

TARGET = 2.0
TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_tellers", "pgbench_history")

SIZES = """
SELECT c.relname AS name, pg_relation_size(c.oid, 'main') AS main, pg_relation_size(c.oid, 'vm') AS vm,
       pg_relation_size(c.oid, 'fsm') AS fsm, c.relpages, c.reltuples, c.relallvisible
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'public' AND c.relkind IN ('r', 'i') ORDER BY 1"""


def load(o):
    """Times as each tells them itself: load, vacuum and keys, without connecting and without CREATE DATABASE. Each
    database is dropped before the next is loaded, so that both sides find memory that has just been freed: a virtual
    machine may have given other free memory back to its host, and whoever needs that waits for it."""
    record = Record("load")
    with Server({}, o.directory) as server:
        def fsbench():
            server.sql("CHECKPOINT")
            run = server.run(workload="select-only", scale=o.scale, clients=1, transactions=1, keep=True)
            return run["load_ms"] / 1000, run["work_database"]

        def pgbench():
            server.sql("CREATE DATABASE by_pgbench TEMPLATE template0")
            server.sql("CHECKPOINT")
            out = server.pgbench("-i", "-q", "-s", o.scale, "by_pgbench")
            return float(re.search(r"done in ([0-9.]+) s", out).group(1)), "by_pgbench"

        sides = {"fsbench": fsbench, "pgbench": pgbench}

        def timed(side):
            seconds, database = sides[side]()
            server.drop(database)
            return seconds

        for side in sides:
            timed(side)  # a throw-away: the first one pays for memory and WAL files that nobody has used yet
        runs = {side: lambda s=side: timed(s) for side in sides}
        found = paired(record, runs, range(o.pairs), "pgbench", "fsbench", "seconds", scale=o.scale)
        verdict(ratios("times as fast", found), statistics.median(found) >= TARGET, f"{TARGET}x")
        compare(server, fsbench()[1], pgbench()[1], record)


def compare(server, ours, theirs, record):
    """pg_amcheck on ours; sizes, statistics and rows in their physical order of both."""
    check = subprocess.run(
        ["pg_amcheck", "--install-missing", "--heapallindexed", "--parent-check", "-d", ours],
        env=server.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    clean = check.returncode == 0 and not check.stdout.strip()
    say(check.stdout.rstrip()) if not clean else None
    verdict("pg_amcheck --heapallindexed --parent-check " + ("is clean" if clean else "complains"), clean, "clean")

    sizes = [{row.pop("name"): row for row in server.query(SIZES, database)} for database in (ours, theirs)]
    for name in sizes[1]:
        if sizes[0].get(name) != sizes[1][name]:
            say(f"  {name}: fsbench {sizes[0].get(name)}, pgbench {sizes[1][name]}")
    verdict(f"sizes of all forks and statistics of {len(sizes[1])} tables and keys", sizes[0] == sizes[1], "equal")

    sums = [{table: contents(server, database, table) for table in TABLES} for database in (ours, theirs)]
    for table in TABLES:
        say(f"  {table}: md5 of its rows with their ctid {sums[0][table]}")
    verdict("rows and where they are", sums[0] == sums[1], "equal")
    record.add(amcheck_clean=clean, sizes=dict(zip(("fsbench", "pgbench"), sizes)), md5=dict(zip(("fsbench", "pgbench"), sums)))


def contents(server, database, table):
    """md5 over all rows in physical order, each with its place."""
    statement = f"SET synchronize_seqscans = off; COPY (SELECT ctid, t.* FROM {table} t) TO STDOUT"
    process = subprocess.Popen(**server.psql("-c", statement, database=database, stdout=subprocess.PIPE, text=False))
    digest = hashlib.md5()
    while block := process.stdout.read(1 << 20):
        digest.update(block)
    if process.wait():
        raise SystemExit(f"could not read {table}")
    return digest.hexdigest()

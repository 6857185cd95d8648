"""Whether tps holds over 120 s at 16 clients while the caller waits, and what vacuuming makes of the hot tables."""

import statistics
import time

from .report import Record, ratios, say, verdict
from .server import NO_FLUSH, Server
from .tps import SCALE

CLIENTS = 16
TARGET = 0.9
# A table that only grew would have 1.33 times as many pages at the end of the last quarter as at that of the third.
GROWTH = 1.2

# No query may run in the work database meanwhile: a snapshot there would hold back its vacuuming. So the statistics come from the kept database after
# the end.
AFTER = """
SELECT s.relname AS table, s.n_live_tup, s.n_dead_tup, s.n_tup_upd, s.n_tup_hot_upd, s.autovacuum_count,
       pg_relation_filepath(s.relid) AS path
FROM pg_stat_all_tables s WHERE s.relname = ANY ('{pgbench_branches,pgbench_tellers}') ORDER BY 1"""


def decay(o):
    """Several runs, since the machine's own speed drifts; the median decides."""
    record = Record("decay")
    held, growth = [], {}
    for number in range(o.pairs):
        with Server(NO_FLUSH, o.directory) as server:
            run, sizes = watched_run(server, o)
            tps = per_quarter(o, seconds_of(server, run), statistics.fmean)
            held.append(tps[3] / tps[1])
            record.add(run=number, tps=run["tps"], tps_by_quarter=tps, ratio=held[-1])
            say(f"  {run['transactions_total']} transactions; tps by quarter {[round(t) for t in tps]}, last / second {held[-1]:.3f}")
            for table in server.query(AFTER, run["work_database"]):
                file = table.pop("path").rsplit("/", 1)[1]
                pages = per_quarter(o, {at: files[file] for at, files in sizes.items()}, max)
                growth.setdefault(table["table"], []).append(pages[3] / max(pages[:3]))
                record.add(run=number, **table, most_pages_by_quarter=pages)
                say(
                    f"    {table['table']}: {table['n_tup_upd']} updates ({table['n_tup_hot_upd']} HOT), at the end {table['n_dead_tup']} dead "
                    f"tuples after {table['autovacuum_count']} autovacuums; most pages by quarter {pages}"
                )
    verdict(ratios("tps of the last quarter / the second", held), statistics.median(held) >= TARGET, TARGET)
    for table, values in growth.items():
        verdict(ratios(f"{table}: pages, last quarter / before", values), statistics.median(values) <= GROWTH, f"at most {GROWTH}")


def watched_run(server, o):
    """A run that a psql waits for, and the pages of its database's files by second. They are read from outside: without
    new rows a table grows by dead tuples alone."""
    waiting = server.start_waiting(
        scale=SCALE, clients=CLIENTS, warmup=f"{o.warmup} s", duration=f"{o.seconds} s", keep=True
    )
    sizes = {}
    while waiting.poll() is None:
        time.sleep(1)
        progress = server.query(
            "SELECT phase, phase_seconds, work_database_oid::bigint AS oid "
            "FROM fsbench.progress JOIN fsbench.run_log USING (run_id)"
        )
        if progress and progress[0]["phase"] == "measure":
            directory = server.data / "base" / str(progress[0]["oid"])
            sizes[progress[0]["phase_seconds"]] = {file.name: file.stat().st_size // 8192 for file in directory.iterdir()}
    return server.finish(waiting), sizes


def seconds_of(server, run):
    """Transactions of each second of the window."""
    rows = server.query(f"SELECT second, transactions FROM fsbench.sample WHERE run_id = {run['run_id']}")
    return {row["second"]: row["transactions"] for row in rows}


def per_quarter(o, values, summary):
    """One figure for each quarter of the window, of values by second."""
    quarter = o.seconds / 4
    return [summary(v for at, v in values.items() if i * quarter <= at < (i + 1) * quarter) for i in range(4)]

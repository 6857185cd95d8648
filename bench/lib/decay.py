"""Whether tps holds over 120 s at 16 clients while the caller waits, and what vacuuming makes of the hot tables."""

import statistics
import time

from .report import Record, say, verdict
from .server import NO_FLUSH, Server
from .tps import SCALE

CLIENTS = 16
TARGET = 0.9
HOT = ("pgbench_branches", "pgbench_tellers")

# Dead tuples as the statistics count them. Nobody may ask in the work database while it runs (a snapshot there would
# hold back its vacuuming), so this is asked of the kept database after the end.
AFTER = """
SELECT s.relname, s.n_live_tup, s.n_dead_tup, s.n_tup_upd, s.n_tup_hot_upd, s.autovacuum_count,
       pg_relation_filepath(s.relid) AS path, pg_relation_size(s.relid) / 8192 AS pages
FROM pg_stat_all_tables s WHERE s.relname = ANY ('{pgbench_branches,pgbench_tellers}') ORDER BY 1"""


def decay(o):
    """The sizes of the tables' files are read from outside, each second: they can grow only by dead tuples."""
    record = Record("decay")
    with Server(NO_FLUSH, o.directory) as server:
        waiting = server.start_waiting(
            scale=SCALE, clients=CLIENTS, warmup=f"{o.warmup} s", duration=f"{o.seconds} s", keep=True
        )
        sizes, began = [], None
        while waiting.poll() is None:
            time.sleep(1)
            progress = server.query(
                "SELECT phase, phase_seconds, work_database_oid::bigint AS oid "
                "FROM fsbench.progress JOIN fsbench.run_log USING (run_id)"
            )
            if progress and progress[0]["phase"] == "measure":
                directory = server.data / "base" / str(progress[0]["oid"])
                files = {entry.name: entry.stat().st_size // 8192 for entry in directory.iterdir()}
                sizes.append((progress[0]["phase_seconds"], files))
        run = server.finish(waiting)
        samples = server.query(f"SELECT second, transactions FROM fsbench.sample WHERE run_id = {run['run_id']} ORDER BY second")
        per_second = {s["second"]: s["transactions"] for s in samples}
        record.add(tps=run["tps"], transactions=list(per_second.values()))
        after = server.query(AFTER, run["work_database"])

    quarter = o.seconds // 4
    means = [statistics.fmean(per_second[s] for s in range(i * quarter, (i + 1) * quarter)) for i in range(4)]
    say(f"{CLIENTS} clients, {o.seconds} s, {run['transactions_total']} transactions")
    say("  tps by quarter: " + ", ".join(f"{mean:.0f}" for mean in means))
    ratio = means[3] / means[1]
    verdict(f"last quarter / second quarter {ratio:.3f}", ratio >= TARGET, TARGET)
    for table in after:
        file = table.pop("path").rsplit("/", 1)[1]
        grown = [max((files[file] for at, files in sizes if i * quarter <= at < (i + 1) * quarter), default=0) for i in range(4)]
        record.add(**table, most_pages_by_quarter=grown)
        say(
            f"  {table['relname']}: {table['n_tup_upd']} updates ({table['n_tup_hot_upd']} HOT), {table['autovacuum_count']} autovacuums, "
            f"{table['n_live_tup']} live and {table['n_dead_tup']} dead tuples at the end"
        )
        bounded = grown[3] <= 1.5 * grown[1]
        verdict(f"{table['relname']}: most pages by quarter {grown}", bounded, "the last at most 1.5 times the second")

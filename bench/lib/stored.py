"""How long queries for charts take when 10,000 runs are stored, one of them of an hour; and how large a second is."""

import statistics

from .report import Record, say, verdict
from .server import Server

LIMIT_MS = 50
LIMIT_BYTES = 400
ROUNDS = 9
HOUR = 3600
# Kinds of waits in a second of a busy run.
WAITS = (
    ("CPU", "CPU"), ("IO", "WALSync"), ("IO", "DataFileRead"), ("IO", "WALWrite"),
    ("Lock", "transactionid"), ("Lock", "tuple"), ("LWLock", "WALInsert"), ("LWLock", "WALWrite"),
)

# Every chart of a run is drawn from one of these.
CHARTS = {
    "every second, all figures": "SELECT * FROM fsbench.sample WHERE run_id = {run} ORDER BY second",
    "one figure over time": "SELECT second, transactions FROM fsbench.sample WHERE run_id = {run} ORDER BY second",
    "waits over time": "SELECT second, wait_event_type, wait_event, samples FROM fsbench.wait_event WHERE run_id = {run} ORDER BY second",
    "share of each wait over time": "SELECT second, wait_event, samples::float8 / sum(samples) OVER (PARTITION BY second)"
                                    " FROM fsbench.wait_event WHERE run_id = {run}",
    "wait profile": "SELECT * FROM fsbench.wait_profile({run})",
    "wait profile of ten minutes": "SELECT * FROM fsbench.wait_profile({run}, 600, 1199)",
    "checkpoints": "SELECT * FROM fsbench.checkpoint WHERE run_id = {run} ORDER BY number",
    "histogram": "SELECT fsbench.bucket_low_ms(b), c FROM fsbench.histogram, unnest(buckets, counts) AS t (b, c) WHERE run_id = {run}",
    "a percentile": "SELECT fsbench.percentile(0.999, {run})",
    "the run": "SELECT * FROM fsbench.result WHERE run_id = {run}",
    "the last 100 runs": "SELECT * FROM fsbench.result ORDER BY run_id DESC LIMIT 100",
}


def fill(server, runs, seconds):
    """Rows as runs make them, from one real run; where its filesystem in memory has no device, seconds hold a 1."""
    real = server.run(scale=1, clients=2, warmup="0", duration="3 s")["run_id"]
    server.sql(f"""
        INSERT INTO fsbench.run_log
        SELECT n.* FROM fsbench.run_log r, generate_series(r.run_id + 1, r.run_id + {runs}) AS id,
            jsonb_populate_record(r, jsonb_build_object('run_id', id)) n WHERE r.run_id = {real}""")
    hour = real + runs // 2
    copies = f"SELECT run_id, CASE run_id WHEN {hour} THEN {HOUR} ELSE {seconds} END AS length FROM fsbench.run_log WHERE run_id > {real}"
    columns = [
        row["name"] for row in server.query(
            "SELECT attname AS name FROM pg_attribute WHERE attrelid = 'fsbench.sample'::regclass AND attnum > 2 AND NOT attisdropped ORDER BY attnum")
    ]
    server.sql(f"""
        INSERT INTO fsbench.sample (run_id, second, {', '.join(columns)})
        SELECT c.run_id, n, {', '.join(f'coalesce(s.{name}, 1)' for name in columns)}
        FROM ({copies}) c, generate_series(0, c.length - 1) AS n,
            (SELECT * FROM fsbench.sample WHERE run_id = {real} AND second = 1) s""")
    waits = ", ".join(f"('{kind}', '{event}', {10 + i})" for i, (kind, event) in enumerate(WAITS))
    server.sql(f"""
        INSERT INTO fsbench.wait_event
        SELECT c.run_id, n, w.* FROM ({copies}) c, generate_series(0, c.length - 1) AS n, (VALUES {waits}) w""")
    for table in ("histogram", "environment", "finding"):
        server.sql(f"""
            INSERT INTO fsbench.{table} SELECT n.* FROM fsbench.{table} t, ({copies}) c,
                jsonb_populate_record(t, jsonb_build_object('run_id', c.run_id)) n WHERE t.run_id = {real}""")
    # One every five minutes, as checkpoint_timeout has it.
    server.sql(f"""
        INSERT INTO fsbench.checkpoint (run_id, number, kind, started_at, start_second, started_before, ended_after)
        SELECT c.run_id, n, 'checkpoint', now(), n * 300, false, false FROM ({copies}) c, generate_series(0, c.length / 300) AS n""")
    server.sql("VACUUM ANALYZE")
    return hour


def stored(o):
    record = Record("stored")
    with Server({"fsync": "off", "autovacuum": "off"}, o.directory) as server:
        hour = fill(server, o.runs, o.seconds)
        size = server.query("""
            SELECT (pg_total_relation_size('fsbench.sample'))::float8 / (SELECT count(*) FROM fsbench.sample) AS second,
                   (pg_total_relation_size('fsbench.wait_event'))::float8 / (SELECT count(*) FROM fsbench.sample) AS waits,
                   pg_database_size(current_database()) / 2 ^ 20 AS megabytes, (SELECT count(*) FROM fsbench.run_log) AS runs""")[0]
        say(f"  {size['runs']} runs, {size['megabytes']:.0f} MB; wait events of a second take {size['waits']:.0f} bytes")
        slowest = 0.0
        for chart, query in CHARTS.items():
            times = server.timed(query.format(run=hour), ROUNDS)
            median = statistics.median(times)
            slowest = max(slowest, median)
            record.add(chart=chart, run=hour, ms=times)
            say(f"  {chart:32} {median:7.1f} ms (first {times[0]:.1f}, longest {max(times):.1f})")
        verdict(f"slowest chart {slowest:.1f} ms", slowest < LIMIT_MS, f"under {LIMIT_MS} ms")
        verdict(f"a second takes {size['second']:.0f} bytes", size["second"] < LIMIT_BYTES, f"under {LIMIT_BYTES}")

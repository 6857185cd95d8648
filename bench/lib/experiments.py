"""How long compare(), recommend() and the view of all experiments take when 10,000 runs are stored that are of experiments."""

import statistics

from .report import Record, say, verdict
from .server import Server
from .stored import fill

ROUNDS = 9
TARGETS = 4
BLOCKS = 12
# Seconds of a window of three checkpoint cycles as PostgreSQL has them.
WINDOW = 900
# Calls, and the time that each may take (ms). The runs of "noisy" differ too much to be decided, those of "alike" by next to nothing.
QUERIES = {
    "compare, noisy": ("SELECT * FROM fsbench.compare('noisy')", 300),
    "compare, alike": ("SELECT * FROM fsbench.compare('alike')", 300),
    "compare, not declared": ("SELECT * FROM fsbench.compare('alike', 'load_ms')", 300),
    "recommend": ("SELECT * FROM fsbench.recommend('alike')", 300),
    "experiments": ("SELECT * FROM fsbench.experiments", 50),
}


def experiments_of(server, runs):
    """Every 48 runs become an experiment of four targets and twelve blocks."""
    names = [f"t{n}" for n in range(TARGETS)]
    for name in names:
        server.sql(f"SELECT fsbench.create_target('{name}', directory => '/tmp')")
    server.sql(f"SELECT fsbench.experiment('first', '{{{','.join(names)}}}', baseline => 't0', scale => 1, clients => 1, start => false, seed => 1)")
    each = TARGETS * BLOCKS
    server.sql(f"""
        INSERT INTO fsbench.experiment SELECT n.* FROM fsbench.experiment e, generate_series(2, {runs // each}) AS id,
            jsonb_populate_record(e, jsonb_build_object('experiment_id', id, 'status', 'done', 'too_short', false, 'started_at', now(), 'ended_at', now(),
                'experiment', CASE id WHEN 2 THEN 'noisy' WHEN 3 THEN 'alike' ELSE 'e' || id END)) n WHERE e.experiment_id = 1;
        INSERT INTO fsbench.experiment_target (experiment_id, target_number, target, target_name, own)
        SELECT e.experiment_id, t.target_number, t.target, t.target_name, t.own FROM fsbench.experiment_target t, fsbench.experiment e
        WHERE t.experiment_id = 1 AND e.experiment_id > 1;
        INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, run_id, outcome, boot_id, versions, planned_at)
        SELECT 2 + n / {each}, 1 + n % {each} / {TARGETS}, 1 + n % {TARGETS}, n % {TARGETS}, 1, run_id, 'measured', 'b', 'v', now() + n * interval '1 s'
        FROM (SELECT run_id, row_number() OVER (ORDER BY run_id) - 1 AS n FROM fsbench.run_log) r
        WHERE 2 + n / {each} IN (SELECT experiment_id FROM fsbench.experiment);
        UPDATE fsbench.run_log r SET tps = 1000 * exp((hashint8(r.run_id) % 1000) / 1000.0 * CASE x.experiment_id WHEN 3 THEN 0.005 ELSE 0.15 END)
        FROM fsbench.experiment_run x WHERE x.run_id = r.run_id""")
    # The windows of one are as long as those of real ones.
    columns = [
        row["name"] for row in server.query(
            "SELECT attname AS name FROM pg_attribute WHERE attrelid = 'fsbench.sample'::regclass AND attnum > 2 AND NOT attisdropped ORDER BY attnum")
    ]
    server.sql(f"""
        INSERT INTO fsbench.sample (run_id, second, {', '.join(columns)})
        SELECT s.run_id, n, {', '.join('s.' + name for name in columns)} FROM fsbench.sample s, generate_series(0, {WINDOW - 1}) AS n
        WHERE s.second = 1 AND s.run_id IN (SELECT run_id FROM fsbench.experiment_run WHERE experiment_id = 3) ON CONFLICT DO NOTHING;
        INSERT INTO fsbench.wait_event
        SELECT w.run_id, n, w.wait_event_type, w.wait_event, w.samples FROM fsbench.wait_event w, generate_series(0, {WINDOW - 1}) AS n
        WHERE w.second = 1 AND w.run_id IN (SELECT run_id FROM fsbench.experiment_run WHERE experiment_id = 3) ON CONFLICT DO NOTHING""")
    server.sql("VACUUM ANALYZE")


def experiments(o):
    record = Record("experiments")
    with Server({"fsync": "off", "autovacuum": "off"}, o.directory) as server:
        fill(server, o.runs, o.seconds)
        experiments_of(server, o.runs)
        stored = server.query("SELECT (SELECT count(*) FROM fsbench.run_log) AS runs, (SELECT count(*) FROM fsbench.experiment) AS experiments")[0]
        say(f"  {stored['runs']} runs, {stored['experiments']} experiments")
        say(f"  {server.query('''SELECT answer FROM (SELECT string_agg(verdict, ', ') AS answer FROM fsbench.compare('alike')) c''')[0]['answer']}")
        for what, (query, limit) in QUERIES.items():
            times = server.timed(query, ROUNDS)
            median = statistics.median(times)
            record.add(query=what, ms=times)
            verdict(f"{what:22} {median:7.1f} ms (first {times[0]:.1f}, longest {max(times):.1f})", median < limit, f"under {limit} ms")

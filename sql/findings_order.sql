-- Findings of one run, and of several: what differs first, and in both the worst and heaviest first.
SET client_min_messages = warning;
SELECT run_id FROM fsbench.run(scale => 1, clients => 1, transactions => 20, seed => 1) \gset
RESET client_min_messages;

-- Stored findings have the weight of their kind and come in its order, like findings that are judged again.
SELECT bool_and(weight > 0) AS weighed, (SELECT array_agg(code) FROM fsbench.judge(:run_id))
         = array_agg(code ORDER BY array_position('{invalid,warning,info}', severity), weight DESC, code) AS in_order
FROM fsbench.finding WHERE run_id = :run_id;
SELECT array_agg(code ORDER BY code) = (SELECT array_agg(code ORDER BY code) FROM fsbench.judge(:run_id)) AS as_judged, bool_or(differs) AS differs
FROM fsbench.findings(ARRAY[:run_id]);

-- Several runs, of which all is said here.
BEGIN;
INSERT INTO fsbench.run_log (run_id, status, target, workload, asked, used, requested_by)
    SELECT id, CASE WHEN id < 900004 THEN 'done' ELSE 'failed' END, 'default', 'tpcb', '{}', '{}', 'somebody' FROM generate_series(900001, 900005) id;
INSERT INTO fsbench.finding (run_id, code, severity, weight, message, hint) SELECT 900000 + n, f.code, f.severity, f.weight, 'of ' || n, 'do ' || n
    FROM (VALUES ('{1,2,3}'::int[], 'data_fits_ram', 'warning', 397), ('{1,2,3}', 'fsync_off', 'invalid', 797), ('{2}', 'atime', 'info', 194),
                 ('{2,3,4}', 'noisy_neighbour', 'warning', 698), ('{1}', 'lock_waits', 'warning', 395), ('{1,3}', 'failed_transactions', 'info', 600),
                 ('{2}', 'failed_transactions', 'invalid', 600), ('{1,2,3}', 'of another version', 'warning', 0)) f (runs, code, severity, weight), unnest(runs) n;
SELECT * FROM fsbench.findings('{900003,900001,900002,900001}');
SELECT code, differs FROM fsbench.findings('{900002,900003}');
-- One that is not done says nothing: neither with nor without.
SELECT code, severity, differs, runs_with, runs_without FROM fsbench.findings('{900001,900004,900005}');
SELECT * FROM fsbench.findings('{900004}');
ROLLBACK;
SELECT count(*) FROM fsbench.findings('{}');
SELECT count(*) FROM fsbench.findings(NULL);
SELECT * FROM fsbench.findings('{0,-1,NULL,0}');

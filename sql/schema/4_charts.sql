-- Data of charts, a view each, for any program that draws: plain SQL, which takes neither psql nor plpython3u.

-- Also read by the server, where it judges experiments.
CREATE FUNCTION fsbench._metric(run_id bigint, metric text) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE $2
        WHEN 'tps' THEN r.tps
        WHEN 'missed' THEN (r.skipped + r.late)::float8
        WHEN 'even_seconds' THEN 1 - r.stall_seconds / nullif(r.measured_ms / 1000, 0)
        WHEN 'tps_cv' THEN (SELECT (stddev_samp(s.transactions / s.interval_ms) / nullif(avg(s.transactions / s.interval_ms), 0))::float8
            FROM fsbench.sample s WHERE s.run_id = r.run_id AND s.interval_ms > 0)
        WHEN 'recovery_ms' THEN (SELECT y.recovery_ms FROM fsbench.recovery y WHERE y.run_id = r.run_id)
        WHEN 'maintenance_ms' THEN (SELECT sum(m.ms) FROM fsbench.maintenance m WHERE m.run_id = r.run_id)
        -- Figures of one kind of transaction: tps of NAME, latency_p99_ms of NAME.
        ELSE CASE WHEN strpos($2, ' of ') > 0
            THEN (SELECT CASE WHEN starts_with($2, 'tps ')
                    THEN 1000 * (h.transactions - fsbench._rolled_back(h.run_id, h.transaction)) / nullif(r.measured_ms, 0)
                    WHEN h.transactions >= 10000 OR $2 !~ '^[a-z]+_p999_ms '
                    THEN fsbench.percentile(('0.' || substring($2 FROM '^[a-z]+_p([0-9]+)_ms '))::float8, h.run_id, h.measure, h.transaction) END
                FROM fsbench.histogram h WHERE h.run_id = r.run_id AND h.transaction = substr($2, strpos($2, ' of ') + 4)
                AND h.measure = CASE WHEN starts_with($2, 'commit_') THEN 'commit' ELSE 'latency' END)
            ELSE coalesce((to_jsonb(r) ->> $2)::float8, fsbench._workload_metric($1, $2)) END END
        FROM fsbench.run_log r WHERE r.run_id = $1);
COMMENT ON FUNCTION fsbench._metric IS 'A figure of a run by which experiments can decide. Private';

CREATE VIEW fsbench.chart_verdict AS
    SELECT c.experiment, c.target, c.metric, c.ratio, c.low, c.high, 1 / (1 + c.margin) AS margin_low, 1 + c.margin AS margin_high,
           c.verdict, c.says, c.blocks, c.durability, c.same_durability
    FROM fsbench.comparison c;
COMMENT ON VIEW fsbench.chart_verdict IS 'Verdicts of experiments, to be drawn: the ratio of each target with its interval, against the margin within which a difference does not count';
COMMENT ON COLUMN fsbench.chart_verdict.margin_low IS 'Lower bound of the margin, as a ratio';
COMMENT ON COLUMN fsbench.chart_verdict.margin_high IS 'Upper bound of the margin, as a ratio';

CREATE VIEW fsbench.chart_block AS
    SELECT e.experiment, t.target, x.block, x.position, x.run_id, r.started_at, x.outcome,
           coalesce(x.outcome IN ('measured', 'behind'), false) AS counts, fsbench._metric(x.run_id, e.metric) AS value,
           CASE WHEN x.outcome = 'measured' THEN fsbench._metric(x.run_id, e.metric) / nullif(b.value, 0) END AS ratio
    FROM fsbench.experiment e
    -- The best one cannot be known without fsbench.compare().
    CROSS JOIN LATERAL (SELECT CASE WHEN e.goal = 'baseline' THEN e.baseline_number
        ELSE (SELECT n.target_number FROM fsbench._compared(e.experiment) c JOIN fsbench.experiment_target n ON n.experiment_id = e.experiment_id AND n.target = c.target
              WHERE c.verdict IN ('best', 'leading') LIMIT 1) END AS reference OFFSET 0) a
    JOIN fsbench.experiment_run x ON x.experiment_id = e.experiment_id
    JOIN fsbench.experiment_target t ON t.experiment_id = x.experiment_id AND t.target_number = x.target_number
    LEFT JOIN fsbench.run_log r ON r.run_id = x.run_id
    LEFT JOIN LATERAL (
        SELECT fsbench._metric(y.run_id, e.metric) AS value FROM fsbench.experiment_run y
        WHERE y.experiment_id = x.experiment_id AND y.block = x.block AND y.target_number = a.reference AND y.outcome = 'measured'
        ORDER BY y.attempt DESC LIMIT 1) b ON true;
COMMENT ON VIEW fsbench.chart_block IS 'Runs of experiments in their order, to be drawn: what each has measured, and its ratio to the baseline (with goal best, to the best one) in the same block';
COMMENT ON COLUMN fsbench.chart_block.started_at IS 'Start of the run';
COMMENT ON COLUMN fsbench.chart_block.counts IS 'Whether it counts';
COMMENT ON COLUMN fsbench.chart_block.value IS 'Metric of the experiment in this run';
COMMENT ON COLUMN fsbench.chart_block.ratio IS 'Ratio of value to that of the baseline, or of the best target, in the same block; NULL where one of them was not measured';

CREATE VIEW fsbench.chart_target AS
    SELECT e.experiment, t.target, n.runs, n.run_ids, n.median AS metric_median, n.commit_p99_ms, n.worst_second_tps,
           n.device_bytes_per_transaction, n.recovery_ms, n.stall_seconds, n.durability, n.filesystem
    FROM fsbench.experiment e JOIN fsbench.experiment_target t USING (experiment_id), LATERAL (
        SELECT count(*) AS runs, array_agg(x.run_id ORDER BY x.run_id) AS run_ids,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY fsbench._metric(x.run_id, e.metric)) AS median,
               CASE WHEN count(h.run_id) > 0 THEN fsbench.percentile(0.99, array_agg(DISTINCT h.run_id) FILTER (WHERE h.run_id IS NOT NULL), 'commit') END AS commit_p99_ms,
               min((SELECT min(s.transactions * 1000.0 / s.interval_ms) FROM fsbench.sample s WHERE s.run_id = x.run_id AND s.interval_ms >= 500)) AS worst_second_tps,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY r.device_bytes_per_transaction) AS device_bytes_per_transaction,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY y.recovery_ms) AS recovery_ms,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY r.stall_seconds) AS stall_seconds,
               string_agg(DISTINCT v.durability, '; ') AS durability, string_agg(DISTINCT v.filesystem, '; ') AS filesystem
        FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) LEFT JOIN fsbench.environment v USING (run_id)
        LEFT JOIN fsbench.recovery y USING (run_id) LEFT JOIN LATERAL (SELECT h.run_id FROM fsbench.histogram h WHERE h.run_id = x.run_id AND h.measure = 'commit' LIMIT 1) h ON true
        WHERE x.experiment_id = e.experiment_id AND x.target_number = t.target_number AND x.outcome IN ('measured', 'behind')) n;
COMMENT ON VIEW fsbench.chart_target IS 'Targets of experiments, a row each, over the runs that count: what else than the metric is worth a look';
COMMENT ON COLUMN fsbench.chart_target.runs IS 'Runs that count';
COMMENT ON COLUMN fsbench.chart_target.run_ids IS 'These runs';
COMMENT ON COLUMN fsbench.chart_target.metric_median IS 'Median of the metric of the experiment over them';
COMMENT ON COLUMN fsbench.chart_target.commit_p99_ms IS '99th percentile of the duration of COMMIT (ms), from their merged histograms';
COMMENT ON COLUMN fsbench.chart_target.worst_second_tps IS 'Transactions in the worst second of all';
COMMENT ON COLUMN fsbench.chart_target.device_bytes_per_transaction IS 'Bytes written to the device per transaction, the median';
COMMENT ON COLUMN fsbench.chart_target.recovery_ms IS 'Crash recovery (ms), the median; NULL when it was not measured';
COMMENT ON COLUMN fsbench.chart_target.stall_seconds IS 'Seconds with less than a tenth of the transactions of the median second, the median';
COMMENT ON COLUMN fsbench.chart_target.durability IS 'Durability of its runs';
COMMENT ON COLUMN fsbench.chart_target.filesystem IS 'Type of the filesystem';

CREATE VIEW fsbench.chart_second AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, s.second, v.tps, v.tps < m.median / 10 AS stalled, s.latency_p99_ms, s.commit_p99_ms, s.device_write_bytes,
           s.device_f_await_ms, s.device_util_percent, s.dirty_bytes, s.writeback_bytes,
           s.cpu_usr_percent + s.cpu_nice_percent AS cpu_usr_percent, s.cpu_sys_percent + coalesce(s.cpu_irq_percent + s.cpu_soft_percent, 0) AS cpu_sys_percent,
           s.cpu_iowait_percent, s.cpu_steal_percent, s.device_write_bytes::float8 * 1000 / s.interval_ms AS device_write_bytes_per_s
    FROM fsbench.run_log r
    JOIN LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x.transactions * 1000.0 / x.interval_ms) AS median
                  FROM fsbench.sample x WHERE x.run_id = r.run_id AND x.interval_ms >= 500) m ON true
    JOIN fsbench.sample s ON s.run_id = r.run_id AND s.interval_ms >= 500,
    LATERAL (SELECT s.transactions * 1000.0 / s.interval_ms AS tps) v;
COMMENT ON VIEW fsbench.chart_second IS 'The seconds of runs, to be drawn: figures of fsbench.sample as they go together on one axis of time. Without the piece of a second at the end of a window';
COMMENT ON COLUMN fsbench.chart_second.tps IS 'Transactions per second';
COMMENT ON COLUMN fsbench.chart_second.stalled IS 'Whether that is under a tenth of the run''s median second';
COMMENT ON COLUMN fsbench.chart_second.device_write_bytes IS 'Bytes written to the device of the data in the interval, which may be longer than a second where the sampler came late';
COMMENT ON COLUMN fsbench.chart_second.device_write_bytes_per_s IS 'Bytes written to the device of the data per second';

CREATE VIEW fsbench.chart_checkpoint AS
    SELECT c.run_id, c.number, c.kind, greatest(c.start_second, 0) AS from_second,
           least(coalesce(c.end_second, 2147483647), (SELECT max(s.second) FROM fsbench.sample s WHERE s.run_id = c.run_id)) + 1 AS to_second
    FROM fsbench.checkpoint c;
COMMENT ON VIEW fsbench.chart_checkpoint IS 'Checkpoints of runs as bands on the axis of time of fsbench.chart_second';
COMMENT ON COLUMN fsbench.chart_checkpoint.from_second IS 'Second in which it began, 0 when before the window';
COMMENT ON COLUMN fsbench.chart_checkpoint.to_second IS 'Second at whose beginning it was over, the end of the window when after that';

CREATE VIEW fsbench.chart_latency AS
    SELECT h.run_id, fsbench._shown_target(r.target, r.target_version) AS target, h.transaction, h.measure, h.transactions, p.percentile,
           fsbench.percentile(p.percentile / 100, h.run_id, h.measure, h.transaction) AS ms
    FROM fsbench.histogram h JOIN fsbench.run_log r USING (run_id), unnest('{50,75,90,95,99,99.5,99.9}'::float8[]) AS p(percentile)
    WHERE (p.percentile < 99.5 OR h.transactions >= 10000) AND h.measure NOT LIKE 'command %';
COMMENT ON VIEW fsbench.chart_latency IS 'Distributions of latencies of runs, to be drawn: from the median to p99.9, which is left out under 10,000 transactions. Those of several runs are not averaged, but come from fsbench.percentile() over all';
COMMENT ON COLUMN fsbench.chart_latency.percentile IS 'Percentile, from 50 to 99.9';
COMMENT ON COLUMN fsbench.chart_latency.ms IS 'So many percent took at most this long (ms)';

CREATE VIEW fsbench.chart_wait AS
    SELECT w.run_id, w.second, CASE WHEN w.wait_event_type = w.wait_event THEN w.wait_event ELSE w.wait_event_type || ' ' || w.wait_event END AS wait,
           w.samples, (100.0 * w.samples / nullif(sum(w.samples) OVER (PARTITION BY w.run_id, w.second), 0))::float8 AS percent
    FROM fsbench.wait_event w;
COMMENT ON VIEW fsbench.chart_wait IS 'What clients waited for in each second of a run, as shares, to be stacked';
COMMENT ON COLUMN fsbench.chart_wait.wait IS 'Type and name of the wait event; CPU where a client waited for nothing';
COMMENT ON COLUMN fsbench.chart_wait.percent IS 'Share among all that was seen in that second';

CREATE VIEW fsbench.chart_scan_speed AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, c.degree, c.gb_per_second, c.repeats,
           c.bytes / 1e6 / nullif(c.max_ms, 0) AS lowest_gb_per_second, c.bytes / 1e6 / nullif(c.min_ms, 0) AS highest_gb_per_second, k.degree = c.degree AS is_knee
    FROM fsbench.run_log r, LATERAL fsbench.scan_knee(r.run_id) k, LATERAL (
        SELECT s.degree, count(*) AS repeats, max(s.bytes) AS bytes, min(s.ms) AS min_ms, max(s.ms) AS max_ms,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.bytes / 1e6 / nullif(s.ms, 0)) AS gb_per_second
        FROM fsbench.scan s WHERE s.run_id = r.run_id AND s.used GROUP BY s.degree) c
    WHERE r.workload = 'scan';
COMMENT ON VIEW fsbench.chart_scan_speed IS 'Curves of runs of the workload scan, to be drawn: speed by degree, of the scans that count';
COMMENT ON COLUMN fsbench.chart_scan_speed.gb_per_second IS 'Median of the repeats, in units of 10^9 bytes';
COMMENT ON COLUMN fsbench.chart_scan_speed.repeats IS 'Number of repeats';
COMMENT ON COLUMN fsbench.chart_scan_speed.lowest_gb_per_second IS 'The slowest of them';
COMMENT ON COLUMN fsbench.chart_scan_speed.highest_gb_per_second IS 'The fastest of them';
COMMENT ON COLUMN fsbench.chart_scan_speed.is_knee IS 'Whether more workers no longer help from here on; NULL where no knee was found';

CREATE VIEW fsbench.chart_fsync AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, f.method, f.writes, f.writers, f.ops_per_second, f.latency_p50_ms, f.latency_p90_ms, f.latency_p99_ms, f.latency_p999_ms, f.latency_max_ms
    FROM fsbench.run_log r JOIN fsbench.fsync f USING (run_id);
COMMENT ON VIEW fsbench.chart_fsync IS 'What a sync took in runs of the workload fsync, to be drawn';

CREATE VIEW fsbench.chart_recovery AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, y.recovery_ms, y.redo_ms, y.first_transaction_ms, y.wal_replayed_bytes, y.balances_verified
    FROM fsbench.run_log r JOIN fsbench.recovery y USING (run_id);
COMMENT ON VIEW fsbench.chart_recovery IS 'Crash recoveries of runs, to be drawn';

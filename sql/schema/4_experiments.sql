-- Experiments, to be read.

CREATE VIEW fsbench.experiments AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin,
           n.block, e.max_blocks, n.runs, n.repeated, n.run_id, n.target AS target_on,
           p.phase,
           CASE WHEN e.status IN ('queued', 'running') THEN coalesce(e.started_at, pg_catalog.clock_timestamp())
               + pg_catalog.make_interval(secs => least(coalesce(e.max_seconds, 'Infinity'::float8),
                   e.run_seconds * ((e.max_blocks + CASE WHEN e.rate_share IS NULL THEN 0 ELSE 1 END) * n.targets
                       + CASE WHEN e.burn_in OR e.pilot_cycle THEN 1 ELSE 0 END))) END AS over_at_latest,
           e.answer, e.status_reason, e.requested_by, e.created_at, e.started_at, e.ended_at, e.experiment_id
    FROM fsbench.experiment e, LATERAL (
        SELECT (SELECT count(*) FROM fsbench.experiment_target t WHERE t.experiment_id = e.experiment_id) AS targets,
               pg_catalog.max(r.block) AS block, pg_catalog.count(r.outcome) AS runs,
               pg_catalog.count(*) FILTER (WHERE r.outcome NOT IN ('measured', 'behind', 'burn_in', 'pilot')) AS repeated,
               pg_catalog.max(r.run_id) FILTER (WHERE r.outcome IS NULL) AS run_id,
               pg_catalog.max(t.target) FILTER (WHERE r.outcome IS NULL) AS target
        FROM fsbench.experiment_run r JOIN fsbench.experiment_target t USING (experiment_id, target_number)
        WHERE r.experiment_id = e.experiment_id) n
    LEFT JOIN fsbench._progress() p ON p.run_id = n.run_id
    ORDER BY e.experiment_id;
COMMENT ON VIEW fsbench.experiments IS 'Experiments of this database: how far each is, and what is known so far';
COMMENT ON COLUMN fsbench.experiments.experiment IS 'Name';
COMMENT ON COLUMN fsbench.experiments.status IS 'recorded (not started), queued (waits until another one is over), running, paused, done or cancelled';
COMMENT ON COLUMN fsbench.experiments.goal IS 'best or baseline';
COMMENT ON COLUMN fsbench.experiments.metric IS 'Metric that decides';
COMMENT ON COLUMN fsbench.experiments.margin IS 'Difference that does not count, as a share';
COMMENT ON COLUMN fsbench.experiments.block IS 'Block that is on, or was the last';
COMMENT ON COLUMN fsbench.experiments.max_blocks IS 'Most blocks';
COMMENT ON COLUMN fsbench.experiments.runs IS 'Runs that are over';
COMMENT ON COLUMN fsbench.experiments.repeated IS 'Those of them that do not count';
COMMENT ON COLUMN fsbench.experiments.run_id IS 'Run that is on';
COMMENT ON COLUMN fsbench.experiments.target_on IS 'Target that is on';
COMMENT ON COLUMN fsbench.experiments.phase IS 'Phase of that run, as in fsbench.progress';
COMMENT ON COLUMN fsbench.experiments.over_at_latest IS 'When it is over at the latest, as reckoned';
COMMENT ON COLUMN fsbench.experiments.answer IS 'What was known at the last look, in one line';
COMMENT ON COLUMN fsbench.experiments.status_reason IS 'Why it is paused, or has ended as it has';
COMMENT ON COLUMN fsbench.experiments.requested_by IS 'Role that asked, with whose rights its runs are made';
COMMENT ON COLUMN fsbench.experiments.created_at IS 'When it was recorded';
COMMENT ON COLUMN fsbench.experiments.started_at IS 'When its first run was started';
COMMENT ON COLUMN fsbench.experiments.ended_at IS 'When it was over';
COMMENT ON COLUMN fsbench.experiments.experiment_id IS 'Number';

CREATE VIEW fsbench.comparison AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin, e.ended_at, c.target, c.ratio, c.low, c.high, c.verdict, c.says, c.blocks, c.durability,
           c.same_durability, c.further_time, c.warnings
    FROM fsbench.experiment e, LATERAL fsbench.compare(e.experiment) c
    ORDER BY e.experiment_id;
COMMENT ON VIEW fsbench.comparison IS 'fsbench.compare() of all experiments, for charts and alarms';
COMMENT ON COLUMN fsbench.comparison.experiment IS 'Experiment';
COMMENT ON COLUMN fsbench.comparison.status IS 'Its status, as in fsbench.experiments';
COMMENT ON COLUMN fsbench.comparison.goal IS 'best or baseline';
COMMENT ON COLUMN fsbench.comparison.metric IS 'Metric that decides';
COMMENT ON COLUMN fsbench.comparison.margin IS 'Difference that does not count, as a share';
COMMENT ON COLUMN fsbench.comparison.ended_at IS 'When it was over';
COMMENT ON COLUMN fsbench.comparison.target IS 'Target, as it is called in the experiment';
COMMENT ON COLUMN fsbench.comparison.ratio IS 'Metric of the target, divided by that of what it is compared with';
COMMENT ON COLUMN fsbench.comparison.low IS 'Low end of the interval of that ratio';
COMMENT ON COLUMN fsbench.comparison.high IS 'High end of it';
COMMENT ON COLUMN fsbench.comparison.verdict IS 'more, less, equivalent or inconclusive; with goal best: best, leading, equivalent to the best, out or open';
COMMENT ON COLUMN fsbench.comparison.says IS 'The same in words';
COMMENT ON COLUMN fsbench.comparison.blocks IS 'Blocks at the look that it is of';
COMMENT ON COLUMN fsbench.comparison.durability IS 'What its runs promised of commits';
COMMENT ON COLUMN fsbench.comparison.same_durability IS 'Whether that is the same as of what it is compared with';
COMMENT ON COLUMN fsbench.comparison.further_time IS 'What a decision would still take';
COMMENT ON COLUMN fsbench.comparison.warnings IS 'Findings of its runs';

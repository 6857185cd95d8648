-- Experiments, to be read.

CREATE FUNCTION fsbench._on_seconds(experiment fsbench.experiment) RETURNS float8
    LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- Sums floats, and within bounds: a restored row may hold infinite times and NaN, and is paused and cancelled all the same.
    SELECT sum(CASE WHEN p.seconds BETWEEN 0 AND 1e9 THEN p.seconds ELSE 0 END)
    FROM (VALUES (coalesce(($1).on_seconds, extract(epoch FROM ($1).ended_at)::float8 - extract(epoch FROM ($1).started_at)::float8)),
                 (CASE WHEN ($1).status = 'running' THEN extract(epoch FROM clock_timestamp())::float8 - extract(epoch FROM coalesce(($1).on_since, ($1).started_at))::float8 END)) p (seconds)
    $$;
COMMENT ON FUNCTION fsbench._on_seconds IS 'For how long an experiment was on (s): not while it was paused, or waited for another one. Private';

-- As many runs are made again for their neighbours as so far. Targets that are decided are not run again, and so it may be over earlier; which those are only the arithmetic of looks tells.
CREATE FUNCTION fsbench._seconds_left(experiment fsbench.experiment) RETURNS float8
    LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT least(greatest(c.cut_seconds + c.runs * c.seconds_each - least(greatest(coalesce(extract(epoch FROM clock_timestamp())::float8 - extract(epoch FROM c.since)::float8, 0), 0), c.seconds_each), 0),
                 CASE WHEN ($1).max_seconds IS NOT NULL THEN greatest(($1).max_seconds - fsbench._on_seconds($1), 0) END)
    -- A month each at most: what a restored row has beyond that breaks no view.
    FROM (SELECT greatest(least(greatest(($1).run_seconds, m.longest), 2678400), 0) AS seconds_each, m.since,
                 greatest(($1).max_blocks * t.targets - m.counting, 0) * CASE WHEN ($1).neighbours = 'unexpected' AND m.counting > 0 THEN greatest(m.attempts / m.counting::float8, 1) ELSE 1 END
                 + CASE WHEN m.block > 0 THEN 0 ELSE greatest(b.before - m.before, 0) END AS runs,
                 -- As run_seconds() of core's power cuts: about a second for each.
                 CASE WHEN m.block > 0 OR ($1).power_cuts IS NULL THEN 0 ELSE greatest(k.compared - m.power_cut, 0) * (60 + ($1).power_cuts + 4 * least(($1).power_cuts, 20)) END AS cut_seconds
          FROM (SELECT max(extract(epoch FROM r.ended_at)::float8 - extract(epoch FROM r.started_at)::float8) FILTER (WHERE x.outcome IS DISTINCT FROM 'power_cut') AS longest, max(x.block) AS block, min(x.planned_at) FILTER (WHERE x.outcome IS NULL) AS since,
                       count(*) FILTER (WHERE x.outcome IN ('measured', 'behind') AND t.set_aside IS NULL) AS counting,
                       count(*) FILTER (WHERE x.outcome IN ('measured', 'behind', 'disturbed') AND t.set_aside IS NULL) AS attempts,
                       count(*) FILTER (WHERE x.outcome IN ('burn_in', 'pilot')) AS before, count(*) FILTER (WHERE x.outcome = 'power_cut') AS power_cut
                FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) LEFT JOIN fsbench.run_log r USING (run_id)
                WHERE x.experiment_id = ($1).experiment_id) m,
               (SELECT count(*) AS targets FROM fsbench.experiment_target t WHERE t.experiment_id = ($1).experiment_id AND t.set_aside IS NULL) t,
               LATERAL (SELECT t.targets - CASE WHEN ($1).control_number IS NULL THEN 0 ELSE 1 END AS compared) k,
               LATERAL (SELECT CASE WHEN ($1).rate_share IS NULL THEN 0 ELSE k.compared END + CASE WHEN ($1).burn_in THEN 1 ELSE 0 END AS whole) w,
               LATERAL (SELECT greatest(w.whole, CASE WHEN ($1).pilot_cycle THEN k.compared ELSE 0 END) AS before) b) c
    $$;
COMMENT ON FUNCTION fsbench._seconds_left IS 'What is left of an experiment at most, as reckoned (s): all runs of all blocks that are left, with as many disturbed attempts as so far. Private';

CREATE VIEW fsbench.experiments AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin,
           n.block, e.max_blocks, n.runs, n.repeated, n.run_id, n.target AS target_on,
           p.phase, pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => CASE WHEN l.seconds IS NOT NULL THEN least(l.seconds, 1e11) END) AS over_at_latest,
           e.answer, e.status_reason, e.requested_by, e.created_at, e.started_at, e.ended_at, e.experiment_id,
           e.neighbours, e.moved, e.open_because,
           -- It is pasted: a row of a dump could hold any name and any number.
           CASE WHEN e.next_blocks BETWEEN 1 AND 999 AND e.experiment !~ '[[:cntrl:]]'
                THEN pg_catalog.format('SELECT fsbench.extend_experiment(%L, %s);', e.experiment, e.next_blocks) END AS next_step
    FROM fsbench.experiment e CROSS JOIN LATERAL (
        SELECT pg_catalog.max(r.block) AS block, pg_catalog.count(r.outcome) AS runs,
               pg_catalog.count(*) FILTER (WHERE r.outcome NOT IN ('measured', 'behind', 'burn_in', 'pilot', 'power_cut')) AS repeated,
               pg_catalog.max(r.run_id) FILTER (WHERE r.outcome IS NULL) AS run_id,
               pg_catalog.max(t.target) FILTER (WHERE r.outcome IS NULL) AS target
        FROM fsbench.experiment_run r JOIN fsbench.experiment_target t USING (experiment_id, target_number)
        WHERE r.experiment_id = e.experiment_id) n
    LEFT JOIN fsbench._progress() p ON p.run_id = n.run_id
    LEFT JOIN (
        SELECT o.experiment_id, pg_catalog.sum(fsbench._seconds_left(o)) OVER (ORDER BY o.status = 'queued', o.experiment_id) AS seconds
        FROM fsbench.experiment o WHERE o.status IN ('queued', 'running')) l ON l.experiment_id = e.experiment_id
    ORDER BY e.experiment_id;
COMMENT ON VIEW fsbench.experiments IS 'Experiments of this database: how far each is, and what is known so far';
COMMENT ON COLUMN fsbench.experiments.block IS 'Block that is on, or was the last';
COMMENT ON COLUMN fsbench.experiments.runs IS 'Runs that are over, also those that do not count';
COMMENT ON COLUMN fsbench.experiments.repeated IS 'Those of them that do not count although they were to: failed, invalid, interrupted, disturbed, or of a block that was made again. Runs before the first block (burn_in, pilot, power_cut) were not to, and are not among them';
COMMENT ON COLUMN fsbench.experiments.run_id IS 'Run that is on';
COMMENT ON COLUMN fsbench.experiments.target_on IS 'Target that is on';
COMMENT ON COLUMN fsbench.experiments.phase IS 'Phase of that run, as in fsbench.progress';
COMMENT ON COLUMN fsbench.experiments.over_at_latest IS 'When it is over at the latest, as reckoned now: when no target is decided before the last block, each run takes as long as planned, or as the longest so far; a queued one after those of this database before it; no later than max_duration has it. Attempts that neighbours disturb are reckoned as many as so far. Other runs that are made again, runs of others, and experiments of other databases are not in it; moved tells when it has become later. NULL unless it is queued or running';
COMMENT ON COLUMN fsbench.experiments.moved IS 'By how much over_at_latest has moved last, and why; fsbench.experiment_log has each time (moved)';
COMMENT ON COLUMN fsbench.experiments.next_step IS 'The statement that continues an open experiment; NULL where more blocks would not help: recommend() then gives advice under next';

CREATE VIEW fsbench.comparison AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin, e.ended_at, c.target, c.ratio, c.low, c.high, c.verdict, c.says, c.blocks, c.durability,
           c.same_durability, c.further_time, c.warnings
    FROM fsbench.experiment e, LATERAL fsbench._compared(e.experiment) c
    ORDER BY e.experiment_id;
COMMENT ON VIEW fsbench.comparison IS 'fsbench.compare() of all experiments, for charts and alarms';
COMMENT ON COLUMN fsbench.comparison.experiment IS 'Experiment';
COMMENT ON COLUMN fsbench.comparison.target IS 'Target, as it is called in the experiment';
COMMENT ON COLUMN fsbench.comparison.ratio IS 'Metric of the target, divided by that of what it is compared with';
COMMENT ON COLUMN fsbench.comparison.low IS 'Low end of the interval of that ratio';
COMMENT ON COLUMN fsbench.comparison.high IS 'High end of the interval of that ratio';
COMMENT ON COLUMN fsbench.comparison.verdict IS 'more, less, equivalent or inconclusive; with goal best: best, leading (ahead of all others, and not yet decided), equivalent to the best, out (certainly not the best) or open (not decided)';
COMMENT ON COLUMN fsbench.comparison.says IS 'The verdict in words';
COMMENT ON COLUMN fsbench.comparison.blocks IS 'Number of blocks at that look';
COMMENT ON COLUMN fsbench.comparison.durability IS 'Durability of the target''s runs';
COMMENT ON COLUMN fsbench.comparison.same_durability IS 'Whether that is the same as of what it is compared with';
COMMENT ON COLUMN fsbench.comparison.further_time IS 'Further time that a decision would take';
COMMENT ON COLUMN fsbench.comparison.warnings IS 'Findings of its runs';

-- Experiments: what is recorded, what would be done, when, and what can be done with one that has not begun.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SET client_min_messages = warning;
SELECT fsbench.create_target('a', directory => '/tmp'), fsbench.create_target('b', directory => '/tmp');
SELECT fsbench.create_target('i', 'ext4', image_size => '1GB', settings => '{"work_mem": "8MB"}', mount_options => 'noatime');
SET client_min_messages = notice;
\set short 'scale => 1, clients => 1, transactions => 10, max_blocks => 3, start => false'

-- Recorded, and planned.
SELECT fsbench.experiment('e', '{a,b}', seed => 7, :short) AS id \gset
SELECT fsbench.experiment('e', '{a,b}', :short);
SELECT experiment, status, goal, metric, margin, max_blocks, answer FROM fsbench.experiments;
SELECT goal, baseline_number, looks, run_order -> 0, run_order -> 1, jsonb_array_length(run_order), parameters, too_short FROM fsbench.experiment;
SELECT target_number, target, target_name, own FROM fsbench.experiment_target ORDER BY target_number;
SELECT fsbench.experiment('f', '{a,b}', baseline => 'b', control => true, cycle => '30 s', scale => 1, clients => 1, start => false) > :id;
SELECT parameters -> 'settings', parameters -> 'duration_us', parameters -> 'warmup_us', cycle_seconds, window_seconds, too_short, control_number
FROM fsbench.experiment WHERE experiment = 'f';
SELECT target_number, target, target_name FROM fsbench.experiment_target JOIN fsbench.experiment USING (experiment_id) WHERE experiment = 'f' ORDER BY target_number;
SELECT fsbench.experiment('g', '{a}', factors => '{"settings.wal_compression": ["off", "on"], "clients": [1, 2]}', scale => 1, transactions => 10,
    start => false) > :id;
SELECT target_number, target, target_name, own FROM fsbench.experiment_target JOIN fsbench.experiment USING (experiment_id) WHERE experiment = 'g' ORDER BY target_number;
SELECT goal, baseline_number FROM fsbench.experiment WHERE experiment = 'g';
SELECT part, item, says FROM fsbench.plan_experiment('p', '{a,b}', seed => 7, :short) WHERE part <> 'run';
-- All numbers of clients have one scale. Windows have the longest cycle, and the plan does not suggest a cycle beside checkpoint_timeout.
SELECT item, substring(says FROM 'scale [0-9]+') FROM fsbench.plan_experiment('s', factors => '{"clients": [2, 12]}', transactions => 10) WHERE part = 'run';
SELECT item, substring(says FROM '[0-9]+ min warm-up, [0-9]+ min measured') FROM fsbench.plan_experiment('s', '{a}', scale => 1, clients => 1,
    factors => '{"settings.checkpoint_timeout": ["1min", "2min"]}') WHERE part = 'run';
SELECT count(*) FILTER (WHERE says LIKE '%cycle =>%') FROM fsbench.plan_experiment('s', '{a}', scale => 1, clients => 1,
    factors => '{"settings.checkpoint_timeout": ["1min", "2min"]}');
-- Within max_duration, with what comes before the first block.
SELECT item, says FROM fsbench.plan_experiment('p', '{a,b}', seed => 7, rate => '70%', max_duration => '10 min', :short) WHERE part = 'time';

-- A budget buys what the plan offers for its time.
SELECT fsbench.experiment('b', '{a,b}', budget => '1 h', neighbours => 'expected', scale => 1, clients => 1, start => false) > :id;
SELECT budget_seconds, max_seconds, max_blocks, cycle_seconds, window_seconds, too_short, neighbours, asked -> 'budget_us', asked -> 'cycle_us', parameters -> 'warmup_us'
FROM fsbench.experiment WHERE experiment = 'b';
SELECT fsbench.drop_experiment('b');
SELECT part, item, says FROM fsbench.plan_experiment('b', '{a,b}', budget => '30 min', scale => 1, clients => 1) WHERE part IN ('plan', 'time');
-- With a cycle, or blocks, that were given.
SELECT says FROM fsbench.plan_experiment('b', '{a,b}', budget => '1 h', cycle => '30 s', scale => 1, clients => 1) WHERE item = 'budget';
SELECT says FROM fsbench.plan_experiment('b', '{a,b}', budget => '1 h', max_blocks => 3, scale => 1, clients => 1) WHERE item = 'budget';

-- Targets with other values, which are made for it.
SELECT fsbench.experiment('v', '{i}', factors => '{"clients": [1, 2], "kernel_settings.dirty_ratio": [5, 20], "mkfs_options": ["", "-O ^has_journal"]}', scale => 1,
    transactions => 10, start => false) > :id;
SELECT target, target_name, own - 'options' FROM fsbench.experiment_target JOIN fsbench.experiment USING (experiment_id) WHERE experiment = 'v' ORDER BY target_number;
SELECT target, kind, filesystem, image_size_bytes, mkfs_options, mount_options, kernel_settings, settings FROM fsbench.target WHERE target LIKE 'v.%' ORDER BY target;
SELECT fsbench.experiment('w', filesystems => '{ext4,xfs}', image_size => '1GB', factors => '{"data_checksums": [true, false]}', scale => 1, clients => 1,
    transactions => 10, start => false) > :id;
SELECT target, kind, filesystem, image_size_bytes, data_checksums FROM fsbench.target WHERE target LIKE 'w.%' ORDER BY target;
SELECT fsbench.drop_experiment('v'), fsbench.drop_experiment('w');
-- A second call uses the targets that the first one has made, unless one of them was changed.
SELECT fsbench.experiment('w', filesystems => '{ext4,xfs}', image_size => '1GB', factors => '{"data_checksums": [true, false]}', scale => 1, clients => 1,
    transactions => 10, start => false) > :id;
SELECT fsbench.drop_experiment('w');
SELECT fsbench.alter_target('w.xfs.3', mount_options => 'noatime');
SELECT fsbench.experiment('w', filesystems => '{ext4,xfs}', image_size => '1GB', factors => '{"data_checksums": [true, false]}', scale => 1, clients => 1,
    transactions => 10, start => false) > :id;
-- The runs of a block have the same seed.
SELECT count(DISTINCT substring(says FROM 'seed [0-9]+')) FROM fsbench.plan_experiment('x', '{a,b}', :short) WHERE part = 'run';
-- A plan tells of no target that it records, since it records none.
SELECT item FROM fsbench.plan_experiment('x', filesystems => '{ext4,xfs}', image_size => '1GB', scale => 1, clients => 1, transactions => 10) WHERE part = 'run';
SELECT fsbench.drop_target(target) FROM fsbench.target WHERE target LIKE 'v.%' OR target LIKE 'w.%' ORDER BY target;

-- Targets on different devices: a warning beforehand, unless they are what is compared.
SELECT fsbench.experiment('d', '{a,i}', :short) > :id;
SELECT fsbench.experiment('d of this server', '{default,i}', :short) > :id;
SELECT fsbench.experiment('forced', '{a,i}', force => true, :short) > :id;
SELECT fsbench.drop_experiment('d'), fsbench.drop_experiment('d of this server'), fsbench.drop_experiment('forced');
SELECT fsbench.drop_target('i');
SELECT experiment FROM fsbench.experiments ORDER BY 1;

-- When it is over at the latest: after all runs of all blocks that are left, with the waits for the probe; a queued one after those before it.
BEGIN;
SELECT experiment FROM fsbench.experiments WHERE over_at_latest IS NOT NULL;
UPDATE fsbench.experiment SET run_seconds = 100, status = CASE experiment WHEN 'e' THEN 'queued' ELSE 'running' END, on_since = clock_timestamp() WHERE experiment IN ('e', 'f');
SELECT experiment, round(fsbench._seconds_left(e)) FROM fsbench.experiment e WHERE experiment IN ('e', 'f') ORDER BY 1;
SELECT experiment, round(extract(epoch FROM over_at_latest - clock_timestamp()), -1) FROM fsbench.experiments WHERE over_at_latest IS NOT NULL;
-- Less than that when runs are over and a target is set aside, and within max_duration, of which time that it was paused is none.
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, outcome)
SELECT experiment_id, x.block, 1, x.number, x.attempt, x.outcome FROM fsbench.experiment,
    (VALUES (0, 0, 1, 'pilot'), (1, 0, 1, 'measured'), (1, 1, 1, 'failed'), (1, 1, 2, 'behind')) x (block, number, attempt, outcome) WHERE experiment = 'f';
UPDATE fsbench.experiment_target t SET set_aside = 'it failed' FROM fsbench.experiment e WHERE e.experiment_id = t.experiment_id AND experiment = 'f' AND target_number = 2;
SELECT round(fsbench._seconds_left(e)) FROM fsbench.experiment e WHERE experiment = 'f';
-- With as many attempts that neighbours disturb as so far, unless no run is made again for them.
INSERT INTO fsbench.experiment_run (experiment_id, block, position, target_number, attempt, outcome)
SELECT experiment_id, 1, 1, 0, attempt, 'disturbed' FROM fsbench.experiment, generate_series(2, 3) attempt WHERE experiment = 'f';
SELECT round(fsbench._seconds_left(e)) FROM fsbench.experiment e WHERE experiment = 'f';
UPDATE fsbench.experiment SET neighbours = 'found' WHERE experiment = 'f';
SELECT round(fsbench._seconds_left(e)) FROM fsbench.experiment e WHERE experiment = 'f';
UPDATE fsbench.experiment SET status = 'queued', max_seconds = 3000, on_seconds = 400, on_since = NULL, started_at = clock_timestamp() - interval '1 day'
WHERE experiment = 'f';
SELECT round(fsbench._seconds_left(e)) FROM fsbench.experiment e WHERE experiment = 'f';
UPDATE fsbench.experiment SET max_seconds = 1000 WHERE experiment = 'f';
SELECT round(fsbench._seconds_left(e)), round(fsbench._on_seconds(e)) FROM fsbench.experiment e WHERE experiment = 'f';
UPDATE fsbench.experiment SET status = 'paused' WHERE experiment = 'e';
SELECT experiment FROM fsbench.experiments WHERE over_at_latest IS NOT NULL;
ROLLBACK;

-- Calls on an experiment that has not begun.
SELECT * FROM fsbench.compare('nothing');
SELECT * FROM fsbench.compare(NULL);
SELECT * FROM fsbench.compare('e', 'speed');
SELECT target, ratio, verdict, says FROM fsbench.compare('e');
SELECT part, says FROM fsbench.recommend('e') WHERE part = 'choice';
SELECT fsbench.pause_experiment('e');
SELECT fsbench.extend_experiment('e', 13);
SELECT fsbench.extend_experiment('e', 3);
SELECT fsbench.extend_experiment('e', 16);
SELECT fsbench.confirm_experiment('e');
CALL fsbench.wait_experiment('e');
SELECT fsbench.cancel_experiment('e');
SELECT fsbench.cancel_experiment('e');
CALL fsbench.wait_experiment('e');
SELECT status, ended_by, status_reason FROM fsbench.experiment WHERE experiment = 'e';
SELECT event, block, by = current_user FROM fsbench.experiment_log WHERE experiment_id = :id ORDER BY at;
SELECT fsbench.drop_target('a');

-- A row that is copied steers nothing.
INSERT INTO fsbench.experiment (experiment, status, goal, metric, margin, max_blocks, looks, run_order, seed, parameters, asked, run_seconds, requested_by, mark)
VALUES ('copied', 'running', 'best', 'tps', 0.05, 3, '[]', '[]', 1, '{}', '{}', 1, current_user, '') RETURNING status, status_reason;

SELECT fsbench.drop_experiment(experiment) FROM fsbench.experiments ORDER BY experiment;
SELECT (SELECT count(*) FROM fsbench.experiment), (SELECT count(*) FROM fsbench.experiment_target), (SELECT count(*) FROM fsbench.experiment_log);
-- Syncs have no checkpoint cycles for which their windows could be too short.
SELECT fsbench.experiment('syncs', '{a,b}', workload => 'fsync', duration => '1 s', options => '{"writers": [1], "methods": ["fdatasync"]}', metric => 'fsync_ops_fdatasync', start => false) > 0;
SELECT fsbench.drop_experiment('syncs');
-- A NOTICE tells of a pipeline.
SELECT fsbench.experiment('piped', '{a,b}', workload => 'script', scripts => E'SELECT 1;\n\\startpipeline\nSELECT 2;\n\\endpipeline', :short) > 0;
SELECT fsbench.drop_experiment('piped');
-- A number of whatever type, a share, or a search.
SET client_min_messages = warning;
SELECT fsbench.experiment('number', '{a,b}', rate => 500, :short) > 0, fsbench.experiment('fraction', '{a,b}', rate => 0.5, :short) > 0,
       fsbench.experiment('float', '{a,b}', rate => 500::float8, :short) > 0, fsbench.experiment('share', '{a,b}', rate => '70%', :short) > 0,
       fsbench.experiment('search', '{a,b}', scale => 1, clients => 1, latency_limit_ms => 20, options => '{"sustain": 99}', start => false) > 0;
SELECT experiment, metric, rate_share, parameters -> 'rate' FROM fsbench.experiment WHERE experiment IN ('number', 'fraction', 'float', 'share', 'search') ORDER BY experiment_id;
SELECT fsbench.drop_experiment(experiment) FROM fsbench.experiments WHERE experiment IN ('number', 'fraction', 'float', 'share', 'search');
SELECT fsbench.drop_target('a'), fsbench.drop_target('b');

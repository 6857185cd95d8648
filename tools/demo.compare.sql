-- tools/demo runs this in psql, as root: which filesystem commits fastest here? :seconds is the length of a run, :blocks the most runs of each
-- target.
\set ECHO queries
CREATE EXTENSION pgfsbench;

-- The experiment makes its targets, decides the order of all runs before the first one, and ends as soon as it can decide. Its first run is started below:
-- a run uses all room that the helper may take for images, and nothing can be planned there meanwhile.
SELECT fsbench.experiment('demo', filesystems => string_to_array(:'filesystems', ' '), image_size => '2GB', max_blocks => :blocks, margin => 0.1,
                          workload => 'commit', clients => 4, duration => (:'seconds' || ' s')::interval, warmup => '1 s', start => false);

-- The steps of each run.
SELECT step, who, action, left(split_part(command, E'\n', 1), 80) AS "command (its beginning)"
  FROM fsbench.plan((SELECT min(target_name) FROM fsbench.experiment_target));

SELECT fsbench.resume_experiment('demo');
CALL fsbench.wait_experiment('demo');

-- A block is one run of each target.
SELECT t.target, string_agg(round(r.tps)::text, ' ' ORDER BY x.block) AS "tps of each run"
  FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) JOIN fsbench.result r USING (run_id)
 GROUP BY t.target ORDER BY avg(r.tps) DESC;

-- Is the difference real?
SELECT fsbench.chart_experiment('demo');

SELECT target, round(ratio::numeric, 2) AS ratio, round(low::numeric, 2) AS low, round(high::numeric, 2) AS high, verdict, says
  FROM fsbench.compare('demo');

SELECT part, says FROM fsbench.recommend('demo');

\echo 'The same disk under a whole workload, with checkpoints, reads and updates (hours; the helper has to be told of the device, see docs/helper.md):'
\echo '    SELECT fsbench.experiment(''disk'', filesystems => ''{ext4,xfs,btrfs}'', device => ''/dev/disk/by-id/...'', size => ''2x ram'', clients => 32);'
\echo '    CALL fsbench.wait_experiment(''disk'');'
\echo '    SELECT part, says FROM fsbench.recommend(''disk'');'

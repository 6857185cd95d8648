-- What tools/demo runs in psql, as root: an experiment of filesystems on images. :seconds and :blocks say how long.
\set ECHO queries
CREATE EXTENSION pgfsbench;

-- It makes its own targets, and goes on by itself.
SELECT fsbench.experiment('demo', filesystems => string_to_array(:'filesystems', ' '), image_size => '2GB', max_blocks => :blocks,
                          scale => 10, clients => 8, duration => (:'seconds' || ' s')::interval, warmup => '1 s', probe_wait => '0');

-- What each run does.
SELECT step, who, action, left(split_part(command, E'\n', 1), 80) AS "command (its beginning)"
  FROM fsbench.plan((SELECT min(target_name) FROM fsbench.experiment_target));

-- A block is one run of each, in an order that is stored before the first one.
CALL fsbench.wait_experiment('demo');

SELECT t.target, string_agg(round(r.tps)::text, ' ' ORDER BY x.block) AS "tps of each run"
  FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) JOIN fsbench.result r USING (run_id)
 GROUP BY t.target ORDER BY avg(r.tps) DESC;

-- Windows of a few seconds see no checkpoint: it is shown what was measured, and nothing is decided.
SELECT target, round(ratio::numeric, 2) AS ratio, round(low::numeric, 2) AS low, round(high::numeric, 2) AS high, verdict, says
  FROM fsbench.compare('demo');

SELECT part, says FROM fsbench.recommend('demo');

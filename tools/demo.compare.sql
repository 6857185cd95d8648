-- What tools/demo runs in psql, as root: filesystems on images, compared. :seconds and :blocks say how long.
\set ECHO queries
CREATE EXTENSION pgfsbench;

SELECT fsbench.create_target(fs, filesystem => fs, image_size => '2GB')
  FROM unnest(string_to_array(:'filesystems', ' ')) AS fs;

-- What a run on it will do; nothing is done yet.
SELECT step, who, action, left(split_part(command, E'\n', 1), 80) AS "command (its beginning)" FROM fsbench.plan('ext4');

-- Each target once in a block, in random order.
SELECT format('SELECT * FROM fsbench.run(target => %L, scale => 10, clients => 8, duration => %L, warmup => ''1 s'')',
              target, :'seconds' || ' s') AS run
  FROM generate_series(1, :blocks) AS block, fsbench.target WHERE kind = 'image'
 ORDER BY block, random()
\gexec

SELECT target,
       string_agg(round(tps)::text, ' ' ORDER BY run_id) AS "tps of each run",
       round(avg(tps)) AS mean, round(stddev(tps)) AS "standard deviation",
       round(100 * avg(tps) / max(avg(tps)) OVER ()) AS "% of best"
  FROM fsbench.result GROUP BY target ORDER BY mean DESC;

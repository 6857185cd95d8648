-- The arithmetic of verdicts, as SQL calls it. Core holds its figures against those of scipy and numpy (verdict/tests/vectors.rs).
\set SHOW_CONTEXT never
-- Quantiles, also of degrees of freedom that are not whole.
SELECT p, f, round(fsbench.student_t(p, f)::numeric, 9) AS t FROM (VALUES
    (0.005, 2.0), (0.01, 2), (0.005, 11), (0.001666666666666667, 4), (0.001, 7.5), (0.001, 27.5), (0.5, 3), (0.975, 5)) v (p, f);
SELECT fsbench.student_t(1e-100, 1) / 3.183098861837907e+99 - 1 < 1e-9 AS far, fsbench.student_t(NULL, 1) AS unknown;

-- A slow run is set aside, and a missing one left out; of few none is.
SELECT kept, round(mean::numeric, 12) AS mean, round(sd::numeric, 12) AS sd FROM fsbench.set_aside('{0.021,0.014,-0.297,0.018,NULL,0.009,0.025,0.016,0.012}');
SELECT kept, round(mean::numeric, 6) AS mean FROM fsbench.set_aside('{0.021,0.014,-0.297}');
SELECT * FROM fsbench.set_aside('{0.5}');
SELECT * FROM fsbench.set_aside('{}');

-- One target: it is settled after four of its six blocks.
SELECT target, verdict, reason, round(ratio::numeric, 9) AS ratio, round(low::numeric, 6) AS low, round(high::numeric, 6) AS high, blocks, kept,
       round(half_width::numeric, 9) AS half_width, beyond_margin, blocks_needed
FROM fsbench.verdict('{10008,10101,10149,9987,10066,10120}', '{{10512,10330,10740,10455,10602,10391}}');

-- Where the sixth block is the last one, what is open then stays so; where pairs are missing, they are not counted.
SELECT target, verdict, reason, blocks, kept FROM fsbench.verdict('{100,101,99,100,102,98}', '{{110,90,105,95,120,80},{100,NULL,99,NULL,102,NULL}}', max_blocks => 6);
SELECT target, verdict, reason, ratio FROM fsbench.verdict('{100,101,99}', '{{110,NULL,105},{NULL,NULL,NULL}}', 0.1, 3);
-- So noisy that the blocks left would not help.
SELECT verdict, reason, blocks FROM fsbench.verdict('{100,100,100,100,100,100,100,100}', '{{130,72,140,70,125,80,135,75}}');

-- Which one is best?
SELECT target, shown, against, round(worse_by::numeric, 6) AS worse_by, round(low::numeric, 6) AS low, round(high::numeric, 6) AS high, blocks
FROM fsbench.verdict_best('{{9980,9970,10020,9860,9790,9850},{10020,9690,10120,10210,9920,9940},{9360,9490,9410,9290,9330,9280}}');

-- Nights, of which one was bad, before the level changed; two are missing.
SELECT night, before, after, round(size::numeric, 9) AS size, seen_after
FROM fsbench.change_points('{.004,-.011,.009,.002,-.006,.013,-.003,.007,NULL,-.009,.001,.005,-.002,.240,-.007,.003,-.052,-.047,NULL,-.061}');
SELECT count(*) FROM fsbench.change_points('{}');

-- Rates of cycles, in any order.
SELECT round(fsbench.rate_estimate('{400,560,640,600,620}', '{24000,33600,12800,36000,24800}', '{12,118,1100,290,330}', 0.01)::numeric, 6) AS rate,
       fsbench.rate_estimate('{400,560}', '{24000,33600}', '{0,0}', 0.01) AS highest, fsbench.rate_estimate('{}', '{}', '{}', 0.01) AS unknown;

-- Each role with USAGE on the schema may call these functions.
CREATE ROLE regress_fsbench_reader;
GRANT USAGE ON SCHEMA fsbench TO regress_fsbench_reader;
SET ROLE regress_fsbench_reader;
SELECT verdict FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}');
SELECT shown FROM fsbench.verdict_best('{{1,1,1},{1,1,1}}');
SELECT kept FROM fsbench.set_aside('{1}');
SELECT night FROM fsbench.change_points('{1}');
SELECT fsbench.rate_estimate('{1}', '{1}', '{0}', 0.5);
SELECT fsbench.student_t(0.5, 1);
RESET ROLE;
REVOKE USAGE ON SCHEMA fsbench FROM regress_fsbench_reader;
DROP ROLE regress_fsbench_reader;
SELECT count(*) AS not_pure FROM pg_proc WHERE pronamespace = 'fsbench'::regnamespace
    AND proname IN ('verdict', 'verdict_best', 'set_aside', 'change_points', 'rate_estimate', 'student_t') AND (provolatile, proparallel) <> ('i', 's');

-- Wrong arguments.
SELECT * FROM fsbench.verdict('{1,1,1}', '{1,1,1}');
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,0,1}}');
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}', 'NaN');
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}', max_blocks => 5);
SELECT * FROM fsbench.verdict_best('{{1,1,1}}');
SELECT * FROM fsbench.set_aside('{1,Infinity}');
SELECT * FROM fsbench.change_points('{1,NaN}');
SELECT fsbench.rate_estimate('{1,2}', '{1}', '{0}', 0.01);
SELECT fsbench.student_t(0, 1);
SELECT * FROM fsbench.verdict(NULL, '{{1}}');

-- The most that they are given takes no time.
SET statement_timeout = '10s';
SELECT count(*) FROM fsbench.verdict_best((SELECT array_agg(row) FROM (SELECT array_agg(exp(0.05 * sin(i * 7 + j * j)) ORDER BY j) AS row
    FROM generate_series(1, 50) i, generate_series(1, 24) j GROUP BY i) r), max_blocks => 24);
SELECT count(*) > 0 AS changes FROM fsbench.change_points((SELECT array_agg(sin(i / 100) ORDER BY i) FROM generate_series(1, 10000) i));
RESET statement_timeout;

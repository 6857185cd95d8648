-- The arithmetic of verdicts. The figures were computed with scipy and numpy.
\set SHOW_CONTEXT never
-- Quantiles, also of degrees of freedom that are not whole.
SELECT p, f, round(fsbench.student_t(p, f)::numeric, 9) AS t FROM (VALUES
    (0.005, 2.0), (0.01, 2), (0.005, 11), (0.001666666666666667, 4), (0.001, 7.5), (0.001, 27.5), (0.5, 3), (0.975, 5)) v (p, f);
SELECT fsbench.student_t(1e-100, 1) / 3.183098861837907e+99 - 1 < 1e-9 AS far, fsbench.student_t(NULL, 1) AS unknown;

-- A slow run is set aside, and a missing one left out; of few none is.
SELECT kept, round(mean::numeric, 12) AS mean, round(sd::numeric, 12) AS sd
FROM fsbench.set_aside('{0.021,0.014,-0.297,0.018,NULL,0.009,0.025,0.016,0.012}');
SELECT kept, round(mean::numeric, 6) AS mean FROM fsbench.set_aside('{0.021,0.014,-0.297}');
SELECT * FROM fsbench.set_aside('{0.5}');
SELECT * FROM fsbench.set_aside('{}');

-- One target: it is settled after four of its six blocks.
SELECT target, verdict, reason, round(ratio::numeric, 9) AS ratio, round(low::numeric, 6) AS low, round(high::numeric, 6) AS high, blocks, kept,
       round(half_width::numeric, 9) AS half_width, beyond_margin, blocks_needed
FROM fsbench.verdict('{10008,10101,10149,9987,10066,10120}', '{{10512,10330,10740,10455,10602,10391}}');

-- Three targets, look by look.
CREATE TEMP TABLE block (number integer, ln float8[]);
INSERT INTO block VALUES
    (1, '{9.203,9.342,9.253,9.161}'), (2, '{9.229,9.368,9.255,9.212}'), (3, '{9.204,9.341,9.276,9.195}'),
    (4, '{9.195,9.337,9.267,9.198}'), (5, '{9.209,9.340,9.262,8.876}'), (6, '{9.213,9.353,9.265,9.207}');
CREATE FUNCTION pg_temp.metrics(first integer, last integer, upto integer) RETURNS float8[] LANGUAGE sql AS $$
    SELECT array_agg(row ORDER BY i)
    FROM (SELECT i, array_agg(exp(ln[i]) ORDER BY number) AS row FROM block, generate_series(first, last) i WHERE number <= upto GROUP BY i) r
$$;
SELECT upto, v.target, v.verdict, v.reason, round(ln(v.ratio)::numeric, 9) AS x, round(v.half_width::numeric, 9) AS half_width, v.blocks, v.kept,
       v.beyond_margin, v.blocks_needed
FROM generate_series(2, 6) upto,
     LATERAL (SELECT array_agg(exp(ln[1]) ORDER BY number) AS metrics FROM block WHERE number <= upto) b,
     fsbench.verdict(b.metrics, pg_temp.metrics(2, 4, upto)) v
ORDER BY upto, v.target;
-- Where the sixth block is the last one, what is open then stays so; where pairs are missing, they are not counted.
SELECT target, verdict, reason, blocks, kept FROM fsbench.verdict('{100,101,99,100,102,98}', '{{110,90,105,95,120,80},{100,NULL,99,NULL,102,NULL}}', max_blocks => 6);
SELECT target, verdict, reason, ratio FROM fsbench.verdict('{100,101,99}', '{{110,NULL,105},{NULL,NULL,NULL}}', 0.1, 3);
-- So noisy that the blocks left would not help.
SELECT verdict, reason, blocks FROM fsbench.verdict('{100,100,100,100,100,100,100,100}', '{{130,72,140,70,125,80,135,75}}');

-- Which one is best?
TRUNCATE block;
INSERT INTO block VALUES
    (1, '{9.208,9.213,9.144,9.048}'), (2, '{9.206,9.180,9.158,9.088}'), (3, '{9.212,9.222,9.149,9.073}'),
    (4, '{9.196,9.231,9.137,9.077}'), (5, '{9.190,9.203,9.141,9.084}'), (6, '{9.196,9.205,9.136,9.081}');
SELECT upto, v.target, v.shown, v.against, round(-ln(1 - v.worse_by)::numeric, 9) AS x,
       round((ln(1 - v.low) - ln(1 - v.high))::numeric / 2, 9) AS half_width, round(v.worse_by::numeric, 6) AS worse_by,
       round(v.low::numeric, 6) AS low, round(v.high::numeric, 6) AS high, v.blocks
FROM generate_series(2, 6) upto, fsbench.verdict_best(pg_temp.metrics(1, 4, upto)) v
ORDER BY upto, v.target;

-- Nights, of which one was bad, before the level changed; one is missing.
SELECT night, before, after, round(size::numeric, 9) AS size, seen_after
FROM fsbench.change_points('{.004,-.011,.009,.002,-.006,.013,-.003,.007,-.009,.001,.005,-.002,.240,-.007,.003,-.052,-.047,-.061}');
SELECT night, seen_after
FROM fsbench.change_points('{.004,-.011,.009,.002,-.006,.013,-.003,.007,NULL,-.009,.001,.005,-.002,.240,-.007,.003,-.052,-.047,NULL,-.061}');
SELECT count(*) FROM fsbench.change_points('{}');

-- Rates of cycles, in any order.
SELECT round(fsbench.rate_estimate('{400,560,640,600,620}', '{24000,33600,12800,36000,24800}', '{12,118,1100,290,330}', 0.01)::numeric, 6) AS rate,
       fsbench.rate_estimate('{400,560}', '{24000,33600}', '{0,0}', 0.01) AS highest,
       fsbench.rate_estimate('{}', '{}', '{}', 0.01) AS unknown;

-- Anybody may, who may see the schema.
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
SELECT * FROM fsbench.verdict('{1,1,1}', '{{{1,1,1}}}');
SELECT * FROM fsbench.verdict('{1,1,1}', '{}');
SELECT * FROM fsbench.verdict('{{1,1,1}}', '{{1,1,1}}');
SELECT * FROM fsbench.verdict('{1,1}', '{{1,1,1}}');
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,0,1}}');
SELECT * FROM fsbench.verdict('{1,-1,1}', '{{1,1,1}}');
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1},{1,1,NaN}}');
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}', 0);
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}', 'NaN');
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}', 5);
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}', max_blocks => 5);
SELECT * FROM fsbench.verdict('{1,1,1}', '{{1,1,1}}', max_blocks => -3);
SELECT * FROM fsbench.verdict('{1,1,1,1}', '{{1,1,1,1}}', max_blocks => 3);
SELECT * FROM fsbench.verdict('{1}', array_fill(1::float8, '{51,1}'));
SELECT * FROM fsbench.verdict_best('{{1,1,1}}');
SELECT * FROM fsbench.set_aside('{1,Infinity}');
SELECT * FROM fsbench.set_aside(array_fill(1::float8, '{1001}'));
SELECT * FROM fsbench.change_points('{1,NaN}');
SELECT * FROM fsbench.change_points(array_fill(1::float8, '{10001}'));
SELECT fsbench.rate_estimate('{1,2}', '{1}', '{0}', 0.01);
SELECT fsbench.rate_estimate('{1}', '{1}', '{2}', 0.01);
SELECT fsbench.rate_estimate('{NULL}', '{1}', '{0}', 0.01);
SELECT fsbench.rate_estimate('{1}', '{1}', '{0}', 1);
SELECT fsbench.student_t(0, 1);
SELECT fsbench.student_t(0.05, 0.5);
SELECT fsbench.student_t('NaN', 1);
SELECT * FROM fsbench.verdict(NULL, '{{1}}');

-- The most that they are given takes no time.
SET statement_timeout = '10s';
SELECT count(*) FROM fsbench.verdict_best((SELECT array_agg(row) FROM (SELECT array_agg(exp(0.05 * sin(i * 7 + j * j)) ORDER BY j) AS row
    FROM generate_series(1, 50) i, generate_series(1, 24) j GROUP BY i) r), max_blocks => 24);
SELECT count(*) > 0 AS changes FROM fsbench.change_points((SELECT array_agg(sin(i / 100) ORDER BY i) FROM generate_series(1, 10000) i));
RESET statement_timeout;

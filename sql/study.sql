-- Studies: the published ones that are there.
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SELECT study, author, year, parts, claims > 3 AS has_claims, is_own, status FROM fsbench.studies;
SELECT study, count(*) FROM fsbench.published GROUP BY 1 ORDER BY 1;
SELECT variant, metric, value, unit, runs, remark FROM fsbench.published WHERE study = 'heron-2010' AND variant IN ('ext2', 'jfs');
SELECT value, remark FROM fsbench.published WHERE study = 'deckelmann-2009' AND metric LIKE 'NOTPM%';

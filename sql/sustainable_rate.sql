-- The highest rate under a limit of latency. What is found of a machine is no test: limits that everything and nothing keeps.
SET client_min_messages = warning;

-- Bad input, before anything is made.
SELECT * FROM fsbench.sustainable_rate();
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 0);
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => -1);
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 'NaN');
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 'Infinity');
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, percentile => NULL);
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, percentile => 0.99);
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, percentile => 100);
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, percentile => 'NaN');
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, workload => 'fsync');
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, workload => 'scan');
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, duration => '0.5 s');
SELECT * FROM fsbench.sustainable_rate(latency_limit_ms => 20, options => '[1]');
SELECT * FROM fsbench.sustainable_rate('nowhere', 20);
SELECT * FROM fsbench.run(latency_limit_ms => 20, rate => 100, options => '{"sustain": 99}');
SELECT * FROM fsbench.run(latency_limit_ms => 20, transactions => 100, options => '{"sustain": 99}');
SELECT * FROM fsbench.run(latency_limit_ms => 20, options => '{"sustain": "p99"}');
SELECT * FROM fsbench.run(latency_limit_ms => 20, options => '{"sustain": 49.9}');
SELECT * FROM fsbench.run(latency_limit_ms => 20, options => '{"sustain": 99, "crash": true}');
SELECT count(*) FROM fsbench.probe;

-- A limit that everything keeps.
SELECT run_id AS kept, target, rate > 0 AS rate, low <= rate AS low, high >= rate AS high, probes, regexp_replace(says, '[0-9.]+ tps', 'N tps', 'g') AS says
FROM fsbench.sustainable_rate(latency_limit_ms => 1000000, scale => 1, clients => 2, duration => '1 s', warmup => '0') \gset
\echo :target :rate :low :high :probes :says
SELECT number, purpose, kept, rate IS NULL AS no_rate, cardinality(cycle_scheduled) AS cycles, misses, cycle_misses,
       latency_ms <= latency_max_ms AS latency, tps > 0 AS tps, seconds >= cardinality(cycle_scheduled) AS seconds
FROM fsbench.probe WHERE run_id = :kept ORDER BY number;
-- Each follows from the one before.
SELECT bool_and(scheduled = (SELECT sum(n) FROM unnest(cycle_scheduled) n)) AS cycles, bool_and(misses = skipped + late + failed) AS misses,
       bool_and(started_at > before) FILTER (WHERE number > 0) AS in_order,
       max(rate) FILTER (WHERE kept) = (SELECT sustainable_rate FROM fsbench.result WHERE run_id = :kept) AS highest
FROM (SELECT *, lag(started_at) OVER (ORDER BY number) AS before FROM fsbench.probe WHERE run_id = :kept) p;
-- Rates of its own choice make no tps; what was committed is all there.
SELECT status, tps, latency_p99_ms, stall_seconds, sustainable_rate_estimate BETWEEN sustainable_rate_low AND sustainable_rate_high AS estimate, duration,
       transactions_total = (SELECT sum(scheduled - skipped - failed) FROM fsbench.probe p WHERE p.run_id = r.run_id) AS all_there,
       (SELECT count(*) FROM fsbench.histogram h WHERE h.run_id = r.run_id) AS histograms
FROM fsbench.result r WHERE run_id = :kept;
SELECT code FROM fsbench.finding WHERE run_id = :kept AND code IN ('skipped_transactions', 'drift', 'stalls', 'warming_up', 'behind_schedule');

-- A limit that nothing keeps.
SELECT run_id AS hopeless, rate IS NULL AS no_rate, low IS NULL AS no_low, high > 0 AS high, probes, left(says, 8) AS says
FROM fsbench.sustainable_rate(latency_limit_ms => 0.0001, percentile => 90, scale => 1, clients => 2, duration => '3 s', warmup => '0') \gset
\echo :no_rate :no_low :high :probes :says
SELECT number, purpose, kept, round((rate / max(rate) OVER ())::numeric, 3) AS of_the_first
FROM fsbench.probe WHERE run_id = :hopeless AND number > 0 ORDER BY number;

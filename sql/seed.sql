-- Runs with one seed and number of transactions make equal transactions, and so equal balances at the end, whatever else differs.
SET client_min_messages = warning;

\set first 'scale => 2, clients => 3, transactions => 200, seed => 42'
SELECT run_id AS a FROM fsbench.run(:first) \gset
SELECT run_id AS b FROM fsbench.run(:first, settings => '{"synchronous_commit": "off"}', options => '{"fillfactor": 80}') \gset
SELECT run_id AS c FROM fsbench.run(:first, warmup => '2 s') \gset
SELECT run_id AS d FROM fsbench.run(:first, rate => 3000) \gset
SELECT run_id AS e FROM fsbench.run(scale => 2, clients => 3, transactions => 200, seed => 43) \gset
SELECT run_id AS f FROM fsbench.run(scale => 2, clients => 2, transactions => 300, seed => 42) \gset
SELECT run_id AS g FROM fsbench.run(scale => 2, clients => 3, transactions => 200) \gset
SELECT run_id AS h FROM fsbench.run(scale => 2, clients => 3, transactions => 200, seed => -9223372036854775808) \gset

SELECT (SELECT balances FROM fsbench.result WHERE run_id = :a) AS balances \gset
SELECT r.seed, clients, transactions_total, status, balances = :'balances' AS same_balances,
       balances ->> 'fingerprint' = :'balances'::jsonb ->> 'fingerprint' AS same_fingerprint
FROM unnest(ARRAY[:a, :b, :d, :e, :f, :h]) WITH ORDINALITY AS t(run_id, n) JOIN fsbench.result r USING (run_id) ORDER BY n;
-- A warm-up adds transactions of its own, from another stream.
SELECT transactions_total, transactions_outside > 0 AS warmed_up FROM fsbench.result WHERE run_id = :c;
-- A seed that was not given is chosen, and stored.
SELECT seed IS NOT NULL AS stored, used -> 'chosen' ? 'seed' AS chosen, balances <> :'balances' AS other FROM fsbench.result WHERE run_id = :g;

-- These values are part of the contract: the same on every machine, in every version.
SELECT balances FROM fsbench.result WHERE run_id = :a;

-- The accounts that the history names, in their order, so that neighbours are read together; the lower half of them, up to $1, beside the upper one, where a
-- parallel worker is free: each is found by the index.
(SELECT 'changed' AS read, coalesce(sum(balance), 0) AS balance, coalesce(sum(fingerprint), 0)::text AS fingerprint
 FROM (SELECT sum(a.abalance) AS balance, sum(hashint8extended(a.aid, a.abalance)) AS fingerprint
       FROM (SELECT DISTINCT aid FROM public.pgbench_history WHERE aid <= $1::bigint ORDER BY aid) h JOIN public.pgbench_accounts a USING (aid) WHERE a.abalance <> 0
       UNION ALL
       SELECT sum(a.abalance), sum(hashint8extended(a.aid, a.abalance))
       FROM (SELECT DISTINCT aid FROM public.pgbench_history WHERE aid > $1::bigint ORDER BY aid) h JOIN public.pgbench_accounts a USING (aid) WHERE a.abalance <> 0) halves) a

-- All accounts, once; those without a balance, nearly all of them, get no further than the filter.
(SELECT 'all' AS read, coalesce(sum(abalance), 0) AS balance, coalesce(sum(hashint8extended(aid, abalance)), 0)::text AS fingerprint
 FROM public.pgbench_accounts WHERE abalance <> 0) a

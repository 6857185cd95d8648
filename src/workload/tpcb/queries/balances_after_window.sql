-- The same after a measured window. Of more than a gigabyte of accounts, which may be larger than memory, only those are read that the history names, in
-- their order, so that neighbours are read together: to read the rest back from the disk would take longer than a window does.
SELECT jsonb_build_object(
    'accounts', a.balance,
    'accounts_read', CASE WHEN few THEN 'all' ELSE 'changed' END,
    'tellers', (SELECT coalesce(sum(tbalance), 0) FROM public.pgbench_tellers),
    'branches', (SELECT coalesce(sum(bbalance), 0) FROM public.pgbench_branches),
    'history', (SELECT coalesce(sum(delta), 0) FROM public.pgbench_history),
    'history_rows', (SELECT count(*) FROM public.pgbench_history),
    'fingerprint', a.fingerprint)
FROM (SELECT pg_relation_size('public.pgbench_accounts') <= 2 ^ 30 AS few OFFSET 0) s,
    LATERAL (SELECT coalesce(sum(abalance), 0) AS balance, coalesce(sum(hashint8extended(aid, abalance)), 0)::text AS fingerprint
             FROM (SELECT aid, abalance FROM public.pgbench_accounts WHERE few AND abalance <> 0
                   UNION ALL
                   SELECT aid, abalance FROM public.pgbench_accounts
                   WHERE NOT few AND abalance <> 0 AND aid IN (SELECT DISTINCT aid FROM public.pgbench_history ORDER BY aid)) c) a

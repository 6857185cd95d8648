-- The same after a measured window. Of more than a gigabyte of accounts, which may be larger than memory, only those are read that the history names, in
-- their order, so that neighbours are read together: to read the rest back from the disk would take longer than a window does. A history with as many rows
-- as the accounts have pages names most pages, and all are read then. OFFSET keeps the planner from reading all in the first case, too.
SELECT jsonb_build_object(
    'accounts', a.balance,
    'accounts_read', CASE WHEN few THEN 'changed' ELSE 'all' END,
    'tellers', (SELECT coalesce(sum(tbalance), 0) FROM public.pgbench_tellers),
    'branches', (SELECT coalesce(sum(bbalance), 0) FROM public.pgbench_branches),
    'history', (SELECT coalesce(sum(delta), 0) FROM public.pgbench_history),
    'history_rows', rows,
    'fingerprint', a.fingerprint)
FROM (SELECT h.rows, s.bytes > 2 ^ 30 AND h.rows < s.bytes / current_setting('block_size')::bigint AS few
      FROM (SELECT count(*) AS rows FROM public.pgbench_history) h, (SELECT pg_relation_size('public.pgbench_accounts') AS bytes) s OFFSET 0) s,
    LATERAL (SELECT coalesce(sum(abalance), 0) AS balance, coalesce(sum(hashint8extended(aid, abalance)), 0)::text AS fingerprint
             FROM (SELECT aid, abalance FROM public.pgbench_accounts WHERE NOT few
                   UNION ALL
                   SELECT x.aid, x.abalance
                   FROM (SELECT DISTINCT aid FROM public.pgbench_history ORDER BY aid) h,
                       LATERAL (SELECT aid, abalance FROM public.pgbench_accounts WHERE aid = h.aid OFFSET 0) x
                   WHERE few) c
             WHERE abalance <> 0) a

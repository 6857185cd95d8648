-- The balances of the tables of TPC-B, as JSON. All accounts are read, once; those without a balance, nearly all of them, get no further than the filter.
SELECT jsonb_build_object(
    'accounts', a.balance,
    'accounts_read', 'all',
    'tellers', (SELECT coalesce(sum(tbalance), 0) FROM public.pgbench_tellers),
    'branches', (SELECT coalesce(sum(bbalance), 0) FROM public.pgbench_branches),
    'history', (SELECT coalesce(sum(delta), 0) FROM public.pgbench_history),
    'history_rows', (SELECT count(*) FROM public.pgbench_history),
    'fingerprint', a.fingerprint)
FROM (SELECT coalesce(sum(abalance), 0) AS balance, coalesce(sum(hashint8extended(aid, abalance)), 0)::text AS fingerprint
      FROM public.pgbench_accounts WHERE abalance <> 0) a

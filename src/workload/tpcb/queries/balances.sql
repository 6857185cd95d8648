-- The balances of the tables of TPC-B, as JSON; those of accounts are read by what follows.
SELECT jsonb_build_object(
    'accounts', a.balance,
    'accounts_read', a.read,
    'tellers', (SELECT coalesce(sum(tbalance), 0) FROM public.pgbench_tellers),
    'branches', (SELECT coalesce(sum(bbalance), 0) FROM public.pgbench_branches),
    'history', (SELECT coalesce(sum(delta), 0) FROM public.pgbench_history),
    'history_rows', (SELECT count(*) FROM public.pgbench_history),
    'fingerprint', a.fingerprint)
FROM

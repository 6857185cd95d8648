-- The balances of the tables of TPC-B, as JSON.
SELECT jsonb_build_object(
    'accounts', (SELECT coalesce(sum(abalance), 0) FROM public.pgbench_accounts),
    'tellers', (SELECT coalesce(sum(tbalance), 0) FROM public.pgbench_tellers),
    'branches', (SELECT coalesce(sum(bbalance), 0) FROM public.pgbench_branches),
    'history', (SELECT coalesce(sum(delta), 0) FROM public.pgbench_history),
    'history_rows', (SELECT count(*) FROM public.pgbench_history),
    'fingerprint', (SELECT coalesce(sum(hashint8extended(aid, abalance)), 0)::text
                    FROM public.pgbench_accounts WHERE abalance <> 0))

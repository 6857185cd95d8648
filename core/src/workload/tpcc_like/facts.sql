-- Facts about the results of a run, $1, by the names of Facts.
SELECT jsonb_build_object('options', r.used -> 'options', 'warehouses', r.scale,
    'notpm', (SELECT notpm FROM fsbench.tpcc t WHERE t.run_id = r.run_id),
    'types', (SELECT coalesce(jsonb_agg(jsonb_build_object('transaction', transaction, 'p90_ms', latency_p90_ms, 'limit_ms', limit_ms) ORDER BY position), '[]')
       FROM fsbench.transaction_result t WHERE t.run_id = r.run_id AND latency_p90_ms IS NOT NULL AND limit_ms IS NOT NULL))
    || coalesce((SELECT jsonb_build_object('orders', sum(orders), 'wrong_orders', sum(wrong_orders), 'lines', sum(lines), 'remote_lines', sum(remote_lines),
       'payments', sum(payments), 'remote_payments', sum(remote_payments), 'payments_by_name', sum(payments_by_name))
       FROM fsbench.tpcc_client c WHERE c.run_id = r.run_id HAVING count(*) > 0), '{}')
FROM fsbench.run_log r
WHERE r.run_id = $1::bigint

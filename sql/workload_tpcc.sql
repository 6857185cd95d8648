-- The workload tpcc-like with two warehouses: what a run stores, and the tables and keys that it loads.
SET client_min_messages = warning;
SELECT run_id AS run FROM fsbench.run(workload => 'tpcc-like', scale => 2, clients => 2, transactions => 100, warmup => '0', seed => 7, keep => true,
    options => '{"unlogged": true}') \gset
SELECT moment, position, name, passed FROM fsbench.verification WHERE run_id = :run ORDER BY moment, position;
SELECT position, transaction, weight, committed, rolled_back, failed FROM fsbench.transaction_result WHERE run_id = :run ORDER BY position;
SELECT sum(remote_lines) > 0 AS remote_lines, sum(remote_payments) > 0 AS remote_payments, sum(orders) = sum(new_orders + wrong_orders) AS orders
FROM fsbench.tpcc_client WHERE run_id = :run;
SELECT fsbench._metric(:run, 'notpm') = notpm AS metric FROM fsbench.tpcc WHERE run_id = :run;
-- tps of a type is of committed transactions.
SELECT fsbench._metric(:run, 'tps of new-order') * measured_ms / 1000 BETWEEN 89.999 AND 90.001 AS committed, h.transactions
FROM fsbench.run_log JOIN fsbench.histogram h USING (run_id) WHERE run_id = :run AND h.transaction = 'new-order' AND measure = 'latency';
SELECT work_database FROM fsbench.result WHERE run_id = :run \gset
\c :work_database
SELECT relname, relpersistence FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'i' ORDER BY 1;
SELECT conrelid::regclass AS of, convalidated, pg_get_constraintdef(oid) AS key FROM pg_constraint
WHERE connamespace = 'public'::regnamespace AND contype IN ('f', 'p') ORDER BY conrelid::regclass::text, contype DESC, 3;
\pset format unaligned
SELECT attrelid::regclass AS of, string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) AS columns FROM pg_attribute
WHERE attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r')
GROUP BY 1 ORDER BY attrelid::regclass::text;
\pset format aligned
-- Effects of the transactions, beside those that the conditions are of: stock (2.4.2.2), orders of one warehouse, payments (2.5.2.2). Loaded rows are of 2000.
SELECT count(*) > 500 AS changed, bool_and(s_ytd = quantity AND s_order_cnt = lines AND s_remote_cnt = remote) AS counted, min(s_quantity) >= 10 AND max(s_quantity) <= 100 AS filled_up
FROM stock LEFT JOIN (SELECT ol_supply_w_id, ol_i_id, sum(ol_quantity) AS quantity, count(*) AS lines, count(*) FILTER (WHERE ol_w_id <> ol_supply_w_id) AS remote
    FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id WHERE o_client IS NOT NULL GROUP BY 1, 2) l ON ol_supply_w_id = s_w_id AND ol_i_id = s_i_id
WHERE s_order_cnt > 0 OR lines > 0;
SELECT o_all_local, count(*) > 0 AS some, bool_and(o_all_local = 1 - remote) AS right FROM orders, LATERAL (
    SELECT max((ol_supply_w_id <> ol_w_id)::int) AS remote FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id) l
WHERE o_client IS NOT NULL GROUP BY 1 ORDER BY 1;
SELECT bool_and(ol_amount = ol_quantity * i_price) AS amount, bool_and(ol_dist_info = to_jsonb(s) ->> format('s_dist_%s', lpad(ol_d_id::text, 2, '0'))) AS dist_info
FROM order_line JOIN item ON i_id = ol_i_id JOIN stock s ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
WHERE o_client IS NOT NULL;
CREATE TEMP TABLE paid AS SELECT h.*, w_name, d_name, count(*) OVER (PARTITION BY h_c_w_id, h_c_d_id, h_c_id) AS payments
FROM history h JOIN warehouse ON w_id = h_w_id JOIN district ON d_w_id = h_w_id AND d_id = h_d_id WHERE h_date > '2001-01-01';
SELECT count(*) > 50 AS payments, bool_and(h_data = w_name || '    ' || d_name) AS data FROM paid;
SELECT count(*) > 50 AS customers, bool_and(c_payment_cnt = 1 + coalesce(payments, 0) AND c_ytd_payment = 10 + coalesce(amount, 0)) AS counted, max(length(c_data)) <= 500 AS cut
FROM customer LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, max(payments) AS payments, sum(h_amount) AS amount FROM paid GROUP BY 1, 2, 3) p
    ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE payments > 0 OR c_payment_cnt <> 1;
SELECT c_credit, count(*) > 0 AS some, bool_and(starts_with(c_data, concat_ws(' ', c_id, c_d_id, c_w_id, h_d_id, h_w_id, h_amount, ''))) AS told, bool_or(c_data ~ '^[0-9]+ [0-9]+ [0-9]+ ') AS any_told
FROM customer JOIN paid ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id WHERE payments = 1 GROUP BY 1 ORDER BY 1;
SELECT s_w_id, count(*), count(DISTINCT s_i_id) AS items, sum(s_remote_cnt) > 0 AS remote FROM stock GROUP BY 1 ORDER BY 1;
SELECT attrelid::regclass AS of, count(*) FILTER (WHERE attstattarget = 0) AS without_statistics, count(*) AS columns FROM pg_attribute
WHERE attnum > 0 AND attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r')
GROUP BY 1 ORDER BY attrelid::regclass::text;
\c contrib_regression
SET client_min_messages = warning;
DROP DATABASE :"work_database";

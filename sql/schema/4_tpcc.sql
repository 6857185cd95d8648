-- Results of workload tpcc-like. It is derived from TPC-C, and its results are not comparable to published TPC-C results.

CREATE VIEW fsbench.tpcc AS
    SELECT r.run_id,
           t.committed / minutes AS notpm,
           (t.committed + t.rolled_back + t.failed) / minutes AS notpm_dbt2,
           t.committed / minutes / nullif(r.scale, 0) AS notpm_per_warehouse,
           100.0::float8 * c.wrong_orders / nullif(c.orders, 0) AS rollback_percent,
           c.lines::float8 / nullif(c.orders, 0) AS lines_per_order,
           100.0::float8 * c.remote_lines / nullif(c.lines, 0) AS remote_lines_percent,
           100.0::float8 * c.remote_payments / nullif(c.payments, 0) AS remote_payments_percent,
           100.0::float8 * c.payments_by_name / nullif(c.payments, 0) AS payments_by_name_percent,
           c.c_last_name, c.c_customer, c.c_item
    FROM fsbench.run_log r
    JOIN fsbench.transaction_result t ON t.run_id = r.run_id AND t.position = 1,
    LATERAL (SELECT sum(orders) AS orders, sum(wrong_orders) AS wrong_orders, sum(lines) AS lines, sum(remote_lines) AS remote_lines, sum(payments) AS payments,
                 sum(remote_payments) AS remote_payments, sum(payments_by_name) AS payments_by_name,
                 min(c_last_name) AS c_last_name, min(c_customer) AS c_customer, min(c_item) AS c_item
             FROM fsbench.tpcc_client c WHERE c.run_id = r.run_id) c,
    LATERAL (SELECT nullif(r.measured_ms, 0) / 60000) m (minutes)
    WHERE r.workload = 'tpcc-like';
COMMENT ON VIEW fsbench.tpcc IS 'Runs of workload tpcc-like: New-Orders a minute, and what was drawn. Derived from TPC-C, not comparable to published TPC-C results';
COMMENT ON COLUMN fsbench.tpcc.notpm IS 'Committed New-Order transactions a minute, as DBT-2 counted them in 2009';
COMMENT ON COLUMN fsbench.tpcc.notpm_dbt2 IS 'New-Order transactions a minute, those that rolled back or failed among them, as DBT-2 0.61.7 counts them';
COMMENT ON COLUMN fsbench.tpcc.notpm_per_warehouse IS 'notpm / warehouses. With keying and thinking times it is at most 12.86';
COMMENT ON COLUMN fsbench.tpcc.rollback_percent IS 'New-Orders with an item that does not exist (%); 0.9 to 1.1 in the specification';
COMMENT ON COLUMN fsbench.tpcc.lines_per_order IS 'Lines of an order; 9.5 to 10.5 in the specification';
COMMENT ON COLUMN fsbench.tpcc.remote_lines_percent IS 'Lines that another warehouse supplies (%); 0.95 to 1.05 in the specification';
COMMENT ON COLUMN fsbench.tpcc.remote_payments_percent IS 'Payments of a customer of another warehouse (%); 14 to 16 in the specification';
COMMENT ON COLUMN fsbench.tpcc.payments_by_name_percent IS 'Payments whose customer is given by last name (%); 57 to 63 in the specification';

CREATE VIEW fsbench.tpcc_transaction AS
    SELECT t.run_id, t.transaction, 100.0::float8 * (t.committed + t.rolled_back) / nullif(sum(t.committed + t.rolled_back) OVER (PARTITION BY t.run_id), 0) AS mix_percent,
           t.latency_avg_ms / 1000 AS avg_s, t.latency_p90_ms / 1000 AS p90_s, t.committed + t.rolled_back AS total,
           t.rolled_back AS rollbacks, 100.0::float8 * t.rolled_back / nullif(t.committed + t.rolled_back, 0) AS rollback_percent,
           t.failed, t.retries, t.limit_ms / 1000 AS limit_s, t.latency_p90_ms <= t.limit_ms AS is_within_limit
    FROM fsbench.transaction_result t JOIN fsbench.run_log r USING (run_id)
    WHERE r.workload = 'tpcc-like'
    ORDER BY t.run_id, t.position;
COMMENT ON VIEW fsbench.tpcc_transaction IS 'Transaction types of runs of workload tpcc-like, as DBT-2 reports them';
COMMENT ON COLUMN fsbench.tpcc_transaction.mix_percent IS 'Its share of all transactions (%), each counted once';
COMMENT ON COLUMN fsbench.tpcc_transaction.avg_s IS 'Average response time (s), from the first try';
COMMENT ON COLUMN fsbench.tpcc_transaction.p90_s IS '90th percentile of the response time (s), New-Orders that rolled back among them';
COMMENT ON COLUMN fsbench.tpcc_transaction.total IS 'Transactions that committed or rolled back as intended. DBT-2 of 2009 counts rollbacks twice';
COMMENT ON COLUMN fsbench.tpcc_transaction.rollbacks IS 'Transactions that rolled back as intended';
COMMENT ON COLUMN fsbench.tpcc_transaction.rollback_percent IS 'rollbacks / total (%)';
COMMENT ON COLUMN fsbench.tpcc_transaction.limit_s IS 'Limit of the 90th percentile in the specification (s)';
COMMENT ON COLUMN fsbench.tpcc_transaction.is_within_limit IS 'Whether the 90th percentile is within the limit';

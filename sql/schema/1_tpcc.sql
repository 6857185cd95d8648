-- Clients of workload tpcc-like: their committed orders and drawn inputs.

CREATE TABLE fsbench.tpcc_client (
    run_id            bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    client            integer NOT NULL,
    new_orders        bigint NOT NULL,
    orders            bigint NOT NULL,
    wrong_orders      bigint NOT NULL,
    lines             bigint NOT NULL,
    remote_lines      bigint NOT NULL,
    payments          bigint NOT NULL,
    remote_payments   bigint NOT NULL,
    payments_by_name  bigint NOT NULL,
    c_last_name       integer NOT NULL,
    c_customer        integer NOT NULL,
    c_item            integer NOT NULL,
    PRIMARY KEY (run_id, client)
);
COMMENT ON TABLE fsbench.tpcc_client IS 'Clients of a run of workload tpcc-like: committed New-Orders, and the inputs that were drawn in the measured window';
COMMENT ON COLUMN fsbench.tpcc_client.client IS 'Number of the client, from 0';
COMMENT ON COLUMN fsbench.tpcc_client.new_orders IS 'Committed New-Order transactions, warm-up included';
COMMENT ON COLUMN fsbench.tpcc_client.orders IS 'New-Order transactions in the window';
COMMENT ON COLUMN fsbench.tpcc_client.wrong_orders IS 'New-Order transactions whose last item does not exist, so that they roll back';
COMMENT ON COLUMN fsbench.tpcc_client.lines IS 'Lines of the orders';
COMMENT ON COLUMN fsbench.tpcc_client.remote_lines IS 'Lines that another warehouse supplies';
COMMENT ON COLUMN fsbench.tpcc_client.payments IS 'Payment transactions in the window';
COMMENT ON COLUMN fsbench.tpcc_client.remote_payments IS 'Payments of a customer of another warehouse';
COMMENT ON COLUMN fsbench.tpcc_client.payments_by_name IS 'Payments whose customer is given by last name';
COMMENT ON COLUMN fsbench.tpcc_client.c_last_name IS 'Constant C of NURand(255, 0, 999) for last names; equal for all clients of a run';
COMMENT ON COLUMN fsbench.tpcc_client.c_customer IS 'Constant C of NURand(1023, 1, 3000) for customers';
COMMENT ON COLUMN fsbench.tpcc_client.c_item IS 'Constant C of NURand(8191, 1, 100000) for items';

-- The servers of a run with the option instances.

CREATE TABLE fsbench.run_instance (
    run_id               bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    instance             integer NOT NULL,
    began_after_ms       float8 NOT NULL,
    measured_ms          float8,
    transactions         bigint,
    tps                  float8,
    share                float8,
    latency_avg_ms       float8,
    latency_p50_ms       float8,
    latency_p95_ms       float8,
    latency_p99_ms       float8,
    latency_max_ms       float8,
    commit_p99_ms        float8,
    stall_seconds        integer,
    wal_bytes            bigint,
    complete_checkpoints integer,
    findings             text[] NOT NULL,
    PRIMARY KEY (run_id, instance)
);
COMMENT ON TABLE fsbench.run_instance IS 'Servers of a run with options => ''{"instances": N}'', measured at the same time on one filesystem. The row of the run has their sum; its samples, statistics and WAL are those of all servers. fsbench.instance_fairness tells how evenly they shared the storage';
COMMENT ON COLUMN fsbench.run_instance.instance IS 'Number of the server, from 1';
COMMENT ON COLUMN fsbench.run_instance.began_after_ms IS 'Time from the start of the first window of all servers to the start of this one (ms). Beyond 1 % of the window the run has the finding instances_apart, and is invalid';
COMMENT ON COLUMN fsbench.run_instance.measured_ms IS 'Length of its window (ms)';
COMMENT ON COLUMN fsbench.run_instance.transactions IS 'Transactions that it committed in its window';
COMMENT ON COLUMN fsbench.run_instance.tps IS 'Transactions per second of this server';
COMMENT ON COLUMN fsbench.run_instance.share IS 'Part of the transactions per second of all servers, 0 to 1';
COMMENT ON COLUMN fsbench.run_instance.latency_avg_ms IS 'Mean latency of its transactions (ms)';
COMMENT ON COLUMN fsbench.run_instance.stall_seconds IS 'Seconds in which this server had less than a tenth of its median';
COMMENT ON COLUMN fsbench.run_instance.wal_bytes IS 'WAL that it wrote in the window';
COMMENT ON COLUMN fsbench.run_instance.complete_checkpoints IS 'Checkpoints that began and ended in its window';
COMMENT ON COLUMN fsbench.run_instance.findings IS 'Codes of what was found about this server alone';

CREATE VIEW fsbench.instance_fairness AS
    SELECT run_id, count(*)::integer AS instances, sum(tps) AS tps, min(share) AS least_share, max(share) AS most_share,
           sum(tps) ^ 2 / nullif(count(*) * sum(tps ^ 2), 0) AS fairness, max(began_after_ms) AS skew_ms
    FROM fsbench.run_instance
    GROUP BY run_id;
COMMENT ON VIEW fsbench.instance_fairness IS 'How evenly the servers of a run shared the storage: fairness is Jain''s index, 1 where all have the same transactions per second, 1 / instances where one server has all; skew_ms is how far apart their windows began';
COMMENT ON COLUMN fsbench.instance_fairness.instances IS 'Number of servers';
COMMENT ON COLUMN fsbench.instance_fairness.tps IS 'Transactions per second of all servers';
COMMENT ON COLUMN fsbench.instance_fairness.least_share IS 'Least share of one server, 0 to 1';
COMMENT ON COLUMN fsbench.instance_fairness.most_share IS 'Largest share of one server, 0 to 1';
COMMENT ON COLUMN fsbench.instance_fairness.fairness IS 'Index of Jain: the square of the sum of tps, divided by the number of servers and by the sum of the squares';
COMMENT ON COLUMN fsbench.instance_fairness.skew_ms IS 'From the start of the first window to the start of the last one (ms)';

-- Texts of runs of scripts, each stored once.

CREATE TABLE fsbench.script (
    sha256 text PRIMARY KEY,
    document text NOT NULL
);
COMMENT ON TABLE fsbench.script IS 'Texts of runs of workload script: scripts, variables, init script and checks. Each document is stored once; options of a run have its hash';
COMMENT ON COLUMN fsbench.script.sha256 IS 'SHA-256 of the document in UTF-8, in hexadecimal';
COMMENT ON COLUMN fsbench.script.document IS 'JSON with scripts (name, weight, text), variables, init_script and checks (name, sql, expected)';

SELECT pg_catalog.pg_extension_config_dump('fsbench.script', '');

CREATE TABLE fsbench.script_result (
    run_id            bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    position          integer NOT NULL,
    script            text NOT NULL,
    weight            bigint NOT NULL,
    transactions      bigint NOT NULL,
    serialization_failures bigint NOT NULL,
    deadlock_failures bigint NOT NULL,
    other_failures    bigint NOT NULL,
    retried           bigint NOT NULL,
    retries           bigint NOT NULL,
    latency_avg_ms    float8,
    latency_stddev_ms float8,
    latency_p50_ms    float8,
    latency_p90_ms    float8,
    latency_p95_ms    float8,
    latency_p99_ms    float8,
    latency_p999_ms   float8,
    latency_max_ms    float8,
    PRIMARY KEY (run_id, position)
);
COMMENT ON TABLE fsbench.script_result IS 'Measured transactions of each script of a run of workload script';
COMMENT ON COLUMN fsbench.script_result.run_id IS 'Run';
COMMENT ON COLUMN fsbench.script_result.position IS 'Place of the script in the argument scripts, from 1';
COMMENT ON COLUMN fsbench.script_result.script IS 'Name of the script';
COMMENT ON COLUMN fsbench.script_result.weight IS 'Weight by which it was chosen';
COMMENT ON COLUMN fsbench.script_result.transactions IS 'Transactions that were carried out to their end';
COMMENT ON COLUMN fsbench.script_result.serialization_failures IS 'Transactions whose last try failed with SQLSTATE 40001';
COMMENT ON COLUMN fsbench.script_result.deadlock_failures IS 'Transactions whose last try failed with SQLSTATE 40P01';
COMMENT ON COLUMN fsbench.script_result.other_failures IS 'Transactions that failed with another SQLSTATE, with continue_on_error, or whose statement was cancelled after the window';
COMMENT ON COLUMN fsbench.script_result.retried IS 'Transactions that were tried more than once';
COMMENT ON COLUMN fsbench.script_result.retries IS 'All further tries';
COMMENT ON COLUMN fsbench.script_result.latency_avg_ms IS 'Average latency (ms), from the first try; failed transactions have none';
COMMENT ON COLUMN fsbench.script_result.latency_stddev_ms IS 'Standard deviation of latency (ms)';
COMMENT ON COLUMN fsbench.script_result.latency_p50_ms IS 'Median of latency (ms)';
COMMENT ON COLUMN fsbench.script_result.latency_p90_ms IS '90th percentile of latency (ms)';
COMMENT ON COLUMN fsbench.script_result.latency_p95_ms IS '95th percentile of latency (ms)';
COMMENT ON COLUMN fsbench.script_result.latency_p99_ms IS '99th percentile of latency (ms)';
COMMENT ON COLUMN fsbench.script_result.latency_p999_ms IS '99.9th percentile of latency (ms); NULL under 10000 transactions';
COMMENT ON COLUMN fsbench.script_result.latency_max_ms IS 'Largest latency (ms)';

SELECT pg_catalog.pg_extension_config_dump('fsbench.script_result', '');

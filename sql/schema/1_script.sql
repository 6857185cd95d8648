-- Texts of runs of scripts, each stored once.

CREATE TABLE fsbench.script (
    sha256 text PRIMARY KEY,
    document text NOT NULL CHECK (jsonb_typeof(document::jsonb -> 'scripts') IS NOT DISTINCT FROM 'array')
);
COMMENT ON TABLE fsbench.script IS 'Texts of runs of workload script: scripts, variables, init script and checks. Each document is stored once; options of a run have its hash';
COMMENT ON COLUMN fsbench.script.sha256 IS 'SHA-256 of the document in UTF-8, in hexadecimal';
COMMENT ON COLUMN fsbench.script.document IS 'JSON with scripts (name, weight, text), variables, init_script and checks (name, sql, expected)';

-- A run that starts stores its texts and its row in one transaction. The lock waits for that transaction, and the DELETE sees its row.
CREATE FUNCTION fsbench._drop_unused_scripts() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    hashes text[];
BEGIN
    SELECT array_agg(DISTINCT g.used #>> '{options,script,sha256}') INTO hashes FROM gone g WHERE g.used #>> '{options,script,sha256}' IS NOT NULL;
    IF hashes IS NOT NULL THEN
        LOCK TABLE fsbench.script IN SHARE ROW EXCLUSIVE MODE;
        DELETE FROM fsbench.script s WHERE s.sha256 = ANY (hashes)
            AND NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.used #>> '{options,script,sha256}' = s.sha256);
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION fsbench._drop_unused_scripts IS 'Deletes texts of scripts with the last run that refers to them. Private';
CREATE TRIGGER drop_unused_scripts AFTER DELETE ON fsbench.run_log REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION fsbench._drop_unused_scripts();
COMMENT ON TRIGGER drop_unused_scripts ON fsbench.run_log IS 'Texts of scripts go with the last run that refers to them';

CREATE TABLE fsbench.transaction_result (
    run_id            bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    position          integer NOT NULL,
    transaction       text NOT NULL,
    weight            bigint NOT NULL,
    tps               float8,
    committed         bigint NOT NULL,
    rolled_back       bigint,
    failed            bigint NOT NULL,
    retried           bigint NOT NULL,
    retries           bigint NOT NULL,
    limit_ms          float8,
    late              bigint,
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
COMMENT ON TABLE fsbench.transaction_result IS 'Measured transactions of each type, in runs of workloads that have several types: each script is one';
COMMENT ON COLUMN fsbench.transaction_result.position IS 'Number of the type in the workload, from 1; of a script its place in the argument scripts';
COMMENT ON COLUMN fsbench.transaction_result.transaction IS 'Name of the type, as in fsbench.histogram; of a script its name';
COMMENT ON COLUMN fsbench.transaction_result.weight IS 'Weight by which it was chosen';
COMMENT ON COLUMN fsbench.transaction_result.tps IS 'Committed transactions per second of the measured window; NULL in a search for a rate';
COMMENT ON COLUMN fsbench.transaction_result.committed IS 'Transactions that were carried out to their end. A script that rolls back by itself counts here';
COMMENT ON COLUMN fsbench.transaction_result.rolled_back IS 'Transactions that the workload rolled back as intended; NULL where it does not know them';
COMMENT ON COLUMN fsbench.transaction_result.failed IS 'Transactions whose last try failed; fsbench.transaction_failure has them by SQLSTATE';
COMMENT ON COLUMN fsbench.transaction_result.retried IS 'Transactions that were tried more than once';
COMMENT ON COLUMN fsbench.transaction_result.retries IS 'All further tries';
COMMENT ON COLUMN fsbench.transaction_result.limit_ms IS 'Limit of latency (ms), of the type or else of the run; NULL without';
COMMENT ON COLUMN fsbench.transaction_result.late IS 'Transactions that took longer than the limit; NULL without';
COMMENT ON COLUMN fsbench.transaction_result.latency_avg_ms IS 'Average latency (ms), from the first try, of transactions that were committed or rolled back as intended; waits before and after them do not count. NULL in a search for a rate, as all latencies: it goes through several rates';

CREATE TABLE fsbench.transaction_failure (
    run_id       bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    position     integer NOT NULL,
    sqlstate     text NOT NULL,
    transactions bigint NOT NULL,
    retries      bigint NOT NULL,
    PRIMARY KEY (run_id, position, sqlstate)
);
COMMENT ON TABLE fsbench.transaction_failure IS 'Measured transactions that failed, and tries that failed and were followed by another one, by type and SQLSTATE';
COMMENT ON COLUMN fsbench.transaction_failure.position IS 'Number of the type, as in fsbench.transaction_result';
COMMENT ON COLUMN fsbench.transaction_failure.sqlstate IS 'SQLSTATE; other for all beyond the first 15 that a client met in a type. 57014 is a statement that was cancelled after the window';
COMMENT ON COLUMN fsbench.transaction_failure.transactions IS 'Transactions whose last try failed with it';
COMMENT ON COLUMN fsbench.transaction_failure.retries IS 'Tries that failed with it and were followed by another one';

CREATE TABLE fsbench.command_result (
    run_id            bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    position          integer NOT NULL,
    command           integer NOT NULL,
    line              integer NOT NULL,
    kind              text NOT NULL,
    executions        bigint NOT NULL,
    failures          bigint NOT NULL,
    latency_avg_ms    float8,
    latency_stddev_ms float8,
    latency_p50_ms    float8,
    latency_p90_ms    float8,
    latency_p95_ms    float8,
    latency_p99_ms    float8,
    latency_p999_ms   float8,
    latency_max_ms    float8,
    PRIMARY KEY (run_id, position, command)
);
COMMENT ON TABLE fsbench.command_result IS 'Commands of scripts in measured transactions; fsbench.script_command has their texts. Without rows with the option commands off, and in a search for a rate';
COMMENT ON COLUMN fsbench.command_result.position IS 'Number of the script, as in fsbench.transaction_result';
COMMENT ON COLUMN fsbench.command_result.command IS 'Number of the command in its script, from 1; its histogram has the measure command N';
COMMENT ON COLUMN fsbench.command_result.line IS 'Line of the script on which it begins, from 1';
COMMENT ON COLUMN fsbench.command_result.kind IS 'SQL, or the name of the meta command';
COMMENT ON COLUMN fsbench.command_result.executions IS 'How often it was executed, tries that failed included';
COMMENT ON COLUMN fsbench.command_result.failures IS 'Executions that ended with an error';
COMMENT ON COLUMN fsbench.command_result.latency_avg_ms IS 'Average duration (ms) of executions without an error';

-- What is known of a change in a history, and accepted.

CREATE TABLE fsbench.acknowledgement (
    run_id          bigint PRIMARY KEY REFERENCES fsbench.run_log ON DELETE CASCADE,
    note            text,
    acknowledged_by name NOT NULL DEFAULT current_user,
    acknowledged_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.acknowledgement IS 'Changes of level for the worse that somebody has accepted: fsbench.check_history() raises no error for them. Written by fsbench.acknowledge()';
COMMENT ON COLUMN fsbench.acknowledgement.run_id IS 'First run of the new level';
COMMENT ON COLUMN fsbench.acknowledgement.note IS 'Why it is accepted';
COMMENT ON COLUMN fsbench.acknowledgement.acknowledged_by IS 'Who accepted it';
COMMENT ON COLUMN fsbench.acknowledgement.acknowledged_at IS 'When';

SELECT pg_catalog.pg_extension_config_dump('fsbench.acknowledgement', '');

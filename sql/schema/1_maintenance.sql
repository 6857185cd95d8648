-- Maintenance that was timed after the measured window.

CREATE TABLE fsbench.maintenance (
    run_id    bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    step      text NOT NULL,
    position  integer NOT NULL,
    ms        float8 NOT NULL,
    bytes     bigint,
    wal_bytes bigint NOT NULL,
    PRIMARY KEY (run_id, step)
);
COMMENT ON TABLE fsbench.maintenance IS 'What a database does beside its transactions, timed one after the other after the measured window of a run with the option maintenance';
COMMENT ON COLUMN fsbench.maintenance.step IS 'bulk_load: another table like pgbench_accounts, of the same scale, filled as when loading; index_build: its primary key; vacuum: VACUUM of the tables that the transactions have written; checkpoint: CHECKPOINT';
COMMENT ON COLUMN fsbench.maintenance.position IS 'Place in their order, from 1';
COMMENT ON COLUMN fsbench.maintenance.ms IS 'Duration (ms), its commit included';
COMMENT ON COLUMN fsbench.maintenance.bytes IS 'Bytes of the table that was loaded, of its index, or of the tables and indexes that were vacuumed as they were before; NULL for the checkpoint';
COMMENT ON COLUMN fsbench.maintenance.wal_bytes IS 'WAL that the server wrote meanwhile (difference of LSNs)';

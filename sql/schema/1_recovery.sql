-- How the server of a target has recovered from the crash that a run had it undergo.

CREATE TABLE fsbench.recovery (
    run_id                 bigint PRIMARY KEY REFERENCES fsbench.run_log ON DELETE CASCADE,
    stopped_after_ms       float8,
    stop_ms                float8,
    unmounted              boolean NOT NULL,
    unmount_ms             float8,
    mount_ms               float8,
    cache_cold             boolean,
    recovery_ms            float8,
    redo_ms                float8,
    first_transaction_ms   float8,
    redo_start_lsn         pg_lsn,
    redo_done_lsn          pg_lsn,
    redo_end_lsn           pg_lsn,
    wal_replayed_bytes     bigint,
    transactions_committed bigint,
    transactions_found     bigint,
    balances_verified      boolean,
    problem                text,
    server_log             text[]
);
COMMENT ON TABLE fsbench.recovery IS 'Crash recovery of runs with options => ''{"crash": true}'': the server of the target was stopped with immediate after the measured window, its filesystem unmounted and mounted again, and the server started';
COMMENT ON COLUMN fsbench.recovery.stopped_after_ms IS 'From the end of the measured window to the stop (ms): meanwhile the results are read. No checkpoint is requested, but a running one may end';
COMMENT ON COLUMN fsbench.recovery.stop_ms IS 'Until all processes of the stopped server had ended (ms)';
COMMENT ON COLUMN fsbench.recovery.unmounted IS 'Whether the filesystem was unmounted and mounted again: not when that failed, and not that of a target of kind directory, which others may use';
COMMENT ON COLUMN fsbench.recovery.unmount_ms IS 'Unmounting (ms), with writing what the kernel had in memory; NULL when it was not unmounted';
COMMENT ON COLUMN fsbench.recovery.mount_ms IS 'Mounting (ms); NULL when it was not unmounted';
COMMENT ON COLUMN fsbench.recovery.cache_cold IS 'Whether nothing of the filesystem was in the page cache when the server was started again: false for an image without direct I/O and for zfs, unless the target has drop_caches';
COMMENT ON COLUMN fsbench.recovery.recovery_ms IS 'Crash recovery (ms), by the server''s log: from its first word about the interrupted server to its being ready, with the checkpoint at the end';
COMMENT ON COLUMN fsbench.recovery.redo_ms IS 'Part of recovery_ms: reading and applying WAL (ms)';
COMMENT ON COLUMN fsbench.recovery.first_transaction_ms IS 'From the start of the server to the end of the first COMMIT of a transaction that writes (ms)';
COMMENT ON COLUMN fsbench.recovery.redo_start_lsn IS 'Where the WAL begins that was applied; NULL when none was to be';
COMMENT ON COLUMN fsbench.recovery.redo_done_lsn IS 'Where the last record begins that was applied, as the server''s log says';
COMMENT ON COLUMN fsbench.recovery.redo_end_lsn IS 'End of the last applied WAL record, by the control file; the checkpoint at the end of recovery is there';
COMMENT ON COLUMN fsbench.recovery.wal_replayed_bytes IS 'WAL that was applied: redo_end_lsn - redo_start_lsn';
COMMENT ON COLUMN fsbench.recovery.transactions_committed IS 'Transactions whose COMMIT had ended before the crash, those of the warm-up included';
COMMENT ON COLUMN fsbench.recovery.transactions_found IS 'Committed transactions whose rows are there after the crash; NULL for a workload that writes none, or when they cannot be read';
COMMENT ON COLUMN fsbench.recovery.balances_verified IS 'Whether balances and history after the crash are exactly those of the committed transactions; if not, the run has the finding lost_transactions. NULL when they could not be compared: the finding recovery_failed; NULL for scripts without checks';
COMMENT ON COLUMN fsbench.recovery.problem IS 'What is different; or what went wrong, so that nothing could be compared: in the words of mount, of the server''s log, or of the program that failed';
COMMENT ON COLUMN fsbench.recovery.server_log IS 'Lines of the server''s log during recovery';

-- What the measured server itself did: its checkpoints, its statistics, the statements of the workload.

ALTER TABLE fsbench.run_log
    ADD COLUMN checkpoints_timed     integer,
    ADD COLUMN checkpoints_requested integer,
    ADD COLUMN checkpoints_logged    boolean;
COMMENT ON COLUMN fsbench.run_log.checkpoints_timed IS 'Checkpoints that began in the measured window because checkpoint_timeout was over';
COMMENT ON COLUMN fsbench.run_log.checkpoints_requested IS 'Checkpoints that began in the measured window for other reasons: max_wal_size, CHECKPOINT, a backup';
COMMENT ON COLUMN fsbench.run_log.checkpoints_logged IS 'Whether the server logged its checkpoints, so that fsbench.checkpoint has all of them';

CREATE TABLE fsbench.checkpoint (
    run_id             bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    number             integer NOT NULL,
    kind               text NOT NULL,
    cause              text,
    started_at         timestamptz NOT NULL,
    ended_at           timestamptz,
    start_second       integer NOT NULL,
    end_second         integer,
    started_before     boolean NOT NULL,
    ended_after        boolean NOT NULL,
    write_ms           float8,
    sync_ms            float8,
    total_ms           float8,
    buffers_written    bigint,
    slru_written       bigint,
    sync_files         bigint,
    longest_sync_ms    float8,
    average_sync_ms    float8,
    aggregate_sync_ms  float8,
    wal_files_added    bigint,
    wal_files_removed  bigint,
    wal_files_recycled bigint,
    distance_bytes     bigint,
    estimate_bytes     bigint,
    PRIMARY KEY (run_id, number)
);
COMMENT ON TABLE fsbench.checkpoint IS 'One row per checkpoint or restartpoint that touches the measured window, from the checkpointer''s own figures: what its line in the server''s log says, to the millisecond. Empty when log_checkpoints is off';
COMMENT ON COLUMN fsbench.checkpoint.run_id IS 'Run';
COMMENT ON COLUMN fsbench.checkpoint.number IS 'Number in the run, from 1, in the order in which they ended';
COMMENT ON COLUMN fsbench.checkpoint.kind IS 'checkpoint or restartpoint';
COMMENT ON COLUMN fsbench.checkpoint.cause IS 'Why and how, in the words of the log: time (checkpoint_timeout), wal (max_wal_size), immediate, force, wait, ...; NULL where it could not be read';
COMMENT ON COLUMN fsbench.checkpoint.started_at IS 'When it began';
COMMENT ON COLUMN fsbench.checkpoint.ended_at IS 'When it was complete; NULL when it still went on when the run was stored';
COMMENT ON COLUMN fsbench.checkpoint.start_second IS 'Second of the measured window in which it began, as in fsbench.sample; negative before the window';
COMMENT ON COLUMN fsbench.checkpoint.end_second IS 'Second of the measured window in which it was complete; NULL when it still went on';
COMMENT ON COLUMN fsbench.checkpoint.started_before IS 'Whether it began before the measured window';
COMMENT ON COLUMN fsbench.checkpoint.ended_after IS 'Whether it went on after the measured window; without this and started_before it counts as complete';
COMMENT ON COLUMN fsbench.checkpoint.write_ms IS 'Time for writing buffers (ms)';
COMMENT ON COLUMN fsbench.checkpoint.sync_ms IS 'Time for syncing files (ms)';
COMMENT ON COLUMN fsbench.checkpoint.total_ms IS 'From its start to its end (ms)';
COMMENT ON COLUMN fsbench.checkpoint.buffers_written IS 'Buffers that it wrote';
COMMENT ON COLUMN fsbench.checkpoint.slru_written IS 'SLRU buffers that it wrote; NULL before PostgreSQL 18';
COMMENT ON COLUMN fsbench.checkpoint.sync_files IS 'Files that it synced';
COMMENT ON COLUMN fsbench.checkpoint.longest_sync_ms IS 'Longest sync of a file (ms)';
COMMENT ON COLUMN fsbench.checkpoint.average_sync_ms IS 'Mean sync of a file (ms)';
COMMENT ON COLUMN fsbench.checkpoint.aggregate_sync_ms IS 'Sum of the syncs of files (ms), to the microsecond';
COMMENT ON COLUMN fsbench.checkpoint.wal_files_added IS 'Files of WAL that it made ahead';
COMMENT ON COLUMN fsbench.checkpoint.wal_files_removed IS 'Files of WAL that it removed';
COMMENT ON COLUMN fsbench.checkpoint.wal_files_recycled IS 'Files of WAL that it renamed for later';
COMMENT ON COLUMN fsbench.checkpoint.distance_bytes IS 'WAL since the checkpoint before; NULL where the message could not be read (another language than English)';
COMMENT ON COLUMN fsbench.checkpoint.estimate_bytes IS 'The same as the server expected it; NULL where the message could not be read';

SELECT pg_catalog.pg_extension_config_dump('fsbench.checkpoint', '');

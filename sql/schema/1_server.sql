-- Work of the measured server itself: its checkpoints, its statistics, the statements of the workload.

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
COMMENT ON COLUMN fsbench.checkpoint.number IS 'Number in the run, from 1, in the order in which they ended';
COMMENT ON COLUMN fsbench.checkpoint.kind IS 'checkpoint or restartpoint';
COMMENT ON COLUMN fsbench.checkpoint.cause IS 'Why and how, in the words of the log: time (checkpoint_timeout), wal (max_wal_size), immediate, force, wait, ...; NULL where it could not be read';
COMMENT ON COLUMN fsbench.checkpoint.started_at IS 'Start of the checkpoint';
COMMENT ON COLUMN fsbench.checkpoint.ended_at IS 'End of the checkpoint; NULL when it had not ended when the run was stored';
COMMENT ON COLUMN fsbench.checkpoint.start_second IS 'Second of the measured window in which it began, as in fsbench.sample; negative before the window';
COMMENT ON COLUMN fsbench.checkpoint.end_second IS 'Second of the measured window in which it ended; NULL when it had not ended';
COMMENT ON COLUMN fsbench.checkpoint.started_before IS 'Whether it began before the measured window';
COMMENT ON COLUMN fsbench.checkpoint.ended_after IS 'Whether it ended after the measured window; without this and started_before it counts as complete';
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
COMMENT ON COLUMN fsbench.checkpoint.estimate_bytes IS 'distance_bytes as the server had estimated it; NULL where the message could not be read';

CREATE TABLE fsbench.statistic (
    run_id  bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    view    text NOT NULL,
    object  text NOT NULL,
    counter text NOT NULL,
    value   float8,
    PRIMARY KEY (run_id, view, object, counter)
);
COMMENT ON TABLE fsbench.statistic IS 'Core''s statistics views over the measured window: pg_stat_wal, pg_stat_bgwriter, pg_stat_checkpointer (17 and later), pg_stat_io (16 and later), and pg_stat_database of the work database. All but the last are of the whole server';
COMMENT ON COLUMN fsbench.statistic.view IS 'View';
COMMENT ON COLUMN fsbench.statistic.object IS 'What the counter is about, in pg_stat_io: backend_type/object/context, without those in which nothing happened (the clients are background workers); else empty';
COMMENT ON COLUMN fsbench.statistic.counter IS 'Column of the view, as that version of the server calls it';
COMMENT ON COLUMN fsbench.statistic.value IS 'Its change from the start of the window to its end; times are ms. NULL where it is not known: the statistics were reset meanwhile, or the time was not taken (track_io_timing, track_wal_io_timing)';

CREATE TABLE fsbench.statement (
    run_id              bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    queryid             bigint NOT NULL,
    toplevel            boolean NOT NULL,
    query               text,
    calls               bigint,
    total_exec_ms       float8,
    mean_exec_ms        float8,
    min_exec_ms         float8,
    max_exec_ms         float8,
    stddev_exec_ms      float8,
    rows                bigint,
    shared_blks_hit     bigint,
    shared_blks_read    bigint,
    shared_blks_dirtied bigint,
    shared_blks_written bigint,
    local_blks_hit      bigint,
    local_blks_read     bigint,
    local_blks_dirtied  bigint,
    local_blks_written  bigint,
    temp_blks_read      bigint,
    temp_blks_written   bigint,
    blk_read_ms         float8,
    blk_write_ms        float8,
    temp_blk_read_ms    float8,
    temp_blk_write_ms   float8,
    wal_records         bigint,
    wal_fpi             bigint,
    wal_bytes           numeric,
    wal_buffers_full    bigint,
    PRIMARY KEY (run_id, queryid, toplevel)
);
COMMENT ON TABLE fsbench.statement IS 'Statements of the workload in the measured window, from pg_stat_statements, which is reset for the work database when the window begins (after a warm-up, within milliseconds of that); empty where that is not loaded or its extension is not in the database of pgfsbench, and where entries were removed in the window (findings tell). COMMIT is not among them: its times are those of the run';
COMMENT ON COLUMN fsbench.statement.queryid IS 'Hash of the statement, as in pg_stat_statements';
COMMENT ON COLUMN fsbench.statement.toplevel IS 'Whether it was executed at top level, not within another statement';
COMMENT ON COLUMN fsbench.statement.query IS 'Text of the statement, at most 8 kB of it';
COMMENT ON COLUMN fsbench.statement.calls IS 'Number of executions';
COMMENT ON COLUMN fsbench.statement.total_exec_ms IS 'Time of all executions (ms)';
COMMENT ON COLUMN fsbench.statement.mean_exec_ms IS 'Mean execution time (ms)';
COMMENT ON COLUMN fsbench.statement.min_exec_ms IS 'Shortest (ms)';
COMMENT ON COLUMN fsbench.statement.max_exec_ms IS 'Longest (ms)';
COMMENT ON COLUMN fsbench.statement.stddev_exec_ms IS 'Standard deviation (ms)';
COMMENT ON COLUMN fsbench.statement.rows IS 'Rows that it returned or changed';
COMMENT ON COLUMN fsbench.statement.shared_blks_hit IS 'Blocks of tables and indexes found in shared_buffers';
COMMENT ON COLUMN fsbench.statement.shared_blks_read IS 'Blocks that it read';
COMMENT ON COLUMN fsbench.statement.shared_blks_dirtied IS 'Blocks that it was the first to change';
COMMENT ON COLUMN fsbench.statement.shared_blks_written IS 'Blocks that it had to write, to make room';
COMMENT ON COLUMN fsbench.statement.local_blks_hit IS 'Blocks of temporary tables found in memory';
COMMENT ON COLUMN fsbench.statement.local_blks_read IS 'Blocks of temporary tables that it read';
COMMENT ON COLUMN fsbench.statement.local_blks_dirtied IS 'Blocks of temporary tables that it was the first to change';
COMMENT ON COLUMN fsbench.statement.local_blks_written IS 'Blocks of temporary tables that it wrote';
COMMENT ON COLUMN fsbench.statement.temp_blks_read IS 'Blocks of temporary files that it read';
COMMENT ON COLUMN fsbench.statement.temp_blks_written IS 'Blocks of temporary files that it wrote';
COMMENT ON COLUMN fsbench.statement.blk_read_ms IS 'Time for reading blocks of tables (ms); NULL without track_io_timing';
COMMENT ON COLUMN fsbench.statement.blk_write_ms IS 'Time for writing blocks of tables (ms); NULL without track_io_timing';
COMMENT ON COLUMN fsbench.statement.temp_blk_read_ms IS 'Time for reading temporary files (ms); NULL without track_io_timing';
COMMENT ON COLUMN fsbench.statement.temp_blk_write_ms IS 'Time for writing temporary files (ms); NULL without track_io_timing';
COMMENT ON COLUMN fsbench.statement.wal_records IS 'Records of WAL';
COMMENT ON COLUMN fsbench.statement.wal_fpi IS 'Full-page images in WAL';
COMMENT ON COLUMN fsbench.statement.wal_bytes IS 'Bytes of WAL';
COMMENT ON COLUMN fsbench.statement.wal_buffers_full IS 'How often wal_buffers were full; NULL before PostgreSQL 18';

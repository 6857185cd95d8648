-- Results of the workload fsync.

CREATE TABLE fsbench.fsync (
    run_id          bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    method          text NOT NULL,
    writes          integer NOT NULL,
    writers         integer NOT NULL,
    position        integer NOT NULL,
    block_bytes     integer NOT NULL,
    direct          boolean NOT NULL,
    syncs           bigint NOT NULL,
    ops_per_second  float8,
    latency_avg_ms  float8,
    latency_p50_ms  float8,
    latency_p90_ms  float8,
    latency_p95_ms  float8,
    latency_p99_ms  float8,
    latency_p999_ms float8,
    latency_min_ms  float8,
    latency_max_ms  float8,
    buckets         smallint[] NOT NULL,
    counts          bigint[] NOT NULL,
    PRIMARY KEY (run_id, method, writes, writers)
);
COMMENT ON TABLE fsbench.fsync IS 'Tests of runs of the workload fsync: how long it takes to write 8 kB of WAL and have them on disk, in each way that wal_sync_method can be; what pg_test_fsync measures, with percentiles and with several writers';
COMMENT ON COLUMN fsbench.fsync.method IS 'As wal_sync_method: open_datasync, fdatasync, fsync, open_sync; none: the write alone, which waits for nothing, as reference';
COMMENT ON COLUMN fsbench.fsync.writes IS 'Writes before each sync; with the open_ methods each write is synced by itself, and they count as one operation';
COMMENT ON COLUMN fsbench.fsync.writers IS 'Processes that did it at the same time, each on blocks of its own in the same file';
COMMENT ON COLUMN fsbench.fsync.position IS 'Place of the test in the random order of the run, from 1';
COMMENT ON COLUMN fsbench.fsync.block_bytes IS 'Bytes of each write';
COMMENT ON COLUMN fsbench.fsync.direct IS 'Whether it was written past the page cache (O_DIRECT), as pg_test_fsync does with the open_ methods; the server itself does so only where wal_level is minimal, up to PostgreSQL 15';
COMMENT ON COLUMN fsbench.fsync.syncs IS 'Operations of all writers: one is all writes and the sync';
COMMENT ON COLUMN fsbench.fsync.ops_per_second IS 'Operations per second of all writers together';
COMMENT ON COLUMN fsbench.fsync.latency_avg_ms IS 'Mean time of an operation (ms)';
COMMENT ON COLUMN fsbench.fsync.buckets IS 'Numbers of the buckets of its histogram that are not empty; see fsbench.bucket_low_ms and bucket_high_ms';
COMMENT ON COLUMN fsbench.fsync.counts IS 'Operations in each of these buckets';

-- Results of runs, stored for good. Columns are only ever added, so that an old dump loads.

-- A role that can put functions and operators next to those of the extension could have its readers call them. Types are named in full: an operator
-- in the schema that fits better than PostgreSQL's would be taken here, too.
DO $$
DECLARE
    stranger name;
BEGIN
    SELECT r.rolname INTO stranger
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = 'fsbench' AND NOT r.rolsuper;
    IF FOUND THEN
        RAISE EXCEPTION 'schema "fsbench" belongs to role "%"', stranger USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'The extension trusts what is in its schema, so that only superusers may own it.',
                  HINT = 'Drop the schema, or run ALTER SCHEMA fsbench OWNER TO CURRENT_USER.';
    END IF;
    SELECT coalesce(r.rolname, 'public') INTO stranger
    FROM pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
    WHERE n.nspname = 'fsbench' AND a.privilege_type = 'CREATE' AND r.rolsuper IS NOT TRUE;
    IF FOUND THEN
        RAISE EXCEPTION 'role "%" may create objects in schema "fsbench"', stranger USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'The extension trusts what is in its schema, so that only superusers may create there.',
                  HINT = pg_catalog.format('Run REVOKE CREATE ON SCHEMA fsbench FROM %s.',
                      CASE WHEN stranger = 'public' THEN 'PUBLIC' ELSE pg_catalog.quote_ident(stranger::text) END);
    END IF;
    PERFORM FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_namespace n ON n.oid = d.refobjid
    WHERE n.nspname = 'fsbench' AND d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass::oid
      AND d.classid <> 'pg_catalog.pg_extension'::pg_catalog.regclass::oid;
    IF FOUND THEN
        RAISE EXCEPTION 'schema "fsbench" is not empty' USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = 'The extension trusts what is in its schema, and does not know who has made this.',
                  HINT = 'Drop the schema with what is in it, or move that to another schema.';
    END IF;
END
$$;

CREATE SEQUENCE fsbench.run_id_seq;
COMMENT ON SEQUENCE fsbench.run_id_seq IS 'Numbers of the runs';

CREATE TABLE fsbench.run_log (
    run_id               bigint PRIMARY KEY DEFAULT nextval('fsbench.run_id_seq'),
    status               text NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    target               text NOT NULL,
    workload             text NOT NULL,
    scale                integer,
    clients              integer,
    duration             interval,
    transactions         bigint,
    warmup               interval,
    rate                 float8,
    latency_limit_ms     float8,
    seed                 bigint,
    label                text,
    forced               boolean NOT NULL DEFAULT false,
    asked                jsonb NOT NULL,
    used                 jsonb NOT NULL,
    requested_by         name NOT NULL,
    requested_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at           timestamptz,
    measured_from        timestamptz,
    ended_at             timestamptz,
    phases               jsonb,
    steps                jsonb,
    error_code           text,
    error                text,
    error_detail         text,
    error_hint           text,
    work_database        name,
    work_database_oid    oid,
    work_mark            text,
    kept                 boolean NOT NULL DEFAULT false,
    load_ms              float8,
    data_bytes           bigint,
    measured_ms          float8,
    transactions_total   bigint,
    transactions_outside bigint,
    skipped              bigint,
    late                 bigint,
    failed               bigint,
    tps                  float8,
    latency_avg_ms       float8,
    latency_stddev_ms    float8,
    latency_p50_ms       float8,
    latency_p90_ms       float8,
    latency_p95_ms       float8,
    latency_p99_ms       float8,
    latency_p999_ms      float8,
    latency_max_ms       float8,
    commit_avg_ms        float8,
    commit_p50_ms        float8,
    commit_p99_ms        float8,
    commit_max_ms        float8,
    stall_seconds        integer,
    zero_seconds         integer,
    xids_used            bigint,
    wal_bytes            bigint,
    complete_checkpoints integer,
    balances             jsonb,
    facts                jsonb,
    client_wal_records   bigint,
    client_wal_fpi       bigint,
    client_wal_bytes     bigint,
    client_wal_writes    bigint,
    client_wal_syncs     bigint,
    client_wal_write_ms  float8,
    client_wal_sync_ms   float8,
    client_blocks_hit    bigint,
    client_blocks_read   bigint,
    client_blocks_dirtied bigint,
    client_blocks_written bigint,
    client_block_read_ms float8,
    client_block_write_ms float8,
    client_cpu_seconds   float8,
    cpu_seconds          float8,
    cpu_ms_per_transaction float8,
    device_read_bytes    bigint,
    device_write_bytes   bigint,
    device_flushes       bigint,
    device_bytes_per_transaction float8,
    flushes_per_transaction float8,
    changed_bytes        bigint,
    server_write_bytes   bigint,
    io_read_bytes        bigint,
    io_write_bytes       bigint,
    io_extend_bytes      bigint,
    io_wal_write_bytes   bigint,
    server_write_amplification float8,
    filesystem_write_amplification float8,
    write_amplification  float8,
    wal_start_lsn        pg_lsn,
    wal_end_lsn          pg_lsn,
    target_definition    jsonb,
    target_version       integer CHECK (target_version > 0),
    checkpoints_timed    integer,
    checkpoints_requested integer,
    checkpoints_logged   boolean,
    track_io_timing      boolean,
    track_wal_io_timing  boolean,
    clock_read_ns        float8,
    sustainable_rate     float8,
    sustainable_rate_low float8,
    sustainable_rate_high float8,
    sustainable_rate_estimate float8,
    sustainable_rate_says text,
    copied               boolean NOT NULL DEFAULT false,
    behind               bigint
);
CREATE INDEX run_log_label_idx ON fsbench.run_log (label, requested_at);
COMMENT ON TABLE fsbench.run_log IS 'One row per run, from the request to the result; read it through the view fsbench.result';
COMMENT ON COLUMN fsbench.run_log.run_id IS 'Number of the run in this database';
COMMENT ON COLUMN fsbench.run_log.status IS 'queued, running, done, failed or cancelled; only figures of a run that is done count';
COMMENT ON COLUMN fsbench.run_log.target IS 'Target that was measured';
COMMENT ON COLUMN fsbench.run_log.workload IS 'Name of the workload';
COMMENT ON COLUMN fsbench.run_log.scale IS 'Scale as in pgbench: 100,000 accounts, 10 tellers and 1 branch each; NULL for a workload without tables';
COMMENT ON COLUMN fsbench.run_log.clients IS 'Number of workers that run transactions at the same time; of the workload fsync, the most writers';
COMMENT ON COLUMN fsbench.run_log.duration IS 'Length of the measured window as asked, or of each cycle of a search for the sustainable rate; NULL when the number of transactions ended the run, or a cycle was a checkpoint cycle of the target';
COMMENT ON COLUMN fsbench.run_log.transactions IS 'Transactions per client as asked; NULL when the duration ended the run';
COMMENT ON COLUMN fsbench.run_log.warmup IS 'Length of the warm-up, which is not measured';
COMMENT ON COLUMN fsbench.run_log.rate IS 'Transactions per second of all clients as scheduled; NULL: as fast as possible';
COMMENT ON COLUMN fsbench.run_log.latency_limit_ms IS 'Slower transactions (ms) are late; under a rate, transactions that are later than this before they start are skipped';
COMMENT ON COLUMN fsbench.run_log.seed IS 'Seed of the random numbers; the same seed and transactions give the same transactions';
COMMENT ON COLUMN fsbench.run_log.label IS 'Free text of the caller';
COMMENT ON COLUMN fsbench.run_log.forced IS 'Whether the run was made although it could disturb others (force => true)';
COMMENT ON COLUMN fsbench.run_log.asked IS 'Parameters as given';
COMMENT ON COLUMN fsbench.run_log.used IS 'Parameters as used, with those that pgfsbench chose (chosen), settings and options';
COMMENT ON COLUMN fsbench.run_log.requested_by IS 'Role that asked for the run';
COMMENT ON COLUMN fsbench.run_log.requested_at IS 'Time of the request';
COMMENT ON COLUMN fsbench.run_log.started_at IS 'Start of its coordinator';
COMMENT ON COLUMN fsbench.run_log.measured_from IS 'Start of the measured window';
COMMENT ON COLUMN fsbench.run_log.ended_at IS 'End: done, failed or cancelled';
COMMENT ON COLUMN fsbench.run_log.phases IS 'Phases in their order: each with started_ms (since started_at) and ms; cleanup has no ms while it goes on. On a target the first ones are load_once (loading the data that are copied, if they were not there), filesystem (making and mounting it), copy, and server (starting it, or connecting to it); with the option crash stop, remount, recovery and verify follow those of the run; where a server was made for the run, release is the last one of a run that is done, once that server, its files and its filesystem are gone';
COMMENT ON COLUMN fsbench.run_log.steps IS 'Steps in the order of their start, as fsbench.plan() with the same arguments shows them beforehand: each with who, action and started_ms (since started_at). For a failed run, the steps up to the failure, and the removal';
COMMENT ON COLUMN fsbench.run_log.error_code IS 'SQLSTATE of the error that ended the run';
COMMENT ON COLUMN fsbench.run_log.error IS 'Message of the error that ended the run';
COMMENT ON COLUMN fsbench.run_log.error_detail IS 'DETAIL of that error';
COMMENT ON COLUMN fsbench.run_log.error_hint IS 'HINT of that error';
COMMENT ON COLUMN fsbench.run_log.work_database IS 'Name of the database that the run worked in';
COMMENT ON COLUMN fsbench.run_log.work_database_oid IS 'OID of that database, in the server that made the run; after a restore it names nothing';
COMMENT ON COLUMN fsbench.run_log.work_mark IS 'Mark in the comment of the work database; a database without it is never dropped';
COMMENT ON COLUMN fsbench.run_log.kept IS 'Whether the work database was left for the caller to use (keep => true)';
COMMENT ON COLUMN fsbench.run_log.load_ms IS 'Time for loading, vacuuming and building keys (ms)';
COMMENT ON COLUMN fsbench.run_log.data_bytes IS 'Size of the work database when the clients started';
COMMENT ON COLUMN fsbench.run_log.measured_ms IS 'From the start of the measured window to its end or to the end of its last transaction, whichever is later (ms)';
COMMENT ON COLUMN fsbench.run_log.transactions_total IS 'Transactions committed in the measured window, all clients';
COMMENT ON COLUMN fsbench.run_log.transactions_outside IS 'Transactions committed in the warm-up';
COMMENT ON COLUMN fsbench.run_log.skipped IS 'Scheduled transactions that were already later than the latency limit before they could start; they count as misses';
COMMENT ON COLUMN fsbench.run_log.late IS 'Transactions that took longer than the latency limit';
COMMENT ON COLUMN fsbench.run_log.failed IS 'Transactions that ended with a serialization failure, a deadlock or a lock timeout';
COMMENT ON COLUMN fsbench.run_log.tps IS 'Transactions per second in the measured window; of the workload fsync, which has no transactions, operations per second of what the server itself does (its wal_sync_method, one write) by as few writers as were tested, and the latencies too; of the workload io, reads and writes per second of fio over all jobs, and their latencies';
COMMENT ON COLUMN fsbench.run_log.latency_avg_ms IS 'Mean latency (ms); under a rate from the time when each transaction was due';
COMMENT ON COLUMN fsbench.run_log.latency_stddev_ms IS 'Standard deviation of the latency (ms)';
COMMENT ON COLUMN fsbench.run_log.latency_p50_ms IS 'Median latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p90_ms IS '90th percentile of the latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p95_ms IS '95th percentile of the latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p99_ms IS '99th percentile of the latency (ms), within 3.2 %; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_p999_ms IS '99.9th percentile of the latency (ms); NULL under 10,000 transactions; under a rate of all that were due: NULL where it falls on one that was skipped or has failed';
COMMENT ON COLUMN fsbench.run_log.latency_max_ms IS 'Longest latency (ms), exact';
COMMENT ON COLUMN fsbench.run_log.commit_avg_ms IS 'Mean duration of COMMIT (ms)';
COMMENT ON COLUMN fsbench.run_log.commit_p50_ms IS 'Median duration of COMMIT (ms)';
COMMENT ON COLUMN fsbench.run_log.commit_p99_ms IS '99th percentile of the duration of COMMIT (ms)';
COMMENT ON COLUMN fsbench.run_log.commit_max_ms IS 'Longest COMMIT (ms)';
COMMENT ON COLUMN fsbench.run_log.stall_seconds IS 'Seconds with less than a tenth of the transactions of the median second';
COMMENT ON COLUMN fsbench.run_log.zero_seconds IS 'Seconds in which no transaction committed';
COMMENT ON COLUMN fsbench.run_log.xids_used IS 'Transaction ids that the server gave out between the start and the end of the run, to whomever; those of maintenance steps are not counted';
COMMENT ON COLUMN fsbench.run_log.wal_bytes IS 'WAL that the server wrote in the measured window (difference of LSNs)';
COMMENT ON COLUMN fsbench.run_log.complete_checkpoints IS 'Checkpoints that began and ended in the measured window';
COMMENT ON COLUMN fsbench.run_log.balances IS 'What the tables held after the run, and was verified; of pgbench''s scripts the sums of accounts, tellers, branches and history, rows of history, fingerprint of the accounts, and accounts_read: all, or changed where only those were read that the history names; of two runs the fingerprints compare';
COMMENT ON COLUMN fsbench.run_log.facts IS 'Observations of the run without a column; fsbench.judge() reads them';
COMMENT ON COLUMN fsbench.run_log.client_wal_records IS 'WAL records that transactions of the clients wrote in the measured window, by the clients'' own counters';
COMMENT ON COLUMN fsbench.run_log.client_wal_fpi IS 'Full-page images among them';
COMMENT ON COLUMN fsbench.run_log.client_wal_bytes IS 'Their bytes; wal_bytes has besides what others wrote, and the headers of pages';
COMMENT ON COLUMN fsbench.run_log.client_wal_writes IS 'How often clients wrote WAL to its file';
COMMENT ON COLUMN fsbench.run_log.client_wal_syncs IS 'How often clients flushed WAL (walwriter and others do too); with wal_sync_method open_datasync or open_sync each write is a flush';
COMMENT ON COLUMN fsbench.run_log.client_wal_write_ms IS 'Time of these writes, added up over the clients (ms); NULL while track_wal_io_timing is off';
COMMENT ON COLUMN fsbench.run_log.client_wal_sync_ms IS 'Time of these flushes, added up over the clients (ms): with open_datasync and open_sync that of the writes; NULL while track_wal_io_timing is off';
COMMENT ON COLUMN fsbench.run_log.client_blocks_hit IS 'Blocks that clients found in shared buffers';
COMMENT ON COLUMN fsbench.run_log.client_blocks_read IS 'Blocks that clients read from the operating system';
COMMENT ON COLUMN fsbench.run_log.client_blocks_dirtied IS 'Blocks that clients changed first';
COMMENT ON COLUMN fsbench.run_log.client_blocks_written IS 'Blocks that clients had to write themselves';
COMMENT ON COLUMN fsbench.run_log.client_block_read_ms IS 'Time for reading blocks, added up over the clients (ms); NULL while track_io_timing is off';
COMMENT ON COLUMN fsbench.run_log.client_block_write_ms IS 'Time for writing blocks, added up over the clients (ms); NULL while track_io_timing is off';
COMMENT ON COLUMN fsbench.run_log.client_cpu_seconds IS 'Processor time of the clients in the measured window (s)';
COMMENT ON COLUMN fsbench.run_log.cpu_seconds IS 'Processor time of clients, checkpointer, walwriter and background writer in the measured window (s)';
COMMENT ON COLUMN fsbench.run_log.cpu_ms_per_transaction IS 'cpu_seconds per transaction (ms)';
COMMENT ON COLUMN fsbench.run_log.device_read_bytes IS 'Bytes read from the block device of the data in the measured window, for all programs; NULL for a filesystem without a block device of its own (tmpfs, NFS, overlay, zfs) or with several';
COMMENT ON COLUMN fsbench.run_log.device_write_bytes IS 'Bytes written to the block devices of data and WAL, by all programs; NULL where one of them is not known, or the kernel counts nothing there (a partition on NVMe with several paths)';
COMMENT ON COLUMN fsbench.run_log.device_flushes IS 'Flushes of the caches of these devices; for a partition those of the whole disk; NULL where the kernel does not count them (before Linux 5.5, md, device mapper)';
COMMENT ON COLUMN fsbench.run_log.device_bytes_per_transaction IS 'device_write_bytes per transaction';
COMMENT ON COLUMN fsbench.run_log.flushes_per_transaction IS 'device_flushes per transaction';
COMMENT ON COLUMN fsbench.run_log.changed_bytes IS 'Bytes that the transactions changed: the columns that they set, without headers and indexes (tpcb: three balances of 4 bytes and a row of history of 24)';
COMMENT ON COLUMN fsbench.run_log.server_write_bytes IS 'Bytes that the server wrote for it: wal_bytes, and the blocks that its processes wrote, also to make files longer. PostgreSQL 15 may not yet have counted all that others wrote than clients, checkpointer and background writer (autovacuum)';
COMMENT ON COLUMN fsbench.run_log.io_read_bytes IS 'Bytes of relations that all processes of the server read in the measured window, by pg_stat_io; NULL before PostgreSQL 16, and when that was reset meanwhile. fsbench.statistic has it by kind of process and context';
COMMENT ON COLUMN fsbench.run_log.io_write_bytes IS 'Bytes of relations that the server''s processes wrote in the measured window, by pg_stat_io';
COMMENT ON COLUMN fsbench.run_log.io_extend_bytes IS 'Bytes by which the server''s processes extended files of relations in the measured window, by pg_stat_io';
COMMENT ON COLUMN fsbench.run_log.io_wal_write_bytes IS 'Bytes of WAL that the server''s processes wrote in the measured window, new segments included, by pg_stat_io; NULL before PostgreSQL 18';
COMMENT ON COLUMN fsbench.run_log.server_write_amplification IS 'server_write_bytes / changed_bytes: what WAL and blocks add';
COMMENT ON COLUMN fsbench.run_log.filesystem_write_amplification IS 'device_write_bytes / server_write_bytes: what filesystem and padding to whole pages add; below 1 where data stay in the page cache';
COMMENT ON COLUMN fsbench.run_log.write_amplification IS 'device_write_bytes / changed_bytes: both together';
COMMENT ON COLUMN fsbench.run_log.wal_start_lsn IS 'Where WAL was inserted at the start of the measured window; wal_bytes counts from here';
COMMENT ON COLUMN fsbench.run_log.wal_end_lsn IS 'Where WAL was inserted at its end';
COMMENT ON COLUMN fsbench.run_log.target_definition IS 'How the target was defined when the run was made: the columns of fsbench.target that are not NULL';
COMMENT ON COLUMN fsbench.run_log.target_version IS 'Number of that definition among those of the same target that have results: 1 for the first; NULL for a run that is not done';
COMMENT ON COLUMN fsbench.run_log.checkpoints_timed IS 'Checkpoints that began in the measured window because checkpoint_timeout was over';
COMMENT ON COLUMN fsbench.run_log.checkpoints_requested IS 'Checkpoints that began in the measured window for other reasons: max_wal_size, CHECKPOINT, a backup';
COMMENT ON COLUMN fsbench.run_log.checkpoints_logged IS 'Whether fsbench.checkpoint has all checkpoints of the run: the server logged them';
COMMENT ON COLUMN fsbench.run_log.track_io_timing IS 'Whether the clients took the time of reads and writes of data';
COMMENT ON COLUMN fsbench.run_log.track_wal_io_timing IS 'Whether the clients took the time of writes and flushes of WAL; costs two readings of the clock (clock_read_ns) for each';
COMMENT ON COLUMN fsbench.run_log.clock_read_ns IS 'Cost of one reading of the clock (ns), as pg_test_timing measures it';
COMMENT ON COLUMN fsbench.run_log.sustainable_rate IS 'The highest rate (transactions per second) that was kept twice with the percentile of latency under the limit; NULL when there is none, and of runs that searched for none';
COMMENT ON COLUMN fsbench.run_log.sustainable_rate_low IS 'Lower end of its interval';
COMMENT ON COLUMN fsbench.run_log.sustainable_rate_high IS 'Upper end of its interval; the least rate that was tried when none was kept';
COMMENT ON COLUMN fsbench.run_log.sustainable_rate_estimate IS 'Rate at which the share of misses crosses what the percentile allows, from all probes together';
COMMENT ON COLUMN fsbench.run_log.sustainable_rate_says IS 'sustainable_rate in words, with what bounds it';
COMMENT ON COLUMN fsbench.run_log.copied IS 'Whether no run of this server wrote the row: it comes from a dump or a file, or was written by hand. It is not repeated by fsbench.check_history()';
COMMENT ON COLUMN fsbench.run_log.behind IS 'Transactions that were committed and had started more than 10 s after they were due, under a rate; with those that were skipped or have failed, what was not done in time. NULL for workloads without transactions';

CREATE TABLE fsbench.sample (
    run_id           bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    second           integer NOT NULL,
    interval_ms      real NOT NULL,
    transactions     bigint,
    skipped          integer,
    late             integer,
    failed           integer,
    latency_avg_ms   real,
    latency_p50_ms   real,
    latency_p95_ms   real,
    latency_max_ms   float8,
    latency_p99_ms   real,
    commit_p99_ms    real,
    wal_bytes        bigint,
    wal_flushed_bytes bigint,
    client_wal_bytes bigint,
    client_wal_records integer,
    client_wal_fpi   integer,
    client_wal_writes integer,
    client_wal_syncs integer,
    client_wal_write_ms real,
    client_wal_sync_ms real,
    client_blocks_hit integer,
    client_blocks_read integer,
    client_blocks_dirtied integer,
    client_blocks_written integer,
    client_block_read_ms real,
    client_block_write_ms real,
    device_reads     integer,
    device_writes    integer,
    device_flushes   integer,
    device_read_bytes real,
    device_write_bytes real,
    device_r_await_ms real,
    device_w_await_ms real,
    device_f_await_ms real,
    device_aqu_sz    real,
    device_util_percent real,
    wal_device_writes integer,
    wal_device_flushes integer,
    wal_device_write_bytes real,
    wal_device_w_await_ms real,
    wal_device_f_await_ms real,
    wal_device_util_percent real,
    cpu_usr_percent  real,
    cpu_nice_percent real,
    cpu_sys_percent  real,
    cpu_iowait_percent real,
    cpu_irq_percent  real,
    cpu_soft_percent real,
    cpu_steal_percent real,
    cpu_idle_percent real,
    client_cpu_ms    real,
    checkpointer_cpu_ms real,
    walwriter_cpu_ms real,
    bgwriter_cpu_ms  real,
    memory_free_bytes real,
    memory_available_bytes real,
    cached_bytes     real,
    dirty_bytes      real,
    writeback_bytes  real,
    pgpgin_bytes     real,
    pgpgout_bytes    real,
    pswpin_pages     integer,
    pswpout_pages    integer,
    pgmajfault       integer,
    pressure_cpu_some_percent real,
    pressure_memory_some_percent real,
    pressure_memory_full_percent real,
    pressure_io_some_percent real,
    pressure_io_full_percent real,
    io_read_bytes    real,
    io_write_bytes   real,
    io_extend_bytes  real,
    PRIMARY KEY (run_id, second)
);
COMMENT ON TABLE fsbench.sample IS 'One row per second of the measured window; the transactions of a run add up to its transactions_total. What could not be found out is NULL. Columns have the narrowest type that holds them: a row with its share of the index takes less than 400 bytes';
COMMENT ON COLUMN fsbench.sample.second IS 'Second of the measured window, from 0. A missing second is part of the one before: the sampler came too late';
COMMENT ON COLUMN fsbench.sample.interval_ms IS 'True length of the interval (ms): shorter in the last one of a run, longer where the sampler came late';
COMMENT ON COLUMN fsbench.sample.transactions IS 'Transactions committed in it, or operations of io; NULL in a second in which fio logged no job, and in a run that has none, as all columns of transactions, and those of WAL and blocks by the clients'' own counters';
COMMENT ON COLUMN fsbench.sample.skipped IS 'Transactions skipped in it';
COMMENT ON COLUMN fsbench.sample.latency_avg_ms IS 'Mean latency of transactions that ended in the second (ms)';
COMMENT ON COLUMN fsbench.sample.latency_p50_ms IS 'Median latency (ms)';
COMMENT ON COLUMN fsbench.sample.latency_p95_ms IS '95th percentile of the latency (ms)';
COMMENT ON COLUMN fsbench.sample.latency_p99_ms IS '99th percentile of the latency (ms)';
COMMENT ON COLUMN fsbench.sample.latency_max_ms IS 'Longest latency (ms)';
COMMENT ON COLUMN fsbench.sample.commit_p99_ms IS '99th percentile of the duration of COMMIT (ms)';
COMMENT ON COLUMN fsbench.sample.wal_bytes IS 'WAL that the server wrote in it (difference of insert LSNs, read when the second was counted). The run''s is read by another process at its own start and end: they differ by what was written between';
COMMENT ON COLUMN fsbench.sample.wal_flushed_bytes IS 'WAL that was flushed in it (difference of flush LSNs)';
COMMENT ON COLUMN fsbench.sample.client_wal_bytes IS 'Bytes of WAL records of the clients'' transactions, by their own counters; adds up to that of the run';
COMMENT ON COLUMN fsbench.sample.client_wal_records IS 'WAL records likewise';
COMMENT ON COLUMN fsbench.sample.device_reads IS 'Reads of the block device of the data in the interval (iostat: r/s, where that is a second); NULL where the data have no block device of their own, as all columns of it';
COMMENT ON COLUMN fsbench.sample.device_writes IS 'Writes (w/s); the kernel counts a flush of the cache that writes nothing as a write, too';
COMMENT ON COLUMN fsbench.sample.device_flushes IS 'Flushes of its cache (f/s); for a partition those of the whole disk; NULL where the kernel does not count them';
COMMENT ON COLUMN fsbench.sample.device_read_bytes IS 'Bytes read (rkB/s); exact up to 8 GB, as all columns of bytes that are real: cast to float8 to add them up';
COMMENT ON COLUMN fsbench.sample.device_write_bytes IS 'Bytes written (wkB/s)';
COMMENT ON COLUMN fsbench.sample.device_r_await_ms IS 'Mean time of a read, queue included (r_await, ms); NULL when there was none';
COMMENT ON COLUMN fsbench.sample.device_w_await_ms IS 'Mean time of a write (w_await, ms); NULL when there was none';
COMMENT ON COLUMN fsbench.sample.device_f_await_ms IS 'Mean time of a flush (f_await, ms); NULL when there was none';
COMMENT ON COLUMN fsbench.sample.device_aqu_sz IS 'Mean number of requests under way (aqu-sz)';
COMMENT ON COLUMN fsbench.sample.device_util_percent IS 'Share of the time in which a request was under way (%util)';
COMMENT ON COLUMN fsbench.sample.wal_device_writes IS 'Writes of the block device of the WAL, where that is another one than that of the data; else NULL, as all columns of it';
COMMENT ON COLUMN fsbench.sample.wal_device_flushes IS 'Flushes of its cache';
COMMENT ON COLUMN fsbench.sample.wal_device_write_bytes IS 'Bytes written';
COMMENT ON COLUMN fsbench.sample.wal_device_w_await_ms IS 'Mean time of a write (ms)';
COMMENT ON COLUMN fsbench.sample.wal_device_f_await_ms IS 'Mean time of a flush (ms)';
COMMENT ON COLUMN fsbench.sample.wal_device_util_percent IS 'Share of the time in which a request was under way';
COMMENT ON COLUMN fsbench.sample.cpu_usr_percent IS 'Processor time of all programs of the machine (mpstat: %usr); the states add up to 100, with what is run for guests';
COMMENT ON COLUMN fsbench.sample.cpu_nice_percent IS 'Processor time of programs at a lower priority (%nice)';
COMMENT ON COLUMN fsbench.sample.cpu_sys_percent IS 'In the kernel (%sys)';
COMMENT ON COLUMN fsbench.sample.cpu_iowait_percent IS 'Idle while a request was under way (%iowait)';
COMMENT ON COLUMN fsbench.sample.cpu_irq_percent IS 'Hardware interrupts (%irq)';
COMMENT ON COLUMN fsbench.sample.cpu_soft_percent IS 'Software interrupts (%soft)';
COMMENT ON COLUMN fsbench.sample.cpu_steal_percent IS 'Taken by the hypervisor for others (%steal)';
COMMENT ON COLUMN fsbench.sample.cpu_idle_percent IS 'Idle (%idle)';
COMMENT ON COLUMN fsbench.sample.client_cpu_ms IS 'Processor time of the clients together (ms)';
COMMENT ON COLUMN fsbench.sample.checkpointer_cpu_ms IS 'Processor time of the checkpointer (ms)';
COMMENT ON COLUMN fsbench.sample.walwriter_cpu_ms IS 'Processor time of the walwriter (ms)';
COMMENT ON COLUMN fsbench.sample.bgwriter_cpu_ms IS 'Processor time of the background writer (ms)';
COMMENT ON COLUMN fsbench.sample.memory_free_bytes IS 'Unused memory, at the end of the second (MemFree)';
COMMENT ON COLUMN fsbench.sample.memory_available_bytes IS 'Memory that programs could have (MemAvailable)';
COMMENT ON COLUMN fsbench.sample.cached_bytes IS 'Page cache (Cached)';
COMMENT ON COLUMN fsbench.sample.dirty_bytes IS 'Memory waiting to be written back (Dirty)';
COMMENT ON COLUMN fsbench.sample.writeback_bytes IS 'Memory being written back (Writeback)';
COMMENT ON COLUMN fsbench.sample.pgpgin_bytes IS 'Bytes that the machine read from block devices (vmstat: pgpgin)';
COMMENT ON COLUMN fsbench.sample.pgpgout_bytes IS 'Bytes that it wrote to them (pgpgout)';
COMMENT ON COLUMN fsbench.sample.pswpin_pages IS 'Pages that were swapped in (pswpin)';
COMMENT ON COLUMN fsbench.sample.pswpout_pages IS 'Pages that were swapped out (pswpout)';
COMMENT ON COLUMN fsbench.sample.pgmajfault IS 'Page faults that had to wait for a device';
COMMENT ON COLUMN fsbench.sample.pressure_cpu_some_percent IS 'Share of the time in which a task waited for a processor (/proc/pressure); NULL where the kernel has no PSI, as all columns of it';
COMMENT ON COLUMN fsbench.sample.pressure_memory_some_percent IS 'Share in which a task waited for memory';
COMMENT ON COLUMN fsbench.sample.pressure_memory_full_percent IS 'Share in which all did';
COMMENT ON COLUMN fsbench.sample.pressure_io_some_percent IS 'Share in which a task waited for a device';
COMMENT ON COLUMN fsbench.sample.pressure_io_full_percent IS 'Share in which all did';
COMMENT ON COLUMN fsbench.sample.io_read_bytes IS 'Bytes of relations that all processes of the server read (pg_stat_io), as they told it: at most once a second each, so that some of it belongs to the second before. NULL before PostgreSQL 16';
COMMENT ON COLUMN fsbench.sample.io_write_bytes IS 'Bytes of relations that the server''s processes wrote, by pg_stat_io';
COMMENT ON COLUMN fsbench.sample.io_extend_bytes IS 'Bytes by which the server''s processes extended files of relations, by pg_stat_io';

CREATE TABLE fsbench.histogram (
    run_id         bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    transaction    text NOT NULL,
    measure        text NOT NULL CHECK (measure ~ '^(latency|service|commit|read|write|sync|command [1-9][0-9]{0,5})$'),
    transactions   bigint NOT NULL,
    sum_ms         float8 NOT NULL,
    sum_squares_ms float8 NOT NULL,
    min_ms         float8,
    max_ms         float8,
    buckets        smallint[] NOT NULL,
    counts         bigint[] NOT NULL,
    PRIMARY KEY (run_id, transaction, measure)
);
COMMENT ON TABLE fsbench.histogram IS 'Latencies of a run as a log-linear histogram (32 buckets per factor of two); histograms of several runs are merged by adding counts, see fsbench.percentile';
COMMENT ON COLUMN fsbench.histogram.transaction IS 'Which transaction of the workload, such as tpcb or insert: the name of the workload for all types together, or of a type in fsbench.transaction_result; of the workload io, the job';
COMMENT ON COLUMN fsbench.histogram.measure IS 'What of it: latency, under a rate from the time when it was due; service: the same from its real start (under a rate only); commit: its COMMIT alone, of a script each COMMIT and each statement that commits by itself; command N: command N of a script alone; read, write and sync: operations of a job of the workload io';
COMMENT ON COLUMN fsbench.histogram.transactions IS 'Number of measured transactions';
COMMENT ON COLUMN fsbench.histogram.sum_ms IS 'Sum of the latencies (ms)';
COMMENT ON COLUMN fsbench.histogram.sum_squares_ms IS 'Sum of the squares of the latencies (ms squared)';
COMMENT ON COLUMN fsbench.histogram.min_ms IS 'Shortest (ms)';
COMMENT ON COLUMN fsbench.histogram.max_ms IS 'Longest (ms)';
COMMENT ON COLUMN fsbench.histogram.buckets IS 'Numbers of the buckets that are not empty; see fsbench.bucket_low_ms and bucket_high_ms';
COMMENT ON COLUMN fsbench.histogram.counts IS 'Latencies in each of these buckets';

CREATE TABLE fsbench.environment (
    run_id               bigint PRIMARY KEY REFERENCES fsbench.run_log ON DELETE CASCADE,
    pgfsbench_version    text,
    server_version       text,
    server_version_num   integer,
    kernel               text,
    hostname             text,
    machine              text,
    virtualization       text,
    processors           integer,
    processor_model      text,
    memory_bytes         bigint,
    limits               jsonb,
    shared_buffers_bytes bigint,
    data_checksums       boolean,
    scope                text,
    durability           text,
    data_directory       text,
    filesystem           text,
    device               text,
    mount_point          text,
    mount_options        text,
    st_dev               text,
    filesystem_size_bytes bigint,
    filesystem_free_bytes bigint,
    wal_directory        text,
    wal_filesystem       text,
    wal_device           text,
    wal_mount_options    text,
    wal_st_dev           text,
    settings             jsonb,
    write_cache          text,
    storage              jsonb,
    wal_mount_point           text,
    block_size_bytes          bigint,
    mkfs_version              text,
    mkfs_command              text,
    geometry                  jsonb,
    device_model              text,
    rotational                boolean,
    fua                       boolean,
    discard_granularity_bytes bigint,
    discard_max_bytes         bigint,
    logical_sector_bytes      integer,
    physical_sector_bytes     integer,
    io_scheduler              text,
    nr_requests               integer,
    queue_depth               integer,
    read_ahead_kb             integer,
    layers                    jsonb,
    wal_layers                jsonb,
    kernel_command_line       text,
    vm                        jsonb,
    transparent_hugepage      text,
    cpu_governor              text,
    cpu_mhz_min               float8,
    cpu_mhz_max               float8,
    numa_nodes                integer,
    container                 text,
    clock_source              text,
    host_fingerprint          text,
    configuration_fingerprint text,
    journal_mode              text,
    durability_codes          jsonb,
    data_attributes           text,
    data_file_attributes      text,
    pg_wal_attributes         text,
    pg_wal_file_attributes    text,
    fallocate                 boolean
);
COMMENT ON TABLE fsbench.environment IS 'Where and how a run was made: what one needs to doubt it; what could not be found out is NULL';
COMMENT ON COLUMN fsbench.environment.storage IS 'For a run on a target: what pgfsbench-helper was asked for (request) and has made (result), and what was copied (data); for a run on a server that was reached by a connection: the connection, and the number of the run there (remote_run_id)';
COMMENT ON COLUMN fsbench.environment.pgfsbench_version IS 'Version of the pgfsbench library';
COMMENT ON COLUMN fsbench.environment.server_version IS 'Version of the server, in full';
COMMENT ON COLUMN fsbench.environment.server_version_num IS 'Version of the server as a number';
COMMENT ON COLUMN fsbench.environment.kernel IS 'Kernel, release and version';
COMMENT ON COLUMN fsbench.environment.hostname IS 'Name of the host';
COMMENT ON COLUMN fsbench.environment.machine IS 'Architecture';
COMMENT ON COLUMN fsbench.environment.virtualization IS 'Kind of virtual machine, in the words of systemd-detect-virt: uml (a User-Mode Linux guest), kvm, qemu, xen, vmware, vm-other, ...; none: a real one; NULL: not known';
COMMENT ON COLUMN fsbench.environment.processors IS 'Processors of the machine';
COMMENT ON COLUMN fsbench.environment.processor_model IS 'Model of the processor';
COMMENT ON COLUMN fsbench.environment.memory_bytes IS 'RAM that the server can use: that of the machine, or a smaller limit of its cgroup (container)';
COMMENT ON COLUMN fsbench.environment.limits IS 'Limits of the server''s cgroup (container), the smallest of all levels that it can see: memory_bytes, processors (time of so many), allowed_processors (may run on so many), io (bytes and requests a second, for each device); {} where there are none; NULL where no cgroup is visible';
COMMENT ON COLUMN fsbench.environment.shared_buffers_bytes IS 'shared_buffers in bytes';
COMMENT ON COLUMN fsbench.environment.data_checksums IS 'Whether the server has checksums of data pages; initdb of PostgreSQL 18 turns them on by default';
COMMENT ON COLUMN fsbench.environment.scope IS 'What lies on the measured filesystem, by st_dev: data and WAL, or data only';
COMMENT ON COLUMN fsbench.environment.durability IS 'What a COMMIT promised: not durable, with the reasons; not known, with the layer that cannot be seen or the measurement that contradicts; durable by the declared power-loss protection; or durable by settings (not tried)';
COMMENT ON COLUMN fsbench.environment.durability_codes IS 'The codes from which durability is made, with their figures; an empty array for durable by settings; NULL: not known';
COMMENT ON COLUMN fsbench.environment.write_cache IS 'Write cache of the device below the data, as the kernel sees it: write back, which is flushed, or write through';
COMMENT ON COLUMN fsbench.environment.data_directory IS 'Data directory of the server';
COMMENT ON COLUMN fsbench.environment.filesystem IS 'Type of the filesystem of the data directory';
COMMENT ON COLUMN fsbench.environment.device IS 'Device of the data directory';
COMMENT ON COLUMN fsbench.environment.mount_point IS 'Mount point of the data directory';
COMMENT ON COLUMN fsbench.environment.mount_options IS 'Mount options of the data directory''s filesystem, as the kernel shows them';
COMMENT ON COLUMN fsbench.environment.st_dev IS 'Device number of the data directory, major:minor';
COMMENT ON COLUMN fsbench.environment.filesystem_size_bytes IS 'Size of the filesystem of the data directory';
COMMENT ON COLUMN fsbench.environment.filesystem_free_bytes IS 'Free space on it before the run';
COMMENT ON COLUMN fsbench.environment.wal_directory IS 'Directory of the WAL, links resolved';
COMMENT ON COLUMN fsbench.environment.wal_filesystem IS 'Type of the filesystem of the WAL';
COMMENT ON COLUMN fsbench.environment.wal_device IS 'Device of the WAL';
COMMENT ON COLUMN fsbench.environment.wal_mount_options IS 'Mount options of the WAL''s filesystem';
COMMENT ON COLUMN fsbench.environment.wal_st_dev IS 'Device number of the WAL directory, major:minor';
COMMENT ON COLUMN fsbench.environment.settings IS 'All settings of the server that are not default, and those of reading and writing (io_method, io_workers, effective_io_concurrency and the like, huge_pages, file_copy_method) in any case, and where each comes from; without the values of those that can hold a secret (primary_conninfo, commands such as archive_command, texts of applications and extensions)';
COMMENT ON COLUMN fsbench.environment.wal_mount_point IS 'Where the filesystem of the WAL is mounted';
COMMENT ON COLUMN fsbench.environment.block_size_bytes IS 'Block size of the filesystem of the data';
COMMENT ON COLUMN fsbench.environment.mkfs_version IS 'Version of the program that made the filesystem; NULL where it was not made for the run';
COMMENT ON COLUMN fsbench.environment.mkfs_command IS 'Command that made it';
COMMENT ON COLUMN fsbench.environment.geometry IS 'Its geometry, as mkfs or dumpe2fs told: block, inode and log sizes, allocation groups, stripes, features; of ext2, ext3, ext4, xfs and btrfs that the helper has made, NULL for others';
COMMENT ON COLUMN fsbench.environment.device_model IS 'Maker and model of the disks at the bottom';
COMMENT ON COLUMN fsbench.environment.rotational IS 'Whether one of these disks rotates, as the kernel sees it; of virtual disks it may say anything';
COMMENT ON COLUMN fsbench.environment.fua IS 'Whether the device can force single writes to the medium';
COMMENT ON COLUMN fsbench.environment.discard_granularity_bytes IS 'Unit of a discard; 0: the device discards nothing';
COMMENT ON COLUMN fsbench.environment.discard_max_bytes IS 'The most that one request discards, 0 when the device cannot';
COMMENT ON COLUMN fsbench.environment.logical_sector_bytes IS 'Smallest piece that the device addresses';
COMMENT ON COLUMN fsbench.environment.physical_sector_bytes IS 'Smallest piece that it writes without reading';
COMMENT ON COLUMN fsbench.environment.io_scheduler IS 'Scheduler of its queue; this and the next three when the run began';
COMMENT ON COLUMN fsbench.environment.nr_requests IS 'Requests that its queue holds';
COMMENT ON COLUMN fsbench.environment.queue_depth IS 'Requests that the device takes at once, where it says so';
COMMENT ON COLUMN fsbench.environment.read_ahead_kb IS 'Read-ahead (kB)';
COMMENT ON COLUMN fsbench.environment.layers IS 'What the data lie on, from above to the disks: partitions, LVM, encryption, RAID and btrfs over several devices (level, chunk_bytes, raid_disks, members, degraded, sync_action, bitmap, consistency_policy, safe_mode_delay_ms, stripe_cache_size, mismatch_sectors), loop devices and what holds their files, each with its queue, and disks with WWN and serial number as far as everybody may read them; NULL for a filesystem without a device (tmpfs, NFS, overlay, zfs)';
COMMENT ON COLUMN fsbench.environment.wal_layers IS 'Layers below the WAL, as layers';
COMMENT ON COLUMN fsbench.environment.kernel_command_line IS 'Command line of the kernel, without the values of what may be secrets';
COMMENT ON COLUMN fsbench.environment.vm IS 'Those kernel settings vm.* that decide when the kernel writes, and how much memory it keeps and gives out, when the run began';
COMMENT ON COLUMN fsbench.environment.transparent_hugepage IS 'Transparent huge pages: always, madvise or never';
COMMENT ON COLUMN fsbench.environment.cpu_governor IS 'What governs the clock of the processors';
COMMENT ON COLUMN fsbench.environment.cpu_mhz_min IS 'Clock of the slowest processor when the run began (MHz)';
COMMENT ON COLUMN fsbench.environment.cpu_mhz_max IS 'Clock of the fastest one';
COMMENT ON COLUMN fsbench.environment.numa_nodes IS 'Nodes of memory';
COMMENT ON COLUMN fsbench.environment.container IS 'Container that the server runs in: docker, podman, lxc, kubernetes, ...; none: it runs in the machine''s own namespaces; NULL: not known';
COMMENT ON COLUMN fsbench.environment.clock_source IS 'By what the kernel tells the time';
COMMENT ON COLUMN fsbench.environment.host_fingerprint IS 'The same for runs on the same machine: a hash of the machine id (outside of containers), the model of the processors, and models, sizes and serial numbers of the disks; NULL: neither id nor disks are known';
COMMENT ON COLUMN fsbench.environment.journal_mode IS 'What the journal of ext2, ext3 or ext4 holds, as its driver tells: ordered, writeback, journal, or none; NULL for other filesystems';
COMMENT ON COLUMN fsbench.environment.data_attributes IS 'Attributes of the directory of the tables that chattr or a property of btrfs gives, with commas: nocow, compress, compression=zstd, sync, ...; empty: none; NULL: the filesystem has no attributes';
COMMENT ON COLUMN fsbench.environment.data_file_attributes IS 'Attributes in force of the largest table, when it was loaded. A file takes them from its directory when it is made';
COMMENT ON COLUMN fsbench.environment.pg_wal_attributes IS 'Attributes of the directory of the WAL';
COMMENT ON COLUMN fsbench.environment.pg_wal_file_attributes IS 'Attributes of the segment of WAL that was written before the clients began';
COMMENT ON COLUMN fsbench.environment.fallocate IS 'Whether the filesystem of the tables has fallocate(), as the run tried it; where it has none, posix_fallocate() writes into each block';
COMMENT ON COLUMN fsbench.environment.configuration_fingerprint IS 'Equal for runs with the same configuration: a hash of the settings of the server and of the run''s clients, filesystem, mkfs, mount options, queue and kernel settings';

CREATE TABLE fsbench.finding (
    run_id   bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    code     text NOT NULL,
    severity text NOT NULL CHECK (severity IN ('info', 'warning', 'invalid')),
    message  text NOT NULL,
    hint     text,
    weight   smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (run_id, code)
);
COMMENT ON TABLE fsbench.finding IS 'What can mislead about a run';
COMMENT ON COLUMN fsbench.finding.code IS 'Kind of the finding; stays the same over versions';
COMMENT ON COLUMN fsbench.finding.severity IS 'info: good to know; warning: can mislead; invalid: do not use the figures';
COMMENT ON COLUMN fsbench.finding.message IS 'The observation, with figures';
COMMENT ON COLUMN fsbench.finding.hint IS 'Advice';
COMMENT ON COLUMN fsbench.finding.weight IS 'Effect of such findings on the figures, for the order within a severity, the heaviest first; hundreds are groups, as in docs/findings.md';

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

-- Wait events of the clients of a run.

CREATE TABLE fsbench.wait_event (
    run_id           bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    second           integer NOT NULL,
    wait_event_type  text NOT NULL,
    wait_event       text NOT NULL,
    samples          integer NOT NULL,
    PRIMARY KEY (run_id, second, wait_event_type, wait_event)
);
COMMENT ON TABLE fsbench.wait_event IS 'What the clients of a run waited for in each second: each was looked at 100 times a second while it was at work. Of a run of fsync these are the writers of the test that went on, of a run of scans the processes that scanned or read the table. fsbench.wait_profile() adds it up';
COMMENT ON COLUMN fsbench.wait_event.second IS 'Second of the measured window, from 0';
COMMENT ON COLUMN fsbench.wait_event.wait_event_type IS 'Type of the wait event, as in pg_stat_activity; CPU: the client waited for nothing, so that it ran or wanted a processor; other: what came after the first 24 events of a second';
COMMENT ON COLUMN fsbench.wait_event.wait_event IS 'Wait event, as in pg_stat_activity; Extension: under a rate, the client waited until its next transaction was due';
COMMENT ON COLUMN fsbench.wait_event.samples IS 'Number of looks at which a client waited for it';

CREATE FUNCTION fsbench.wait_profile(run_id bigint, from_second integer DEFAULT NULL, to_second integer DEFAULT NULL)
    RETURNS TABLE (wait_event_type text, wait_event text, samples bigint, percent float8)
    LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10 SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF $1 IS NOT NULL AND NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = $1) THEN
        RAISE EXCEPTION 'run % does not exist', $1 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    END IF;
    RETURN QUERY
        SELECT w.wait_event_type, w.wait_event, sum(w.samples),
               round(100 * sum(w.samples) / sum(sum(w.samples)) OVER (), 2)::float8
        FROM fsbench.wait_event w
        WHERE w.run_id = $1 AND w.second BETWEEN coalesce($2, 0) AND coalesce($3, 2147483647)
        GROUP BY w.wait_event_type, w.wait_event
        ORDER BY 3 DESC, 1, 2;
END
$$;
COMMENT ON FUNCTION fsbench.wait_profile IS 'What the clients of a run spent their time with, the most frequent first: wait events as in pg_stat_activity, and CPU where they waited for nothing; all of it, or from one second to another. Empty for a run without a sampler';

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

-- Results of the workload scan.

CREATE TABLE fsbench.scan (
    run_id             bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    scan               integer NOT NULL,
    degree             integer NOT NULL,
    repeat             integer NOT NULL,
    started_at         timestamptz NOT NULL,
    workers_planned    integer NOT NULL,
    workers_launched   integer NOT NULL,
    used               boolean NOT NULL,
    why_not            text,
    ms                 float8 NOT NULL,
    planning_ms        float8 NOT NULL,
    rows               bigint NOT NULL,
    bytes              bigint NOT NULL,
    gb_per_second      float8,
    rows_per_second    float8,
    buffers_hit        bigint NOT NULL,
    buffers_read       bigint NOT NULL,
    io_ms              float8,
    worker_buffers     bigint[] NOT NULL,
    leader_buffers     bigint NOT NULL,
    skew               float8,
    cached_bytes       bigint,
    process_read_bytes bigint,
    others_read_bytes  bigint,
    device_read_bytes  bigint,
    page_cache_bytes   bigint,
    extents            bigint,
    wait_events        jsonb,
    plan               jsonb,
    PRIMARY KEY (run_id, scan)
);
COMMENT ON TABLE fsbench.scan IS 'Scans of runs of the workload scan: one row per SELECT count(*), in the order in which they were made. fsbench.scan_curve() puts them together';
COMMENT ON COLUMN fsbench.scan.scan IS 'Number in the order of the scans, from 1. The order is random, except for repeated scans';
COMMENT ON COLUMN fsbench.scan.degree IS 'Parallel workers that were asked for';
COMMENT ON COLUMN fsbench.scan.repeat IS 'Which repeat of that degree, from 1; twice or three times when it was made again';
COMMENT ON COLUMN fsbench.scan.started_at IS 'Start of the scan';
COMMENT ON COLUMN fsbench.scan.workers_planned IS 'Parallel workers in the plan';
COMMENT ON COLUMN fsbench.scan.workers_launched IS 'Parallel workers that there were';
COMMENT ON COLUMN fsbench.scan.used IS 'Whether it counts: all workers that were asked for were planned and launched, and the table was all the time where options.cache wanted it: warm: at most 1 % of it came from storage; cold: at least 99 %; shared_buffers: at most 1 % was not there; as far as that is known (process_read_bytes, else, when cold, device_read_bytes; not when cold where the filesystem compresses). One that the cache spoiled is made again, up to three times in all';
COMMENT ON COLUMN fsbench.scan.why_not IS 'Why it does not count';
COMMENT ON COLUMN fsbench.scan.ms IS 'Time of the statement, planning included (ms)';
COMMENT ON COLUMN fsbench.scan.planning_ms IS 'Time of parsing and planning (ms)';
COMMENT ON COLUMN fsbench.scan.rows IS 'Counted rows; a scan that counts other rows than were loaded ends the run';
COMMENT ON COLUMN fsbench.scan.bytes IS 'Size of the table''s files';
COMMENT ON COLUMN fsbench.scan.gb_per_second IS 'Bytes of the table per second, in units of 10^9 bytes';
COMMENT ON COLUMN fsbench.scan.rows_per_second IS 'Rows per second';
COMMENT ON COLUMN fsbench.scan.buffers_hit IS 'Blocks that were found in shared buffers, all processes';
COMMENT ON COLUMN fsbench.scan.buffers_read IS 'Blocks that were read, from the page cache or the device, all processes';
COMMENT ON COLUMN fsbench.scan.io_ms IS 'Time of these reads, all processes added up (ms); NULL when the run''s settings turn track_io_timing off';
COMMENT ON COLUMN fsbench.scan.worker_buffers IS 'Blocks of each worker, found or read: its share of the table. Blocks and not rows: rows are counted by processes only with the instrumentation of EXPLAIN ANALYZE, which costs time in each row. All full pages of the table have as many rows';
COMMENT ON COLUMN fsbench.scan.leader_buffers IS 'Blocks of the leader: its share of the table, with the few of the catalogs that planning reads';
COMMENT ON COLUMN fsbench.scan.skew IS 'Blocks of the busiest process divided by the mean of all: 1 is an even share';
COMMENT ON COLUMN fsbench.scan.cached_bytes IS 'Bytes of the table''s files in the kernel''s page cache just before the scan (mincore)';
COMMENT ON COLUMN fsbench.scan.process_read_bytes IS 'Bytes that the processes of the scan, leader and workers, had the kernel read from storage meanwhile (read_bytes of /proc/PID/io): of the table with what was read ahead, and of whatever else they read. NULL where the kernel does not count that for them (FUSE, network filesystems, zfs). Where other processes of the server read for them (PostgreSQL 18 with io_method = worker), what these had read is counted, too, as long as they read for no other process (others_read_bytes)';
COMMENT ON COLUMN fsbench.scan.others_read_bytes IS 'Bytes that the server''s I/O workers (PostgreSQL 18 with io_method = worker) read for others than the scan meanwhile, when it was more than 256 kB: process_read_bytes is NULL then, and the finding read_for_others tells. NULL when it was not';
COMMENT ON COLUMN fsbench.scan.device_read_bytes IS 'Bytes that the device of the data directory read during the scan, for whomever; NULL where no one device is known';
COMMENT ON COLUMN fsbench.scan.page_cache_bytes IS 'Of the blocks that were read, what did not come from storage (process_read_bytes, else device_read_bytes): from the page cache; NULL where that is not known, and where the filesystem compresses (by its mount options, or by an attribute of the table''s files)';
COMMENT ON COLUMN fsbench.scan.extents IS 'Extents of the table''s files after the scan (FIEMAP): in how many pieces the filesystem keeps them. Compressed files have one for each 128 kB. NULL where the filesystem tells none (tmpfs, zfs, network filesystems)';
COMMENT ON COLUMN fsbench.scan.wait_events IS 'How often leader and workers were seen to wait for what, looking every 10 ms; none: working';
COMMENT ON COLUMN fsbench.scan.plan IS 'The plan, as EXPLAIN (FORMAT JSON) shows it';

CREATE TABLE fsbench.scan_read (
    run_id            bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    readers           integer NOT NULL,
    block_bytes       integer NOT NULL,
    bytes             bigint NOT NULL,
    ms                float8 NOT NULL,
    gb_per_second     float8,
    cached_bytes      bigint,
    device_read_bytes bigint,
    PRIMARY KEY (run_id, readers, block_bytes)
);
COMMENT ON TABLE fsbench.scan_read IS 'How fast the files of a scanned table can be read without the executor, cold or from the page cache (also when the scans found it in shared buffers): the reference that tells a scan that is bound by the processor from one that is bound by storage';
COMMENT ON COLUMN fsbench.scan_read.readers IS 'Processes that read at the same time, each its own parts';
COMMENT ON COLUMN fsbench.scan_read.block_bytes IS 'Bytes of each read';
COMMENT ON COLUMN fsbench.scan_read.bytes IS 'Bytes that were read';
COMMENT ON COLUMN fsbench.scan_read.ms IS 'From the first start to the last end (ms)';
COMMENT ON COLUMN fsbench.scan_read.gb_per_second IS 'Bytes per second, in units of 10^9 bytes';
COMMENT ON COLUMN fsbench.scan_read.cached_bytes IS 'Bytes of the files in the kernel''s page cache just before';
COMMENT ON COLUMN fsbench.scan_read.device_read_bytes IS 'Bytes that the device of the data directory read meanwhile, for whomever; NULL where no one device is known';

-- Changes in a history that a user has accepted.

CREATE TABLE fsbench.acknowledgement (
    run_id          bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    metric          text NOT NULL,
    note            text,
    acknowledged_by name NOT NULL DEFAULT current_user,
    acknowledged_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (run_id, metric)
);
COMMENT ON TABLE fsbench.acknowledgement IS 'Accepted changes of level for the worse: fsbench.check_history() raises no error for them. fsbench.acknowledge() writes them';
COMMENT ON COLUMN fsbench.acknowledgement.run_id IS 'First run of the new level';
COMMENT ON COLUMN fsbench.acknowledgement.metric IS 'Metric of which the new level is accepted';
COMMENT ON COLUMN fsbench.acknowledgement.note IS 'Reason of the acceptance';
COMMENT ON COLUMN fsbench.acknowledgement.acknowledged_by IS 'Who accepted it';
COMMENT ON COLUMN fsbench.acknowledgement.acknowledged_at IS 'When';

-- No role signs in the name of another; the owner's restore of a dump keeps what is there.
CREATE FUNCTION fsbench._sign_acknowledgement() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        NEW.acknowledged_by := current_user;
        NEW.acknowledged_at := clock_timestamp();
    END IF;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION fsbench._sign_acknowledgement IS 'Writes who acknowledges, and when. Private';
CREATE TRIGGER sign BEFORE INSERT OR UPDATE ON fsbench.acknowledgement FOR EACH ROW EXECUTE FUNCTION fsbench._sign_acknowledgement();
COMMENT ON TRIGGER sign ON fsbench.acknowledgement IS 'A role acknowledges in its own name only';

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

-- Probes of a search for the sustainable rate.

CREATE TABLE fsbench.probe (
    run_id          bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    number          integer NOT NULL,
    purpose         text NOT NULL,
    rate            float8,
    kept            boolean,
    latency_ms      float8,
    latency_max_ms  float8,
    tps             float8,
    scheduled       bigint NOT NULL,
    misses          bigint NOT NULL,
    skipped         bigint NOT NULL,
    late            bigint NOT NULL,
    failed          bigint NOT NULL,
    started_at      timestamptz NOT NULL,
    seconds         float8 NOT NULL,
    cycle_scheduled bigint[] NOT NULL,
    cycle_misses    bigint[] NOT NULL,
    PRIMARY KEY (run_id, number)
);
COMMENT ON TABLE fsbench.probe IS 'The rates that a search for the sustainable rate has tried (fsbench.sustainable_rate), in their order';
COMMENT ON COLUMN fsbench.probe.number IS 'Number of the probe; 0 is the cycle without a rate that comes before them';
COMMENT ON COLUMN fsbench.probe.purpose IS 'free: without a rate; search: is this rate kept?; confirm: is it kept once more, over all cycles of a probe?';
COMMENT ON COLUMN fsbench.probe.rate IS 'Transactions per second of all clients that were scheduled; NULL: as many as they could';
COMMENT ON COLUMN fsbench.probe.kept IS 'Whether the rate was kept: few enough misses; NULL without a rate';
COMMENT ON COLUMN fsbench.probe.latency_ms IS 'Percentile of latency over all scheduled transactions (ms), within 3.2 %; NULL when it fell on a skipped or failed transaction';
COMMENT ON COLUMN fsbench.probe.latency_max_ms IS 'Longest latency of a committed transaction (ms), within 3.2 %';
COMMENT ON COLUMN fsbench.probe.tps IS 'Transactions per second that were committed';
COMMENT ON COLUMN fsbench.probe.scheduled IS 'Transactions that were due: committed, skipped or failed';
COMMENT ON COLUMN fsbench.probe.misses IS 'Scheduled transactions that were late, skipped or failed';
COMMENT ON COLUMN fsbench.probe.skipped IS 'Scheduled transactions that were already later than the latency limit before they could start';
COMMENT ON COLUMN fsbench.probe.late IS 'Transactions that took longer than the latency limit, from the time when each was due';
COMMENT ON COLUMN fsbench.probe.started_at IS 'Start of its first cycle; the discarded time before does not count';
COMMENT ON COLUMN fsbench.probe.seconds IS 'Length of all its cycles (s)';
COMMENT ON COLUMN fsbench.probe.cycle_scheduled IS 'scheduled, by cycle';
COMMENT ON COLUMN fsbench.probe.cycle_misses IS 'misses, by cycle';

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

-- Results of the workload io.

CREATE TABLE fsbench.io_job (
    run_id            bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    job               text NOT NULL,
    direction         text NOT NULL CHECK (direction IN ('read', 'write', 'sync')),
    position          integer NOT NULL,
    access            text NOT NULL,
    copies            integer NOT NULL,
    file_bytes        bigint NOT NULL,
    sync_call         text,
    sync_every        bigint,
    operations        bigint NOT NULL,
    bytes             bigint,
    runtime_ms        bigint,
    mb_per_second     float8,
    iops              float8,
    latency_avg_ms    float8,
    latency_stddev_ms float8,
    latency_p50_ms    float8,
    latency_p90_ms    float8,
    latency_p95_ms    float8,
    latency_p99_ms    float8,
    latency_p999_ms   float8,
    latency_min_ms    float8,
    latency_max_ms    float8,
    user_cpu_ms       float8,
    system_cpu_ms     float8,
    drift_ratio       float8,
    stall_seconds     integer,
    steady            boolean,
    fio_steady_state  text,
    fio_steady_seconds integer,
    fio_steady        boolean,
    fio_steady_percent float8,
    PRIMARY KEY (run_id, job, direction)
);
COMMENT ON TABLE fsbench.io_job IS 'Jobs of runs of the workload io, by direction: figures that fio has measured on files beside the database. Percentiles are from the histogram in fsbench.histogram';
COMMENT ON COLUMN fsbench.io_job.job IS 'Name of the job: its pattern, or its name in the job file';
COMMENT ON COLUMN fsbench.io_job.direction IS 'read, write, or sync: fsync() and fdatasync() of the job';
COMMENT ON COLUMN fsbench.io_job.position IS 'Place of the job in the job file, from 1';
COMMENT ON COLUMN fsbench.io_job.access IS 'Pattern, as rw of fio';
COMMENT ON COLUMN fsbench.io_job.copies IS 'Copies of the job that ran at the same time, each on a file of its own';
COMMENT ON COLUMN fsbench.io_job.file_bytes IS 'Bytes of each of these files';
COMMENT ON COLUMN fsbench.io_job.sync_call IS 'fsync or fdatasync; NULL for reads and writes';
COMMENT ON COLUMN fsbench.io_job.sync_every IS 'Writes of a copy after which it syncs; NULL for reads and writes';
COMMENT ON COLUMN fsbench.io_job.operations IS 'Operations of all copies';
COMMENT ON COLUMN fsbench.io_job.bytes IS 'Bytes that were read or written; NULL for syncs';
COMMENT ON COLUMN fsbench.io_job.runtime_ms IS 'How long fio did these operations (ms); for syncs, the time of the writes; NULL without operations';
COMMENT ON COLUMN fsbench.io_job.mb_per_second IS 'Bandwidth, in units of 10^6 bytes per second; NULL for syncs, and without operations';
COMMENT ON COLUMN fsbench.io_job.iops IS 'Operations per second of all copies; NULL without operations';
COMMENT ON COLUMN fsbench.io_job.latency_avg_ms IS 'Mean time of an operation, from its submission to its completion (ms)';
COMMENT ON COLUMN fsbench.io_job.user_cpu_ms IS 'Processor time of the whole job in user mode, all copies and directions (ms)';
COMMENT ON COLUMN fsbench.io_job.system_cpu_ms IS 'Processor time of the whole job in the kernel, all copies and directions (ms)';
COMMENT ON COLUMN fsbench.io_job.drift_ratio IS 'Operations of the last third of the job''s seconds, divided by those of the first third; NULL under six seconds';
COMMENT ON COLUMN fsbench.io_job.stall_seconds IS 'Seconds of the job with less than a tenth of the median of its operations';
COMMENT ON COLUMN fsbench.io_job.steady IS 'Whether the job had no stall, and no drift of more than 10 %; NULL under six seconds';
COMMENT ON COLUMN fsbench.io_job.fio_steady_state IS 'Criterion of fio for a steady state, from the option steady_state or the job file; NULL if none was given';
COMMENT ON COLUMN fsbench.io_job.fio_steady_seconds IS 'Window of that criterion (s)';
COMMENT ON COLUMN fsbench.io_job.fio_steady IS 'Whether fio found the whole job steady by it, and ended the job there; NULL if no criterion was given';
COMMENT ON COLUMN fsbench.io_job.fio_steady_percent IS 'Figure of the last window, which fio compares with the criterion (%); NULL if no window was complete';

CREATE TABLE fsbench.io_second (
    run_id     bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    second     integer NOT NULL,
    job        text NOT NULL,
    direction  text NOT NULL CHECK (direction IN ('read', 'write')),
    operations real NOT NULL,
    bytes      real NOT NULL,
    PRIMARY KEY (run_id, second, job, direction)
);
COMMENT ON TABLE fsbench.io_second IS 'Seconds of jobs of runs of the workload io, from the logs of fio. A last part of a second is in no log, but in fsbench.io_job';
COMMENT ON COLUMN fsbench.io_second.job IS 'Name of the job';
COMMENT ON COLUMN fsbench.io_second.direction IS 'read or write';
COMMENT ON COLUMN fsbench.io_second.operations IS 'Operations of all copies of the job';
COMMENT ON COLUMN fsbench.io_second.bytes IS 'Bytes that they read or wrote';

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

-- Results of the workload power-cut.

CREATE TABLE fsbench.power_cut_result (
    run_id       bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    part         text NOT NULL CHECK (part IN ('commits', 'pages', 'fsync_off', 'full_page_writes_off', 'barriers_off')),
    control      boolean NOT NULL,
    cuts         bigint NOT NULL,
    failed       bigint NOT NULL,
    lost         bigint NOT NULL,
    holes        bigint NOT NULL,
    torn         bigint NOT NULL,
    corrupt      bigint NOT NULL,
    unbootable   bigint NOT NULL,
    first_failed integer,
    loss_below   float8,
    outcome      text NOT NULL CHECK (outcome IN ('passed', 'failed', 'void')),
    says         text NOT NULL,
    PRIMARY KEY (run_id, part)
);
COMMENT ON TABLE fsbench.power_cut_result IS 'Parts of runs of the workload power-cut. Two parts test the server as it is; the others are controls, which have to fail';
COMMENT ON COLUMN fsbench.power_cut_result.part IS 'commits: clients commit; pages: checkpoints write pages; fsync_off: a client commits with fsync off; full_page_writes_off: checkpoints write pages with full_page_writes off; barriers_off: a client commits on a filesystem that was mounted without barriers, where it has such an option';
COMMENT ON COLUMN fsbench.power_cut_result.control IS 'Whether the part is a control. Where a control does not fail, tests that passed are void; full_page_writes_off must tear a page on ext2, ext3, ext4 and xfs, unless the filesystem is mounted with data=journal; barriers_off must lose or damage something';
COMMENT ON COLUMN fsbench.power_cut_result.cuts IS 'Power cuts';
COMMENT ON COLUMN fsbench.power_cut_result.failed IS 'Power cuts after which something was missing or damaged';
COMMENT ON COLUMN fsbench.power_cut_result.lost IS 'Power cuts after which an acknowledged commit was missing';
COMMENT ON COLUMN fsbench.power_cut_result.holes IS 'Power cuts after which an earlier commit was missing and a later one was there, or a transaction was there in part';
COMMENT ON COLUMN fsbench.power_cut_result.torn IS 'Power cuts after which the server found a page that was written in part';
COMMENT ON COLUMN fsbench.power_cut_result.corrupt IS 'Power cuts after which amcheck found a damaged index or table';
COMMENT ON COLUMN fsbench.power_cut_result.unbootable IS 'Power cuts after which mdadm or e2fsck failed, the filesystem did not mount, or the server did not start';
COMMENT ON COLUMN fsbench.power_cut_result.first_failed IS 'Number of the first power cut that failed; NULL when none did';
COMMENT ON COLUMN fsbench.power_cut_result.loss_below IS 'The share of power cuts that fail is below this, with a confidence of 95 %: 1 - 0.05^(1/cuts). NULL when one has failed, and for a void part';
COMMENT ON COLUMN fsbench.power_cut_result.outcome IS 'passed: no power cut failed; failed: one did; void: a control did not fail, so that passing shows nothing';
COMMENT ON COLUMN fsbench.power_cut_result.says IS 'The outcome in words';

CREATE TABLE fsbench.power_cut_point (
    run_id        bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    part          text NOT NULL CHECK (part IN ('commits', 'pages', 'fsync_off', 'full_page_writes_off', 'barriers_off')),
    number        integer NOT NULL,
    entry         bigint NOT NULL,
    unflushed     bigint NOT NULL,
    tear          integer,
    acknowledged  bigint NOT NULL,
    lost          bigint,
    holes         bigint,
    outcome       text NOT NULL CHECK (outcome IN ('passed', 'lost', 'hole', 'torn', 'corrupt', 'unbootable')),
    problem       text,
    pages_checked boolean NOT NULL,
    relations_checked bigint,
    ms            float8 NOT NULL,
    PRIMARY KEY (run_id, part, number)
);
COMMENT ON TABLE fsbench.power_cut_point IS 'Power cuts of runs of the workload power-cut: moments of the record at which the devices were left as a power cut would have left it, and what the server had then';
COMMENT ON COLUMN fsbench.power_cut_point.part IS 'Part of the run, as in fsbench.power_cut_result';
COMMENT ON COLUMN fsbench.power_cut_point.number IS 'Number in its part, from 1, in the order of time';
COMMENT ON COLUMN fsbench.power_cut_point.entry IS 'Writes, flushes and discards of the record before the power cut';
COMMENT ON COLUMN fsbench.power_cut_point.unflushed IS 'Writes and discards that no flush of their disk followed before the power cut: the seed of the run decides which of them survived';
COMMENT ON COLUMN fsbench.power_cut_point.tear IS 'Bytes of the pieces in which an unflushed write survived; NULL: as a whole or not at all';
COMMENT ON COLUMN fsbench.power_cut_point.acknowledged IS 'Commits that were acknowledged before the power cut';
COMMENT ON COLUMN fsbench.power_cut_point.lost IS 'Acknowledged commits that are missing; NULL when the rows could not be read';
COMMENT ON COLUMN fsbench.power_cut_point.holes IS 'Commits that are missing, there twice or in part although a later one is there; NULL when the rows could not be read';
COMMENT ON COLUMN fsbench.power_cut_point.outcome IS 'passed: all is there; lost: an acknowledged commit is missing; hole: commits are not a prefix of those before the cut; torn: a page was written in part; corrupt: amcheck found a damaged index or table; unbootable: mdadm or e2fsck failed, the filesystem did not mount, or the server did not start';
COMMENT ON COLUMN fsbench.power_cut_point.problem IS 'What is missing or damaged; NULL when all is there';
COMMENT ON COLUMN fsbench.power_cut_point.pages_checked IS 'Whether pg_checksums has read all pages, too: it does so for every tenth power cut of a test';
COMMENT ON COLUMN fsbench.power_cut_point.relations_checked IS 'Indexes and tables that amcheck has read, as pg_amcheck with --heapallindexed and --parent-check does: after every tenth power cut of a test. NULL: not checked, as where the server has no amcheck';
COMMENT ON COLUMN fsbench.power_cut_point.ms IS 'Time from the request to the helper to the end of the server (ms)';

CREATE TABLE fsbench.power_cut_error (
    run_id       bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    operation    text NOT NULL CHECK (operation IN ('flush', 'write')),
    errors       bigint NOT NULL,
    reported     text CHECK (reported IN ('panic', 'error')),
    message      text,
    acknowledged bigint NOT NULL,
    lost         bigint,
    outcome      text NOT NULL CHECK (outcome IN ('passed', 'failed', 'hidden', 'not_tried')),
    says         text NOT NULL,
    ms           float8 NOT NULL,
    PRIMARY KEY (run_id, operation)
);
COMMENT ON TABLE fsbench.power_cut_error IS 'Errors of the device in runs of the workload power-cut with fsync_error: a client commits, one operation of the device fails, and the server is started again';
COMMENT ON COLUMN fsbench.power_cut_error.operation IS 'Operation that the device failed: flush or write';
COMMENT ON COLUMN fsbench.power_cut_error.errors IS 'Operations that the device failed';
COMMENT ON COLUMN fsbench.power_cut_error.reported IS 'panic: the server stopped with PANIC; error: a statement failed, and the server went on; NULL: neither the filesystem nor the server reported it';
COMMENT ON COLUMN fsbench.power_cut_error.message IS 'Line of the server''s log, or the error of the statement; NULL without';
COMMENT ON COLUMN fsbench.power_cut_error.acknowledged IS 'Commits that were acknowledged before the server stopped';
COMMENT ON COLUMN fsbench.power_cut_error.lost IS 'Acknowledged commits that are missing after the restart; NULL when the rows could not be read';
COMMENT ON COLUMN fsbench.power_cut_error.outcome IS 'passed: the error was reported, and all acknowledged commits are there; failed: one is missing, or the server did not start; hidden: all are there, and nothing reported the error; not_tried: no operation failed';
COMMENT ON COLUMN fsbench.power_cut_error.ms IS 'Time from the mount to the end of the server after its restart (ms)';

CREATE SEQUENCE fsbench.watch_id_seq;
COMMENT ON SEQUENCE fsbench.watch_id_seq IS 'Numbers of watches of other servers';

CREATE TABLE fsbench.power_cut_watch (
    watch_id          bigint PRIMARY KEY DEFAULT nextval('fsbench.watch_id_seq'),
    target            text NOT NULL,
    mark              text NOT NULL UNIQUE,
    started_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    server_started_at timestamptz NOT NULL,
    acknowledged      bigint NOT NULL DEFAULT 0,
    acknowledged_at   timestamptz,
    ended_at          timestamptz,
    ended_by          text CHECK (ended_by IN ('lost', 'duration')),
    verified_at       timestamptz,
    found             bigint,
    missing           bigint,
    first_missing     bigint,
    says              text,
    removed_at        timestamptz
);
COMMENT ON TABLE fsbench.power_cut_watch IS 'Commits that other servers have acknowledged to this one (fsbench.power_cut_watch()), and how many of them were missing after a power cut (fsbench.power_cut_verify()). A watch is one client: its commits are the numbers from 1 on';
COMMENT ON COLUMN fsbench.power_cut_watch.watch_id IS 'Number of the watch';
COMMENT ON COLUMN fsbench.power_cut_watch.target IS 'Target whose connection leads to the other server';
COMMENT ON COLUMN fsbench.power_cut_watch.mark IS 'Tells the rows of the watch in fsbench.power_cut_commit there';
COMMENT ON COLUMN fsbench.power_cut_watch.started_at IS 'When the watch began';
COMMENT ON COLUMN fsbench.power_cut_watch.server_started_at IS 'When the other server had started';
COMMENT ON COLUMN fsbench.power_cut_watch.acknowledged IS 'The highest number that was acknowledged; it was on disk here before the next one was sent';
COMMENT ON COLUMN fsbench.power_cut_watch.acknowledged_at IS 'When that was; NULL without one';
COMMENT ON COLUMN fsbench.power_cut_watch.ended_at IS 'When it ended; NULL while it is on, and when its session ended first';
COMMENT ON COLUMN fsbench.power_cut_watch.ended_by IS 'lost: the connection was lost; duration: the time was over; NULL while it is on, and when its session ended first';
COMMENT ON COLUMN fsbench.power_cut_watch.verified_at IS 'When the numbers were counted after a restart of the other server; NULL before';
COMMENT ON COLUMN fsbench.power_cut_watch.found IS 'Acknowledged numbers that were there; NULL before they were counted';
COMMENT ON COLUMN fsbench.power_cut_watch.missing IS 'Acknowledged numbers that were missing; NULL before they were counted';
COMMENT ON COLUMN fsbench.power_cut_watch.first_missing IS 'The lowest of them; NULL when none was';
COMMENT ON COLUMN fsbench.power_cut_watch.says IS 'The result in words';
COMMENT ON COLUMN fsbench.power_cut_watch.removed_at IS 'When the counted numbers were removed on the other server; NULL before';

CREATE TABLE fsbench.power_cut_commit (
    mark   text NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (mark, number)
);
COMMENT ON TABLE fsbench.power_cut_commit IS 'Numbers that this server has committed for a watch of another server; the next call of fsbench.power_cut_watch() or power_cut_verify() there that connects to this server removes those that were counted';
COMMENT ON COLUMN fsbench.power_cut_commit.mark IS 'Watch, as in fsbench.power_cut_watch of the other server';
COMMENT ON COLUMN fsbench.power_cut_commit.number IS 'Number, from 1';

-- Checks of the data of runs.

CREATE TABLE fsbench.verification (
    run_id   bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    position integer NOT NULL,
    name     text NOT NULL,
    moment   text NOT NULL CHECK (moment IN ('load', 'window', 'crash')),
    expected text,
    found    text,
    passed   boolean,
    note     text,
    PRIMARY KEY (run_id, moment, position)
);
COMMENT ON TABLE fsbench.verification IS 'Checks of the data of runs, with their outcomes. A run with a failed check after the measured window has status failed, and has its checks here, too';
COMMENT ON COLUMN fsbench.verification.position IS 'Place of the check among those of the same moment, from 1';
COMMENT ON COLUMN fsbench.verification.name IS 'Name of the check; of a check of the caller, its name in the argument checks';
COMMENT ON COLUMN fsbench.verification.moment IS 'load: after loading; window: after the measured window; crash: after the crash of a run with the option crash, and the recovery from it';
COMMENT ON COLUMN fsbench.verification.expected IS 'Expected value, as text';
COMMENT ON COLUMN fsbench.verification.found IS 'Value that was found, as text; NULL for a check that was not made. The first 200 characters of a wrong value of a check of the caller';
COMMENT ON COLUMN fsbench.verification.passed IS 'Whether both values are equal; NULL for a check that was not made';
COMMENT ON COLUMN fsbench.verification.note IS 'Rows that the check was made for; or the reason why it was not made';

-- The list of result tables for triggers, export and import. Workloads declare their tables in core; the test workload_tables compares.

CREATE FUNCTION fsbench._result_tables() RETURNS TABLE (place integer, relation name, key text, limits jsonb)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 20 AS $$
    VALUES
        (1, 'environment'::name, 'run_id', '{}'::jsonb),
        (2, 'finding', 'code', '{"code":200}'),
        (3, 'histogram', 'transaction, measure', '{"measure":200,"transaction":200}'),
        (4, 'sample', 'second', '{}'),
        (5, 'wait_event', 'second, wait_event_type, wait_event', '{"samples":"1 AND 2147483647"}'),
        (6, 'checkpoint', 'number', '{"kind":["checkpoint","restartpoint"]}'),
        (7, 'statistic', 'view, object, counter', '{}'),
        (8, 'statement', 'queryid, toplevel', '{}'),
        (9, 'maintenance', 'position', '{}'),
        (10, 'probe', 'number', '{}'),
        (11, 'verification', 'moment, position', '{"moment":["load","window","crash"],"position":"1 AND 2147483647"}'),
        (12, 'recovery', 'run_id', '{}'),
        (13, 'run_instance', 'instance', '{"instance":"1 AND 2147483647","share":"0 AND 1","transactions":"0 AND 1e15"}'),
        (14, 'fsync', 'position', '{"method":["open_datasync","fdatasync","fsync","fsync_writethrough","open_sync","none"]}'),
        (15, 'scan', 'scan', '{"bytes":"0 AND 1e15","degree":"1 AND 1024","ms":"1e-9 AND 1e18","plan":true,"repeat":"1 AND 1024","scan":"1 AND 10000","wait_events":true}'),
        (16, 'scan_read', 'readers, block_bytes', '{"bytes":"0 AND 1e15","ms":"1e-9 AND 1e18","readers":"1 AND 1024"}'),
        (17, 'transaction_result', 'position', '{"committed":"0 AND 1e15","failed":"0 AND 1e15","late":"0 AND 1e15","position":"1 AND 2147483647","retried":"0 AND 1e15","retries":"0 AND 1e15","rolled_back":"0 AND 1e15","transaction":200,"weight":"0 AND 1e15"}'),
        (18, 'transaction_failure', 'position, sqlstate', '{"position":"1 AND 2147483647","retries":"0 AND 1e15","sqlstate":200,"transactions":"0 AND 1e15"}'),
        (19, 'command_result', 'position, command', '{"command":"1 AND 2147483647","executions":"0 AND 1e15","failures":"0 AND 1e15","kind":200,"line":"1 AND 2147483647","position":"1 AND 2147483647"}'),
        (20, 'io_job', 'job, direction', '{"access":200,"bytes":"0 AND 1e15","copies":"1 AND 2147483647","direction":["read","write","sync"],"file_bytes":"0 AND 1e15","fio_steady_seconds":"1 AND 2147483647","job":200,"operations":"0 AND 1e15","position":"1 AND 2147483647","sync_call":200,"sync_every":"0 AND 1e15"}'),
        (21, 'io_second', 'second, job, direction', '{"bytes":"0 AND 1e15","direction":["read","write"],"job":200,"operations":"0 AND 1e15"}'),
        (22, 'tpcc_client', 'client', '{"c_customer":"0 AND 1e15","c_item":"0 AND 1e15","c_last_name":"0 AND 1e15","client":"0 AND 1e15","lines":"0 AND 1e15","new_orders":"0 AND 1e15","orders":"0 AND 1e15","payments":"0 AND 1e15","payments_by_name":"0 AND 1e15","remote_lines":"0 AND 1e15","remote_payments":"0 AND 1e15","wrong_orders":"0 AND 1e15"}'),
        (23, 'power_cut_result', 'part', '{"corrupt":"0 AND 1e15","cuts":"1 AND 2147483647","failed":"0 AND 1e15","first_failed":"1 AND 2147483647","holes":"0 AND 1e15","loss_below":"0 AND 1","lost":"0 AND 1e15","outcome":["passed","failed","void"],"part":["commits","pages","fsync_off","full_page_writes_off","barriers_off"],"torn":"0 AND 1e15","unbootable":"0 AND 1e15"}'),
        (24, 'power_cut_point', 'part, number', '{"acknowledged":"0 AND 1e15","entry":"0 AND 1e15","holes":"0 AND 1e15","lost":"0 AND 1e15","number":"1 AND 2147483647","outcome":["passed","lost","hole","torn","corrupt","unbootable"],"part":["commits","pages","fsync_off","full_page_writes_off","barriers_off"],"relations_checked":"0 AND 1e15","tear":"512 AND 4096","unflushed":"0 AND 1e15"}'),
        (25, 'power_cut_error', 'operation', '{"acknowledged":"0 AND 1e15","errors":"0 AND 1e15","lost":"0 AND 1e15","operation":["flush","write"],"outcome":["passed","failed","hidden","not_tried"],"reported":["panic","error"]}')
    $$;
COMMENT ON FUNCTION fsbench._result_tables IS 'Tables with rows of a run, beside run_log: the columns that tell the rows of a run apart, and limits of values from elsewhere: a range of numbers, a list of texts, the longest name, or true for a JSON array or object. Private';

CREATE FUNCTION fsbench._document_tables() RETURNS TABLE (relation name, option text, texts text[])
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
    VALUES
        ('script'::name, 'script', '{scripts,variables,init_script,checks}'::text[])
    $$;
COMMENT ON FUNCTION fsbench._document_tables IS 'Tables of texts, columns sha256 and document: a run refers to a text by the member sha256 of this option. Arguments of calls have a member of the same name, with these texts. Private';

CREATE FUNCTION fsbench._workload_routines() RETURNS SETOF name LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
    VALUES
        ('script_from_statements'::name),
        ('power_cut'),
        ('power_cut_watch'),
        ('power_cut_verify'),
        ('_watch_begin'),
        ('_watch_commit'),
        ('_watch_verify'),
        ('_witness')
    $$;
COMMENT ON FUNCTION fsbench._workload_routines IS 'Functions and procedures of single workloads that operators may call. Private';

-- Targets: places to benchmark. And what the helper, which is root, is asked to do for them.

CREATE TABLE fsbench.target (
    target               text PRIMARY KEY CHECK (target ~ '^[A-Za-z0-9][A-Za-z0-9_.+-]{0,62}$'),
    kind                 text NOT NULL CHECK (kind IN ('default', 'device', 'image', 'directory', 'connection')),
    filesystem           text,
    device               text,
    device_identity      jsonb,
    image_size_bytes     bigint CHECK (image_size_bytes > 0),
    image_sparse         boolean,
    log_device           text,
    log_size_bytes       bigint CHECK (log_size_bytes > 0),
    directory            text,
    mount_point          text,
    connection           text,
    mkfs_options         text,
    mount_options        text,
    pool_properties      text,
    dataset_properties   text,
    ssd_state            text CHECK (ssd_state IN ('trimmed', 'as_is')),
    block_settings       jsonb,
    kernel_settings      jsonb,
    drop_caches          boolean,
    settings             jsonb,
    bindir               text,
    data_checksums       boolean,
    power_loss_protected boolean,
    log_device_identity  jsonb,
    created_by           name NOT NULL DEFAULT session_user,
    created_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    devices              text[],
    image_count          integer CHECK (image_count BETWEEN 1 AND 16),
    layout               text,
    layout_options       jsonb,
    initial_sync         text CHECK (initial_sync IN ('wait', 'check', 'skip')),
    log_devices          text[]
);
COMMENT ON TABLE fsbench.target IS 'Targets: places to benchmark. Made and changed by fsbench.create_target, alter_target and drop_target';
COMMENT ON COLUMN fsbench.target.target IS 'Name';
COMMENT ON COLUMN fsbench.target.kind IS 'Kind: default (the data directory of this server), device or image (made by the helper), directory (of a mounted filesystem), connection (another server)';
COMMENT ON COLUMN fsbench.target.filesystem IS 'Filesystem to make on the device or image';
COMMENT ON COLUMN fsbench.target.device IS 'Block device, which each run erases';
COMMENT ON COLUMN fsbench.target.device_identity IS 'Identifies the device at each use: serial, wwn or partition_uuid, and bytes, as when the target was created; for devices, an array of these, in their order';
COMMENT ON COLUMN fsbench.target.image_size_bytes IS 'Size of the file that serves as a disk';
COMMENT ON COLUMN fsbench.target.image_sparse IS 'Whether the blocks of that file are allocated only when they are written; NULL: they are';
COMMENT ON COLUMN fsbench.target.log_device IS 'Block device for an external log (xfs, ext3, ext4, zfs)';
COMMENT ON COLUMN fsbench.target.log_size_bytes IS 'Size of a second file that serves as a disk for an external log. The size of the log inside a filesystem is set by mkfs_options: -l size=64m (xfs), -J size=64 (ext3, ext4)';
COMMENT ON COLUMN fsbench.target.directory IS 'Directory in which a server of its own is made for each run';
COMMENT ON COLUMN fsbench.target.mount_point IS 'Mount point of the directory''s filesystem; a run is refused when it is not mounted there';
COMMENT ON COLUMN fsbench.target.connection IS 'How to reach another server: keywords and values of libpq, without a password, which may be in the service or password file of this server''s operating system user';
COMMENT ON COLUMN fsbench.target.mkfs_options IS 'Options of mkfs, as on its command line';
COMMENT ON COLUMN fsbench.target.mount_options IS 'Mount options, with commas';
COMMENT ON COLUMN fsbench.target.pool_properties IS 'zfs: properties of the pool, as in zpool create -o';
COMMENT ON COLUMN fsbench.target.dataset_properties IS 'zfs: properties of the dataset, as in zfs create -o';
COMMENT ON COLUMN fsbench.target.ssd_state IS 'trimmed: the whole device is discarded before mkfs; as_is: nothing is discarded; NULL: the default of mkfs';
COMMENT ON COLUMN fsbench.target.block_settings IS 'Queue settings of the block device during a run: scheduler, read_ahead_kb, nr_requests';
COMMENT ON COLUMN fsbench.target.kernel_settings IS 'vm.* settings during a run: dirty_bytes, dirty_background_bytes, dirty_ratio, dirty_background_ratio, dirty_expire_centisecs, dirty_writeback_centisecs';
COMMENT ON COLUMN fsbench.target.drop_caches IS 'Whether the page cache of the machine is emptied before the target server starts';
COMMENT ON COLUMN fsbench.target.settings IS 'Server settings of the target server, also those that need a restart';
COMMENT ON COLUMN fsbench.target.bindir IS 'Directory with the PostgreSQL programs of the target server; NULL: those of this server';
COMMENT ON COLUMN fsbench.target.data_checksums IS 'Whether the target server has data checksums; NULL: it has';
COMMENT ON COLUMN fsbench.target.power_loss_protected IS 'Whether the device was declared to keep its cache when power is lost; NULL: not declared';
COMMENT ON COLUMN fsbench.target.log_device_identity IS 'By what the device of the log is recognized, as device_identity; for log_devices, an array';
COMMENT ON COLUMN fsbench.target.devices IS 'Block devices that the layout joins, in order. Each run erases all of them';
COMMENT ON COLUMN fsbench.target.image_count IS 'Number of files that serve as disks and that the layout joins; NULL: one';
COMMENT ON COLUMN fsbench.target.layout IS 'How several devices or images become one place for the filesystem: linear, raid0, raid1, raid5, raid6 or raid10 (an array of the kernel''s md), lvm-linear, lvm-stripe, lvm-raid1, lvm-raid5, lvm-raid6 or lvm-raid10 (a volume of LVM), btrfs-single, btrfs-raid0, btrfs-raid1 or btrfs-raid10, zfs-stripe, zfs-mirror or zfs-raidz';
COMMENT ON COLUMN fsbench.target.layout_options IS 'Options of an array: chunk (where it is not given, 512k of md and 64k of LVM); of md also bitmap (none or internal; none where it is not given), consistency_policy (resync or ppl), copies (raid10: n2, f2, o2, ...)';
COMMENT ON COLUMN fsbench.target.initial_sync IS 'wait or NULL: a run begins when the array of md or LVM is in sync; check: it compares all copies and parity first; skip: md or LVM takes a new array for being in sync';
COMMENT ON COLUMN fsbench.target.log_devices IS 'Block devices for an external log, each of which holds all of it: an array of md, raid1, for xfs, ext3 and ext4; a mirror of the pool for zfs. Each run erases all of them';
COMMENT ON COLUMN fsbench.target.created_by IS 'Role that created it';
COMMENT ON COLUMN fsbench.target.created_at IS 'Time of its creation';

INSERT INTO fsbench.target (target, kind) VALUES ('default', 'default');

-- Results hang on the name of a target, and its definition can change: each definition with results has a number.

CREATE FUNCTION fsbench._definition(target fsbench.target) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT jsonb_strip_nulls(to_jsonb($1) - '{target,created_by,created_at}'::text[]) $$;
COMMENT ON FUNCTION fsbench._definition IS 'What defines a target: what of its row is not NULL, without its name and who created it when. Private';

CREATE FUNCTION fsbench._shown_target(target text, target_version integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN target_version > 1 THEN target || '#' || target_version ELSE target END;
COMMENT ON FUNCTION fsbench._shown_target IS 'Name of a target in results: xfs#2 for the second definition of xfs that has results. Private';

CREATE FUNCTION fsbench._same_definition(a jsonb, b jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- A row that was restored may hold anything: what is no object is no definition.
    SELECT CASE WHEN jsonb_typeof(a) = 'object' AND jsonb_typeof(b) = 'object'
                THEN a - '{device_identity,log_device_identity}'::text[] = b - '{device_identity,log_device_identity}'::text[]
                ELSE false END
       AND bool_and(coalesce(a -> name @> (b -> name) OR b -> name @> (a -> name), true))
    FROM unnest('{device_identity,log_device_identity}'::text[]) AS name
    $$;
COMMENT ON FUNCTION fsbench._same_definition IS 'Whether two definitions are the same: what is not known of a device before its first run is no difference. Private';

CREATE FUNCTION fsbench._results_of(target text, definition jsonb, except_run bigint DEFAULT NULL, OUT results bigint, OUT same bigint, OUT version integer,
    OUT last jsonb) LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH r AS (
        SELECT r.* FROM fsbench.run_log r
        WHERE r.target = $1 AND r.target_version IS NOT NULL AND r.run_id IS DISTINCT FROM $3
    ), known AS (
        SELECT r.target_version FROM r GROUP BY 1 HAVING bool_and(fsbench._same_definition(r.target_definition, $2))
        ORDER BY bool_or(r.target_definition = $2) DESC, max(r.run_id) DESC LIMIT 1
    )
    SELECT count(*), count(*) FILTER (WHERE r.target_version = (SELECT target_version FROM known)),
           coalesce((SELECT target_version FROM known), max(r.target_version) + 1, 1),
           (SELECT target_definition FROM r ORDER BY run_id DESC LIMIT 1)
    FROM r
    $$;
COMMENT ON FUNCTION fsbench._results_of IS 'What hangs on the name of a target: how many results, how many of them with this definition, its number among the definitions or the one that it will have, and the definition of the last result. Private';

-- These rows name programs that the server starts and places that it writes to, and steer what is cleared up. So rights on tables in general, such as
-- those of pg_write_all_data, are not enough.
CREATE FUNCTION fsbench._check_writer() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RAISE EXCEPTION 'permission denied to change table "%"', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'Only the owner of the extension may.', HINT = CASE TG_TABLE_NAME WHEN 'target'
                      THEN 'Have a superuser call fsbench.create_target(), alter_target() or drop_target().'
                      ELSE 'Have a superuser do it.' END;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION fsbench._check_writer IS 'Refuses writers who do not have the rights of the table''s owner. Private';

-- The server's memory knows which runs are queued or on. A row from a dump is of a run of another server, or of another time, and would never end.
CREATE FUNCTION fsbench._check_new_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_type = 'fsbench coordinator') THEN
        RETURN NEW;
    END IF;
    NEW.copied := true;
    IF NEW.status NOT IN ('queued', 'running') THEN
        RETURN NEW;
    END IF;
    NEW.error := format('the run was %s when its row was copied', NEW.status);
    NEW.error_code := '55000';
    NEW.error_detail := 'The row comes from a dump, or was written by hand: no run of this server belongs to it.';
    NEW.error_hint := 'Start the run again.';
    NEW.status := 'failed';
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION fsbench._check_new_run IS 'Marks rows that are copied, and ends runs whose rows are copied while they are queued or on. Private';
CREATE TRIGGER check_new_run BEFORE INSERT ON fsbench.run_log FOR EACH ROW EXECUTE FUNCTION fsbench._check_new_run();
COMMENT ON TRIGGER check_new_run ON fsbench.run_log IS 'A row alone is no run';

CREATE FUNCTION fsbench._check_deleted_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'run % is on', OLD.run_id USING ERRCODE = 'object_in_use', DETAIL = 'Its results would have no place.',
              HINT = format('Wait for it, or cancel it: SELECT fsbench.cancel(%s);', OLD.run_id);
END
$$;
COMMENT ON FUNCTION fsbench._check_deleted_run IS 'Refuses to delete a run that is on. Private';
CREATE TRIGGER check_deleted_run BEFORE DELETE ON fsbench.run_log FOR EACH ROW WHEN (OLD.status = 'running') EXECUTE FUNCTION fsbench._check_deleted_run();
COMMENT ON TRIGGER check_deleted_run ON fsbench.run_log IS 'A run that is on keeps its row';

CREATE SEQUENCE fsbench.helper_job_id_seq;
COMMENT ON SEQUENCE fsbench.helper_job_id_seq IS 'Numbers of the helper''s jobs';

CREATE TABLE fsbench.helper_job (
    job_id         bigint PRIMARY KEY DEFAULT nextval('fsbench.helper_job_id_seq'),
    run_id         bigint,
    target         text NOT NULL,
    action         text NOT NULL CHECK (action IN ('prepare', 'release', 'remount', 'describe', 'plan', 'try', 'drop_caches', 'barriers_off', 'cut_stop', 'cut', 'cut_again', 'cut_end', 'fault')),
    request        jsonb NOT NULL,
    status         text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done', 'failed')),
    requested_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    server_started timestamptz NOT NULL DEFAULT pg_postmaster_start_time(),
    asked_by       xid8 NOT NULL DEFAULT pg_current_xact_id(),
    started_at     timestamptz,
    ended_at       timestamptz,
    helper_version text,
    steps          jsonb,
    result         jsonb,
    error          text,
    error_detail   text,
    error_hint     text,
    ticket         bigint
);
CREATE INDEX helper_job_run_id_idx ON fsbench.helper_job (run_id);
CREATE INDEX helper_job_target_idx ON fsbench.helper_job (target, job_id);
CREATE INDEX helper_job_ticket_idx ON fsbench.helper_job (ticket) WHERE ticket IS NOT NULL;
COMMENT ON TABLE fsbench.helper_job IS 'Requests to pgfsbench-helper, and their results';
COMMENT ON COLUMN fsbench.helper_job.job_id IS 'Number of the job in this database';
COMMENT ON COLUMN fsbench.helper_job.run_id IS 'Run of the job; NULL for a job without a run';
COMMENT ON COLUMN fsbench.helper_job.target IS 'Target of the job';
COMMENT ON COLUMN fsbench.helper_job.action IS 'prepare: make the filesystem and mount it; release: unmount it and remove what was made; remount: unmount it and mount it again as it was; describe: list devices, image directories and filesystems; plan: tell what prepare would do; try: prepare it once on a sparse image, and remove that; drop_caches: empty the page cache; barriers_off: have the filesystem of a recorded target send no flushes; cut_stop: end the recording of a target, and unmount it; cut: mount it as a power cut would have left it; cut_again: mount it again as it has become since; cut_end: unmount that; fault: let its disk fail';
COMMENT ON COLUMN fsbench.helper_job.request IS 'The request; the helper''s own configuration decides whether it is carried out';
COMMENT ON COLUMN fsbench.helper_job.status IS 'queued, running, done or failed';
COMMENT ON COLUMN fsbench.helper_job.server_started IS 'Start of the server in which it was asked for: a job from before a restart is never done';
COMMENT ON COLUMN fsbench.helper_job.asked_by IS 'Transaction that asked: a row that another one has inserted was restored from a dump, and is never done';
COMMENT ON COLUMN fsbench.helper_job.started_at IS 'When the helper began';
COMMENT ON COLUMN fsbench.helper_job.ended_at IS 'End of the job';
COMMENT ON COLUMN fsbench.helper_job.helper_version IS 'Version of the helper that took it';
COMMENT ON COLUMN fsbench.helper_job.steps IS 'Executed steps in order: each with step, argv, ms, exit_code and output';
COMMENT ON COLUMN fsbench.helper_job.result IS 'Result: directory, mount_point, device, mount_options as the kernel shows them, versions of programs';
COMMENT ON COLUMN fsbench.helper_job.error IS 'Why it failed';
COMMENT ON COLUMN fsbench.helper_job.error_detail IS 'DETAIL of that, with the lines of the program that say why; all of them are in steps';
COMMENT ON COLUMN fsbench.helper_job.error_hint IS 'Advice after an error';
COMMENT ON COLUMN fsbench.helper_job.ticket IS 'Identifies the job for the session that waits for it; NULL for jobs of runs';

CREATE FUNCTION fsbench._notify_helper() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$ BEGIN PERFORM pg_notify('fsbench_helper', NEW.job_id::text); RETURN NULL; END $$;
COMMENT ON FUNCTION fsbench._notify_helper IS 'Wakes the helper. Private';
CREATE TRIGGER notify AFTER INSERT ON fsbench.helper_job FOR EACH ROW EXECUTE FUNCTION fsbench._notify_helper();
COMMENT ON TRIGGER notify ON fsbench.helper_job IS 'Wakes the helper, which listens on the channel fsbench_helper';

-- The helper's report is about this machine, and is in no dump.
CREATE TABLE fsbench.helper_description (
    singleton      boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    seen_at        timestamptz NOT NULL,
    helper_version text NOT NULL,
    description    jsonb NOT NULL
);
COMMENT ON TABLE fsbench.helper_description IS 'What pgfsbench-helper has last seen of this machine: one row, written by the helper when it starts and after each of its jobs; read it through fsbench.device and fsbench.doctor()';
COMMENT ON COLUMN fsbench.helper_description.singleton IS 'True: there is one row';
COMMENT ON COLUMN fsbench.helper_description.seen_at IS 'When the helper looked';
COMMENT ON COLUMN fsbench.helper_description.helper_version IS 'Version of the helper';
COMMENT ON COLUMN fsbench.helper_description.description IS 'Devices and directories of images of its configuration, filesystems with their programs, targets that are prepared';

-- Who serves is a session of this server, and is in no dump. A lock on this table takes rights on it, unlike an advisory lock.
CREATE TABLE fsbench.helper_session (
    singleton      boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    pid            integer NOT NULL,
    backend_start  timestamptz NOT NULL,
    helper_version text NOT NULL
);
COMMENT ON TABLE fsbench.helper_session IS 'Session of the pgfsbench-helper that serves this database, or served it last: one row, written by the helper when it connects';
COMMENT ON COLUMN fsbench.helper_session.pid IS 'Server process of the session';
COMMENT ON COLUMN fsbench.helper_session.backend_start IS 'When that process was started: if pg_stat_activity shows no such process, no helper serves';

-- Experiments: what was planned, and which runs were made for it. What a look says of them follows from these rows alone.

-- A number, or a share of what the slowest target does: what text holds, and what numbers are by themselves.
CREATE TYPE fsbench.rate;
CREATE FUNCTION fsbench._rate_in(cstring) RETURNS fsbench.rate LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textin';
COMMENT ON FUNCTION fsbench._rate_in IS 'Input of fsbench.rate. Private';
CREATE FUNCTION fsbench._rate_out(fsbench.rate) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textout';
COMMENT ON FUNCTION fsbench._rate_out IS 'Output of fsbench.rate. Private';
CREATE TYPE fsbench.rate (INPUT = fsbench._rate_in, OUTPUT = fsbench._rate_out, LIKE = text);
COMMENT ON TYPE fsbench.rate IS 'Transactions per second, or a share of what the slowest target of an experiment does without a rate, such as 70%';
CREATE CAST (integer AS fsbench.rate) WITH INOUT AS IMPLICIT;
CREATE CAST (bigint AS fsbench.rate) WITH INOUT AS IMPLICIT;
CREATE CAST (numeric AS fsbench.rate) WITH INOUT AS IMPLICIT;
-- All digits, whatever the session shows of a float.
CREATE FUNCTION fsbench._rate(float8) RETURNS fsbench.rate
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1
    AS $$ BEGIN RETURN $1::text::fsbench.rate; END $$;
COMMENT ON FUNCTION fsbench._rate IS 'A number as a rate. Private: the cast calls it';
CREATE CAST (float8 AS fsbench.rate) WITH FUNCTION fsbench._rate(float8) AS IMPLICIT;

CREATE SEQUENCE fsbench.experiment_id_seq;
COMMENT ON SEQUENCE fsbench.experiment_id_seq IS 'Numbers of the experiments';

CREATE TABLE fsbench.experiment (
    experiment_id   bigint PRIMARY KEY DEFAULT nextval('fsbench.experiment_id_seq'),
    experiment      text NOT NULL UNIQUE,
    status          text NOT NULL CHECK (status IN ('recorded', 'queued', 'running', 'paused', 'done', 'cancelled')),
    status_reason   text,
    goal            text NOT NULL CHECK (goal IN ('best', 'baseline')),
    baseline_number integer CHECK (goal <> 'baseline' OR baseline_number IS NOT NULL),
    control_number  integer,
    metric          text NOT NULL,
    margin          float8 NOT NULL CHECK (margin > 0 AND margin < 'Infinity'),
    max_blocks      integer NOT NULL CHECK (max_blocks BETWEEN 3 AND 24),
    looks           jsonb NOT NULL,
    ended_by        text CHECK (ended_by IN ('max_duration', 'cancelled', 'no_reference')),
    run_order       jsonb NOT NULL,
    seed            bigint NOT NULL,
    parameters      jsonb NOT NULL,
    asked           jsonb NOT NULL,
    run_seconds     float8 NOT NULL,
    cycle_seconds   float8,
    window_seconds  float8,
    max_seconds     float8,
    too_short       boolean NOT NULL DEFAULT false,
    burn_in         boolean NOT NULL DEFAULT false,
    rate_share      float8,
    forced          boolean NOT NULL DEFAULT false,
    confirms        bigint,
    answer          text,
    requested_by    name NOT NULL,
    mark            text NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at      timestamptz,
    ended_at        timestamptz,
    pilot_cycle     boolean NOT NULL DEFAULT false,
    on_seconds      float8,
    on_since        timestamptz,
    neighbours      text NOT NULL DEFAULT 'unexpected' CHECK (neighbours IN ('unexpected', 'expected', 'found')),
    budget_seconds  float8,
    over_at_latest  timestamptz,
    moved           text,
    open_because    jsonb,
    next_blocks     integer,
    power_cuts      integer CHECK (power_cuts BETWEEN 1 AND 900)
);
COMMENT ON TABLE fsbench.experiment IS 'One row per experiment, as it was planned before its first run; read it through the view fsbench.experiments';
COMMENT ON COLUMN fsbench.experiment.experiment_id IS 'Number of the experiment in this database';
COMMENT ON COLUMN fsbench.experiment.experiment IS 'Name of the experiment';
COMMENT ON COLUMN fsbench.experiment.status IS 'recorded (not started), queued (waits until another one is over), running, paused, done or cancelled';
COMMENT ON COLUMN fsbench.experiment.status_reason IS 'Reason of a pause, or of the end';
COMMENT ON COLUMN fsbench.experiment.goal IS 'best: finds the best target and those as good; baseline: compares each target with one of them';
COMMENT ON COLUMN fsbench.experiment.baseline_number IS 'Target that the others are compared with, in fsbench.experiment_target; NULL without one';
COMMENT ON COLUMN fsbench.experiment.control_number IS 'Number of the control: the baseline (without one, the first target) a second time; NULL without control';
COMMENT ON COLUMN fsbench.experiment.metric IS 'Metric that decides, declared before the first run';
COMMENT ON COLUMN fsbench.experiment.margin IS 'Difference that does not count, as a share';
COMMENT ON COLUMN fsbench.experiment.max_blocks IS 'Limit of blocks: each has one run of each open target';
COMMENT ON COLUMN fsbench.experiment.looks IS 'The looks: after which blocks verdicts are sought, the place of each in the planned order (its level follows from it), and the most blocks that were planned then';
COMMENT ON COLUMN fsbench.experiment.ended_by IS 'What ended it before everything was decided: max_duration, cancelled or no_reference; NULL when nothing did';
COMMENT ON COLUMN fsbench.experiment.run_order IS 'Order in which the targets take turns, drawn before the first run: an array a block, of numbers of targets';
COMMENT ON COLUMN fsbench.experiment.seed IS 'Seed of the order; the runs of block n have seed + n';
COMMENT ON COLUMN fsbench.experiment.parameters IS 'Parameters of its runs that are the same for all, as they were given or chosen';
COMMENT ON COLUMN fsbench.experiment.asked IS 'Arguments as given; with a budget, what was chosen in its place';
COMMENT ON COLUMN fsbench.experiment.run_seconds IS 'Expected length of a run (s)';
COMMENT ON COLUMN fsbench.experiment.cycle_seconds IS 'Length of a checkpoint cycle (s)';
COMMENT ON COLUMN fsbench.experiment.window_seconds IS 'Length of a measured window (s)';
COMMENT ON COLUMN fsbench.experiment.max_seconds IS 'Limit of its running time (s): max_duration, and again max_duration from an extension on; no run begins that cannot end within it';
COMMENT ON COLUMN fsbench.experiment.too_short IS 'Whether the windows have fewer than two complete checkpoint cycles, so that nothing is decided';
COMMENT ON COLUMN fsbench.experiment.burn_in IS 'Whether an uncounted run (block 0) is made first, which burns the disk in: where a target is a device';
COMMENT ON COLUMN fsbench.experiment.pilot_cycle IS 'Whether an uncounted run of one checkpoint cycle of each target (block 0) tells first how much WAL a cycle takes: by the most of these, max_wal_size and the option wal_segments of all runs are set in parameters';
COMMENT ON COLUMN fsbench.experiment.rate_share IS 'The rate as a share of what the slowest target does without a rate, by an uncounted run of each (block 0); parameters then has the rate. NULL for a number, or without a rate';
COMMENT ON COLUMN fsbench.experiment.forced IS 'Whether undeclared differences withhold no verdict (force => true)';
COMMENT ON COLUMN fsbench.experiment.confirms IS 'experiment_id of the repeated experiment (fsbench.confirm_experiment), which may be dropped since; NULL without one';
COMMENT ON COLUMN fsbench.experiment.answer IS 'Result of the last look, in one line';
COMMENT ON COLUMN fsbench.experiment.requested_by IS 'Role that asked, with whose rights its runs are made';
COMMENT ON COLUMN fsbench.experiment.mark IS 'The server''s data directory has the same mark. Without it, the experiment continues only after fsbench.resume_experiment()';
COMMENT ON COLUMN fsbench.experiment.created_at IS 'Time of recording';
COMMENT ON COLUMN fsbench.experiment.started_at IS 'Start of its first run';
COMMENT ON COLUMN fsbench.experiment.ended_at IS 'End of the experiment';
COMMENT ON COLUMN fsbench.experiment.on_seconds IS 'For how long it was running before it was paused, ended or extended last (s); not while it was paused, or queued behind another one';
COMMENT ON COLUMN fsbench.experiment.on_since IS 'Start of its current running time; NULL while it is not running';
COMMENT ON COLUMN fsbench.experiment.neighbours IS 'Other programs that use the machine: unexpected (a run beside some is made again, twice at most), expected (the caller said so), or found (they disturbed most runs of a block). Where they are expected or found, no run is made again for them';
COMMENT ON COLUMN fsbench.experiment.budget_seconds IS 'The budget for which checkpoint cycle, windows and blocks were chosen (s); NULL without one';
COMMENT ON COLUMN fsbench.experiment.over_at_latest IS 'Latest end, as expected before the current run; NULL while it is not running';
COMMENT ON COLUMN fsbench.experiment.moved IS 'The last change of over_at_latest, and its cause; NULL without a change';
COMMENT ON COLUMN fsbench.experiment.open_because IS 'Reasons for an open answer: an array, each with its code and values; NULL when all is decided, or before the end';
COMMENT ON COLUMN fsbench.experiment.power_cuts IS 'Power cuts of each target before the first block, by a run of the workload power-cut (block 0); NULL without any';
COMMENT ON COLUMN fsbench.experiment.next_blocks IS 'Number of blocks to extend it to, so that a decision is likely; NULL where more blocks would not help';

CREATE TABLE fsbench.experiment_target (
    experiment_id bigint NOT NULL REFERENCES fsbench.experiment ON DELETE CASCADE,
    target_number integer NOT NULL,
    target        text NOT NULL,
    target_name   text NOT NULL,
    own           jsonb NOT NULL DEFAULT '{}',
    set_aside     text,
    PRIMARY KEY (experiment_id, target_number),
    UNIQUE (experiment_id, target)
);
COMMENT ON TABLE fsbench.experiment_target IS 'What is compared in each experiment';
COMMENT ON COLUMN fsbench.experiment_target.target_number IS 'Number in the experiment, from 0';
COMMENT ON COLUMN fsbench.experiment_target.target IS 'Target, as it is called in the experiment and by fsbench.compare(): by its name, its filesystem, or with the values of factors';
COMMENT ON COLUMN fsbench.experiment_target.target_name IS 'Name of the target in fsbench.target';
COMMENT ON COLUMN fsbench.experiment_target.own IS 'Parameters of its runs that others do not have: values of factors';
COMMENT ON COLUMN fsbench.experiment_target.set_aside IS 'Reason why an undecided target does not run any more; NULL while it runs';

CREATE TABLE fsbench.experiment_run (
    experiment_id bigint NOT NULL REFERENCES fsbench.experiment ON DELETE CASCADE,
    block         integer NOT NULL CHECK (block >= 0),
    position      integer NOT NULL,
    target_number integer NOT NULL,
    attempt       integer NOT NULL CHECK (attempt > 0),
    run_id        bigint,
    outcome       text CHECK (outcome IN ('measured', 'behind', 'invalid', 'failed', 'interrupted', 'repeated', 'disturbed', 'burn_in', 'pilot', 'power_cut')),
    why           text,
    boot_id       text,
    versions      text,
    planned_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (experiment_id, block, target_number, attempt),
    FOREIGN KEY (experiment_id, target_number) REFERENCES fsbench.experiment_target ON DELETE CASCADE
);
CREATE INDEX experiment_run_run_id_idx ON fsbench.experiment_run (run_id);
COMMENT ON TABLE fsbench.experiment_run IS 'The runs of each experiment, also those that do not count';
COMMENT ON COLUMN fsbench.experiment_run.block IS 'Block, from 1: each has one run of each target that is open; 0: the uncounted run before';
COMMENT ON COLUMN fsbench.experiment_run.position IS 'Place in the block''s order, from 1';
COMMENT ON COLUMN fsbench.experiment_run.target_number IS 'Target, in fsbench.experiment_target';
COMMENT ON COLUMN fsbench.experiment_run.attempt IS 'Number of the attempt for this target in this block, from 1';
COMMENT ON COLUMN fsbench.experiment_run.run_id IS 'Run; NULL while it is being started, or when it could not be';
COMMENT ON COLUMN fsbench.experiment_run.outcome IS 'measured and behind (it could not keep the rate, or its search has found none) count; invalid, failed, interrupted (the server or machine stopped), repeated (its block was made again), disturbed (others took more than a tenth of the processors or a third of the disk, and another attempt counts), burn_in, pilot (block 0: from those follow the rate, and the WAL of a checkpoint cycle) and power_cut (block 0) do not; NULL while it is on';
COMMENT ON COLUMN fsbench.experiment_run.why IS 'Why it does not count, or has no value, or counts although others disturbed it';
COMMENT ON COLUMN fsbench.experiment_run.boot_id IS 'Identifier of the operating system''s start during the run';
COMMENT ON COLUMN fsbench.experiment_run.versions IS 'Versions of kernel, server and extension, and a mark of those settings of the server that may change figures';
COMMENT ON COLUMN fsbench.experiment_run.planned_at IS 'Time just before its start';

CREATE SEQUENCE fsbench.experiment_log_id_seq;
COMMENT ON SEQUENCE fsbench.experiment_log_id_seq IS 'Numbers of what has happened to experiments';

CREATE TABLE fsbench.experiment_log (
    log_id        bigint PRIMARY KEY DEFAULT nextval('fsbench.experiment_log_id_seq'),
    experiment_id bigint NOT NULL REFERENCES fsbench.experiment ON DELETE CASCADE,
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    event         text NOT NULL CHECK (event IN ('recorded', 'started', 'look', 'failed', 'invalid', 'interrupted', 'repeated', 'throttled', 'disturbed', 'burn_in', 'pilot', 'power_cut',
        'rate', 'wal', 'counted', 'neighbours', 'moved', 'set_aside', 'paused', 'resumed', 'extended', 'cancelled', 'done')),
    block         integer,
    message       text,
    by            name
);
CREATE INDEX experiment_log_experiment_id_idx ON fsbench.experiment_log (experiment_id);
COMMENT ON TABLE fsbench.experiment_log IS 'What has happened to each experiment';
COMMENT ON COLUMN fsbench.experiment_log.log_id IS 'Number: what happened later has a higher one';
COMMENT ON COLUMN fsbench.experiment_log.at IS 'When';
COMMENT ON COLUMN fsbench.experiment_log.event IS 'recorded, started, look, failed, invalid, interrupted, repeated, throttled, disturbed, burn_in, pilot, power_cut, rate, wal, counted (an attempt that others disturbed), neighbours (the machine is taken as it is), moved (it ends later than reckoned before), set_aside, paused, resumed, extended, cancelled, or done';
COMMENT ON COLUMN fsbench.experiment_log.block IS 'Block of the event';
COMMENT ON COLUMN fsbench.experiment_log.message IS 'In words';
COMMENT ON COLUMN fsbench.experiment_log.by IS 'Role that has done it; NULL for the server itself';

-- A verdict needs its runs. No foreign key: the row of a run may be stored a moment after its experiment knows it.
CREATE FUNCTION fsbench._check_run_of_experiment() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    name text;
BEGIN
    SELECT e.experiment INTO name FROM fsbench.experiment_run x JOIN fsbench.experiment e USING (experiment_id) WHERE x.run_id = OLD.run_id LIMIT 1;
    IF name IS NOT NULL THEN
        RAISE EXCEPTION 'run % belongs to experiment "%"', OLD.run_id, name USING ERRCODE = 'foreign_key_violation',
                  DETAIL = 'Its verdict follows from its runs.', HINT = format('Drop the experiment first: SELECT fsbench.drop_experiment(%L).', name);
    END IF;
    RETURN OLD;
END
$$;
COMMENT ON FUNCTION fsbench._check_run_of_experiment IS 'Keeps the runs of experiments. Private';
CREATE TRIGGER check_experiment BEFORE DELETE ON fsbench.run_log FOR EACH ROW EXECUTE FUNCTION fsbench._check_run_of_experiment();
COMMENT ON TRIGGER check_experiment ON fsbench.run_log IS 'A run of an experiment stays as long as that';

-- A row that is copied steers nothing: fsbench.experiment() records first, and starts then.
CREATE FUNCTION fsbench._check_new_experiment() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    NEW.status_reason := format('its row was copied while it was %s: it comes from a dump, or was written by hand', NEW.status);
    NEW.status := 'paused';
    -- Until when it was running is not known.
    NEW.on_since := NULL;
    NEW.over_at_latest := NULL;
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION fsbench._check_new_experiment IS 'Pauses experiments whose rows are copied while they are on. Private';
CREATE TRIGGER check_new_experiment BEFORE INSERT ON fsbench.experiment
    FOR EACH ROW WHEN (NEW.status IN ('queued', 'running')) EXECUTE FUNCTION fsbench._check_new_experiment();
COMMENT ON TRIGGER check_new_experiment ON fsbench.experiment IS 'A row alone steers nothing';

-- Rows from files of other databases. They stand next to those of this one, and steer nothing: see fsbench.import().

CREATE SEQUENCE fsbench.import_id_seq;
COMMENT ON SEQUENCE fsbench.import_id_seq IS 'Numbers of imported files';

CREATE TABLE fsbench.imported_file (
    import_id         bigint PRIMARY KEY DEFAULT nextval('fsbench.import_id_seq'),
    host              text NOT NULL,
    hostname          text,
    host_fingerprints text[],
    format            integer NOT NULL,
    pgfsbench_version text,
    exported_at       timestamptz,
    sha256            text NOT NULL,
    imported_by       name NOT NULL,
    imported_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.imported_file IS 'Files that fsbench.import() has read. What they say of their origin is what they say';
COMMENT ON COLUMN fsbench.imported_file.import_id IS 'Number of the file in this database';
COMMENT ON COLUMN fsbench.imported_file.host IS 'Name of the host here: the part behind the @ in names of targets, labels and experiments';
COMMENT ON COLUMN fsbench.imported_file.hostname IS 'Name of the host, as the file says';
COMMENT ON COLUMN fsbench.imported_file.host_fingerprints IS 'host_fingerprint of its runs, as the file says';
COMMENT ON COLUMN fsbench.imported_file.format IS 'Version of the format of the file';
COMMENT ON COLUMN fsbench.imported_file.pgfsbench_version IS 'Version of pgfsbench that has written it, as the file says';
COMMENT ON COLUMN fsbench.imported_file.exported_at IS 'Time of the export, as the file says';
COMMENT ON COLUMN fsbench.imported_file.sha256 IS 'Checksum of the file: finds damage, and is no signature';
COMMENT ON COLUMN fsbench.imported_file.imported_by IS 'Role that has imported it, by its name then';
COMMENT ON COLUMN fsbench.imported_file.imported_at IS 'When';

CREATE TABLE fsbench.imported_run (
    run_id       bigint PRIMARY KEY REFERENCES fsbench.run_log ON DELETE CASCADE,
    import_id    bigint NOT NULL REFERENCES fsbench.imported_file,
    run_id_there bigint NOT NULL,
    sha256       text NOT NULL
);
CREATE INDEX imported_run_sha256_idx ON fsbench.imported_run (sha256);
CREATE INDEX imported_run_import_id_idx ON fsbench.imported_run (import_id);
CREATE INDEX imported_run_run_id_there_idx ON fsbench.imported_run (run_id_there);
COMMENT ON TABLE fsbench.imported_run IS 'Runs that were not made here';
COMMENT ON COLUMN fsbench.imported_run.run_id IS 'Number of the run here';
COMMENT ON COLUMN fsbench.imported_run.import_id IS 'File of the run';
COMMENT ON COLUMN fsbench.imported_run.run_id_there IS 'Number of the run where it was made';
COMMENT ON COLUMN fsbench.imported_run.sha256 IS 'Hash of its row in the file; a row of a host is imported once only';

CREATE TABLE fsbench.imported_experiment (
    experiment_id bigint PRIMARY KEY REFERENCES fsbench.experiment ON DELETE CASCADE,
    import_id     bigint NOT NULL REFERENCES fsbench.imported_file,
    sha256        text NOT NULL
);
CREATE INDEX imported_experiment_sha256_idx ON fsbench.imported_experiment (sha256);
CREATE INDEX imported_experiment_import_id_idx ON fsbench.imported_experiment (import_id);
COMMENT ON TABLE fsbench.imported_experiment IS 'Experiments that were not made here';
COMMENT ON COLUMN fsbench.imported_experiment.experiment_id IS 'Number of the experiment here';
COMMENT ON COLUMN fsbench.imported_experiment.import_id IS 'File of the experiment';
COMMENT ON COLUMN fsbench.imported_experiment.sha256 IS 'Hash of the experiment''s row in the file';

-- Studies: published benchmarks that are repeated here. What is claimed, and what was measured.

CREATE TABLE fsbench.study_definition (
    study      text PRIMARY KEY,
    definition jsonb NOT NULL,
    defined_by name NOT NULL DEFAULT session_user,
    defined_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.study_definition IS 'Studies of your own (fsbench.define_study). The view fsbench.study_definitions also has the studies that come with pgfsbench';
COMMENT ON COLUMN fsbench.study_definition.definition IS 'Claims, variants, questions and published figures, as docs/studies.md describes them';
COMMENT ON COLUMN fsbench.study_definition.defined_by IS 'Role that has defined it';
COMMENT ON COLUMN fsbench.study_definition.defined_at IS 'When';

CREATE TABLE fsbench.study (
    study        text PRIMARY KEY,
    definition   jsonb NOT NULL,
    asked        jsonb NOT NULL,
    facts        jsonb NOT NULL,
    requested_by name NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.study IS 'Studies that were started in this database';
COMMENT ON COLUMN fsbench.study.definition IS 'Definition at the start of the study: its claims are judged';
COMMENT ON COLUMN fsbench.study.asked IS 'Arguments as given';
COMMENT ON COLUMN fsbench.study.facts IS 'Facts of this machine and server that decided what was left out: kernel, memory, processors, version, missing filesystems with reasons, limits of the helper''s configuration, possible values of settings, and targets on images';
COMMENT ON COLUMN fsbench.study.requested_by IS 'Role that asked';

CREATE TABLE fsbench.study_experiment (
    study         text NOT NULL REFERENCES fsbench.study ON DELETE CASCADE,
    question      text NOT NULL,
    experiment_id bigint NOT NULL UNIQUE REFERENCES fsbench.experiment ON DELETE CASCADE,
    PRIMARY KEY (study, question)
);
COMMENT ON TABLE fsbench.study_experiment IS 'The experiments of each study, one a question';
COMMENT ON COLUMN fsbench.study_experiment.question IS 'Question of its definition';
COMMENT ON COLUMN fsbench.study_experiment.experiment_id IS 'Experiment that answers it';

-- The rows outlive a study that is dropped without its runs: a target that only this study has made is used again.
CREATE TABLE fsbench.study_target (
    study       text NOT NULL,
    variant     text NOT NULL,
    target_name text NOT NULL REFERENCES fsbench.target ON DELETE CASCADE,
    PRIMARY KEY (study, variant)
);
COMMENT ON TABLE fsbench.study_target IS 'The targets that each study has made, also those that are left of one that was dropped';
COMMENT ON COLUMN fsbench.study_target.variant IS 'Variant of its definition';
COMMENT ON COLUMN fsbench.study_target.target_name IS 'Target in fsbench.target';

-- Functions for users. run and start have the same parameters; a parameter that is not given is chosen, and announced.
--
-- Operators and functions must not depend on the caller's search_path: bodies in SQL are parsed when they are created (RETURN), those in PL/pgSQL set
-- their own.

CREATE FUNCTION fsbench.version() RETURNS text LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_version_wrapper';
COMMENT ON FUNCTION fsbench.version IS 'Version of the pgfsbench library that is loaded';

CREATE FUNCTION fsbench.run(target text DEFAULT 'default', workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate float8 DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    keep boolean DEFAULT false, force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS TABLE (run_id bigint, target text, tps float8, latency_p99_ms float8, latency_max_ms float8,
        commit_p99_ms float8, stall_seconds integer, findings text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_run_wrapper';
COMMENT ON FUNCTION fsbench.run IS 'Makes a benchmark run, waits for it, and returns its result in one row; everything about it is in fsbench.result. Use it as SELECT * FROM fsbench.run(...)';

CREATE FUNCTION fsbench.start(target text DEFAULT 'default', workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate float8 DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    keep boolean DEFAULT false, force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_start_wrapper';
COMMENT ON FUNCTION fsbench.start IS 'Starts a benchmark run, or queues it behind others, and returns its id at once; takes the parameters of fsbench.run';

CREATE FUNCTION fsbench.sustainable_rate(target text DEFAULT 'default', latency_limit_ms float8 DEFAULT NULL, percentile float8 DEFAULT 99,
    workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL, clients integer DEFAULT NULL, duration interval DEFAULT NULL,
    warmup interval DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL, checks jsonb DEFAULT NULL,
    protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL)
    RETURNS TABLE (run_id bigint, target text, rate float8, low float8, high float8, probes integer, says text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_sustainable_rate_wrapper';
COMMENT ON FUNCTION fsbench.sustainable_rate IS 'Searches for the highest rate (transactions per second) at which the percentile of latency, from the time when each transaction was due, stays under the limit; one run, whose probes are in fsbench.probe. rate is NULL when there is none. duration: of one cycle, of which a search takes 5 to 26; without it a checkpoint cycle, at least a minute. The other parameters are those of fsbench.run. In the background: fsbench.start with latency_limit_ms and options => ''{"sustain": 99}''';

CREATE FUNCTION fsbench.wait(run_id bigint) RETURNS TABLE (run_id bigint, target text, tps float8, latency_p99_ms float8, latency_max_ms float8,
        commit_p99_ms float8, stall_seconds integer, findings text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_wait_wrapper';
COMMENT ON FUNCTION fsbench.wait(bigint) IS 'Waits until a run is over and returns its result as fsbench.run does; raises the error of a run that failed or was cancelled. It holds a snapshot meanwhile: CALL fsbench.wait(run_id) does not';

CREATE FUNCTION fsbench.cancel(run_id bigint) RETURNS boolean LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_cancel_wrapper';
COMMENT ON FUNCTION fsbench.cancel IS 'Cancels a run that is queued or running; false for a run that is over or unknown';

CREATE FUNCTION fsbench._start(asked text) RETURNS bigint
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_start_asked_wrapper';
COMMENT ON FUNCTION fsbench._start IS 'Starts a run by its arguments as one JSON document, checked as those of fsbench.start(). Only superusers have it do a part of a run. Private: other servers call it for their runs here';

CREATE FUNCTION fsbench._ended(run_id bigint, timeout_ms integer) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_ended_wrapper';
COMMENT ON FUNCTION fsbench._ended IS 'Waits up to this time (ms) for the end of a run, and returns whether it is over; an error for an unknown run. Private';

-- A procedure of the same name as the function: CALL counts the output columns of the function as arguments, and a plain
-- SELECT prefers a function that is not variadic, so that each finds its own. It commits, so that it cannot have a search_path
-- of its own: it uses no operator, and one function, with its schema.
CREATE PROCEDURE fsbench.wait(VARIADIC run_ids bigint[]) LANGUAGE plpgsql AS $$
DECLARE
    id bigint;
BEGIN
    IF run_ids IS NULL THEN
        PERFORM fsbench._ended(NULL, 0);
    END IF;
    FOREACH id IN ARRAY run_ids LOOP
        WHILE NOT fsbench._ended(id, 1000) LOOP
            COMMIT;  -- gives the snapshot back
        END LOOP;
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fsbench.wait(bigint[]) IS 'Waits until these runs are over, one after the other, without holding a snapshot for more than a second; see fsbench.result for what came out';

CREATE FUNCTION fsbench._progress(OUT run_id bigint, OUT status text, OUT phase text, OUT done bigint, OUT total bigint, OUT seconds_left float8,
    OUT phase_seconds float8, OUT tps float8, OUT tps_last_second float8, OUT latency_p99_ms float8, OUT coordinator_pid integer, OUT runs_before integer,
    OUT probe integer, OUT rate float8) RETURNS SETOF record LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 2 AS 'MODULE_PATHNAME', 'fsbench_progress_wrapper';
COMMENT ON FUNCTION fsbench._progress IS 'Runs of this database that are queued or active, from shared memory. Private; read fsbench.progress';

CREATE FUNCTION fsbench._renew_lease(run_id bigint) RETURNS boolean
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_renew_lease_wrapper';
COMMENT ON FUNCTION fsbench._renew_lease IS 'Extends the lease of a run (option lease_ms) to its full length from now on; false for a run that is over, unknown or without a lease. Private: other servers call it for runs that they have started here';

CREATE FUNCTION fsbench._start_together(run_id bigint, start_ns bigint DEFAULT NULL) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_start_together_wrapper';
COMMENT ON FUNCTION fsbench._start_together IS 'Whether a run waits for its start (option instances); with start_ns, the run begins at that time of CLOCK_MONOTONIC. Private: the server that has started the runs of all instances calls it';

CREATE FUNCTION fsbench._check_preloaded() RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_check_preloaded_wrapper';
COMMENT ON FUNCTION fsbench._check_preloaded IS 'Warns when the library is not preloaded or worker slots are few. Private; called by CREATE EXTENSION';

CREATE FUNCTION fsbench.bucket_low_ms(bucket integer) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    -- A histogram has 2048 buckets. What a restored row has beyond them breaks no view.
    RETURN CASE WHEN bucket < 32 THEN bucket WHEN bucket < 4096 THEN (32 + bucket % 32) * 2.0::float8 ^ (bucket / 32 - 1) END / 1e6;
COMMENT ON FUNCTION fsbench.bucket_low_ms IS 'Lower end (ms, inclusive) of a bucket of fsbench.histogram';

CREATE FUNCTION fsbench.bucket_high_ms(bucket integer) RETURNS float8 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN fsbench.bucket_low_ms(CASE WHEN bucket < 4096 THEN bucket + 1 END);
COMMENT ON FUNCTION fsbench.bucket_high_ms IS 'Upper end (ms, exclusive) of a bucket of fsbench.histogram';

-- Each transaction of a workload with several types is in two histograms: in that of its type, and in that of all.
CREATE FUNCTION fsbench._is_of_all(run_id bigint, transaction text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    RETURN NOT EXISTS (SELECT FROM fsbench.transaction_result t JOIN fsbench.run_log r USING (run_id)
        WHERE t.run_id = $1 AND t.transaction = $2 AND r.workload <> $2);
COMMENT ON FUNCTION fsbench._is_of_all IS 'Whether a histogram of a run counts its transactions of all types, or of a workload with one type. Private';

-- The histogram of a type has its intended rollbacks, too.
CREATE FUNCTION fsbench._rolled_back(run_id bigint, transaction text) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    RETURN coalesce((SELECT sum(t.rolled_back) FROM fsbench.transaction_result t WHERE t.run_id = $1 AND t.transaction = $2), 0)::float8;
COMMENT ON FUNCTION fsbench._rolled_back IS 'Transactions of a type in a histogram of a run that were rolled back as intended. Private';

CREATE FUNCTION fsbench.percentile(fraction float8, run_ids bigint[], measure text DEFAULT 'latency', transaction text DEFAULT NULL) RETURNS float8
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
DECLARE
    known text[];
    measures text[];
    others text;
    result float8;
BEGIN
    IF fraction IS NULL OR run_ids IS NULL THEN
        RETURN NULL;
    END IF;
    IF NOT fraction BETWEEN 0 AND 1 THEN
        RAISE EXCEPTION 'fraction % is out of range', fraction USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It must be between 0 and 1.',
                  HINT = 'The 99th percentile is 0.99.';
    END IF;
    PERFORM fsbench._check_runs(run_ids);
    SELECT array_agg(DISTINCT name ORDER BY name) INTO known
    FROM (SELECT h.transaction FROM fsbench.histogram h WHERE h.run_id = ANY (run_ids)) AS n(name);
    IF $4 <> ALL (known) THEN
        RAISE EXCEPTION 'there is no transaction "%"', $4 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('These runs have %s.', array_to_string(known, ', ')), HINT = 'Leave it out for all transactions of the workload.';
    END IF;
    SELECT array_agg(name ORDER BY length(name), name) INTO measures
    FROM (SELECT DISTINCT h.measure FROM fsbench.histogram h
          WHERE h.run_id = ANY (run_ids)
            AND CASE WHEN $4 IS NOT NULL THEN h.transaction = $4 ELSE fsbench._is_of_all(h.run_id, h.transaction) END) AS m(name);
    IF measures IS NOT NULL AND ($3 = ANY (measures)) IS NOT TRUE THEN
        SELECT string_agg(DISTINCT h.transaction, ', ') INTO others FROM fsbench.histogram h WHERE h.run_id = ANY (run_ids) AND h.measure = $3;
        RAISE EXCEPTION 'there is no measure "%"', coalesce($3, 'NULL') USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = coalesce('Only these transactions have it: ' || others || '.', 'These runs have no histogram of it.'),
                  HINT = CASE WHEN others IS NULL
                         THEN format('Use one of %s%s.', array_to_string(measures[:20], ', '), CASE WHEN cardinality(measures) > 20 THEN ', ...' ELSE '' END)
                         ELSE 'Give one of them as the argument "transaction".' END;
    END IF;
    WITH chosen AS (
        SELECT h.* FROM fsbench.histogram h
        WHERE h.run_id = ANY (run_ids) AND h.measure = $3
          AND CASE WHEN $4 IS NOT NULL THEN h.transaction = $4 ELSE fsbench._is_of_all(h.run_id, h.transaction) END
    ), merged AS (
        SELECT b.bucket, sum(b.count) AS count FROM chosen, unnest(buckets, counts) AS b(bucket, count) GROUP BY b.bucket
    ), running AS (
        SELECT bucket, sum(count) OVER (ORDER BY bucket) AS upto, sum(count) OVER () AS total FROM merged
    )
    SELECT least(greatest((fsbench.bucket_low_ms(bucket) + fsbench.bucket_high_ms(bucket)) / 2,
                          (SELECT min(min_ms) FROM chosen)), (SELECT max(max_ms) FROM chosen)) INTO result
    FROM running
    WHERE upto >= greatest(ceil(fraction::numeric * total), 1)
    ORDER BY bucket LIMIT 1;
    RETURN result;
END
$$;
COMMENT ON FUNCTION fsbench.percentile(float8, bigint[], text, text) IS 'Any percentile (fraction 0 to 1) of the latency of one or several runs in ms, from their merged histograms; within 3.2 %. measure: latency, service (from the real start of each transaction, under a rate), commit, command N of a script, or read, write and sync of io; transaction: a type of fsbench.transaction_result or a job of io, NULL for all of the workload. NULL where no run has a histogram';

CREATE FUNCTION fsbench.percentile(fraction float8, run_id bigint, measure text DEFAULT 'latency', transaction text DEFAULT NULL) RETURNS float8
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN fsbench.percentile(fraction, ARRAY[run_id], measure, transaction);
COMMENT ON FUNCTION fsbench.percentile(float8, bigint, text, text) IS 'Any percentile (fraction 0 to 1) of the latency of one run in ms; see the function with several runs';

CREATE FUNCTION fsbench.create_target(target text, filesystem text DEFAULT NULL, device text DEFAULT NULL, image_size text DEFAULT NULL,
    directory text DEFAULT NULL, connection text DEFAULT NULL, mkfs_options text DEFAULT NULL, mount_options text DEFAULT NULL, log_device text DEFAULT NULL,
    log_size text DEFAULT NULL, pool_properties text DEFAULT NULL, dataset_properties text DEFAULT NULL, image_sparse boolean DEFAULT NULL,
    ssd_state text DEFAULT NULL, block_settings jsonb DEFAULT NULL, kernel_settings jsonb DEFAULT NULL, drop_caches boolean DEFAULT NULL,
    settings jsonb DEFAULT NULL, bindir text DEFAULT NULL, data_checksums boolean DEFAULT NULL, power_loss_protected boolean DEFAULT NULL,
    try boolean DEFAULT false, devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, layout text DEFAULT NULL, layout_options jsonb DEFAULT NULL,
    initial_sync text DEFAULT NULL, log_devices text[] DEFAULT NULL) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_create_target_wrapper';
COMMENT ON FUNCTION fsbench.create_target IS 'Records a target to benchmark and returns its name; nothing is written there yet. Its kind follows from what defines it: filesystem with device or image_size, or with several devices or images (image_count) that a layout joins (made by pgfsbench-helper for each run), directory (where each run puts a server of its own), or connection (another server that has pgfsbench, which carries the runs out in its own data directory: keywords and values of libpq, without a password). settings: of the target server, also those that need a restart; bindir: its programs. try: pgfsbench-helper makes and mounts it once on a sparse image, by which it is seen whether mkfs and the kernel take the options. The other arguments are described at the columns of fsbench.target';

CREATE FUNCTION fsbench.alter_target(target text, filesystem text DEFAULT NULL, device text DEFAULT NULL, image_size text DEFAULT NULL,
    directory text DEFAULT NULL, connection text DEFAULT NULL, mkfs_options text DEFAULT NULL, mount_options text DEFAULT NULL, log_device text DEFAULT NULL,
    log_size text DEFAULT NULL, pool_properties text DEFAULT NULL, dataset_properties text DEFAULT NULL, image_sparse boolean DEFAULT NULL,
    ssd_state text DEFAULT NULL, block_settings jsonb DEFAULT NULL, kernel_settings jsonb DEFAULT NULL, drop_caches boolean DEFAULT NULL,
    settings jsonb DEFAULT NULL, bindir text DEFAULT NULL, data_checksums boolean DEFAULT NULL, power_loss_protected boolean DEFAULT NULL,
    reset text[] DEFAULT NULL, devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, layout text DEFAULT NULL, layout_options jsonb DEFAULT NULL,
    initial_sync text DEFAULT NULL, log_devices text[] DEFAULT NULL) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_alter_target_wrapper';
COMMENT ON FUNCTION fsbench.alter_target IS 'Changes the arguments that are given, resets those that reset names (arguments of create_target), and leaves the rest; refused while a run is on the target';

CREATE FUNCTION fsbench._prepared_data(OUT contents text, OUT scale integer, OUT fillfactor integer, OUT unlogged boolean, OUT data_checksums boolean,
    OUT postgres text, OUT bytes bigint, OUT created_epoch bigint, OUT used_epoch bigint, OUT directory text, OUT data text) RETURNS SETOF record
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_prepared_data_wrapper';
COMMENT ON FUNCTION fsbench._prepared_data IS 'What the view fsbench.prepared_data shows. Private';

CREATE FUNCTION fsbench.drop_prepared_data() RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_prepared_data_wrapper';
COMMENT ON FUNCTION fsbench.drop_prepared_data IS 'Removes all data that runs have loaded once to copy them to targets, and returns their bytes; data of fsbench.prepare_data() stay. It is refused while a run uses them, or an experiment that is not over is to copy them again';

CREATE FUNCTION fsbench.prepare_data(data text, from_server boolean DEFAULT false, max_rate text DEFAULT NULL, from_directory text DEFAULT NULL) RETURNS bigint
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_prepare_data_wrapper';
COMMENT ON FUNCTION fsbench.prepare_data IS 'Copies this whole server (from_server => true) as it runs, by pg_basebackup, or the base backup in a directory that root has allowed (from_directory), and keeps the copy under a name for runs: fsbench.run(data => ''shop'', database => ''shop'', ...). Returns its bytes. max_rate: bytes a second that are read at most, such as 50M. The copy takes room near the data directory, within pgfsbench.prepared_data_limit; the view pg_stat_progress_basebackup shows how far it is. For superusers: a role that may execute this function can have runs on copies of all data of the server';

CREATE FUNCTION fsbench.drop_data(data text) RETURNS bigint LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_data_wrapper';
COMMENT ON FUNCTION fsbench.drop_data IS 'Removes the copy of a server that fsbench.prepare_data() has made, and returns its bytes; refused while a run copies it, or an experiment that is not over is to copy it again';

CREATE FUNCTION fsbench.script_from_statements(database text DEFAULT NULL, top integer DEFAULT 10) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_script_from_statements_wrapper';
COMMENT ON FUNCTION fsbench.script_from_statements IS 'A start for the argument scripts of fsbench.run(), to be edited: the statements of a database (without it, this one) that pg_stat_statements has with the most calls and with the most blocks changed, weighted by calls. A parameter that is compared with an integer column is drawn from the range of that column in pg_stats; the others are listed as -- choose. All is read with the rights of the caller';

CREATE FUNCTION fsbench.drop_target(target text) RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_target_wrapper';
COMMENT ON FUNCTION fsbench.drop_target IS 'Removes a target; refused while a run is on it. Results of its runs stay';

CREATE FUNCTION fsbench.prepare_target(target text) RETURNS TABLE (target text, directory text, mount_point text, device text,
        filesystem text, mount_options text, mount_options_not_shown text[], mkfs_options text, mkfs_version text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_prepare_target_wrapper';
COMMENT ON FUNCTION fsbench.prepare_target IS 'Has the helper make and mount the filesystem of a target, for a look at it between runs, and returns where it is mounted. It stays until fsbench.release_target(), and no run uses it meanwhile. A ROLLBACK does not undo it';

CREATE FUNCTION fsbench.release_target(target text) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_release_target_wrapper';
COMMENT ON FUNCTION fsbench.release_target IS 'Has the helper unmount and remove what fsbench.prepare_target() has made; false when nothing was prepared';

CREATE FUNCTION fsbench.plan(target text DEFAULT 'default', workload text DEFAULT 'tpcb', scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate float8 DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, label text DEFAULT NULL,
    keep boolean DEFAULT false, force boolean DEFAULT false, scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS TABLE (step integer, who text, action text, command text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_plan_wrapper';
COMMENT ON FUNCTION fsbench.plan IS 'Every step of a run beforehand, in the order in which they begin; takes the parameters of fsbench.run. Changes nothing. Shows the command lines of the helper (root), of the coordinator in this server, and of the measured server. fsbench.result.steps has what a run did';

CREATE FUNCTION fsbench._block_devices() RETURNS TABLE (path text, node text, model text, serial text, wwn text, size_bytes bigint, in_use text)
    LANGUAGE c VOLATILE PARALLEL SAFE ROWS 10 AS 'MODULE_PATHNAME', 'fsbench_block_devices_wrapper';
COMMENT ON FUNCTION fsbench._block_devices IS 'Disks and partitions of this machine as the server''s operating system user sees them. Private; read fsbench.device';

CREATE FUNCTION fsbench._describe() RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_describe_wrapper';
COMMENT ON FUNCTION fsbench._describe IS 'Has the helper look at its devices again. Private; called by fsbench.describe_devices()';

CREATE FUNCTION fsbench.doctor() RETURNS TABLE (subject text, item text, state text, detail text, hint text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 40 AS 'MODULE_PATHNAME', 'fsbench_doctor_wrapper';
COMMENT ON FUNCTION fsbench.doctor IS 'What benchmarks need and what of it is here, and what findings would tell of it: the server, the machine (which is looked at for a second), the helper, each filesystem. state is ok, info, warning (it works, and can mislead or be refused) or missing (it does not work); hint says what to do. Works without the helper too';

CREATE FUNCTION fsbench.judge(run_id bigint) RETURNS TABLE (code text, severity text, message text, hint text)
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'fsbench_judge_wrapper';
COMMENT ON FUNCTION fsbench.judge IS 'Judges a run that is done again, by everything that is stored of it, with the rules of this version of pgfsbench, and returns its findings, the worst first; writes nothing. What only the moment knew (not_released) is returned as it was stored then';

-- Properties that several runs share, and their differences.

-- A list in an error has an end, whatever the caller gives.
CREATE FUNCTION fsbench._some_runs(run_ids bigint[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(coalesce(s.id::text, 'NULL'), ', ' ORDER BY s.id) FILTER (WHERE s.place <= 10) || CASE WHEN count(*) > 10 THEN format(', and %s more', count(*) - 10) ELSE '' END
    FROM (SELECT d.id, row_number() OVER (ORDER BY d.id) AS place FROM (SELECT DISTINCT u.id FROM unnest($1) u (id)) d) s
    $$;
COMMENT ON FUNCTION fsbench._some_runs IS 'The first ten of some runs in words, and how many more they are. Private';

CREATE FUNCTION fsbench._check_runs(run_ids bigint[]) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    unknown bigint[];
BEGIN
    SELECT array_agg(id) INTO unknown
    FROM unnest(run_ids) AS id WHERE NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = id);
    IF unknown IS NOT NULL THEN
        RAISE EXCEPTION 'run % does not exist', fsbench._some_runs(unknown) USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._check_runs IS 'Refuses numbers of runs that there are not. Private';

CREATE FUNCTION fsbench.findings(run_ids bigint[])
    RETURNS TABLE (code text, severity text, differs boolean, runs_with bigint[], runs_without bigint[], message text, hint text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
DECLARE
    done bigint[];
    others bigint[];
BEGIN
    PERFORM fsbench._check_runs(run_ids);
    SELECT array_agg(r.run_id ORDER BY r.run_id) FILTER (WHERE r.status = 'done'),
           array_agg(r.run_id ORDER BY r.run_id) FILTER (WHERE r.status <> 'done') INTO done, others
    FROM fsbench.run_log r WHERE r.run_id = ANY (run_ids);
    IF others IS NOT NULL THEN
        RAISE NOTICE 'run % is not done, and is left out', fsbench._some_runs(others);
    END IF;
    RETURN QUERY
    WITH found AS (
        SELECT f.*, array_position(ARRAY['info', 'warning', 'invalid'], f.severity) AS badness
        FROM fsbench.finding f WHERE f.run_id = ANY (done)
    ), grouped AS (
        SELECT f.code, max(f.badness) AS badness, max(f.weight) AS weight, array_agg(f.run_id ORDER BY f.run_id) AS runs_with,
               count(*) < cardinality(done) OR min(f.badness) < max(f.badness) AS differs
        FROM found f GROUP BY f.code
    )
    SELECT g.code, worst.severity, g.differs, g.runs_with,
           ARRAY(SELECT id FROM unnest(done) AS id WHERE id <> ALL (g.runs_with) ORDER BY id), worst.message, worst.hint
    FROM grouped g, LATERAL (SELECT f.* FROM found f WHERE f.code = g.code ORDER BY f.badness DESC, f.run_id LIMIT 1) worst
    ORDER BY g.differs DESC, g.badness DESC, g.weight DESC, g.code COLLATE "C";
END
$$;
COMMENT ON FUNCTION fsbench.findings IS 'The findings of several runs, one row each: first those in which the runs differ (differs: not all of them have it, or not all as severe), then those that all share; among these the worst first, then those that change the figures most (weight in fsbench.finding). severity, message and hint are those of the first run that has it worst. Runs that are not done have no findings, and are left out with a NOTICE';

CREATE FUNCTION fsbench.diff(run_a bigint, run_b bigint) RETURNS TABLE (area text, name text, a text, b text, matters text, why text)
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_diff_wrapper';
COMMENT ON FUNCTION fsbench.diff IS 'What differs between two runs, by what is stored of them: their parameters, targets, filesystems, mount options, devices, settings, versions, kernels and hosts. matters tells how likely it changes the figures, much before maybe before hardly, and why tells why. NULL: not given, the default, or not known (why says so). What every run has of its own (its data directory, its port, how full its disk was) is left out';

CREATE FUNCTION fsbench.power_cut(target text, cuts integer DEFAULT 300, clients integer DEFAULT NULL, duration interval DEFAULT NULL,
    settings jsonb DEFAULT NULL, seed bigint DEFAULT NULL, fsync_error boolean DEFAULT NULL) RETURNS TABLE (run_id bigint, part text, outcome text, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp COST 1000000 ROWS 7 AS $$
#variable_conflict use_column
DECLARE
    run bigint;
BEGIN
    SELECT r.run_id INTO STRICT run FROM fsbench.run(target => $1, workload => 'power-cut', clients => $3, duration => $4, settings => $5, seed => $6,
        options => jsonb_strip_nulls(jsonb_build_object('cuts', $2, 'fsync_error', $7))) r;
    RETURN QUERY SELECT p.run_id, p.part, p.outcome, p.says FROM fsbench.power_cut_result p WHERE p.run_id = run ORDER BY p.control, p.part;
    RETURN QUERY SELECT e.run_id, e.operation || '_error', e.outcome, e.says FROM fsbench.power_cut_error e WHERE e.run_id = run ORDER BY e.operation;
END
$$;
COMMENT ON FUNCTION fsbench.power_cut IS 'Whether commits survive power cuts on a target with images or a device: a run of the workload power-cut, and its rows of fsbench.power_cut_result. cuts: how many times the power is cut while clients commit; fsync_error: whether a flush and a write of the device fail, too, whose rows are those of fsbench.power_cut_error; the other parameters are those of fsbench.run';

CREATE FUNCTION fsbench._watch_begin(target text, duration interval) RETURNS bigint
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_watch_begin_wrapper';
COMMENT ON FUNCTION fsbench._watch_begin IS 'Begins a watch of the server of a target; gives its number. Private: fsbench.power_cut_watch() calls it';

CREATE FUNCTION fsbench._watch_commit(watch_id bigint) RETURNS boolean
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_watch_commit_wrapper';
COMMENT ON FUNCTION fsbench._watch_commit IS 'Has the other server commit the next number, and notes it; false when the watch is over. Private: fsbench.power_cut_watch() calls it';

CREATE FUNCTION fsbench._watch_verify(watch_id bigint) RETURNS void
    LANGUAGE c VOLATILE STRICT PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_watch_verify_wrapper';
COMMENT ON FUNCTION fsbench._watch_verify IS 'Counts the numbers of a watch on the other server. Private: fsbench.power_cut_verify() calls it';

CREATE FUNCTION fsbench._witness(mark text, number bigint) RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_witness_wrapper';
COMMENT ON FUNCTION fsbench._witness IS 'Stores a number for a watch of another server; without a number removes those of the watch. Private: the other server calls it';

CREATE PROCEDURE fsbench.power_cut_watch(target text, duration interval DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
    watch bigint;
BEGIN
    watch := fsbench._watch_begin(target, duration);
    COMMIT;
    WHILE fsbench._watch_commit(watch) LOOP
        COMMIT;  -- the number is on disk here
    END LOOP;
END
$$;
COMMENT ON PROCEDURE fsbench.power_cut_watch IS 'Makes this server the witness of a power cut of another one, which the target''s connection leads to: that server commits numbers, and each number that it has acknowledged is on disk here before the next one is sent. It ends when the connection is lost, or after duration. Each session that calls it is a client. See fsbench.power_cut_verify()';

CREATE FUNCTION fsbench.power_cut_verify(target text DEFAULT NULL)
    RETURNS TABLE (watch_id bigint, server text, acknowledged bigint, missing bigint, first_missing bigint, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 4 AS $$
#variable_conflict use_column
DECLARE
    watch bigint;
    watches bigint[] := ARRAY(SELECT w.watch_id FROM fsbench.power_cut_watch w WHERE w.verified_at IS NULL AND w.acknowledged > 0 AND ($1 IS NULL OR w.target = $1) ORDER BY w.watch_id);
BEGIN
    FOREACH watch IN ARRAY watches LOOP
        PERFORM fsbench._watch_verify(watch);
    END LOOP;
    RETURN QUERY SELECT w.watch_id, w.target, w.acknowledged, w.missing, w.first_missing, w.says FROM fsbench.power_cut_watch w WHERE w.watch_id = ANY (watches) ORDER BY w.watch_id;
END
$$;
COMMENT ON FUNCTION fsbench.power_cut_verify IS 'After a power cut of the server of a target, or of all targets: how many commits that it has acknowledged to fsbench.power_cut_watch() are missing there. A watch is counted again until that server has restarted';

-- Results of the scans of a run together.

CREATE FUNCTION fsbench.knee(degrees integer[], ms float8[]) RETURNS TABLE (verdict text, degree integer, low float8, high float8, tolerance float8, says text)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_knee_wrapper';
COMMENT ON FUNCTION fsbench.knee IS 'The knee of a scaling curve, given the degree and the time (ms) of each measurement, several of one degree being its repeats: the degree after which another worker no longer helps. verdict: knee (it is between low and high, 95 % by bootstrap over the repeats; degree is the smallest one that no other is faster than by more than tolerance), flat, still_rising, or not_identifiable; says: the same in words';

CREATE FUNCTION fsbench._check_scan(run_id bigint) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    is_a text;
BEGIN
    SELECT r.workload INTO is_a FROM fsbench.run_log r WHERE r.run_id = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run % does not exist', $1 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    ELSIF is_a <> 'scan' THEN
        RAISE EXCEPTION 'run % is none of the workload scan', $1 USING ERRCODE = 'invalid_parameter_value', DETAIL = format('Its workload is %s.', is_a),
                  HINT = 'See fsbench.result for those that are.';
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._check_scan IS 'Refuses a run that is none of the workload scan. Private';

CREATE FUNCTION fsbench.scan_curve(run_id bigint)
    RETURNS TABLE (degree integer, repeats bigint, not_used bigint, median_ms float8, min_ms float8, max_ms float8,
        gb_per_second float8, rows_per_second float8, speedup float8, efficiency float8, skew float8)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
BEGIN
    PERFORM fsbench._check_scan($1);
    RETURN QUERY
    WITH curve AS (
        SELECT s.degree, count(*) FILTER (WHERE s.used) AS repeats, count(*) FILTER (WHERE NOT s.used) AS not_used,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms) FILTER (WHERE s.used) AS median_ms,
               min(s.ms) FILTER (WHERE s.used) AS min_ms, max(s.ms) FILTER (WHERE s.used) AS max_ms,
               max(s.bytes) AS bytes, max(s.rows) AS rows,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.skew) FILTER (WHERE s.used) AS skew
        FROM fsbench.scan s WHERE s.run_id = $1 AND s.degree > 0 AND s.ms > 0 AND s.ms < 'Infinity' GROUP BY s.degree
    ), base AS (
        SELECT c.degree * c.median_ms AS work FROM curve c ORDER BY c.degree LIMIT 1
    )
    SELECT c.degree, c.repeats, c.not_used, c.median_ms, c.min_ms, c.max_ms,
           c.bytes / 1e6 / c.median_ms, c.rows * 1000 / c.median_ms,
           b.work / c.median_ms, b.work / c.median_ms / c.degree, c.skew
    FROM curve c LEFT JOIN base b ON true ORDER BY c.degree;
END
$$;
COMMENT ON FUNCTION fsbench.scan_curve IS 'The curve of a run of the workload scan, for plotting: for each degree the scans that count and those that do not (not_used: not all workers were there, or the cache was not as asked), median, shortest and longest time (ms), bytes (10^9) and rows per second at the median, speed-up (how many times as fast as with one worker; without degree 1 the smallest one that was asked for counts as perfectly parallel; NULL when no scan of it counts), efficiency (speed-up / degree), and median skew';

CREATE FUNCTION fsbench.scan_knee(run_id bigint) RETURNS TABLE (verdict text, degree integer, low float8, high float8, tolerance float8, says text)
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
BEGIN
    PERFORM fsbench._check_scan($1);
    RETURN QUERY
    SELECT k.verdict, k.degree, k.low, k.high, k.tolerance,
           CASE WHEN c.counting < 3 AND c.counting < c.asked
                THEN format('not identifiable: it takes at least three degrees, and only %s of %s have scans that count', c.counting, c.asked)
                ELSE k.says END
    -- A row that no scan has made breaks no view over all runs.
    FROM (SELECT coalesce((array_agg(s.degree ORDER BY s.scan) FILTER (WHERE s.used))[:100000], '{}') AS degrees,
                 coalesce((array_agg(s.ms ORDER BY s.scan) FILTER (WHERE s.used))[:100000], '{}') AS ms,
                 count(DISTINCT s.degree) AS asked, count(DISTINCT s.degree) FILTER (WHERE s.used) AS counting
          FROM fsbench.scan s WHERE s.run_id = $1 AND s.degree > 0 AND s.ms > 0 AND s.ms < 'Infinity') c, fsbench.knee(c.degrees, c.ms) k;
END
$$;
COMMENT ON FUNCTION fsbench.scan_knee IS 'The knee of a run of the workload scan: the degree after which another worker no longer helps; see fsbench.knee()';

GRANT EXECUTE ON FUNCTION fsbench._check_scan(bigint), fsbench.scan_curve(bigint), fsbench.scan_knee(bigint) TO pg_monitor;

-- The arithmetic of verdicts, on arrays. The functions read no table, so that every role may check them.

CREATE FUNCTION fsbench.verdict(baseline float8[], targets float8[], margin float8 DEFAULT 0.05, max_blocks integer DEFAULT 12)
    RETURNS TABLE (target integer, verdict text, reason text, ratio float8, low float8, high float8, blocks integer, kept integer,
        half_width float8, beyond_margin boolean, blocks_needed integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 3 AS 'MODULE_PATHNAME', 'fsbench_verdict_wrapper';
COMMENT ON FUNCTION fsbench.verdict IS 'Is each target more, less or the same as the baseline? baseline has the metric of each block, targets a row a target and a column a block (two-dimensional), both NULL where a run is missing. The looks (after 3, 4, 6, 8, 12, 16 and 24 blocks, at most max_blocks) are played in order, and runs of a target after it was settled are not used. verdict: equivalent (certainly within the margin), more, less, inconclusive (reason: running, as a look is still to come; too_noisy; max_blocks); ratio with low and high, the interval of direction at the look that settled it (or the last one) after so many blocks; kept: runs that were not set aside; half_width of that interval on the scale of ln ratios; beyond_margin: it is wholly outside of the margin; blocks_needed: what a decision would take, at most 200, NULL when there is one';

CREATE FUNCTION fsbench.verdict_best(targets float8[], margin float8 DEFAULT 0.05, max_blocks integer DEFAULT 12)
    RETURNS TABLE (target integer, shown text, against integer, worse_by float8, low float8, high float8, blocks integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 3 AS 'MODULE_PATHNAME', 'fsbench_verdict_best_wrapper';
COMMENT ON FUNCTION fsbench.verdict_best IS 'Which target is best, and which are as good? targets has a row a target and a column a block (two-dimensional), NULL where a run is missing; more is better (where less is, give 1 / metric). Looks as in fsbench.verdict(). shown: best, or leading while another is open; equivalent to the best (certainly within the margin); out (certainly worse, and by more than the margin as measured); open. All that is not out is the answer. against: the row that it is compared with; worse_by with low and high: the share by which it is worse than that one, at the look after so many blocks';

CREATE FUNCTION fsbench.set_aside(d float8[]) RETURNS TABLE (kept integer, mean float8, sd float8)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_set_aside_wrapper';
COMMENT ON FUNCTION fsbench.set_aside IS 'What is kept of ln ratios when those far from the core of the others are set aside (from six on): how many, their mean, and their standard deviation (n - 1); NULL values are left out';

CREATE FUNCTION fsbench.change_points(x float8[]) RETURNS TABLE (night integer, before float8, after float8, size float8, seen_after integer)
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 1 AS 'MODULE_PATHNAME', 'fsbench_change_points_wrapper';
COMMENT ON FUNCTION fsbench.change_points IS 'The changes of level in a history of nightly runs, given ln metric of each night (NULL where a run is missing, which is not counted): the first night of the new level, counted from 1; median before it and after it when it was seen; size, their difference; after how many nights of the new level it was seen. It takes 8 nights before it and 3 of the new level, and 2.5 %';

CREATE FUNCTION fsbench.rate_estimate(rates float8[], scheduled float8[], misses float8[], quantile float8) RETURNS float8
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_rate_estimate_wrapper';
COMMENT ON FUNCTION fsbench.rate_estimate IS 'The rate at which a share quantile of the transactions would be misses, given rate, scheduled transactions and misses of each cycle: shares are made to rise with the rate, and interpolated; NULL without cycles';

CREATE FUNCTION fsbench.student_t(upper_p float8, degrees_of_freedom float8) RETURNS float8
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_student_t_wrapper';
COMMENT ON FUNCTION fsbench.student_t IS 'What a Student t variable exceeds with probability upper_p: t.isf(upper_p, degrees_of_freedom) in scipy, qt(upper_p, degrees_of_freedom, lower.tail = FALSE) in R; degrees of freedom need not be whole';

-- Evidence of a run about its storage, for the people that run that storage: they know neither this extension nor its tables.

CREATE FUNCTION fsbench._seconds_in_words(run_id bigint, from_second integer, to_second integer) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- A second of a stall may be longer than one: figures are added up, and divided by the time that it was.
    -- Figures that were not counted are left out.
    SELECT concat_ws('; ', format('%s s', round(w.seconds::numeric)), round(w.transactions / w.seconds) || ' tps',
        round(w.reads / w.seconds) || ' reads/s', round((w.read_bytes / w.seconds / 1e6)::numeric, 1) || ' MB/s read',
        round(w.writes / w.seconds) || ' writes/s', round((w.write_bytes / w.seconds / 1e6)::numeric, 1) || ' MB/s written',
        round(w.flushes / w.seconds) || ' flushes/s',
        -- Each second counts as often as it had requests.
        CASE WHEN w.writes > 0 THEN round((w.write_ms / w.writes)::numeric, 2) || ' ms a write' END,
        CASE WHEN w.flushes > 0 THEN round((w.flush_ms / w.flushes)::numeric, 2) || ' ms a flush' END,
        round((w.queue / w.seconds)::numeric, 1) || ' requests under way', round((w.busy / w.seconds)::numeric) || ' % busy',
        CASE WHEN w.wal_flushes > 0 THEN format('device of WAL: %s writes/s, %s flushes/s, %s ms a flush', round(w.wal_writes / w.seconds), round(w.wal_flushes / w.seconds),
            round((w.wal_flush_ms / w.wal_flushes)::numeric, 2)) END)
    FROM (SELECT sum(s.interval_ms::float8) / 1000 AS seconds, sum(s.transactions::float8) AS transactions, sum(s.device_reads::float8) AS reads, sum(s.device_read_bytes::float8) AS read_bytes,
                 sum(s.device_writes::float8) AS writes, sum(s.device_write_bytes::float8) AS write_bytes, sum(s.device_flushes::float8) AS flushes,
                 sum(s.device_w_await_ms::float8 * s.device_writes) AS write_ms, sum(s.device_f_await_ms::float8 * s.device_flushes) AS flush_ms,
                 sum(s.device_aqu_sz::float8 * s.interval_ms) / 1000 AS queue, sum(s.device_util_percent::float8 * s.interval_ms) / 1000 AS busy,
                 sum(s.wal_device_writes::float8) AS wal_writes, sum(s.wal_device_flushes::float8) AS wal_flushes, sum(s.wal_device_f_await_ms::float8 * s.wal_device_flushes) AS wal_flush_ms
          FROM fsbench.sample s WHERE s.run_id = $1 AND s.second BETWEEN $2 AND $3 AND s.interval_ms >= 500) w
    WHERE w.seconds > 0
    $$;
COMMENT ON FUNCTION fsbench._seconds_in_words IS 'What the device did in some seconds of a run, in words. Private';

CREATE FUNCTION fsbench._limits_in_words(limits jsonb) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_limits_in_words_wrapper';
COMMENT ON FUNCTION fsbench._limits_in_words IS 'Limits of a cgroup, as fsbench.environment has them, in words; NULL: none, or not known. Private';

CREATE FUNCTION fsbench.evidence(run_id bigint) RETURNS TABLE (part text, at_utc text, says text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 30 AS $$
DECLARE
    run fsbench.run_log;
    e fsbench.environment;
    device text;
    stall record;
    piece record;
    utc text := 'YYYY-MM-DD HH24:MI:SS "UTC"';
BEGIN
    PERFORM fsbench._check_runs(ARRAY[$1]);
    SELECT * INTO run FROM fsbench.run_log r WHERE r.run_id = $1;
    SELECT * INTO e FROM fsbench.environment v WHERE v.run_id = $1;
    IF run.measured_from IS NULL OR NOT EXISTS (SELECT FROM fsbench.sample s WHERE s.run_id = $1) THEN
        RAISE EXCEPTION 'run % has no seconds that could be shown', $1 USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its status is %s.', run.status), HINT = 'Take a run of fsbench.result that is done, and was made with samples.';
    END IF;
    RETURN QUERY SELECT 'window', to_char(run.measured_from AT TIME ZONE 'UTC', utc),
        concat_ws('; ', format('%s s', round(run.measured_ms / 1000)), format('%s tps', round(run.tps)), format('%s stalled seconds', run.stall_seconds));
    device := concat_ws('; ', e.device, e.device_model, 'WWN ' || (e.storage #>> '{result,wwn}'), 'serial number ' || (e.storage #>> '{result,serial}'),
        'partition ' || (e.storage #>> '{result,partition_uuid}'), 'mounted on ' || e.mount_point, 'write cache ' || e.write_cache);
    IF device <> '' THEN
        RETURN QUERY SELECT 'device', NULL::text, device;
    END IF;
    RETURN QUERY
    SELECT CASE WHEN l.is_wal THEN 'path of WAL' ELSE 'path' END, NULL::text,
        concat_ws('; ', l.layer ->> 'kind', l.layer ->> 'name', 'number ' || (l.layer ->> 'device'), pg_size_pretty((l.layer ->> 'bytes')::bigint), l.layer ->> 'model', l.layer ->> 'level',
            'WWN ' || (l.layer ->> 'wwn'), 'serial number ' || (l.layer ->> 'serial'), 'scheduler ' || (l.layer #>> '{queue,scheduler}'), 'nr_requests ' || (l.layer #>> '{queue,nr_requests}'), 'queue depth ' || (l.layer #>> '{queue,queue_depth}'),
            'write cache ' || (l.layer #>> '{queue,write_cache}'))
    FROM (SELECT false AS is_wal, x.* FROM jsonb_array_elements(e.layers) WITH ORDINALITY x (layer, n)
          UNION ALL SELECT true, x.* FROM jsonb_array_elements(CASE WHEN e.wal_layers IS DISTINCT FROM e.layers THEN e.wal_layers END) WITH ORDINALITY x (layer, n)) l
    ORDER BY l.is_wal, l.n;
    -- Percentiles are of the means of seconds: the kernel counts, and does not keep single requests.
    RETURN QUERY
    SELECT f.part, NULL::text, format('%s in all; mean of a second: median %s ms, p90 %s ms, p99 %s ms, longest %s ms, over %s seconds', sum(f.flushes),
        round((percentile_cont(0.5) WITHIN GROUP (ORDER BY f.ms))::numeric, 3), round((percentile_cont(0.9) WITHIN GROUP (ORDER BY f.ms))::numeric, 3),
        round((percentile_cont(0.99) WITHIN GROUP (ORDER BY f.ms))::numeric, 3), round(max(f.ms)::numeric, 3), count(f.ms))
    FROM (SELECT 'flushes' AS part, s.device_flushes AS flushes, s.device_f_await_ms AS ms FROM fsbench.sample s WHERE s.run_id = $1
          UNION ALL SELECT 'flushes of WAL', s.wal_device_flushes, s.wal_device_f_await_ms FROM fsbench.sample s WHERE s.run_id = $1) f
    GROUP BY f.part HAVING count(f.ms) > 0 ORDER BY f.part;
    RETURN QUERY
    SELECT 'commits', NULL::text, concat_ws(', ', format('median %s ms', round(run.commit_p50_ms::numeric, 3)), format('p99 %s ms', round(run.commit_p99_ms::numeric, 3)),
        'longest ' || round(run.commit_max_ms::numeric, 3) || ' ms')
    WHERE run.commit_p99_ms IS NOT NULL;
    -- By codes: the probe of the run, and WAL against the device's counters.
    RETURN QUERY
    SELECT 'fsync', NULL::text, concat_ws('; ',
        CASE WHEN c.too_fast THEN 'too fast to be true' WHEN c.unknown OR c.too_fast IS NULL OR p.before_us IS NULL THEN 'cannot be known' ELSE 'plausible' END,
        'durability: ' || e.durability,
        'flush before the clients ' || round(p.before_us, 1) || ' us (median)', 'flush after the clients ' || round(p.after_us, 1) || ' us (median)',
        'syncs of WAL by clients ' || run.client_wal_syncs, 'flushes of the devices ' || run.device_flushes,
        'bytes of WAL ' || run.wal_bytes, 'bytes written to the devices ' || run.device_write_bytes)
    FROM (SELECT bool_or(x.code IN ('flush_too_fast', 'sync_too_fast', 'sync_below_probe', 'no_flushes', 'no_writes')) AS too_fast,
                 -- Promises that the server's settings change are not the device's.
                 bool_or(x.code NOT IN ('fsync_off', 'synchronous_commit_off', 'full_page_writes_off', 'unlogged_tables', 'where_a_test_syncs')) AS unknown
          FROM (SELECT coalesce(d.code ->> 'code', '') AS code FROM jsonb_array_elements(e.durability_codes) d (code)
                UNION ALL SELECT 'where_a_test_syncs' WHERE e.durability_codes IS NOT NULL) x) c,
         (SELECT (run.facts #>> '{flush,before_us}')::numeric AS before_us, (run.facts #>> '{flush,after_us}')::numeric AS after_us) p;
    RETURN QUERY
    SELECT 'sync test', NULL::text, format('%s, %s writers: median %s ms, p99 %s ms, longest %s ms', f.method, f.writers, round(f.latency_p50_ms::numeric, 3), round(f.latency_p99_ms::numeric, 3),
        round(f.latency_max_ms::numeric, 3)) FROM fsbench.fsync f WHERE f.run_id = $1 AND f.method <> 'none' ORDER BY f.position;
    RETURN QUERY SELECT 'whole window', NULL::text, w FROM fsbench._seconds_in_words($1, 0, 2147483647) w;
    FOR stall IN
        SELECT min(s.second) AS first, max(s.second) AS last, row_number() OVER (ORDER BY min(s.second)) AS number
        FROM (SELECT c.second, c.second - row_number() OVER (ORDER BY c.second) AS island FROM fsbench.chart_second c WHERE c.run_id = $1 AND c.stalled) s
        GROUP BY s.island ORDER BY 1
    LOOP
        FOR piece IN SELECT * FROM (VALUES ('before', greatest(stall.first - 5, 0), stall.first - 1), ('during', stall.first, stall.last), ('after', stall.last + 1, stall.last + 5)) p (name, first, last) LOOP
            RETURN QUERY SELECT format('stall %s, %s', stall.number, piece.name), to_char((run.measured_from + make_interval(secs => piece.first)) AT TIME ZONE 'UTC', utc), w
            FROM fsbench._seconds_in_words($1, piece.first, piece.last) w WHERE w IS NOT NULL;
        END LOOP;
    END LOOP;
    RETURN QUERY
    SELECT 'configuration', NULL::text, c.says
    FROM (VALUES (1, concat_ws('; ', e.filesystem, e.mount_options, 'block size ' || e.block_size_bytes)), (2, e.mkfs_command), (3, e.kernel),
        (4, concat_ws('; ', 'scheduler ' || e.io_scheduler, 'nr_requests ' || e.nr_requests, 'queue depth ' || e.queue_depth, 'read-ahead ' || e.read_ahead_kb || ' kB')),
        (5, (SELECT string_agg(format('%s = %s', v.key, v.value), '; ' ORDER BY v.key) FROM jsonb_each_text(e.vm) v WHERE v.key ~ 'dirty')),
        (6, e.server_version),
        (7, concat_ws('; ', 'container ' || nullif(e.container, 'none'), 'limits of the server''s cgroup: ' || fsbench._limits_in_words(e.limits)))) c (n, says) WHERE c.says <> '' ORDER BY c.n;
END
$$;
COMMENT ON FUNCTION fsbench.evidence IS 'What a run shows of its storage, for a ticket to those who run that storage: the device and the path to it, what flushes and commits took, each stall in UTC with what the device did before, during and after it, and the configuration; nothing else';

-- Charts for psql: one column of text. What is drawn is read with the caller's rights.

CREATE FUNCTION fsbench._draw(what jsonb, width integer, height integer, ascii boolean) RETURNS SETOF text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 16 AS 'MODULE_PATHNAME', 'fsbench_chart_wrapper';
COMMENT ON FUNCTION fsbench._draw IS 'Draws a chart that chart() or chart_experiment() has put together. Private';

CREATE FUNCTION fsbench._is_ascii_wanted(ascii boolean) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT coalesce(ascii, pg_client_encoding() <> 'UTF8' OR current_setting('server_encoding') <> 'UTF8') $$;
COMMENT ON FUNCTION fsbench._is_ascii_wanted IS 'Whether a chart has to do without blocks: as asked, else where the client or the database cannot show them. Private';

CREATE FUNCTION fsbench.chart(run_id bigint, metric text DEFAULT 'tps', width integer DEFAULT 80, height integer DEFAULT 8, ascii boolean DEFAULT NULL)
    RETURNS SETOF text LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 16 AS $$
DECLARE
    run fsbench.run_log;
    shown jsonb;
    checkpoints bigint;
BEGIN
    IF $1 IS NULL OR $2 IS NULL OR $3 IS NULL OR $4 IS NULL THEN
        RAISE EXCEPTION 'run_id, metric, width and height must not be null' USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'Only ascii may be: then blocks are drawn where client and database have them.', HINT = 'Call it as in SELECT fsbench.chart(7).';
    END IF;
    SELECT * INTO run FROM fsbench.run_log r WHERE r.run_id = $1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run % does not exist', $1 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'There is no row with this run_id in fsbench.run_log of this database.', HINT = 'See fsbench.result.';
    ELSIF $2 <> 'tps' AND NOT EXISTS (
        SELECT FROM pg_attribute a
        WHERE a.attrelid = 'fsbench.sample'::regclass AND a.attname = $2 AND a.attnum > 0 AND a.attname NOT IN ('run_id', 'second')
          AND a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'real'::regtype, 'double precision'::regtype, 'numeric'::regtype))
    THEN
        RAISE EXCEPTION 'a second has no figure "%"', $2 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'Known are tps and the columns of fsbench.sample that are numbers.', HINT = 'See \d fsbench.sample.';
    END IF;
    -- A second that is not there belongs to the one before.
    WITH sample AS (
        SELECT s.second, CASE WHEN $2 = 'tps' THEN s.transactions * 1000.0 / nullif(s.interval_ms, 0) ELSE (to_jsonb(s) ->> $2)::float8 END AS value,
               s.transactions * 1000.0 / nullif(s.interval_ms, 0) AS tps,
               lead(s.second, 1, s.second + 1) OVER (ORDER BY s.second) - s.second AS seconds
        FROM fsbench.sample s WHERE s.run_id = $1
    ), filled AS (
        SELECT n AS second, s.value, s.tps FROM sample s, generate_series(s.second, s.second + s.seconds - 1) n
    )
    SELECT jsonb_build_object('values', jsonb_agg(f.value ORDER BY n), 'tps', jsonb_agg(f.tps ORDER BY n)) INTO shown
    FROM (SELECT generate_series(0, max(second)) AS n FROM filled) every LEFT JOIN filled f ON f.second = every.n;
    IF NOT jsonb_path_exists(shown, '$.values[*] ? (@ != null)') THEN
        RAISE EXCEPTION 'run % has no second with a % that could be drawn', $1, $2 USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = format('Its workload is %s, its status %s.', run.workload, run.status),
                  HINT = CASE WHEN run.workload = 'scan' THEN 'Call fsbench.scan_curve() for its curve, or take a figure of its device: device_read_bytes.'
                              ELSE 'See fsbench.sample for the figures of its seconds.' END;
    END IF;
    SELECT count(*), shown || jsonb_build_object('checkpoints',
           coalesce(jsonb_agg(jsonb_build_array(c.start_second, coalesce(c.end_second, 1000000000) + 1) ORDER BY c.number), '[]'))
    INTO checkpoints, shown FROM fsbench.checkpoint c WHERE c.run_id = $1;
    RETURN QUERY SELECT * FROM fsbench._draw(jsonb_build_object('seconds', shown || jsonb_build_object('title',
        format('run %s, %s, %s: %s checkpoint%s; %s', $1, fsbench._shown_target(run.target, run.target_version), run.workload, checkpoints, CASE WHEN checkpoints = 1 THEN '' ELSE 's' END, $2))),
        $3, $4, fsbench._is_ascii_wanted($5));
END
$$;
COMMENT ON FUNCTION fsbench.chart IS 'A run by second, drawn with characters: tps, or any column of fsbench.sample that is a number, over the measured window, with its checkpoints and stalls below. Where a column stands for several seconds it shows the lowest, the median and the highest of them. width: characters in a line, 40 to 500; height: rows of the plot, 2 to 100; ascii: without blocks, by itself where client or database do not have them';

CREATE FUNCTION fsbench.chart_experiment(experiment text, width integer DEFAULT 80, ascii boolean DEFAULT NULL) RETURNS SETOF text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 10 AS $$
DECLARE
    e record;
    rows jsonb;
    blocks integer;
    unlike boolean;
BEGIN
    IF $1 IS NULL OR $2 IS NULL THEN
        RAISE EXCEPTION 'experiment and width must not be null' USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'Only ascii may be: then blocks are drawn where client and database have them.',
                  HINT = 'Call it as in SELECT fsbench.chart_experiment(''new server'').';
    END IF;
    -- The best one is what the others are compared with.
    SELECT jsonb_agg(jsonb_build_object('label', c.target, 'ratio', CASE WHEN c.verdict IN ('best', 'leading') THEN coalesce(c.ratio, 1) ELSE c.ratio END,
               'low', c.low, 'high', c.high, 'remark', c.verdict || CASE WHEN NOT c.same_durability THEN ' *' ELSE '' END)),
           max(c.blocks), bool_or(NOT c.same_durability)
    INTO rows, blocks, unlike FROM fsbench.compare($1) c;
    SELECT x.status, x.metric, x.margin, CASE WHEN x.goal = 'best' THEN 'what each is compared with' ELSE t.target END AS reference INTO e
    FROM fsbench.experiment x LEFT JOIN fsbench.experiment_target t ON t.experiment_id = x.experiment_id AND t.target_number = x.baseline_number
    WHERE x.experiment = $1;
    IF blocks IS NULL THEN
        RAISE EXCEPTION 'experiment "%" has no look that could be drawn', $1 USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('Its status is %s, and no block counts yet.', e.status),
                  HINT = 'The first look is after 3 blocks; see fsbench.experiments for how far it is.';
    END IF;
    RETURN QUERY SELECT * FROM fsbench._draw(jsonb_build_object('intervals', jsonb_build_object(
        'title', format('experiment %s, %s after %s blocks: %s, ratio to %s%s', $1, e.status, blocks, e.metric, e.reference,
            CASE WHEN unlike THEN '; * not as durable' ELSE '' END),
        'rows', rows, 'margin', e.margin, 'reference', e.reference)), $2, 8, fsbench._is_ascii_wanted($3));
END
$$;
COMMENT ON FUNCTION fsbench.chart_experiment IS 'What an experiment says of its targets at its last look (fsbench.compare), drawn with characters: each ratio as a dot with its interval, against the margin within which a difference does not count. width and ascii as in fsbench.chart()';

-- The verbs. A test runs each example with its own names in place of those in quotes, and its own run in place of 7.
CREATE FUNCTION fsbench.help(which text DEFAULT NULL) RETURNS TABLE (verb text, what text, example text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT v.verb, v.what, v.example
    FROM (VALUES
        (1, 'doctor', 'what this machine lacks', 'SELECT * FROM fsbench.doctor()'),
        (2, 'run', 'makes a run, and waits for it', 'SELECT * FROM fsbench.run(target => ''xfs'')'),
        (3, 'plan_experiment', 'plans an experiment', 'SELECT * FROM fsbench.plan_experiment(''new'', ''{ext4,xfs}'')'),
        (4, 'experiment', 'finds the best target', 'SELECT fsbench.experiment(''new'', ''{ext4,xfs}'')'),
        (5, 'wait_experiment', 'waits for an experiment', 'CALL fsbench.wait_experiment(''new'')'),
        (6, 'compare', 'verdict of each target', 'SELECT * FROM fsbench.compare(''new'')'),
        (7, 'recommend', 'advice after an experiment', 'SELECT * FROM fsbench.recommend(''new'')'),
        (8, 'report', 'a page to send', 'SELECT fsbench.report(''new'')'),
        (9, 'create_target', 'records a directory as a target', 'SELECT fsbench.create_target(''a'', directory => ''/mnt/a'')'),
        (10, 'compare_runs', 'two runs side by side', 'SELECT * FROM fsbench.compare_runs(7, 8)'),
        (11, 'findings', 'findings of several runs', 'SELECT * FROM fsbench.findings(''{7,8}'')'),
        (12, 'diff', 'what differs between two runs', 'SELECT * FROM fsbench.diff(7, 8)'),
        (13, 'chart', 'a run by second, as a chart', 'SELECT fsbench.chart(7)'),
        (14, 'history', 'nights of a label, and changes', 'SELECT * FROM fsbench.history(''nightly'')'),
        (15, 'help', 'all verbs, or those with a word', 'SELECT * FROM fsbench.help(''all'')'),
        (16, 'sustainable_rate', 'how fast it can go at 20 ms', 'SELECT * FROM fsbench.sustainable_rate(''xfs'', 20)'),
        (17, 'start', 'starts a run or queues it', 'SELECT fsbench.start(scale => 10, clients => 8)'),
        (18, 'wait', 'waits for a run, and shows it', 'SELECT * FROM fsbench.wait(7)'),
        (19, 'wait', 'waits for runs, in a procedure', 'CALL fsbench.wait(7)'),
        (20, 'cancel', 'cancels a run', 'SELECT fsbench.cancel(7)'),
        (21, 'judge', 'findings of a stored run, anew', 'SELECT * FROM fsbench.judge(7)'),
        (22, 'percentile', 'any percentile of its latency', 'SELECT fsbench.percentile(0.999, 7)'),
        (23, 'bucket_low_ms', 'where a histogram bucket begins', 'SELECT fsbench.bucket_low_ms(700)'),
        (24, 'bucket_high_ms', 'where a histogram bucket ends', 'SELECT fsbench.bucket_high_ms(700)'),
        (25, 'wait_profile', 'what a run''s clients waited for', 'SELECT * FROM fsbench.wait_profile(7)'),
        (26, 'scan_curve', 'speed of scans, by degree', 'SELECT * FROM fsbench.scan_curve(7)'),
        (27, 'scan_knee', 'where more workers do not help', 'SELECT * FROM fsbench.scan_knee(7)'),
        (28, 'knee', 'the knee of any curve', 'SELECT * FROM fsbench.knee(''{1,2,4}'', ''{9,5,5}'')'),
        (29, 'chart_experiment', 'verdicts, as a chart', 'SELECT fsbench.chart_experiment(''new'')'),
        (30, 'evidence', 'a run, for the storage team', 'SELECT * FROM fsbench.evidence(7)'),
        (31, 'check_history', 'an error when it got worse', 'SELECT * FROM fsbench.check_history(''nightly'')'),
        (32, 'acknowledge', 'accepts a change for the worse', 'SELECT fsbench.acknowledge(7, ''new disk'')'),
        (33, 'thin', 'forgets seconds of old runs', 'SELECT * FROM fsbench.thin(''90 days'', only_say => true)'),
        (34, 'chart_svg', 'verdicts, as an SVG', 'SELECT fsbench.chart_svg(''new'')'),
        (35, 'export', 'an experiment as JSON lines', 'SELECT fsbench.export(''new'')'),
        (36, 'import', 'reads an exported file', 'SELECT * FROM fsbench.import(:''file'', ''db1'')'),
        (37, 'drop_imported', 'forgets imports of a host', 'SELECT fsbench.drop_imported(''db1'')'),
        (38, 'pause_experiment', 'pauses an experiment', 'SELECT fsbench.pause_experiment(''new'')'),
        (39, 'resume_experiment', 'continues an experiment', 'SELECT fsbench.resume_experiment(''new'')'),
        (40, 'cancel_experiment', 'ends an experiment', 'SELECT fsbench.cancel_experiment(''new'')'),
        (41, 'extend_experiment', 'adds blocks to an experiment', 'SELECT fsbench.extend_experiment(''new'', 16)'),
        (42, 'confirm_experiment', 'repeats an experiment', 'SELECT fsbench.confirm_experiment(''new'')'),
        (43, 'drop_experiment', 'drops an experiment, keeps runs', 'SELECT fsbench.drop_experiment(''new'')'),
        (44, 'study_plan', 'plans a study', 'SELECT * FROM fsbench.study_plan(''heron-2010'', ''4GB'')'),
        (45, 'study', 'repeats a published benchmark', 'SELECT fsbench.study(''heron-2010'', ''4GB'')'),
        (46, 'study_claims', 'which of its claims hold here', 'SELECT * FROM fsbench.study_claims(''heron-2010'')'),
        (47, 'study_report', 'published and own figures', 'SELECT * FROM fsbench.study_report(''heron-2010'')'),
        (48, 'define_study', 'records a study of your own', 'SELECT fsbench.define_study(''{"study": "own"}'')'),
        (49, 'drop_study', 'forgets a study', 'SELECT fsbench.drop_study(''heron-2010'')'),
        (50, 'verdict', 'is the difference real?', 'SELECT * FROM fsbench.verdict(''{9,8,9}'', ''{{7,7,8}}'')'),
        (51, 'verdict_best', 'which target is the best?', 'SELECT * FROM fsbench.verdict_best(''{{9,8,9},{7,7,8}}'')'),
        (52, 'set_aside', 'mean without outliers', 'SELECT * FROM fsbench.set_aside(''{1,1,2,1,2,9}'')'),
        (53, 'change_points', 'when the level has changed', 'SELECT * FROM fsbench.change_points(''{4,4,4,5,5,5}'')'),
        (54, 'rate_estimate', 'rate at which a share is late', 'SELECT fsbench.rate_estimate(''{1,2}'', ''{9,9}'', ''{0,2}'', .1)'),
        (55, 'student_t', 'a quantile of Student''s t', 'SELECT fsbench.student_t(0.005, 3)'),
        (56, 'create_target', 'records a filesystem to be made', 'SELECT fsbench.create_target(''xfs'',''xfs'',image_size=>''2GB'')'),
        (57, 'alter_target', 'changes a target', 'SELECT fsbench.alter_target(''xfs'', drop_caches => false)'),
        (58, 'drop_target', 'forgets a target, keeps results', 'SELECT fsbench.drop_target(''xfs'')'),
        (59, 'plan', 'every step of a run, beforehand', 'SELECT * FROM fsbench.plan(''xfs'')'),
        (60, 'prepare_target', 'makes and mounts a filesystem', 'SELECT * FROM fsbench.prepare_target(''xfs'')'),
        (61, 'release_target', 'removes a made filesystem', 'SELECT fsbench.release_target(''xfs'')'),
        (62, 'describe_devices', 'lists devices, newly looked at', 'SELECT * FROM fsbench.describe_devices()'),
        (63, 'drop_prepared_data', 'removes the data that runs copy', 'SELECT fsbench.drop_prepared_data()'),
        (64, 'grant_operator', 'lets a role make runs', 'SELECT fsbench.grant_operator(''bob'')'),
        (65, 'revoke_operator', 'takes these rights back', 'SELECT fsbench.revoke_operator(''bob'')'),
        (66, 'version', 'version of the library', 'SELECT fsbench.version()'),
        (68, 'prepare_data', 'copies this server, for runs', 'SELECT fsbench.prepare_data(''shop'', from_server => true)'),
        (69, 'drop_data', 'removes that copy', 'SELECT fsbench.drop_data(''shop'')'),
        (70, 'script_from_statements', 'a script of recorded statements', 'SELECT fsbench.script_from_statements()'),
        (67, 'power_cut', 'do commits survive power cuts?', 'SELECT * FROM fsbench.power_cut(''xfs'', 20)'),
        (71, 'power_cut_watch', 'witnesses another server', 'CALL fsbench.power_cut_watch(''db2'', ''10 s'')'),
        (72, 'power_cut_verify', 'what it lost in a power cut', 'SELECT * FROM fsbench.power_cut_verify(''db2'')')
    ) v (place, verb, what, example)
    WHERE CASE WHEN $1 IS NULL THEN v.place <= 15 ELSE lower($1) = 'all' OR strpos(v.verb, lower($1)) > 0 END
    ORDER BY v.place
    $$;
COMMENT ON FUNCTION fsbench.help IS 'The functions to begin with, each with an example; help(''all'') lists all, help(''target'') those with that word in their name';

-- Functions for experiments.

CREATE FUNCTION fsbench.experiment(experiment text, targets text[] DEFAULT NULL, goal text DEFAULT NULL, baseline text DEFAULT NULL, metric text DEFAULT NULL,
    margin float8 DEFAULT 0.05, max_blocks integer DEFAULT NULL, max_duration interval DEFAULT NULL, filesystems text[] DEFAULT NULL, device text DEFAULT NULL,
    image_size text DEFAULT NULL, factors jsonb DEFAULT NULL, grid boolean DEFAULT false, control boolean DEFAULT false, cycle interval DEFAULT NULL,
    start boolean DEFAULT true, workload text DEFAULT NULL, scale integer DEFAULT NULL, size text DEFAULT NULL, clients integer DEFAULT NULL,
    duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL, rate fsbench.rate DEFAULT NULL,
    latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL, force boolean DEFAULT false,
    budget interval DEFAULT NULL, neighbours text DEFAULT 'unexpected', scripts text DEFAULT NULL, variables jsonb DEFAULT NULL, init_script text DEFAULT NULL,
    checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL, continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL,
    database text DEFAULT NULL) RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 AS 'MODULE_PATHNAME', 'fsbench_experiment_wrapper';
COMMENT ON FUNCTION fsbench.experiment IS 'Records an experiment and starts it: targets take turns in blocks until it is settled which is best, or (with a baseline) whether each is more, less or the same. Returns its number (experiment_id) at once, as fsbench.start() returns that of a run; all functions take its name. See fsbench.experiments, and fsbench.compare(). filesystems with device or image_size makes its own targets; factors varies parameters; duration and what follows are the parameters of fsbench.run(), without a duration a checkpoint cycle of warm-up and three cycles measured. max_blocks: 12 unless it is given. budget, such as 20 min, chooses checkpoint cycle, windows and blocks so that it is over within that time. neighbours: expected where other programs use the machine all the time, so that no run is made again for them. rate: a number, or a share of what the slowest target does without one, such as 70%';

CREATE FUNCTION fsbench.plan_experiment(experiment text, targets text[] DEFAULT NULL, goal text DEFAULT NULL, baseline text DEFAULT NULL,
    metric text DEFAULT NULL, margin float8 DEFAULT 0.05, max_blocks integer DEFAULT NULL, max_duration interval DEFAULT NULL, filesystems text[] DEFAULT NULL,
    device text DEFAULT NULL, image_size text DEFAULT NULL, factors jsonb DEFAULT NULL, grid boolean DEFAULT false, control boolean DEFAULT false,
    cycle interval DEFAULT NULL, start boolean DEFAULT true, workload text DEFAULT NULL, scale integer DEFAULT NULL, size text DEFAULT NULL,
    clients integer DEFAULT NULL, duration interval DEFAULT NULL, transactions bigint DEFAULT NULL, warmup interval DEFAULT NULL,
    rate fsbench.rate DEFAULT NULL, latency_limit_ms float8 DEFAULT NULL, seed bigint DEFAULT NULL, settings jsonb DEFAULT NULL, options jsonb DEFAULT NULL,
    force boolean DEFAULT false, budget interval DEFAULT NULL, neighbours text DEFAULT 'unexpected', scripts text DEFAULT NULL, variables jsonb DEFAULT NULL,
    init_script text DEFAULT NULL, checks jsonb DEFAULT NULL, protocol text DEFAULT NULL, max_tries integer DEFAULT NULL,
    continue_on_error boolean DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL) RETURNS TABLE (part text, item text, says text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 30 AS 'MODULE_PATHNAME', 'fsbench_plan_experiment_wrapper';
COMMENT ON FUNCTION fsbench.plan_experiment IS 'Shows what fsbench.experiment() would do with these arguments, and changes nothing: runs, hours, room and transaction ids, the order of the targets, and how many blocks half an hour, a night and a weekend reach, with the smallest difference that they would find';

CREATE FUNCTION fsbench._change_experiment(experiment text, verb text, max_blocks integer DEFAULT NULL) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_change_experiment_wrapper';
COMMENT ON FUNCTION fsbench._change_experiment IS 'Pauses, resumes, starts, cancels, extends, repeats or drops an experiment. Private';

CREATE FUNCTION fsbench.pause_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'pause');
COMMENT ON FUNCTION fsbench.pause_experiment IS 'Makes no further run of an experiment; the one that is on comes to its end, and counts. Returns the status';

CREATE FUNCTION fsbench.resume_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'resume');
COMMENT ON FUNCTION fsbench.resume_experiment IS 'Goes on with an experiment that is paused, or was only recorded. Returns the status';

CREATE FUNCTION fsbench.cancel_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'cancel');
COMMENT ON FUNCTION fsbench.cancel_experiment IS 'Ends an experiment with what is known by its complete blocks, and cancels the run that is on. Returns the status';

CREATE FUNCTION fsbench.extend_experiment(experiment text, max_blocks integer) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'extend', max_blocks);
COMMENT ON FUNCTION fsbench.extend_experiment IS 'Has an experiment make up to 16 or 24 blocks, or those of the looks that its early end has left out; max_duration counts anew from then on. Returns the status';

CREATE FUNCTION fsbench.confirm_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'confirm');
COMMENT ON FUNCTION fsbench.confirm_experiment IS 'Starts the same experiment again, which confirms what was decided when it says the same on another boot or day. Returns the name of the new one';

CREATE FUNCTION fsbench.drop_experiment(experiment text) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_experiment(experiment, 'drop');
COMMENT ON FUNCTION fsbench.drop_experiment IS 'Removes an experiment that is not on; its runs and their results stay. Returns its name';

CREATE FUNCTION fsbench._experiment_ended(experiment text, timeout_ms integer) RETURNS boolean
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_experiment_ended_wrapper';
COMMENT ON FUNCTION fsbench._experiment_ended IS 'Waits up to this time (ms) for the end of an experiment, and returns whether it is over; an error for an unknown name, or a paused experiment. Private';

-- It commits, so that it cannot have a search_path of its own: each function and operator has its schema.
CREATE PROCEDURE fsbench.wait_experiment(experiment text) LANGUAGE plpgsql AS $$
DECLARE
    answer text;
    page text;
BEGIN
    WHILE NOT fsbench._experiment_ended(experiment, 1000) LOOP
        COMMIT;  -- gives the snapshot back
    END LOOP;
    SELECT COALESCE(e.answer, e.status_reason, 'no look was taken'),
           -- It is pasted: a row of a dump could hold any name.
           CASE WHEN e.experiment OPERATOR(pg_catalog.!~) '[[:cntrl:]]' THEN pg_catalog.format('Its page, from psql: SELECT fsbench.report(%L) \g (format=unaligned tuples_only=on) report.html', e.experiment) END
        INTO answer, page FROM fsbench.experiments e WHERE e.experiment OPERATOR(pg_catalog.=) $1;
    RAISE NOTICE '%', answer USING HINT = COALESCE(page, 'See fsbench.compare().');
END
$$;
COMMENT ON PROCEDURE fsbench.wait_experiment IS 'Waits until an experiment is over, without holding a snapshot for more than a second. It ends with a NOTICE: the answer in one line, and the statement that makes its page';

CREATE FUNCTION fsbench.compare(experiment text, metric text DEFAULT NULL)
    RETURNS TABLE (target text, ratio float8, low float8, high float8, verdict text, says text, blocks integer, durability text,
        same_durability boolean, further_time interval, warnings text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'fsbench_compare_wrapper';
COMMENT ON FUNCTION fsbench.compare IS 'What an experiment says of each target, at its last look: ratio to what it is compared with (the baseline, or the best), with low and high, the interval of that look; verdict, and in words (says). With goal best, verdict is best, leading (ahead of all others, and not yet decided), equivalent to the best, out (certainly not the best) or open (not decided); with a baseline more, less, equivalent or inconclusive. Only the metric that was declared decides. further_time: what a decision would still take, NULL when there is one. warnings: findings of its runs';

-- One experiment whose rows cannot be read hides no other one in a view.
CREATE FUNCTION fsbench._compared(experiment text)
    RETURNS TABLE (target text, ratio float8, low float8, high float8, verdict text, says text, blocks integer, durability text,
        same_durability boolean, further_time interval, warnings text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 5 AS $$
BEGIN
    RETURN QUERY SELECT c.* FROM fsbench.compare($1) c;
EXCEPTION WHEN data_corrupted OR data_exception OR internal_error OR program_limit_exceeded THEN
    says := 'cannot be read: ' || SQLERRM;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._compared IS 'fsbench.compare(), or why that cannot be read. Private: views call it';

CREATE FUNCTION fsbench.recommend(experiment text) RETURNS TABLE (part text, says text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_recommend_wrapper';
COMMENT ON FUNCTION fsbench.recommend IS 'What to do after an experiment, from top to bottom: the choice, what is open, the statement that continues it (next), the reasons, the figures, gains, costs and circumstances of each target, what was not tested, findings, and lines to paste';

CREATE FUNCTION fsbench._advice(experiment text) RETURNS TABLE (part text, says text, topic text, setting text, value text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_advice_wrapper';
COMMENT ON FUNCTION fsbench._advice IS 'fsbench.recommend(), with topic, which names in a few words what was not tested, and with the server''s setting that a line is about, and its value. Private: pages read it';

CREATE FUNCTION fsbench.compare_runs(run_a bigint, run_b bigint) RETURNS TABLE (metric text, a float8, b float8, ratio float8, says text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 12 AS $$
DECLARE
    one fsbench.run_log;
    other fsbench.run_log;
    differs text;
    hosts bigint;
BEGIN
    PERFORM fsbench._check_runs(ARRAY[run_a, run_b]);
    IF run_a = run_b THEN
        RAISE EXCEPTION 'run % cannot be compared with itself', run_a USING ERRCODE = 'invalid_parameter_value', DETAIL = 'The two arguments are the same run.',
                  HINT = 'Give two runs; fsbench.result has those of this database.';
    END IF;
    SELECT * INTO one FROM fsbench.run_log r WHERE r.run_id = run_a;
    SELECT * INTO other FROM fsbench.run_log r WHERE r.run_id = run_b;
    SELECT string_agg(n.key, ', ' ORDER BY n.key) INTO differs
    FROM (VALUES ('workload', one.workload IS DISTINCT FROM other.workload), ('scale', one.scale IS DISTINCT FROM other.scale),
                 ('clients', one.clients IS DISTINCT FROM other.clients), ('duration', one.duration IS DISTINCT FROM other.duration),
                 ('transactions', one.transactions IS DISTINCT FROM other.transactions), ('warmup', one.warmup IS DISTINCT FROM other.warmup),
                 ('rate', one.rate IS DISTINCT FROM other.rate)) n (key, is_other) WHERE n.is_other;
    -- Imported runs count as another host's, whatever their file says.
    SELECT count(DISTINCT coalesce('@' || f.host, 'of ' || e.host_fingerprint)) INTO hosts
    FROM unnest(ARRAY[run_a, run_b]) u (run_id) LEFT JOIN fsbench.environment e USING (run_id)
    LEFT JOIN fsbench.imported_run i USING (run_id) LEFT JOIN fsbench.imported_file f USING (import_id);
    IF hosts = 1 AND (SELECT count(*) FROM fsbench.imported_run i WHERE i.run_id IN (run_a, run_b)) = 1 THEN
        hosts := 2;
    END IF;
    RETURN QUERY
    SELECT m.name, m.a, m.b, m.b / nullif(m.a, 0),
           CASE WHEN hosts > 1 THEN 'inconclusive (device confounded)' ELSE 'inconclusive (one run each)' END || CASE WHEN m.a > 0 THEN format(': run %s has %s times the %s of run %s', run_b,
               round((m.b / m.a)::numeric, 2), m.name, run_a) ELSE '' END
           -- At full speed the mean latency is clients / tps. Others are, where their ratio is that of tps turned over.
           || CASE WHEN m.is_latency AND one.rate IS NULL AND other.rate IS NULL AND one.clients = other.clients
                AND m.b * other.tps BETWEEN 0.95 * m.a * one.tps AND 1.05 * m.a * one.tps THEN ', which at full speed mirrors tps' ELSE '' END
    FROM (VALUES (1, 'tps', one.tps, other.tps, false), (2, 'latency_p50_ms', one.latency_p50_ms, other.latency_p50_ms, true),
                 (3, 'latency_p99_ms', one.latency_p99_ms, other.latency_p99_ms, true), (4, 'latency_max_ms', one.latency_max_ms, other.latency_max_ms, true),
                 (5, 'commit_p99_ms', one.commit_p99_ms, other.commit_p99_ms, true), (6, 'stall_seconds', one.stall_seconds, other.stall_seconds, false),
                 (7, 'cpu_ms_per_transaction', one.cpu_ms_per_transaction, other.cpu_ms_per_transaction, false),
                 (8, 'write_amplification', one.write_amplification, other.write_amplification, false),
                 (9, 'device_bytes_per_transaction', one.device_bytes_per_transaction, other.device_bytes_per_transaction, false),
                 (10, 'load_ms', one.load_ms, other.load_ms, false)) AS m (place, name, a, b, is_latency)
    WHERE m.a IS NOT NULL AND m.b IS NOT NULL
    ORDER BY m.place;
    RETURN QUERY SELECT NULL::text, NULL::float8, NULL::float8, NULL::float8,
        'what two loose runs cannot tell: how much such runs differ by themselves, and whether something else changed between them; fsbench.experiment() has targets take turns'
        || CASE WHEN hosts > 1 THEN '; they were made on different hosts, and so on different devices' ELSE '' END || CASE WHEN differs IS NOT NULL THEN '; they differ in ' || differs || ', see fsbench.diff()' ELSE '; see fsbench.diff()' END;
END
$$;
COMMENT ON FUNCTION fsbench.compare_runs IS 'The figures of two runs side by side, with their ratio (of the second one to the first one). Two runs decide nothing: the last row says what they cannot tell';

-- Views for users.

CREATE VIEW fsbench.progress AS
    SELECT p.run_id, p.status, r.target, r.workload, p.phase, CASE WHEN p.total > 0 THEN least(floor(100.0 * p.done / p.total), 100)::integer END AS percent, p.done, p.total,
           ceil(p.seconds_left)::bigint AS seconds_left, floor(p.phase_seconds)::bigint AS phase_seconds,
           round(p.tps::numeric, 1)::float8 AS tps, round(p.tps_last_second::numeric, 1)::float8 AS tps_last_second,
           round(p.latency_p99_ms::numeric, 3)::float8 AS latency_p99_ms, p.coordinator_pid, p.runs_before,
           p.probe, round(p.rate::numeric, 1)::float8 AS rate
    FROM fsbench._progress() p LEFT JOIN fsbench.run_log r USING (run_id)
    ORDER BY p.run_id;
COMMENT ON VIEW fsbench.progress IS 'Runs of this database that are queued or active, and how far they are';
COMMENT ON COLUMN fsbench.progress.status IS 'queued or running';
COMMENT ON COLUMN fsbench.progress.target IS 'Target';
COMMENT ON COLUMN fsbench.progress.workload IS 'Workload';
COMMENT ON COLUMN fsbench.progress.phase IS 'queued, provision, load, vacuum, checkpoint, warmup, measure, verify, maintenance, recovery, collect or cleanup';
COMMENT ON COLUMN fsbench.progress.percent IS 'How much of the phase is done, in percent; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.done IS 'Steps of the phase that are done: rows in load, statements in vacuum, milliseconds or transactions in warmup and measure, cycles of a search for the sustainable rate (of how many it can take at most); of the workload fsync, bytes of its file in provision and tests in measure; steps in maintenance';
COMMENT ON COLUMN fsbench.progress.total IS 'Steps of the phase in all; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.seconds_left IS 'Seconds left in the phase, from its speed so far; NULL where unknown';
COMMENT ON COLUMN fsbench.progress.phase_seconds IS 'Seconds in the phase so far';
COMMENT ON COLUMN fsbench.progress.tps IS 'Transactions per second in the phase so far';
COMMENT ON COLUMN fsbench.progress.tps_last_second IS 'Transactions per second in the last second; NULL before the first is over';
COMMENT ON COLUMN fsbench.progress.latency_p99_ms IS '99th percentile of the latency in the last second (ms)';
COMMENT ON COLUMN fsbench.progress.coordinator_pid IS 'Process that owns the run';
COMMENT ON COLUMN fsbench.progress.probe IS 'Current probe of a search for the sustainable rate';
COMMENT ON COLUMN fsbench.progress.rate IS 'The rate that it tries (transactions per second of all clients)';
COMMENT ON COLUMN fsbench.progress.runs_before IS 'Number of runs before a queued run, including the active one and those of other databases';

CREATE VIEW fsbench.result AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target,
           e.filesystem, e.scope, e.durability, r.workload, r.scale, r.clients, r.status, r.started_at,
           r.tps, r.latency_avg_ms, r.latency_stddev_ms, r.latency_p50_ms, r.latency_p90_ms, r.latency_p95_ms,
           r.latency_p99_ms, r.latency_p999_ms, r.latency_max_ms, r.commit_avg_ms, r.commit_p50_ms, r.commit_p99_ms,
           r.commit_max_ms, r.transactions_total, r.transactions_outside, r.skipped, r.late, r.skipped + r.late AS missed, r.failed, r.stall_seconds,
           r.zero_seconds, r.load_ms, r.measured_ms, r.data_bytes, r.wal_bytes, r.xids_used, r.complete_checkpoints, r.checkpoints_timed, r.checkpoints_requested, r.checkpoints_logged,
           r.track_io_timing, r.track_wal_io_timing, r.clock_read_ns,
           f.findings, f.worst AS worst_finding,
           r.duration, r.transactions, r.warmup, r.rate, r.latency_limit_ms, r.seed, r.label, r.forced, r.used, r.asked,
           r.requested_by, r.requested_at, r.measured_from, r.ended_at, r.phases, r.steps, r.work_database, r.kept,
           r.error_code, r.error, r.error_detail, r.error_hint, r.balances,
           e.pgfsbench_version, e.server_version, e.server_version_num, e.kernel, e.hostname, e.machine,
           e.virtualization, e.processors, e.processor_model, e.memory_bytes, e.shared_buffers_bytes, e.data_checksums, e.data_directory,
           e.device, e.mount_point, e.mount_options, e.st_dev, e.filesystem_size_bytes, e.filesystem_free_bytes, e.wal_directory, e.wal_filesystem, e.wal_device,
           e.wal_mount_options, e.wal_st_dev, e.settings,
           r.client_wal_records, r.client_wal_fpi, r.client_wal_bytes, r.client_wal_writes, r.client_wal_syncs,
           r.client_wal_write_ms, r.client_wal_sync_ms, r.client_blocks_hit, r.client_blocks_read,
           r.client_blocks_dirtied, r.client_blocks_written, r.client_block_read_ms, r.client_block_write_ms,
           r.client_cpu_seconds, r.cpu_seconds, r.cpu_ms_per_transaction, r.device_read_bytes, r.device_write_bytes,
           r.device_flushes, r.device_bytes_per_transaction, r.flushes_per_transaction, r.changed_bytes,
           r.server_write_bytes, r.io_read_bytes, r.io_write_bytes, r.io_extend_bytes, r.io_wal_write_bytes, r.server_write_amplification, r.filesystem_write_amplification,
           r.write_amplification, r.wal_start_lsn, r.wal_end_lsn,
           e.mkfs_version, e.block_size_bytes, e.device_model, e.rotational, e.write_cache, e.io_scheduler, e.read_ahead_kb,
           e.container, e.clock_source, e.host_fingerprint, e.configuration_fingerprint,
           r.data_bytes::float8 / nullif(e.memory_bytes, 0) AS data_ram_ratio,
           r.data_bytes::float8 / nullif(e.shared_buffers_bytes, 0) AS data_shared_buffers_ratio,
           r.sustainable_rate, r.sustainable_rate_low, r.sustainable_rate_high, r.sustainable_rate_estimate, r.sustainable_rate_says,
           r.target AS target_name, r.target_version,
           left(encode(sha256(convert_to(r.target_definition::text, 'UTF8')), 'hex'), 16) AS target_fingerprint, r.target_definition,
           r.behind, e.limits
    FROM fsbench.run_log r
    LEFT JOIN fsbench.environment e USING (run_id)
    LEFT JOIN LATERAL (
        SELECT count(*)::integer AS findings,
               (ARRAY['info', 'warning', 'invalid'])[max(array_position(ARRAY['info', 'warning', 'invalid'], severity))] AS worst
        FROM fsbench.finding WHERE run_id = r.run_id) f ON true;
COMMENT ON VIEW fsbench.result IS 'Everything about each run; samples, histograms and findings are in tables of their own';
COMMENT ON COLUMN fsbench.result.data_ram_ratio IS 'data_bytes / memory_bytes: up to 1 reads may all come from RAM';
COMMENT ON COLUMN fsbench.result.data_shared_buffers_ratio IS 'data_bytes / shared_buffers_bytes: up to 1 reads may all come from shared buffers';
COMMENT ON COLUMN fsbench.result.target IS 'Target that was measured; xfs#2 for the second definition of a target xfs that has results, and so on. Group by it: a target that was defined anew is another one';
COMMENT ON COLUMN fsbench.result.target_name IS 'Name of the target in fsbench.target, in whichever definition';
COMMENT ON COLUMN fsbench.result.target_fingerprint IS 'The same for runs on targets that are defined alike, whatever their names: a hash of target_definition';
COMMENT ON COLUMN fsbench.result.findings IS 'Number of findings about the run; they are in fsbench.finding';
COMMENT ON COLUMN fsbench.result.missed IS 'Transactions that missed the latency limit: late and skipped ones';
COMMENT ON COLUMN fsbench.result.worst_finding IS 'Worst severity among them: invalid, warning or info; NULL when there is none';

CREATE VIEW fsbench.device AS
    SELECT d.path, d.model, d.serial, d.bytes AS size_bytes, d.contents, d.usable, d.why_not, d.wwn, d.partition_uuid, d.node,
           d.hint, h.seen_at
    FROM fsbench.helper_description h,
         pg_catalog.jsonb_to_recordset(h.description -> 'devices') AS d (path text, model text, serial text, bytes bigint, contents text,
             usable boolean, why_not text, wwn text, partition_uuid text, node text, hint text)
    UNION ALL
    SELECT b.path, b.model, b.serial, b.size_bytes, NULL, false,
           pg_catalog.concat_ws(', and ', CASE WHEN EXISTS (SELECT FROM fsbench.helper_description)
               THEN 'the helper''s configuration does not name it' ELSE 'the helper has not told yet whether its configuration names it' END, b.in_use),
           b.wwn, NULL, b.node,
           CASE WHEN b.in_use IS NULL THEN pg_catalog.format(E'[[device]]\npath = "%s"\n# Two lines for /etc/pgfsbench/helper.toml; '
               'then: systemctl restart pgfsbench-helper',
               pg_catalog.replace(pg_catalog.replace(b.path, E'\\', E'\\\\'), '"', E'\\"')) END,
           pg_catalog.clock_timestamp()
    FROM fsbench._block_devices() b
    WHERE NOT EXISTS (SELECT FROM fsbench.helper_description h, pg_catalog.jsonb_array_elements(h.description -> 'devices') d
                      WHERE d ->> 'node' = b.node OR d ->> 'path' IN (b.path, b.node))
    ORDER BY 6 DESC, 1;
COMMENT ON VIEW fsbench.device IS 'Block devices of this machine: those that the helper''s configuration names, as it last saw them, and the others, which it does not touch. fsbench.describe_devices() has it look again';
COMMENT ON COLUMN fsbench.device.path IS 'Path, as fsbench.create_target() takes it; one that stays over reboots, where there is one';
COMMENT ON COLUMN fsbench.device.model IS 'Model of the disk';
COMMENT ON COLUMN fsbench.device.serial IS 'Serial number of the disk';
COMMENT ON COLUMN fsbench.device.size_bytes IS 'Size of the device';
COMMENT ON COLUMN fsbench.device.contents IS 'Contents of the device; NULL where only root could see them';
COMMENT ON COLUMN fsbench.device.usable IS 'Whether the helper would erase it for a target now';
COMMENT ON COLUMN fsbench.device.why_not IS 'The reason against its use';
COMMENT ON COLUMN fsbench.device.wwn IS 'World-wide name of the disk, or what its kind has instead';
COMMENT ON COLUMN fsbench.device.partition_uuid IS 'UUID of the partition, where it is one and the helper has seen it';
COMMENT ON COLUMN fsbench.device.node IS 'The kernel''s name, which can change at each boot';
COMMENT ON COLUMN fsbench.device.hint IS 'What makes it usable: lines for the helper''s configuration, or what to change there';
COMMENT ON COLUMN fsbench.device.seen_at IS 'Time of the look: the helper''s last one, or now';

CREATE VIEW fsbench.prepared_target AS
    WITH latest AS (
        SELECT DISTINCT ON (target) target, action, result ->> 'mount_point' AS mount_point, run_id, ended_at
        FROM fsbench.helper_job
        WHERE status = 'done' AND action IN ('prepare', 'release') AND server_started = pg_catalog.pg_postmaster_start_time()
        ORDER BY target, job_id DESC)
    SELECT p.target, p.mount_point, p.run_id, h.seen_at
    FROM fsbench.helper_description h,
         pg_catalog.jsonb_to_recordset(h.description -> 'prepared') AS p (target text, mount_point text, run_id bigint)
    WHERE NOT EXISTS (SELECT FROM latest l WHERE l.target = p.target AND l.ended_at > h.seen_at)
    UNION ALL
    SELECT l.target, l.mount_point, l.run_id, l.ended_at
    -- A dump has jobs of runs, and no description: without one the jobs are of another database.
    FROM latest l, fsbench.helper_description h
    WHERE l.action = 'prepare' AND h.seen_at < l.ended_at
    ORDER BY 1;
COMMENT ON VIEW fsbench.prepared_target IS 'Targets whose filesystem the helper has made and not released: by its last look, and by its jobs since then';
COMMENT ON COLUMN fsbench.prepared_target.mount_point IS 'Mount point';
COMMENT ON COLUMN fsbench.prepared_target.run_id IS 'Run that it is prepared for; NULL: fsbench.prepare_target() was called';

CREATE FUNCTION fsbench.describe_devices() RETURNS SETOF fsbench.device LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM fsbench._describe();
    RETURN QUERY SELECT * FROM fsbench.device;
END
$$;
COMMENT ON FUNCTION fsbench.describe_devices IS 'Has the helper look at the devices of its configuration again, and shows fsbench.device';

CREATE VIEW fsbench.prepared_data AS
    SELECT contents, scale, fillfactor, unlogged, data_checksums, postgres, bytes, to_timestamp(created_epoch) AS created_at,
        to_timestamp(used_epoch) AS used_at, directory, data
    FROM fsbench._prepared_data();
COMMENT ON VIEW fsbench.prepared_data IS 'Data that were loaded once and are copied to targets. How much is kept is set by pgfsbench.prepared_data_limit; fsbench.drop_prepared_data() removes what runs have loaded, fsbench.drop_data() what has a name';
COMMENT ON COLUMN fsbench.prepared_data.contents IS 'What the tables are: pgbench, scan with the kind of its rows, or own: a copy of a user''s server';
COMMENT ON COLUMN fsbench.prepared_data.scale IS 'Scale as in pgbench; of a scan, millions of rows';
COMMENT ON COLUMN fsbench.prepared_data.fillfactor IS 'Fillfactor of the tables';
COMMENT ON COLUMN fsbench.prepared_data.unlogged IS 'Whether the tables are unlogged';
COMMENT ON COLUMN fsbench.prepared_data.data_checksums IS 'Whether the cluster has data checksums';
COMMENT ON COLUMN fsbench.prepared_data.postgres IS 'Program that made them';
COMMENT ON COLUMN fsbench.prepared_data.bytes IS 'Bytes of the whole data directory';
COMMENT ON COLUMN fsbench.prepared_data.created_at IS 'When they were loaded';
COMMENT ON COLUMN fsbench.prepared_data.used_at IS 'When they were last copied; what was not used for the longest time is removed first';
COMMENT ON COLUMN fsbench.prepared_data.directory IS 'Where they are';
COMMENT ON COLUMN fsbench.prepared_data.data IS 'Name that fsbench.prepare_data() gave them; NULL for data that a run has loaded';

-- One row for each step, and one for the end of each job. Words are quoted as a shell takes them.
CREATE VIEW fsbench.helper_log AS
    SELECT j.job_id, date_trunc('second', coalesce(j.started_at, j.requested_at)) AS at, j.run_id, j.target, j.action,
           s.step, s.ms, s.problem, s.command
    FROM fsbench.helper_job j, LATERAL (
        SELECT r.number, r.report ->> 'step' AS step, round((r.report ->> 'ms')::numeric, 1)::float8 AS ms,
               CASE WHEN r.report ->> 'exit_code' <> '0' THEN 'exit code ' || (r.report ->> 'exit_code') END AS problem,
               (SELECT string_agg(CASE WHEN word ~ '^[A-Za-z0-9_@%+=:,./-]+$' OR r.report #>> '{argv,0}' NOT LIKE '/%' THEN word
                                       ELSE '''' || replace(word, '''', E'''\\''''') || '''' END, ' ' ORDER BY w.number)
                FROM jsonb_array_elements_text(r.report -> 'argv') WITH ORDINALITY AS w(word, number)) AS command
        FROM jsonb_array_elements(j.steps) WITH ORDINALITY AS r(report, number)
        UNION ALL
        SELECT NULL, j.status, round(extract(epoch FROM j.ended_at - j.started_at) * 1000, 1)::float8, j.error, NULL) s
    ORDER BY j.job_id, s.number;
COMMENT ON VIEW fsbench.helper_log IS 'What pgfsbench-helper did, step by step, and how each of its jobs ended: fsbench.helper_job to be read. What programs printed is there, in steps';
COMMENT ON COLUMN fsbench.helper_log.at IS 'When the helper began with the job; of one that waits, when it was asked for';
COMMENT ON COLUMN fsbench.helper_log.step IS 'Step, as in fsbench.plan(); in the last row of a job how it ended: done or failed; or queued, running';
COMMENT ON COLUMN fsbench.helper_log.ms IS 'Duration (ms); in the last row, of the whole job';
COMMENT ON COLUMN fsbench.helper_log.problem IS 'The error; NULL without one';
COMMENT ON COLUMN fsbench.helper_log.command IS 'The executed command, or the action in words';

CREATE VIEW fsbench.script_command AS
    SELECT c.run_id, t.transaction AS script, c.command, c.line, c.kind,
           left(btrim(array_to_string((string_to_array(s.document::jsonb -> 'scripts' -> (c.position - 1) ->> 'text', chr(10)))[c.line : greatest(c.line,
               lead(c.line, 1, 2147483647) OVER (PARTITION BY c.run_id, c.position ORDER BY c.command) - 1)], chr(10)), chr(10) || ' '), 200) AS text,
           c.executions, c.failures, c.latency_avg_ms, c.latency_stddev_ms, c.latency_p50_ms, c.latency_p90_ms, c.latency_p95_ms, c.latency_p99_ms, c.latency_p999_ms,
           c.latency_max_ms, c.position
    FROM fsbench.command_result c JOIN fsbench.transaction_result t USING (run_id, position) JOIN fsbench.run_log r USING (run_id)
    LEFT JOIN fsbench.script s ON s.sha256 = r.used #>> '{options,script,sha256}';
COMMENT ON VIEW fsbench.script_command IS 'Commands of scripts in measured transactions, with their texts';
COMMENT ON COLUMN fsbench.script_command.script IS 'Name of the script';
COMMENT ON COLUMN fsbench.script_command.text IS 'Lines of the script from its first one up to the next command, at most 200 characters; NULL where the text is not stored';

-- Results of workload tpcc-like. It is derived from TPC-C, and its results are not comparable to published TPC-C results.

CREATE VIEW fsbench.tpcc AS
    SELECT r.run_id,
           t.committed / minutes AS notpm,
           (t.committed + t.rolled_back + t.failed) / minutes AS notpm_dbt2,
           t.committed / minutes / nullif(r.scale, 0) AS notpm_per_warehouse,
           100.0::float8 * c.wrong_orders / nullif(c.orders, 0) AS rollback_percent,
           c.lines::float8 / nullif(c.orders, 0) AS lines_per_order,
           100.0::float8 * c.remote_lines / nullif(c.lines, 0) AS remote_lines_percent,
           100.0::float8 * c.remote_payments / nullif(c.payments, 0) AS remote_payments_percent,
           100.0::float8 * c.payments_by_name / nullif(c.payments, 0) AS payments_by_name_percent,
           c.c_last_name, c.c_customer, c.c_item
    FROM fsbench.run_log r
    JOIN fsbench.transaction_result t ON t.run_id = r.run_id AND t.position = 1,
    LATERAL (SELECT sum(orders) AS orders, sum(wrong_orders) AS wrong_orders, sum(lines) AS lines, sum(remote_lines) AS remote_lines, sum(payments) AS payments,
                 sum(remote_payments) AS remote_payments, sum(payments_by_name) AS payments_by_name,
                 min(c_last_name) AS c_last_name, min(c_customer) AS c_customer, min(c_item) AS c_item
             FROM fsbench.tpcc_client c WHERE c.run_id = r.run_id) c,
    LATERAL (SELECT nullif(r.measured_ms, 0) / 60000) m (minutes)
    WHERE r.workload = 'tpcc-like';
COMMENT ON VIEW fsbench.tpcc IS 'Runs of workload tpcc-like: New-Orders a minute, and what was drawn. Derived from TPC-C, not comparable to published TPC-C results';
COMMENT ON COLUMN fsbench.tpcc.notpm IS 'Committed New-Order transactions a minute, as DBT-2 counted them in 2009';
COMMENT ON COLUMN fsbench.tpcc.notpm_dbt2 IS 'New-Order transactions a minute, those that rolled back or failed among them, as DBT-2 0.61.7 counts them';
COMMENT ON COLUMN fsbench.tpcc.notpm_per_warehouse IS 'notpm / warehouses. With keying and thinking times it is at most 12.86';
COMMENT ON COLUMN fsbench.tpcc.rollback_percent IS 'New-Orders with an item that does not exist (%); 0.9 to 1.1 in the specification';
COMMENT ON COLUMN fsbench.tpcc.lines_per_order IS 'Lines of an order; 9.5 to 10.5 in the specification';
COMMENT ON COLUMN fsbench.tpcc.remote_lines_percent IS 'Lines that another warehouse supplies (%); 0.95 to 1.05 in the specification';
COMMENT ON COLUMN fsbench.tpcc.remote_payments_percent IS 'Payments of a customer of another warehouse (%); 14 to 16 in the specification';
COMMENT ON COLUMN fsbench.tpcc.payments_by_name_percent IS 'Payments whose customer is given by last name (%); 57 to 63 in the specification';

CREATE VIEW fsbench.tpcc_transaction AS
    SELECT t.run_id, t.transaction, 100.0::float8 * (t.committed + t.rolled_back) / nullif(sum(t.committed + t.rolled_back) OVER (PARTITION BY t.run_id), 0) AS mix_percent,
           t.latency_avg_ms / 1000 AS avg_s, t.latency_p90_ms / 1000 AS p90_s, t.committed + t.rolled_back AS total,
           t.rolled_back AS rollbacks, 100.0::float8 * t.rolled_back / nullif(t.committed + t.rolled_back, 0) AS rollback_percent,
           t.failed, t.retries, t.limit_ms / 1000 AS limit_s, t.latency_p90_ms <= t.limit_ms AS is_within_limit
    FROM fsbench.transaction_result t JOIN fsbench.run_log r USING (run_id)
    WHERE r.workload = 'tpcc-like'
    ORDER BY t.run_id, t.position;
COMMENT ON VIEW fsbench.tpcc_transaction IS 'Transaction types of runs of workload tpcc-like, as DBT-2 reports them';
COMMENT ON COLUMN fsbench.tpcc_transaction.mix_percent IS 'Its share of all transactions (%), each counted once';
COMMENT ON COLUMN fsbench.tpcc_transaction.avg_s IS 'Average response time (s), from the first try';
COMMENT ON COLUMN fsbench.tpcc_transaction.p90_s IS '90th percentile of the response time (s), New-Orders that rolled back among them';
COMMENT ON COLUMN fsbench.tpcc_transaction.total IS 'Transactions that committed or rolled back as intended. DBT-2 of 2009 counts rollbacks twice';
COMMENT ON COLUMN fsbench.tpcc_transaction.rollbacks IS 'Transactions that rolled back as intended';
COMMENT ON COLUMN fsbench.tpcc_transaction.rollback_percent IS 'rollbacks / total (%)';
COMMENT ON COLUMN fsbench.tpcc_transaction.limit_s IS 'Limit of the 90th percentile in the specification (s)';
COMMENT ON COLUMN fsbench.tpcc_transaction.is_within_limit IS 'Whether the 90th percentile is within the limit';

-- Figures that only runs of one workload have. Workloads declare them in core; the test workload_tables compares.

CREATE FUNCTION fsbench._workload_metric(run_id bigint, metric text) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE
        WHEN starts_with($2, 'fsync_ops_') THEN (SELECT f.ops_per_second FROM fsbench.fsync f WHERE f.run_id = $1 AND f.writes = 1 AND f.method = substr($2, 11) ORDER BY f.writers LIMIT 1)
        WHEN $2 = 'scan_bytes_per_s' THEN (SELECT 1e9 * max(d.gb) FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) AS gb FROM fsbench.scan s WHERE s.run_id = $1 AND s.used GROUP BY s.degree) d)
        WHEN starts_with($2, 'scan_gb_per_s_at_') THEN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.gb_per_second) FROM fsbench.scan s WHERE s.run_id = $1 AND s.used AND s.degree = substr($2, 18)::integer)
        WHEN starts_with($2, 'scan_ms_at_') THEN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY s.ms) FROM fsbench.scan s WHERE s.run_id = $1 AND s.used AND s.degree = substr($2, 12)::integer)
        WHEN $2 = 'load_gb_per_s' THEN (SELECT max(s.bytes) / 1e6 / nullif(max(r.load_ms), 0) FROM fsbench.scan s JOIN fsbench.run_log r USING (run_id) WHERE s.run_id = $1)
        WHEN $2 = 'read_mb_per_s' THEN (SELECT sum(j.bytes) / 1e3 / nullif(sum(j.runtime_ms), 0) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'read')
        WHEN $2 = 'write_mb_per_s' THEN (SELECT sum(j.bytes) / 1e3 / nullif(sum(j.runtime_ms), 0) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'write')
        WHEN $2 = 'iops' THEN (SELECT r.tps FROM fsbench.run_log r WHERE r.run_id = $1 AND EXISTS (SELECT FROM fsbench.io_job j WHERE j.run_id = r.run_id))
        WHEN $2 = 'sync_p99_ms' THEN (SELECT max(j.latency_p99_ms) FROM fsbench.io_job j WHERE j.run_id = $1 AND j.direction = 'sync')
        WHEN $2 = 'notpm' THEN (SELECT t.notpm FROM fsbench.tpcc t WHERE t.run_id = $1)
        END;
COMMENT ON FUNCTION fsbench._workload_metric IS 'A figure of a run that only runs of its workload have; NULL for other figures and other runs. Private';

-- Pages are made by another extension, in PL/Python. What is called for them is here, so that it can say what is missing.

CREATE FUNCTION fsbench._page_by(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean, study text) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    page text;
BEGIN
    PERFORM fsbench._is_more_better($4);
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pgfsbench_report') THEN
        RAISE EXCEPTION 'pages need the extension "pgfsbench_report"' USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = CASE WHEN EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpython3u')
                      THEN 'It is not in this database.'
                      ELSE 'It is not in this database, and needs plpython3u, which is not installed on this machine.' END,
                  HINT = CASE WHEN EXISTS (SELECT FROM pg_available_extensions WHERE name = 'plpython3u')
                      THEN 'Have a superuser run CREATE EXTENSION pgfsbench_report CASCADE.'
                      ELSE format('Install the package of PL/Python for PostgreSQL %s (on Debian and Ubuntu postgresql-plpython3-%s, on Red Hat and its kin postgresql%s-plpython3), then have a superuser run CREATE EXTENSION pgfsbench_report CASCADE.',
                          current_setting('server_version_num')::integer / 10000, current_setting('server_version_num')::integer / 10000, current_setting('server_version_num')::integer / 10000) END;
    END IF;
    IF to_regprocedure('fsbench._page(text, bigint[], text, text, text, boolean, boolean, text)') IS NULL THEN
        RAISE EXCEPTION 'the extension "pgfsbench_report" is older than pgfsbench' USING ERRCODE = 'object_not_in_prerequisite_state',
                  DETAIL = format('It is of version %s, and pgfsbench is of %s.', (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench_report'),
                                  (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench')),
                  HINT = 'Have a superuser run ALTER EXTENSION pgfsbench_report UPDATE.';
    END IF;
    EXECUTE 'SELECT fsbench._page($1, $2, $3, $4, $5, $6, $7, $8)' INTO page USING $1, $2, $3, $4, $5, $6, $7, $8;
    RETURN page;
END
$$;
COMMENT ON FUNCTION fsbench._page_by IS 'Has the extension pgfsbench_report make a page, or says how to get it. Private: called by fsbench.report() and fsbench.chart_svg()';

CREATE FUNCTION fsbench.report(experiment text DEFAULT NULL, run_ids bigint[] DEFAULT NULL, format text DEFAULT 'html', redact boolean DEFAULT false,
    force boolean DEFAULT false, history text DEFAULT NULL, metric text DEFAULT 'tps', study text DEFAULT NULL) RETURNS text
    LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page_by(experiment, run_ids, history, coalesce(metric, 'tps'), CASE WHEN format = 'svg' THEN 'SVG' ELSE format END, coalesce(redact, false), coalesce(force, false), study);
COMMENT ON FUNCTION fsbench.report IS 'A page about an experiment, about a study (by its name, or with study => where an experiment has the same), about runs, or about a history (a label, as in fsbench.history), as one HTML file that can be mailed and opens without a network: psql -XAtqc "SELECT fsbench.report(''new server'')" -o report.html. format => ''text'' or ''markdown'': the answer and one table, for the mail itself. redact => true takes hosts, serial numbers, paths and labels out. force => true gives a large page to a terminal, too. Needs the extension pgfsbench_report';

CREATE FUNCTION fsbench.chart_svg(experiment text, redact boolean DEFAULT false) RETURNS text LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._page_by(experiment, NULL, NULL, 'tps', 'svg', coalesce(redact, false), true, NULL);
COMMENT ON FUNCTION fsbench.chart_svg IS 'The verdict picture of an experiment alone, or the claims of a study, with a caption (runs, workload, version, machine): SVG, for print and for blogs. Needs the extension pgfsbench_report';

-- Experiments, to be read.

CREATE FUNCTION fsbench._on_seconds(experiment fsbench.experiment) RETURNS float8
    LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- Sums floats, and within bounds: a restored row may hold infinite times and NaN, and is paused and cancelled all the same.
    SELECT sum(CASE WHEN p.seconds BETWEEN 0 AND 1e9 THEN p.seconds ELSE 0 END)
    FROM (VALUES (coalesce(($1).on_seconds, extract(epoch FROM ($1).ended_at)::float8 - extract(epoch FROM ($1).started_at)::float8)),
                 (CASE WHEN ($1).status = 'running' THEN extract(epoch FROM clock_timestamp())::float8 - extract(epoch FROM coalesce(($1).on_since, ($1).started_at))::float8 END)) p (seconds)
    $$;
COMMENT ON FUNCTION fsbench._on_seconds IS 'For how long an experiment was on (s): not while it was paused, or waited for another one. Private';

-- As many runs are made again for their neighbours as so far. Targets that are decided are not run again, and so it may be over earlier; which those are only the arithmetic of looks tells.
CREATE FUNCTION fsbench._seconds_left(experiment fsbench.experiment) RETURNS float8
    LANGUAGE sql VOLATILE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT least(greatest(c.cut_seconds + c.runs * c.seconds_each - least(greatest(coalesce(extract(epoch FROM clock_timestamp())::float8 - extract(epoch FROM c.since)::float8, 0), 0), c.seconds_each), 0),
                 CASE WHEN ($1).max_seconds IS NOT NULL THEN greatest(($1).max_seconds - fsbench._on_seconds($1), 0) END)
    -- A month each at most: what a restored row has beyond that breaks no view.
    FROM (SELECT greatest(least(greatest(($1).run_seconds, m.longest), 2678400), 0) AS seconds_each, m.since,
                 greatest(($1).max_blocks * t.targets - m.counting, 0) * CASE WHEN ($1).neighbours = 'unexpected' AND m.counting > 0 THEN greatest(m.attempts / m.counting::float8, 1) ELSE 1 END
                 + CASE WHEN m.block > 0 THEN 0 ELSE greatest(b.before - m.before, 0) END AS runs,
                 -- As run_seconds() of core's power cuts: about a second for each.
                 CASE WHEN m.block > 0 OR ($1).power_cuts IS NULL THEN 0 ELSE greatest(k.compared - m.power_cut, 0) * (60 + ($1).power_cuts + 4 * least(($1).power_cuts, 20)) END AS cut_seconds
          FROM (SELECT max(extract(epoch FROM r.ended_at)::float8 - extract(epoch FROM r.started_at)::float8) FILTER (WHERE x.outcome IS DISTINCT FROM 'power_cut') AS longest, max(x.block) AS block, min(x.planned_at) FILTER (WHERE x.outcome IS NULL) AS since,
                       count(*) FILTER (WHERE x.outcome IN ('measured', 'behind') AND t.set_aside IS NULL) AS counting,
                       count(*) FILTER (WHERE x.outcome IN ('measured', 'behind', 'disturbed') AND t.set_aside IS NULL) AS attempts,
                       count(*) FILTER (WHERE x.outcome IN ('burn_in', 'pilot')) AS before, count(*) FILTER (WHERE x.outcome = 'power_cut') AS power_cut
                FROM fsbench.experiment_run x JOIN fsbench.experiment_target t USING (experiment_id, target_number) LEFT JOIN fsbench.run_log r USING (run_id)
                WHERE x.experiment_id = ($1).experiment_id) m,
               (SELECT count(*) AS targets FROM fsbench.experiment_target t WHERE t.experiment_id = ($1).experiment_id AND t.set_aside IS NULL) t,
               LATERAL (SELECT t.targets - CASE WHEN ($1).control_number IS NULL THEN 0 ELSE 1 END AS compared) k,
               LATERAL (SELECT CASE WHEN ($1).rate_share IS NULL THEN 0 ELSE k.compared END + CASE WHEN ($1).burn_in THEN 1 ELSE 0 END AS whole) w,
               LATERAL (SELECT greatest(w.whole, CASE WHEN ($1).pilot_cycle THEN k.compared ELSE 0 END) AS before) b) c
    $$;
COMMENT ON FUNCTION fsbench._seconds_left IS 'What is left of an experiment at most, as reckoned (s): all runs of all blocks that are left, with as many disturbed attempts as so far. Private';

CREATE VIEW fsbench.experiments AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin,
           n.block, e.max_blocks, n.runs, n.repeated, n.run_id, n.target AS target_on,
           p.phase, pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => CASE WHEN l.seconds IS NOT NULL THEN least(l.seconds, 1e11) END) AS over_at_latest,
           e.answer, e.status_reason, e.requested_by, e.created_at, e.started_at, e.ended_at, e.experiment_id,
           e.neighbours, e.moved, e.open_because,
           -- It is pasted: a row of a dump could hold any name and any number.
           CASE WHEN e.next_blocks BETWEEN 1 AND 999 AND e.experiment !~ '[[:cntrl:]]'
                THEN pg_catalog.format('SELECT fsbench.extend_experiment(%L, %s);', e.experiment, e.next_blocks) END AS next_step
    FROM fsbench.experiment e CROSS JOIN LATERAL (
        SELECT pg_catalog.max(r.block) AS block, pg_catalog.count(r.outcome) AS runs,
               pg_catalog.count(*) FILTER (WHERE r.outcome NOT IN ('measured', 'behind', 'burn_in', 'pilot', 'power_cut')) AS repeated,
               pg_catalog.max(r.run_id) FILTER (WHERE r.outcome IS NULL) AS run_id,
               pg_catalog.max(t.target) FILTER (WHERE r.outcome IS NULL) AS target
        FROM fsbench.experiment_run r JOIN fsbench.experiment_target t USING (experiment_id, target_number)
        WHERE r.experiment_id = e.experiment_id) n
    LEFT JOIN fsbench._progress() p ON p.run_id = n.run_id
    LEFT JOIN (
        SELECT o.experiment_id, pg_catalog.sum(fsbench._seconds_left(o)) OVER (ORDER BY o.status = 'queued', o.experiment_id) AS seconds
        FROM fsbench.experiment o WHERE o.status IN ('queued', 'running')) l ON l.experiment_id = e.experiment_id
    ORDER BY e.experiment_id;
COMMENT ON VIEW fsbench.experiments IS 'Experiments of this database: how far each is, and what is known so far';
COMMENT ON COLUMN fsbench.experiments.block IS 'Block that is on, or was the last';
COMMENT ON COLUMN fsbench.experiments.runs IS 'Runs that are over, also those that do not count';
COMMENT ON COLUMN fsbench.experiments.repeated IS 'Those of them that do not count although they were to: failed, invalid, interrupted, disturbed, or of a block that was made again. Runs before the first block (burn_in, pilot, power_cut) were not to, and are not among them';
COMMENT ON COLUMN fsbench.experiments.run_id IS 'Run that is on';
COMMENT ON COLUMN fsbench.experiments.target_on IS 'Target that is on';
COMMENT ON COLUMN fsbench.experiments.phase IS 'Phase of that run, as in fsbench.progress';
COMMENT ON COLUMN fsbench.experiments.over_at_latest IS 'When it is over at the latest, as reckoned now: when no target is decided before the last block, each run takes as long as planned, or as the longest so far; a queued one after those of this database before it; no later than max_duration has it. Attempts that neighbours disturb are reckoned as many as so far. Other runs that are made again, runs of others, and experiments of other databases are not in it; moved tells when it has become later. NULL unless it is queued or running';
COMMENT ON COLUMN fsbench.experiments.moved IS 'By how much over_at_latest has moved last, and why; fsbench.experiment_log has each time (moved)';
COMMENT ON COLUMN fsbench.experiments.next_step IS 'The statement that continues an open experiment; NULL where more blocks would not help: recommend() then gives advice under next';

CREATE VIEW fsbench.comparison AS
    SELECT e.experiment, e.status, e.goal, e.metric, e.margin, e.ended_at, c.target, c.ratio, c.low, c.high, c.verdict, c.says, c.blocks, c.durability,
           c.same_durability, c.further_time, c.warnings
    FROM fsbench.experiment e, LATERAL fsbench._compared(e.experiment) c
    ORDER BY e.experiment_id;
COMMENT ON VIEW fsbench.comparison IS 'fsbench.compare() of all experiments, for charts and alarms';
COMMENT ON COLUMN fsbench.comparison.experiment IS 'Experiment';
COMMENT ON COLUMN fsbench.comparison.target IS 'Target, as it is called in the experiment';
COMMENT ON COLUMN fsbench.comparison.ratio IS 'Metric of the target, divided by that of what it is compared with';
COMMENT ON COLUMN fsbench.comparison.low IS 'Low end of the interval of that ratio';
COMMENT ON COLUMN fsbench.comparison.high IS 'High end of the interval of that ratio';
COMMENT ON COLUMN fsbench.comparison.verdict IS 'more, less, equivalent or inconclusive; with goal best: best, leading (ahead of all others, and not yet decided), equivalent to the best, out (certainly not the best) or open (not decided)';
COMMENT ON COLUMN fsbench.comparison.says IS 'The verdict in words';
COMMENT ON COLUMN fsbench.comparison.blocks IS 'Number of blocks at that look';
COMMENT ON COLUMN fsbench.comparison.durability IS 'Durability of the target''s runs';
COMMENT ON COLUMN fsbench.comparison.same_durability IS 'Whether that is the same as of what it is compared with';
COMMENT ON COLUMN fsbench.comparison.further_time IS 'Further time that a decision would take';
COMMENT ON COLUMN fsbench.comparison.warnings IS 'Findings of its runs';

-- Data of charts, a view each, for any program that draws: plain SQL, which takes neither psql nor plpython3u.

-- Also read by the server, where it judges experiments.
CREATE FUNCTION fsbench._metric(run_id bigint, metric text) RETURNS float8 LANGUAGE sql STABLE PARALLEL SAFE
    RETURN (SELECT CASE $2
        WHEN 'tps' THEN r.tps
        WHEN 'missed' THEN (r.skipped + r.late)::float8
        WHEN 'even_seconds' THEN 1 - r.stall_seconds / nullif(r.measured_ms / 1000, 0)
        WHEN 'tps_cv' THEN (SELECT (stddev_samp(s.transactions / s.interval_ms) / nullif(avg(s.transactions / s.interval_ms), 0))::float8
            FROM fsbench.sample s WHERE s.run_id = r.run_id AND s.interval_ms > 0)
        WHEN 'recovery_ms' THEN (SELECT y.recovery_ms FROM fsbench.recovery y WHERE y.run_id = r.run_id)
        WHEN 'maintenance_ms' THEN (SELECT sum(m.ms) FROM fsbench.maintenance m WHERE m.run_id = r.run_id)
        -- Figures of one kind of transaction: tps of NAME, latency_p99_ms of NAME.
        ELSE CASE WHEN strpos($2, ' of ') > 0
            THEN (SELECT CASE WHEN starts_with($2, 'tps ')
                    THEN 1000 * (h.transactions - fsbench._rolled_back(h.run_id, h.transaction)) / nullif(r.measured_ms, 0)
                    WHEN h.transactions >= 10000 OR $2 !~ '^[a-z]+_p999_ms '
                    THEN fsbench.percentile(('0.' || substring($2 FROM '^[a-z]+_p([0-9]+)_ms '))::float8, h.run_id, h.measure, h.transaction) END
                FROM fsbench.histogram h WHERE h.run_id = r.run_id AND h.transaction = substr($2, strpos($2, ' of ') + 4)
                AND h.measure = CASE WHEN starts_with($2, 'commit_') THEN 'commit' ELSE 'latency' END)
            ELSE coalesce((to_jsonb(r) ->> $2)::float8, fsbench._workload_metric($1, $2)) END END
        FROM fsbench.run_log r WHERE r.run_id = $1);
COMMENT ON FUNCTION fsbench._metric IS 'A figure of a run by which experiments can decide. Private';

CREATE VIEW fsbench.chart_verdict AS
    SELECT c.experiment, c.target, c.metric, c.ratio, c.low, c.high, 1 / (1 + c.margin) AS margin_low, 1 + c.margin AS margin_high,
           c.verdict, c.says, c.blocks, c.durability, c.same_durability
    FROM fsbench.comparison c;
COMMENT ON VIEW fsbench.chart_verdict IS 'Verdicts of experiments, to be drawn: the ratio of each target with its interval, against the margin within which a difference does not count';
COMMENT ON COLUMN fsbench.chart_verdict.margin_low IS 'Lower bound of the margin, as a ratio';
COMMENT ON COLUMN fsbench.chart_verdict.margin_high IS 'Upper bound of the margin, as a ratio';

CREATE VIEW fsbench.chart_block AS
    SELECT e.experiment, t.target, x.block, x.position, x.run_id, r.started_at, x.outcome,
           coalesce(x.outcome IN ('measured', 'behind'), false) AS counts, fsbench._metric(x.run_id, e.metric) AS value,
           CASE WHEN x.outcome = 'measured' THEN fsbench._metric(x.run_id, e.metric) / nullif(b.value, 0) END AS ratio
    FROM fsbench.experiment e
    -- The best one cannot be known without fsbench.compare().
    CROSS JOIN LATERAL (SELECT CASE WHEN e.goal = 'baseline' THEN e.baseline_number
        ELSE (SELECT n.target_number FROM fsbench._compared(e.experiment) c JOIN fsbench.experiment_target n ON n.experiment_id = e.experiment_id AND n.target = c.target
              WHERE c.verdict IN ('best', 'leading') LIMIT 1) END AS reference OFFSET 0) a
    JOIN fsbench.experiment_run x ON x.experiment_id = e.experiment_id
    JOIN fsbench.experiment_target t ON t.experiment_id = x.experiment_id AND t.target_number = x.target_number
    LEFT JOIN fsbench.run_log r ON r.run_id = x.run_id
    LEFT JOIN LATERAL (
        SELECT fsbench._metric(y.run_id, e.metric) AS value FROM fsbench.experiment_run y
        WHERE y.experiment_id = x.experiment_id AND y.block = x.block AND y.target_number = a.reference AND y.outcome = 'measured'
        ORDER BY y.attempt DESC LIMIT 1) b ON true;
COMMENT ON VIEW fsbench.chart_block IS 'Runs of experiments in their order, to be drawn: what each has measured, and its ratio to the baseline (with goal best, to the best one) in the same block';
COMMENT ON COLUMN fsbench.chart_block.started_at IS 'Start of the run';
COMMENT ON COLUMN fsbench.chart_block.counts IS 'Whether it counts';
COMMENT ON COLUMN fsbench.chart_block.value IS 'Metric of the experiment in this run';
COMMENT ON COLUMN fsbench.chart_block.ratio IS 'Ratio of value to that of the baseline, or of the best target, in the same block; NULL where one of them was not measured';

CREATE VIEW fsbench.chart_target AS
    SELECT e.experiment, t.target, n.runs, n.run_ids, n.median AS metric_median, n.commit_p99_ms, n.worst_second_tps,
           n.device_bytes_per_transaction, n.recovery_ms, n.stall_seconds, n.durability, n.filesystem
    FROM fsbench.experiment e JOIN fsbench.experiment_target t USING (experiment_id), LATERAL (
        SELECT count(*) AS runs, array_agg(x.run_id ORDER BY x.run_id) AS run_ids,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY fsbench._metric(x.run_id, e.metric)) AS median,
               CASE WHEN count(h.run_id) > 0 THEN fsbench.percentile(0.99, array_agg(DISTINCT h.run_id) FILTER (WHERE h.run_id IS NOT NULL), 'commit') END AS commit_p99_ms,
               min((SELECT min(s.transactions * 1000.0 / s.interval_ms) FROM fsbench.sample s WHERE s.run_id = x.run_id AND s.interval_ms >= 500)) AS worst_second_tps,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY r.device_bytes_per_transaction) AS device_bytes_per_transaction,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY y.recovery_ms) AS recovery_ms,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY r.stall_seconds) AS stall_seconds,
               string_agg(DISTINCT v.durability, '; ') AS durability, string_agg(DISTINCT v.filesystem, '; ') AS filesystem
        FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) LEFT JOIN fsbench.environment v USING (run_id)
        LEFT JOIN fsbench.recovery y USING (run_id) LEFT JOIN LATERAL (SELECT h.run_id FROM fsbench.histogram h WHERE h.run_id = x.run_id AND h.measure = 'commit' LIMIT 1) h ON true
        WHERE x.experiment_id = e.experiment_id AND x.target_number = t.target_number AND x.outcome IN ('measured', 'behind')) n;
COMMENT ON VIEW fsbench.chart_target IS 'Targets of experiments, a row each, over the runs that count: what else than the metric is worth a look';
COMMENT ON COLUMN fsbench.chart_target.runs IS 'Runs that count';
COMMENT ON COLUMN fsbench.chart_target.run_ids IS 'These runs';
COMMENT ON COLUMN fsbench.chart_target.metric_median IS 'Median of the metric of the experiment over them';
COMMENT ON COLUMN fsbench.chart_target.commit_p99_ms IS '99th percentile of the duration of COMMIT (ms), from their merged histograms';
COMMENT ON COLUMN fsbench.chart_target.worst_second_tps IS 'Transactions in the worst second of all';
COMMENT ON COLUMN fsbench.chart_target.device_bytes_per_transaction IS 'Bytes written to the device per transaction, the median';
COMMENT ON COLUMN fsbench.chart_target.recovery_ms IS 'Crash recovery (ms), the median; NULL when it was not measured';
COMMENT ON COLUMN fsbench.chart_target.stall_seconds IS 'Seconds with less than a tenth of the transactions of the median second, the median';
COMMENT ON COLUMN fsbench.chart_target.durability IS 'Durability of its runs';
COMMENT ON COLUMN fsbench.chart_target.filesystem IS 'Type of the filesystem';

CREATE VIEW fsbench.chart_second AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, s.second, v.tps, v.tps < m.median / 10 AS stalled, s.latency_p99_ms, s.commit_p99_ms, s.device_write_bytes,
           s.device_f_await_ms, s.device_util_percent, s.dirty_bytes, s.writeback_bytes,
           s.cpu_usr_percent + s.cpu_nice_percent AS cpu_usr_percent, s.cpu_sys_percent + coalesce(s.cpu_irq_percent + s.cpu_soft_percent, 0) AS cpu_sys_percent,
           s.cpu_iowait_percent, s.cpu_steal_percent, s.device_write_bytes::float8 * 1000 / s.interval_ms AS device_write_bytes_per_s
    FROM fsbench.run_log r
    JOIN LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x.transactions * 1000.0 / x.interval_ms) AS median
                  FROM fsbench.sample x WHERE x.run_id = r.run_id AND x.interval_ms >= 500) m ON true
    JOIN fsbench.sample s ON s.run_id = r.run_id AND s.interval_ms >= 500,
    LATERAL (SELECT s.transactions * 1000.0 / s.interval_ms AS tps) v;
COMMENT ON VIEW fsbench.chart_second IS 'The seconds of runs, to be drawn: figures of fsbench.sample as they go together on one axis of time. Without the piece of a second at the end of a window';
COMMENT ON COLUMN fsbench.chart_second.tps IS 'Transactions per second';
COMMENT ON COLUMN fsbench.chart_second.stalled IS 'Whether that is under a tenth of the run''s median second';
COMMENT ON COLUMN fsbench.chart_second.device_write_bytes IS 'Bytes written to the device of the data in the interval, which may be longer than a second where the sampler came late';
COMMENT ON COLUMN fsbench.chart_second.device_write_bytes_per_s IS 'Bytes written to the device of the data per second';

CREATE VIEW fsbench.chart_checkpoint AS
    SELECT c.run_id, c.number, c.kind, greatest(c.start_second, 0) AS from_second,
           least(coalesce(c.end_second, 2147483647), (SELECT max(s.second) FROM fsbench.sample s WHERE s.run_id = c.run_id)) + 1 AS to_second
    FROM fsbench.checkpoint c;
COMMENT ON VIEW fsbench.chart_checkpoint IS 'Checkpoints of runs as bands on the axis of time of fsbench.chart_second';
COMMENT ON COLUMN fsbench.chart_checkpoint.from_second IS 'Second in which it began, 0 when before the window';
COMMENT ON COLUMN fsbench.chart_checkpoint.to_second IS 'Second at whose beginning it was over, the end of the window when after that';

CREATE VIEW fsbench.chart_latency AS
    SELECT h.run_id, fsbench._shown_target(r.target, r.target_version) AS target, h.transaction, h.measure, h.transactions, p.percentile,
           fsbench.percentile(p.percentile / 100, h.run_id, h.measure, h.transaction) AS ms
    FROM fsbench.histogram h JOIN fsbench.run_log r USING (run_id), unnest('{50,75,90,95,99,99.5,99.9}'::float8[]) AS p(percentile)
    WHERE (p.percentile < 99.5 OR h.transactions >= 10000) AND h.measure NOT LIKE 'command %';
COMMENT ON VIEW fsbench.chart_latency IS 'Distributions of latencies of runs, to be drawn: from the median to p99.9, which is left out under 10,000 transactions. Those of several runs are not averaged, but come from fsbench.percentile() over all';
COMMENT ON COLUMN fsbench.chart_latency.percentile IS 'Percentile, from 50 to 99.9';
COMMENT ON COLUMN fsbench.chart_latency.ms IS 'So many percent took at most this long (ms)';

CREATE VIEW fsbench.chart_wait AS
    SELECT w.run_id, w.second, CASE WHEN w.wait_event_type = w.wait_event THEN w.wait_event ELSE w.wait_event_type || ' ' || w.wait_event END AS wait,
           w.samples, (100.0 * w.samples / nullif(sum(w.samples) OVER (PARTITION BY w.run_id, w.second), 0))::float8 AS percent
    FROM fsbench.wait_event w;
COMMENT ON VIEW fsbench.chart_wait IS 'What clients waited for in each second of a run, as shares, to be stacked';
COMMENT ON COLUMN fsbench.chart_wait.wait IS 'Type and name of the wait event; CPU where a client waited for nothing';
COMMENT ON COLUMN fsbench.chart_wait.percent IS 'Share among all that was seen in that second';

CREATE VIEW fsbench.chart_scan_speed AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, c.degree, c.gb_per_second, c.repeats,
           c.bytes / 1e6 / nullif(c.max_ms, 0) AS lowest_gb_per_second, c.bytes / 1e6 / nullif(c.min_ms, 0) AS highest_gb_per_second, k.degree = c.degree AS is_knee
    FROM fsbench.run_log r, LATERAL fsbench.scan_knee(r.run_id) k, LATERAL (
        SELECT s.degree, count(*) AS repeats, max(s.bytes) AS bytes, min(s.ms) AS min_ms, max(s.ms) AS max_ms,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY s.bytes / 1e6 / nullif(s.ms, 0)) AS gb_per_second
        FROM fsbench.scan s WHERE s.run_id = r.run_id AND s.used GROUP BY s.degree) c
    WHERE r.workload = 'scan';
COMMENT ON VIEW fsbench.chart_scan_speed IS 'Curves of runs of the workload scan, to be drawn: speed by degree, of the scans that count';
COMMENT ON COLUMN fsbench.chart_scan_speed.gb_per_second IS 'Median of the repeats, in units of 10^9 bytes';
COMMENT ON COLUMN fsbench.chart_scan_speed.repeats IS 'Number of repeats';
COMMENT ON COLUMN fsbench.chart_scan_speed.lowest_gb_per_second IS 'The slowest of them';
COMMENT ON COLUMN fsbench.chart_scan_speed.highest_gb_per_second IS 'The fastest of them';
COMMENT ON COLUMN fsbench.chart_scan_speed.is_knee IS 'Whether more workers no longer help from here on; NULL where no knee was found';

CREATE VIEW fsbench.chart_fsync AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, f.method, f.writes, f.writers, f.ops_per_second, f.latency_p50_ms, f.latency_p90_ms, f.latency_p99_ms, f.latency_p999_ms, f.latency_max_ms
    FROM fsbench.run_log r JOIN fsbench.fsync f USING (run_id);
COMMENT ON VIEW fsbench.chart_fsync IS 'What a sync took in runs of the workload fsync, to be drawn';

CREATE VIEW fsbench.chart_recovery AS
    SELECT r.run_id, fsbench._shown_target(r.target, r.target_version) AS target, y.recovery_ms, y.redo_ms, y.first_transaction_ms, y.wal_replayed_bytes, y.balances_verified
    FROM fsbench.run_log r JOIN fsbench.recovery y USING (run_id);
COMMENT ON VIEW fsbench.chart_recovery IS 'Crash recoveries of runs, to be drawn';

-- Histories: the same run every night. What a change is, is said by fsbench.change_points().

CREATE FUNCTION fsbench._is_more_better(metric text) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF metric IN ('tps', 'scan_bytes_per_s', 'even_seconds') THEN
        RETURN true;
    ELSIF metric IN ('recovery_ms', 'maintenance_ms', 'cpu_ms_per_transaction', 'write_amplification', 'server_write_amplification',
        'filesystem_write_amplification', 'device_bytes_per_transaction', 'flushes_per_transaction', 'load_ms') OR metric ~ '^(latency|commit)_(avg|p50|p90|p95|p99|p999)_ms$' THEN
        RETURN false;
    END IF;
    RAISE EXCEPTION 'metric "%" decides nothing in a history', metric USING ERRCODE = 'invalid_parameter_value',
              DETAIL = 'It has to be a figure of a run that is never 0, and of which it is known whether more of it is better.',
              HINT = 'Use tps, a latency such as latency_p99_ms, or another metric of fsbench.experiment().';
END
$$;
COMMENT ON FUNCTION fsbench._is_more_better IS 'Whether more of a metric is better; an error when histories cannot decide by it. Private';

-- Runs that begin within six hours are one night: those that are repeated because the first was bad. Where they never stop, a night is six hours.
CREATE FUNCTION fsbench._nights(label text, metric text)
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, good bigint, value float8, last_good timestamptz)
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 1000 AS $$
    WITH run AS (
        SELECT r.run_id, r.requested_at AS at, fsbench._shown_target(r.target, r.target_version) AS target,
               jsonb_hash_extended(jsonb_build_array((SELECT f.host FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.run_id = r.run_id),
                   -- Another disk in the same place is marked, and does not cut.
                   coalesce(CASE WHEN jsonb_typeof(r.target_definition) = 'object' THEN nullif(r.target_definition - '{device_identity,log_device_identity}'::text[], '{}') END, to_jsonb(r.target)), r.workload, r.scale, r.clients, r.duration, r.transactions, r.warmup, r.rate,
                   r.latency_limit_ms, r.asked -> 'settings', r.asked -> 'options', r.asked -> 'size', r.asked -> 'data', r.asked -> 'database'), 0) AS alike,
               CASE WHEN r.status = 'done' AND NOT EXISTS (SELECT FROM fsbench.finding f WHERE f.run_id = r.run_id AND f.severity = 'invalid')
                    -- Values in the row itself are read from there: there may be thousands of rows.
                    THEN nullif(greatest(CASE $2 WHEN 'load_ms' THEN r.load_ms WHEN 'tps' THEN r.tps WHEN 'latency_avg_ms' THEN r.latency_avg_ms
                        WHEN 'latency_p50_ms' THEN r.latency_p50_ms WHEN 'latency_p90_ms' THEN r.latency_p90_ms WHEN 'latency_p95_ms' THEN r.latency_p95_ms
                        WHEN 'latency_p99_ms' THEN r.latency_p99_ms WHEN 'latency_p999_ms' THEN r.latency_p999_ms WHEN 'commit_avg_ms' THEN r.commit_avg_ms
                        WHEN 'commit_p50_ms' THEN r.commit_p50_ms WHEN 'commit_p99_ms' THEN r.commit_p99_ms WHEN 'cpu_ms_per_transaction' THEN r.cpu_ms_per_transaction
                        WHEN 'device_bytes_per_transaction' THEN r.device_bytes_per_transaction WHEN 'flushes_per_transaction' THEN r.flushes_per_transaction
                        WHEN 'server_write_amplification' THEN r.server_write_amplification WHEN 'filesystem_write_amplification' THEN r.filesystem_write_amplification
                        WHEN 'write_amplification' THEN r.write_amplification ELSE fsbench._metric(r.run_id, $2) END, 0), 0) END AS value
        FROM fsbench.run_log r WHERE r.label = $1 AND r.status IN ('done', 'failed', 'cancelled')
    ), after AS (
        SELECT r.*, r.at - lag(r.at) OVER (PARTITION BY r.alike ORDER BY r.at, r.run_id) < interval '6 hours' AS is_repeat FROM run r
    ), chained AS (
        SELECT a.*, count(*) FILTER (WHERE a.is_repeat IS NOT TRUE) OVER (PARTITION BY a.alike ORDER BY a.at, a.run_id) AS chain FROM after a
    ), cut AS (
        SELECT c.*, floor(extract(epoch FROM c.at - min(c.at) OVER (PARTITION BY c.alike, c.chain)) / 21600) AS piece FROM chained c
    ), numbered AS (
        SELECT c.*, dense_rank() OVER (PARTITION BY c.alike ORDER BY c.chain, c.piece) AS night, min(c.run_id) OVER (PARTITION BY c.alike) AS first FROM cut c
    ), ordered AS (
        SELECT n.*, dense_rank() OVER (ORDER BY n.first) AS segment FROM numbered n
    )
    SELECT o.segment, o.night, min(o.at), min(o.target), coalesce(min(o.run_id) FILTER (WHERE o.value IS NOT NULL), min(o.run_id)), count(*), count(o.value),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY o.value), max(o.at) FILTER (WHERE o.value IS NOT NULL)
    FROM ordered o GROUP BY o.segment, o.night
    $$;
COMMENT ON FUNCTION fsbench._nights IS 'The nights of a label: like runs are a segment, and the median of the good runs of a night is its value. Private';

CREATE FUNCTION fsbench._differs_in_words(run_a bigint, run_b bigint, areas text[]) RETURNS text
    LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT string_agg(CASE WHEN m.place <= 10 THEN format('%s: %s, before %s', m.name, coalesce(m.b, 'none'), coalesce(m.a, 'none')) ELSE format('and %s more', m.of - 10) END, '; ' ORDER BY m.place)
    FROM (SELECT d.name, d.a, d.b, row_number() OVER () AS place, count(*) OVER () AS of
          FROM fsbench.diff($1, $2) d WHERE CASE WHEN $3 IS NULL THEN d.matters <> 'hardly' ELSE d.area = ANY ($3) END) m WHERE m.place <= 11
    $$;
COMMENT ON FUNCTION fsbench._differs_in_words IS 'What differs between two runs, in words: in these areas, or (NULL) whatever is likely to matter. Private';

CREATE FUNCTION fsbench._history(label text, metric text)
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, value float8, status text, before float8, after float8,
        ratio float8, low float8, high float8, seen_after integer, differs text, good bigint, last_good timestamptz)
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1000 AS $$
DECLARE
    s record;
    change record;
    began integer;
    spread record;
    places bigint[];            -- of the nights at which the level changes, and what is known of each
    befores float8[];
    afters float8[];
    factors float8[];
    lows float8[];
    highs float8[];
    seens integer[];
    differences text[];
BEGIN
    IF $1 IS NULL OR $2 IS NULL THEN
        RAISE EXCEPTION 'label and metric must not be null'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'A history is made of the runs that have this label.',
                  HINT = 'Call it as in SELECT * FROM fsbench.history(''nightly'').';
    END IF;
    PERFORM fsbench._is_more_better($2);
    IF NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.label = $1) THEN
        RAISE EXCEPTION 'no run has the label "%"', $1
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this label in fsbench.run_log of this database.',
                  HINT = 'Give it to the runs: fsbench.start(label => ...).';
    END IF;
    FOR s IN
        SELECT n.segment, array_agg(n.night ORDER BY n.night) AS nights, array_agg(n.at ORDER BY n.night) AS ats, array_agg(n.run_id ORDER BY n.night) AS ids,
               array_agg(n.runs ORDER BY n.night) AS counts, array_agg(n.good ORDER BY n.night) AS goods, array_agg(n.last_good ORDER BY n.night) AS lasts,
               array_agg(n.value ORDER BY n.night) AS of_night, array_agg(ln(n.value) ORDER BY n.night) AS x, min(n.target) AS target
        FROM fsbench._nights($1, $2) n GROUP BY n.segment ORDER BY n.segment
    LOOP
        -- Changes are few, and nights are many: these are taken as a set, and arrays of them are unnested, never subscripted.
        began := 1;
        places := '{}'; befores := '{}'; afters := '{}'; factors := '{}'; lows := '{}'; highs := '{}'; seens := '{}'; differences := '{}';
        FOR change IN SELECT * FROM fsbench.change_points(s.x) c ORDER BY c.night LOOP
            -- The nights by which it was seen, and those before it: a two-sample t interval of means.
            SELECT avg(u.x) FILTER (WHERE u.n >= change.night) - avg(u.x) FILTER (WHERE u.n < change.night) AS difference, count(*) - 2 AS freedom,
                   sqrt(greatest(coalesce(var_samp(u.x) FILTER (WHERE u.n < change.night), 0) * (count(*) FILTER (WHERE u.n < change.night) - 1)
                        + coalesce(var_samp(u.x) FILTER (WHERE u.n >= change.night), 0) * (count(*) FILTER (WHERE u.n >= change.night) - 1), 0) / (count(*) - 2)
                        * (1.0 / count(*) FILTER (WHERE u.n < change.night) + 1.0 / count(*) FILTER (WHERE u.n >= change.night))) AS error
            INTO spread
            FROM unnest(s.x) WITH ORDINALITY u (x, n),
                 (SELECT max(q.n) AS ends FROM (SELECT v.n FROM unnest(s.x) WITH ORDINALITY v (x, n) WHERE v.n >= change.night AND v.x IS NOT NULL
                                                ORDER BY v.n LIMIT change.seen_after) q) e
            WHERE u.x IS NOT NULL AND u.n BETWEEN greatest(began, e.ends - 59) AND e.ends;
            differences := differences || fsbench._differs_in_words((SELECT v.run_id FROM unnest(s.ids, s.x) WITH ORDINALITY v (run_id, x, n)
                WHERE v.n < change.night AND v.x IS NOT NULL ORDER BY v.n DESC LIMIT 1), s.ids[change.night], NULL);
            places := places || change.night::bigint; befores := befores || exp(change.before); afters := afters || exp(change.after); factors := factors || exp(change.size);
            lows := lows || exp(spread.difference - fsbench.student_t(0.025, spread.freedom) * spread.error);
            highs := highs || exp(spread.difference + fsbench.student_t(0.025, spread.freedom) * spread.error); seens := seens || change.seen_after;
            began := change.night;
        END LOOP;
        RETURN QUERY
        SELECT s.segment, u.night, u.at, s.target, u.run_id, u.runs, u.value,
               CASE WHEN c.n IS NOT NULL THEN 'changed' WHEN u.value IS NULL THEN 'missing' ELSE 'good' END,
               c.before, c.after, c.ratio, c.low, c.high, c.seen_after, c.differs, u.good, u.last_good
        FROM unnest(s.nights, s.ats, s.ids, s.counts, s.of_night, s.goods, s.lasts) WITH ORDINALITY u (night, at, run_id, runs, value, good, last_good, n)
        LEFT JOIN unnest(places, befores, afters, factors, lows, highs, seens, differences) c (n, before, after, ratio, low, high, seen_after, differs) ON c.n = u.n
        ORDER BY u.n;
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._history IS 'The nights of a label, their changes of level, and what an alarm asks besides. Private';

CREATE FUNCTION fsbench.history(label text, metric text DEFAULT 'tps')
    RETURNS TABLE (segment bigint, night bigint, at timestamptz, target text, run_id bigint, runs bigint, value float8, status text, before float8, after float8,
        ratio float8, low float8, high float8, seen_after integer, differs text, marks text)
    LANGUAGE sql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1000 AS $$
    WITH night AS MATERIALIZED (
        SELECT h.* FROM fsbench._history($1, $2) h
    ), known AS (
        SELECT n.segment, n.night, n.run_id, lag(n.run_id) OVER w AS before, f.machine, lag(f.machine) OVER w AS machine_before, e.layers, lag(e.layers) OVER w AS layers_before
        FROM night n JOIN fsbench.environment e USING (run_id),
             LATERAL (SELECT concat_ws(' ', e.configuration_fingerprint, e.kernel, e.server_version, e.pgfsbench_version, e.device_model, e.storage #>> '{result,wwn}',
                                       e.storage #>> '{result,serial}') AS machine) f
        WINDOW w AS (PARTITION BY n.segment ORDER BY n.night)
    ), marked AS (
        -- Nearly all nights are as the one before, and a close look takes long.
        SELECT k.segment, k.night, fsbench._differs_in_words(k.before, k.run_id, '{kernel,version,settings,device}') AS marks
        FROM known k WHERE k.machine <> k.machine_before OR k.layers <> k.layers_before
    )
    SELECT n.segment, n.night, n.at, n.target, n.run_id, n.runs, n.value, n.status, n.before, n.after, n.ratio, n.low, n.high, n.seen_after, n.differs, m.marks
    FROM night n LEFT JOIN marked m USING (segment, night) ORDER BY n.segment, n.night
    $$;
COMMENT ON FUNCTION fsbench.history IS 'The nights of the runs with a label: like runs (target as defined, workload, parameters) are one segment, and runs within six hours of each other one night, whose value is the median of the good ones. status: good; changed, the first night of a new level, by the rule of fsbench.change_points(), with the medians before and after, their ratio with a 95 % interval, after how many nights it was seen, and what differs between its run and the last good one before, as candidates for the cause; missing: no good run. marks: what of kernel, versions, settings and disks is another than the night before, which cuts nothing';

CREATE FUNCTION fsbench._repeat(run_id bigint) RETURNS bigint LANGUAGE sql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT fsbench.start(target => coalesce(r.asked ->> 'target', 'default'), workload => coalesce(r.asked ->> 'workload', 'tpcb'), scale => (r.asked ->> 'scale')::integer,
        size => r.asked ->> 'size', clients => (r.asked ->> 'clients')::integer, duration => make_interval(secs => (r.asked ->> 'duration_us')::float8 / 1e6),
        transactions => (r.asked ->> 'transactions')::bigint, warmup => make_interval(secs => (r.asked ->> 'warmup_us')::float8 / 1e6), rate => (r.asked ->> 'rate')::float8,
        latency_limit_ms => (r.asked ->> 'latency_limit_ms')::float8, seed => (r.asked ->> 'seed')::bigint, settings => nullif(r.asked -> 'settings', 'null'),
        options => nullif(r.asked -> 'options', 'null'), label => r.label, force => coalesce((r.asked ->> 'force')::boolean, false), data => r.asked ->> 'data', database => r.asked ->> 'database')
    FROM fsbench.run_log r WHERE r.run_id = $1
    $$;
COMMENT ON FUNCTION fsbench._repeat IS 'Queues a run once more, as it was asked for. Private';

CREATE FUNCTION fsbench.check_history(label text, metric text DEFAULT 'tps', worse_by float8 DEFAULT 0.05, due interval DEFAULT '36 hours', repeats integer DEFAULT 2)
    RETURNS TABLE (state text, segment bigint, at timestamptz, run_id bigint, value float8, expected float8, says text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
DECLARE
    more boolean;
    s record;
    k integer;
    tonight integer;
    p float8[];
    m float8;
    q float8;
    y float8;
    problem text;
    problem_detail text;
    code text;
BEGIN
    IF repeats IS NULL OR repeats NOT BETWEEN 0 AND 10 THEN
        RAISE EXCEPTION 'repeats must be between 0 and 10'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s.', coalesce(repeats::text, 'null')),
                  HINT = 'So often is the run of a suspect night made again; 0 makes none.';
    END IF;
    -- NaN is above everything, and nothing would be worse by it.
    IF worse_by IS NULL OR due IS NULL OR NOT worse_by > 0 OR worse_by >= 'Infinity' OR NOT due > interval '0' THEN
        RAISE EXCEPTION 'worse_by and due must be above 0, and not infinite'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('They are %s and %s.', coalesce(worse_by::text, 'null'), coalesce(due::text, 'null')),
                  HINT = 'worse_by => 0.05 is 5 %; due is the time within which a good run has to come after the last one.';
    END IF;
    more := fsbench._is_more_better($2);
    FOR s IN
        -- A label with an @ may be one of this database, too: then what was imported under it does not count.
        SELECT x.* FROM (
            -- A date of the future is no reason why others have ended.
            SELECT y.*, max(least(y.last, clock_timestamp())) OVER (PARTITION BY y.is_here) AS last_of_all, bool_or(y.is_here) OVER () AS is_any_here FROM (
            SELECT h.segment, array_agg(h.at ORDER BY h.night) AS ats, array_agg(h.run_id ORDER BY h.night) AS ids, array_agg(h.value ORDER BY h.night) AS of_night,
                   array_agg(h.runs ORDER BY h.night) AS counts, array_agg(h.good ORDER BY h.night) AS goods, array_agg(h.ratio ORDER BY h.night) AS ratios,
                   array_agg(h.differs ORDER BY h.night) AS differs, array_agg(h.seen_after ORDER BY h.night) AS seen, max(h.at) AS last, max(h.last_good) AS last_good,
                   NOT EXISTS (SELECT FROM fsbench.imported_run i WHERE i.run_id = min(h.run_id)) AS is_here
            FROM fsbench._history($1, $2) h GROUP BY h.segment) y) x
        WHERE x.is_here = x.is_any_here AND x.last >= x.last_of_all - due ORDER BY x.segment  -- others have ended
    LOOP
        segment := s.segment; expected := NULL; problem := NULL;
        SELECT max(u.n) FILTER (WHERE u.value IS NOT NULL), max(u.n) FILTER (WHERE u.ratio IS NOT NULL) INTO tonight, k
        FROM unnest(s.of_night, s.ratios) WITH ORDINALITY u (value, ratio, n);
        at := s.ats[coalesce(tonight, cardinality(s.ats))]; run_id := s.ids[coalesce(tonight, cardinality(s.ids))]; value := s.of_night[tonight];
        SELECT array_agg(ln(n.value) ORDER BY n.n) INTO p
        FROM (SELECT u.value, u.n FROM unnest(s.of_night) WITH ORDINALITY u (value, n)
              WHERE u.n BETWEEN coalesce(k, 1) AND coalesce(tonight, 0) - 1 AND u.value IS NOT NULL ORDER BY u.n DESC LIMIT 60) n;
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) INTO m FROM unnest(p) v;
        SELECT greatest(percentile_cont(0.5) WITHIN GROUP (ORDER BY abs(v - m)), 0.002) INTO q FROM unnest(p) v;
        y := CASE WHEN more THEN m - ln(value) ELSE ln(value) - m END;
        expected := exp(m);
        IF tonight IS NULL OR s.last_good + due < clock_timestamp() THEN
            state := 'missing';
            says := format('no good run since %s, and one is due every %s', coalesce(to_char(s.last_good AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), 'the beginning'), due);
        ELSIF k IS NOT NULL AND (CASE WHEN more THEN -ln(s.ratios[k]) ELSE ln(s.ratios[k]) END) >= ln(1 + worse_by)
              AND NOT EXISTS (SELECT FROM fsbench.acknowledgement a WHERE a.run_id = s.ids[k] AND a.metric = $2) THEN
            state := 'worse'; at := s.ats[k]; run_id := s.ids[k];
            says := format('it has %s times the %s that it had, since run %s; seen after %s nights', round(s.ratios[k]::numeric, 3), $2, s.ids[k], s.seen[k])
                || coalesce('; what differs there: ' || s.differs[k], '; nothing is known that differs there');
        ELSIF coalesce(cardinality(p), 0) + 1 < 11 THEN
            state := 'too_few';
            says := format('%s nights of this level, and it takes 11', coalesce(cardinality(p), 0) + 1);
        ELSIF y >= ln(1 + worse_by) AND y > 6 * q THEN
            state := CASE WHEN s.goods[tonight] >= 3 THEN 'suspect_repeated' ELSE 'suspect' END;
            says := format('one night of %s, where %s was to be expected', round(value::numeric, 3), round(expected::numeric, 3));
            PERFORM pg_notify('fsbench_history', jsonb_build_object('label', $1, 'metric', $2, 'state', state, 'run_id', run_id, 'value', value, 'expected', expected)::text);
            -- Once a night, and only while it is one; by those who may start runs. Of those who ask at the same time, one does it.
            IF repeats > 0 AND has_function_privilege('fsbench._repeat(bigint)', 'EXECUTE') AND s.goods[tonight] = 1 AND s.counts[tonight] < 3 AND at > clock_timestamp() - interval '6 hours' THEN
                IF NOT pg_try_advisory_xact_lock('fsbench.acknowledgement'::regclass::oid::integer, hashtext($1)) THEN
                    -- Any session may hold it.
                    says := says || format('; no repeats are queued by this call: process %s checks the same history, or holds its lock', (SELECT min(l.pid) FROM pg_locks l
                        WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid() AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
                          AND l.classid = 'fsbench.acknowledgement'::regclass::oid AND l.objid = (hashtext($1)::bigint & 4294967295)::oid AND l.objsubid = 2));
                ELSIF NOT EXISTS (SELECT FROM fsbench.run_log r WHERE r.label = $1 AND r.status IN ('queued', 'running'))
                   AND EXISTS (SELECT FROM fsbench.run_log r WHERE r.run_id = s.ids[tonight] AND r.requested_by = current_user AND NOT r.copied) THEN
                    -- Runs of other roles are not repeated, nor runs from a dump or a file.
                    PERFORM fsbench._repeat(s.ids[tonight]) FROM generate_series(1, repeats);
                    says := says || format('; %s repeats are queued', repeats);
                END IF;
            END IF;
        ELSE
            state := 'good';
            says := format('%s nights of this level', cardinality(p) + 1);
        END IF;
        IF state IN ('worse', 'missing') THEN
            code := CASE state WHEN 'worse' THEN 'PF001' ELSE 'PF002' END;
            RAISE EXCEPTION 'history "%" is %', $1, CASE state WHEN 'worse' THEN 'worse' ELSE 'missing a run' END
                USING ERRCODE = code, DETAIL = upper(left(says, 1)) || substr(says, 2) || '.',
                      HINT = CASE state WHEN 'worse' THEN format('See fsbench.history(%L, %L). When it is to stay so: SELECT fsbench.acknowledge(%s, ''why'', %L).', $1, $2, run_id, $2)
                                  ELSE format('See fsbench.result for runs with the label %s, and what starts them.', $1) END;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench.check_history IS 'Checks the runs of every night, for a job or a pipeline that should fail. Raises an error when runs became worse by at least worse_by and stay so (SQLSTATE PF001), or when the last good run is older than due (PF002). Otherwise returns a row for each current segment: good; too_few, under 11 nights of this level; suspect, one bad night, reported on the channel fsbench_history and repeated twice; suspect_repeated. Only runs of the caller are repeated; repeats => 0 repeats none. See fsbench.acknowledge()';

CREATE FUNCTION fsbench.acknowledge(run_id bigint, note text DEFAULT NULL, metric text DEFAULT 'tps') RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM fsbench._check_runs(ARRAY[$1]);
    PERFORM fsbench._is_more_better($3);
    IF octet_length($2) > 10000 THEN
        RAISE EXCEPTION 'the note is too long'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It has %s bytes, and at most 10000 are kept.', octet_length($2)),
                  HINT = 'Say in a few sentences why the change is accepted.';
    END IF;
    INSERT INTO fsbench.acknowledgement AS a (run_id, metric, note) VALUES ($1, $3, $2)
    ON CONFLICT ON CONSTRAINT acknowledgement_pkey DO UPDATE SET note = excluded.note, acknowledged_by = excluded.acknowledged_by, acknowledged_at = excluded.acknowledged_at;
    RETURN $1;
END
$$;
COMMENT ON FUNCTION fsbench.acknowledge IS 'Accepts a change for the worse that begins with this run: fsbench.check_history() then compares with the new level';

-- Results, histograms and findings stay: they are what histories and verdicts are made of.
CREATE FUNCTION fsbench.thin(older_than interval, only_say boolean DEFAULT false)
    RETURNS TABLE (runs bigint, seconds bigint, waits bigint, bytes bigint, removed boolean)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 1 AS $$
DECLARE
    old bigint[];
    all_seconds bigint;
    all_waits bigint;
BEGIN
    IF older_than IS NULL OR older_than < interval '0' THEN
        RAISE EXCEPTION 'older_than must be 0 or above'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('It is %s.', coalesce(older_than::text, 'null')),
                  HINT = 'Call it as in SELECT * FROM fsbench.thin(''90 days'', only_say => true).';
    END IF;
    SELECT array_agg(r.run_id) INTO old FROM fsbench.run_log r WHERE r.ended_at < clock_timestamp() - older_than AND r.status IN ('done', 'failed', 'cancelled');
    SELECT count(*), count(*) FILTER (WHERE s.run_id = ANY (old)), count(DISTINCT s.run_id) FILTER (WHERE s.run_id = ANY (old)) INTO all_seconds, seconds, runs FROM fsbench.sample s;
    SELECT count(*), count(*) FILTER (WHERE w.run_id = ANY (old)) INTO all_waits, waits FROM fsbench.wait_event w;
    bytes := pg_total_relation_size('fsbench.sample') * seconds / greatest(all_seconds, 1) + pg_total_relation_size('fsbench.wait_event') * waits / greatest(all_waits, 1);
    removed := NOT coalesce(only_say, false);
    IF removed THEN
        DELETE FROM fsbench.sample s WHERE s.run_id = ANY (old);
        DELETE FROM fsbench.wait_event w WHERE w.run_id = ANY (old);
    END IF;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench.thin IS 'Removes the seconds and waits of runs that have ended so long ago, and keeps their results, histograms and findings; what is made of seconds only, such as the metric tps_cv and the worst second, is gone with them; says of how many runs, how many rows, and about how many bytes, which the tables use again after a VACUUM. only_say => true: beforehand, removing nothing. For the owner of the extension';

-- Functions and views for studies.

CREATE FUNCTION fsbench._builtin_studies() RETURNS TABLE (study text, definition text)
    LANGUAGE c STABLE PARALLEL SAFE ROWS 6 AS 'MODULE_PATHNAME', 'fsbench_builtin_studies_wrapper';
COMMENT ON FUNCTION fsbench._builtin_studies IS 'The studies that come with pgfsbench, as JSON. Private; read fsbench.study_definitions';

CREATE FUNCTION fsbench._study(asked jsonb, plan_only boolean) RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_study_wrapper';
COMMENT ON FUNCTION fsbench._study IS 'Starts a study, or only says what that would be. Private: called by fsbench.study() and study_plan()';

CREATE FUNCTION fsbench.study(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true, misaligned_device text DEFAULT NULL,
    neighbours text DEFAULT 'unexpected', devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL)
    RETURNS text LANGUAGE sql VOLATILE PARALLEL UNSAFE
    RETURN fsbench._study(pg_catalog.jsonb_build_object('study', study, 'image_size', image_size, 'device', device, 'part', part, 'quick', quick,
        'period', period, 'scale', scale, 'duration_us', (CASE WHEN EXTRACT(epoch FROM duration) OPERATOR(pg_catalog.>) 1e9::numeric THEN 1e9::numeric ELSE EXTRACT(epoch FROM duration) END
        OPERATOR(pg_catalog.*) 1e6::numeric)::bigint, 'blocks', blocks,
        'log_device', log_device, 'bindir', bindir, 'power_loss_protected', power_loss_protected, 'start', start,
        'misaligned_device', misaligned_device, 'neighbours', neighbours, 'devices', devices, 'image_count', image_count,
        'data', data, 'database', database), false);
COMMENT ON FUNCTION fsbench.study IS 'Repeats a published benchmark on an image or a device of this machine: makes its targets, and starts an experiment for each question of the part. Returns its name at once. part: one of fsbench.studies.parts, several with commas between them, or all. See fsbench.study_claims() and fsbench.study_report(). quick: an hour''s worth in ten minutes; scale, duration and blocks shrink or enlarge it. period: with the settings of its time (true), of today (false), or those of its time only beside the published table (NULL), which parts with -today behind their names make once more with those of today. log_device: for variants whose log is elsewhere; bindir: a second build of the server; misaligned_device: a partition of the same disk that is misaligned on purpose; power_loss_protected: of the device, as in fsbench.create_target(); start => false only records it; neighbours: as in fsbench.experiment(); devices: several devices, and image_count: several images, for variants with a layout; data and database: the runs make their tables in this database of a copy that fsbench.prepare_data() has made, and questions about data of a fixed size are left out';

CREATE FUNCTION fsbench.study_plan(study text, image_size text DEFAULT NULL, device text DEFAULT NULL, part text DEFAULT NULL, quick boolean DEFAULT false,
    period boolean DEFAULT NULL, scale integer DEFAULT NULL, duration interval DEFAULT NULL, blocks integer DEFAULT NULL, log_device text DEFAULT NULL,
    bindir text DEFAULT NULL, power_loss_protected boolean DEFAULT NULL, start boolean DEFAULT true, misaligned_device text DEFAULT NULL,
    neighbours text DEFAULT 'unexpected', devices text[] DEFAULT NULL, image_count integer DEFAULT NULL, data text DEFAULT NULL, database text DEFAULT NULL)
    RETURNS TABLE (part text, item text, says text) LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 60 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.part, r.item, r.says FROM jsonb_to_recordset(fsbench._study(jsonb_build_object('study', $1, 'image_size', $2, 'device', $3, 'part', $4,
        'quick', $5, 'period', $6, 'scale', $7, 'duration_us', (CASE WHEN EXTRACT(epoch FROM $8) > 1e9 THEN 1e9 ELSE EXTRACT(epoch FROM $8) END * 1e6)::bigint, 'blocks', $9, 'log_device', $10, 'bindir', $11,
        'power_loss_protected', $12, 'start', $13, 'misaligned_device', $14, 'neighbours', $15, 'devices', $16, 'image_count', $17,
        'data', $18, 'database', $19), true)::jsonb) AS r (part text, item text, says text)
    $$;
COMMENT ON FUNCTION fsbench.study_plan IS 'Shows what fsbench.study() would do with these arguments, and changes nothing: its experiments, what they need, what is left out here and what would help, how each claim is decided, and each run';

CREATE FUNCTION fsbench.study_claims(study text)
    RETURNS TABLE (claim text, says text, seen text, decided_by text, here text, estimate float8, low float8, high float8, why text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 20 AS 'MODULE_PATHNAME', 'fsbench_study_claims_wrapper';
COMMENT ON FUNCTION fsbench.study_claims IS 'Each claim of a study: what is claimed (says), what the author saw (seen), what decides it, and whether it holds here: holds, does not hold, inconclusive or not tested. estimate, low, high: the ratio that decides with its interval; by ranges of the runs that of the medians, and of the ranges; of a knee degrees';

CREATE FUNCTION fsbench.study_report(study text)
    RETURNS TABLE (question text, variant text, metric text, published float8, unit text, published_percent float8, measured float8,
        measured_percent float8, runs integer, ratio float8, low float8, high float8, compared text, remark text, not_tested text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 30 AS 'MODULE_PATHNAME', 'fsbench_study_report_wrapper';
COMMENT ON FUNCTION fsbench.study_report IS 'The author''s table with ours beside it, each also in percent of its best: figures of two machines are not compared. ratio, low, high: here, to the baseline of the question; of figures by which its experiment does not decide of the medians, and of the ranges of their runs. A knee is a degree with its interval. compared: whether the variant stands to the baseline as it did there: same order, reversed, or not told apart. not_tested: why the variant was not tested here';

CREATE FUNCTION fsbench.define_study(definition jsonb) RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_define_study_wrapper';
COMMENT ON FUNCTION fsbench.define_study IS 'Records a study of your own, in the form of those that come with pgfsbench (fsbench.study_definitions), checked as strictly, or puts it in place of one that you have defined before; returns its name';

CREATE FUNCTION fsbench.drop_study(study text, keep_runs boolean DEFAULT false) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_drop_study_wrapper';
COMMENT ON FUNCTION fsbench.drop_study IS 'Removes a started study that is over, with its experiments, and with its targets and runs unless keep_runs. Removes the definition of a study of your own that was not started. Returns the name';

CREATE VIEW fsbench.study_definitions AS
    SELECT b.study, b.definition::jsonb AS definition, false AS is_own FROM fsbench._builtin_studies() b
    UNION ALL SELECT o.study, o.definition, true FROM fsbench.study_definition o;
COMMENT ON VIEW fsbench.study_definitions IS 'Studies as they are defined: those that come with pgfsbench, and your own';
COMMENT ON COLUMN fsbench.study_definitions.is_own IS 'Whether it was defined in this database';

CREATE VIEW fsbench.studies AS
    SELECT d.study, d.definition ->> 'title' AS title, d.definition ->> 'author' AS author, (d.definition ->> 'year')::integer AS year,
           ARRAY(SELECT q.part FROM pg_catalog.jsonb_array_elements(d.definition -> 'questions') WITH ORDINALITY AS e (question, place),
                 LATERAL (SELECT e.question ->> 'part' AS part) q GROUP BY q.part ORDER BY pg_catalog.min(e.place)) AS parts,
           pg_catalog.jsonb_array_length(d.definition -> 'claims') AS claims, d.is_own,
           CASE WHEN s.study IS NULL THEN NULL
                WHEN n.open > 0 THEN 'on' ELSE 'over' END AS status,
           s.created_at, n.experiments
    FROM fsbench.study_definitions d
    LEFT JOIN fsbench.study s USING (study)
    LEFT JOIN LATERAL (SELECT pg_catalog.array_agg(e.experiment ORDER BY e.experiment_id) AS experiments,
                              pg_catalog.count(*) FILTER (WHERE e.status NOT IN ('done', 'cancelled')) AS open
        FROM fsbench.study_experiment x JOIN fsbench.experiment e USING (experiment_id) WHERE x.study = d.study) n ON true
    ORDER BY d.is_own, d.definition ->> 'year', d.study;
COMMENT ON VIEW fsbench.studies IS 'Studies that fsbench.study() repeats: those that come with pgfsbench, and your own';
COMMENT ON COLUMN fsbench.studies.title IS 'Title';
COMMENT ON COLUMN fsbench.studies.author IS 'Author';
COMMENT ON COLUMN fsbench.studies.year IS 'Year of its publication';
COMMENT ON COLUMN fsbench.studies.parts IS 'Parts: one is made at a time, several with commas between them, or all';
COMMENT ON COLUMN fsbench.studies.claims IS 'Number of claims';
COMMENT ON COLUMN fsbench.studies.status IS 'on while an experiment of it is not over, over after that; NULL: not started here';
COMMENT ON COLUMN fsbench.studies.created_at IS 'Time of its start here';
COMMENT ON COLUMN fsbench.studies.experiments IS 'Names of its experiments, in the order in which they are made';

CREATE VIEW fsbench.published AS
    SELECT d.study, f.variant, f.metric, f.value, f.unit, f.runs, f.remark, coalesce(f.source, d.definition ->> 'source') AS source
    FROM fsbench.study_definitions d,
         LATERAL ROWS FROM (pg_catalog.jsonb_to_recordset(d.definition -> 'published')
             AS (variant text, metric text, value float8, unit text, runs float8[], remark text, source text)) WITH ORDINALITY
             AS f (variant, metric, value, unit, runs, remark, source, place)
    ORDER BY d.is_own, d.definition ->> 'year', d.study, f.place;
COMMENT ON VIEW fsbench.published IS 'The figures that the authors of studies have published, of their machines; fsbench.study_report() has ours beside them';
COMMENT ON COLUMN fsbench.published.variant IS 'Variant of the figure';
COMMENT ON COLUMN fsbench.published.metric IS 'The measured quantity, in the author''s words';
COMMENT ON COLUMN fsbench.published.value IS 'Figure';
COMMENT ON COLUMN fsbench.published.unit IS 'Unit of the figure';
COMMENT ON COLUMN fsbench.published.runs IS 'Each run, where they were published';
COMMENT ON COLUMN fsbench.published.remark IS 'Remark about the figure';
COMMENT ON COLUMN fsbench.published.source IS 'Source of the figure';

-- One study whose rows cannot be read hides no other one in a view.
CREATE FUNCTION fsbench._claims(study text)
    RETURNS TABLE (claim text, says text, seen text, decided_by text, here text, estimate float8, low float8, high float8, why text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 20 AS $$
BEGIN
    RETURN QUERY SELECT c.* FROM fsbench.study_claims($1) c;
EXCEPTION WHEN data_corrupted OR data_exception OR internal_error OR program_limit_exceeded THEN
    why := 'cannot be read: ' || SQLERRM;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._claims IS 'fsbench.study_claims(), or why that cannot be read. Private: a view calls it';

CREATE FUNCTION fsbench._published(study text)
    RETURNS TABLE (question text, variant text, metric text, published float8, unit text, published_percent float8, measured float8,
        measured_percent float8, runs integer, ratio float8, low float8, high float8, compared text, remark text, not_tested text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp ROWS 30 AS $$
BEGIN
    RETURN QUERY SELECT r.* FROM fsbench.study_report($1) r;
EXCEPTION WHEN data_corrupted OR data_exception OR internal_error OR program_limit_exceeded THEN
    remark := 'cannot be read: ' || SQLERRM;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._published IS 'fsbench.study_report(), or why that cannot be read. Private: a view calls it';

-- Data of pages and pictures of studies.
CREATE VIEW fsbench.chart_claim AS
    SELECT s.study, c.number::integer AS number, c.claim, c.says, c.seen, c.decided_by, c.here, d.question, d.variant, d.compared_with, d.metric, d.expected, d.factor, d.rule,
           (SELECT (q.question ->> 'margin')::float8 FROM pg_catalog.jsonb_array_elements(s.definition -> 'questions') q (question)
            WHERE q.question ->> 'question' = d.question) AS margin,
           c.estimate, c.low, c.high, c.why
    FROM fsbench.study s
    CROSS JOIN LATERAL fsbench._claims(s.study) WITH ORDINALITY
        AS c (claim, says, seen, decided_by, here, estimate, low, high, why, number)
    LEFT JOIN LATERAL (
        SELECT e.decision ->> 'question' AS question, e.decision ->> 'variant' AS variant, e.decision ->> 'with' AS compared_with, e.decision ->> 'metric' AS metric,
               e.decision ->> 'expected' AS expected, (e.decision ->> 'factor')::float8 AS factor, e.decision ->> 'by' AS rule
        FROM pg_catalog.jsonb_array_elements(s.definition -> 'claims') o (claim), LATERAL (SELECT o.claim -> 'decision' AS decision) e
        WHERE o.claim ->> 'claim' = c.claim AND pg_catalog.jsonb_typeof(e.decision) = 'object') d ON true;
COMMENT ON VIEW fsbench.chart_claim IS 'Claims of studies that were started, as fsbench.study_claims() judges them, to be drawn: with what they are about';
COMMENT ON COLUMN fsbench.chart_claim.number IS 'Place of the claim in its study, from 1';
COMMENT ON COLUMN fsbench.chart_claim.claim IS 'Claim';
COMMENT ON COLUMN fsbench.chart_claim.says IS 'The claim';
COMMENT ON COLUMN fsbench.chart_claim.seen IS 'The author''s observation';
COMMENT ON COLUMN fsbench.chart_claim.decided_by IS 'What decides it, in words';
COMMENT ON COLUMN fsbench.chart_claim.here IS 'holds, does not hold, inconclusive or not tested';
COMMENT ON COLUMN fsbench.chart_claim.question IS 'Question of the study that decides; NULL: nothing does';
COMMENT ON COLUMN fsbench.chart_claim.variant IS 'Variant of the claim';
COMMENT ON COLUMN fsbench.chart_claim.compared_with IS 'Variant that this is compared with';
COMMENT ON COLUMN fsbench.chart_claim.metric IS 'Metric that decides the claim';
COMMENT ON COLUMN fsbench.chart_claim.expected IS 'more, less, same or knee';
COMMENT ON COLUMN fsbench.chart_claim.factor IS 'Least ratio (more), or largest ratio (less) of the claim; NULL: 1';
COMMENT ON COLUMN fsbench.chart_claim.rule IS 'interval, ranges or knee';
COMMENT ON COLUMN fsbench.chart_claim.margin IS 'Margin of the question, within which two are the same';
COMMENT ON COLUMN fsbench.chart_claim.estimate IS 'Ratio that decides, here; of a knee its degree';
COMMENT ON COLUMN fsbench.chart_claim.low IS 'Low end of its interval';
COMMENT ON COLUMN fsbench.chart_claim.high IS 'High end of it';
COMMENT ON COLUMN fsbench.chart_claim.why IS 'Why it is judged so';

CREATE VIEW fsbench.chart_published AS
    SELECT s.study, r.number::integer AS number, r.question, r.variant, r.metric, r.published, r.unit, r.published_percent, r.measured, r.measured_percent, r.runs,
           r.ratio, r.low, r.high, r.compared, r.remark, r.not_tested
    FROM fsbench.study s
    CROSS JOIN LATERAL fsbench._published(s.study) WITH ORDINALITY
        AS r (question, variant, metric, published, unit, published_percent, measured, measured_percent, runs, ratio, low, high, compared, remark, not_tested, number);
COMMENT ON VIEW fsbench.chart_published IS 'Tables of fsbench.study_report() of studies that were started, to be drawn: what the author has published, with ours beside it';
COMMENT ON COLUMN fsbench.chart_published.number IS 'Place in the table, from 1';
COMMENT ON COLUMN fsbench.chart_published.question IS 'Question; NULL: nothing of ours stands beside it';
COMMENT ON COLUMN fsbench.chart_published.variant IS 'Variant';
COMMENT ON COLUMN fsbench.chart_published.metric IS 'Metric';
COMMENT ON COLUMN fsbench.chart_published.published IS 'Figure of the author, of his machine';
COMMENT ON COLUMN fsbench.chart_published.unit IS 'Unit of both figures';
COMMENT ON COLUMN fsbench.chart_published.published_percent IS 'Published figure in percent of the author''s best';
COMMENT ON COLUMN fsbench.chart_published.measured IS 'Mean of the runs that count here';
COMMENT ON COLUMN fsbench.chart_published.measured_percent IS 'Measured figure in percent of the best here';
COMMENT ON COLUMN fsbench.chart_published.runs IS 'Number of runs that count';
COMMENT ON COLUMN fsbench.chart_published.ratio IS 'Ratio to the baseline of the question, here';
COMMENT ON COLUMN fsbench.chart_published.compared IS 'Whether the variant stands to the baseline as it did there: same order, reversed, or not told apart';
COMMENT ON COLUMN fsbench.chart_published.not_tested IS 'Why the variant was not tested here';

-- Out of one database, as JSON lines for another.
--
-- A line holds no backslash: in strings, the characters " % \ and control characters are written %22 and so on, as in a URL. So COPY's text
-- format leaves lines as they are, both ways.

-- Columns that are left out mean something only where a run was made, or would steer something.
CREATE FUNCTION fsbench._exported() RETURNS TABLE (place integer, relation name, key text, parent text, left_out name[], option text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 20 AS $$
    SELECT row_number() OVER (ORDER BY v.place, v.relation)::integer, v.relation, v.key, v.parent, v.left_out, v.option FROM (VALUES
        (0, 'run_log'::name, 'run_id', 'run_id', '{requested_by,work_database,work_database_oid,work_mark,kept,copied}'::name[], NULL::text),
        (1001, 'experiment', 'experiment_id', 'experiment_id', '{requested_by,mark,confirms,over_at_latest,next_blocks}', NULL),
        (1002, 'experiment_target', 'experiment_id, target_number', 'experiment_id', '{}', NULL),
        (1003, 'experiment_run', 'experiment_id, block, target_number, attempt', 'experiment_id', '{}', NULL),
        (1004, 'experiment_log', 'experiment_id, log_id', 'experiment_id', '{log_id,by}', NULL)
        UNION ALL SELECT t.place, t.relation, CASE t.key WHEN 'run_id' THEN t.key ELSE 'run_id, ' || t.key END, 'run_id', '{}', NULL
        FROM fsbench._result_tables() t
        -- Documents of the runs above, by their hashes.
        UNION ALL SELECT 1000, d.relation, 'sha256, part', 'sha256', '{}', d.option FROM fsbench._document_tables() d) AS v (place, relation, key, parent, left_out, option)
    $$;
COMMENT ON FUNCTION fsbench._exported IS 'Tables that files of fsbench.export() hold, in their order, and columns that they do not hold; option of a run that has the hashes of a table of texts. Private';

-- A hash of short texts says what was left out. A hash of that hash and a secret of the file tells whether the texts of two runs differ.
CREATE FUNCTION fsbench._hide_hashes(document jsonb, prefix text[], secret text) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    path text[];
BEGIN
    FOR path IN SELECT prefix || ARRAY[d.option, 'sha256'] FROM fsbench._document_tables() d LOOP
        CONTINUE WHEN document #>> path IS NULL;
        document := jsonb_set(document, path, to_jsonb(encode(sha256(convert_to(secret || (document #>> path), 'UTF8')), 'hex')));
    END LOOP;
    RETURN document;
END
$$;
COMMENT ON FUNCTION fsbench._hide_hashes IS 'Parameters of a run with other hashes of texts, which a secret decides. Private';

CREATE FUNCTION fsbench._export_line(line text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT regexp_replace(replace(replace(replace(replace(replace(replace(replace(replace($1, '%', '%25'), '\\', '%5C'), '\"', '%22'), '\n', '%0A'), '\r', '%0D'),
        '\t', '%09'), '\b', '%08'), '\f', '%0C'), '\\u00([0-9a-f]{2})', '%\1', 'g')
    $$;
COMMENT ON FUNCTION fsbench._export_line IS 'A line of JSON without backslashes. Private';

-- The bytes that a checksum is made of are the same in each encoding.
CREATE FUNCTION fsbench._line_hash(before bytea, line text) RETURNS bytea
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
    SELECT sha256(before || CASE WHEN getdatabaseencoding() = 'SQL_ASCII' THEN decode(replace(line, '\', '\\'), 'escape') ELSE convert_to(line, 'UTF8') END)
    $$;
COMMENT ON FUNCTION fsbench._line_hash IS 'The checksum of a file up to this line: SHA-256 of the one up to the line before, and of the line. Private';

CREATE FUNCTION fsbench.export(experiment text DEFAULT NULL, run_ids bigint[] DEFAULT NULL, history text DEFAULT NULL, texts boolean DEFAULT true) RETURNS SETOF text
    -- Reads one snapshot: data that are removed meanwhile are in the file whole, or not at all.
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 1000
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET timezone = 'GMT' SET intervalstyle = 'postgres' SET extra_float_digits = 1
    AS $$
#variable_conflict use_column
DECLARE
    ids bigint[];
    experiment_ids bigint[] := '{}';
    problem text;
    hash bytea := '';
    line text;
    longest integer;
    n integer := 0;
    part record;
    expression text;
    names jsonb;
    hashes text[];              -- of texts that the runs refer to
    salt text := gen_random_uuid();
BEGIN
    IF num_nonnulls($1, $2, $3) <> 1 THEN
        RAISE EXCEPTION 'one of experiment, run_ids and history must be given'
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'A file has one experiment, some runs, or all runs with a label.',
                  HINT = 'Call it as in \copy (SELECT fsbench.export(''new server'')) TO ''x.jsonl''.';
    END IF;
    IF $1 IS NOT NULL THEN
        SELECT array_agg(e.experiment_id), max(CASE WHEN e.status NOT IN ('done', 'cancelled') THEN e.status END) INTO experiment_ids, problem
        FROM fsbench.experiment e WHERE e.experiment = $1;
        IF experiment_ids IS NULL THEN
            RAISE EXCEPTION 'experiment "%" does not exist', $1
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no experiment of this name in this database.', HINT = 'See fsbench.experiments.';
        ELSIF problem IS NOT NULL THEN
            RAISE EXCEPTION 'experiment "%" is not over', $1 USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('Its status is %s.', problem),
                      HINT = 'Wait for it with CALL fsbench.wait_experiment(), or end it with fsbench.cancel_experiment().';
        END IF;
        SELECT array_agg(DISTINCT x.run_id) INTO ids
        FROM fsbench.experiment_run x JOIN fsbench.run_log r USING (run_id) WHERE x.experiment_id = ANY (experiment_ids);
    ELSIF $2 IS NOT NULL THEN
        IF cardinality($2) = 0 THEN
            RAISE EXCEPTION 'run_ids must name runs'
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It is empty.', HINT = 'Call it as in \copy (SELECT fsbench.export(run_ids => ''{7,8}'')) TO ''x.jsonl''.';
        END IF;
        PERFORM fsbench._check_runs($2);
        ids := ARRAY(SELECT DISTINCT r FROM unnest($2) r ORDER BY r);
    ELSE
        -- A label with an @ may be one of this database, too.
        SELECT coalesce(array_agg(r.run_id) FILTER (WHERE i.run_id IS NULL), array_agg(r.run_id)) INTO ids
        FROM fsbench.run_log r LEFT JOIN fsbench.imported_run i USING (run_id) WHERE r.label = $3 AND r.status IN ('done', 'failed', 'cancelled');
        IF ids IS NULL THEN
            RAISE EXCEPTION 'no run has the label "%"', $3
                USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this label in fsbench.run_log of this database that is over.',
                      HINT = 'Give it to the runs: fsbench.start(label => ...).';
        END IF;
    END IF;
    ids := coalesce(ids, '{}');
    SELECT fsbench._some_runs(array_agg(r.run_id)) INTO problem FROM fsbench.run_log r WHERE r.run_id = ANY (ids) AND r.status NOT IN ('done', 'failed', 'cancelled');
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'run % is not over', problem
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'Only what is over is exported.', HINT = 'Wait for it with CALL fsbench.wait().';
    END IF;
    SELECT fsbench._some_runs(array_agg(i.run_id)) INTO problem FROM fsbench.imported_run i WHERE i.run_id = ANY (ids);
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'run % was imported', problem
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'A file tells of what was measured where it is written.',
                  HINT = 'Take the file that it came from; fsbench.imported says of which host.';
    END IF;

    FOR part IN SELECT 0 AS place, NULL::name AS relation, NULL::text AS key, NULL::text AS parent, NULL::name[] AS left_out, NULL::text AS option
                UNION ALL SELECT x.* FROM fsbench._exported() x ORDER BY place
    LOOP
        CONTINUE WHEN (part.relation IN ('statement', 'verification') OR part.option IS NOT NULL) AND $4 IS FALSE;
        IF part.relation IS NULL THEN
            SELECT format('"pgfsbench_export": %s', jsonb_build_object('format', 1, 'pgfsbench', fsbench.version(), 'exported_at', clock_timestamp(),
                'hostname', max(e.hostname), 'host_fingerprints', coalesce(jsonb_agg(DISTINCT e.host_fingerprint) FILTER (WHERE e.host_fingerprint IS NOT NULL), '[]'),
                'runs', cardinality(ids), 'experiments', cardinality(experiment_ids))) INTO line
            FROM fsbench.environment e WHERE e.run_id = ANY (ids);
            n := n + 1;
            line := fsbench._export_line(format('{"n": %s, %s}', n, line));
            hash := fsbench._line_hash(hash, line);
            RETURN NEXT line;
            CONTINUE;
        END IF;
        -- A function takes a hundred arguments, and a run has more columns.
        SELECT jsonb_agg(p.names ORDER BY p.g), string_agg(format('jsonb_build_array(%s)', p.list), ' || ' ORDER BY p.g) INTO names, expression
        FROM (SELECT (a.attnum / 90) AS g, jsonb_agg(a.attname ORDER BY a.attnum) AS names, string_agg(CASE
                  -- Texts are in the file once, or not at all.
                  WHEN (part.relation, a.attname) IN (('experiment', 'asked'), ('experiment', 'parameters')) THEN
                      (SELECT concat('t.', a.attname, string_agg(format(' #- %L', CASE a.attname WHEN 'asked' THEN '{run}'::text[] ELSE '{}' END || ARRAY[d.option, m]), ''))
                       FROM fsbench._document_tables() d, unnest('{sha256}' || d.texts) m)
                  WHEN (part.relation, a.attname) = ('run_log', 'used') AND $4 IS FALSE THEN 'fsbench._hide_hashes(t.used, ''{options}'', $3)'
                  WHEN (part.relation, a.attname) = ('run_log', 'asked') AND $4 IS FALSE THEN 'fsbench._hide_hashes(t.asked, ''{}'', $3)'
                  -- The error of a failed check says what was left out.
                  WHEN (part.relation, a.attname) = ('run_log', 'error_detail') AND $4 IS FALSE
                      THEN 'CASE WHEN NOT EXISTS (SELECT FROM fsbench.verification v WHERE v.run_id = t.run_id AND NOT v.passed) THEN t.error_detail END'
                  ELSE format('t.%I', a.attname) END, ', ' ORDER BY a.attnum) AS list
              FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped
                AND a.attname <> ALL (part.left_out) GROUP BY 1) p;
        SELECT jsonb_agg(c.name) INTO names FROM jsonb_array_elements(names) g, jsonb_array_elements(g) c (name);
        hashes := CASE WHEN part.option IS NOT NULL THEN ARRAY(SELECT r.used #>> ARRAY['options', part.option, 'sha256'] FROM fsbench.run_log r WHERE r.run_id = ANY (ids)) END;
        -- At most 200 rows, and few bytes: fsbench.import() takes a line and a row apart in memory.
        FOR line, longest IN EXECUTE format('SELECT jsonb_agg(r.row ORDER BY r.nr)::text, max(CASE WHEN r.bytes > 33000 THEN octet_length(fsbench._export_line(r.row::text)) END) FROM ('
                'SELECT s.*, s.nr / 200 AS place, sum(s.bytes) OVER (ORDER BY s.nr) / 150000 AS piece FROM ('
                'SELECT x.row, octet_length(x.row::text) AS bytes, row_number() OVER (ORDER BY %s) - 1 AS nr FROM (SELECT %s AS row, t.* FROM %s t WHERE t.%I = ANY (%s)) x) s) r '
            'GROUP BY r.place, r.piece ORDER BY min(r.nr)', part.key, expression,
            -- A long document has several rows, one after the other.
            CASE WHEN part.option IS NOT NULL THEN format('(SELECT d.sha256, p AS part, substr(d.document, 10000 * p + 1, 10000) AS document FROM fsbench.%I d, generate_series(0, length(d.document) / 10000) p)', part.relation)
                ELSE format('fsbench.%I', part.relation) END, part.parent, CASE WHEN part.option IS NOT NULL THEN '$2' ELSE '$1' END)
            USING CASE part.parent WHEN 'run_id' THEN ids ELSE experiment_ids END, hashes, salt
        LOOP
            IF longest > 100000 THEN
                RAISE EXCEPTION 'a row of table "%" is too long for a file', part.relation
                    USING ERRCODE = 'program_limit_exceeded', DETAIL = format('It has %s bytes, and fsbench.import() reads at most 100000.', longest),
                          HINT = 'Export the other runs with fsbench.export(run_ids => ...).';
            END IF;
            n := n + 1;
            line := fsbench._export_line(format('{"n": %s, "table": "%s", "columns": %s, "rows": %s}', n, part.relation, names, line));
            hash := fsbench._line_hash(hash, line);
            RETURN NEXT line;
        END LOOP;
    END LOOP;
    RETURN NEXT format('{"n": %s, "end": {"lines": %s, "sha256": "%s"}}', n + 1, n, encode(hash, 'hex'));
END
$$;
COMMENT ON FUNCTION fsbench.export IS E'An experiment, runs, or all runs with a label, and all that hangs on them, as JSON lines for fsbench.import() of another database: \\copy (SELECT fsbench.export(''new server'')) TO ''x.jsonl''. Only what is over, and was measured here. texts => false leaves out what scripts and statements say: scripts, variables, init script and checks, and tables statement and verification; names of scripts, and messages of errors, stay, and so do hosts and paths';

-- Import of the files that fsbench.export() has written in another database.

CREATE FUNCTION fsbench._line_member(line text, name text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_line_member_wrapper';
COMMENT ON FUNCTION fsbench._line_member IS 'A member of a line of a file, unparsed text; NULL if the line lacks it. Private';

CREATE FUNCTION fsbench._line_count(line text) RETURNS integer LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_line_count_wrapper';
COMMENT ON FUNCTION fsbench._line_count IS 'Number of rows in a line of a file; NULL without rows. Private';

CREATE FUNCTION fsbench._line_rows(line text, from_row integer, bytes integer) RETURNS SETOF text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 200 AS 'MODULE_PATHNAME', 'fsbench_line_rows_wrapper';
COMMENT ON FUNCTION fsbench._line_rows IS 'Rows of a line of a file, unparsed text: from this row on (counted from 1), at least one, and together no more than this number of bytes. Private';

CREATE FUNCTION fsbench._import_problem(line integer, what text) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the file cannot be imported'
        USING ERRCODE = 'bad_copy_file_format', DETAIL = CASE WHEN line IS NULL THEN '' ELSE format('Line %s: ', line) END || what,
              HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it.';
END
$$;
COMMENT ON FUNCTION fsbench._import_problem IS 'Refuses a file. Private';

-- A row when it is stored is not much longer than in the file, and can be read again. That is seen before it is parsed: numbers of jsonb are written
-- without exponents, and what is nested deeply cannot be compared later.
CREATE FUNCTION fsbench._import_line(line text) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    document jsonb;
    numbers text;
BEGIN
    IF octet_length(line) > 100000 THEN
        RAISE EXCEPTION 'a row has % bytes, and at most 100000 are read', octet_length(line) USING ERRCODE = 'data_exception';
    END IF;
    -- Strings hold no quotes: these are written %22, and no line has a backslash by which a string could hold one.
    IF strpos(line, '\') > 0 THEN
        RAISE EXCEPTION 'a row has a backslash' USING ERRCODE = 'data_exception';
    END IF;
    numbers := regexp_replace(line, '"[^"]*"', '', 'g');
    IF numbers ~ '[0-9][eE]' OR translate(numbers, '123456789', '000000000') LIKE '%' || repeat('0', 345) || '%' THEN
        RAISE EXCEPTION 'a number is too large, or has too many digits' USING ERRCODE = 'data_exception';
    END IF;
    BEGIN
        document := regexp_replace(line, '%([0-9A-Fa-f]{2})', '\\u00\1', 'g')::jsonb;
    EXCEPTION WHEN feature_not_supported OR program_limit_exceeded THEN
        RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'data_exception';
    END;
    IF jsonb_path_exists(document, '$.**{50 to last}') THEN
        RAISE EXCEPTION 'values are nested more than 50 deep' USING ERRCODE = 'data_exception';
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION fsbench._import_line IS 'A row of a file, or its first line, as JSON. Private';

-- Texts are shown in lines of their own, beside commands to paste.
CREATE FUNCTION fsbench._import_texts(document jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    -- In other encodings a byte above 127 is a character or a part of one; where the server knows of none, texts are UTF-8.
    controls text := CASE getdatabaseencoding() WHEN 'UTF8' THEN '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]'
        WHEN 'SQL_ASCII' THEN '[\u0001-\u001f\u007f]|\u00c2[\u0080-\u009f]|\u00d8\u009c|\u00e2\u0080[\u008e\u008f\u00a8-\u00ae]|\u00e2\u0081[\u00a6-\u00a9]'
        ELSE '[\u0001-\u001f\u007f]' END;
    words text := document::text;
BEGIN
    IF words ~ controls OR words ~ '\\[bfnrtu]' THEN
        -- A backslash that stands for itself does not begin what follows.
        words := replace(regexp_replace(words, controls, ' ', 'g'), '\\', chr(1));
        words := regexp_replace(words, '\\([bfnrt]|u00[01][0-9a-f])', ' ', 'g');
        RETURN replace(words, chr(1), '\\')::jsonb;
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION fsbench._import_texts IS 'JSON with a space for each control character. Private';

-- judge(), diff() and fingerprints read these parameters, and cast what is checked here.
CREATE FUNCTION fsbench._is_odd_used(used jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_typeof(used) NOT IN ('object', 'null')
        OR jsonb_typeof(used -> 'bound') NOT IN ('object', 'null')
        OR EXISTS (SELECT FROM (VALUES ('{scale}', 2147483647), ('{clients}', 2147483647), ('{warmup_ms}', 2678400000), ('{within_ms}', 2678400000), ('{rate}', 1e15),
                                       ('{latency_limit_ms}', 1e15), ('{bound,duration_ms}', 2678400000), ('{bound,transactions}', 1e15)) n (path, most)
                   WHERE CASE jsonb_typeof(used #> n.path::text[]) WHEN 'number' THEN NOT (used #>> n.path::text[])::numeric BETWEEN 0 AND n.most WHEN 'null' THEN false ELSE used #> n.path::text[] IS NOT NULL END)
        OR EXISTS (SELECT FROM (VALUES ('object', '{settings}'), ('object', '{options}'), ('array', '{chosen}'), ('array', '{chosen_there}'),
                                       ('boolean', '{keep}'), ('boolean', '{force}'), ('boolean', '{options,unlogged}'), ('boolean', '{options,crash}'),
                                       ('string', '{options,cache}'), ('string', '{options,data}'), ('number', '{options,sustain}'), ('number', '{seed}')) k (type, path)
                   WHERE jsonb_typeof(used #> k.path::text[]) NOT IN (k.type, 'null'))
        OR EXISTS (SELECT FROM jsonb_each(CASE jsonb_typeof(used -> 'settings') WHEN 'object' THEN used -> 'settings' ELSE '{}' END) s WHERE jsonb_typeof(s.value) NOT IN ('string', 'null'))
    $$;
COMMENT ON FUNCTION fsbench._is_odd_used IS 'Whether the parameters of a run have a value of a wrong kind or out of range, in what is read of them later. Private';

-- How a value of a column has to be written in JSON, so that a cast can go wrong in a clear way only; and what values no run has.
CREATE FUNCTION fsbench._import_column(relation name, attname name, type oid, given text, words text, OUT value text, OUT wrong text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own jsonb := (SELECT t.limits -> $2 FROM fsbench._result_tables() t WHERE t.relation = $1);
    most integer;
BEGIN
    CASE
        WHEN type = 'jsonb'::regtype THEN
            value := format('nullif(%s, ''null'')', given);
            wrong := CASE WHEN attname IN ('phases', 'steps', 'layers', 'wal_layers', 'durability_codes', 'open_because', 'looks', 'run_order')
                THEN format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > %s)', given, given, given,
                    -- Each call for verdicts goes through all looks.
                    CASE WHEN attname IN ('looks', 'run_order', 'durability_codes', 'open_because') THEN 50 ELSE 10000 END)
                WHEN own = 'true' THEN format('jsonb_typeof(%s) NOT IN (''array'', ''object'', ''null'')', given)
                WHEN (relation, attname) = ('run_log', 'used') THEN format('fsbench._is_odd_used(%s)', given)
                ELSE format('jsonb_typeof(%s) NOT IN (''object'', ''null'')', given) END;
        WHEN type IN ('smallint[]'::regtype, 'bigint[]'::regtype, 'text[]'::regtype) THEN
            value := format('CASE WHEN jsonb_typeof(%s) = ''array'' THEN ARRAY(SELECT e.x FROM jsonb_array_elements_text(%s) WITH ORDINALITY e (x, o) ORDER BY e.o)::%s END',
                given, given, type::regtype);
            wrong := format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > 10000)', given, given, given);
        WHEN type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'real'::regtype, 'float8'::regtype, 'numeric'::regtype) THEN
            value := format('%s::%s', words, type::regtype);
            -- Sums and ratios of what is here can be taken, and charts have a row for each second: of 31 days at most, as a run takes 30.
            wrong := format('CASE jsonb_typeof(%s) WHEN ''number'' THEN NOT %s::numeric BETWEEN %s%s WHEN ''null'' THEN false ELSE true END', given, words, CASE
                WHEN attname IN ('start_second', 'end_second') THEN '-2678400 AND 2678400'
                WHEN attname = 'second' THEN '0 AND 2678400'
                WHEN jsonb_typeof(own) = 'string' THEN own #>> '{}'
                WHEN (relation, attname) IN (('run_log', 'scale'), ('run_log', 'clients')) THEN '0 AND 2147483647'
                WHEN type IN ('smallint'::regtype, 'integer'::regtype) THEN '-2147483648 AND 2147483647'
                -- Hashes, seeds, and sizes of filesystems that have no end.
                WHEN type = 'bigint'::regtype AND (relation = 'environment' OR attname IN ('queryid', 'seed', 'run_id', 'experiment_id'))
                    THEN '-9223372036854775808 AND 9223372036854775807'
                WHEN type = 'bigint'::regtype THEN '-1e15 AND 1e15'
                WHEN type = 'real'::regtype THEN '-1e18 AND 1e18'
                ELSE '-1e24 AND 1e24' END,
                -- Products and quotients of smaller ones are no float8.
                CASE WHEN type IN ('real'::regtype, 'float8'::regtype, 'numeric'::regtype)
                    THEN format(' OR (%s::numeric <> 0 AND abs(%s::numeric) < %s)', words, words, CASE type WHEN 'real'::regtype THEN '1e-30' ELSE '1e-100' END) ELSE '' END);
        WHEN type = 'interval'::regtype THEN
            value := format('%s::interval', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR NOT %s::interval BETWEEN ''0'' AND ''31 days''', given, words);
        WHEN (relation, attname) IN (('finding', 'hint'), ('run_log', 'error_hint')) THEN
            -- It would be shown as a hint of pgfsbench.
            value := 'NULL::text';
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'')', given);
        WHEN jsonb_typeof(own) = 'array' THEN
            value := words;
            wrong := format('NOT coalesce(%s = ANY (%L::text[]), %L)', words, ARRAY(SELECT jsonb_array_elements_text(own)),
                (SELECT NOT a.attnotnull FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || $1)::regclass AND a.attname = $2));
        WHEN type = 'boolean'::regtype THEN
            value := format('%s::boolean', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''boolean'', ''null'')', given);
        WHEN type = 'timestamptz'::regtype THEN
            value := format('%s::timestamptz', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR %s !~ ''^\d{4}-\d\d-\d\dT[0-9:.+-]+$'' '
                'OR NOT %s::timestamptz BETWEEN ''2000-01-01 UTC'' AND clock_timestamp() + interval ''1 day''', given, words, words);
        ELSE
            value := format('%s::%s', words, type::regtype);
            -- Short ones are names.
            most := CASE WHEN attname IN ('target', 'workload', 'target_name', 'label', 'experiment', 'metric') THEN 200 WHEN jsonb_typeof(own) = 'number' THEN own::integer ELSE 100000 END;
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR length(%s) > %s OR (%L AND fsbench._import_texts(%s) <> %s)', given, words, most, most < 100000, given, given);
    END CASE;
END
$$;
COMMENT ON FUNCTION fsbench._import_column IS 'Expressions that read a column and that detect values to refuse. given is the value as JSON, words as text. Private';

-- Another server that carries a run out may send anything: its figures have the bounds of those in files.
CREATE FUNCTION fsbench._odd_column(relation name, rows jsonb, left_out name[]) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    wrong text;
    odd text;
BEGIN
    -- Numbers of jsonb are written without exponents, and what is nested deeply cannot be compared later.
    IF jsonb_path_exists(rows, '$.**{52 to last}') THEN RETURN '(nested)'; END IF;
    IF translate(regexp_replace(rows::text, '"([^"\\]|\\.)*"', '', 'g'), '123456789', '000000000') LIKE '%' || repeat('0', 345) || '%' THEN
        RETURN '(number)';
    END IF;
    SELECT string_agg(format('WHEN %s THEN %L', i.wrong, a.attname), ' ' ORDER BY a.attnum) INTO wrong
    FROM pg_attribute a, fsbench._import_column($1, a.attname, a.atttypid, format('coalesce(r -> %L, ''null'')', a.attname), format('(r ->> %L)', a.attname)) i
    WHERE a.attrelid = (SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'fsbench'::regnamespace AND c.relname = $1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL ($3);
    EXECUTE format('SELECT max(CASE WHEN jsonb_typeof(r) <> ''object'' THEN ''(no row)'' %s END) FROM jsonb_array_elements($1) r', wrong) INTO odd USING rows;
    RETURN odd;
END
$$;
COMMENT ON FUNCTION fsbench._odd_column IS 'A column with a value that no run has; NULL without one. Private: the library checks what another server sends';

-- A prepared transaction may hold the lock for ever.
CREATE FUNCTION fsbench._lock_imports() RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', CASE WHEN (SELECT s.setting::int BETWEEN 1 AND 60000 FROM pg_settings s WHERE s.name = 'lock_timeout') THEN before ELSE '60s' END, true);
    LOCK TABLE fsbench.imported_file IN SHARE ROW EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', before, true);
EXCEPTION WHEN lock_not_available THEN
    RAISE EXCEPTION 'another transaction imports a file'
        USING ERRCODE = 'lock_not_available', DETAIL = 'It holds a lock on table fsbench.imported_file, for longer than lock_timeout or a minute.',
              HINT = 'End it, and import again. If no session in pg_locks holds the lock, see pg_prepared_xacts.';
END
$$;
COMMENT ON FUNCTION fsbench._lock_imports IS 'Waits until no other transaction imports a file, a minute at most. Private';

-- Only the role that has imported runs of a host may add to them.
CREATE FUNCTION fsbench._check_importer(host text, caller name) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM fsbench.imported_file f WHERE f.host = $1
               AND NOT EXISTS (SELECT FROM pg_roles o WHERE o.rolname IN (f.imported_by, current_user) AND pg_has_role(caller, o.oid, 'USAGE'))) THEN
        RAISE EXCEPTION 'permission denied for what was imported of host "%"', $1
            USING ERRCODE = 'insufficient_privilege', DETAIL = 'Another role has imported it.',
                  HINT = 'Only members of that role, and the owner of the extension, may add to it or drop it. Another name for the host is free: fsbench.import(..., host => ...).';
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._check_importer IS 'Refuses a role that has not imported what is there of a host. Private: called with the rights of the owner';

-- A run is not changed by a second file. Where its row is the same and a row below it is not, one of the two files was changed.
CREATE FUNCTION fsbench._import_differs(runs bigint[], host text, line integer, what text) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% of host "%" is here with other figures',
        (SELECT CASE cardinality(runs) WHEN 1 THEN 'run ' ELSE 'one of the runs ' END || string_agg(i.run_id_there::text, ', ') || CASE WHEN cardinality(runs) > 10 THEN ', ...' ELSE '' END
         FROM (SELECT i.run_id_there FROM fsbench.imported_run i WHERE i.run_id = ANY (runs) ORDER BY 1 LIMIT 10) i), host
        USING ERRCODE = 'duplicate_object', DETAIL = format('Line %s: %s; one of the two files was changed after it was written.', line, what),
              HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it; fsbench.drop_imported() forgets what is here of the host.';
END
$$;
COMMENT ON FUNCTION fsbench._import_differs IS 'Refuses a file that tells something else of a run than one before it. Private';

CREATE FUNCTION fsbench._import_whole(relation name, runs bigint[], rows bigint, host text, line integer) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    there bigint;
BEGIN
    runs := ARRAY(SELECT x FROM unnest(runs) x WHERE x IS NOT NULL GROUP BY x);
    IF cardinality(runs) > 0 AND relation IN (SELECT x.relation FROM fsbench._exported() x) THEN
        EXECUTE format('SELECT count(*) FROM fsbench.%I t WHERE t.run_id = ANY ($1)', relation) INTO there USING runs;
        IF there <> rows THEN
            PERFORM fsbench._import_differs(runs, host, line, format('table %s has %s rows of %s in the file, and %s here', relation, rows,
                CASE cardinality(runs) WHEN 1 THEN 'it' ELSE 'them' END, there));
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._import_whole IS 'Refuses a file that lacks rows of runs that are here, or has more of them. Private';

-- Texts are found by their hash, so that nothing of them is changed: pages show characters that are not seen by their numbers.
CREATE FUNCTION fsbench._import_document(relation name, hash text, words text, hashes text[], line integer) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF hash IS NULL THEN
        RETURN;
    ELSIF hash <> encode(sha256(convert_to(words, 'UTF8')), 'hex') THEN
        PERFORM fsbench._import_problem(line, format('The texts of %ss have another hash than the file says.', relation));
    ELSIF hash <> ALL (hashes) THEN
        PERFORM fsbench._import_problem(line, format('It has texts of %ss to which none of its runs refers.', relation));
    END IF;
    -- The table knows its documents.
    BEGIN
        EXECUTE format('INSERT INTO fsbench.%I (sha256, document) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING', relation) USING hash, words;
    EXCEPTION WHEN check_violation OR data_exception OR program_limit_exceeded OR statement_too_complex THEN
        PERFORM fsbench._import_problem(line, format('The texts of %1$ss are no document of %1$ss.', relation));
    END;
END
$$;
COMMENT ON FUNCTION fsbench._import_document IS 'Stores texts of a file, if there are any; hashes are those that its runs refer to. Private';

CREATE FUNCTION fsbench._import_documents(relation name, rows jsonb[], attributes jsonb, hashes text[], line integer, INOUT hash text, INOUT words text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    next_hash text;
    next_words text;
BEGIN
    FOR next_hash, next_words IN SELECT max(v.value) FILTER (WHERE a.name = 'sha256'), max(v.value) FILTER (WHERE a.name = 'document')
        FROM unnest(rows) WITH ORDINALITY r (part, o), jsonb_array_elements_text(r.part) WITH ORDINALITY v (value, o)
        JOIN jsonb_array_elements_text(attributes) WITH ORDINALITY a (name, o) ON a.o = v.o GROUP BY r.o ORDER BY r.o
    LOOP
        IF next_hash IS NULL OR next_words IS NULL THEN
            PERFORM fsbench._import_problem(line, format('The texts of %ss have another hash than the file says.', relation));
        ELSIF next_hash IS DISTINCT FROM hash THEN
            PERFORM fsbench._import_document(relation, hash, words, hashes, line);
            hash := next_hash; words := '';
        END IF;
        words := words || next_words;
        -- No run takes longer ones.
        IF length(words) > 1000000 THEN
            PERFORM fsbench._import_problem(line, format('The texts of %ss are too long.', relation));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._import_documents IS 'Puts the parts of texts together, and stores all texts but the last one: hash and words are those that the next row may continue. Private';

-- Called with the rights of the extension's owner: no other role changes results. Whatever the file says, its rows say that they were imported, are over, belong to
-- targets, labels and experiments whose names have an @, and name nothing that could be found again, started or removed.
CREATE FUNCTION fsbench._import(file text, host text, caller name) RETURNS TABLE (suffix text, experiments bigint, runs bigint, already_here bigint)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 1
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET timezone = 'GMT' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1
    AS $$
#variable_conflict use_column
DECLARE
    lines text[];
    longest integer;
    n integer;
    hash bytea := '';
    of_table text;
    attributes jsonb;           -- names of columns
    row_count integer;          -- of a line
    first_row integer;          -- of those that are parsed at a time
    header jsonb;
    stated text;
    called text;
    id bigint;
    digest text;
    old bigint;
    known jsonb := '{}';        -- run there: run here
    fresh jsonb := '{}';        -- the same, of those that were not here
    known_experiments jsonb := '{}';
    fresh_experiments jsonb := '{}';
    -- Those above are copied whenever they grow: they take these up by the thousand.
    recent jsonb := '{}';
    recent_fresh jsonb := '{}';
    recent_count integer := 0;
    places text[];              -- of the rows in hand: numbers there
    ids bigint[];               -- and here
    are_fresh boolean[];
    in_hand jsonb;
    fresh_in_hand jsonb;
    run_count integer := 0;
    experiment_count integer := 0;
    part record;
    columns text;
    expressions text;
    wrong text;
    bad text;
    names text[];
    hashes text[];              -- of texts that the runs refer to
    text_hash text;             -- of the texts that are not stored yet
    words text;
    brought jsonb;              -- of a line, those that were not here: their hashes
    item jsonb;
    rows jsonb[];
    object jsonb;
    this_import bigint;
    name text;
    met integer := 1;
    place integer := 0;
    keys text;
    same text;
    of_relation name;           -- of the runs that were here: what was compared of this table
    compared bigint[] := '{}';
    compared_rows bigint := 0;
    old_runs bigint[];
    old_rows bigint;
BEGIN
    IF file IS NULL THEN
        RAISE EXCEPTION 'file must not be null' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It is the text that fsbench.export() has written.',
                  HINT = 'In psql: \set file `cat x.jsonl` and SELECT * FROM fsbench.import(:''file'');';
    END IF;
    IF octet_length(file) > 256 * 1024 * 1024 THEN
        RAISE EXCEPTION 'the file is too long'
            USING ERRCODE = 'program_limit_exceeded', DETAIL = format('It has %s MB, and at most 256 MB are read: it is held in memory several times.', octet_length(file) / 1024 / 1024),
                  HINT = 'Export its runs in several files: fsbench.export(run_ids => ...).';
    END IF;
    SELECT max(octet_length(l)) INTO longest FROM string_to_table(file, E'\n') l;
    IF longest > 2000000 THEN
        PERFORM fsbench._import_problem(NULL, format('A line has %s bytes, and fsbench.export() writes none of more than 2000000.', longest));
    END IF;
    -- No line of a file is shorter, and an array of millions of them takes a gigabyte.
    IF length(file) - length(replace(file, E'\n', '')) > 10 + length(file) / 25 THEN
        PERFORM fsbench._import_problem(NULL, 'It is not one of fsbench.export(): its lines are too short.');
    END IF;
    -- Not by rtrim(), which takes twelve times the bytes of its text.
    lines := ARRAY(SELECT CASE WHEN s.line LIKE E'%\r' THEN left(s.line, -1) ELSE s.line END FROM string_to_table(file, E'\n') WITH ORDINALITY s (line, o) WHERE s.line <> ''
                   ORDER BY substring(left(s.line, 30) FROM '^\{"n": (\d{1,9})[,}]')::integer, s.o);
    IF coalesce(lines[1] NOT LIKE '{"n": 1, "pgfsbench_export": %', true) THEN
        PERFORM fsbench._import_problem(NULL, 'It is not one of fsbench.export(): its first line does not say so.');
    END IF;
    BEGIN
        header := fsbench._import_texts(fsbench._import_line(lines[1]) -> 'pgfsbench_export');
    EXCEPTION WHEN data_exception THEN
        PERFORM fsbench._import_problem(1, format('%s.', SQLERRM));
    END;
    IF jsonb_typeof(header -> 'format') IS DISTINCT FROM 'number' THEN
        PERFORM fsbench._import_problem(1, 'It does not say of what format the file is.');
    ELSIF (header ->> 'format')::numeric > 1 THEN
        RAISE EXCEPTION 'the file is of format %, which is newer than this pgfsbench', left(header ->> 'format', 20) USING ERRCODE = 'feature_not_supported',
                  DETAIL = format('It was written by pgfsbench %s; pgfsbench %s reads formats up to 1.', coalesce(left(header ->> 'pgfsbench', 50), 'of a version that it does not tell'), fsbench.version()),
                  HINT = 'Update pgfsbench here.';
    ELSIF header -> 'format' <> '1' OR jsonb_typeof(header -> 'host_fingerprints') IS DISTINCT FROM 'array'
          OR jsonb_array_length(header -> 'host_fingerprints') > 10000
          OR NOT coalesce(header ->> 'exported_at' ~ '^\d{4}-\d\d-\d\dT[0-9:.+-]+$', false) THEN
        PERFORM fsbench._import_problem(1, 'It does not say when, on what host and in what format the file was written.');
    END IF;
    FOR n IN 1 .. cardinality(lines) - 1 LOOP
        IF lines[n] NOT LIKE format('{"n": %s, ', n) || '%' THEN
            PERFORM fsbench._import_problem(n, 'It is not where it should be: lines are missing, or there is one too many.');
        END IF;
        hash := fsbench._line_hash(hash, lines[n]);
        CASE btrim(fsbench._line_member(lines[n], 'table'), '"')
            WHEN 'run_log' THEN run_count := run_count + coalesce(fsbench._line_count(lines[n]), 0);
            WHEN 'experiment' THEN experiment_count := experiment_count + coalesce(fsbench._line_count(lines[n]), 0);
            ELSE
        END CASE;
    END LOOP;
    IF run_count > 100000 OR experiment_count > 1000 THEN
        RAISE EXCEPTION 'the file has % runs and % experiments, which are too many', run_count, experiment_count
            USING ERRCODE = 'program_limit_exceeded', DETAIL = 'At most 100000 runs and 1000 experiments are read of one file.',
                  HINT = 'Export its runs in several files: fsbench.export(run_ids => ...).';
    END IF;
    n := cardinality(lines);
    stated := substring(lines[n] FROM '"sha256": "([0-9a-f]{64})"\}\}$');
    IF stated IS NULL OR lines[n] NOT LIKE format('{"n": %s, "end": {"lines": %s, ', n, n - 1) || '%' THEN
        PERFORM fsbench._import_problem(n, 'The file is not complete: its last line is missing.');
    ELSIF stated <> encode(hash, 'hex') THEN
        PERFORM fsbench._import_problem(NULL, format('The checksum is wrong: it says %s, and its lines have %s.', left(stated, 16), left(encode(hash, 'hex'), 16)));
    END IF;
    suffix := coalesce($2, header ->> 'hostname');
    IF suffix !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' IS NOT FALSE THEN
        RAISE EXCEPTION 'there is no name for the host of the file' USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It has to begin with a letter or a digit, and to consist of letters, digits and _ . - (ASCII), 63 at most.',
                  HINT = 'Say how it is to be called here: fsbench.import(..., host => ''db1'').';
    END IF;
    -- One import at a time: each knows what the others have brought.
    PERFORM fsbench._lock_imports();
    called := suffix;
    PERFORM fsbench._check_importer(called, caller);
    experiments := 0; runs := 0; already_here := 0;
    suffix := '@' || suffix;
    BEGIN
        INSERT INTO fsbench.imported_file (host, hostname, host_fingerprints, format, pgfsbench_version, exported_at, sha256, imported_by)
        SELECT called, left(header ->> 'hostname', 200), (SELECT array_agg(left(f, 100)) FROM jsonb_array_elements_text(header -> 'host_fingerprints') f),
               (header ->> 'format')::integer, left(header ->> 'pgfsbench', 50), (header ->> 'exported_at')::timestamptz, stated, caller
        RETURNING import_id INTO this_import;
        FOR n IN 2 .. cardinality(lines) - 1 LOOP
            met := n;
            of_table := btrim(fsbench._line_member(lines[n], 'table'), '"');
            SELECT * INTO part FROM fsbench._exported() x WHERE x.relation = of_table;
            IF part.relation IS NULL OR part.place < place THEN
                PERFORM fsbench._import_problem(n, format('There is no table "%s", or not here.', left(of_table, 63)));
            END IF;
            place := part.place;
            IF of_relation IS DISTINCT FROM part.relation THEN
                PERFORM fsbench._import_document(of_relation, text_hash, words, hashes, n - 1);
                text_hash := NULL; hashes := NULL;
                PERFORM fsbench._import_whole(of_relation, compared, compared_rows, called, n - 1);
                IF of_relation = 'run_log' THEN
                    known := known || recent; fresh := fresh || recent_fresh;
                ELSIF of_relation = 'experiment' THEN
                    known_experiments := known_experiments || recent; fresh_experiments := fresh_experiments || recent_fresh;
                END IF;
                of_relation := part.relation; compared := '{}'; compared_rows := 0;
                recent := '{}'; recent_fresh := '{}'; recent_count := 0;
            END IF;
            attributes := fsbench._import_line(fsbench._line_member(lines[n], 'columns'));
            -- Counted before any row is parsed.
            row_count := fsbench._line_count(lines[n]);
            IF jsonb_typeof(attributes) IS DISTINCT FROM 'array' OR row_count BETWEEN 1 AND 200 IS NOT TRUE THEN
                PERFORM fsbench._import_problem(n, 'It has no columns, no rows, or not as many values as columns.');
            ELSIF jsonb_array_length(attributes) > 500 THEN
                PERFORM fsbench._import_problem(n, 'It has too many columns.');
            END IF;
            -- As jsonb some rows at a time: the whole line would take thirty times its bytes.
            first_row := 1;
            WHILE first_row <= row_count LOOP
            rows := ARRAY(SELECT fsbench._import_line(l) FROM fsbench._line_rows(lines[n], first_row, 100000) l);
            first_row := first_row + cardinality(rows);
            IF EXISTS (SELECT FROM unnest(rows) r WHERE jsonb_typeof(r) <> 'array')
               OR EXISTS (SELECT FROM unnest(rows) r WHERE jsonb_array_length(r) <> jsonb_array_length(attributes)) THEN
                PERFORM fsbench._import_problem(n, 'It has no columns, no rows, or not as many values as columns.');
            END IF;
            SELECT string_agg(DISTINCT coalesce(left(c.name, 63), 'null'), ', ') INTO bad
            FROM (SELECT c.name, count(*) FROM jsonb_array_elements_text(attributes) c (name) GROUP BY 1) c
            WHERE c.count > 1 OR c.name = ANY (part.left_out)
               OR NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = c.name);
            IF bad IS NOT NULL THEN
                RAISE EXCEPTION 'the file has columns that are not known here' USING ERRCODE = 'feature_not_supported',
                          DETAIL = format('Line %s: %s of table %s. It was written by pgfsbench %s, and this is %s.', n, left(bad, 200), part.relation, left(header ->> 'pgfsbench', 50), fsbench.version()),
                          HINT = 'Nothing was changed. If that is a newer version, update pgfsbench here.';
            END IF;
            IF NOT attributes ? part.parent THEN
                PERFORM fsbench._import_problem(n, format('It has no %s.', part.parent));
            END IF;
            SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY c.o), string_agg(CASE
                       WHEN a.attname = 'run_id' AND part.relation = 'experiment_run' THEN format('($2 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN a.attname = 'run_id' THEN format('($3 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN a.attname = 'experiment_id' THEN format('($3 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN (part.relation, a.attname) IN (('run_log', 'target'), ('run_log', 'label'), ('experiment', 'experiment'), ('experiment_target', 'target_name')) THEN format('(r ->> %s) || %L', c.o - 1, suffix)
                       ELSE i.value END, ', ' ORDER BY c.o),
                   string_agg(format('WHEN %s THEN %L', i.wrong, a.attname), ' ' ORDER BY c.o),
                   -- Rows of an older import may lack a column that was not there yet, and may have control characters.
                   string_agg(format('t.%I = f.%I', a.attname, a.attname), ' AND ') FILTER (WHERE a.attname = ANY (string_to_array(part.key, ', '))),
                   coalesce(string_agg(CASE WHEN a.atttypid IN ('text'::regtype, 'jsonb'::regtype)
                       THEN format('(t.%I IS NULL OR fsbench._import_texts(to_jsonb(t.%I)) = to_jsonb(f.%I))', a.attname, a.attname, a.attname)
                       ELSE format('(t.%I IS NULL OR t.%I = f.%I)', a.attname, a.attname, a.attname) END, ' AND ') FILTER (WHERE a.attname <> ALL (string_to_array(part.key, ', '))), 'true')
            INTO columns, expressions, wrong, keys, same
            FROM jsonb_array_elements_text(attributes) WITH ORDINALITY c (name, o)
            JOIN pg_attribute a ON a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attname = c.name AND a.attnum > 0
            CROSS JOIN LATERAL fsbench._import_column(part.relation, a.attname, a.atttypid, format('(r -> %s)', c.o - 1), format('(r ->> %s)', c.o - 1)) i;
            EXECUTE format('SELECT max(CASE %s END) FROM unnest($1) r', wrong) INTO bad USING rows;
            IF bad IS NOT NULL THEN
                PERFORM fsbench._import_problem(n, format('A value of column %s of table %s is of a wrong kind, too long, or cannot be.', bad, part.relation));
            END IF;
            IF part.option IS NOT NULL THEN
                IF hashes IS NULL THEN
                    hashes := ARRAY(SELECT DISTINCT x.hash FROM jsonb_each_text(known || recent) k JOIN fsbench.run_log r ON r.run_id = k.value::bigint,
                                    LATERAL (SELECT r.used #>> ARRAY['options', part.option, 'sha256']) x (hash) WHERE x.hash IS NOT NULL);
                END IF;
                SELECT d.hash, d.words INTO text_hash, words FROM fsbench._import_documents(part.relation, rows, attributes, hashes, n, text_hash, words) d;
                CONTINUE;
            END IF;
            IF part.relation IN ('run_log', 'experiment') THEN
                names := ARRAY(SELECT c.name FROM jsonb_array_elements_text(attributes) WITH ORDINALITY c (name, o) ORDER BY c.o);
                brought := '{}'; places := '{}'; ids := '{}'; are_fresh := '{}';
                FOR item IN SELECT r FROM unnest(rows) r LOOP
                    SELECT jsonb_object_agg(names[v.o], v.value) FILTER (WHERE v.value <> 'null') INTO object FROM jsonb_array_elements(item) WITH ORDINALITY v (value, o);
                    name := object ->> part.parent;
                    IF name IS NULL OR (CASE part.relation WHEN 'run_log' THEN known ELSE known_experiments END) ? name OR recent ? name OR name = ANY (places) THEN
                        PERFORM fsbench._import_problem(n, format('There are two rows of one %s.', part.parent));
                    ELSIF coalesce(object ->> 'status' NOT IN ('done', 'cancelled'), true) AND (part.relation = 'experiment' OR object ->> 'status' IS DISTINCT FROM 'failed') THEN
                        PERFORM fsbench._import_problem(n, 'It tells of something that is not over.');
                    END IF;
                    digest := encode(sha256(convert_to(object::text, 'UTF8')), 'hex');
                    old := NULL;
                    IF part.relation = 'run_log' THEN
                        SELECT i.run_id INTO old FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.sha256 = digest AND f.host = called;
                        -- Numbers of runs begin anew in a new database; the moment does not.
                        IF old IS NULL AND EXISTS (SELECT FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) JOIN fsbench.run_log r USING (run_id)
                                                   WHERE i.run_id_there = name::bigint AND f.host = called AND r.requested_at = (object ->> 'requested_at')::timestamptz) THEN
                            RAISE EXCEPTION 'run % of host "%" is here with other figures', name, called
                                USING ERRCODE = 'duplicate_object', DETAIL = format('Line %s: one of the two files was changed after it was written.', n),
                                      HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it; fsbench.drop_imported() forgets what is here of the host.';
                        END IF;
                        id := coalesce(old, nextval('fsbench.run_id_seq'));
                    ELSE
                        SELECT i.experiment_id INTO old FROM fsbench.imported_experiment i JOIN fsbench.imported_file f USING (import_id) WHERE i.sha256 = digest AND f.host = called;
                        id := coalesce(old, nextval('fsbench.experiment_id_seq'));
                        IF old IS NULL AND EXISTS (SELECT FROM fsbench.experiment e WHERE e.experiment = (object ->> 'experiment') || suffix) THEN
                            RAISE EXCEPTION 'experiment "%" already exists', (object ->> 'experiment') || suffix
                                USING ERRCODE = 'duplicate_object', DETAIL = 'Nothing was changed: it is another one, or what it was when it was not over yet.',
                                      HINT = 'Drop it with fsbench.drop_experiment(), or call the host something else: fsbench.import(..., host => ...).';
                        END IF;
                    END IF;
                    places := places || name; ids := ids || id; are_fresh := are_fresh || (old IS NULL);
                    IF old IS NULL THEN
                        brought := brought || jsonb_build_object(name, digest);
                    END IF;
                END LOOP;
                SELECT jsonb_object_agg(r.place, r.id), coalesce(jsonb_object_agg(r.place, r.id) FILTER (WHERE r.is_fresh), '{}'),
                       already_here + count(*) FILTER (WHERE NOT r.is_fresh),
                       runs + count(*) FILTER (WHERE r.is_fresh AND part.relation = 'run_log'), experiments + count(*) FILTER (WHERE r.is_fresh AND part.relation = 'experiment')
                INTO in_hand, fresh_in_hand, already_here, runs, experiments
                FROM unnest(places, ids, are_fresh) r (place, id, is_fresh);
                -- At once: a statement for each row takes five times as long.
                EXECUTE format('INSERT INTO fsbench.%I (%s, requested_by%s) SELECT %s, $4%s FROM (SELECT fsbench._import_texts(u) AS r FROM unnest($1) u OFFSET 0) t_r WHERE $5 ? (r ->> %s)', part.relation, columns,
                        CASE part.relation WHEN 'experiment' THEN ', mark' ELSE '' END, expressions, CASE part.relation WHEN 'experiment' THEN ', ''''' ELSE '' END,
                        array_position(names, part.parent) - 1)
                    USING rows, known, fresh_in_hand, caller, brought;
                IF part.relation = 'run_log' THEN
                    INSERT INTO fsbench.imported_run SELECT (fresh_in_hand ->> b.key)::bigint, this_import, b.key::bigint, b.value FROM jsonb_each_text(brought) b;
                ELSE
                    INSERT INTO fsbench.imported_experiment SELECT (fresh_in_hand ->> b.key)::bigint, this_import, b.value FROM jsonb_each_text(brought) b;
                END IF;
                recent := recent || in_hand; recent_fresh := recent_fresh || fresh_in_hand;
                recent_count := recent_count + cardinality(places);
                IF recent_count > 2000 AND part.relation = 'run_log' THEN
                    known := known || recent; fresh := fresh || recent_fresh;
                    recent := '{}'; recent_fresh := '{}'; recent_count := 0;
                END IF;
            ELSE
                SELECT a.o - 1 INTO id FROM jsonb_array_elements_text(attributes) WITH ORDINALITY a (name, o) WHERE a.name = part.parent;
                IF EXISTS (SELECT FROM unnest(rows) r
                           WHERE NOT coalesce(CASE part.parent WHEN 'run_id' THEN known ELSE known_experiments END ? (r ->> id::integer), false)) THEN
                    PERFORM fsbench._import_problem(n, format('It tells of a %s of which the file has no row.', part.parent));
                END IF;
                -- Findings are made anew; seconds and waits may have been dropped since, here or there.
                IF part.parent = 'run_id' AND part.relation <> 'finding' AND already_here > 0 THEN
                    -- Row by row, by the primary key: tables are long, and a line is not.
                    EXECUTE format('SELECT min(f.run_id) FILTER (WHERE f.same IS NOT TRUE), array_agg(DISTINCT f.run_id), count(*) '
                        'FROM (SELECT f.run_id, (SELECT bool_and(%s) FROM fsbench.%I t WHERE %s) AS same '
                              'FROM (SELECT %s FROM (SELECT fsbench._import_texts(u) AS r FROM unnest($1) u OFFSET 0) t_r WHERE NOT $4 ? (r ->> %s)) f (%s) '
                              'WHERE (SELECT min(x.run_id) FROM (SELECT t.run_id FROM fsbench.%I t WHERE t.run_id = f.run_id LIMIT 1) x) IS NOT NULL) f',
                            same, part.relation, keys, expressions, id, columns, part.relation)
                        INTO old, old_runs, old_rows USING rows, known, known, fresh;
                    IF old IS NOT NULL THEN
                        PERFORM fsbench._import_differs(ARRAY[old], called, n, format('a row of table %s is another one', part.relation));
                    END IF;
                    compared := compared || old_runs;
                    compared_rows := compared_rows + old_rows;
                END IF;
                EXECUTE format('INSERT INTO fsbench.%I (%s) SELECT %s FROM (SELECT fsbench._import_texts(u) AS r FROM unnest($1) u OFFSET 0) t_r WHERE $3 ? (r ->> %s)', part.relation, columns, expressions, id)
                    USING rows, known, CASE part.parent WHEN 'run_id' THEN fresh ELSE fresh_experiments END;
            END IF;
            END LOOP;
        END LOOP;
        PERFORM fsbench._import_document(of_relation, text_hash, words, hashes, n);
        PERFORM fsbench._import_whole(of_relation, compared, compared_rows, called, n);
        -- Values that the types allow, and no run has.
        met := NULL;
        FOR name IN SELECT t.relation FROM fsbench._result_tables() t JOIN pg_attribute a ON a.attrelid = ('fsbench.' || t.relation)::regclass AND a.attname = 'buckets' LOOP
            EXECUTE format('SELECT ''a histogram'' FROM fsbench.%I h JOIN fsbench.imported_run i USING (run_id) WHERE i.import_id = $1 '
                'AND (cardinality(h.buckets) <> cardinality(h.counts) OR 0 > ANY (h.counts) OR 1000000000000000 < ANY (h.counts) OR 0 > ANY (h.buckets) OR 2048 < ANY (h.buckets) '
                'OR array_position(h.buckets, NULL) IS NOT NULL OR array_position(h.counts, NULL) IS NOT NULL) LIMIT 1', name) INTO bad USING this_import;
            EXIT WHEN bad IS NOT NULL;
        END LOOP;
        IF bad IS NULL THEN
            SELECT 'a second' INTO bad FROM fsbench.sample s JOIN fsbench.imported_run i USING (run_id)
            WHERE i.import_id = this_import AND NOT s.interval_ms > 0 LIMIT 1;
        END IF;
        IF bad IS NULL THEN
            SELECT 'a target' INTO bad FROM fsbench.imported_experiment i JOIN fsbench.experiment e USING (experiment_id)
            LEFT JOIN LATERAL (SELECT count(*) AS targets, max(t.target_number) AS last, min(t.target_number) AS first FROM fsbench.experiment_target t WHERE t.experiment_id = i.experiment_id) t ON true
            LEFT JOIN LATERAL (SELECT max(x.block) AS block, max(x.attempt) AS attempt FROM fsbench.experiment_run x WHERE x.experiment_id = i.experiment_id) x ON true
            WHERE i.import_id = this_import AND NOT (t.targets BETWEEN 1 AND 100 AND t.first = 0 AND t.last = t.targets - 1 AND coalesce(x.block, 0) <= 100 AND coalesce(x.attempt, 1) <= 1000
                AND coalesce(e.baseline_number, 0) BETWEEN 0 AND t.last AND coalesce(e.control_number, 0) BETWEEN 0 AND t.last) LIMIT 1;
        END IF;
        IF bad IS NULL THEN
            SELECT 'a measurement without its run' INTO bad FROM fsbench.experiment_run x JOIN fsbench.imported_experiment i USING (experiment_id)
            WHERE i.import_id = this_import AND x.outcome IN ('measured', 'behind') AND x.run_id IS NULL LIMIT 1;
        END IF;
        IF bad IS NOT NULL THEN
            PERFORM fsbench._import_problem(NULL, format('It has figures of %s that cannot be.', bad));
        END IF;
        DELETE FROM fsbench.finding f USING fsbench.imported_run i WHERE i.import_id = this_import AND f.run_id = i.run_id AND f.code = 'imported';
        INSERT INTO fsbench.finding (run_id, code, severity, message, hint)
        SELECT i.run_id, 'imported', 'info', format('run %s of host %s, imported from a file: it was not measured here', i.run_id_there, called),
               'Nothing but the file, and who gave it, vouches for its figures.'
        FROM fsbench.imported_run i WHERE i.import_id = this_import;
        -- An experiment that cannot be read back would break views that show all experiments.
        FOR name IN SELECT e.experiment FROM fsbench.experiment e JOIN fsbench.imported_experiment i USING (experiment_id) WHERE i.import_id = this_import LOOP
            PERFORM FROM fsbench.compare(name);
            PERFORM FROM fsbench.recommend(name);
            PERFORM FROM fsbench.chart_block b WHERE b.experiment = name;
            PERFORM FROM fsbench.chart_target t WHERE t.experiment = name;
        END LOOP;
        FOR id IN SELECT r.run_id FROM fsbench.imported_run i JOIN fsbench.run_log r USING (run_id) WHERE i.import_id = this_import AND r.status = 'done' LOOP
            PERFORM FROM fsbench.judge(id);
        END LOOP;
        IF experiments = 0 AND runs = 0 THEN
            DELETE FROM fsbench.imported_file f WHERE f.import_id = this_import;
        END IF;
    EXCEPTION
        WHEN bad_copy_file_format OR feature_not_supported OR duplicate_object OR insufficient_privilege THEN
            RAISE;
        WHEN data_exception OR data_corrupted OR integrity_constraint_violation OR invalid_parameter_value OR internal_error OR undefined_object OR program_limit_exceeded THEN
            -- The reason why stored facts cannot be read is in the detail.
            bad := NULL;
            IF SQLSTATE = 'XX001' THEN
                GET STACKED DIAGNOSTICS bad = PG_EXCEPTION_DETAIL;
            END IF;
            PERFORM fsbench._import_problem(met, concat_ws(' ', upper(left(SQLERRM, 1)) || substr(left(SQLERRM, 300), 2) || '.', nullif(left(bad, 300), '')));
    END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._import IS 'Reads a file in the name of a role. Private: called with the rights of the owner';

-- It takes the role whose rights are in use, which need not be the one of the session, and calls what is below with those of the extension's owner.
CREATE FUNCTION fsbench._change_imported(verb text, file text, host text) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_change_imported_wrapper';
COMMENT ON FUNCTION fsbench._change_imported IS 'Imports a file, or drops what was imported. Private';

CREATE FUNCTION fsbench.import(file text, host text DEFAULT NULL) RETURNS TABLE (suffix text, experiments bigint, runs bigint, already_here bigint)
    LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.suffix, r.experiments, r.runs, r.already_here
    FROM jsonb_to_record(fsbench._change_imported('import', $1, $2)::jsonb) r (suffix text, experiments bigint, runs bigint, already_here bigint)
    $$;
COMMENT ON FUNCTION fsbench.import IS 'Reads a whole file of fsbench.export() of another database, or nothing of it. Runs and experiments that are here already stay unchanged. Names of its targets, labels and experiments get an @ and the name of the host (host, or without it the name in the file), and each run the finding imported. Imported runs are not repeated, extended or confirmed, and recommend() makes no lines of them';

CREATE FUNCTION fsbench._drop_imported(host text, caller name) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    files bigint[];
    gone bigint[];
BEGIN
    IF $1 IS NULL THEN
        RAISE EXCEPTION 'host must not be null' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It says what is dropped.', HINT = 'See fsbench.imported.';
    END IF;
    SELECT array_agg(f.import_id) INTO files FROM fsbench.imported_file f WHERE f.host = $1;
    IF files IS NULL THEN
        RAISE EXCEPTION 'nothing was imported of host "%"', $1
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this host in fsbench.imported_file of this database.', HINT = 'See fsbench.imported.';
    END IF;
    PERFORM fsbench._check_importer($1, $2);
    DELETE FROM fsbench.experiment e USING fsbench.imported_experiment i WHERE i.experiment_id = e.experiment_id AND i.import_id = ANY (files);
    SELECT array_agg(i.run_id) INTO gone FROM fsbench.imported_run i WHERE i.import_id = ANY (files);
    DELETE FROM fsbench.run_log r WHERE r.run_id = ANY (gone);
    DELETE FROM fsbench.imported_file f WHERE f.import_id = ANY (files);
    RETURN coalesce(cardinality(gone), 0);
END
$$;
COMMENT ON FUNCTION fsbench._drop_imported IS 'Removes what was imported of a host, in the name of a role. Private: called with the rights of the owner';

CREATE FUNCTION fsbench.drop_imported(host text) RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_imported('drop', NULL, host)::bigint;
COMMENT ON FUNCTION fsbench.drop_imported IS 'Removes all experiments and runs that were imported of a host, and returns how many runs they were';

CREATE VIEW fsbench.imported AS
    SELECT i.run_id, r.target, r.label, r.status, f.host, i.run_id_there, f.hostname, e.host_fingerprint, f.pgfsbench_version, f.exported_at, f.imported_by, f.imported_at, f.import_id
    FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) JOIN fsbench.run_log r USING (run_id) LEFT JOIN fsbench.environment e USING (run_id)
    ORDER BY i.run_id;
COMMENT ON VIEW fsbench.imported IS 'Runs that were imported from files, and where they come from as the files say';
COMMENT ON COLUMN fsbench.imported.target IS 'Target, with the host behind an @';
COMMENT ON COLUMN fsbench.imported.label IS 'Label, with the host behind an @';
COMMENT ON COLUMN fsbench.imported.status IS 'done, failed or cancelled';

-- Who may do what. Everything that starts something is revoked from PUBLIC: a run writes gigabytes, burns transaction ids
-- and takes the machine's attention. No role is created.

REVOKE ALL ON ALL TABLES IN SCHEMA fsbench FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA fsbench FROM PUBLIC;
REVOKE ALL ON ALL PROCEDURES IN SCHEMA fsbench FROM PUBLIC;

-- Bounded arithmetic on arguments: each role with USAGE on the schema may call it.
GRANT EXECUTE ON FUNCTION fsbench.verdict, fsbench.verdict_best, fsbench.set_aside, fsbench.change_points, fsbench.rate_estimate,
    fsbench.student_t TO PUBLIC;

-- Targets, experiments and studies steer what is made, erased and removed. Root pastes what fsbench.recommend() makes of results. A role that may write
-- all data of the database changes none of that.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT t.relation FROM fsbench._result_tables() t UNION ALL SELECT d.relation FROM fsbench._document_tables() d
        UNION ALL SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind = 'r'
            AND c.relname ~ '^(target|run_log|(helper|experiment|imported|study)(_.*)?)$'
    LOOP
        EXECUTE pg_catalog.format('CREATE TRIGGER check_writer BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON fsbench.%I '
            'FOR EACH STATEMENT EXECUTE FUNCTION fsbench._check_writer()', name);
        EXECUTE pg_catalog.format('COMMENT ON TRIGGER check_writer ON fsbench.%I IS %L', name, 'Only the owner of the extension writes there');
    END LOOP;
END
$$;

-- A view reads the tables below with the rights of the role that reads the view.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind = 'v' LOOP
        EXECUTE pg_catalog.format('ALTER VIEW fsbench.%I SET (security_invoker = true)', name);
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA fsbench TO pg_monitor;
GRANT SELECT ON ALL TABLES IN SCHEMA fsbench TO pg_monitor;
GRANT EXECUTE ON FUNCTION fsbench.version(), fsbench._progress(), fsbench._prepared_data(), fsbench.bucket_low_ms(integer),
    fsbench.bucket_high_ms(integer), fsbench._is_of_all(bigint, text), fsbench._rolled_back(bigint, text), fsbench.percentile(float8, bigint[], text, text), fsbench.percentile(float8, bigint, text, text),
    fsbench.wait(bigint), fsbench._ended(bigint, integer), fsbench._block_devices(), fsbench.doctor(), fsbench.judge(bigint),
    fsbench.wait_profile(bigint, integer, integer), fsbench.knee(integer[], float8[]),
    fsbench._check_runs(bigint[]), fsbench._some_runs(bigint[]), fsbench.findings(bigint[]), fsbench.diff(bigint, bigint), fsbench.help(text),
    fsbench._draw, fsbench._shown_target, fsbench._is_ascii_wanted, fsbench.chart, fsbench.chart_experiment, fsbench._metric, fsbench._workload_metric, fsbench._on_seconds, fsbench._seconds_left,
    fsbench._seconds_in_words, fsbench._limits_in_words, fsbench.evidence, fsbench._is_more_better, fsbench._nights, fsbench._history, fsbench._differs_in_words, fsbench.history, fsbench.check_history,
    fsbench.report, fsbench.chart_svg, fsbench._page_by, fsbench.export, fsbench._result_tables, fsbench._document_tables, fsbench._exported, fsbench._hide_hashes, fsbench._export_line, fsbench._line_hash,
    fsbench._experiment_ended(text, integer), fsbench.compare(text, text), fsbench._compared(text), fsbench.compare_runs(bigint, bigint), fsbench.recommend(text), fsbench._advice(text),
    fsbench._builtin_studies(), fsbench._claims(text), fsbench._published(text), fsbench.study_claims(text), fsbench.study_report(text) TO pg_monitor;
GRANT EXECUTE ON PROCEDURE fsbench.wait(bigint[]), fsbench.wait_experiment TO pg_monitor;

-- Routines that operators may call and monitors may not.
CREATE FUNCTION fsbench._operator_routines() RETURNS SETOF regprocedure LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'fsbench'::regnamespace AND (p.proname IN (SELECT w FROM fsbench._workload_routines() w) OR p.proname = ANY (
        '{run,start,_start,sustainable_rate,cancel,_renew_lease,_repeat,acknowledge,experiment,plan_experiment,_rate,_change_experiment,pause_experiment,resume_experiment,
        cancel_experiment,extend_experiment,confirm_experiment,drop_experiment,_change_imported,import,drop_imported,_study,study,study_plan,drop_study}'::name[]))
    $$;
COMMENT ON FUNCTION fsbench._operator_routines IS 'Functions that operators may call, and monitors may not. Private';

-- Operators get what monitors may read, by the catalog, and what _operator_routines() adds. Monitors keep their own rights whatever is taken back.
CREATE FUNCTION fsbench._operator_rights_of(role regrole) RETURNS TABLE (what text, name text, held boolean)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH routine AS (
        SELECT p.oid, p.proname, p.proacl, r IS NULL AS is_of_monitors
        FROM pg_proc p LEFT JOIN fsbench._operator_routines() r ON r = p.oid
        WHERE p.pronamespace = 'fsbench'::regnamespace
          AND (r IS NOT NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = 'pg_monitor'::regrole AND a.privilege_type = 'EXECUTE')))
    SELECT g.what, g.name, NOT EXISTS (SELECT FROM unnest(g.privileges) x (privilege)
                                       WHERE NOT EXISTS (SELECT FROM aclexplode(g.acl) a WHERE a.grantee = role AND a.privilege_type = x.privilege))
    FROM (
        SELECT 'USAGE ON SCHEMA fsbench', 'schema', '{USAGE}'::text[], n.nspacl, true FROM pg_namespace n WHERE n.nspname = 'fsbench'
        UNION ALL SELECT format('SELECT ON TABLE fsbench.%I', c.relname), 'read ' || c.relname, '{SELECT}', c.relacl, true
        FROM pg_class c WHERE c.relnamespace = 'fsbench'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        UNION ALL SELECT 'INSERT, UPDATE ON TABLE fsbench.acknowledgement', 'change acknowledgement', '{INSERT,UPDATE}', c.relacl, false
        FROM pg_class c WHERE c.oid = 'fsbench.acknowledgement'::regclass
        UNION ALL SELECT format('EXECUTE ON ROUTINE %s', r.oid::regprocedure), 'call ' || r.proname, '{EXECUTE}', r.proacl, r.is_of_monitors FROM routine r
    ) g (what, name, privileges, acl, is_of_monitors)
    WHERE NOT (g.is_of_monitors AND role = 'pg_monitor'::regrole)
    $$;
COMMENT ON FUNCTION fsbench._operator_rights_of IS 'The rights of an operator, and whether a role has each one by a grant of its own. An upgrade may make an object again, so that the name stands for it. Private';

-- Names are complete, and the role is quoted by its type.
CREATE FUNCTION fsbench._operator_rights(verb text, preposition text, role regrole) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    what text;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'role must not be null' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It says who may run benchmarks.',
                  HINT = 'Give the name of a role.';
    ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = role) THEN
        RAISE EXCEPTION 'role % does not exist', role::oid USING ERRCODE = 'invalid_parameter_value', DETAIL = 'No role has this number.',
                  HINT = 'Give the name of a role.';
    ELSIF (verb, preposition) IN (('GRANT', 'TO'), ('REVOKE', 'FROM')) IS NOT TRUE THEN
        RAISE EXCEPTION 'rights are granted to a role, or revoked from it' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'The function is private.',
                  HINT = 'Call fsbench.grant_operator() or fsbench.revoke_operator().';
    END IF;
    FOR what IN SELECT o.what FROM fsbench._operator_rights_of(role) o LOOP
        EXECUTE format('%s %s %s %s', verb, what, preposition, role);
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._operator_rights IS 'Grants or revokes what an operator needs. Private';

-- A role that was given single functions by hand is no operator, and is given no more by an upgrade.
CREATE FUNCTION fsbench._operators() RETURNS SETOF regrole LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.grantee::regrole
    FROM fsbench._operator_routines() r JOIN pg_proc p ON p.oid = r, aclexplode(p.proacl) a
    WHERE a.grantee <> 0 AND a.grantee <> p.proowner AND a.privilege_type = 'EXECUTE'
    GROUP BY a.grantee HAVING count(DISTINCT p.oid) = (SELECT count(*) FROM fsbench._operator_routines())
    $$;
COMMENT ON FUNCTION fsbench._operators IS 'Roles that may call all functions of operators. Private';

CREATE FUNCTION fsbench._operators_have() RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_object_agg(o.role::oid, (SELECT jsonb_object_agg(r.name, r.held)
        FROM (SELECT r.name, bool_and(r.held) AS held FROM fsbench._operator_rights_of(o.role) r GROUP BY 1) r))
    FROM fsbench._operators() o (role)
    $$;
COMMENT ON FUNCTION fsbench._operators_have IS 'Which rights each operator has; NULL without an operator. Private: the library asks before ALTER EXTENSION UPDATE of pgfsbench and pgfsbench_report, and CREATE EXTENSION pgfsbench_report';

-- A grant of an upgrade script would be in no dump.
CREATE FUNCTION fsbench._renew_operators(before jsonb) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    due record;
BEGIN
    FOR due IN
        SELECT r.what, o.key::oid::regrole AS role
        FROM jsonb_each(before) o, fsbench._operator_rights_of(o.key::oid::regrole) r
        WHERE NOT r.held AND coalesce((o.value ->> r.name)::boolean, true)
    LOOP
        EXECUTE format('GRANT %s TO %s', due.what, due.role);
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._renew_operators IS 'Grants operators what is new, and what was made again. A right that an operator did not have before stays away. Private: the library calls it after the statements of _operators_have()';

CREATE FUNCTION fsbench.grant_operator(role regrole) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT fsbench._operator_rights('GRANT', 'TO', role) $$;
COMMENT ON FUNCTION fsbench.grant_operator IS 'Lets a role start, cancel and read runs';

CREATE FUNCTION fsbench.revoke_operator(role regrole) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT fsbench._operator_rights('REVOKE', 'FROM', role) $$;
COMMENT ON FUNCTION fsbench.revoke_operator IS 'Takes back what fsbench.grant_operator gave';

-- They work for the owner of the extension only, who can grant.
REVOKE ALL ON FUNCTION fsbench._operator_rights, fsbench._operator_routines, fsbench._operators, fsbench._operator_rights_of, fsbench._operators_have, fsbench._renew_operators, fsbench.grant_operator, fsbench.revoke_operator FROM PUBLIC;

-- Settings of the caller's session decide neither how our SQL is read nor what our texts say: each function with a search_path of its own has these,
-- too, and so has one that reads figures as text. Functions in C have them for their statements (READING_AND_PRINTING in core).
DO $$
DECLARE
    routine pg_catalog.regprocedure;
BEGIN
    FOR routine IN
        SELECT p.oid FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'fsbench'::pg_catalog.regnamespace AND (p.proconfig IS NOT NULL OR p.proname = '_metric')
    LOOP
        EXECUTE 'ALTER FUNCTION ' || routine || $s$
            SET array_nulls = on
            SET backslash_quote = 'safe_encoding'
            SET bytea_output = 'hex'
            SET datestyle = 'ISO'
            SET extra_float_digits = 1
            SET intervalstyle = 'postgres'
            SET quote_all_identifiers = off
            SET standard_conforming_strings = on
            SET timezone = 'GMT'
            SET transform_null_equals = off$s$;
    END LOOP;
END
$$;

-- A column without a comment gets the comment of the column of that name in a relation that the view reads, or else a common one.
DO $$
DECLARE
    col record;
    sources text[] := '{result run_log, result environment, sample run_log, helper_log helper_job, prepared_target helper_description, script_command command_result,
        tpcc tpcc_client, tpcc_transaction transaction_result, experiments experiment, comparison experiment, chart_verdict comparison, chart_verdict experiment,
        chart_block experiment_run, chart_block experiment_target, chart_target experiment_target, chart_second sample, chart_second result,
        chart_checkpoint checkpoint, chart_latency histogram, chart_latency result, chart_wait wait_event, chart_scan_speed scan, chart_scan_speed result,
        chart_fsync fsync, chart_fsync result, chart_recovery recovery, chart_recovery result, study_definitions study_definition,
        studies study_definitions, imported imported_run, imported imported_file, imported environment, helper_session helper_description,
        helper_job run_log, run_instance sample, run_instance run_log, io_second wait_event, io_second io_job, probe run_log, power_cut_error power_cut_result,
        prepared_target progress, chart_published published, chart_published chart_claim, study experiment}';
BEGIN
    FOR col IN
        SELECT c.oid::pg_catalog.regclass AS relation, a.attname, s.text
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
        CROSS JOIN LATERAL (
            SELECT pg_catalog.col_description(t.attrelid, t.attnum) AS text, u.place
            FROM pg_catalog.unnest(sources) WITH ORDINALITY u (words, place)
            JOIN pg_catalog.pg_attribute t ON t.attrelid = ('fsbench.' || pg_catalog.split_part(u.words, ' ', 2))::pg_catalog.regclass AND t.attname = a.attname
            WHERE pg_catalog.split_part(u.words, ' ', 1) = c.relname AND pg_catalog.col_description(t.attrelid, t.attnum) IS NOT NULL
            UNION ALL
            SELECT m.text, 1000 FROM (VALUES ('run_id', 'Run'), ('experiment', 'Experiment'), ('experiment_id', 'Experiment'), ('study', 'Study'),
                ('latency_p50_ms', 'Median (ms), within 3.2 %'), ('latency_p90_ms', '90th percentile (ms), within 3.2 %'),
                ('latency_p95_ms', '95th percentile (ms), within 3.2 %'), ('latency_p99_ms', '99th percentile (ms), within 3.2 %'),
                ('latency_p999_ms', '99.9th percentile (ms); NULL under 10,000 values'), ('latency_stddev_ms', 'Standard deviation (ms)'),
                ('latency_min_ms', 'Shortest (ms), exact'), ('latency_max_ms', 'Longest (ms), exact')) m (name, text)
            WHERE m.name = a.attname
            ORDER BY place LIMIT 1) s
        WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
          AND pg_catalog.col_description(c.oid, a.attnum) IS NULL
    LOOP
        EXECUTE pg_catalog.format('COMMENT ON COLUMN %s.%I IS %L', col.relation, col.attname, col.text);
    END LOOP;
END
$$;

-- A dump has everything that is stored, but for what the helper says of this machine. A target that was prepared by hand is prepared in this database alone.
DO $$
DECLARE
    relation record;
BEGIN
    FOR relation IN SELECT c.oid, c.relname FROM pg_catalog.pg_class c
        WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind IN ('r', 'S') AND c.relname NOT IN ('helper_description', 'helper_session') ORDER BY 1
    LOOP
        PERFORM pg_catalog.pg_extension_config_dump(relation.oid,
            CASE relation.relname WHEN 'target' THEN 'WHERE kind <> ''default''' WHEN 'helper_job' THEN 'WHERE run_id IS NOT NULL' ELSE '' END);
    END LOOP;
END
$$;

-- Says at once what would make the first run fail.
SELECT fsbench._check_preloaded();

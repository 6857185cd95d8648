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
COMMENT ON COLUMN fsbench.environment.layers IS 'What the data lie on, from above to the disks: partitions, LVM, encryption, RAID and btrfs over several devices (level, chunk_bytes, raid_disks, members, degraded, sync_action, bitmap, consistency_policy, safe_mode_delay_ms, stripe_cache_size, mismatch_sectors), loop devices and what holds their files, each with its queue, and disks with WWN and serial number as far as everybody may read them; NULL for a filesystem without a device (tmpfs, NFS, overlay), and for zfs that pgfsbench-helper has not made';
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

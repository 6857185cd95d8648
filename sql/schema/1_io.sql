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

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

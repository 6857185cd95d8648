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

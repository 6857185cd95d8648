-- Results of the workload power-cut.

CREATE TABLE fsbench.power_cut_result (
    run_id       bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    part         text NOT NULL CHECK (part IN ('commits', 'pages', 'fsync_off', 'full_page_writes_off')),
    control      boolean NOT NULL,
    cuts         bigint NOT NULL,
    failed       bigint NOT NULL,
    lost         bigint NOT NULL,
    holes        bigint NOT NULL,
    torn         bigint NOT NULL,
    unbootable   bigint NOT NULL,
    first_failed integer,
    loss_below   float8,
    outcome      text NOT NULL CHECK (outcome IN ('passed', 'failed', 'void')),
    says         text NOT NULL,
    PRIMARY KEY (run_id, part)
);
COMMENT ON TABLE fsbench.power_cut_result IS 'Parts of runs of the workload power-cut. Two parts test the server as it is; two are controls, which have to fail';
COMMENT ON COLUMN fsbench.power_cut_result.part IS 'commits: clients commit; pages: checkpoints write pages; fsync_off: a client commits with fsync off; full_page_writes_off: checkpoints write pages with full_page_writes off';
COMMENT ON COLUMN fsbench.power_cut_result.control IS 'Whether the part is a control. Where a control does not fail, tests that passed are void; full_page_writes_off must tear a page on ext3, ext4 and xfs, unless the filesystem is mounted with data=journal';
COMMENT ON COLUMN fsbench.power_cut_result.cuts IS 'Power cuts';
COMMENT ON COLUMN fsbench.power_cut_result.failed IS 'Power cuts after which something was missing or damaged';
COMMENT ON COLUMN fsbench.power_cut_result.lost IS 'Power cuts after which an acknowledged commit was missing';
COMMENT ON COLUMN fsbench.power_cut_result.holes IS 'Power cuts after which an earlier commit was missing and a later one was there, or a transaction was there in part';
COMMENT ON COLUMN fsbench.power_cut_result.torn IS 'Power cuts after which the server found a page that was written in part';
COMMENT ON COLUMN fsbench.power_cut_result.unbootable IS 'Power cuts after which the filesystem did not mount, or the server did not start';
COMMENT ON COLUMN fsbench.power_cut_result.first_failed IS 'Number of the first power cut that failed; NULL when none did';
COMMENT ON COLUMN fsbench.power_cut_result.loss_below IS 'The share of power cuts that fail is below this, with a confidence of 95 %: 1 - 0.05^(1/cuts). NULL when one has failed, and for a void part';
COMMENT ON COLUMN fsbench.power_cut_result.outcome IS 'passed: no power cut failed; failed: one did; void: a control did not fail, so that passing shows nothing';
COMMENT ON COLUMN fsbench.power_cut_result.says IS 'The outcome in words';

CREATE TABLE fsbench.power_cut_point (
    run_id        bigint NOT NULL REFERENCES fsbench.run_log ON DELETE CASCADE,
    part          text NOT NULL CHECK (part IN ('commits', 'pages', 'fsync_off', 'full_page_writes_off')),
    number        integer NOT NULL,
    entry         bigint NOT NULL,
    unflushed     bigint NOT NULL,
    tear          integer,
    acknowledged  bigint NOT NULL,
    lost          bigint,
    holes         bigint,
    outcome       text NOT NULL CHECK (outcome IN ('passed', 'lost', 'hole', 'torn', 'unbootable')),
    problem       text,
    pages_checked boolean NOT NULL,
    ms            float8 NOT NULL,
    PRIMARY KEY (run_id, part, number)
);
COMMENT ON TABLE fsbench.power_cut_point IS 'Power cuts of runs of the workload power-cut: moments of the record at which the device was left as a power cut would have left it, and what the server had then';
COMMENT ON COLUMN fsbench.power_cut_point.part IS 'Part of the run, as in fsbench.power_cut_result';
COMMENT ON COLUMN fsbench.power_cut_point.number IS 'Number in its part, from 1, in the order of time';
COMMENT ON COLUMN fsbench.power_cut_point.entry IS 'Writes, flushes and discards of the record before the power cut';
COMMENT ON COLUMN fsbench.power_cut_point.unflushed IS 'Writes since the last flush: the seed of the run decides which of them survived';
COMMENT ON COLUMN fsbench.power_cut_point.tear IS 'Bytes of the pieces in which an unflushed write survived; NULL: as a whole or not at all';
COMMENT ON COLUMN fsbench.power_cut_point.acknowledged IS 'Commits that were acknowledged before the power cut';
COMMENT ON COLUMN fsbench.power_cut_point.lost IS 'Acknowledged commits that are missing; NULL when the rows could not be read';
COMMENT ON COLUMN fsbench.power_cut_point.holes IS 'Commits that are missing, there twice or in part although a later one is there; NULL when the rows could not be read';
COMMENT ON COLUMN fsbench.power_cut_point.outcome IS 'passed: all is there; lost: an acknowledged commit is missing; hole: commits are not a prefix of those before the cut; torn: a page was written in part; unbootable: the filesystem did not mount, or the server did not start';
COMMENT ON COLUMN fsbench.power_cut_point.problem IS 'What is missing or damaged; NULL when all is there';
COMMENT ON COLUMN fsbench.power_cut_point.pages_checked IS 'Whether pg_checksums has read all pages, too: it does so for every tenth power cut of a test';
COMMENT ON COLUMN fsbench.power_cut_point.ms IS 'Time from the request to the helper to the end of the server (ms)';

SELECT pg_catalog.pg_extension_config_dump('fsbench.power_cut_result', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.power_cut_point', '');

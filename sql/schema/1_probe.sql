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

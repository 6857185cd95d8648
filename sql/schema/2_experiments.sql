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

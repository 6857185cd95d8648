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

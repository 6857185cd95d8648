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

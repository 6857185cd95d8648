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
COMMENT ON COLUMN fsbench.study.definition IS 'As it was when it was started: what was claimed before the first run is what is judged';
COMMENT ON COLUMN fsbench.study.asked IS 'Arguments as given';
COMMENT ON COLUMN fsbench.study.facts IS 'What of this machine and server decided what was left out: kernel, memory, processors, version, filesystems that are missing, and why, what the helper''s configuration does not allow, values that settings may have, and targets that are on images';
COMMENT ON COLUMN fsbench.study.requested_by IS 'Role that asked';
COMMENT ON COLUMN fsbench.study.created_at IS 'Time of recording';

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

-- They steer which filesystems are made, and which are removed.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['study_definition', 'study', 'study_experiment', 'study_target'] LOOP
        EXECUTE pg_catalog.format('CREATE TRIGGER check_writer BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON fsbench.%I '
            'FOR EACH STATEMENT EXECUTE FUNCTION fsbench._check_writer()', name);
        EXECUTE pg_catalog.format('COMMENT ON TRIGGER check_writer ON fsbench.%I IS %L', name, 'Only the owner of the extension changes studies');
    END LOOP;
END
$$;

SELECT pg_catalog.pg_extension_config_dump('fsbench.study_definition', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study_experiment', '');
SELECT pg_catalog.pg_extension_config_dump('fsbench.study_target', '');

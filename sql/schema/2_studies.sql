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
COMMENT ON COLUMN fsbench.study.definition IS 'Definition at the start of the study: its claims are judged';
COMMENT ON COLUMN fsbench.study.asked IS 'Arguments as given';
COMMENT ON COLUMN fsbench.study.facts IS 'Facts of this machine and server that decided what was left out: kernel, memory, processors, version, missing filesystems with reasons, limits of the helper''s configuration, possible values of settings, and targets on images';
COMMENT ON COLUMN fsbench.study.requested_by IS 'Role that asked';

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

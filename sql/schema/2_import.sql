-- Rows from files of other databases. They stand next to those of this one, and steer nothing: see fsbench.import().

CREATE SEQUENCE fsbench.import_id_seq;
COMMENT ON SEQUENCE fsbench.import_id_seq IS 'Numbers of imported files';

CREATE TABLE fsbench.imported_file (
    import_id         bigint PRIMARY KEY DEFAULT nextval('fsbench.import_id_seq'),
    host              text NOT NULL,
    hostname          text,
    host_fingerprints text[],
    format            integer NOT NULL,
    pgfsbench_version text,
    exported_at       timestamptz,
    sha256            text NOT NULL,
    imported_by       name NOT NULL,
    imported_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE fsbench.imported_file IS 'Files that fsbench.import() has read. What they say of their origin is what they say';
COMMENT ON COLUMN fsbench.imported_file.import_id IS 'Number of the file in this database';
COMMENT ON COLUMN fsbench.imported_file.host IS 'Name of the host here: the part behind the @ in names of targets, labels and experiments';
COMMENT ON COLUMN fsbench.imported_file.hostname IS 'Name of the host, as the file says';
COMMENT ON COLUMN fsbench.imported_file.host_fingerprints IS 'host_fingerprint of its runs, as the file says';
COMMENT ON COLUMN fsbench.imported_file.format IS 'Version of the format of the file';
COMMENT ON COLUMN fsbench.imported_file.pgfsbench_version IS 'Version of pgfsbench that has written it, as the file says';
COMMENT ON COLUMN fsbench.imported_file.exported_at IS 'Time of the export, as the file says';
COMMENT ON COLUMN fsbench.imported_file.sha256 IS 'Checksum of the file: finds damage, and is no signature';
COMMENT ON COLUMN fsbench.imported_file.imported_by IS 'Role that has imported it, by its name then';
COMMENT ON COLUMN fsbench.imported_file.imported_at IS 'When';

CREATE TABLE fsbench.imported_run (
    run_id       bigint PRIMARY KEY REFERENCES fsbench.run_log ON DELETE CASCADE,
    import_id    bigint NOT NULL REFERENCES fsbench.imported_file,
    run_id_there bigint NOT NULL,
    sha256       text NOT NULL
);
CREATE INDEX imported_run_sha256_idx ON fsbench.imported_run (sha256);
CREATE INDEX imported_run_import_id_idx ON fsbench.imported_run (import_id);
CREATE INDEX imported_run_run_id_there_idx ON fsbench.imported_run (run_id_there);
COMMENT ON TABLE fsbench.imported_run IS 'Runs that were not made here';
COMMENT ON COLUMN fsbench.imported_run.run_id IS 'Number of the run here';
COMMENT ON COLUMN fsbench.imported_run.import_id IS 'File of the run';
COMMENT ON COLUMN fsbench.imported_run.run_id_there IS 'Number of the run where it was made';
COMMENT ON COLUMN fsbench.imported_run.sha256 IS 'Hash of its row in the file; a row of a host is imported once only';

CREATE TABLE fsbench.imported_experiment (
    experiment_id bigint PRIMARY KEY REFERENCES fsbench.experiment ON DELETE CASCADE,
    import_id     bigint NOT NULL REFERENCES fsbench.imported_file,
    sha256        text NOT NULL
);
CREATE INDEX imported_experiment_sha256_idx ON fsbench.imported_experiment (sha256);
CREATE INDEX imported_experiment_import_id_idx ON fsbench.imported_experiment (import_id);
COMMENT ON TABLE fsbench.imported_experiment IS 'Experiments that were not made here';
COMMENT ON COLUMN fsbench.imported_experiment.experiment_id IS 'Number of the experiment here';
COMMENT ON COLUMN fsbench.imported_experiment.import_id IS 'File of the experiment';
COMMENT ON COLUMN fsbench.imported_experiment.sha256 IS 'Hash of the experiment''s row in the file';

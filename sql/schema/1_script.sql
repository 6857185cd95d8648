-- Texts of runs of scripts, each stored once.

CREATE TABLE fsbench.script (
    sha256 text PRIMARY KEY,
    document text NOT NULL
);
COMMENT ON TABLE fsbench.script IS 'Texts of runs of workload script: scripts, variables, init script and checks. Each document is stored once; options of a run have its hash';
COMMENT ON COLUMN fsbench.script.sha256 IS 'SHA-256 of the document in UTF-8, in hexadecimal';
COMMENT ON COLUMN fsbench.script.document IS 'JSON with scripts (name, weight, text), variables, init_script and checks (name, sql, expected)';

SELECT pg_catalog.pg_extension_config_dump('fsbench.script', '');

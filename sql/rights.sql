-- Rights: PUBLIC has none, pg_monitor reads, and operators run.
\set VERBOSITY sqlstate
SET client_min_messages = warning;
CREATE ROLE regress_fsbench_nobody;
CREATE ROLE regress_fsbench_monitor IN ROLE pg_monitor;
CREATE ROLE regress_fsbench_operator;
\set small 'scale => 1, clients => 1, transactions => 50, seed => 1'
SELECT run_id AS one FROM fsbench.run(:small) \gset

SET ROLE regress_fsbench_nobody;
SELECT * FROM fsbench.run(:small);
SELECT * FROM fsbench.result;
CALL fsbench.wait(1);
-- The library's C functions are of no use without their declarations.
CREATE FUNCTION pg_temp.run() RETURNS bigint LANGUAGE c AS '$libdir/pgfsbench', 'fsbench_start_wrapper';
RESET ROLE;
-- USAGE on the schema alone is not enough; sql/install.sql lists the rights of each object.
GRANT USAGE ON SCHEMA fsbench TO regress_fsbench_nobody;
SET ROLE regress_fsbench_nobody;
SELECT * FROM fsbench.run(:small);
SELECT * FROM fsbench.result;
SELECT * FROM fsbench._progress();
CALL fsbench.wait(1);
SELECT nextval('fsbench.run_id_seq');
SELECT fsbench._operator_rights('GRANT', 'TO', 'regress_fsbench_nobody');
RESET ROLE;
REVOKE USAGE ON SCHEMA fsbench FROM regress_fsbench_nobody;

-- pg_monitor reads and waits.
SET ROLE regress_fsbench_monitor;
SELECT status FROM fsbench.result WHERE run_id = :one;
SELECT count(*) > 0 AS samples FROM fsbench.sample WHERE run_id = :one;
SELECT count(*) AS environment FROM fsbench.environment WHERE run_id = :one;
SELECT count(*) > 0 AS findings FROM fsbench.finding WHERE run_id = :one;
SELECT fsbench.percentile(0.5, :one) > 0 AS percentile;
SELECT count(*) > 0 AS findings FROM fsbench.findings(ARRAY[:one]);
SELECT count(*) AS progress FROM fsbench.progress;
SELECT run_id = :one AS waited FROM fsbench.wait(:one);
CALL fsbench.wait(:one);
SELECT * FROM fsbench.run(:small);
SELECT fsbench.start(:small);
SELECT fsbench.cancel(:one);
DELETE FROM fsbench.run_log;
SELECT fsbench.grant_operator('regress_fsbench_monitor');
RESET ROLE;

-- An operator runs; what it may set is what it might set itself.
SELECT fsbench.grant_operator('regress_fsbench_operator');
SELECT fsbench.grant_operator('regress_fsbench_operator');
SET ROLE regress_fsbench_operator;
-- A run by one document is checked as any other; a part of a run is for superusers.
SELECT fsbench._start('{"stage": "load_only"}');
SELECT fsbench._start('{"stage": {"on_loaded": {"database": "postgres", "scale": 1}}}');
SELECT fsbench._start('{"scale": 1');
SELECT fsbench._start('{"scale": "1"}');
SELECT fsbench._start('{"clients": 0}');
SELECT fsbench._start('{"scale": -1}');
SELECT fsbench._start('{"duration_us": -9223372036854775808}');
SELECT fsbench._start('{"rate": "NaN"}');
SELECT fsbench._start('{"workload": "script", "script": {"sha256": "0"}}');
SELECT fsbench._start('{"options": []}');
SELECT run_id AS operated FROM fsbench.run(:small, settings => '{"work_mem": "5MB"}') \gset
SELECT requested_by, status FROM fsbench.result WHERE run_id = :operated;
SELECT fsbench.start(:small) AS started \gset
CALL fsbench.wait(:started);
SELECT status FROM fsbench.result WHERE run_id = :started;
SELECT fsbench.start(scale => 1, clients => 1, duration => '10 min', rate => 20) AS cancelled \gset
SELECT fsbench.cancel(:cancelled), (SELECT count(*) FROM fsbench.progress) AS progress;
CALL fsbench.wait(:cancelled);
SELECT fsbench.percentile(0.5, :operated) > 0 AS percentile;
SELECT count(*) > 0 AS findings FROM fsbench.findings(ARRAY[:operated]);
SELECT count(*) > 0 AS differs FROM fsbench.diff(:operated, :started);
SELECT count(*) > 0 AS samples FROM fsbench.sample WHERE run_id = :operated;
\set VERBOSITY default
SELECT * FROM fsbench.run(:small, settings => '{"log_min_duration_statement": "0"}');
SELECT * FROM fsbench.run(:small, settings => '{"zero_damaged_pages": true}');
\set VERBOSITY sqlstate
DELETE FROM fsbench.run_log;
UPDATE fsbench.run_log SET label = 'mine';
SELECT fsbench.grant_operator('regress_fsbench_nobody');
SELECT fsbench._check_preloaded();
-- A kept work database belongs to the owner of the extension, as its tables do: an operator could neither use nor drop it.
\set VERBOSITY default
SELECT * FROM fsbench.run(:small, keep => true);
\set VERBOSITY sqlstate
SELECT fsbench.create_target('mine', directory => '/tmp');
RESET ROLE;
\set VERBOSITY default
\set SHOW_CONTEXT never
SELECT fsbench.grant_operator(NULL);
SELECT fsbench.revoke_operator(NULL);
\set VERBOSITY sqlstate

-- The owner may set settings that an operator may not.
SELECT run_id AS superuser FROM fsbench.run(:small, settings => '{"log_min_duration_statement": "-1", "commit_delay": 0}') \gset
SELECT status FROM fsbench.result WHERE run_id = :superuser;

-- An upgrade grants operators what is new, and not what was revoked. A role that was given one function is no operator, and gets no other.
CREATE ROLE regress_fsbench_one;
GRANT EXECUTE ON FUNCTION fsbench.run TO regress_fsbench_one;
REVOKE SELECT ON fsbench.finding FROM regress_fsbench_operator;
REVOKE EXECUTE ON FUNCTION fsbench.evidence FROM regress_fsbench_operator;
REVOKE UPDATE ON fsbench.acknowledgement FROM regress_fsbench_operator;
ALTER EXTENSION pgfsbench UPDATE;
SELECT r AS role, has_function_privilege(r, 'fsbench.cancel(bigint)', 'EXECUTE') AS may_cancel, has_schema_privilege(r, 'fsbench', 'USAGE') AS may_use
FROM unnest('{regress_fsbench_one,regress_fsbench_operator}'::name[]) r;
SELECT r.what FROM fsbench._operator_rights_of('regress_fsbench_operator') r WHERE NOT r.held ORDER BY 1;
-- evidence() was not there before, and sample was made again in the upgrade.
REVOKE SELECT ON fsbench.sample FROM regress_fsbench_operator;
SELECT jsonb_object_agg(key, value - 'call evidence' || '{"read sample": true}') AS before FROM jsonb_each(fsbench._operators_have()) \gset
SELECT fsbench._renew_operators(:'before');
SELECT r.what FROM fsbench._operator_rights_of('regress_fsbench_operator') r WHERE NOT r.held ORDER BY 1;
REVOKE EXECUTE ON FUNCTION fsbench.run FROM regress_fsbench_one;
DROP ROLE regress_fsbench_one;

-- Rights are taken back, and nothing of them is left.
SELECT fsbench.revoke_operator('regress_fsbench_operator');
SET ROLE regress_fsbench_operator;
SELECT * FROM fsbench.run(:small);
SELECT * FROM fsbench.result;
RESET ROLE;
SELECT fsbench.grant_operator('regress_fsbench_missing');
-- Monitors who may run for a while still read afterwards.
SELECT fsbench.grant_operator('pg_monitor');
SET ROLE regress_fsbench_monitor;
SELECT fsbench.cancel(0);
RESET ROLE;
SELECT fsbench.revoke_operator('pg_monitor');
SET ROLE regress_fsbench_monitor;
SELECT fsbench.cancel(0);
SELECT count(*) AS results FROM fsbench.result WHERE run_id = :one;
SELECT fsbench.percentile(0.5, :one) > 0 AS percentile;
RESET ROLE;
-- A role whose name has to be quoted.
CREATE ROLE "regress_fsbench_a""b c";
SELECT fsbench.grant_operator('"regress_fsbench_a""b c"');
SELECT has_function_privilege('regress_fsbench_a"b c', 'fsbench.cancel(bigint)', 'EXECUTE');
SELECT fsbench.revoke_operator('"regress_fsbench_a""b c"');
DROP ROLE "regress_fsbench_a""b c";
DROP ROLE regress_fsbench_nobody, regress_fsbench_monitor, regress_fsbench_operator;

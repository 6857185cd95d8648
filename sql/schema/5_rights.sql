-- Who may do what. Everything that starts something is revoked from PUBLIC: a run writes gigabytes, burns transaction ids
-- and takes the machine's attention. No role is created.

REVOKE ALL ON ALL TABLES IN SCHEMA fsbench FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA fsbench FROM PUBLIC;
REVOKE ALL ON ALL PROCEDURES IN SCHEMA fsbench FROM PUBLIC;

-- Bounded arithmetic on arguments: each role with USAGE on the schema may call it.
GRANT EXECUTE ON FUNCTION fsbench.verdict, fsbench.verdict_best, fsbench.set_aside, fsbench.change_points, fsbench.rate_estimate,
    fsbench.student_t TO PUBLIC;

-- Targets, experiments and studies steer what is made, erased and removed. Root pastes what fsbench.recommend() makes of results. A role that may write
-- all data of the database changes none of that.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT t.relation FROM fsbench._result_tables() t UNION ALL SELECT d.relation FROM fsbench._document_tables() d
        UNION ALL SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind = 'r'
            AND c.relname ~ '^(target|run_log|(helper|experiment|imported|study)(_.*)?)$'
    LOOP
        EXECUTE pg_catalog.format('CREATE TRIGGER check_writer BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON fsbench.%I '
            'FOR EACH STATEMENT EXECUTE FUNCTION fsbench._check_writer()', name);
        EXECUTE pg_catalog.format('COMMENT ON TRIGGER check_writer ON fsbench.%I IS %L', name, 'Only the owner of the extension writes there');
    END LOOP;
END
$$;

-- A view reads the tables below with the rights of the role that reads the view.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relnamespace = 'fsbench'::pg_catalog.regnamespace AND c.relkind = 'v' LOOP
        EXECUTE pg_catalog.format('ALTER VIEW fsbench.%I SET (security_invoker = true)', name);
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA fsbench TO pg_monitor;
GRANT SELECT ON ALL TABLES IN SCHEMA fsbench TO pg_monitor;
GRANT EXECUTE ON FUNCTION fsbench.version(), fsbench._progress(), fsbench._prepared_data(), fsbench.bucket_low_ms(integer),
    fsbench.bucket_high_ms(integer), fsbench._is_of_all(bigint, text), fsbench._rolled_back(bigint, text), fsbench.percentile(float8, bigint[], text, text), fsbench.percentile(float8, bigint, text, text),
    fsbench.wait(bigint), fsbench._ended(bigint, integer), fsbench._block_devices(), fsbench.doctor(), fsbench.judge(bigint),
    fsbench.wait_profile(bigint, integer, integer), fsbench.knee(integer[], float8[]),
    fsbench._check_runs(bigint[]), fsbench._some_runs(bigint[]), fsbench.findings(bigint[]), fsbench.diff(bigint, bigint), fsbench.help(text),
    fsbench._draw, fsbench._shown_target, fsbench._is_ascii_wanted, fsbench.chart, fsbench.chart_experiment, fsbench._metric, fsbench._workload_metric, fsbench._on_seconds, fsbench._seconds_left,
    fsbench._seconds_in_words, fsbench._limits_in_words, fsbench.evidence, fsbench._is_more_better, fsbench._nights, fsbench._history, fsbench._differs_in_words, fsbench.history, fsbench.check_history,
    fsbench.report, fsbench.chart_svg, fsbench._page_by, fsbench.export, fsbench._result_tables, fsbench._document_tables, fsbench._exported, fsbench._hide_hashes, fsbench._export_line, fsbench._line_hash,
    fsbench._experiment_ended(text, integer), fsbench.compare(text, text), fsbench._compared(text), fsbench.compare_runs(bigint, bigint), fsbench.recommend(text), fsbench._advice(text),
    fsbench._builtin_studies(), fsbench._claims(text), fsbench._published(text), fsbench.study_claims(text), fsbench.study_report(text) TO pg_monitor;
GRANT EXECUTE ON PROCEDURE fsbench.wait(bigint[]), fsbench.wait_experiment TO pg_monitor;

-- Routines that operators may call and monitors may not.
CREATE FUNCTION fsbench._operator_routines() RETURNS SETOF regprocedure LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'fsbench'::regnamespace AND (p.proname IN (SELECT w FROM fsbench._workload_routines() w) OR p.proname = ANY (
        '{run,start,_start,sustainable_rate,cancel,_renew_lease,_repeat,acknowledge,experiment,plan_experiment,_rate,_change_experiment,pause_experiment,resume_experiment,
        cancel_experiment,extend_experiment,confirm_experiment,drop_experiment,_change_imported,import,drop_imported,_study,study,study_plan,drop_study}'::name[]))
    $$;
COMMENT ON FUNCTION fsbench._operator_routines IS 'Functions that operators may call, and monitors may not. Private';

-- Operators get what monitors may read, by the catalog, and what _operator_routines() adds. Monitors keep their own rights whatever is taken back.
CREATE FUNCTION fsbench._operator_rights_of(role regrole) RETURNS TABLE (what text, name text, held boolean)
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    WITH routine AS (
        SELECT p.oid, p.proname, p.proacl, r IS NULL AS is_of_monitors
        FROM pg_proc p LEFT JOIN fsbench._operator_routines() r ON r = p.oid
        WHERE p.pronamespace = 'fsbench'::regnamespace
          AND (r IS NOT NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) a WHERE a.grantee = 'pg_monitor'::regrole AND a.privilege_type = 'EXECUTE')))
    SELECT g.what, g.name, NOT EXISTS (SELECT FROM unnest(g.privileges) x (privilege)
                                       WHERE NOT EXISTS (SELECT FROM aclexplode(g.acl) a WHERE a.grantee = role AND a.privilege_type = x.privilege))
    FROM (
        SELECT 'USAGE ON SCHEMA fsbench', 'schema', '{USAGE}'::text[], n.nspacl, true FROM pg_namespace n WHERE n.nspname = 'fsbench'
        UNION ALL SELECT format('SELECT ON TABLE fsbench.%I', c.relname), 'read ' || c.relname, '{SELECT}', c.relacl, true
        FROM pg_class c WHERE c.relnamespace = 'fsbench'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        UNION ALL SELECT 'INSERT, UPDATE ON TABLE fsbench.acknowledgement', 'change acknowledgement', '{INSERT,UPDATE}', c.relacl, false
        FROM pg_class c WHERE c.oid = 'fsbench.acknowledgement'::regclass
        UNION ALL SELECT format('EXECUTE ON ROUTINE %s', r.oid::regprocedure), 'call ' || r.proname, '{EXECUTE}', r.proacl, r.is_of_monitors FROM routine r
    ) g (what, name, privileges, acl, is_of_monitors)
    WHERE NOT (g.is_of_monitors AND role = 'pg_monitor'::regrole)
    $$;
COMMENT ON FUNCTION fsbench._operator_rights_of IS 'The rights of an operator, and whether a role has each one by a grant of its own. An upgrade may make an object again, so that the name stands for it. Private';

-- Names are complete, and the role is quoted by its type.
CREATE FUNCTION fsbench._operator_rights(verb text, preposition text, role regrole) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    what text;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'role must not be null' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It says who may run benchmarks.',
                  HINT = 'Give the name of a role.';
    ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = role) THEN
        RAISE EXCEPTION 'role % does not exist', role::oid USING ERRCODE = 'invalid_parameter_value', DETAIL = 'No role has this number.',
                  HINT = 'Give the name of a role.';
    ELSIF (verb, preposition) IN (('GRANT', 'TO'), ('REVOKE', 'FROM')) IS NOT TRUE THEN
        RAISE EXCEPTION 'rights are granted to a role, or revoked from it' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'The function is private.',
                  HINT = 'Call fsbench.grant_operator() or fsbench.revoke_operator().';
    END IF;
    FOR what IN SELECT o.what FROM fsbench._operator_rights_of(role) o LOOP
        EXECUTE format('%s %s %s %s', verb, what, preposition, role);
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._operator_rights IS 'Grants or revokes what an operator needs. Private';

-- A role that was given single functions by hand is no operator, and is given no more by an upgrade.
CREATE FUNCTION fsbench._operators() RETURNS SETOF regrole LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT a.grantee::regrole
    FROM fsbench._operator_routines() r JOIN pg_proc p ON p.oid = r, aclexplode(p.proacl) a
    WHERE a.grantee <> 0 AND a.grantee <> p.proowner AND a.privilege_type = 'EXECUTE'
    GROUP BY a.grantee HAVING count(DISTINCT p.oid) = (SELECT count(*) FROM fsbench._operator_routines())
    $$;
COMMENT ON FUNCTION fsbench._operators IS 'Roles that may call all functions of operators. Private';

CREATE FUNCTION fsbench._operators_have() RETURNS jsonb LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_object_agg(o.role::oid, (SELECT jsonb_object_agg(r.name, r.held)
        FROM (SELECT r.name, bool_and(r.held) AS held FROM fsbench._operator_rights_of(o.role) r GROUP BY 1) r))
    FROM fsbench._operators() o (role)
    $$;
COMMENT ON FUNCTION fsbench._operators_have IS 'Which rights each operator has; NULL without an operator. Private: the library asks before ALTER EXTENSION UPDATE of pgfsbench and pgfsbench_report, and CREATE EXTENSION pgfsbench_report';

-- A grant of an upgrade script would be in no dump.
CREATE FUNCTION fsbench._renew_operators(before jsonb) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    due record;
BEGIN
    FOR due IN
        SELECT r.what, o.key::oid::regrole AS role
        FROM jsonb_each(before) o, fsbench._operator_rights_of(o.key::oid::regrole) r
        WHERE NOT r.held AND coalesce((o.value ->> r.name)::boolean, true)
    LOOP
        EXECUTE format('GRANT %s TO %s', due.what, due.role);
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._renew_operators IS 'Grants operators what is new, and what was made again. A right that an operator did not have before stays away. Private: the library calls it after the statements of _operators_have()';

CREATE FUNCTION fsbench.grant_operator(role regrole) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT fsbench._operator_rights('GRANT', 'TO', role) $$;
COMMENT ON FUNCTION fsbench.grant_operator IS 'Lets a role start, cancel and read runs';

CREATE FUNCTION fsbench.revoke_operator(role regrole) RETURNS void
    LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$ SELECT fsbench._operator_rights('REVOKE', 'FROM', role) $$;
COMMENT ON FUNCTION fsbench.revoke_operator IS 'Takes back what fsbench.grant_operator gave';

-- They work for the owner of the extension only, who can grant.
REVOKE ALL ON FUNCTION fsbench._operator_rights, fsbench._operator_routines, fsbench._operators, fsbench._operator_rights_of, fsbench._operators_have, fsbench._renew_operators, fsbench.grant_operator, fsbench.revoke_operator FROM PUBLIC;

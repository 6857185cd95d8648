-- Facts about this server's pg_stat_statements, and the calls of its functions. f: only functions of the extension itself. A role could have created
-- another function next to these that fits a call better, and it would run with all rights. With arguments of exactly its types nothing fits better.
WITH f AS (
    SELECT quote_ident(nspname) || '.' || quote_ident(proname) AS name, oidvectortypes(proargtypes) AS types
    FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
        AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
      JOIN pg_proc p ON p.oid = d.objid JOIN pg_namespace n ON n.oid = pronamespace
    WHERE extname = 'pg_stat_statements')
SELECT jsonb_build_object('is_loaded', ({loaded}),
    'is_created', EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements'),
    'reset', (SELECT name || '(0::oid, $1::oid, 0::bigint' || CASE types WHEN 'oid, oid, bigint' THEN ')' ELSE ', false)' END
      FROM f WHERE name LIKE '%.pg_stat_statements_reset' AND types IN ('oid, oid, bigint', 'oid, oid, bigint, boolean')),
    'read', (SELECT name || '(true)' FROM f WHERE name LIKE '%.pg_stat_statements' AND types = 'boolean'),
    'info', (SELECT '(SELECT to_jsonb(i) FROM ' || name || '() i)' FROM f
      WHERE name LIKE '%.pg_stat_statements_info' AND types = ''))

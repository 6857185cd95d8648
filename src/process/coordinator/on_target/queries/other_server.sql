-- A server that is reached by a connection. $1: the identity of this one.
SELECT jsonb_build_object(
    'is_this', $1 = (SELECT system_identifier::text || ' ' || extract(epoch FROM pg_postmaster_start_time()) FROM pg_control_system()),
    'database', current_database(), 'role', current_user,
    'extension', (SELECT extversion FROM pg_extension WHERE extname = 'pgfsbench'),
    'may', (SELECT bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE'))
      FROM pg_namespace n JOIN pg_proc p ON p.pronamespace = n.oid
      WHERE nspname = 'fsbench' AND proname IN ('_start', 'cancel', '_progress', '_renew_lease', 'version')))

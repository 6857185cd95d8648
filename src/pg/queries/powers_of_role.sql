-- Rights of the role with the number $1, no superuser, that reach beyond the data of a server. It may have them by other roles.
SELECT coalesce(jsonb_agg(DISTINCT p.power), '[]')
FROM pg_roles r,
    LATERAL (SELECT r.rolname::text
             WHERE r.rolsuper OR r.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
             UNION ALL SELECT 'CREATEROLE' WHERE r.rolcreaterole) AS p(power)
WHERE pg_has_role($1::oid, r.oid, 'MEMBER')

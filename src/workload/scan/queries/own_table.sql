-- A table of a user's own, with its partitions and the tables that inherit from it: $1 is its name, $2 the number of the role that asks, NULL for a
-- superuser.
WITH RECURSIVE part(oid) AS (
    SELECT to_regclass($1)::oid
    UNION SELECT i.inhrelid FROM pg_inherits i JOIN part ON i.inhparent = part.oid AND NOT i.inhdetachpending)
SELECT jsonb_build_object(
    'kind', c.relkind,
    'is_of_system', coalesce(c.oid < 16384, false),
    'may_read', coalesce($2::oid IS NULL OR has_schema_privilege($2::oid, c.relnamespace, 'USAGE') AND has_table_privilege($2::oid, c.oid, 'SELECT'), false),
    'hides_rows', coalesce(c.relrowsecurity AND NOT (SELECT rolbypassrls FROM pg_roles WHERE oid = $2::oid)
                           AND (c.relforcerowsecurity OR NOT pg_has_role($2::oid, c.relowner, 'USAGE')), false),
    'parts', (SELECT coalesce(jsonb_agg(jsonb_build_object('oid', p.oid::bigint, 'name', format('%I.%I', n.nspname, p.relname), 'kind', p.relkind,
                  'persistence', p.relpersistence, 'access_method', a.amname, 'bytes', coalesce(pg_relation_size(p.oid), 0)) ORDER BY p.oid), '[]')
              FROM part JOIN pg_class p ON p.oid = part.oid JOIN pg_namespace n ON n.oid = p.relnamespace LEFT JOIN pg_am a ON a.oid = p.relam))
FROM (VALUES (to_regclass($1)::oid)) AS named(oid) LEFT JOIN pg_class c ON c.oid = named.oid

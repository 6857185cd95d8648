-- Smallest and largest known value of the integer columns $1, as far as the current role may read their statistics.
SELECT coalesce(jsonb_agg(jsonb_build_object('schema', c.schema, 'table', c."table", 'column', c."column", 'low', r.low, 'high', r.high)), '[]')
FROM jsonb_to_recordset($1::jsonb) AS c (schema text, "table" text, "column" text),
LATERAL (
    SELECT s.histogram_bounds::text::bigint[] AS bounds, s.most_common_vals::text::bigint[] AS common
    FROM pg_catalog.pg_class k JOIN pg_catalog.pg_namespace n ON n.oid = k.relnamespace
         JOIN pg_catalog.pg_attribute a ON a.attrelid = k.oid AND a.attname = c."column"
         JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = k.relname AND s.attname = a.attname
    WHERE k.relname = c."table" AND a.atttypid IN ('pg_catalog.int2'::regtype, 'pg_catalog.int4'::regtype, 'pg_catalog.int8'::regtype)
      AND (n.nspname = c.schema OR c.schema IS NULL AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_')
    ORDER BY n.nspname <> 'public', n.nspname, s.inherited LIMIT 1) s,
LATERAL (SELECT min(v) AS low, max(v) AS high FROM unnest(s.bounds || s.common) v) r
WHERE r.low IS NOT NULL

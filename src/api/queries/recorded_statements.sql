-- Statements of database $1 that pg_stat_statements has, with the rights of the caller, and whether some are hidden from it. {schema} is the schema of the extension.
-- Those within functions, foreign keys and triggers come with the statements that call them.
SELECT jsonb_build_object(
    'statements', coalesce(jsonb_agg(jsonb_build_object('query', s.query, 'calls', s.calls, 'blocks', s.blocks)) FILTER (WHERE NOT s.is_hidden), '[]'),
    'are_hidden', coalesce(bool_or(s.is_hidden), false))
FROM (SELECT r.query, r.query = '<insufficient privilege>' AS is_hidden, sum(r.calls)::bigint AS calls,
             sum(r.shared_blks_dirtied + r.local_blks_dirtied)::bigint AS blocks
      FROM {schema}.pg_stat_statements r JOIN pg_catalog.pg_database d ON d.oid = r.dbid
      WHERE d.datname = $1 AND r.toplevel AND r.query IS NOT NULL GROUP BY r.query) s

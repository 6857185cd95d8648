-- Settings that are not default, and those of $1 in any case. Those that can hold a secret are named without their values: the tables have more readers.
-- A worker has set some for itself (source "session"): what they would be without that is told, and not from where.
SELECT jsonb_build_object(
    'version', version(),
    'version_num', current_setting('server_version_num')::int,
    'shared_buffers_bytes', pg_size_bytes(current_setting('shared_buffers')),
    'data_checksums', current_setting('data_checksums')::boolean,
    'settings', (SELECT coalesce(jsonb_object_agg(name, jsonb_build_object(
         'setting', CASE WHEN name ~ '(conninfo|_command)$'
           OR (category = 'Customized Options' AND vartype = 'string')
           THEN '(not stored)' WHEN source = 'session' THEN reset_val ELSE current_setting(name, true) END, 'source', nullif(source, 'session'))), '{}')
       FROM pg_settings WHERE CASE source WHEN 'session' THEN reset_val ELSE setting END IS DISTINCT FROM boot_val AND source <> 'override'
         OR source NOT IN ('default', 'override', 'session') OR name = ANY (string_to_array($1, ','))))

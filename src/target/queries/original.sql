-- Facts of this server for a copy of it: $1 is the name of the operating system user, $2 the settings that a copy takes over, $3 those that name
-- keys and logs.
SELECT jsonb_build_object(
    'system_identifier', (SELECT system_identifier FROM pg_control_system()),
    'bytes', (SELECT coalesce(sum(pg_database_size(oid)), 0) FROM pg_database WHERE datconnlimit <> -2),
    'data_checksums', current_setting('data_checksums')::boolean,
    'wal_segment_bytes', pg_size_bytes(current_setting('wal_segment_size')),
    'max_wal_bytes', pg_size_bytes(current_setting('max_wal_size')),
    'tablespaces', (SELECT coalesce(jsonb_agg(jsonb_build_object('oid', oid::bigint, 'location', pg_tablespace_location(oid)) ORDER BY oid), '[]')
                    FROM pg_tablespace WHERE pg_tablespace_location(oid) LIKE '/%'),
    'has_postgres', EXISTS (SELECT FROM pg_database WHERE datname = 'postgres' AND datallowconn),
    'has_superuser', EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND rolsuper AND rolcanlogin),
    'libraries', current_setting('shared_preload_libraries'),
    'sockets', current_setting('unix_socket_directories'),
    'port', current_setting('port'),
    'files', (SELECT coalesce(jsonb_agg(setting), '[]') FROM pg_settings WHERE name = ANY (string_to_array($3, ',')) AND setting <> ''),
    'settings', (SELECT coalesce(jsonb_object_agg(name, current_setting(name)), '{}') FROM pg_settings
                 WHERE name = ANY (string_to_array($2, ',')) AND source IN ('configuration file', 'command line', 'environment variable')))

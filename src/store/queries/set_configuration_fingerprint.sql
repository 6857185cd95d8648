-- A hash of all that is configured for run $1, without the settings $2, which only tell servers apart, and the mount options that match $3, which
-- name places.
UPDATE fsbench.environment e SET configuration_fingerprint = left(encode(sha256(convert_to(jsonb_build_array(
        e.server_version, e.kernel, e.filesystem, e.wal_filesystem, e.mkfs_version, e.vm, e.transparent_hugepage,
        e.io_scheduler, e.nr_requests, e.read_ahead_kb, e.block_size_bytes, e.journal_mode, e.data_file_attributes, e.pg_wal_file_attributes, r.used->'settings',
        regexp_replace(e.mount_options, $3, '', 'g'),
        regexp_replace(e.wal_mount_options, $3, '', 'g'),
        e.storage #> '{request,mkfs_options}', e.storage #> '{request,pool_properties}',
        e.storage #> '{request,dataset_properties}', e.storage #> '{request,ssd_state}',
        (SELECT jsonb_object_agg(key, value->'setting') FROM jsonb_each(e.settings)
         WHERE key <> ALL ($2::text[]) AND key NOT LIKE 'pgfsbench.%'))::text, 'UTF8')), 'hex'), 16)
    FROM fsbench.run_log r WHERE r.run_id = e.run_id AND e.run_id = $1::bigint

-- Targets: places to benchmark. And what the helper, which is root, is asked to do for them.

CREATE TABLE fsbench.target (
    target               text PRIMARY KEY CHECK (target ~ '^[A-Za-z0-9][A-Za-z0-9_.+-]{0,62}$'),
    kind                 text NOT NULL CHECK (kind IN ('default', 'device', 'image', 'directory', 'connection')),
    filesystem           text,
    device               text,
    device_identity      jsonb,
    image_size_bytes     bigint CHECK (image_size_bytes > 0),
    image_sparse         boolean,
    log_device           text,
    log_size_bytes       bigint CHECK (log_size_bytes > 0),
    directory            text,
    mount_point          text,
    connection           text,
    mkfs_options         text,
    mount_options        text,
    pool_properties      text,
    dataset_properties   text,
    ssd_state            text CHECK (ssd_state IN ('trimmed', 'as_is')),
    block_settings       jsonb,
    kernel_settings      jsonb,
    drop_caches          boolean,
    settings             jsonb,
    bindir               text,
    data_checksums       boolean,
    power_loss_protected boolean,
    log_device_identity  jsonb,
    created_by           name NOT NULL DEFAULT session_user,
    created_at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    devices              text[],
    image_count          integer CHECK (image_count BETWEEN 1 AND 16),
    layout               text,
    layout_options       jsonb,
    initial_sync         text CHECK (initial_sync IN ('wait', 'check', 'skip')),
    log_devices          text[]
);
COMMENT ON TABLE fsbench.target IS 'Targets: places to benchmark. Made and changed by fsbench.create_target, alter_target and drop_target';
COMMENT ON COLUMN fsbench.target.target IS 'Name';
COMMENT ON COLUMN fsbench.target.kind IS 'Kind: default (the data directory of this server), device or image (made by the helper), directory (of a mounted filesystem), connection (another server)';
COMMENT ON COLUMN fsbench.target.filesystem IS 'Filesystem to make on the device or image';
COMMENT ON COLUMN fsbench.target.device IS 'Block device, which each run erases';
COMMENT ON COLUMN fsbench.target.device_identity IS 'Identifies the device at each use: serial, wwn or partition_uuid, and bytes, as when the target was created; for devices, an array of these, in their order';
COMMENT ON COLUMN fsbench.target.image_size_bytes IS 'Size of the file that serves as a disk';
COMMENT ON COLUMN fsbench.target.image_sparse IS 'Whether the blocks of that file are allocated only when they are written; NULL: they are';
COMMENT ON COLUMN fsbench.target.log_device IS 'Block device for an external log (xfs, ext3, ext4, zfs)';
COMMENT ON COLUMN fsbench.target.log_size_bytes IS 'Size of a second file that serves as a disk for an external log. The size of the log inside a filesystem is set by mkfs_options: -l size=64m (xfs), -J size=64 (ext3, ext4)';
COMMENT ON COLUMN fsbench.target.directory IS 'Directory in which a server of its own is made for each run';
COMMENT ON COLUMN fsbench.target.mount_point IS 'Mount point of the directory''s filesystem; a run is refused when it is not mounted there';
COMMENT ON COLUMN fsbench.target.connection IS 'How to reach another server: keywords and values of libpq, without a password, which may be in the service or password file of this server''s operating system user';
COMMENT ON COLUMN fsbench.target.mkfs_options IS 'Options of mkfs, as on its command line';
COMMENT ON COLUMN fsbench.target.mount_options IS 'Mount options, with commas';
COMMENT ON COLUMN fsbench.target.pool_properties IS 'zfs: properties of the pool, as in zpool create -o';
COMMENT ON COLUMN fsbench.target.dataset_properties IS 'zfs: properties of the dataset, as in zfs create -o';
COMMENT ON COLUMN fsbench.target.ssd_state IS 'trimmed: the whole device is discarded before mkfs; as_is: nothing is discarded; NULL: the default of mkfs';
COMMENT ON COLUMN fsbench.target.block_settings IS 'Queue settings of the block device during a run: scheduler, read_ahead_kb, nr_requests';
COMMENT ON COLUMN fsbench.target.kernel_settings IS 'vm.* settings during a run: dirty_bytes, dirty_background_bytes, dirty_ratio, dirty_background_ratio, dirty_expire_centisecs, dirty_writeback_centisecs';
COMMENT ON COLUMN fsbench.target.drop_caches IS 'Whether the page cache of the machine is emptied before the target server starts';
COMMENT ON COLUMN fsbench.target.settings IS 'Server settings of the target server, also those that need a restart';
COMMENT ON COLUMN fsbench.target.bindir IS 'Directory with the PostgreSQL programs of the target server; NULL: those of this server';
COMMENT ON COLUMN fsbench.target.data_checksums IS 'Whether the target server has data checksums; NULL: it has';
COMMENT ON COLUMN fsbench.target.power_loss_protected IS 'Whether the device was declared to keep its cache when power is lost; NULL: not declared';
COMMENT ON COLUMN fsbench.target.log_device_identity IS 'By what the device of the log is recognized, as device_identity; for log_devices, an array';
COMMENT ON COLUMN fsbench.target.devices IS 'Block devices that the layout joins, in order. Each run erases all of them';
COMMENT ON COLUMN fsbench.target.image_count IS 'Number of files that serve as disks and that the layout joins; NULL: one';
COMMENT ON COLUMN fsbench.target.layout IS 'How several devices or images become one place for the filesystem: linear, raid0, raid1, raid5, raid6 or raid10 (an array of the kernel''s md), lvm-linear, lvm-stripe, lvm-raid1, lvm-raid5, lvm-raid6 or lvm-raid10 (a volume of LVM), btrfs-single, btrfs-raid0, btrfs-raid1 or btrfs-raid10, zfs-stripe, zfs-mirror or zfs-raidz';
COMMENT ON COLUMN fsbench.target.layout_options IS 'Options of an array: chunk (where it is not given, 512k of md and 64k of LVM); of md also bitmap (none or internal; none where it is not given), consistency_policy (resync or ppl), copies (raid10: n2, f2, o2, ...)';
COMMENT ON COLUMN fsbench.target.initial_sync IS 'wait or NULL: a run begins when the array of md or LVM is in sync; check: it compares all copies and parity first; skip: md or LVM takes a new array for being in sync';
COMMENT ON COLUMN fsbench.target.log_devices IS 'Block devices for an external log, each of which holds all of it: an array of md, raid1, for xfs, ext3 and ext4; a mirror of the pool for zfs. Each run erases all of them';
COMMENT ON COLUMN fsbench.target.created_by IS 'Role that created it';
COMMENT ON COLUMN fsbench.target.created_at IS 'Time of its creation';

INSERT INTO fsbench.target (target, kind) VALUES ('default', 'default');

-- Results hang on the name of a target, and its definition can change: each definition with results has a number.

CREATE FUNCTION fsbench._definition(target fsbench.target) RETURNS jsonb LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    AS $$ SELECT jsonb_strip_nulls(to_jsonb($1) - '{target,created_by,created_at}'::text[]) $$;
COMMENT ON FUNCTION fsbench._definition IS 'What defines a target: what of its row is not NULL, without its name and who created it when. Private';

CREATE FUNCTION fsbench._shown_target(target text, target_version integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN target_version > 1 THEN target || '#' || target_version ELSE target END;
COMMENT ON FUNCTION fsbench._shown_target IS 'Name of a target in results: xfs#2 for the second definition of xfs that has results. Private';

CREATE FUNCTION fsbench._same_definition(a jsonb, b jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    -- A row that was restored may hold anything: what is no object is no definition.
    SELECT CASE WHEN jsonb_typeof(a) = 'object' AND jsonb_typeof(b) = 'object'
                THEN a - '{device_identity,log_device_identity}'::text[] = b - '{device_identity,log_device_identity}'::text[]
                ELSE false END
       AND bool_and(coalesce(a -> name @> (b -> name) OR b -> name @> (a -> name), true))
    FROM unnest('{device_identity,log_device_identity}'::text[]) AS name
    $$;
COMMENT ON FUNCTION fsbench._same_definition IS 'Whether two definitions are the same: what is not known of a device before its first run is no difference. Private';

CREATE FUNCTION fsbench._results_of(target text, definition jsonb, except_run bigint DEFAULT NULL, OUT results bigint, OUT same bigint, OUT version integer,
    OUT last jsonb) LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH r AS (
        SELECT r.* FROM fsbench.run_log r
        WHERE r.target = $1 AND r.target_version IS NOT NULL AND r.run_id IS DISTINCT FROM $3
    ), known AS (
        SELECT r.target_version FROM r GROUP BY 1 HAVING bool_and(fsbench._same_definition(r.target_definition, $2))
        ORDER BY bool_or(r.target_definition = $2) DESC, max(r.run_id) DESC LIMIT 1
    )
    SELECT count(*), count(*) FILTER (WHERE r.target_version = (SELECT target_version FROM known)),
           coalesce((SELECT target_version FROM known), max(r.target_version) + 1, 1),
           (SELECT target_definition FROM r ORDER BY run_id DESC LIMIT 1)
    FROM r
    $$;
COMMENT ON FUNCTION fsbench._results_of IS 'What hangs on the name of a target: how many results, how many of them with this definition, its number among the definitions or the one that it will have, and the definition of the last result. Private';

-- These rows name programs that the server starts and places that it writes to, and steer what is cleared up. So rights on tables in general, such as
-- those of pg_write_all_data, are not enough.
CREATE FUNCTION fsbench._check_writer() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT pg_has_role((SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RAISE EXCEPTION 'permission denied to change table "%"', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege',
                  DETAIL = 'Only the owner of the extension may.', HINT = CASE TG_TABLE_NAME WHEN 'target'
                      THEN 'Have a superuser call fsbench.create_target(), alter_target() or drop_target().'
                      ELSE 'Have a superuser do it.' END;
    END IF;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION fsbench._check_writer IS 'Refuses writers who do not have the rights of the table''s owner. Private';

-- The server's memory knows which runs are queued or on. A row from a dump is of a run of another server, or of another time, and would never end.
CREATE FUNCTION fsbench._check_new_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_stat_activity WHERE pid = pg_backend_pid() AND backend_type = 'fsbench coordinator') THEN
        RETURN NEW;
    END IF;
    NEW.copied := true;
    IF NEW.status NOT IN ('queued', 'running') THEN
        RETURN NEW;
    END IF;
    NEW.error := format('the run was %s when its row was copied', NEW.status);
    NEW.error_code := '55000';
    NEW.error_detail := 'The row comes from a dump, or was written by hand: no run of this server belongs to it.';
    NEW.error_hint := 'Start the run again.';
    NEW.status := 'failed';
    RETURN NEW;
END
$$;
COMMENT ON FUNCTION fsbench._check_new_run IS 'Marks rows that are copied, and ends runs whose rows are copied while they are queued or on. Private';
CREATE TRIGGER check_new_run BEFORE INSERT ON fsbench.run_log FOR EACH ROW EXECUTE FUNCTION fsbench._check_new_run();
COMMENT ON TRIGGER check_new_run ON fsbench.run_log IS 'A row alone is no run';

CREATE FUNCTION fsbench._check_deleted_run() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'run % is on', OLD.run_id USING ERRCODE = 'object_in_use', DETAIL = 'Its results would have no place.',
              HINT = format('Wait for it, or cancel it: SELECT fsbench.cancel(%s);', OLD.run_id);
END
$$;
COMMENT ON FUNCTION fsbench._check_deleted_run IS 'Refuses to delete a run that is on. Private';
CREATE TRIGGER check_deleted_run BEFORE DELETE ON fsbench.run_log FOR EACH ROW WHEN (OLD.status = 'running') EXECUTE FUNCTION fsbench._check_deleted_run();
COMMENT ON TRIGGER check_deleted_run ON fsbench.run_log IS 'A run that is on keeps its row';

CREATE SEQUENCE fsbench.helper_job_id_seq;
COMMENT ON SEQUENCE fsbench.helper_job_id_seq IS 'Numbers of the helper''s jobs';

CREATE TABLE fsbench.helper_job (
    job_id         bigint PRIMARY KEY DEFAULT nextval('fsbench.helper_job_id_seq'),
    run_id         bigint,
    target         text NOT NULL,
    action         text NOT NULL CHECK (action IN ('prepare', 'release', 'remount', 'describe', 'plan', 'try', 'drop_caches', 'barriers_off', 'cut_stop', 'cut', 'cut_again', 'cut_end', 'fault')),
    request        jsonb NOT NULL,
    status         text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done', 'failed')),
    requested_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    server_started timestamptz NOT NULL DEFAULT pg_postmaster_start_time(),
    asked_by       xid8 NOT NULL DEFAULT pg_current_xact_id(),
    started_at     timestamptz,
    ended_at       timestamptz,
    helper_version text,
    steps          jsonb,
    result         jsonb,
    error          text,
    error_detail   text,
    error_hint     text,
    ticket         bigint
);
CREATE INDEX helper_job_run_id_idx ON fsbench.helper_job (run_id);
CREATE INDEX helper_job_target_idx ON fsbench.helper_job (target, job_id);
CREATE INDEX helper_job_ticket_idx ON fsbench.helper_job (ticket) WHERE ticket IS NOT NULL;
COMMENT ON TABLE fsbench.helper_job IS 'Requests to pgfsbench-helper, and their results';
COMMENT ON COLUMN fsbench.helper_job.job_id IS 'Number of the job in this database';
COMMENT ON COLUMN fsbench.helper_job.run_id IS 'Run of the job; NULL for a job without a run';
COMMENT ON COLUMN fsbench.helper_job.target IS 'Target of the job';
COMMENT ON COLUMN fsbench.helper_job.action IS 'prepare: make the filesystem and mount it; release: unmount it and remove what was made; remount: unmount it and mount it again as it was; describe: list devices, image directories and filesystems; plan: tell what prepare would do; try: prepare it once on a sparse image, and remove that; drop_caches: empty the page cache; barriers_off: have the filesystem of a recorded target send no flushes; cut_stop: end the recording of a target, and unmount it; cut: mount it as a power cut would have left it; cut_again: mount it again as it has become since; cut_end: unmount that; fault: let its disk fail';
COMMENT ON COLUMN fsbench.helper_job.request IS 'The request; the helper''s own configuration decides whether it is carried out';
COMMENT ON COLUMN fsbench.helper_job.status IS 'queued, running, done or failed';
COMMENT ON COLUMN fsbench.helper_job.server_started IS 'Start of the server in which it was asked for: a job from before a restart is never done';
COMMENT ON COLUMN fsbench.helper_job.asked_by IS 'Transaction that asked: a row that another one has inserted was restored from a dump, and is never done';
COMMENT ON COLUMN fsbench.helper_job.started_at IS 'When the helper began';
COMMENT ON COLUMN fsbench.helper_job.ended_at IS 'End of the job';
COMMENT ON COLUMN fsbench.helper_job.helper_version IS 'Version of the helper that took it';
COMMENT ON COLUMN fsbench.helper_job.steps IS 'Executed steps in order: each with step, argv, ms, exit_code and output';
COMMENT ON COLUMN fsbench.helper_job.result IS 'Result: directory, mount_point, device, mount_options as the kernel shows them, versions of programs';
COMMENT ON COLUMN fsbench.helper_job.error IS 'Why it failed';
COMMENT ON COLUMN fsbench.helper_job.error_detail IS 'DETAIL of that, with the lines of the program that say why; all of them are in steps';
COMMENT ON COLUMN fsbench.helper_job.error_hint IS 'Advice after an error';
COMMENT ON COLUMN fsbench.helper_job.ticket IS 'Identifies the job for the session that waits for it; NULL for jobs of runs';

CREATE FUNCTION fsbench._notify_helper() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$ BEGIN PERFORM pg_notify('fsbench_helper', NEW.job_id::text); RETURN NULL; END $$;
COMMENT ON FUNCTION fsbench._notify_helper IS 'Wakes the helper. Private';
CREATE TRIGGER notify AFTER INSERT ON fsbench.helper_job FOR EACH ROW EXECUTE FUNCTION fsbench._notify_helper();
COMMENT ON TRIGGER notify ON fsbench.helper_job IS 'Wakes the helper, which listens on the channel fsbench_helper';

-- The helper's report is about this machine, and is in no dump.
CREATE TABLE fsbench.helper_description (
    singleton      boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    seen_at        timestamptz NOT NULL,
    helper_version text NOT NULL,
    description    jsonb NOT NULL
);
COMMENT ON TABLE fsbench.helper_description IS 'What pgfsbench-helper has last seen of this machine: one row, written by the helper when it starts and after each of its jobs; read it through fsbench.device and fsbench.doctor()';
COMMENT ON COLUMN fsbench.helper_description.singleton IS 'True: there is one row';
COMMENT ON COLUMN fsbench.helper_description.seen_at IS 'When the helper looked';
COMMENT ON COLUMN fsbench.helper_description.helper_version IS 'Version of the helper';
COMMENT ON COLUMN fsbench.helper_description.description IS 'Devices and directories of images of its configuration, filesystems with their programs, targets that are prepared';

-- Who serves is a session of this server, and is in no dump. A lock on this table takes rights on it, unlike an advisory lock.
CREATE TABLE fsbench.helper_session (
    singleton      boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    pid            integer NOT NULL,
    backend_start  timestamptz NOT NULL,
    helper_version text NOT NULL
);
COMMENT ON TABLE fsbench.helper_session IS 'Session of the pgfsbench-helper that serves this database, or served it last: one row, written by the helper when it connects';
COMMENT ON COLUMN fsbench.helper_session.pid IS 'Server process of the session';
COMMENT ON COLUMN fsbench.helper_session.backend_start IS 'When that process was started: if pg_stat_activity shows no such process, no helper serves';

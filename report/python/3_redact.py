# A page for strangers leaves out who and where. Values that may stay are listed; all others, unknown ones too, are left out.

# Columns of fsbench.environment that tell what kind of machine it is, and not which one.
TOLD = set('pgfsbench_version server_version server_version_num kernel machine virtualization container processors processor_model memory_bytes shared_buffers_bytes '
           'data_checksums scope durability filesystem wal_filesystem mount_options wal_mount_options filesystem_size_bytes filesystem_free_bytes block_size_bytes '
           'journal_mode data_attributes data_file_attributes pg_wal_attributes pg_wal_file_attributes fallocate mkfs_version geometry write_cache device_model rotational fua discard_granularity_bytes discard_max_bytes logical_sector_bytes '
           'physical_sector_bytes io_scheduler nr_requests queue_depth read_ahead_kb vm transparent_hugepage cpu_governor cpu_mhz_min cpu_mhz_max numa_nodes '
           'clock_source'.split())
# Limits of cgroups, but for those of I/O, which name devices.
TOLD_LIMITS = {'limits.memory_bytes', 'limits.processors', 'limits.allowed_processors'}
# Settings that are texts hold paths, commands, hosts, and names of standbys, slots, roles and databases. These do not.
TOLD_TEXTS = {'debug_io_direct', 'DateStyle', 'client_encoding', 'server_encoding', 'wal_consistency_checking'}
# Known modules: other names may be those of a company.
TOLD_MODULES = {'pgfsbench', 'pg_stat_statements', 'auto_explain'}
# Values that may stay of a setting that this server does not know.
TOLD_VALUE = re.compile(r'on|off|-?\d+(\.\d+)?( ?([kMGT]?B|us|ms|s|min|h|d))?')
# Mount options with values: those that are words, and those that are numbers.
TOLD_OPTIONS = set('data errors barrier commit compress compress-force compress_algorithm discard space_cache fsync_mode background_gc alloc_mode checkpoint_merge vers proto sec '
                   'local_lock lookupcache redirect_dir index xino'.split())
NUMBER = re.compile(r'\d+[kKmMgGtT]?')
# Numbers that tell who.
PRIVATE_OPTIONS = set('addr clientaddr mountaddr username user domain unc credentials password pass name source uuid fsuuid port mountport uid gid user_id group_id'.split())
# Options that are texts of the caller: comments and names stand in them.
OWN_TEXTS = {'job_file', 'table'}
# Arguments of calls that name a user's own data, and the parameters of runs that hold them.
OWN_DATA = {'data', 'database'}
OWN_DATABASE = {'own_database.data', 'own_database.database'}
# Arguments of calls, and parts of definitions, that tell where.
PLACES = re.compile('device|directory|connection|host|label|bindir|mount_point|path|identity')

# Findings whose messages are figures and words of pgfsbench.
TOLD_FINDINGS = set('power_cut_failed power_cuts_void fsync_error server_restarted fsync_off in_memory barriers_off jfs_does_not_flush sync_does_nothing fsync_too_fast flushes_missing synchronous_commit_off full_page_writes_off unlogged throttled steal '
                    'processor_limit noisy_neighbour memory_limit memory_pressure other_writers device_discards lazy_init flush_step archiving replication slow_clock observer_effect governor failed_transactions '
                    'cache_not_as_asked read_for_others workers_not_launched skipped_transactions behind_schedule stalls drift warming_up autovacuum_off dead_rows dirty_limit '
                    'checkpoints_requested cpu_saturated cpu_bound data_fits_shared_buffers data_fits_ram clients_exceed_branches lock_waits no_complete_checkpoint too_short '
                    'compression btrfs_nodatacow file_attributes fallocate_missing cloned_data almost_full discard_mount_option atime ssd_state_undeclared virtual_disk_without_flush allocated_less allocated_more '
                    'statistics_reset vacuums statements_not_recorded log_checkpoints_off not_positive commits_unlike_syncs inputs_out_of_range response_time_limit not_paced instances_apart instance_findings'.split())
# Others name programs, devices, arrays, mount points and hosts, or quote what a program has printed.
INSTEAD = {
    'old_xmin': 'vacuum is held back by others',
    'lost_transactions': 'after the crash not all was there that was committed',
    'recovery_failed': 'recovery failed after the crash, and what was committed could not be compared',
    'io_limit': 'the limit of I/O of the server\'s cgroup was reached',
    'raid_resync': 'RAID is busy in the background',
    'raid_degraded': 'RAID lacks disks',
    'raid_at_rest': 'RAID marked its disks as clean between writes',
    'raid_write_hole': 'RAID has a write hole',
    'raid_without_bitmap': 'RAID has no bitmap',
    'stripe_mismatch': 'the filesystem has other stripes than the RAID below it',
    'misaligned': 'a device or partition does not begin at a block of the disk',
    'stripe_unknown': 'the filesystem does not know the stripes of the RAID below it',
    'wal_on_other_filesystem': 'data and WAL are on different filesystems',
    'loop_device': 'the data are on a loop device',
    'loop_without_direct_io': 'the data are on a loop device without direct I/O',
    'mount_options_not_shown': 'not all mount options that were asked for are shown by the kernel',
    'properties_not_in_force': 'not all properties that were asked for are in force',
    'not_released': 'the filesystem of a target was not cleared away',
    'imported': 'imported from a file: it was not measured here',
}
# Where the page itself is steered by a text, or it is an identifier of pgfsbench. Numbers take only time.
STRUCTURE = {'kind', 'part', 'method', 'verdict', 'code', 'severity', 'outcome', 'status', 'metric', 'area', 'matters', 'here', 'there', 'rule', 'expected', 'compared', 'unit', 'question',
             'claim', 'variant', 'utc'}
NUMBERS = {'seconds', 'machine', 'checkpoints'}
# Names that somebody has chosen stay, but for hosts in them.
NAMES = {'target', 'name', 'against', 'baseline', 'transaction', 'script', 'job'}
# Layers below a filesystem whose names are chosen by people, or hold a mount point.
NAMED_LAYERS = {'dm', 'lvm', 'crypt', 'multipath', 'md', 'network', 'filesystem'}
# No devices, though they stand in their place.
NO_DEVICES = {'none', 'tmpfs', 'ramfs', 'overlay', 'rootfs'}

# A path begins where no word ends: so that GB/s stays, and so does what is the same on all machines, and an address of the web.
PATH = re.compile(r'(?<![\w/<:])//?(?!(?:usr/)?sbin/(?:mkfs\.|zpool)|(?:usr/)?bin/env\b|etc/fstab|proc/|sys/|dev/disk/by-id/YOUR)(?:[\w.@:+%=*-]+/?)+|(?<![\w.-])[\w.-]+:/(?!/)(?:[\w.@:+%=-]+/?)*')
UNIQUE = re.compile(r'\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b'
                    r'|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])'
                    r'|(?<![\w:])(?:[0-9a-fA-F]{1,4}:){4,7}[0-9a-fA-F]{1,4}(?![\w:])|(?<![\w:])[0-9a-fA-F:]*::[0-9a-fA-F:]*[0-9a-fA-F](?![\w:])')
PAIR = re.compile(r'(?<![\w-])(addr|clientaddr|mountaddr|username|user|domain|unc|credentials|password|host|hostaddr|hostname|dbname|service|passfile|uuid)='
                  r'''("[^"]*"|'[^']*'|[^\s,'")]+)''')
LABEL = re.compile(r'(?<![\w-])(-L|-U|--label|--uuid|-l)( +|=)(?![\w-]*=)[^\s,\'"]+')


# Filled once for a page.
KINDS = {}


def kinds_of_settings():
    if not KINDS:
        KINDS.update({row['name']: row['vartype'] for row in query('SELECT name, vartype FROM pg_catalog.pg_settings')})
    return KINDS


def is_told_setting(name, value, kinds):
    if '.' in name and name.split('.')[0] not in TOLD_MODULES or name == 'port':
        return False
    kind = kinds.get(name)
    if kind is None:
        return not value or bool(TOLD_VALUE.fullmatch(value))
    return kind != 'string' or name in TOLD_TEXTS


def told_options(text):
    """Mount options, without the values that tell who and where."""
    options = []
    for option in text.split(','):
        name, sign, value = option.partition('=')
        told = not sign or name in TOLD_OPTIONS and '/' not in value or NUMBER.fullmatch(value) and name not in PRIVATE_OPTIONS
        options.append(option if told else name + '=[removed]')
    return ','.join(options)


def told_limits(text):
    """Limits of cgroups without the devices, whose numbers belong to one machine and whose names people choose: figures alone."""
    figures = lambda limits: {name: value for name, value in limits.items() if isinstance(value, (int, float))} if isinstance(limits, dict) else {}
    try:
        limits = json.loads(text)
    except (TypeError, ValueError):
        return '[removed]' if text else text
    io = limits.get('io') if isinstance(limits, dict) else None
    return json.dumps(dict(figures(limits), **{'io': [figures(limit) for limit in io]} if isinstance(io, list) else {}))


def is_told(row):
    """Whether a row of fsbench.diff() may be read by strangers."""
    name, values = row['name'], [value for value in (row['a'], row['b']) if value]
    if row['area'] == 'mount':
        return not PLACES.search(name) and all(told_options(value) == value for value in values)
    if row['area'] in ('parameters', 'target'):
        before, is_setting, setting = name.rpartition('settings.')
        if is_setting and not before:
            kinds = kinds_of_settings()
            return all(is_told_setting(setting, value, kinds) for value in values)
        return not PLACES.search(name) and name.split('.')[-1] not in OWN_TEXTS and name not in OWN_DATABASE
    if row['area'] == 'settings' and name != 'data_checksums':
        kinds = kinds_of_settings()
        return all(is_told_setting(name, value, kinds) for value in values)
    return row['area'] == 'run' or name.split('.')[0] in TOLD or name in TOLD_LIMITS


def told_marks(before, run):
    """Changes between the runs of two nights that may be the same on all machines."""
    rows = query("SELECT name, a, b FROM fsbench.diff($1, $2) WHERE name IN ('kernel', 'server_version')", ['bigint', 'bigint'], [before, run])
    return '; '.join('%s: %s, before %s' % (row['name'], row['b'] or 'none', row['a'] or 'none') for row in rows) or None


def told_argument(name, value):
    """The argument in a call that others may repeat."""
    if PLACES.search(name) or name in TEXTS or name in OWN_TEXTS or name in OWN_DATA:
        return '[removed]'
    if name == 'options' and isinstance(value, dict):
        return {key: '[removed]' if key in OWN_TEXTS else item for key, item in value.items()}
    if name == 'mount_options' and isinstance(value, str):
        return told_options(value)
    if name == 'settings' and isinstance(value, dict):
        kinds = kinds_of_settings()
        return {key: item if is_told_setting(key, str(item), kinds) else '[removed]' for key, item in value.items()}
    return value


def told_findings(rows):
    return [dict(row, message=row['message'] if row['code'] in TOLD_FINDINGS else INSTEAD.get(row['code'], 'what was seen is left out'))
            for row in rows]


def told_environment(rows):
    kinds, told = kinds_of_settings(), []
    for row in rows:
        column, _, name = row['name'].partition(' ')
        if column == 'setting' and all(is_told_setting(name, value, kinds) for value in row['values']):
            told.append(row)
        elif column.endswith('mount_options'):
            told.append(dict(row, values=[told_options(value) for value in row['values']]))
        elif column == 'limits':
            told.append(dict(row, values=[told_limits(value) for value in row['values']]))
        elif column in TOLD:
            told.append(row)
    return told


def told_advice(rows):
    """Advice without the settings of the server that tell who and where."""
    kinds = kinds_of_settings()
    return [row for row in rows if not row.get('setting') or is_told_setting(row['setting'], row['value'], kinds)]


def sensitive(model):
    """Hosts, and other words, that are not to be on a page for strangers."""
    ids = [run for group in model['groups'] for run in group['runs']] + [night['run_id'] for night in model.get('nights', []) if night['marks'] or night['differs']]
    hosts, words = set(), set()
    for row in query('SELECT e.hostname, e.filesystem, e.device, e.wal_device, e.mount_point, e.wal_mount_point, e.data_directory, e.wal_directory, '
                     'e.layers::text, e.wal_layers::text, e.storage::text, r.target_definition::text, (r.facts -> \'other_storage\')::text AS other_storage '
                     'FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id) WHERE r.run_id = ANY ($1)', ['bigint[]'], [ids]):
        for key in ('layers', 'wal_layers', 'storage', 'target_definition', 'other_storage'):
            gather(json.loads(row.pop(key) or 'null'), hosts, words)
        hosts.add(row.pop('hostname'))
        none = NO_DEVICES | {row.pop('filesystem')}
        words.update(value for value in row.values() if value not in none)
        for device in (row['device'], row['wal_device']):
            # server:/export, //server/share
            hosts.update(name for names in re.findall(r'^([\w.-]+):/|^//([^/]+)', device or '') for name in names)
    for row in query('SELECT f.host FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.run_id = ANY ($1)', ['bigint[]'], [ids]):
        hosts.add(row['host'])
    if model['kind'] == 'study':
        words.update(value for key, value in model['study']['asked'].items() if PLACES.search(key) and isinstance(value, str))
    hosts = {host for host in hosts if host and re.search(r'\w', host)}
    # Also by the first of its names, if that is none of many.
    hosts |= {host.split('.')[0] for host in hosts if re.search('[a-z]', host, re.I)}
    return hosts, {word for word in words if word and re.search(r'\w', word) and word not in hosts}


def gather(value, hosts, words):
    if isinstance(value, list):
        for item in value:
            gather(item, hosts, words)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, list) and PLACES.search(key):
                words.update(text for text in item if isinstance(text, str))
            if not isinstance(item, str):
                gather(item, hosts, words)
            elif key == 'connection':
                words.add(item)
                hosts.update(found[0] or found[1] for found in re.findall(r"\bhost(?:addr)?\s*=\s*'?([^\s']+)|://(?:[^@/]*@)?([^/:?]+)", item))
            elif re.search('serial|wwn|uuid|pool$|dataset$|backing_file', key) or PLACES.search(key) or key == 'name' and value.get('kind') in NAMED_LAYERS:
                words.add(item)


def any_of(words):
    """Matches these words where they stand by themselves. A short number is one of many, but behind an @."""
    words = sorted(words, key=len, reverse=True)
    begins = lambda word: '(?<=@)' if re.fullmatch(r'\d{1,4}', word) else r'(?<!\w)' if re.match(r'\w', word) else ''
    return re.compile('|'.join(begins(word) + re.escape(word) + (r'(?!\w)' if re.match(r'\w', word[-1]) else '') for word in words), re.IGNORECASE) if words else None


def redacted(model):
    """The model without hosts, serial numbers, paths and labels."""
    model = without_texts(model)
    hosts, words = sensitive(model)
    number_of = {host: at + 1 for at, host in enumerate(sorted({host.lower() for host in hosts}))}
    known_hosts, known_words = any_of(hosts), any_of(words)

    def nameless(text):
        # Two hosts stay two.
        return known_hosts.sub(lambda found: '[host %d]' % number_of.get(found.group().lower(), 0), text) if known_hosts else text

    def scrub(text):
        if known_words:
            text = known_words.sub('[removed]', text)
        text = LABEL.sub(r'\1\2[removed]', PAIR.sub(r'\1=[removed]', nameless(text)))
        return UNIQUE.sub('[removed]', PATH.sub('[path]', text))

    def told(value, key):
        if isinstance(value, str):
            return value if key in STRUCTURE else nameless(value) if key in NAMES else scrub(value)
        if isinstance(value, list):
            return [told(item, key) for item in value]
        if isinstance(value, dict):
            return {name: told(item, name) for name, item in value.items()}
        return value
    model = dict(model, environment=told_environment(model['environment']), findings=told_findings(model['findings']), advice=told_advice(model['advice']))
    return {key: value if key in NUMBERS else told(value, key) for key, value in model.items()}

# What a page is made of. Everything is read by views and functions of pgfsbench, with the rights of the caller.

# Left out where a page goes to strangers: who and where.
WHERE = {'hostname', 'device', 'wal_device', 'mount_point', 'wal_mount_point', 'data_directory', 'wal_directory', 'st_dev', 'wal_st_dev',
         'host_fingerprint', 'configuration_fingerprint', 'kernel_command_line', 'storage', 'mkfs_command', 'layers', 'wal_layers'}
WHERE_SETTING = re.compile('host|address|port$|directory|_file|command|conninfo|cluster_name|prefix|ident|library|libraries|user|database')


class Refused(Exception):
    """An error for the caller: SQLSTATE, message, DETAIL and HINT. Raised by plpy, it would have the name of an exception before its words."""


def refuse(sqlstate, message, detail, hint):
    raise Refused(sqlstate, message, detail, hint)


def query(sql, types=(), values=()):
    try:
        rows = plpy.execute(plpy.prepare(sql, list(types)), list(values))
    except plpy.SPIError as error:
        raise Refused(error.sqlstate, str(error), error.spidata[1], error.spidata[2])
    return [dict(row) for row in rows]


def read_experiment(name):
    found = query('SELECT e.*, s.runs, s.block FROM fsbench.experiment e JOIN fsbench.experiments s USING (experiment_id) WHERE e.experiment = $1',
                  ['text'], [name])
    if not found:
        refuse('22023', 'experiment "%s" does not exist' % visible(name), 'There is neither an experiment of this name nor a study of it that was started in this database.',
               'See fsbench.experiments and fsbench.studies.')
    e = found[0]
    e['asked'] = json.loads(e['asked'])
    blocks = query('SELECT * FROM fsbench.chart_block WHERE experiment = $1 ORDER BY started_at, block, position', ['text'], [name])
    if not any(block['counts'] for block in blocks):
        refuse('55000', 'experiment "%s" has no run that counts' % visible(name), 'Its status is %s.' % e['status'],
               'See fsbench.experiments for how far it is, and fsbench.experiment_run for what has become of its runs.')
    verdicts = query('SELECT * FROM fsbench.chart_verdict WHERE experiment = $1', ['text'], [name])
    targets = query('SELECT t.*, x.target_number FROM fsbench.chart_target t JOIN fsbench.experiment_target x ON x.target = t.target '
                    'WHERE t.experiment = $1 AND x.experiment_id = $2 ORDER BY x.target_number', ['text', 'bigint'], [name, e['experiment_id']])
    said = {row['target']: row for row in verdicts}
    groups = []
    for target in targets:
        runs = [block for block in blocks if block['target'] == target['target'] and block['counts'] and block['run_id'] is not None]
        target.update({key: value for key, value in said.get(target['target'], {}).items() if key not in ('experiment', 'target', 'durability')})
        if runs:
            groups.append({'name': target['target'], 'runs': [run['run_id'] for run in runs], 'chosen': typical(runs)})
    baseline = targets[e['baseline_number']]['target'] if e['goal'] == 'baseline' else None
    advice = query('SELECT * FROM fsbench.recommend($1)', ['text'], [name])
    return {'kind': 'experiment', 'title': name, 'experiment': e, 'blocks': blocks, 'verdicts': verdicts, 'targets': targets, 'groups': groups,
            'baseline': baseline, 'advice': advice, 'metric': e['metric'], 'answer': answer_of_experiment(e, verdicts, advice)}


def typical(runs):
    """The run that is in the middle by what is compared."""
    known = sorted((run for run in runs if run['value'] is not None), key=lambda run: run['value'])
    return known[(len(known) - 1) // 2]['run_id'] if known else runs[-1]['run_id']


def answer_of_experiment(e, verdicts, advice):
    said = {part: [row['says'] for row in advice if row['part'] == part] for part in ('choice', 'not tested')}
    untested = [text.split(':')[0].split('; ')[0] for text in said['not tested']]
    blocks = max([row['blocks'] or 0 for row in verdicts] or [0])
    sure = 'It rests on %s, by rules that err in at most 5 %% of experiments' % count(blocks, 'block')
    if not blocks:
        sure = 'No look has been taken yet'
    elif e['status'] not in ('done', 'cancelled'):
        sure = 'It is as of the last look, after %s' % count(blocks, 'block')
    return ['; '.join(said['choice']) or 'no choice', '%s. Not tested: %s' % (sure, '; '.join(untested) or 'nothing is known of that')]


def read_runs(ids):
    if None in ids or not ids or isinstance(ids[0], list):
        refuse('22023', 'run_ids must name runs', 'It is empty, has a NULL, or is an array of arrays.', "Call it as in SELECT fsbench.report(run_ids => '{7,8}').")
    ids = list(dict.fromkeys(ids))
    query('SELECT fsbench._check_runs($1)', ['bigint[]'], [ids])
    runs = query('SELECT r.run_id, r.target, r.status, r.error, r.workload, r.tps AS metric_median, r.commit_p99_ms, r.stall_seconds, '
                 'r.device_bytes_per_transaction, r.durability, r.filesystem, y.recovery_ms, r.started_at, '
                 '(SELECT min(s.tps) FROM fsbench.chart_second s WHERE s.run_id = r.run_id) AS worst_second_tps '
                 'FROM fsbench.result r LEFT JOIN fsbench.recovery y USING (run_id) WHERE r.run_id = ANY ($1) '
                 'ORDER BY array_position($1, r.run_id)', ['bigint[]'], [ids])
    for run in runs:
        if run['status'] != 'done':
            refuse('55000', 'run %s is not done' % run['run_id'], 'It is %s%s.' % (run['status'], ': ' + visible(run['error']) if run['error'] else ''),
                   'Name runs of fsbench.result whose status is done.')
        run.update(target='run %s (%s)' % (run['run_id'], run['target']), runs=1, verdict='', ratio=None, low=None, high=None,
                   same_durability=None)
    groups = [{'name': run['target'], 'runs': [run['run_id']], 'chosen': run['run_id']} for run in runs]
    advice, first = [], runs[0]
    for run in runs:
        run['measured'] = figure(run['metric_median'], 'operations/s' if run['workload'] == 'fsync' else 'tps') if run['metric_median'] is not None else ''
    answer = ['%s made %s' % (run['target'], run['measured']) for run in runs if run['measured']]
    answer = ['R' + '; '.join(answer)[1:] if answer else 'These runs have no transactions',
              'Single runs decide nothing: how much such runs differ by themselves is not known; fsbench.experiment() has targets take turns']
    if len(runs) == 2:
        for row in query('SELECT metric, says FROM fsbench.compare_runs($1, $2)', ['bigint', 'bigint'], ids):
            # Where there is no ratio, it says nothing.
            if ':' in row['says']:
                advice.append({'part': 'why', 'says': row['says']})
    return {'kind': 'runs', 'title': ', '.join(run['target'] for run in runs[:4]) + (', ...' if len(runs) > 4 else ''), 'experiment': None,
            'blocks': [dict(run, target=run['target'], block=1, position=i + 1, outcome='measured', counts=True, value=run['metric_median'], ratio=None)
                       for i, run in enumerate(runs)],
            'verdicts': [], 'targets': runs, 'groups': groups, 'baseline': None, 'advice': advice, 'metric': 'tps', 'answer': answer}


def read_history(label, metric):
    """The nights of a label; beside them, the last good run of each segment, and those around its last change."""
    nights = query('SELECT h.*, h.at AT TIME ZONE $3 AS utc FROM fsbench.history($1, $2) h ORDER BY h.segment, h.night', ['text', 'text', 'text'], [label, metric, 'UTC'])
    segments = {}
    for night in nights:
        segments.setdefault(night['segment'], []).append(night)
    ids, said = [], []
    for rows in segments.values():
        good = [row for row in rows if row['value'] is not None]
        changed = [row for row in good if row['status'] == 'changed']
        if not good:
            continue
        last = changed[-1] if changed else None
        if last:
            ids += [good[good.index(last) - 1]['run_id'], last['run_id']]
            said.append('%s: since run %s (%s) it has %.2f times the %s of before (%.2f to %.2f)%s' % (
                last['target'], last['run_id'], last['utc'][:10], last['ratio'], metric, last['low'], last['high'],
                '; what differs there: ' + last['differs'] if last['differs'] else ''))
        else:
            said.append('%s: no change of level in %s' % (rows[0]['target'], count(len(good), 'night')))
        ids.append(good[-1]['run_id'])
    if not ids:
        refuse('55000', 'history "%s" has no good run' % visible(label), 'None of its runs is done and valid.', 'See fsbench.result for what has become of them.')
    ids = query("SELECT array_agg(r.run_id ORDER BY r.run_id) AS ids FROM fsbench.run_log r WHERE r.run_id = ANY ($1) AND r.status = 'done'", ['bigint[]'], [ids])[0]['ids']
    model = read_runs(ids)
    missing = len([night for night in nights if night['value'] is None])
    model.update(kind='history', title=label, nights=nights, metric=metric, blocks=[], answer=[
        '; '.join(said), 'It takes 8 nights before a change, 3 after it, and 2.5 %%. %s had no good run' % count(missing, 'night')])
    return model


def read_series(model):
    """What charts of experiments, loose runs and histories are drawn from."""
    ids = [run for group in model['groups'] for run in group['runs']]
    chosen = [group['chosen'] for group in model['groups']]
    take = lambda sql, runs: query(sql, ['bigint[]'], [runs])
    model['seconds'] = {row['run_id']: row for row in take(
        'SELECT run_id, array_agg(tps::float8 ORDER BY second) AS tps, array_agg(second ORDER BY second) AS second, '
        'array_agg(second ORDER BY second) FILTER (WHERE stalled) AS stalls '
        'FROM fsbench.chart_second WHERE run_id = ANY ($1) AND tps IS NOT NULL GROUP BY run_id', ids)}
    model['checkpoints'] = take('SELECT * FROM fsbench.chart_checkpoint WHERE run_id = ANY ($1) ORDER BY run_id, number', ids)
    model['machine'] = {row['run_id']: row for row in take(
        'SELECT run_id, array_agg(second ORDER BY second) AS second, array_agg(device_write_bytes::float8 ORDER BY second) AS "device writes", '
        'array_agg(device_f_await_ms::float8 ORDER BY second) AS "flush", array_agg(device_util_percent::float8 ORDER BY second) AS "device busy", '
        'array_agg(dirty_bytes::float8 ORDER BY second) AS "dirty", array_agg(writeback_bytes::float8 ORDER BY second) AS "writeback", '
        'array_agg(cpu_usr_percent::float8 ORDER BY second) AS "user", array_agg(cpu_sys_percent::float8 ORDER BY second) AS "system", '
        'array_agg(cpu_iowait_percent::float8 ORDER BY second) AS "iowait", array_agg(cpu_steal_percent::float8 ORDER BY second) AS "steal" '
        'FROM fsbench.chart_second WHERE run_id = ANY ($1) GROUP BY run_id', chosen)}
    model['waits'] = take(
        'SELECT w.run_id, w.wait, w.second / greatest(1, m.seconds / 120) AS piece, greatest(1, m.seconds / 120) AS size, sum(w.samples)::float8 AS samples '
        'FROM fsbench.chart_wait w JOIN (SELECT run_id, max(second) + 1 AS seconds FROM fsbench.wait_event WHERE run_id = ANY ($1) GROUP BY run_id) m USING (run_id) '
        'WHERE w.run_id = ANY ($1) GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3', chosen)
    model['latency'] = [dict(row, name=group['name']) for group in model['groups'] for row in query(
        "SELECT t.measure = 'commit' AS is_commit, p.percentile, t.transactions::float8, "
        "fsbench.percentile(p.percentile / 100, t.run_ids, t.measure) AS ms "
        "FROM (SELECT h.measure, sum(h.transactions) AS transactions, "
        "array_agg(DISTINCT h.run_id) AS run_ids FROM fsbench.histogram h WHERE h.run_id = ANY ($1) AND h.measure <> 'service' GROUP BY 1) t, "
        "unnest('{50,75,90,95,99,99.5,99.9}'::float8[]) AS p(percentile) WHERE p.percentile < 99.5 OR t.transactions >= 10000 ORDER BY 1, 2",
        ['bigint[]'], [group['runs']])]
    model['scans'] = take('SELECT * FROM fsbench.chart_scan_speed WHERE run_id = ANY ($1) ORDER BY run_id, degree', ids)
    model['fsync'] = take('SELECT * FROM fsbench.chart_fsync WHERE run_id = ANY ($1) ORDER BY run_id, method, writers, writes', ids)
    model['recovery'] = take('SELECT * FROM fsbench.chart_recovery WHERE run_id = ANY ($1) ORDER BY run_id', ids)


def read_facts(model):
    """What all pages have in common."""
    ids = [run for group in model['groups'] for run in group['runs']]
    chosen = [group['chosen'] for group in model['groups']]
    model['findings'] = query('SELECT * FROM fsbench.findings($1)', ['bigint[]'], [ids])
    model['environment'] = read_environment(model['groups'])
    model['diff'] = [dict(row, against=group['name']) for group in model['groups'][1:] for row in query(
        "SELECT area, name, a, b, matters, why FROM fsbench.diff($1, $2) WHERE matters <> 'hardly' LIMIT 60", ['bigint', 'bigint'],
        [chosen[0], group['chosen']])]
    model['calls'] = calls(model)
    rows = query('SELECT e.server_version, e.processors, e.memory_bytes::float8, e.device_model, e.virtualization, r.workload, r.scale, r.clients '
                 'FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id) WHERE r.run_id = ANY ($1)', ['bigint[]'], [chosen])
    # What is not the same of all is not told of all.
    of_run = {key: rows[0][key] if all(row[key] == rows[0][key] for row in rows) else None for key in rows[0]}
    model['caption'] = caption(model, of_run)


def caption(model, facts):
    version = facts['server_version'] or ''
    parts = [count(len(model['nights']), 'night') if 'nights' in model else count(len([block for block in model['blocks'] if block['counts']]), 'run'),
             # The questions of a study have their own.
             '' if model['kind'] == 'study' or not facts['workload'] else 'workload %s' % facts['workload'] + (', scale %s' % facts['scale'] if facts['scale'] else '')
             + (', %s' % count(facts['clients'], 'client') if facts['clients'] else ''),
             ' '.join(version.split()[:2]), count(facts['processors'], 'processor') if facts['processors'] else '',
             bytes_in_words(facts['memory_bytes']) + ' RAM' if facts['memory_bytes'] else '', facts['device_model'] or '',
             'virtual machine (%s)' % facts['virtualization'] if facts['virtualization'] not in (None, 'none') else '',
             'pgfsbench ' + query('SELECT fsbench.version() AS version')[0]['version']]
    return '; '.join(part for part in parts if part)


def read_environment(groups):
    """A row for each fact: its name, and the value of each group. Those that differ come first."""
    documents = []
    for group in groups:
        row = query('SELECT to_jsonb(e)::text AS row FROM fsbench.environment e WHERE e.run_id = $1', ['bigint'], [group['chosen']])
        document = json.loads(row[0]['row']) if row else {}
        flat = {}
        for key, value in document.items():
            if key == 'run_id' or value is None:
                continue
            if key in ('settings', 'vm', 'geometry') and isinstance(value, dict):
                for name, setting in value.items():
                    if isinstance(setting, dict) and 'setting' in setting:
                        setting = setting['setting']
                    flat['%s %s' % (key.rstrip('s') if key == 'settings' else key, name)] = in_words(setting)
            else:
                flat[key] = bytes_in_words(value) if key.endswith('_bytes') else in_words(value)
        documents.append(flat)
    names = list(dict.fromkeys(name for document in documents for name in document))
    rows = [{'name': name, 'values': [document.get(name, '') for document in documents]} for name in names]
    return sorted(rows, key=lambda row: len(set(row['values'])) == 1)


def in_words(value):
    if isinstance(value, bool):
        return 'yes' if value else 'no'
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def literal(value):
    return "'" + str(value).replace("'", "''") + "'"


def call(function, first, arguments):
    """The call with these arguments, as one would type it."""
    said = [literal(first)] if first is not None else []
    for name, value in arguments.items():
        # Of these, no is an answer, too.
        if value is None or (value is False and name not in ('period', 'power_loss_protected')) or name in ('experiment', 'study', 'start', 'run'):
            continue
        if name.endswith('_us'):
            name, value = name[:-3], '%g s' % (value / 1e6)
        if isinstance(value, bool):
            shown = 'true'
        elif isinstance(value, (int, float)):
            shown = '%g' % value if isinstance(value, float) and value != int(value) else str(int(value))
        elif isinstance(value, list):
            shown = literal('{' + ','.join('"%s"' % str(item).replace('\\', '\\\\').replace('"', '\\"') if re.search(r'[^\w.-]', str(item)) else str(item) for item in value) + '}')
        elif isinstance(value, dict):
            shown = literal(json.dumps(value, ensure_ascii=False))
        else:
            shown = literal(value)
        said.append('%s => %s' % (name, shown))
    return '%s(%s);' % (function, ', '.join(said))


def calls(model):
    lines = []
    ids = [group['chosen'] for group in model['groups']]
    imported = query('SELECT DISTINCT f.host FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.run_id = ANY ($1) ORDER BY 1', ['bigint[]'], [ids])
    if imported:
        return ['-- Imported from a file of host %s: whoever wrote it is not to say what is pasted here. Repeat it where it was made.' % row['host'] for row in imported]
    arguments = query("SELECT DISTINCT ON (target) target, target_definition FROM fsbench.run_log WHERE run_id = ANY ($1) ORDER BY target", ['bigint[]'], [ids])
    known = {row['name'] for row in query(
        "SELECT unnest(proargnames) AS name FROM pg_catalog.pg_proc WHERE oid = 'fsbench.create_target'::pg_catalog.regproc")}
    for row in arguments:
        definition = json.loads(row['target_definition'] or '{}')
        definition = {name: value for name, value in definition.items() if name in known and name != 'target'}
        if definition:
            lines.append('SELECT ' + call('fsbench.create_target', row['target'], definition))
    if model['kind'] == 'study':
        # Its targets are made with it.
        return calls_of_study(model)
    if model['experiment']:
        asked = dict(model['experiment']['asked'])
        run = {name: value for name, value in (asked.get('run') or {}).items() if name not in ('target', 'label', 'keep')}
        asked.update(run)
        lines.append('SELECT ' + call('fsbench.experiment', model['title'], asked))
    else:
        for row in query('SELECT asked FROM fsbench.run_log WHERE run_id = ANY ($1) ORDER BY array_position($1, run_id)', ['bigint[]'], [ids]):
            lines.append('SELECT * FROM ' + call('fsbench.run', None, json.loads(row['asked'])))
    return lines


def sensitive(model):
    """Words that are not to be on a page for strangers."""
    ids = [run for group in model['groups'] for run in group['runs']]
    words = set()
    for row in query('SELECT e.hostname, e.device, e.wal_device, e.mount_point, e.wal_mount_point, e.data_directory, e.wal_directory, r.label, '
                     'e.layers::text, e.wal_layers::text, e.storage::text, r.target_definition::text '
                     'FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id) WHERE r.run_id = ANY ($1)', ['bigint[]'], [ids]):
        for key in ('layers', 'wal_layers', 'storage', 'target_definition'):
            gather(json.loads(row.pop(key) or 'null'), words)
        words.update(value for value in row.values() if value)
    for row in query('SELECT f.host FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.run_id = ANY ($1)', ['bigint[]'], [ids]):
        words.add(row['host'])
    if model['kind'] == 'study':
        words.update(value for key, value in model['study']['asked'].items() if key in ('device', 'log_device', 'misaligned_device', 'bindir') and value)
    return {word for word in words if len(word) > 2}


def gather(value, words):
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and re.search('serial|wwn|uuid|host|connection|path|device$|directory', key):
                words.add(item)
            else:
                gather(item, words)
    elif isinstance(value, list):
        for item in value:
            gather(item, words)


def redacted(model):
    """The model without hosts, serial numbers, paths and labels."""
    words = sorted(sensitive(model), key=len, reverse=True)
    model['environment'] = [row for row in model['environment'] if row['name'] not in WHERE
                            and not (row['name'].startswith('setting ') and WHERE_SETTING.search(row['name']))]
    model['diff'] = [row for row in model['diff'] if row['name'].split('.')[-1] not in WHERE and row['name'] not in ('label', 'connection', 'directory')
                     and not WHERE_SETTING.search(row['name'])]
    # A path begins where no word ends: so that GB/s stays.
    path = re.compile(r'(?<![\w/<])/(?:[\w.@:+%=-]+/?)+')
    known = re.compile('|'.join(re.escape(word) for word in words)) if words else None
    name = re.compile(r"(label|hostname|connection) => '(?:[^']|'')*'")

    def scrub(value):
        if isinstance(value, str):
            value = name.sub(r"\1 => '[removed]'", value)
            if known:
                value = known.sub('[removed]', value)
            return path.sub('[path]', value)
        if isinstance(value, list):
            return [scrub(item) for item in value]
        if isinstance(value, dict):
            return {key: scrub(item) for key, item in value.items()}
        return value
    return scrub(model)

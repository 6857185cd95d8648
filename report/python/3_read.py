# Data of a page, read by views and functions of pgfsbench with the rights of the caller.


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
        target['measured'] = figure(target['metric_median'], e['metric'])
        if runs:
            groups.append({'name': target['target'], 'runs': [run['run_id'] for run in runs], 'chosen': typical(runs)})
    baseline = targets[e['baseline_number']]['target'] if e['goal'] == 'baseline' else None
    advice = query('SELECT * FROM fsbench._advice($1)', ['text'], [name])
    return {'kind': 'experiment', 'title': name, 'experiment': e, 'blocks': blocks, 'verdicts': verdicts, 'targets': targets, 'groups': groups,
            'baseline': baseline, 'advice': advice, 'metric': e['metric'], 'answer': answer_of_experiment(e, verdicts, advice)}


def typical(runs):
    """The run that is in the middle by what is compared."""
    known = sorted((run for run in runs if run['value'] is not None), key=lambda run: run['value'])
    return known[(len(known) - 1) // 2]['run_id'] if known else runs[-1]['run_id']


# Verdicts of experiments; any other leaves its target open.
DECIDED = {'equivalent', 'more', 'less', 'best', 'equivalent to the best', 'out', 'cannot keep the rate'}


def answer_of_experiment(e, verdicts, advice):
    said = {part: [row['says'] for row in advice if row['part'] == part] for part in ('choice', 'open', 'next')}
    untested = [row['topic'] for row in advice if row['topic']]
    blocks = max([row['blocks'] or 0 for row in verdicts] or [0])
    sure = 'It rests on %s, by rules that err in at most 5 %% of experiments' % count(blocks, 'block')
    if not any(row['verdict'] in DECIDED for row in verdicts):
        sure = 'It has %s, and decides nothing' % count(blocks, 'block')
    if not blocks:
        sure = 'No look has been taken yet'
    elif e['status'] not in ('done', 'cancelled'):
        sure = 'It is as of the last look, after %s' % count(blocks, 'block')
    left = ['What is open: %s' % '; '.join(said['open'])] if said['open'] else []
    left += ['To go on: %s' % (line[3:] if line.startswith('-- ') else line) for line in said['next']]
    return ['; '.join(said['choice']) or 'no choice'] + left + ['%s. Not tested: %s' % (sure, '; '.join(untested) or 'nothing is known of that')]


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
        run['measured'] = figure(run['metric_median'], 'operations/s' if run['workload'] in ('fsync', 'io') else 'tps') if run['metric_median'] is not None else ''
    made = '; '.join('%s made %s' % (run['target'], run['measured']) for run in runs if run['measured'])
    answer = [made[:1].upper() + made[1:] or 'These runs have no transactions',
              'Single runs decide nothing: how much such runs differ by themselves is not known; fsbench.experiment() has targets take turns']
    if len(runs) == 2:
        for row in query('SELECT metric, ratio, says FROM fsbench.compare_runs($1, $2)', ['bigint', 'bigint'], ids):
            # The last row has no metric. Other rows without a ratio say nothing.
            if row['metric'] is None or row['ratio'] is not None:
                advice.append({'part': 'why', 'says': row['says']})
    return {'kind': 'runs', 'title': ', '.join(run['target'] for run in runs[:4]) + (', ...' if len(runs) > 4 else ''), 'experiment': None,
            'blocks': [dict(run, target=run['target'], block=1, position=i + 1, outcome='measured', counts=True, value=run['metric_median'], ratio=None)
                       for i, run in enumerate(runs)],
            'verdicts': [], 'targets': runs, 'groups': groups, 'baseline': None, 'advice': advice, 'metric': 'tps', 'answer': answer}


def read_series(model):
    """Reads the data of charts of experiments, loose runs and histories."""
    ids = [run for group in model['groups'] for run in group['runs']]
    chosen = [group['chosen'] for group in model['groups']]
    take = lambda sql, runs: query(sql, ['bigint[]'], [runs])
    model['seconds'] = {row['run_id']: row for row in take(
        'SELECT run_id, array_agg(tps::float8 ORDER BY second) AS tps, array_agg(second ORDER BY second) AS second, '
        'array_agg(second ORDER BY second) FILTER (WHERE stalled) AS stalls '
        'FROM fsbench.chart_second WHERE run_id = ANY ($1) AND tps IS NOT NULL AND second >= 0 GROUP BY run_id', ids)}
    model['checkpoints'] = take('SELECT * FROM fsbench.chart_checkpoint WHERE run_id = ANY ($1) ORDER BY run_id, number', ids)
    model['machine'] = {row['run_id']: row for row in take(
        'SELECT run_id, array_agg(second ORDER BY second) AS second, array_agg(device_write_bytes_per_s ORDER BY second) AS "device writes", '
        'array_agg(device_f_await_ms::float8 ORDER BY second) AS "flush", array_agg(device_util_percent::float8 ORDER BY second) AS "device busy", '
        'array_agg(dirty_bytes::float8 ORDER BY second) AS "dirty", array_agg(writeback_bytes::float8 ORDER BY second) AS "writeback", '
        'array_agg(cpu_usr_percent::float8 ORDER BY second) AS "user", array_agg(cpu_sys_percent::float8 ORDER BY second) AS "system", '
        'array_agg(cpu_iowait_percent::float8 ORDER BY second) AS "iowait", array_agg(cpu_steal_percent::float8 ORDER BY second) AS "steal" '
        'FROM fsbench.chart_second WHERE run_id = ANY ($1) AND second >= 0 GROUP BY run_id', chosen)}
    model['waits'] = take(
        'SELECT w.run_id, w.wait, w.second / greatest(1, m.seconds / 120) AS piece, greatest(1, m.seconds / 120) AS size, sum(w.samples)::float8 AS samples '
        'FROM fsbench.chart_wait w JOIN (SELECT run_id, max(second) + 1 AS seconds FROM fsbench.wait_event WHERE run_id = ANY ($1) GROUP BY run_id) m USING (run_id) '
        'WHERE w.run_id = ANY ($1) AND w.second >= 0 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3', chosen)
    model['latency'] = [dict(row, name=group['name']) for group in model['groups'] for row in query(
        "SELECT t.measure = 'commit' AS is_commit, p.percentile, t.transactions::float8, "
        "fsbench.percentile(p.percentile / 100, t.run_ids, t.measure) AS ms "
        "FROM (SELECT h.measure, sum(h.transactions) AS transactions, "
        "array_agg(DISTINCT h.run_id) AS run_ids FROM fsbench.histogram h WHERE h.run_id = ANY ($1) AND h.measure IN ('latency', 'commit') "
        "AND fsbench._is_of_all(h.run_id, h.transaction) GROUP BY 1) t, "
        "unnest('{50,75,90,95,99,99.5,99.9}'::float8[]) AS p(percentile) WHERE p.percentile < 99.5 OR t.transactions >= 10000 ORDER BY 1, 2",
        ['bigint[]'], [group['runs']])]
    read_transactions(model)
    read_results(model)
    model['scans'] = take('SELECT * FROM fsbench.chart_scan_speed WHERE run_id = ANY ($1) ORDER BY run_id, degree', ids)
    model['fsync'] = take('SELECT * FROM fsbench.chart_fsync WHERE run_id = ANY ($1) ORDER BY run_id, method, writers, writes', ids)
    model['recovery'] = take('SELECT * FROM fsbench.chart_recovery WHERE run_id = ANY ($1) ORDER BY run_id', ids)


def read_facts(model, redact):
    """Reads facts that all pages have."""
    ids = [run for group in model['groups'] for run in group['runs']]
    chosen = [group['chosen'] for group in model['groups']]
    model['findings'] = query('SELECT * FROM fsbench.findings($1)', ['bigint[]'], [ids])
    model['environment'] = read_environment(model['groups'])
    model['diff'] = [dict(row, against=group['name']) for group in model['groups'][1:] for row in differences(chosen[0], group['chosen'], 60, redact)]
    model['calls'] = calls(model, redact)
    rows = query('SELECT e.server_version, e.processors, e.memory_bytes::float8, e.device_model, e.virtualization, e.container, r.workload, r.scale, r.clients, '
                 'fsbench._limits_in_words(CASE jsonb_typeof(e.limits) WHEN \'object\' THEN e.limits - \'io\' END) AS limits '
                 'FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id) WHERE r.run_id = ANY ($1)', ['bigint[]'], [chosen])
    # The caption tells only values that all runs share.
    of_run = {key: rows[0][key] if all(row[key] == rows[0][key] for row in rows) else None for key in rows[0]}
    model['caption'] = caption(model, of_run)


def differences(one, other, most, redact):
    """In what two runs differ, what matters most first: at most so many, and how many more there are."""
    rows = query("SELECT area, name, a, b, matters, why FROM fsbench.diff($1, $2) WHERE matters <> 'hardly'", ['bigint', 'bigint'], [one, other])
    rows = [row for row in rows if not redact or is_told(row)]
    more = len(rows) - most
    return rows[:most] + ([{'area': None, 'name': 'and %d more' % more, 'a': None, 'b': None, 'matters': '', 'why': 'see fsbench.diff(%s, %s)' % (one, other)}] if more > 0 else [])


def caption(model, facts):
    version = facts['server_version'] or ''
    parts = [count(len(model['nights']), 'night') if 'nights' in model else count(len([block for block in model['blocks'] if block['counts']]), 'run'),
             # The questions of a study have their own.
             '' if model['kind'] == 'study' or not facts['workload'] else 'workload %s' % facts['workload'] + (', scale %s' % facts['scale'] if facts['scale'] else '')
             + (', %s' % count(facts['clients'], 'client') if facts['clients'] else ''),
             ' '.join(version.split()[:2]), count(facts['processors'], 'processor') if facts['processors'] else '',
             bytes_in_words(facts['memory_bytes']) + ' RAM' if facts['memory_bytes'] else '', facts['device_model'] or '',
             'virtual machine (%s)' % facts['virtualization'] if facts['virtualization'] not in (None, 'none') else '',
             'container (%s)' % facts['container'] if facts['container'] not in (None, 'none') else '',
             'limited to ' + facts['limits'] if facts['limits'] else '',
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
            if key in ('run_id', 'durability_codes') or value is None:
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

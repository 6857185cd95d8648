# Workloads with several types of transactions, and scripts with their texts.

# Types whose latencies are drawn, and commands in tables, at most.
MOST_TYPES = 12
MOST_COMMANDS = 200
# Characters of a text of a script on a page.
LONGEST_TEXT = 20000
# Arguments with the caller's own texts.
TEXTS = ('scripts', 'variables', 'init_script', 'checks')


def read_transactions(model):
    """Reads figures of types and commands, of one run a group, and latencies of all runs of a group."""
    name_of = {group['chosen']: group['name'] for group in model['groups']}
    chosen = list(name_of)
    of_chosen = lambda sql: [dict(row, name=name_of[row['run_id']]) for row in query(sql, ['bigint[]'], [chosen])]
    model['transactions'] = of_chosen(
        'SELECT * FROM fsbench.transaction_result WHERE run_id = ANY ($1) ORDER BY position, array_position($1, run_id)')
    model['commands'] = of_chosen(
        'SELECT * FROM fsbench.script_command WHERE run_id = ANY ($1) ORDER BY position, command, array_position($1, run_id) LIMIT %d' % (MOST_COMMANDS + 1))
    model['latency_by_type'] = [dict(row, name=group['name']) for group in model['groups'] for row in query(
        "SELECT t.transaction, p.percentile, t.transactions::float8, fsbench.percentile(p.percentile / 100, t.run_ids, 'latency', t.transaction) AS ms "
        "FROM (SELECT h.transaction, sum(h.transactions) AS transactions, array_agg(h.run_id) AS run_ids, min(x.position) AS position "
        "FROM fsbench.histogram h JOIN fsbench.transaction_result x USING (run_id, transaction) "
        "WHERE h.run_id = ANY ($1) AND h.measure = 'latency' GROUP BY 1 ORDER BY 4, 1 LIMIT %d) t, "
        "unnest('{50,75,90,95,99,99.5,99.9}'::float8[]) AS p(percentile) WHERE p.percentile < 99.5 OR t.transactions >= 10000 ORDER BY t.position, 1, 2" % MOST_TYPES,
        ['bigint[]'], [group['runs']])]
    model['documents'] = documents_of(chosen)


def documents_of(ids):
    """Each document of scripts once, with the runs that it is of."""
    rows = query("SELECT s.document, array_agg(r.run_id ORDER BY array_position($1, r.run_id)) AS run_ids FROM fsbench.run_log r "
                 "JOIN fsbench.script s ON s.sha256 = r.used #>> '{options,script,sha256}' WHERE r.run_id = ANY ($1) GROUP BY 1 ORDER BY min(array_position($1, r.run_id))",
                 ['bigint[]'], [ids])
    return [{'run_ids': row['run_ids'], 'texts': texts_of(stored(row['document']))} for row in rows]


def texts_of(document):
    """Titles and texts of a document. A file may have brought any JSON."""
    found = []
    one = lambda value: ' '.join(str(value).split())
    items = lambda name: [item for item in document.get(name) or [] if isinstance(item, dict)] if isinstance(document.get(name), list) else []
    for script in items('scripts'):
        found.append({'name': one(script.get('name')), 'title': 'weight %s' % one(script.get('weight', 1)), 'text': str(script.get('text') or '')})
    if document.get('init_script'):
        found.append({'name': 'init_script', 'title': 'makes the tables', 'text': str(document['init_script'])})
    if document.get('variables'):
        found.append({'name': 'variables', 'title': 'given by the caller', 'text': json.dumps(document['variables'], ensure_ascii=False)})
    for check in items('checks'):
        found.append({'name': one(check.get('name')), 'title': 'check', 'text': '%s\n-- expected: %s' % (check.get('sql'), 'NULL' if check.get('expected') is None else check.get('expected'))})
    return found


def arguments_of_scripts(asked, run_id):
    """The arguments about scripts of a run or an experiment, whose texts are stored apart for a run."""
    given = asked.pop('script', None)
    given = {name: value for name, value in given.items() if name != 'sha256'} if isinstance(given, dict) else {}
    if run_id is not None and given and not given.get('scripts'):
        row = query("SELECT s.document FROM fsbench.run_log r JOIN fsbench.script s ON s.sha256 = r.used #>> '{options,script,sha256}' WHERE r.run_id = $1", ['bigint'], [run_id])
        document = stored(row[0]['document']) if row else {}
        given.update({name: document[name] for name in TEXTS if document.get(name)})
    # Arrays of objects are JSON, and no arrays of SQL.
    as_json = lambda value: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
    asked.update({name: as_json(value) for name, value in given.items()})
    return asked


def without_texts(model):
    """The model without texts of the caller's; names of scripts stay."""
    documents = [dict(document, texts=[dict(part, text='(left out)') for part in document['texts'] if part['title'].startswith('weight ')])
                 for document in model.get('documents', [])]
    return dict(model, documents=documents, commands=[dict(row, text=None) for row in model.get('commands', [])])


def durations(row):
    return [milliseconds(row['latency_%s_ms' % name]) for name in ('avg', 'stddev', 'p50', 'p90', 'p95', 'p99', 'p999', 'max')]


DURATIONS = ['average', 'deviation', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'longest']


def whole(value):
    return '' if value is None else '{:,}'.format(value)


def table_without_empty(head, rows):
    rows = without_empty(head, rows)
    return table(rows[0], rows[1:])


def transactions_section(model, of):
    rows = [[row['transaction'], row['name'], whole(row['weight']), figure(row['tps']), whole(row['committed']), whole(row['rolled_back']), whole(row['failed']) if row['failed'] else '',
             whole(row['retried']) if row['retried'] else '', whole(row['retries']) if row['retries'] else '', whole(row['late'])] + durations(row) for row in model['transactions']]
    if not rows:
        return ''
    head = ['transaction', 'of', 'weight', 'tps', 'committed', 'rolled back', 'failed', 'tried again', 'further tries', 'late'] + DURATIONS
    chart_of = '<h3>%s</h3>%s' % (h(of['types']['title']), figure_of(of['types'])) if 'types' in of else ''
    return '<p class="soft">Of one run each.</p>' + table_without_empty(head, rows) + chart_of


def commands_section(model):
    rows = model['commands'][:MOST_COMMANDS]
    body = ''
    for script in dict.fromkeys(row['script'] for row in rows):
        own = [[whole(row['line']), row['name'], row['kind'] if row['text'] is None else ' '.join(row['text'].split()), whole(row['executions']),
                whole(row['failures']) if row['failures'] else ''] + durations(row) for row in rows if row['script'] == script]
        body += '<h3>%s</h3>' % h(script) + table_without_empty(['line', 'of', 'command', 'executed', 'failed'] + DURATIONS, own)
    if len(model['commands']) > MOST_COMMANDS:
        body += '<p>All of them are in fsbench.script_command.</p>'
    return body


def documents_section(model):
    body = ''
    for document in model['documents']:
        if len(model['documents']) > 1:
            body += '<h3>%s</h3>' % h('Of run %s' % ', '.join(map(str, document['run_ids'])))
        for part in document['texts']:
            text = part['text']
            if len(text) > LONGEST_TEXT:
                text = '%s\n(and %s more)' % (text[:LONGEST_TEXT], count(len(text) - LONGEST_TEXT, 'character'))
            body += '<h4>%s</h4>' % h('%s (%s)' % (part['name'], part['title']))
            # Line ends of all systems: the page has few lines of its own.
            body += '<pre tabindex="0">%s</pre>' % '&#10;'.join(h(line) for line in re.split('\r\n|\r|\n', text))
    return body

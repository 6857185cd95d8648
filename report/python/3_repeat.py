# The calls by which somebody makes the same again.

# Characters that are unseen, or end a line. They are written by their numbers, so that a pasted text is what is shown.
HIDDEN = re.compile('[\t\n\r]|' + UNSEEN.pattern)


def literal(value):
    """A text for SQL, in one line."""
    text = str(value)
    if not HIDDEN.search(text):
        return "'" + text.replace("'", "''") + "'"
    return "E'" + HIDDEN.sub(lambda found: '\\u%04X' % ord(found.group()), text.replace('\\', '\\\\').replace("'", "''")) + "'"


def remark(text):
    """For whoever reads; it does not go on in the next line."""
    return '-- ' + ' '.join(visible(text).split())


def arguments_of(function):
    """Names that a function takes. Others are nothing that one may paste, whoever has written them into a row."""
    rows = query("SELECT p.proargnames[1:p.pronargs] AS names FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace "
                 "WHERE n.nspname = 'fsbench' AND p.proname = $1", ['text'], [function])
    return {name for row in rows for name in row['names']}


def stored(text):
    """An object of JSON. A number of hundreds of digits is not one that Python converts."""
    value = json.loads(text or '{}', parse_int=lambda digits: int(digits) if len(digits) < 20 else float(digits))
    return value if isinstance(value, dict) else {}


def call(function, first, arguments, redact=False):
    """The call of this function of fsbench with these arguments, as one would type it."""
    said = [literal(first)] if first is not None else []
    known = arguments_of(function)
    for name, value in arguments.items():
        # For these arguments, false is an answer, too.
        if value is None or (value is False and name not in ('period', 'power_loss_protected')) or name in ('experiment', 'study', 'start', 'run'):
            continue
        if name.endswith('_us') and isinstance(value, (int, float)):
            name, value = name[:-3], '%g s' % (value / 1e6)
        elif name.endswith('_size_bytes') and isinstance(value, int):
            name, value = name[:-6], size(value)
        if name not in known:
            continue
        said.append('%s => %s' % (name, argument(told_argument(name, value) if redact else value)))
    return 'fsbench.%s(%s);' % (function, ', '.join(said))


def size(value):
    """Bytes in the largest unit that has no fraction of them."""
    units = [('TB', 1 << 40), ('GB', 1 << 30), ('MB', 1 << 20), ('kB', 1 << 10)]
    return next(('%d%s' % (value // each, unit) for unit, each in units if value and value % each == 0), '%d B' % value)


def argument(value):
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, float):
        return literal(value) if not math.isfinite(value) else str(int(value)) if value == int(value) else '%g' % value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        quote = lambda item: '"%s"' % item.replace('\\', '\\\\').replace('"', '\\"') if re.search(r'[^\w.-]', item) or item in ('', 'NULL', 'null') else item
        return literal('{' + ','.join(quote(str(item)) for item in value) + '}')
    return literal(json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value)


def calls(model, redact):
    lines = []
    ids = [group['chosen'] for group in model['groups']]
    imported = query('SELECT DISTINCT f.host FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.run_id = ANY ($1) ORDER BY 1', ['bigint[]'], [ids])
    if imported:
        return [remark('Imported from a file of host %s: whoever wrote it is not to say what is pasted here. Repeat it where it was made.' % row['host']) for row in imported]
    if model['kind'] == 'study':
        # Its targets are made with it.
        return calls_of_study(model, redact)
    if model['experiment']:
        asked = dict(model['experiment']['asked'])
        run = {name: value for name, value in (asked.get('run') or {}).items() if name not in ('target', 'label', 'keep')}
        asked.update(arguments_of_scripts(run, None))
        # Others are made with it.
        named = asked.get('targets') if isinstance(asked.get('targets'), list) else []
        lines += calls_of_targets(query('SELECT DISTINCT ON (target) target, definition AS target_definition FROM ('
                                        'SELECT target, target_definition AS definition, 1 AS place FROM fsbench.run_log WHERE run_id = ANY ($1) '
                                        'UNION ALL SELECT target, jsonb_strip_nulls(to_jsonb(t)), 2 FROM fsbench.target t WHERE NOT $3) AS known '
                                        'WHERE target = ANY ($2) ORDER BY target, place', ['bigint[]', 'text[]', 'boolean'], [ids, named, redact]), redact)
        lines += [remark('Before: fsbench.prepare_data() makes the data of that name.')] if asked.get('data') else []
        lines.append('SELECT ' + call('experiment', model['title'], asked, redact))
    else:
        lines += calls_of_targets(query('SELECT DISTINCT ON (target) target, target_definition FROM fsbench.run_log WHERE run_id = ANY ($1) ORDER BY target', ['bigint[]'], [ids]), redact)
        for row in query('SELECT run_id, asked FROM fsbench.run_log WHERE run_id = ANY ($1) ORDER BY array_position($1, run_id)', ['bigint[]'], [ids]):
            lines.append('SELECT * FROM ' + call('run', None, arguments_of_scripts(stored(row['asked']), row['run_id']), redact))
    return lines


def calls_of_targets(rows, redact):
    known = arguments_of('create_target') - {'target'}
    lines = []
    for row in rows:
        definition = {name: value for name, value in stored(row['target_definition']).items() if name != 'target'}
        if known.intersection(definition):
            lines.append('SELECT ' + call('create_target', row['target'], definition, redact))
    return lines


def calls_of_study(model, redact):
    s = model['study']
    lines = []
    if s['is_own']:
        lines.append('SELECT fsbench.define_study(%s);' % literal(json.dumps(s['definition'], ensure_ascii=False)))
    elif s['is_own'] is None:
        lines.append(remark('Its definition is no longer in fsbench.study_definitions.'))
    lines.append('SELECT ' + call('study', model['title'], s['asked'], redact))
    for question in model['questions']:
        lines.append(remark('More of this question: SELECT fsbench.report(%s);' % literal(question['title'])))
    return lines

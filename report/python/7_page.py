# The page: one file, with everything in it.

PARTS = [('cost', 'What it costs'), ('regime', 'Under which conditions'), ('not tested', 'What was not tested')]
# It stays in its line.
FIGURE = re.compile(r'[\d,.]+( [\w%/]+)?$')
PASTE = ['mkfs', 'fstab', 'udev', 'sysctl', 'postgresql.conf']


def table(head, rows, classes=()):
    out = ['<div class="wide" tabindex="0" role="region" aria-label="table"><table><thead><tr>']
    out += ['<th scope="col">%s</th>' % h(cell) for cell in head]
    out.append('</tr></thead><tbody>')
    for number, row in enumerate(rows):
        out.append('<tr%s>' % (' class="differs"' if number < len(classes) and classes[number] else ''))
        for at, cell in enumerate(row):
            text = '' if cell is None else str(cell)
            out.append('<th scope="row">%s</th>' % h(text) if at == 0 else '<td%s>%s</td>' % (' class="long"' if len(text) > 40 else ' class="figure"' if FIGURE.match(text) else '', h(text)))
        out.append('</tr>')
    out.append('</tbody></table></div>')
    return ''.join(out)


def section(identity, title, body):
    return {'id': identity, 'title': title, 'html': '<section id="%s"><h2>%s</h2>%s</section>' % (identity, h(title), body)} if body else None


def figure_of(one):
    choice = ''
    if one['choices'] and len(one['choices']) > 1:
        choice = '<p><label for="choice-%s">Run: </label><select id="choice-%s">%s</select></p>' % (
            one['id'], one['id'], ''.join('<option>%s</option>' % h(option['name']) for option in one['choices']))
    label = '%s. %s Arrow keys step through its points and lines.' % (one['title'], sentence(one['text']))
    return ('%s<figure><div class="chart" id="chart-%s" role="application" aria-roledescription="chart" tabindex="0" aria-label="%s"></div>'
            '<p class="value" id="value-%s" role="status"></p><figcaption>%s</figcaption></figure>') % (choice, one['id'], h(label), one['id'], h(sentence(one['text'])))


def targets_table(model):
    rows = table_rows(model)
    used = [at for at in range(len(COLUMNS)) if any(row[at] for row in rows)]
    return table([COLUMNS[at] for at in used], [[row[at] for at in used] for row in rows])


def findings_section(model):
    rows = [['%s (%s)' % (row['code'], row['severity']), 'some of them: %s' % ', '.join(map(str, row['runs_with'])) if row['differs'] else 'all', row['message'], row['hint'] or '']
            for row in model['findings']]
    return table(['finding', 'runs', 'what was seen (in one of them)', 'what to do'], rows) if rows else '<p>None.</p>'


def environment_section(model):
    body = ''
    names = [group['name'] for group in model['groups']]
    if model['diff']:
        body += '<h3>%s</h3>' % h('In what the others differ from %s' % names[0])
        body += table(['what', 'of', names[0], 'there', 'matters', 'why'],
                      [[row['name'], row['against'], row['a'], row['b'], row['matters'], row['why']] for row in model['diff']])
    rows = model['environment']
    if rows:
        body += '<h3>All that is known</h3><p class="soft">Of one run each; what differs stands first.</p>'
        body += table(['what'] + names, [[row['name']] + row['values'] for row in rows], [len(set(row['values'])) > 1 for row in rows])
    return body


def advice_list(model, parts):
    rows = [(part, [row['says'] for row in model['advice'] if row['part'] == part]) for part, _ in parts]
    return ''.join('<h3>%s</h3><ul>%s</ul>' % (h(title), ''.join('<li>%s</li>' % h(says) for says in dict(rows)[part])) for part, title in parts if dict(rows)[part])


LEGEND = ('Dots are ratios, thick lines their intervals, circles the single blocks. Grey: the margin, within which a difference does not count. '
          'Dashed: not as durable. ')


def sections(model, drawn):
    of = {one['id']: one for one in drawn}
    together = lambda *names: ''.join('<h3>%s</h3>%s' % (h(of[name]['title']), figure_of(of[name])) for name in names if name in of)
    picture = ''
    if model['verdicts']:
        picture = '<figure>%s<figcaption>%s</figcaption></figure>' % (verdict_svg(model, False), h(
            (LEGEND if any(row['ratio'] is not None for row in model['verdicts']) else '') + model['caption'] + '.'))
    paste = [row['says'] for row in model['advice'] if row['part'] in PASTE]
    reasons = ''.join('<li>%s</li>' % h(row['says']) for row in model['advice'] if row['part'] in ('why', 'figures'))
    # The places of lines are needed, and kept, in what is copied.
    listing = lambda lines: '<pre tabindex="0">%s</pre>' % '&#10;'.join(h(line) for line in lines)
    why = ('<ul>%s</ul>' % reasons if reasons else '') + advice_list(model, PARTS)
    of_experiment = model['kind'] == 'experiment'
    return [part for part in [
        section('verdict', 'Verdict', picture),
        section('history', 'Night by night', nights_section(model, of['history']) if 'history' in of else ''),
        section('targets', 'Targets' if of_experiment else 'Runs', targets_table(model) + ('' if of_experiment else why)),
        section('why', 'Why', why if of_experiment else ''),
        section('seconds', 'Second by second', figure_of(of['tps']) if 'tps' in of else ''),
        section('latencies', 'Latencies', together('latency', 'commit')),
        section('transactions', 'Transactions by type', transactions_section(model, of)),
        section('new-orders', 'New-Orders a minute', new_orders_section(model)),
        section('commands', 'Commands of scripts', commands_section(model)),
        section('runs', 'Runs and drift', figure_of(of['order']) if 'order' in of else ''),
        section('inside', 'Inside a run', together('waits', 'machine')),
        section('scans', 'Parallel scans', figure_of(of['scans']) if 'scans' in of else ''),
        section('jobs', 'Jobs of fio', jobs_section(model)),
        section('fsync', 'What a sync takes', figure_of(of['fsync']) if 'fsync' in of else ''),
        section('recovery', 'Recovery after a crash', figure_of(of['recovery']) if 'recovery' in of else ''),
        section('findings', 'What can mislead', findings_section(model)),
        section('environment', 'Machine and settings', environment_section(model)),
        section('scripts', 'Scripts', documents_section(model)),
        section('paste', 'To be pasted', listing(paste) if paste else ''),
        section('repeat', 'How to repeat it', listing(model['calls']) if model['calls'] else '')] if part]


def answer_of(texts):
    return '<div class="answer">%s</div>' % ''.join('<p>%s</p>' % h(sentence(text)) for text in texts)


def body_of(model, parts):
    """Between heading and foot. The page of an experiment begins with its picture, its first sentence and its table; the rest is folded."""
    contents = lambda listed: '<nav aria-label="Contents"><ul>%s</ul></nav>' % ''.join('<li><a href="#%s">%s</a></li>' % (part['id'], h(part['title'])) for part in listed)
    caption = '<p class="soft">%s</p>' % h(sentence(model['caption']))
    together = lambda listed: ''.join(part['html'] for part in listed)
    first = {part['id']: part['html'] for part in parts if part['id'] in ('verdict', 'targets')}
    if model['kind'] != 'experiment':
        return answer_of(model['answer']) + caption + contents(parts) + together(parts)
    rest = [part for part in parts if part['id'] not in first]
    further = answer_of(model['answer'][1:]) if len(model['answer']) > 1 else ''
    return (first.get('verdict', '') + answer_of(model['answer'][:1]) + first.get('targets', '')
            + '<details id="more"><summary>Reasons, charts, findings, and how to repeat it</summary>' + further + caption + contents(rest) + together(rest) + '</details>')


def as_page(model):
    # Its pictures are drawn already: a page of a study is small.
    drawn = [] if model['kind'] == 'study' else charts(model)
    parts = sections_of_study(model) if model['kind'] == 'study' else sections(model, drawn)
    files = {row['name']: row['text'] for row in query('SELECT name, text FROM fsbench._report_files()')}
    script = files['page.js'].strip()
    library = files['plotly.js'].strip()
    scripts = "'%s' '%s'" % (source_hash(library), source_hash(script)) if drawn else "'none'"
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src %s; base-uri 'none'; form-action 'none'" % scripts
    title = heading(model) if model['kind'] == 'study' else '%s %s' % ({'experiment': 'Experiment', 'history': 'History'}.get(model['kind'], 'Benchmark:'), model['title'])
    head = ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="%s">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><title>%s</title><style>%s</style></head><body>'
            '<a class="skip" href="#%s">To the figures</a><header><h1>%s</h1></header><main>') % (
        html_module.escape(policy), h(title), one_line(files['page.css']), 'published' if model['kind'] == 'study' else 'targets', h(title))
    foot = '</main><footer class="soft"><p>Made by pgfsbench%s; nothing is fetched from anywhere.</p></footer>' % (
        '. The charts are drawn by plotly.js (MIT licence), which is in this file' if drawn else '')
    if drawn:
        foot += '<noscript><p>The charts need JavaScript; everything else does not.</p></noscript>'
        foot += '<script type="application/json" id="charts">%s</script><script>%s</script><script>%s</script>' % (script_json(drawn), library, script)
    return ''.join([head, body_of(model, parts), foot, '</body></html>'])

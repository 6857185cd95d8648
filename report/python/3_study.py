# A study that was repeated here: its claims, the author's table beside ours, and each question's experiment.

HERE = ['holds', 'does not hold', 'inconclusive', 'not tested']


def is_known_study(name):
    """Whether a study of this name is defined, started or not."""
    return bool(query('SELECT FROM fsbench.study WHERE study = $1 UNION ALL SELECT FROM fsbench.study_definitions WHERE study = $1', ['text'], [name]))


def is_experiment(name):
    return bool(query('SELECT FROM fsbench.experiment WHERE experiment = $1', ['text'], [name]))


def read_study(name):
    found = query('SELECT s.study, s.asked::text, s.definition::text, d.is_own FROM fsbench.study s LEFT JOIN fsbench.study_definitions d USING (study) WHERE s.study = $1',
                  ['text'], [name])
    if not found:
        # Says whether there is no such study, or none that was started.
        query('SELECT FROM fsbench.study_claims($1)', ['text'], [name])
    s = found[0]
    s['asked'], s['definition'] = json.loads(s['asked']), json.loads(s['definition'])
    claims = query('SELECT * FROM fsbench.chart_claim WHERE study = $1 ORDER BY number', ['text'], [name])
    published = query('SELECT * FROM fsbench.chart_published WHERE study = $1 ORDER BY number', ['text'], [name])
    asked = {question['question']: question for question in s['definition']['questions']}
    questions, waiting = [], []
    for row in query('SELECT x.question, e.experiment, e.status FROM fsbench.study_experiment x JOIN fsbench.experiment e USING (experiment_id) '
                     'WHERE x.study = $1 ORDER BY e.experiment_id', ['text'], [name]):
        try:
            questions.append(dict(read_experiment(row['experiment']), question=row['question'], asks=asked.get(row['question'], {}).get('asks', '')))
        except Refused as refused:
            if refused.args[0] != '55000':
                raise
            waiting.append(dict(row, asks=asked.get(row['question'], {}).get('asks', '')))
    if not questions:
        refuse('55000', 'study "%s" has no run that counts' % visible(name),
               'Its experiments: %s.' % (', '.join('%s (%s)' % (visible(row['experiment']), row['status']) for row in waiting) or 'none, they were dropped'),
               'See fsbench.experiments for how far they are, and fsbench.study_plan() for what it would do.')
    groups = {}
    for model in questions:
        for group in model['groups']:
            # Its own targets are called after it.
            short = group['name'][len(name) + 1:] if group['name'].startswith(name + '.') else group['name']
            groups.setdefault(short, {'name': short, 'runs': [], 'chosen': group['chosen']})['runs'] += group['runs']
    return {'kind': 'study', 'title': name, 'study': s, 'claims': claims, 'published': published, 'questions': questions, 'waiting': waiting, 'experiment': None,
            'blocks': [block for model in questions for block in model['blocks']], 'verdicts': [], 'targets': [], 'groups': list(groups.values()),
            'baseline': None, 'advice': [], 'metric': 'tps', 'answer': answer_of_study(s, claims, questions, waiting, len(groups)),
            'left_out': left_out(s, claims, published)}


def answer_of_study(s, claims, questions, waiting, variants):
    said = []
    for here, words in zip(HERE, (('holds here', 'hold here'), ('does not hold', 'do not hold'), ('is inconclusive', 'are inconclusive'), ('was not tested', 'were not tested'))):
        names = [row['claim'] for row in claims if row['here'] == here]
        if names:
            said.append('%d %s%s' % (len(names), words[len(names) != 1], ' (%s)' % listed(names, 4) if here in HERE[:2] else ''))
    runs = sum(1 for model in questions for block in model['blocks'] if block['counts'])
    on = [model['title'] for model in questions if model['experiment']['status'] not in ('done', 'cancelled')] + [
        row['experiment'] for row in waiting if row['status'] not in ('done', 'cancelled')]
    definition, asked = s['definition'], s['asked']
    place = 'an image of %s' % asked['image_size'] if asked.get('image_size') else 'a device' if asked.get('device') else 'targets that were there'
    why = {}
    for row in claims:
        if row['here'] == 'not tested':
            why.setdefault(row['why'], []).append(row['claim'])
    most = sorted(why, key=lambda text: len(why[text]), reverse=True)
    return ['Of the %s of %s (%s) %s' % (count(len(claims), 'claim'), definition['author'], definition['year'], ', '.join(said)),
            'It rests on %s of %s on %s%s%s. Not tested: %s' % (
                count(runs, 'run'), count(variants, 'variant'), place, ', quick' if asked.get('quick') else '',
                '; not over yet: %s' % listed(on, 3) if on else '',
                '; '.join('%s (%s)' % (listed(why[text], 2), shortened(text, 120)) for text in most[:3]) + ('; and more, see below' if len(most) > 3 else '') if most
                else 'none of them')]


def listed(names, most):
    return ', '.join(names[:most]) + (', ...' if len(names) > most else '')


def left_out(s, claims, published):
    """Claims, then variants, that were not tested, each with the reason."""
    rows = [['claim', row['claim'], row['says'], row['why']] for row in claims if row['here'] == 'not tested']
    seen = set()
    for row in published:
        if row['not_tested'] and row['variant'] not in seen:
            seen.add(row['variant'])
            rows.append(['variant', row['variant'], '', row['not_tested']])
    return rows


CLAIM_COLUMNS = ['claim', 'here', 'what is claimed', 'ratio here', 'what was seen there', 'why']
PUBLISHED_COLUMNS = ['question', 'variant', 'metric', 'there', '% of best there', 'here', '% of best here', 'runs', 'compared', 'remark']


def claim_rows(model):
    rows = []
    for row in model['claims']:
        figures = ratio_in_words(dict(row, ratio=row['estimate']))
        if row['rule'] == 'knee' and row['estimate'] is not None:
            figures = '%d workers (%d to %d)' % (row['estimate'], row['low'], row['high'])
        rows.append([row['claim'], row['here'], row['says'], figures, row['seen'], row['why']])
    return rows


def published_rows(model):
    # Metrics without a published figure stand with the questions.
    theirs = {(row['question'], row['metric']) for row in model['published'] if row['published'] is not None}
    percent = lambda value: '' if value is None else figure(value, '%')
    return [[row['question'] or '', row['variant'], row['metric'], figure(row['published'], row['unit'] if row['published'] is not None else ''), percent(row['published_percent']),
             figure(row['measured']), percent(row['measured_percent']), '' if row['runs'] is None else str(row['runs']), row['compared'] or '', row['remark'] or '']
            for row in model['published'] if (row['question'], row['metric']) in theirs]


# Where a claim with an interval would be true, as ratios.
def claimed(row):
    factor, margin = row['factor'] or 1, row['margin'] or 0
    return {'more': (factor, 100), 'less': (0.01, factor)}.get(row['expected'], (1 / (1 + margin), 1 + margin))


def claims_text(model):
    return 'Claims. ' + '; '.join('%s: %s%s' % (row[0], row[1], ', ' + row[3] if row[3] else '') for row in claim_rows(model)) + '.'


def claims_svg(model, standalone):
    """Each claim that has figures: its interval, and the side on which it would have to be."""
    rows = [row for row in model['claims'] if row['estimate'] and row['low'] and row['high'] and row['rule'] != 'knee']
    if not rows:
        return ''
    ends = [value for row in rows for value in (row['estimate'], row['low'], row['high']) + tuple(end for end in claimed(row) if 0.01 < end < 100)] + [0.95, 1.05]
    scale = Scale(ends)
    top, step = 34, 46
    bottom = top + step * len(rows)
    out = scale.begin(bottom, claims_text(model), model['caption'] if standalone else None, 'claims, by ratio; shaded: where it would be true')
    out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="currentColor"/>' % (scale.x(1), scale.x(1), top - 6, bottom + 4))
    for number, row in enumerate(rows):
        y = top + step * number + 26
        low, high = (scale.x(end) for end in claimed(row))
        shade = {'holds': colour(0), 'does not hold': colour(1)}.get(row['here'], '#808080')
        out.append('<text x="%d" y="%d" fill="currentColor">%s</text>' % (scale.left, y - 16, h('%s: %s' % (shortened(visible(row['claim']), 26), row['here']))))
        out.append('<rect class="claimed" x="%s" y="%d" width="%s" height="20" fill="currentColor" opacity="0.12"/>' % (low, y - 10, round(max(high - low, 1), 1)))
        out.append('<line class="interval" x1="%s" x2="%s" y1="%d" y2="%d" stroke="%s" stroke-width="3"/>' % (scale.x(row['low']), scale.x(row['high']), y, y, shade))
        for end in (row['low'], row['high']):
            out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="%s" stroke-width="2"/>' % (scale.x(end), scale.x(end), y - 5, y + 5, shade))
        # Told apart without colours: a disc, a square, a ring.
        x = scale.x(row['estimate'])
        title = '<title>%s</title>' % h(ratio_in_words(dict(row, ratio=row['estimate'])))
        if row['here'] == 'does not hold':
            out.append('<rect class="estimate" x="%s" y="%d" width="10" height="10" fill="%s">%s</rect>' % (round(x - 5, 1), y - 5, shade, title))
        else:
            ring = '' if row['here'] == 'holds' else ' fill-opacity="0" stroke="%s" stroke-width="2"' % shade
            out.append('<circle class="estimate" cx="%s" cy="%d" r="5" fill="%s"%s>%s</circle>' % (x, y, shade, ring, title))
    return ''.join(out + scale.ticks(bottom))


def published_tables(model):
    """Tables that have figures of both, by question and metric."""
    tables = {}
    for row in model['published']:
        tables.setdefault((row['question'], row['metric']), []).append(row)
    return [(key, rows) for key, rows in tables.items() if all(any(row[column] is not None for row in rows) for column in ('published_percent', 'measured_percent'))]


def published_svg(question, metric, rows):
    """Per cent of the best, there and here: figures of two machines are not compared, their order is."""
    left, right, top, step = 14, WIDTH - 14, 52, 40
    bottom = top + step * len(rows)
    x = lambda percent: round(left + min(max(percent, 0), 100) / 100 * (right - left), 1)
    text = '%s, %% of the best. %s.' % (metric, '; '.join('%s: there %s, here %s' % (
        row['variant'], figure(row['published_percent'], '%') or 'no figure', figure(row['measured_percent'], '%') or 'not measured') for row in rows))
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" class="verdict" role="img" aria-label="%s" font-family="system-ui,sans-serif" font-size="13">'
           % (WIDTH, bottom + 26, h(text)),
           '<text x="%d" y="18" fill="currentColor" font-weight="600">%s</text>' % (left, h(shortened('%s%s, %% of the best' % (question + ': ' if question else '', metric), 50))),
           '<circle cx="%d" cy="34" r="5" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="38" fill="currentColor">there</text>' % (left + 6, colour(1), left + 18),
           '<circle cx="%d" cy="34" r="5" fill="%s"/><text x="%d" y="38" fill="currentColor">here</text>' % (left + 86, colour(0), left + 98)]
    for tick in (0, 25, 50, 75, 100):
        out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="currentColor" opacity="0.25"/>' % (x(tick), x(tick), top, bottom))
        out.append('<text x="%s" y="%d" fill="currentColor" text-anchor="%s" font-size="12">%d %%</text>' % (
            x(tick), bottom + 18, {0: 'start', 100: 'end'}.get(tick, 'middle'), tick))
    for number, row in enumerate(rows):
        y = top + step * number + 26
        there, here = row['published_percent'], row['measured_percent']
        out.append('<text x="%d" y="%d" fill="currentColor">%s</text>' % (left, y - 12, h(shortened(visible(row['variant']), 26) + ('' if here is not None else ': not measured'))))
        if there is not None and here is not None:
            out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="currentColor" opacity="0.4"/>' % (x(there), x(here), y, y))
        if here is not None:
            out.append('<circle class="here" cx="%s" cy="%d" r="5" fill="%s"><title>here %s</title></circle>' % (x(here), y, colour(0), h(figure(here, '%'))))
        if there is not None:
            out.append('<circle class="there" cx="%s" cy="%d" r="6" fill="none" stroke="%s" stroke-width="2"><title>there %s</title></circle>' % (
                x(there), y, colour(1), h(figure(there, '%'))))
    return ''.join(out + ['</svg>'])


def sections_of_study(model):
    definition = model['study']['definition']
    picture = claims_svg(model, False)
    if picture:
        picture = '<figure>%s<figcaption>%s</figcaption></figure>' % (picture, h(
            'Marks are ratios of the two that a claim is about, thick lines their intervals; shaded is where the claim would be true. Disc: it holds here. Square: it does not. Ring: '
            'not known. ' + model['caption'] + '.'))
    about = '<p>%s</p>' % h('%s, by %s, %s. %s. There: %s.' % (definition['title'], definition['author'], definition['year'], definition['source'].rstrip('.'), definition['machine'].rstrip('.')))
    if definition.get('remarks'):
        about += '<ul>%s</ul>' % ''.join('<li>%s</li>' % h(text) for text in definition['remarks'])
    beside = ''.join('<figure>%s</figure>' % published_svg(question, metric, rows) for (question, metric), rows in published_tables(model))
    rows = published_rows(model)
    used = [at for at in range(len(PUBLISHED_COLUMNS)) if at < 2 or any(row[at] for row in rows)]
    questions = ''
    for one in model['questions']:
        e = one['experiment']
        questions += '<h3>%s</h3><p>%s</p>' % (h('%s: %s' % (one['question'], one['asks'])), h(sentence('; '.join(one['answer'][:1]))))
        if one['verdicts']:
            one['caption'] = model['caption']
            questions += '<figure>%s<figcaption>%s</figcaption></figure>' % (verdict_svg(one, False), h('Experiment %s, %s; %s that count; %s.' % (
                one['title'], e['status'], count(len([block for block in one['blocks'] if block['counts']]), 'run'), e['metric'])))
        questions += targets_table(one)
    for row in model['waiting']:
        questions += '<h3>%s</h3><p>%s</p>' % (h('%s: %s' % (row['question'], row['asks'])), h('Experiment %s is %s, and has no run that counts.' % (row['experiment'], row['status'])))
    listing = lambda lines: '<pre tabindex="0">%s</pre>' % '&#10;'.join(h(line) for line in lines)
    return [part for part in [
        section('claims', 'Claims', about + picture + table(CLAIM_COLUMNS, claim_rows(model))),
        section('published', 'The published table, and ours', '<p class="soft">%s</p>' % h(
            'Figures of two machines are not compared: each column is also given in per cent of its own best. Compared: whether the variant stands to the baseline as it did there.')
            + '<div class="side">%s</div>' % beside + table([PUBLISHED_COLUMNS[at] for at in used], [[row[at] for at in used] for row in rows]) if rows else ''),
        section('questions', 'Questions', questions),
        section('untested', 'What was not tested, and why', table(['what', 'name', 'says', 'why'], model['left_out']) if model['left_out'] else '<p>All of it was tested.</p>'),
        section('findings', 'What can mislead', findings_section(model)),
        section('environment', 'Machine and settings', environment_section(model)),
        section('repeat', 'How to repeat it', listing(model['calls']) if model['calls'] else '')] if part]

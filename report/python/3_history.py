# The nights of a label: how each was, where a level changes, and what of the machine was another one.


def read_history(label, metric, redact):
    """The nights of a label; beside them, the last good run of each segment, and those around its last change."""
    nights = query("SELECT h.*, to_char(h.at AT TIME ZONE $3, 'YYYY-MM-DD HH24:MI:SS') AS utc, EXISTS (SELECT FROM fsbench.environment e WHERE e.run_id = h.run_id) AS is_known FROM fsbench.history($1, $2) h ORDER BY h.segment, h.night", ['text', 'text', 'text'], [label, metric, 'UTC'])
    segments, known = {}, {}
    for night in nights:
        if redact:
            night.update(differs=None, marks=told_marks(known[night['segment']], night['run_id']) if night['marks'] else None)
        if night.pop('is_known'):
            known[night['segment']] = night['run_id']
        segments.setdefault(night['segment'], []).append(night)
    ids, said = [], []
    for rows in segments.values():
        good = [row for row in rows if row['value'] is not None]
        last = None
        for before, row in zip(good, good[1:]):
            if row['status'] == 'changed':
                if redact:
                    row['differs'] = what_may_be_told(before['run_id'], row['run_id'])
                last = (before, row)
        if not good:
            continue
        if last:
            ids += [night['run_id'] for night in last]
            row = last[1]
            said.append('%s: since run %s (%s) it has %.2f times the %s of before (%.2f to %.2f)%s' % (
                row['target'], row['run_id'], row['utc'][:10], row['ratio'], metric, row['low'], row['high'],
                '; what differs there: ' + row['differs'] if row['differs'] else ''))
        else:
            said.append('%s: no change of level in %s' % (rows[0]['target'], count(len(good), 'night')))
        ids.append(good[-1]['run_id'])
    if not ids:
        refuse('55000', 'history "%s" has no good run' % visible(label), 'None of its runs is done and valid.', 'See fsbench.result for what has become of them.')
    ids = query("SELECT array_agg(r.run_id ORDER BY r.run_id) AS ids FROM fsbench.run_log r WHERE r.run_id = ANY ($1) AND r.status = 'done'", ['bigint[]'], [ids])[0]['ids']
    model = read_runs(ids)
    missing = len([night for night in nights if night['value'] is None])
    model.update(kind='history', title='(label left out)' if redact else label, nights=nights, metric=metric, blocks=[], answer=[
        '; '.join(said), 'It takes 8 nights before a change, 3 after it, and 2.5 %%. %s had no good run' % count(missing, 'night')])
    return model


def what_may_be_told(one, other):
    """Candidates for the cause, as fsbench.history() writes them, without what is nobody else's business."""
    rows = differences(one, other, 10, True)
    return '; '.join(row['name'] if row['area'] is None else '%s: %s, before %s' % (row['name'], row['b'] or 'none', row['a'] or 'none') for row in rows)


def night_by_night(model):
    data, said = [], []
    for number, segment in enumerate(dict.fromkeys(night['segment'] for night in model['nights'])):
        rows = [night for night in model['nights'] if night['segment'] == segment and night['value'] is not None]
        if not rows:
            continue
        name = '%s (segment %s)' % (rows[0]['target'], segment)
        symbol = SYMBOLS[number % 8]
        shown = [('star', 16) if row['status'] == 'changed' else (symbol + '-open', 11) if row['marks'] else (symbol, 6) for row in rows]
        data.append(line(name, number, mode='lines+markers', x=[row['utc'][:19] for row in rows], y=three_digits([row['value'] for row in rows]),
                         text=['run %s' % row['run_id'] + ('; ' + plotly(shortened(row['marks'], 80)) if row['marks'] else '') for row in rows],
                         marker={'symbol': [symbol for symbol, _ in shown], 'size': [size for _, size in shown]}))
        values = [row['value'] for row in rows]
        said.append('%s: %s, last %s, lowest %s, highest %s' % (name, count(len(rows), 'night'), figure(values[-1]), figure(min(values)), figure(max(values))))
    marked = any(night['marks'] for night in model['nights'])
    return chart('history', 'Nights', '; '.join(said) + '. A star is the first night of a new level' + (', a hollow mark one before which the machine was changed' if marked else ''), data,
                 {'xaxis': axis('', type='date'), 'yaxis': axis(plotly(model['metric']), rangemode='tozero')})


def nights_section(model, drawn):
    changes = [[night['target'], night['utc'][:10], 'run %s' % night['run_id'], figure(night['before']), figure(night['after']),
                '%.3f (%.3f to %.3f)' % (night['ratio'], night['low'], night['high']), night['differs'] or 'nothing that is known']
               for night in model['nights'] if night['status'] == 'changed']
    marks = [[night['utc'][:10], 'run %s' % night['run_id'], night['target'], night['marks']] for night in model['nights'] if night['marks']]
    body = figure_of(drawn)
    if changes:
        body += '<h3>Changes of level</h3>' + table(['target', 'first night', 'first run', 'before', 'after', 'ratio', 'what differs there'], changes)
    if marks:
        body += '<h3>What changed on the machine</h3><p class="soft">Since the night before, whether or not it shows in the figures.</p>'
        body += table(['night', 'run', 'target', 'what'], marks)
    return body

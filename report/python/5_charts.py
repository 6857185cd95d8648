# The charts of the page, as plotly takes them: traces and a layout. Colours of text and background are the page's, and set there.

# Points of one line, at most: as many as there are pixels.
POINTS = 1200
SYMBOLS = ['circle', 'square', 'diamond', 'triangle-up', 'cross', 'star', 'x', 'hexagon']
DASHES = ['solid', 'dash', 'dot', 'dashdot', 'longdash', 'longdashdot', 'solid', 'dash']


def chart(identity, title, text, data, layout, choices=None, narrow=None):
    """narrow: what of the layout is another one on a telephone."""
    return {'id': identity, 'title': title, 'text': text, 'data': data, 'layout': layout, 'choices': choices, 'narrow': narrow or {}}


def axis(title, **more):
    return dict({'title': {'text': title}, 'automargin': True}, **more)


def log_axis(title, values):
    """With whole figures at its ticks, as many as fit. By itself it would show single digits between powers of ten."""
    values = [value for value in values if value] or [1]
    decades = math.log10(max(values) / min(values))
    steps = (1, 1.5, 2, 3, 4, 5, 7) if decades < 1.3 else (1, 2, 5) if decades < 3 else (1,)
    ticks = [float('%.3g' % (step * 10.0 ** power)) for power in range(-6, 10) for step in steps]
    return axis(title, type='log', tickvals=ticks, ticktext=['{:,g}'.format(tick) for tick in ticks])


def line(name, number, **more):
    return dict({'type': 'scatter', 'mode': 'lines', 'name': plotly(name), 'line': {'color': colour(number), 'width': 1.5, 'dash': DASHES[(number + number // 8) % 8]}}, **more)


def name_of_run(group):
    """The run that stands for a group; a loose run has its number in its name."""
    return group['name'] if len(group['runs']) == 1 else '%s, run %s' % (group['name'], group['chosen'])


def series(second, values):
    """By second, with a gap where a second is not there. Only y and distances are given, which takes half the room."""
    every = [None] * (second[-1] + 1) if second else []
    for at, value in zip(second, values):
        every[at] = value
    step, y = thin(every, POINTS)
    return {'x0': 0, 'dx': step, 'y': three_digits(y)}


def tps_of_run(model, run, name, number, lane):
    """A line, its stalls, and its checkpoints in a lane below."""
    row = model['seconds'].get(run)
    if not row:
        return []
    more = {'legendgroup': str(lane), 'showlegend': False}
    data = [line(name, number, legendgroup=str(lane), **series(row['second'], row['tps']))]
    if row['stalls']:
        of_second = dict(zip(row['second'], row['tps']))
        data.append(dict({'type': 'scatter', 'mode': 'markers', 'name': plotly(name) + ': stalls', 'x': row['stalls'],
                          'y': three_digits([of_second[at] for at in row['stalls']]), 'marker': {'symbol': 'x', 'size': 9, 'color': colour(number)}}, **more))
    ends = [end for band in model['checkpoints'] if band['run_id'] == run for end in (band['from_second'], band['to_second'], None)]
    if ends:
        data.append(dict({'type': 'scatter', 'mode': 'lines', 'name': plotly(name) + ': checkpoints', 'x': ends, 'yaxis': 'y2',
                          'y': [None if at is None else -lane for at in ends], 'line': {'color': colour(number), 'width': 6}}, **more))
    return data


def tps_by_second(model):
    groups = [group for group in model['groups'] if group['chosen'] in model['seconds']]
    if not groups:
        return None
    first, said = [], []
    for number, group in enumerate(groups):
        name = name_of_run(group)
        first += tps_of_run(model, group['chosen'], name, number, number)
        known = model['seconds'][group['chosen']]
        said.append('%s: median %s, lowest %s, highest %s, %s' % (name, figure(median(known['tps'])), figure(min(known['tps'])), figure(max(known['tps'])),
                                                                  count(len(known['stalls'] or []), 'stalled second')))
    choices = [{'name': 'one of each, with the middle result', 'data': first}]
    for group in groups:
        if len(group['runs']) > 1:
            data = [trace for lane, run in enumerate(group['runs']) for trace in tps_of_run(model, run, 'run %s' % run, lane, lane)]
            choices.append({'name': 'all of %s' % group['name'], 'data': data})
    top = min(0.3, 0.06 + 0.04 * len(groups))
    has_checkpoints = any(trace.get('yaxis') == 'y2' for trace in first)
    has_stalls = any(trace.get('mode') == 'markers' for trace in first)
    layout = {'xaxis': axis('seconds of the measured window', rangemode='nonnegative'), 'yaxis': axis('transactions per second', rangemode='tozero'), 'hovermode': 'x unified'}
    if has_checkpoints:
        layout['xaxis']['anchor'] = 'y2'
        layout['yaxis']['domain'] = [top, 1]
        layout['yaxis2'] = {'domain': [0, top - 0.04], 'showticklabels': False, 'fixedrange': True, 'showgrid': False, 'zeroline': False}
    return chart('tps', 'Transactions by second', '; '.join(said) + ('. Thick lines below are checkpoints' if has_checkpoints else '') + ('. Crosses are stalls' if has_stalls else ''), None, layout, choices)


def place_of_percentile(percentile):
    return round(-math.log10(1 - percentile / 100), 4)


def ticks_of_percentiles(ticks):
    return {'tickvals': [place_of_percentile(tick) for tick in ticks], 'ticktext': ['p%g' % tick for tick in ticks]}


def latency_layout(lines):
    ticks = [50, 75, 90, 95, 99, 99.5, 99.9]
    return {'xaxis': axis('percentile', tickangle=0, **ticks_of_percentiles(ticks)), 'yaxis': log_axis('ms', [value for trace in lines for value in trace['y']])}


NARROW_LATENCY = {'xaxis': ticks_of_percentiles([50, 90, 99, 99.9])}


def latency_lines(model, of_all):
    """A line for each group that has some of these rows, and its median and p99 in words."""
    data, said = [], []
    for number, group in enumerate(model['groups']):
        rows = [row for row in of_all if row['name'] == group['name'] and row['ms']]
        if rows:
            data.append(line(group['name'], number, x=[place_of_percentile(row['percentile']) for row in rows], y=three_digits([row['ms'] for row in rows]),
                             mode='lines+markers', marker={'symbol': SYMBOLS[number % 8]}))
            by = {row['percentile']: row['ms'] for row in rows}
            said.append('%s: half took at most %s, 99 %% at most %s' % (group['name'], milliseconds(by.get(50)), milliseconds(by.get(99))))
    return data, said


def latency(model, is_commit):
    data, said = latency_lines(model, [row for row in model['latency'] if row['is_commit'] == is_commit])
    return data and chart('commit' if is_commit else 'latency', 'Duration of COMMIT' if is_commit else 'Latency of transactions',
                          '; '.join(said), data, latency_layout(data), narrow=NARROW_LATENCY)


def latency_by_type(model):
    """The latencies of each type of transactions, to be chosen from; one type is all."""
    choices, said = [], []
    for name in dict.fromkeys(row['transaction'] for row in model['latency_by_type']):
        data, words = latency_lines(model, [row for row in model['latency_by_type'] if row['transaction'] == name])
        if data:
            choices.append({'name': name, 'data': data})
            said.append('%s, %s' % (name, '; '.join(words)))
    if len(choices) < 2:
        return None
    return chart('types', 'Latency by transaction', '. '.join(said), None, latency_layout([trace for choice in choices for trace in choice['data']]), choices, narrow=NARROW_LATENCY)


def order(model):
    data, said = [], []
    number_of = {group['name']: number for number, group in enumerate(model['groups'])}
    runs = [block for block in model['blocks'] if block['value'] is not None]
    place = {id(block): at + 1 for at, block in enumerate(runs)}
    if len(runs) < 3:
        return None
    for name, number in number_of.items():
        for counts in (True, False):
            own = [block for block in runs if block['target'] == name and block['counts'] == counts]
            if own:
                symbol = SYMBOLS[number % 8]
                data.append({'type': 'scatter', 'mode': 'markers', 'name': plotly(name) + ('' if counts else ', does not count'), 'x': [place[id(block)] for block in own],
                             'y': three_digits([block['value'] for block in own]), 'text': ['run %s' % block['run_id'] for block in own],
                             'marker': {'color': colour(number), 'symbol': symbol if counts else symbol + '-open', 'size': 8}})
        own = [block['value'] for block in runs if block['target'] == name and block['counts']]
        if len(own) > 1:
            said.append('%s: from %s to %s over %d runs' % (name, figure(own[0]), figure(own[-1]), len(own)))
    return chart('order', 'Runs in their order', '; '.join(said) + '. A slope that all share is drift of the machine', data,
                 {'xaxis': axis('runs, as they were made', **({'dtick': 1} if len(runs) <= 10 else {})), 'yaxis': axis(plotly(model['metric']), rangemode='tozero')})


def is_pair(model):
    """One run against another: both are shown at once."""
    return model['kind'] == 'runs' and len(model['groups']) == 2


def most_waited_for(rows):
    total = {}
    for row in rows:
        total[row['wait']] = total.get(row['wait'], 0) + row['samples']
    return total, sorted(total, key=total.get, reverse=True)[:7]


def shares_of_waits(rows, most, **more):
    """A stack of shares by time; what is not among the most is one of them."""
    of_piece, sums = {}, {}
    for row in rows:
        at = (row['wait'] if row['wait'] in most else 'other', row['piece'])
        of_piece[at] = of_piece.get(at, 0) + row['samples']
        sums[row['piece']] = sums.get(row['piece'], 0) + row['samples']
    pieces, there = sorted(sums), {name for name, _ in of_piece}
    return [dict({'type': 'scatter', 'mode': 'lines', 'stackgroup': 'one', 'name': plotly(name), 'x': [piece * rows[0]['size'] for piece in pieces],
                  'y': three_digits([100 * of_piece.get((name, piece), 0) / (sums[piece] or 1) for piece in pieces]),
                  'line': {'color': colour(number), 'width': 0.5}}, **more) for number, name in enumerate(most + ['other']) if name in there]


def waits(model):
    choices, said = [], []
    of_groups = [(group, [row for row in model['waits'] if row['run_id'] == group['chosen']]) for group in model['groups']]
    of_groups = [(group, rows) for group, rows in of_groups if rows]
    for group, rows in of_groups:
        total, most = most_waited_for(rows)
        choices.append({'name': name_of_run(group), 'data': shares_of_waits(rows, most)})
        said.append('%s: %s' % (group['name'], ', '.join('%s %.0f %%' % (name, 100 * total[name] / (sum(total.values()) or 1)) for name in most[:3])))
    if not choices:
        return None
    title, text, x = 'What clients waited for', '; '.join(said), axis('seconds of the measured window', rangemode='nonnegative')
    if is_pair(model) and len(of_groups) == 2:
        # One above the other, with the same colours.
        (one, rows), (other, others) = of_groups
        _, most = most_waited_for(rows + others)
        data = shares_of_waits(rows, most) + shares_of_waits(others, most, stackgroup='two', yaxis='y2')
        shown = set()
        for trace in data:
            trace.update(legendgroup=trace['name'], showlegend=trace['name'] not in shown)
            shown.add(trace['name'])
        of_run = lambda group: plotly(shortened(visible(group['name']), 20)) + ', %'
        return chart('waits', title, text, data, {'xaxis': dict(x, anchor='y2'), 'height': 620, 'yaxis': axis(of_run(one), range=[0, 100], domain=[0.54, 1]),
                                                  'yaxis2': axis(of_run(other), range=[0, 100], domain=[0, 0.46])})
    return chart('waits', title, text, None, {'xaxis': x, 'yaxis': axis('% of the time', range=[0, 100])}, choices)


# Axis, unit, quantities, and by what they are multiplied.
PANELS = [('y', 'MB/s', ['device writes'], 1e-6), ('y2', '%', ['user', 'system', 'iowait', 'steal', 'device busy'], 1), ('y3', 'MB', ['dirty', 'writeback'], 1e-6),
          ('y4', 'ms', ['flush'], 1)]


def machine_of_run(row, named, **style):
    """Lines of what is known of a run; named: how each is called."""
    data, number = [], 0
    for name_of_axis, _, names, factor in PANELS:
        for name in names:
            if any(value is not None for value in row[name]):
                trace = line(named(name), number, yaxis=name_of_axis, **series(row['second'], [None if value is None else value * factor for value in row[name]]))
                trace['line'].update(style)
                data.append(trace)
            number += 1
    return data


def machine(model):
    choices, said = [], []
    for group in model['groups']:
        row = model['machine'].get(group['chosen'])
        data = machine_of_run(row, lambda name: name) if row else []
        if data:
            choices.append({'name': name_of_run(group), 'data': data})
            parts = [(name, [value for value in row[name] if value is not None], unit, factor) for _, unit, names, factor in PANELS for name in names]
            said.append('%s: %s' % (group['name'], ', '.join('%s %s' % (name, figure(median(values) * factor, unit)) for name, values, unit, factor in parts
                                                          if values and name in ('device writes', 'flush', 'user', 'dirty'))))
    if not choices:
        return None
    title, text = 'Device, processors and dirty memory', 'Medians. ' + '; '.join(said)
    layout = {'xaxis': axis('seconds of the measured window', rangemode='nonnegative', anchor='y4'), 'height': 620}
    for at, (name_of_axis, unit, names, _) in enumerate(PANELS):
        layout[name_of_axis.replace('y', 'yaxis')] = axis('flush, ms' if unit == 'ms' else unit, domain=[1 - 0.25 * (at + 1) + 0.03, 1 - 0.25 * at - 0.03], rangemode='tozero')
    if is_pair(model) and len(choices) == 2:
        data = []
        for group, dash in zip(model['groups'], ('solid', 'dash')):
            data += machine_of_run(model['machine'][group['chosen']], lambda name: '%s, run %s' % (name, group['chosen']), dash=dash)
        return chart('machine', title, '%s. Dashed: %s' % (text, model['groups'][1]['name']), data, dict(layout, height=760), narrow={'height': 1000})
    return chart('machine', title, text, None, layout, choices)


def scans(model):
    data, said = [], []
    degrees = sorted({row['degree'] for row in model['scans']})
    for number, run in enumerate(dict.fromkeys(row['run_id'] for row in model['scans'])):
        rows = [row for row in model['scans'] if row['run_id'] == run]
        name = 'run %s (%s)' % (run, rows[0]['target'])
        data.append(line(name, number, x=[row['degree'] for row in rows], y=three_digits([row['gb_per_second'] for row in rows]), mode='lines+markers',
                         error_y={'type': 'data', 'symmetric': False, 'array': three_digits([row['highest_gb_per_second'] - row['gb_per_second'] for row in rows]),
                                  'arrayminus': three_digits([row['gb_per_second'] - row['lowest_gb_per_second'] for row in rows])},
                         marker={'symbol': ['star' if row['is_knee'] else SYMBOLS[number % 8] for row in rows], 'size': [14 if row['is_knee'] else 7 for row in rows]}))
        knee = [row['degree'] for row in rows if row['is_knee']]
        said.append('%s: up to %s, %s' % (name, figure(max(row['gb_per_second'] for row in rows), 'GB/s'), 'knee at %d' % knee[0] if knee else 'no knee found'))
    return data and chart('scans', 'Parallel scans', '; '.join(said) + ('. A star is the knee' if any(row['is_knee'] for row in model['scans']) else ''), data,
                          {'xaxis': axis('parallel workers', **({'tickvals': degrees} if len(degrees) <= 10 else {})), 'yaxis': axis('GB/s', rangemode='tozero')})


def fsync(model):
    data, said = [], []
    for number, run in enumerate(dict.fromkeys(row['run_id'] for row in model['fsync'])):
        rows = [row for row in model['fsync'] if row['run_id'] == run and row['method'] != 'none']
        if not rows:
            continue
        name = 'run %s (%s)' % (run, rows[0]['target'])
        labels = ['%s, %s' % (plotly(row['method']), count(row['writers'], 'writer')) + (', %s' % count(row['writes'], 'write') if row['writes'] > 1 else '') for row in rows]
        for at, (percentile, symbol) in enumerate((('p50', 'circle'), ('p99', 'triangle-up'), ('max', 'x'))):
            data.append({'type': 'scatter', 'mode': 'markers', 'name': '%s, %s' % (plotly(name), percentile), 'x': labels,
                         'y': three_digits([row['latency_%s_ms' % percentile] for row in rows]), 'marker': {'color': colour(number), 'symbol': symbol, 'size': 9}})
        best = min((row for row in rows if row['latency_p99_ms'] is not None), key=lambda row: row['latency_p99_ms'], default=None)
        if best:
            said.append('%s: least p99 %s by %s' % (name, milliseconds(best['latency_p99_ms']), best['method']))
    return data and chart('fsync', 'What a sync takes', '; '.join(said), data, {'xaxis': axis(''), 'yaxis': log_axis('ms', [value for trace in data for value in trace['y']])},
                          # Its labels stand upright there.
                          narrow={'height': 620})


def recovery(model):
    data, said, names = [], [], []
    of_run = {row['run_id']: row for row in model['recovery']}
    for number, group in enumerate(model['groups']):
        rows = [of_run[run] for run in group['runs'] if run in of_run and of_run[run]['recovery_ms'] is not None]
        if rows:
            values = [row['recovery_ms'] / 1000 for row in rows]
            name = plotly(group['name'])
            # A box says nothing of a few points.
            data.append({'type': 'box' if len(rows) >= 20 else 'scatter', 'mode': 'markers', 'name': name, 'x': [name] * len(rows), 'y': three_digits(values),
                         'marker': {'color': colour(number), 'symbol': SYMBOLS[number % 8], 'size': 9}})
            names.append(group['name'])
            said.append('%s: median %s' % (group['name'], figure(median(values), 's')))
    shown = lambda most: {'tickvals': [plotly(name) for name in names], 'ticktext': [plotly(shortened(visible(name), max(most // max(len(names), 1), 6))) for name in names]}
    return data and chart('recovery', 'Recovery after a crash', '; '.join(said), data, {'xaxis': axis('', **shown(120)), 'yaxis': axis('s', rangemode='tozero')},
                          narrow={'xaxis': shown(36)})


def charts(model):
    drawn = [night_by_night(model) if 'nights' in model else None, tps_by_second(model), latency(model, False), latency(model, True), latency_by_type(model), order(model), waits(model), machine(model), scans(model), fsync(model),
             recovery(model)]
    drawn = [one for one in drawn if one]
    for one in drawn:
        for trace in [trace for option in one['choices'] or [one] for trace in option['data']]:
            # A line of one point is none.
            if trace.get('mode') == 'lines' and sum(value is not None for value in trace['y']) == 1:
                trace.update(mode='lines+markers', cliponaxis=False)
    return drawn

-- Pages of what pgfsbench has measured. This file is put together by report/build from what stands in report/.
\echo Use "CREATE EXTENSION pgfsbench_report CASCADE" to load this file. \quit

CREATE FUNCTION fsbench._report_files() RETURNS TABLE (name text, text text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 3
    AS $files$
    SELECT 'page.css', $css$:root { color-scheme: light dark; --text: #1b1f24; --back: #ffffff; --soft: #5b6470; --line: #d5dae0; --panel: #f4f6f8; --link: #0a58a8; }
@media (prefers-color-scheme: dark) {
    :root { --text: #e4e8ec; --back: #14171a; --soft: #a3adb8; --line: #3a4149; --panel: #1d2226; --link: #7ab7f5; }
}
:root.printed { color-scheme: light; --text: #000000; --back: #ffffff; --soft: #444444; --line: #bbbbbb; --panel: #ffffff; --link: #000000; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 1500px; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 1.2rem 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
h3, h4 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
a { color: var(--link); }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; font-size: .9rem; }
.answer { font-size: 1.15rem; background: var(--panel); border-left: 4px solid var(--link); padding: .6rem 1rem; }
.answer p { margin: .3rem 0; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
figure { margin: 0 0 1rem; }
figcaption { padding-top: .4rem; }
.verdict { display: block; width: 100%; max-width: 480px; height: auto; }
@media (max-width: 480px) { .verdict text:not([font-weight]) { font-size: 15px; } }
.side { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.side figure { flex: 0 1 480px; }
.chart { width: 100%; min-height: 340px; }
/* Its buttons are above the chart, where no legend is. */
.chart .modebar-container { top: -1.9rem !important; }
h2 + figure .chart .modebar-container { top: -2.9rem !important; }
.value { margin: 0; min-height: 1.5em; font-variant-numeric: tabular-nums; }
.value:empty { min-height: 0; }
.wide { overflow-x: auto; }
.wide:focus-visible, a:focus-visible, summary:focus-visible, select:focus-visible, .chart:focus-visible { outline: 3px solid var(--link); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; overflow-wrap: normal; min-width: 4.5rem; max-width: 34rem; }
td.long { overflow-wrap: anywhere; min-width: 9rem; }
/* Where one has to scroll to it anyway, it is as wide as a telephone: else its row is as high as one. */
@media (max-width: 700px) { td.long { min-width: 16rem; } }
td.figure { white-space: nowrap; }
tr.differs th::after { content: " \2260"; color: var(--link); }
pre { background: var(--panel); padding: .6rem; overflow-x: auto; font-size: .85rem; white-space: pre-wrap; }
.severity { font-weight: 600; }
summary { margin: 1.5rem 0 .5rem; font-size: 1.15rem; color: var(--link); cursor: pointer; }
select { font: inherit; max-width: 100%; color: var(--text); background: var(--panel); border: 1px solid var(--line); }
footer { margin-top: 3rem; }
@media print {
    :root { color-scheme: light; --text: #000000; --back: #ffffff; --soft: #444444; --line: #bbbbbb; --panel: #ffffff; --link: #000000; }
    body { padding: 0; font-size: 11pt; }
    .modebar, .value, nav, .skip { display: none; }
    select { appearance: none; border: 0; padding: 0; background: none; }
    figure, tr, li, p { break-inside: avoid-page; }
    h2, h3, h2 + p, h3 + p, thead { break-after: avoid-page; }
    .wide { overflow: visible; }
    table { font-size: 8pt; }
    th, td, td.long { min-width: 0; padding: .15rem .4rem .15rem 0; }
    td, td.long { overflow-wrap: anywhere; }
}
$css$
    UNION ALL SELECT 'page.js', $js$// Draws the charts of the page, one after the other, so that the first is seen at once. Their data stand in the page as JSON.
'use strict';
(function () {
    var charts = JSON.parse(document.getElementById('charts').textContent);
    var dark = window.matchMedia('(prefers-color-scheme: dark)');
    var still = window.matchMedia('(prefers-reduced-motion: reduce)');
    var drawn = 0;
    // Width of the paper, while the page is printed.
    var printed = null;

    function colour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }

    function isNarrow() {
        return window.innerWidth < 700 && printed === null;
    }

    function layoutOf(chart) {
        var layout = JSON.parse(JSON.stringify(chart.layout));
        var narrow = isNarrow();
        layout.paper_bgcolor = layout.plot_bgcolor = 'rgba(0,0,0,0)';
        layout.font = { family: 'system-ui, sans-serif', size: 13, color: colour('--text') };
        layout.margin = { l: narrow ? 45 : 70, r: 10, t: 10, b: 50 };
        layout.height = (narrow && chart.narrow.height) || layout.height || (narrow ? 380 : 440);
        if (printed !== null) {
            // Two charts and their texts on a sheet.
            layout.width = printed;
            layout.height = Math.min(layout.height - 80, 540);
        }
        layout.legend = { orientation: 'h', y: 1.02, yanchor: 'bottom', x: 0 };
        layout.showlegend = true;
        layout.modebar = { bgcolor: 'rgba(0,0,0,0)', color: colour('--soft'), activecolor: colour('--text') };
        layout.hoverlabel = { namelength: -1 };
        layout.transition = { duration: still.matches ? 0 : 200 };
        Object.keys(layout).forEach(function (name) {
            if (/^[xy]axis/.test(name)) {
                layout[name].gridcolor = layout[name].zerolinecolor = colour('--line');
                if (narrow) {
                    Object.assign(layout[name], chart.narrow[name], { tickfont: { size: 11 } });
                    layout[name].title = Object.assign({}, layout[name].title, { font: { size: 12 } });
                }
            }
        });
        return layout;
    }

    // Names are written for plotly, which takes some tags.
    function plain(text) {
        return text.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&amp;/g, '&');
    }

    function shortened(name, most) {
        var letters = Array.from(plain(name));
        return letters.length <= most ? name : (letters.slice(0, most - 3).join('') + '...').replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
    }

    function draw(chart, place, data) {
        var most = Math.floor(((printed || window.innerWidth) - 110) / 8);
        data.forEach(function (trace) {
            trace.name = shortened(trace.name, most);
        });
        var config = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: '',
                       displayModeBar: isNarrow() ? false : 'hover',
                       modeBarButtonsToRemove: ['lasso2d', 'select2d'] };
        return Plotly.react(place, data, layoutOf(chart), config).then(function () {
            var points = 0;
            (place.calcdata || []).forEach(function (trace) {
                if (trace[0].trace.visible === true) {
                    points += trace.length;
                }
            });
            place.setAttribute('data-points', String(points));
        });
    }

    // Arrow keys go from point to point, and from line to line; what is there is said, and shown as under a mouse.
    function step(chart, key) {
        var data = chart.current();
        var at = chart.at;
        var traces = data.map(function (trace, number) { return number; }).filter(function (number) {
            return (chart.place._fullData[number] || {}).visible === true;
        });
        if (traces.length === 0) {
            return;
        }
        var isFirst = traces.indexOf(at.trace) < 0;
        if (isFirst) {
            at = { trace: traces[0], point: -1 };
        }
        var by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[key];
        if (by === undefined && !isFirst) {
            var other = traces.indexOf(at.trace) + (key === 'ArrowDown' ? 1 : -1);
            at = { trace: traces[Math.min(Math.max(other, 0), traces.length - 1)], point: at.point };
        }
        var y = data[at.trace].y;
        var last = y.length - 1;
        var point = Math.min(Math.max(at.point + (by || 0), 0), last);
        // Over gaps, in the direction of the key; back from the end.
        var way = by < 0 && point > 0 || point === last ? -1 : 1;
        while (point >= 0 && point <= last && y[point] === null) {
            point += way;
        }
        if (point < 0 || point > last) {
            return;
        }
        chart.at = { trace: at.trace, point: point };
        say(chart, data[at.trace], at.trace, point);
    }

    function say(chart, trace, number, point) {
        var xaxis = chart.layout['xaxis' + (trace.xaxis || 'x').slice(1)] || {};
        var yaxis = chart.layout['yaxis' + (trace.yaxis || 'y').slice(1)] || {};
        var x = trace.x ? trace.x[point] : Math.round((trace.x0 + point * trace.dx) * 10) / 10;
        var ticks = xaxis.tickvals || [];
        if (ticks.indexOf(x) >= 0) {
            x = xaxis.ticktext[ticks.indexOf(x)];
        }
        var title = function (axis) { return axis.title && axis.title.text ? axis.title.text : ''; };
        var words = [trace.name, (title(xaxis) ? title(xaxis) + ' ' : '') + x,
                     yaxis.showticklabels === false ? '' : (title(yaxis) ? title(yaxis) + ' ' : '') + trace.y[point], (trace.text || [])[point],
                     'point ' + (point + 1) + ' of ' + trace.y.length].filter(function (part) { return part; }).join('; ');
        document.getElementById('value-' + chart.id).textContent = plain(words);
        Plotly.Fx.hover(chart.place, [{ curveNumber: number, pointNumber: point }], (trace.xaxis || 'x') + (trace.yaxis || 'y'));
    }

    function prepare(chart) {
        var place = document.getElementById('chart-' + chart.id);
        var choice = document.getElementById('choice-' + chart.id);
        chart.place = place;
        chart.at = {};
        chart.current = function () {
            return JSON.parse(JSON.stringify(chart.choices ? chart.choices[choice ? choice.selectedIndex : 0].data : chart.data));
        };
        if (choice) {
            choice.addEventListener('change', function () {
                chart.at = {};
                document.getElementById('value-' + chart.id).textContent = '';
                draw(chart, place, chart.current());
            });
        }
        place.addEventListener('keydown', function (event) {
            if (!event.ctrlKey && !event.altKey && !event.metaKey && /^(Arrow|Page|Home$|End$)/.test(event.key)) {
                event.preventDefault();
                step(chart, event.key);
            } else if (event.key === 'Escape') {
                Plotly.Fx.unhover(place);
            }
        });
        place.addEventListener('blur', function () {
            Plotly.Fx.unhover(place);
        });
    }

    function next() {
        if (drawn === charts.length) {
            document.documentElement.setAttribute('data-drawn', String(drawn));
            return;
        }
        var chart = charts[drawn];
        prepare(chart);
        draw(chart, chart.place, chart.current()).then(function () {
            drawn += 1;
            if (drawn === 1) {
                document.documentElement.setAttribute('data-first-ms', String(Math.round(performance.now())));
            }
            setTimeout(next, 0);
        });
    }

    function colourAgain() {
        charts.slice(0, drawn).forEach(function (chart) {
            draw(chart, chart.place, chart.current());
        });
    }

    // As wide as paper, and dark on light: a chart does not change by itself when it is printed.
    function print(width) {
        printed = width;
        document.documentElement.classList.toggle('printed', width !== null);
        colourAgain();
    }

    dark.addEventListener('change', colourAgain);
    window.addEventListener('beforeprint', function () { print(680); });
    window.addEventListener('afterprint', function () { print(null); });
    // A chart has no width where it is folded away.
    var fold = document.getElementById('more');
    if (fold && !fold.open) {
        fold.addEventListener('toggle', next, { once: true });
    } else {
        next();
    }
}());
$js$
    UNION ALL SELECT 'plotly.js', $plotly$$plotly$
    $files$;
COMMENT ON FUNCTION fsbench._report_files IS 'Style and scripts of pages: page.css, page.js, and plotly.js (MIT licence, Copyright Plotly, Inc.), which draws the charts. Private';

-- STABLE, so that all is read with one snapshot: what others remove meanwhile is on the page as a whole, or not at all. And nothing is written.
CREATE FUNCTION fsbench._report(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean, study text,
    OUT page text, OUT refusal text[])
    LANGUAGE plpython3u STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET extra_float_digits = 1 COST 100000
    AS $python$
# Whatever comes from outside (names, labels, settings, errors) goes through here on its way into a page.
import base64
import hashlib
import html as html_module
import json
import math
import re
import shlex

# Marks that change the direction of text, or are not seen at all: shown by their numbers.
UNSEEN = re.compile('[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]')


def visible(text):
    """The text with nothing in it that hides or reorders what stands beside it."""
    return UNSEEN.sub(lambda found: '[U+%04X]' % ord(found.group()), str(text))


def ascii_only(text):
    """Keeps the page alike in any encoding of database and client."""
    return text.encode('ascii', 'xmlcharrefreplace').decode('ascii')


def h(text):
    """Text for HTML and SVG, in elements and in attributes."""
    return ascii_only(html_module.escape(visible(text), quote=True))


def plotly(text):
    """Text for plotly, which takes a few tags of HTML in names and titles for what they are."""
    return html_module.escape(visible(text), quote=False)


def finite(value):
    """JSON has no NaN and no infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value


def script_json(value):
    """JSON inside <script>: nothing in it ends the script, begins a comment, or is a line end of JavaScript."""
    text = json.dumps(finite(value), ensure_ascii=True, separators=(',', ':'), allow_nan=False)
    return text.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026')


def source_hash(script):
    """By which the page's own policy knows its scripts, and no other."""
    digest = hashlib.sha256(script.encode('utf-8')).digest()
    return 'sha256-' + base64.b64encode(digest).decode('ascii')


def one_line(text):
    """psql pads every line of a value to the longest one: a page has few lines."""
    return ' '.join(line.strip() for line in text.split('\n') if line.strip())

# Numbers for people: three digits, with a unit.


def figure(value, unit=''):
    """A number with three digits."""
    if value is None:
        return ''
    value = float(value)
    size = abs(value)
    if size >= 99.95:
        text = '{:,.0f}'.format(float('%.3g' % value) if size >= 1e4 else value)
    elif value == int(value):
        # Three of something have no hundredths.
        text = '%d' % value
    elif size >= 9.995:
        text = '%.1f' % value
    elif size >= 1:
        text = '%.2f' % value
    else:
        text = '%.3g' % value
    return text + (' ' + unit if unit else '')


def milliseconds(value):
    if value is None:
        return ''
    return figure(value / 1000, 's') if value >= 10000 else figure(value, 'ms')


def bytes_in_words(value):
    """As PostgreSQL counts: 1 kB is 1024 bytes."""
    if value is None:
        return ''
    value = float(value)
    for factor, unit in ((2 ** 40, 'TB'), (2 ** 30, 'GB'), (2 ** 20, 'MB'), (2 ** 10, 'kB')):
        if abs(value) >= factor:
            return figure(value / factor, unit)
    return figure(value, 'bytes')


def count(number, noun):
    return '%s %s%s' % ('{:,}'.format(number), noun, '' if number == 1 else 's')


def ratio_in_words(row):
    """1.11 (1.08 to 1.14)"""
    if row.get('ratio') is None:
        return ''
    text = '%.2f' % row['ratio']
    if row.get('low') is not None and row.get('high') is not None:
        text += ' (%.2f to %.2f)' % (row['low'], row['high'])
    return text


def median(values):
    values = sorted(values)
    if not values:
        return None
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def thin(values, most):
    """A series of at most about so many points: their distance, and the points. Each piece of a longer one is its lowest, its median and its
    highest value, so that no stall and no peak is lost."""
    if len(values) <= most:
        return 1, values
    size = math.ceil(len(values) * 3 / most)
    thinned = []
    for start in range(0, len(values), size):
        piece = [value for value in values[start:start + size] if value is not None]
        thinned += [min(piece), median(piece), max(piece)] if piece else [None] * 3
    return size / 3, thinned


def three_digits(values):
    """For the page: what nobody sees takes no room."""
    return [None if value is None else float('%.4g' % value) for value in values]

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


def answer_of_experiment(e, verdicts, advice):
    said = {part: [row['says'] for row in advice if row['part'] == part] for part in ('choice', 'open', 'next')}
    untested = [row['topic'] for row in advice if row['topic']]
    blocks = max([row['blocks'] or 0 for row in verdicts] or [0])
    sure = 'It rests on %s, by rules that err in at most 5 %% of experiments' % count(blocks, 'block')
    if not blocks:
        sure = 'No look has been taken yet'
    elif e['status'] not in ('done', 'cancelled'):
        sure = 'It is as of the last look, after %s' % count(blocks, 'block')
    left = ['What is open: %s' % '; '.join(said['open'])] if said['open'] else []
    left += ['To go on: %s' % line for line in said['next']]
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
        if name not in known:
            continue
        said.append('%s => %s' % (name, argument(told_argument(name, value) if redact else value)))
    return 'fsbench.%s(%s);' % (function, ', '.join(said))


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
    targets = query('SELECT DISTINCT ON (target) target, target_definition FROM fsbench.run_log WHERE run_id = ANY ($1) ORDER BY target', ['bigint[]'], [ids])
    known = arguments_of('create_target') - {'target'}
    for row in targets:
        definition = stored(row['target_definition'])
        if known.intersection(definition):
            lines.append('SELECT ' + call('create_target', row['target'], {name: value for name, value in definition.items() if name != 'target'}, redact))
    if model['kind'] == 'study':
        # Its targets are made with it.
        return calls_of_study(model, redact)
    if model['experiment']:
        asked = dict(model['experiment']['asked'])
        run = {name: value for name, value in (asked.get('run') or {}).items() if name not in ('target', 'label', 'keep')}
        asked.update(arguments_of_scripts(run, None))
        lines.append('SELECT ' + call('experiment', model['title'], asked, redact))
    else:
        for row in query('SELECT run_id, asked FROM fsbench.run_log WHERE run_id = ANY ($1) ORDER BY array_position($1, run_id)', ['bigint[]'], [ids]):
            lines.append('SELECT * FROM ' + call('run', None, arguments_of_scripts(stored(row['asked']), row['run_id']), redact))
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

# Results that only some workloads have: jobs of fio, and New-Orders a minute.

# Rows of jobs, at most.
MOST_JOBS = 200


def read_results(model):
    """Reads results of one run a group."""
    name_of = {group['chosen']: group['name'] for group in model['groups']}
    of_chosen = lambda sql: [dict(row, name=name_of[row['run_id']]) for row in query(sql, ['bigint[]'], [list(name_of)])]
    model['jobs'] = of_chosen('SELECT * FROM fsbench.io_job WHERE run_id = ANY ($1) ORDER BY position, job, direction, array_position($1, run_id) LIMIT %d' % (MOST_JOBS + 1))
    model['new_orders'] = of_chosen('SELECT * FROM fsbench.tpcc WHERE run_id = ANY ($1) ORDER BY array_position($1, run_id)')


def yes_or_no(value):
    return '' if value is None else 'yes' if value else 'no'


def jobs_section(model):
    rows = [[row['job'], row['name'], row['sync_call'] or row['direction'], whole(row['copies']), bytes_in_words(row['file_bytes']), whole(row['operations']),
             figure(row['mb_per_second'], 'MB/s') if row['mb_per_second'] is not None else '', figure(row['iops'])] + durations(row)
            + [figure(row['drift_ratio']), whole(row['stall_seconds']), yes_or_no(row['steady']), yes_or_no(row['fio_steady'])] for row in model['jobs'][:MOST_JOBS]]
    if not rows:
        return ''
    head = ['job', 'of', 'operation', 'copies', 'bytes of a file', 'operations', 'bandwidth', 'operations/s'] + DURATIONS + ['drift', 'stall seconds', 'steady', 'steady by fio']
    more = '<p>All jobs are in fsbench.io_job.</p>' if len(model['jobs']) > MOST_JOBS else ''
    return '<p class="soft">Of one run each, on files beside the database, by fio.</p>' + table_without_empty(head, rows) + more


def new_orders_section(model):
    head = ['run of', 'NOTPM', 'NOTPM with rollbacks and failures', 'NOTPM per warehouse', 'rollbacks', 'lines of an order', 'remote lines', 'remote payments', 'payments by last name']
    percent = lambda value: figure(value, '%') if value is not None else ''
    rows = [[row['name'], figure(row['notpm']), figure(row['notpm_dbt2']), figure(row['notpm_per_warehouse']), percent(row['rollback_percent']), figure(row['lines_per_order']),
             percent(row['remote_lines_percent']), percent(row['remote_payments_percent']), percent(row['payments_by_name_percent'])] for row in model['new_orders']]
    note = '<p class="soft">Of one run each. NOTPM: committed New-Order transactions a minute. The workload is derived from TPC-C; its results are not comparable to published TPC-C results.</p>'
    return note + table_without_empty(head, rows) if rows else ''

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

# The verdict picture: plain SVG, for the page, for print and for blogs.

# Colours of Okabe and Ito, which people with colour blindness can tell apart, on white and on black.
COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6bb1', '#999999']
TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]
WIDTH = 380


def colour(number):
    return COLOURS[number % len(COLOURS)]


def verdict_words(row):
    words = row.get('verdict') or 'no verdict yet'
    return words + (', not as durable' if row.get('same_durability') is False else '')


def reference_of(model):
    return 'ratio to ' + (model['baseline'] if model['baseline'] is not None else 'the reference')


def verdict_text(model):
    """The picture in words, for readers who cannot see it."""
    rows = ['%s: %s%s' % (row['target'], verdict_words(row), ', ' + ratio_in_words(row) if row.get('ratio') is not None else '')
            for row in model['verdicts']]
    return '%s, %s. %s.' % (model['metric'], reference_of(model), '; '.join(rows))


class Scale:
    """The frame of a picture of ratios: a logarithmic axis from 0.01 to 100, as wide as what is shown."""
    left, right = 14, WIDTH - 14

    def __init__(self, ends):
        ends = [min(max(end, 0.01), 100) for end in ends]
        self.low, self.high = math.log(min(ends)) - 0.02, math.log(max(ends)) + 0.02

    def x(self, ratio):
        place = (math.log(min(max(ratio, 0.01), 100)) - self.low) / (self.high - self.low)
        return round(self.left + min(max(place, 0), 1) * (self.right - self.left), 1)

    def begin(self, bottom, text, caption, title):
        """Up to the title. With a caption it is a file of its own."""
        self.caption = wrapped(caption, 62) if caption is not None else []
        height = bottom + 30 + 14 * len(self.caption)
        size = 'class="verdict" ' if caption is None else 'width="%d" height="%d" color="#222" ' % (WIDTH, height)
        out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" %srole="img" aria-label="%s" font-family="system-ui,sans-serif" font-size="13">'
               % (WIDTH, height, size, h(text))]
        if caption is not None:
            out.append('<rect width="100%" height="100%" fill="#fff"/>')
        out.append('<text x="%d" y="18" fill="currentColor" font-weight="600">%s</text>' % (self.left, h(shortened(title, 50))))
        return out

    def ticks(self, bottom):
        out, taken = [], []
        for tick in sorted([tick for tick in TICKS if self.low <= math.log(tick) <= self.high], key=lambda tick: abs(math.log(tick))):
            if all(abs(self.x(tick) - other) > 34 for other in taken):
                taken.append(self.x(tick))
                out.append('<text x="%s" y="%d" fill="currentColor" text-anchor="middle" font-size="12">%g</text>' % (self.x(tick), bottom + 20, tick))
        for number, line in enumerate(self.caption):
            out.append('<text x="%d" y="%d" fill="currentColor" font-size="11">%s</text>' % (self.left, bottom + 40 + 14 * number, h(line)))
        return out + ['</svg>']


def verdict_svg(model, standalone):
    rows = [row for row in model['verdicts']]
    points = {}
    for block in model['blocks']:
        if block['ratio'] is not None and block['ratio'] > 0:
            points.setdefault(block['target'], []).append(block)
    ends = [value for row in rows for value in (row['ratio'], row['low'], row['high']) if value and value > 0]
    ends += [block['ratio'] for row in rows for block in points.get(row['target'], [])]
    margin = (rows[0]['margin_low'], rows[0]['margin_high']) if rows else (1 / 1.05, 1.05)
    scale = Scale(ends + [margin[0] / 1.03, margin[1] * 1.03])
    x, left, top, step = scale.x, scale.left, 34, 46
    bottom = top + step * max(len(rows), 1)
    out = scale.begin(bottom, verdict_text(model), model['caption'] if standalone else None, '%s, %s' % (model['metric'], reference_of(model)))
    out.append('<rect x="%s" y="%d" width="%s" height="%d" fill="currentColor" opacity="0.12"><title>within the margin: does not count</title></rect>'
               % (x(margin[0]), top - 6, round(x(margin[1]) - x(margin[0]), 1), bottom - top + 10))
    out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="currentColor"/>' % (x(1), x(1), top - 6, bottom + 4))
    names = [target['target'] for target in model['targets']]
    for number, row in enumerate(rows):
        y = top + step * number
        shade = colour(names.index(row['target']) if row['target'] in names else number)
        out.append('<text x="%d" y="%d" fill="currentColor">%s</text>' % (left, y + 10, h(label(row))))
        y += 26
        for block in points.get(row['target'], []):
            out.append('<circle class="block" cx="%s" cy="%s" r="3" fill="none" stroke="%s" opacity="0.7"><title>block %d, run %s: %.3f</title></circle>'
                       % (x(block['ratio']), y - 6 + 3 * (block['block'] % 5), shade, block['block'], block['run_id'], block['ratio']))
        if row['low'] and row['high']:
            dash = ' stroke-dasharray="6 3"' if row['same_durability'] is False else ''
            out.append('<line class="interval" x1="%s" x2="%s" y1="%d" y2="%d" stroke="%s" stroke-width="3"%s/>' % (x(row['low']), x(row['high']), y, y, shade, dash))
            for end in (row['low'], row['high']):
                out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="%s" stroke-width="2"/>' % (x(end), x(end), y - 5, y + 5, shade))
        if row['ratio']:
            out.append('<circle class="estimate" cx="%s" cy="%d" r="5" fill="%s"><title>%s</title></circle>' % (x(row['ratio']), y, shade, h(ratio_in_words(row))))
    return ''.join(out + scale.ticks(bottom))


def label(row):
    """A name, and what is said of it: as long as fits, at the cost of the name."""
    words = verdict_words(row)
    return '%s: %s' % (shortened(visible(row['target']), max(4, min(26, 44 - len(words)))), words)


def shortened(text, most):
    return text if len(text) <= most else text[:most - 3] + '...'


def wrapped(text, width):
    lines = ['']
    for word in text.split(' '):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] += (' ' if lines[-1] else '') + word
    return lines

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

# The answer and one table, for the mail itself.

COLUMNS = ['target', 'measured', 'verdict', 'ratio', 'COMMIT p99', 'worst second', 'bytes/transaction', 'recovery', 'durable']


def target_row(row):
    return [row['target'], row.get('measured', ''), verdict_words(row) if row.get('verdict') else ('baseline' if row.get('says') is None and row.get('ratio') is None and 'target_number' in row else ''),
            ratio_in_words(row), milliseconds(row['commit_p99_ms']), figure(row['worst_second_tps'], 'tps'), figure(row['device_bytes_per_transaction']),
            milliseconds(row['recovery_ms']), row['durability'] or 'not known']


def table_rows(model):
    rows = []
    for row in model['targets']:
        cells = target_row(row)
        if model['kind'] == 'experiment' and row['target'] == model['baseline']:
            cells[COLUMNS.index('verdict')] = 'baseline'
        rows.append(cells)
    return rows


def sentence(text):
    return text + ('' if text.endswith(('.', ';')) else '.')


def tables(model):
    """Tables below the answer: heads and rows, without columns that say nothing."""
    if model['kind'] != 'study':
        return [without_empty(COLUMNS, table_rows(model))]
    claims = [[row[0], row[1], row[3], row[2]] for row in claim_rows(model)]
    return [without_empty(['claim', 'here', 'ratio here', 'what is claimed'], claims)] + [without_empty(
        ['variant', '% of best there', '% of best here', 'compared'],
        [[row['variant'], figure(row['published_percent']), figure(row['measured_percent']), row['compared'] or ''] for row in rows]) for _, rows in published_tables(model)]


def without_empty(head, rows):
    used = [at for at in range(len(head)) if any(row[at] for row in rows)]
    return [[row[at] for at in used] for row in [head] + rows]


def as_text(model):
    lines = [visible(heading(model)), ''] + [visible(sentence(text)) for text in model['answer']]
    for rows in tables(model):
        rows = [[visible(cell) for cell in row] for row in rows]
        width = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines += [''] + ['  '.join(cell.ljust(width[at]) for at, cell in enumerate(row)).rstrip() for row in rows]
    return '\n'.join(lines + ['', visible(model['caption'])]) + '\n'


def as_markdown(model):
    escape = lambda text: re.sub(r'([\\`*_{}\[\]<>#|!~])', r'\\\1', visible(text)).replace('&', '&amp;').replace('\n', ' ').replace('\r', ' ')
    lines = ['# ' + escape(heading(model)), ''] + [escape(sentence(text)) + '\n' for text in model['answer']]
    for rows in tables(model):
        lines.append('| ' + ' | '.join(rows[0]) + ' |')
        lines.append('|' + '---|' * len(rows[0]))
        lines += ['| ' + ' | '.join(escape(cell) for cell in row) + ' |' for row in rows[1:]] + ['']
    return '\n'.join(lines + [escape(model['caption'])]) + '\n'


def heading(model):
    """The name; of a study what it is, besides."""
    return 'Study %s: %s' % (model['title'], model['study']['definition']['title']) if model['kind'] == 'study' else model['title']

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

# Functions that SQL calls.

FORMATS = {'html': lambda model: as_page(model), 'text': lambda model: as_text(model), 'markdown': lambda model: as_markdown(model),
           'svg': lambda model: picture_of(model) + '\n'}
# A longer page is refused where it was typed.
MOST_TYPED = 4000000


def picture_of(model):
    if model['kind'] != 'study':
        return verdict_svg(model, True)
    return claims_svg(model, True) or refuse('55000', 'study "%s" has no claim with an interval' % visible(model['title']), 'None of its claims is decided by one, or none was tested.',
                                             'See fsbench.study_claims() for why.')


def report(name, run_ids, label, metric, form, redact, force, study):
    if form not in FORMATS:
        refuse('22023', 'format must not be null' if form is None else 'format "%s" does not exist' % visible(form), 'A report is a page, or a text for the mail itself.', 'Use html, text or markdown. The picture alone is made by fsbench.chart_svg().')
    if [name, run_ids, label, study].count(None) != 3:
        refuse('22023', 'a report takes an experiment, a study, run_ids, or a history', 'Exactly one of them must be given.',
               "Call it as in SELECT fsbench.report('new server'), or SELECT fsbench.report(run_ids => '{7,8}').")
    # Where an experiment is called like a study, the name alone is the experiment's.
    if name is not None and (is_experiment(name) or not is_known_study(name)):
        model, arguments = read_experiment(name), [literal(name)]
    elif label is None and run_ids is None:
        model, arguments = read_study(name if study is None else study), [literal(name) if study is None else 'study => ' + literal(study)]
    elif label is not None:
        model, arguments = read_history(label, metric, redact), ['history => ' + literal(label)] + (['metric => ' + literal(metric)] if metric != 'tps' else [])
    else:
        model, arguments = read_runs(run_ids), ["run_ids => '{%s}'" % ','.join(map(str, run_ids))]
    if model['kind'] != 'study':
        read_series(model)
    read_facts(model, redact)
    if redact:
        model = redacted(model)
        arguments.append('redact => true')
    made = FORMATS[form](model)
    if form == 'html' and not force and is_typed():
        size = bytes_in_words(len(made))
        detail = 'psql pads each of its lines to the longest one, which makes hundreds of megabytes.'
        command = visible('In a shell: psql -XAtqc %s -o report.html' % in_shell('SELECT fsbench.report(%s)' % ', '.join(arguments)))
        if len(made) > MOST_TYPED:
            refuse('54000', 'a page of %s is not for a terminal' % size, detail, command)
        plpy.notice('a page of %s is not for a terminal' % size, detail=detail, hint=command)
    return made


def in_shell(text):
    """One word for a shell, and for a person where nothing in it means something between double quotes."""
    return shlex.quote(text) if re.search(r'[$`"\\!]', text) else '"%s"' % text


def is_typed():
    """psql sends what is typed with its semicolon, and what stands after -c as it is."""
    row = query("SELECT pg_catalog.current_setting('application_name') AS program, pg_catalog.current_query() AS query")[0]
    return row['program'] == 'psql' and row['query'].rstrip().endswith(';')


def report_or_refusal(*arguments):
    try:
        return {'page': report(*arguments), 'refusal': None}
    except Refused as refused:
        return {'page': None, 'refusal': list(refused.args)}

return report_or_refusal(experiment, run_ids, history, metric, format, redact, force, study)
$python$;
COMMENT ON FUNCTION fsbench._report IS 'Makes pages, texts and pictures of experiments, studies, runs and histories, or says why not: SQLSTATE, message, DETAIL and HINT. Private: called by fsbench._page()';

CREATE FUNCTION fsbench._page(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean, study text) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    made record;
BEGIN
    SELECT * INTO made FROM fsbench._report($1, $2, $3, $4, $5, $6, $7, $8);
    IF made.refusal[3] IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = made.refusal[1], MESSAGE = made.refusal[2], DETAIL = made.refusal[3], HINT = coalesce(made.refusal[4], '');
    ELSIF made.refusal IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = made.refusal[1], MESSAGE = made.refusal[2];
    END IF;
    RETURN made.page;
END
$$;
COMMENT ON FUNCTION fsbench._page IS 'The same, with the refusal as an error. Private: called by fsbench.report() and fsbench.chart_svg()';

REVOKE ALL ON FUNCTION fsbench._report_files, fsbench._report, fsbench._page FROM PUBLIC;
GRANT EXECUTE ON FUNCTION fsbench._report_files, fsbench._report, fsbench._page TO pg_monitor;

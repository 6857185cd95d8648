-- Pages of what pgfsbench has measured. This file is put together by report/build from what stands in report/.
\echo Use "CREATE EXTENSION pgfsbench_report CASCADE" to load this file. \quit

CREATE FUNCTION fsbench._report_files() RETURNS TABLE (name text, text text)
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp ROWS 3
    AS $files$
    SELECT 'page.css', $css$:root { color-scheme: light dark; --text: #1b1f24; --back: #ffffff; --soft: #5b6470; --line: #d5dae0; --panel: #f4f6f8; --link: #0a58a8; }
@media (prefers-color-scheme: dark) {
    :root { --text: #e4e8ec; --back: #14171a; --soft: #a3adb8; --line: #3a4149; --panel: #1d2226; --link: #7ab7f5; }
}
@media print {
    :root { color-scheme: light; --text: #000000; --back: #ffffff; --soft: #444444; --line: #bbbbbb; --panel: #ffffff; --link: #000000; }
    nav, select, .skip { display: none; }
    section, figure, table { break-inside: avoid-page; }
    details > * { display: block; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 1rem 3rem; max-width: 1500px; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 1.2rem 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
a { color: var(--link); }
.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; font-size: .9rem; }
.answer { font-size: 1.15rem; background: var(--panel); border-left: 4px solid var(--link); padding: .6rem 1rem; }
.answer p { margin: .3rem 0; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
figure { margin: 0 0 1rem; }
.verdict { display: block; width: 100%; max-width: 600px; height: auto; }
.chart { width: 100%; min-height: 340px; }
.wide { overflow-x: auto; }
.wide:focus-visible, a:focus-visible, select:focus-visible, summary:focus-visible { outline: 3px solid var(--link); }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; overflow-wrap: normal; min-width: 4.5rem; max-width: 34rem; }
td.long { overflow-wrap: anywhere; min-width: 9rem; }
tr.differs th::after { content: " \2260"; color: var(--link); }
pre { background: var(--panel); padding: .6rem; overflow-x: auto; font-size: .85rem; white-space: pre-wrap; }
.severity { font-weight: 600; }
summary { cursor: pointer; }
select { font: inherit; max-width: 100%; color: var(--text); background: var(--panel); border: 1px solid var(--line); }
footer { margin-top: 3rem; }
$css$
    UNION ALL SELECT 'page.js', $js$// Draws the charts of the page, one after the other, so that the first is seen at once. Their data stand in the page as JSON.
'use strict';
(function () {
    var charts = JSON.parse(document.getElementById('charts').textContent);
    var dark = window.matchMedia('(prefers-color-scheme: dark)');
    var still = window.matchMedia('(prefers-reduced-motion: reduce)');
    var drawn = 0;

    function colour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }

    function layoutOf(chart) {
        var layout = JSON.parse(JSON.stringify(chart.layout));
        var narrow = window.innerWidth < 700;
        layout.paper_bgcolor = layout.plot_bgcolor = 'rgba(0,0,0,0)';
        layout.font = { family: 'system-ui, sans-serif', size: 13, color: colour('--text') };
        layout.margin = { l: narrow ? 45 : 70, r: 10, t: 10, b: 50 };
        layout.height = layout.height || (narrow ? 380 : 440);
        layout.legend = { orientation: 'h', y: 1.02, yanchor: 'bottom', x: 0 };
        layout.showlegend = true;
        layout.modebar = { bgcolor: 'rgba(0,0,0,0)', color: colour('--soft'), activecolor: colour('--text') };
        layout.hoverlabel = { namelength: -1 };
        layout.transition = { duration: still.matches ? 0 : 200 };
        Object.keys(layout).forEach(function (name) {
            if (/^[xy]axis/.test(name)) {
                layout[name].gridcolor = layout[name].zerolinecolor = colour('--line');
            }
        });
        return layout;
    }

    function draw(chart, place, data) {
        var config = { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: '',
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

    function prepare(chart) {
        var place = document.getElementById('chart-' + chart.id);
        var choice = document.getElementById('choice-' + chart.id);
        chart.place = place;
        chart.current = function () {
            return JSON.parse(JSON.stringify(chart.choices ? chart.choices[choice ? choice.selectedIndex : 0].data : chart.data));
        };
        if (choice) {
            choice.addEventListener('change', function () {
                draw(chart, place, chart.current());
            });
        }
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

    dark.addEventListener('change', colourAgain);
    next();
}());
$js$
    UNION ALL SELECT 'plotly.js', $plotly$$plotly$
    $files$;
COMMENT ON FUNCTION fsbench._report_files IS 'Style and scripts of pages: page.css, page.js, and plotly.js (MIT licence, Copyright Plotly, Inc.), which draws the charts. Private';

CREATE FUNCTION fsbench._report(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean,
    OUT page text, OUT refusal text[])
    LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp COST 100000
    AS $python$
# Whatever comes from outside (names, labels, settings, errors) goes through here on its way into a page.
import base64
import hashlib
import html as html_module
import json
import math
import re

# Marks that change the direction of text, or are not seen at all: shown by their numbers.
UNSEEN = re.compile('[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]')


def visible(text):
    """The text with nothing in it that hides or reorders what stands beside it."""
    return UNSEEN.sub(lambda found: '[U+%04X]' % ord(found.group()), str(text))


def ascii_only(text):
    """The same page in any encoding of database and client."""
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
    elif size >= 9.995:
        text = '%.1f' % value
    elif size >= 1:
        text = '%.2f' % value
    elif size == 0:
        text = '0'
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
        refuse('22023', 'experiment "%s" does not exist' % visible(name), 'There is no experiment of this name in this database.',
               'See fsbench.experiments.')
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
    if None in ids or not ids:
        refuse('22023', 'run_ids must name runs', 'It is empty, or has a NULL.', "Call it as in SELECT fsbench.report(run_ids => '{7,8}').")
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
    answer = ['%s made %s' % (run['target'].capitalize(), figure(run['metric_median'], 'operations per second' if run['workload'] == 'fsync' else 'tps'))
              for run in runs if run['metric_median'] is not None]
    answer = ['; '.join(answer) or 'These runs have no transactions',
              'Single runs decide nothing: how much such runs differ by themselves is not known; fsbench.experiment() has targets take turns']
    if len(runs) == 2:
        for row in query('SELECT metric, says FROM fsbench.compare_runs($1, $2)', ['bigint', 'bigint'], ids):
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


def read_rest(model):
    """What experiments and loose runs have in common."""
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
    model['findings'] = take('SELECT * FROM fsbench.findings($1)', ids)
    model['environment'] = read_environment(model['groups'])
    model['diff'] = [dict(row, against=group['name']) for group in model['groups'][1:] for row in query(
        "SELECT area, name, a, b, matters, why FROM fsbench.diff($1, $2) WHERE matters <> 'hardly' LIMIT 60", ['bigint', 'bigint'],
        [chosen[0], group['chosen']])]
    model['calls'] = calls(model)
    of_run = query('SELECT e.server_version, e.processors, e.processor_model, e.memory_bytes::float8, e.device_model, e.virtualization, r.workload, r.scale, '
                   'r.clients, r.measured_ms FROM fsbench.run_log r LEFT JOIN fsbench.environment e USING (run_id) WHERE r.run_id = $1',
                   ['bigint'], [chosen[0]])[0]
    model['caption'] = caption(model, of_run)


def caption(model, facts):
    version = facts['server_version'] or ''
    parts = [count(len(model['nights']), 'night') if 'nights' in model else count(len([block for block in model['blocks'] if block['counts']]), 'run'),
             'workload %s' % facts['workload'] + (', scale %s' % facts['scale'] if facts['scale'] else '')
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
        if value is None or value is False or name in ('experiment', 'start', 'run'):
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

# The verdict picture: plain SVG, for the page, for print and for blogs.

# Of Okabe and Ito: told apart by those who see few colours, on white and on black.
COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8c6bb1', '#999999']
TICKS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]
WIDTH = 380


def colour(number):
    return COLOURS[number % len(COLOURS)]


def verdict_words(row):
    words = row.get('verdict') or 'no verdict yet'
    return words + (', not as durable' if row.get('same_durability') is False else '')


def reference_of(model):
    return 'ratio to ' + (model['baseline'] if model['baseline'] is not None else 'what each is compared with')


def verdict_text(model):
    """What the picture shows, for those who cannot see it."""
    rows = ['%s: %s%s' % (row['target'], verdict_words(row), ', ' + ratio_in_words(row) if row.get('ratio') is not None else '')
            for row in model['verdicts']]
    return '%s, %s. %s.' % (model['metric'], reference_of(model), '; '.join(rows))


def verdict_svg(model, standalone):
    rows = [row for row in model['verdicts']]
    points = {}
    for block in model['blocks']:
        if block['ratio'] is not None and block['ratio'] > 0:
            points.setdefault(block['target'], []).append(block)
    ends = [value for row in rows for value in (row['ratio'], row['low'], row['high']) if value and value > 0]
    ends += [block['ratio'] for row in rows for block in points.get(row['target'], [])]
    margin = (rows[0]['margin_low'], rows[0]['margin_high']) if rows else (1 / 1.05, 1.05)
    ends += [margin[0] / 1.03, margin[1] * 1.03]
    ends = [min(max(end, 0.01), 100) for end in ends]
    low, high = math.log(min(ends)) - 0.02, math.log(max(ends)) + 0.02
    left, right, top, step = 14, WIDTH - 14, 34, 46

    def x(ratio):
        ratio = min(max(ratio, 0.01), 100)
        return round(left + (math.log(ratio) - low) / (high - low) * (right - left), 1)

    bottom = top + step * max(len(rows), 1)
    caption = wrapped(model['caption'], 62) if standalone else []
    height = bottom + 30 + 14 * len(caption)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" %srole="img" aria-label="%s" font-family="system-ui,sans-serif" '
           'font-size="13"%s>' % (WIDTH, height, 'width="%d" height="%d" color="#222" ' % (WIDTH, height) if standalone else 'class="verdict" ',
                                  h(verdict_text(model)), '')]
    if standalone:
        out.append('<rect width="100%" height="100%" fill="#fff"/>')
    out.append('<text x="%d" y="18" fill="currentColor" font-weight="600">%s</text>' % (left, h(shortened('%s, %s' % (model['metric'], reference_of(model)), 50))))
    out.append('<rect x="%s" y="%d" width="%s" height="%d" fill="currentColor" opacity="0.12"><title>within the margin: does not count</title></rect>'
               % (x(margin[0]), top - 6, round(x(margin[1]) - x(margin[0]), 1), bottom - top + 10))
    out.append('<line x1="%s" x2="%s" y1="%d" y2="%d" stroke="currentColor"/>' % (x(1), x(1), top - 6, bottom + 4))
    names = [target['target'] for target in model['targets']]
    for number, row in enumerate(rows):
        y = top + step * number
        shade = colour(names.index(row['target']) if row['target'] in names else number)
        out.append('<text x="%d" y="%d" fill="currentColor">%s</text>' % (left, y + 10, h('%s: %s' % (shortened(visible(row['target']), 26), verdict_words(row)))))
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
    taken = []
    for tick in sorted([tick for tick in TICKS if low <= math.log(tick) <= high], key=lambda tick: abs(math.log(tick))):
        if all(abs(x(tick) - other) > 34 for other in taken):
            taken.append(x(tick))
            out.append('<text x="%s" y="%d" fill="currentColor" text-anchor="middle" font-size="12">%g</text>' % (x(tick), bottom + 20, tick))
    for number, line in enumerate(caption):
        out.append('<text x="%d" y="%d" fill="currentColor" font-size="11">%s</text>' % (left, bottom + 40 + 14 * number, h(line)))
    out.append('</svg>')
    return ''.join(out)


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


def chart(identity, title, text, data, layout, choices=None):
    return {'id': identity, 'title': title, 'text': text, 'data': data, 'layout': layout, 'choices': choices}


def axis(title, **more):
    return dict({'title': {'text': title}, 'automargin': True}, **more)


def line(name, number, **more):
    return dict({'type': 'scatter', 'mode': 'lines', 'name': plotly(name), 'line': {'color': colour(number), 'width': 1.5, 'dash': DASHES[number % 8]}}, **more)


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
        name = group['name'] if len(group['runs']) == 1 else '%s, run %s' % (group['name'], group['chosen'])
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
    layout = {'xaxis': axis('seconds of the measured window'), 'yaxis': axis('transactions per second', rangemode='tozero'), 'hovermode': 'x unified'}
    if any(trace.get('yaxis') == 'y2' for trace in first):
        layout['xaxis']['anchor'] = 'y2'
        layout['yaxis']['domain'] = [top, 1]
        layout['yaxis2'] = {'domain': [0, top - 0.04], 'showticklabels': False, 'fixedrange': True, 'showgrid': False, 'zeroline': False}
    return chart('tps', 'Transactions by second', '; '.join(said) + '. Thick lines below are checkpoints, crosses are stalls', None, layout, choices)


def latency(model, is_commit):
    data, said = [], []
    ticks = [50, 75, 90, 95, 99, 99.5, 99.9]
    place = lambda percentile: round(-math.log10(1 - percentile / 100), 4)
    for number, group in enumerate(model['groups']):
        rows = [row for row in model['latency'] if row['name'] == group['name'] and row['is_commit'] == is_commit and row['ms']]
        if rows:
            data.append(line(group['name'], number, x=[place(row['percentile']) for row in rows], y=three_digits([row['ms'] for row in rows]),
                             mode='lines+markers', marker={'symbol': SYMBOLS[number % 8]}))
            by = {row['percentile']: row['ms'] for row in rows}
            said.append('%s: half took at most %s, 99 %% at most %s' % (group['name'], milliseconds(by.get(50)), milliseconds(by.get(99))))
    if not data:
        return None
    layout = {'xaxis': axis('percentile', tickvals=[place(tick) for tick in ticks], ticktext=['p%g' % tick for tick in ticks]),
              'yaxis': axis('ms', type='log')}
    return chart('commit' if is_commit else 'latency', 'Duration of COMMIT' if is_commit else 'Latency of transactions',
                 '; '.join(said), data, layout)


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
                 {'xaxis': axis('runs, as they were made'), 'yaxis': axis(plotly(model['metric']), rangemode='tozero')})


def waits(model):
    choices, said = [], []
    for group in model['groups']:
        rows = [row for row in model['waits'] if row['run_id'] == group['chosen']]
        if not rows:
            continue
        total = {}
        for row in rows:
            total[row['wait']] = total.get(row['wait'], 0) + row['samples']
        most = sorted(total, key=total.get, reverse=True)[:7]
        pieces = sorted({row['piece'] for row in rows})
        size = rows[0]['size']
        of_piece = {}
        for row in rows:
            name = row['wait'] if row['wait'] in most else 'other'
            of_piece[name, row['piece']] = of_piece.get((name, row['piece']), 0) + row['samples']
        sums = {piece: sum(value for (_, at), value in of_piece.items() if at == piece) for piece in pieces}
        names = most + (['other'] if len(total) > len(most) else [])
        data = [{'type': 'scatter', 'mode': 'lines', 'stackgroup': 'one', 'name': plotly(name), 'x': [piece * size for piece in pieces],
                 'y': three_digits([100 * of_piece.get((name, piece), 0) / sums[piece] for piece in pieces]),
                 'line': {'color': colour(number), 'width': 0.5}} for number, name in enumerate(names)]
        choices.append({'name': '%s, run %s' % (group['name'], group['chosen']), 'data': data})
        said.append('%s: %s' % (group['name'], ', '.join('%s %.0f %%' % (name, 100 * total[name] / sum(total.values())) for name in most[:3])))
    if not choices:
        return None
    return chart('waits', 'What clients waited for', '; '.join(said), None,
                 {'xaxis': axis('seconds of the measured window'), 'yaxis': axis('% of the time', range=[0, 100])}, choices)


def machine(model):
    choices, said = [], []
    panels = [('y', 'MB/s', ['device writes'], 1e-6), ('y2', '%', ['user', 'system', 'iowait', 'steal', 'device busy'], 1), ('y3', 'MB', ['dirty', 'writeback'], 1e-6),
              ('y4', 'ms', ['flush'], 1)]
    for group in model['groups']:
        row = model['machine'].get(group['chosen'])
        data, number = [], 0
        for name_of_axis, _, names, factor in panels:
            for name in names:
                if row and any(value is not None for value in row[name]):
                    data.append(line(name, number, yaxis=name_of_axis, **series(row['second'], [None if value is None else value * factor for value in row[name]])))
                number += 1
        if data:
            choices.append({'name': '%s, run %s' % (group['name'], group['chosen']), 'data': data})
            parts = [(name, [value for value in row[name] if value is not None], unit, factor) for _, unit, names, factor in panels for name in names]
            said.append('%s: %s' % (group['name'], ', '.join('%s %s' % (name, figure(median(values) * factor, unit)) for name, values, unit, factor in parts
                                                          if values and name in ('device writes', 'flush', 'user', 'dirty'))))
    if not choices:
        return None
    layout = {'xaxis': axis('seconds of the measured window', anchor='y4'), 'height': 620}
    for at, (name_of_axis, unit, names, _) in enumerate(panels):
        layout[name_of_axis.replace('y', 'yaxis')] = axis('flush, ms' if unit == 'ms' else unit, domain=[1 - 0.25 * (at + 1) + 0.03, 1 - 0.25 * at - 0.03], rangemode='tozero')
    return chart('machine', 'Device, processors and dirty memory', 'Medians. ' + '; '.join(said), None, layout, choices)


def scans(model):
    data, said = [], []
    for number, run in enumerate(dict.fromkeys(row['run_id'] for row in model['scans'])):
        rows = [row for row in model['scans'] if row['run_id'] == run]
        name = 'run %s (%s)' % (run, rows[0]['target'])
        data.append(line(name, number, x=[row['degree'] for row in rows], y=three_digits([row['gb_per_second'] for row in rows]), mode='lines+markers',
                         error_y={'type': 'data', 'symmetric': False, 'array': three_digits([row['highest_gb_per_second'] - row['gb_per_second'] for row in rows]),
                                  'arrayminus': three_digits([row['gb_per_second'] - row['lowest_gb_per_second'] for row in rows])},
                         marker={'symbol': ['star' if row['is_knee'] else SYMBOLS[number % 8] for row in rows], 'size': [14 if row['is_knee'] else 7 for row in rows]}))
        knee = [row['degree'] for row in rows if row['is_knee']]
        said.append('%s: up to %s, %s' % (name, figure(max(row['gb_per_second'] for row in rows), 'GB/s'), 'knee at %d' % knee[0] if knee else 'no knee found'))
    return data and chart('scans', 'Parallel scans', '; '.join(said) + '. A star is the knee', data,
                          {'xaxis': axis('parallel workers'), 'yaxis': axis('GB/s', rangemode='tozero')})


def fsync(model):
    data, said = [], []
    for number, run in enumerate(dict.fromkeys(row['run_id'] for row in model['fsync'])):
        rows = [row for row in model['fsync'] if row['run_id'] == run and row['method'] != 'none']
        if not rows:
            continue
        name = 'run %s (%s)' % (run, rows[0]['target'])
        labels = ['%s, %s' % (row['method'], count(row['writers'], 'writer')) + (', %s' % count(row['writes'], 'write') if row['writes'] > 1 else '') for row in rows]
        for at, (percentile, symbol) in enumerate((('p50', 'circle'), ('p99', 'triangle-up'), ('max', 'x'))):
            data.append({'type': 'scatter', 'mode': 'markers', 'name': '%s, %s' % (plotly(name), percentile), 'x': labels,
                         'y': three_digits([row['latency_%s_ms' % percentile] for row in rows]), 'marker': {'color': colour(number), 'symbol': symbol, 'size': 9}})
        best = min((row for row in rows if row['latency_p99_ms'] is not None), key=lambda row: row['latency_p99_ms'], default=None)
        if best:
            said.append('%s: least p99 %s by %s' % (name, milliseconds(best['latency_p99_ms']), best['method']))
    return data and chart('fsync', 'What a sync takes', '; '.join(said), data, {'xaxis': axis(''), 'yaxis': axis('ms', type='log')})


def recovery(model):
    data, said = [], []
    of_run = {row['run_id']: row for row in model['recovery']}
    for number, group in enumerate(model['groups']):
        rows = [of_run[run] for run in group['runs'] if run in of_run and of_run[run]['recovery_ms'] is not None]
        if rows:
            values = [row['recovery_ms'] / 1000 for row in rows]
            name = plotly(group['name'])
            # A box says nothing of a few points.
            data.append({'type': 'box' if len(rows) >= 20 else 'scatter', 'mode': 'markers', 'name': name, 'x': [name] * len(rows), 'y': three_digits(values),
                         'marker': {'color': colour(number), 'symbol': SYMBOLS[number % 8], 'size': 9}})
            said.append('%s: median %s' % (group['name'], figure(median(values), 's')))
    return data and chart('recovery', 'Recovery after a crash', '; '.join(said), data, {'xaxis': axis(''), 'yaxis': axis('s', rangemode='tozero')})


def night_by_night(model):
    data, said = [], []
    for number, segment in enumerate(dict.fromkeys(night['segment'] for night in model['nights'])):
        rows = [night for night in model['nights'] if night['segment'] == segment and night['value'] is not None]
        if not rows:
            continue
        name = '%s (segment %s)' % (rows[0]['target'], segment)
        data.append(line(name, number, mode='lines+markers', x=[row['utc'][:19] for row in rows], y=three_digits([row['value'] for row in rows]),
                         text=['run %s' % row['run_id'] for row in rows], marker={
                             'symbol': ['star' if row['status'] == 'changed' else SYMBOLS[number % 8] for row in rows],
                             'size': [16 if row['status'] == 'changed' else 6 for row in rows]}))
        values = [row['value'] for row in rows]
        said.append('%s: %s, last %s, lowest %s, highest %s' % (name, count(len(rows), 'night'), figure(values[-1]), figure(min(values)), figure(max(values))))
    return chart('history', 'Nights', '; '.join(said) + '. A star is the first night of a new level', data,
                 {'xaxis': axis('', type='date'), 'yaxis': axis(plotly(model['metric']), rangemode='tozero')})


def charts(model):
    drawn = [night_by_night(model) if 'nights' in model else None, tps_by_second(model), latency(model, False), latency(model, True), order(model), waits(model), machine(model), scans(model), fsync(model),
             recovery(model)]
    return [one for one in drawn if one]

# The answer and one table, for the mail itself.

COLUMNS = ['target', 'verdict', 'ratio', 'COMMIT p99', 'worst second', 'bytes/transaction', 'recovery', 'durable']


def target_row(row):
    return [row['target'], verdict_words(row) if row.get('verdict') else ('baseline' if row.get('says') is None and row.get('ratio') is None and 'target_number' in row else ''),
            ratio_in_words(row), milliseconds(row['commit_p99_ms']), figure(row['worst_second_tps'], 'tps'), figure(row['device_bytes_per_transaction']),
            milliseconds(row['recovery_ms']), row['durability'] or 'not known']


def table_rows(model):
    rows = []
    for row in model['targets']:
        cells = target_row(row)
        if model['kind'] == 'experiment' and row['target'] == model['baseline']:
            cells[1] = 'baseline'
        rows.append(cells)
    return rows


def sentence(text):
    return text + ('' if text.endswith('.') else '.')


def as_text(model):
    rows = [COLUMNS] + [[visible(cell) for cell in row] for row in table_rows(model)]
    used = [at for at in range(len(COLUMNS)) if any(row[at] for row in rows[1:])]
    width = {at: max(len(row[at]) for row in rows) for at in used}
    lines = [visible(model['title']), ''] + [visible(sentence(text)) for text in model['answer']] + ['']
    for row in rows:
        lines.append('  '.join(row[at].ljust(width[at]) for at in used).rstrip())
    return '\n'.join(lines + ['', visible(model['caption'])]) + '\n'


def as_markdown(model):
    escape = lambda text: re.sub(r'([\\`*_{}\[\]<>#|!~])', r'\\\1', visible(text)).replace('&', '&amp;').replace('\n', ' ').replace('\r', ' ')
    rows = table_rows(model)
    used = [at for at in range(len(COLUMNS)) if any(row[at] for row in rows)]
    lines = ['# ' + escape(model['title']), ''] + [escape(sentence(text)) + '\n' for text in model['answer']]
    lines.append('| ' + ' | '.join(COLUMNS[at] for at in used) + ' |')
    lines.append('|' + '---|' * len(used))
    lines += ['| ' + ' | '.join(escape(row[at]) for at in used) + ' |' for row in rows]
    return '\n'.join(lines + ['', escape(model['caption'])]) + '\n'

# The page: one file, with everything in it.

PARTS = [('cost', 'What it costs'), ('regime', 'Under which conditions'), ('not tested', 'What was not tested')]
PASTE = ['mkfs', 'fstab', 'udev', 'sysctl', 'postgresql.conf']


def table(head, rows, classes=()):
    out = ['<div class="wide" tabindex="0" role="region" aria-label="table"><table><thead><tr>']
    out += ['<th scope="col">%s</th>' % h(cell) for cell in head]
    out.append('</tr></thead><tbody>')
    for number, row in enumerate(rows):
        out.append('<tr%s>' % (' class="differs"' if number < len(classes) and classes[number] else ''))
        for at, cell in enumerate(row):
            text = '' if cell is None else str(cell)
            out.append('<th scope="row">%s</th>' % h(text) if at == 0 else '<td%s>%s</td>' % (' class="long"' if len(text) > 40 else '', h(text)))
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
    return '%s<figure><div class="chart" id="chart-%s" role="img" aria-label="%s"></div><figcaption>%s</figcaption></figure>' % (
        choice, one['id'], h('%s. %s' % (one['title'], one['text'])), h(sentence(one['text'])))


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


def sections(model, drawn):
    of = {one['id']: one for one in drawn}
    together = lambda *names: ''.join('<h3>%s</h3>%s' % (h(of[name]['title']), figure_of(of[name])) for name in names if name in of)
    picture = ''
    if model['verdicts']:
        picture = '<figure>%s<figcaption>%s</figcaption></figure>' % (verdict_svg(model, False), h(
            'Dots are ratios, thick lines their intervals, circles the single blocks. Grey: the margin, within which a difference does not count. '
            'Dashed: not as durable. ' + model['caption'] + '.'))
    paste = [row['says'] for row in model['advice'] if row['part'] in PASTE]
    reasons = ''.join('<li>%s</li>' % h(row['says']) for row in model['advice'] if row['part'] == 'why')
    # The places of lines are needed, and kept, in what is copied.
    listing = lambda lines: '<pre tabindex="0">%s</pre>' % '&#10;'.join(h(line) for line in lines)
    changes = [[night['target'], night['utc'][:10], 'run %s' % night['run_id'], figure(night['before']), figure(night['after']),
                '%.3f (%.3f to %.3f)' % (night['ratio'], night['low'], night['high']), night['differs'] or 'nothing that is known']
               for night in model.get('nights', []) if night['status'] == 'changed']
    nights = figure_of(of['history']) if 'history' in of else ''
    if changes:
        nights += '<h3>Changes of level</h3>' + table(['target', 'first night', 'first run', 'before', 'after', 'ratio', 'what differs there'], changes)
    return [part for part in [
        section('verdict', 'Verdict', picture),
        section('history', 'Night by night', nights),
        section('targets', 'Targets' if model['kind'] == 'experiment' else 'Runs', targets_table(model) + ('<ul>%s</ul>' % reasons if reasons else '')
                + advice_list(model, PARTS)),
        section('seconds', 'Second by second', figure_of(of['tps']) if 'tps' in of else ''),
        section('latencies', 'Latencies', together('latency', 'commit')),
        section('runs', 'Runs and drift', figure_of(of['order']) if 'order' in of else ''),
        section('inside', 'Inside a run', together('waits', 'machine')),
        section('scans', 'Parallel scans', figure_of(of['scans']) if 'scans' in of else ''),
        section('fsync', 'What a sync takes', figure_of(of['fsync']) if 'fsync' in of else ''),
        section('recovery', 'Recovery after a crash', figure_of(of['recovery']) if 'recovery' in of else ''),
        section('findings', 'What can mislead', findings_section(model)),
        section('environment', 'Machine and settings', environment_section(model)),
        section('paste', 'To be pasted', listing(paste) if paste else ''),
        section('repeat', 'How to repeat it', listing(model['calls']) if model['calls'] else '')] if part]


def as_page(model):
    drawn = charts(model)
    parts = sections(model, drawn)
    files = {row['name']: row['text'] for row in query('SELECT name, text FROM fsbench._report_files()')}
    script = files['page.js'].strip()
    library = files['plotly.js'].strip()
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; script-src '%s' '%s'; base-uri 'none'; form-action 'none'" % (
        source_hash(library), source_hash(script))
    title = '%s %s' % ({'experiment': 'Experiment', 'history': 'History'}.get(model['kind'], 'Benchmark:'), model['title'])
    contents = ''.join('<li><a href="#%s">%s</a></li>' % (part['id'], h(part['title'])) for part in parts)
    head = ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="%s">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><title>%s</title><style>%s</style></head><body>'
            '<a class="skip" href="#targets">To the figures</a><header><h1>%s</h1></header><main><div class="answer">%s</div><p class="soft">%s</p>'
            '<nav aria-label="Contents"><ul>%s</ul></nav>') % (
        html_module.escape(policy), h(title), one_line(files['page.css']), h(title), ''.join('<p>%s</p>' % h(sentence(text)) for text in model['answer']),
        h(sentence(model['caption'])), contents)
    foot = ('</main><footer class="soft"><p>Made by pgfsbench. The charts are drawn by plotly.js (MIT licence), which is in this file; nothing is fetched from anywhere.</p></footer>'
            '<noscript><p>The charts need JavaScript; everything else does not.</p></noscript>')
    data = '<script type="application/json" id="charts">%s</script>' % script_json(drawn)
    return ''.join([head] + [part['html'] for part in parts] + [foot, data, '<script>', library, '</script><script>', script, '</script></body></html>'])

# What SQL calls.

FORMATS = {'html': lambda model: as_page(model), 'text': lambda model: as_text(model), 'markdown': lambda model: as_markdown(model),
           'svg': lambda model: verdict_svg(model, True) + '\n'}
# A longer page is refused where it was typed.
MOST_TYPED = 4000000


def report(name, run_ids, label, metric, form, redact, force):
    if form not in FORMATS:
        refuse('22023', 'format must not be null' if form is None else 'format "%s" does not exist' % visible(form), 'A report is a page, or a text for the mail itself.', 'Use html, text or markdown.')
    if [name, run_ids, label].count(None) != 2:
        refuse('22023', 'a report takes an experiment, run_ids, or a history', 'Exactly one of them must be given.',
               "Call it as in SELECT fsbench.report('new server'), or SELECT fsbench.report(run_ids => '{7,8}').")
    if name is not None:
        model, arguments = read_experiment(name), literal(name)
    elif label is not None:
        model, arguments = read_history(label, metric), 'history => ' + literal(label)
    else:
        model, arguments = read_runs(run_ids), "run_ids => '{%s}'" % ','.join(map(str, run_ids))
    read_rest(model)
    if redact:
        model = redacted(model)
    made = FORMATS[form](model)
    if form == 'html' and not force and is_typed():
        size = bytes_in_words(len(made))
        detail = 'psql pads each of its lines to the longest one, which makes hundreds of megabytes.'
        command = 'In a shell: psql -XAtqc "SELECT fsbench.report(%s)" -o report.html' % (arguments + (', redact => true' if redact else ''))
        if len(made) > MOST_TYPED:
            refuse('54000', 'a page of %s is not for a terminal' % size, detail, command)
        plpy.notice('a page of %s is not for a terminal' % size, detail=detail, hint=command)
    return made


def is_typed():
    """psql sends what is typed with its semicolon, and what stands after -c as it is."""
    row = query("SELECT pg_catalog.current_setting('application_name') AS program, pg_catalog.current_query() AS query")[0]
    return row['program'] == 'psql' and row['query'].rstrip().endswith(';')


def report_or_refusal(*arguments):
    try:
        return {'page': report(*arguments), 'refusal': None}
    except Refused as refused:
        return {'page': None, 'refusal': list(refused.args)}

return report_or_refusal(experiment, run_ids, history, metric, format, redact, force)
$python$;
COMMENT ON FUNCTION fsbench._report IS 'Makes pages, texts and pictures of experiments, runs and histories, or says why not: SQLSTATE, message, DETAIL and HINT. Private: called by fsbench._page()';

CREATE FUNCTION fsbench._page(experiment text, run_ids bigint[], history text, metric text, format text, redact boolean, force boolean) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
    AS $$
DECLARE
    made record;
BEGIN
    SELECT * INTO made FROM fsbench._report($1, $2, $3, $4, $5, $6, $7);
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

// Draws the charts of the page, one after the other, so that the first is seen at once. Their data stand in the page as JSON.
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

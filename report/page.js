// Draws the charts of the page, one after the other, so that the first is seen at once. Their data stand in the page as JSON.
'use strict';
(function () {
    var charts = JSON.parse(document.getElementById('charts').textContent);
    var dark = window.matchMedia('(prefers-color-scheme: dark)');
    var still = window.matchMedia('(prefers-reduced-motion: reduce)');
    var drawn = 0;
    // Of a sheet of paper, while the page is printed.
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
        layout.height = layout.height || (narrow ? 380 : 440);
        if (printed !== null) {
            layout.width = printed;
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
                    layout[name].tickfont = { size: 11 };
                    layout[name].title = Object.assign({}, layout[name].title, { font: { size: 12 } });
                }
            }
        });
        return layout;
    }

    function draw(chart, place, data) {
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

    // As wide as paper, and dark on light: a chart does not change by itself when it is printed.
    function print(width) {
        printed = width;
        document.documentElement.classList.toggle('printed', width !== null);
        colourAgain();
    }

    dark.addEventListener('change', colourAgain);
    window.addEventListener('beforeprint', function () { print(680); });
    window.addEventListener('afterprint', function () { print(null); });
    next();
}());

use proptest::prelude::*;

use super::{
    Interval, Seconds, Style,
    number::{round_up, short},
};

const STYLE: Style = Style {
    width: 60,
    height: 4,
    ascii: false,
};

fn assert_chart(lines: &[String], expected: &str) {
    let expected = expected.strip_prefix('\n').unwrap_or(expected);
    assert_eq!(lines.join("\n") + "\n", expected);
}

#[test]
fn numbers() {
    for (value, text) in [
        (0.0, "0"),
        (1.0, "1"),
        (0.0123456, "0.0123"),
        (4.5123, "4.51"),
        (45.123, "45.1"),
        (451.9, "452"),
        (999.9, "1k"),
        (4512.0, "4.51k"),
        (12_000.0, "12k"),
        (1_234_567.0, "1.23M"),
        (5e9, "5G"),
        (2e12, "2T"),
        (1e15, "1.00e15"),
        (0.00001, "1.00e-5"),
        (-12.5, "-12.5"),
        (f64::NAN, "unknown"),
    ] {
        assert_eq!(short(value), text, "{value}");
    }
    for (value, top) in [
        (0.0, 1.0),
        (1.0, 1.0),
        (1.01, 1.5),
        (4512.0, 5000.0),
        (9.1, 10.0),
    ] {
        assert_eq!(round_up(value), top, "{value}");
    }
}

#[test]
fn a_run() {
    let mut chart = Seconds {
        title: "run 7: tps".into(),
        values: (0..10).map(|s| Some(100.0 * f64::from(s))).collect(),
        checkpoints: vec![(2.5, 4.0)],
        tps: (0..10).map(|s| Some(100.0 * f64::from(s))).collect(),
    };
    chart.values[5] = None;
    assert_chart(
        &super::seconds(&chart, STYLE),
        "
run 7: tps: lowest 0, median 400, highest 900
         1k ┤                                ▂▂▂▂▅▅▅▅
            ┤                        ▃▃▃▃▆▆▆▆████████
        500 ┤            ▂▂▂▂▅▅▅▅    ████████████████
            ┤    ▃▃▃▃▆▆▆▆████████    ████████████████
          0 └┴───────────────────┴───────────────────
             0                   5 s
checkpoints          ━━━━━━━━
     stalls  ▲▲▲▲
",
    );
    let ascii = Style {
        ascii: true,
        ..STYLE
    };
    assert_chart(
        &super::seconds(&chart, ascii),
        "
run 7: tps: lowest 0, median 400, highest 900
         1k |                                ____####
            |                        ____############
        500 |            ____####    ################
            |    ____############    ################
          0 ++-------------------+-------------------
             0                   5 s
checkpoints          ========
     stalls  ^^^^
",
    );
}

#[test]
fn a_long_run_is_thinned_and_nothing_dropped() {
    let mut values = vec![Some(100.0); 470];
    values[235] = Some(0.0);
    values[100] = Some(200.0);
    let chart = Seconds {
        title: "run 8: tps".into(),
        values,
        ..Seconds::default()
    };
    assert_chart(
        &super::seconds(&chart, STYLE),
        "
run 8: tps: lowest 0, median 100, highest 200
        200 ┤          ░
            ┤          ░
        100 ┤███████████████████████▒███████████████████████
            ┤███████████████████████▒███████████████████████
          0 └┴───────────┴───────────┴───────────┴──────────
             0           2 min       4 min       6 min
each column is 10 s: █ up to the lowest second, ▒ to the
median, ░ to the highest
",
    );
}

#[test]
fn nothing_to_show() {
    let chart = Seconds {
        title: "run 7: x".into(),
        values: vec![None, Some(f64::NAN)],
        ..Seconds::default()
    };
    assert_chart(
        &super::seconds(&chart, STYLE),
        "run 7: x\nno second has this figure\n",
    );
}

#[test]
fn an_experiment() {
    let row = |label: &str, ratio, low, high, remark: &str| Interval {
        label: label.into(),
        ratio,
        low,
        high,
        remark: remark.into(),
    };
    let lines = super::intervals(
        "new server: tps against ext4",
        &[
            row("xfs", Some(1.012), Some(0.99), Some(1.03), "equivalent"),
            row("btrfs", Some(0.41), Some(0.37), Some(0.45), "less"),
            row("zfs", None, None, None, "running"),
        ],
        0.05,
        "the baseline",
        STYLE,
    );
    assert_chart(
        &lines,
        "
new server: tps against ext4
xfs                                       ░░├●░   equivalent
btrfs  ├───●──┤                           ░░│░░   less
zfs                                       ░░│░░   running
      0.36                                  1
├●┤ ratio with its interval; ░ within the margin of 5 %; │
the baseline
",
    );
}

proptest! {
    #[test]
    fn no_line_is_too_wide(
        values in prop::collection::vec(prop::option::of(prop::num::f64::ANY), 0..700),
        ranges in prop::collection::vec((-10.0..800.0f64, 0.0..100.0f64), 0..5),
        stalled in prop::collection::vec(prop::option::of(-1.0..900.0), 0..900),
        width in 0..200usize, height in 0..20usize, ascii: bool, label in "\\PC{0,40}",
    ) {
        let style = Style { width, height, ascii };
        let width = width.max(40);
        let chart = Seconds {
            title: format!("run {}", values.len()),
            checkpoints: ranges.iter().map(|(from, long)| (*from, from + long)).collect(),
            values: values.clone(),
            tps: stalled,
        };
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        let at = |n: usize| known.get(n).copied();
        let rows = [Interval { label: label.clone(), ratio: at(0), low: at(1), high: at(2), remark: label.clone() }];
        let all = [super::seconds(&chart, style), super::intervals("rows", &rows, 0.05, "the baseline", style)];
        for line in all.iter().flatten() {
            prop_assert!(line.chars().count() <= width, "{line}");
            prop_assert!(!ascii || !label.is_ascii() || line.is_ascii(), "{line}");
        }
    }
}

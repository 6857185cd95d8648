use crate::refusal::{Kind, Refusal, check};
use crate::verdict::Run;
use crate::verdict::table::*;

fn array(dimensions: &[usize], values: &[Option<f64>]) -> Array {
    Array {
        dimensions: dimensions.to_vec(),
        values: values.to_vec(),
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Refusal>, message: &str, detail: &str) {
    let refusal = result.unwrap_err();
    check::style(&refusal);
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (Kind::InvalidArgument, message)
    );
    assert!(
        refusal.detail.as_ref().unwrap().contains(detail),
        "{refusal:?}"
    );
}

#[test]
fn metrics_become_logarithms() {
    let values = [Some(1.0), None, Some(std::f64::consts::E), Some(1.0)];
    let rows = targets(&array(&[2, 2], &values), 1).unwrap();
    assert_eq!(rows[0], [Run::Measured(0.0), Run::Missing]);
    assert_eq!(rows[1], [Run::Measured(1.0), Run::Measured(0.0)]);
    assert_eq!(
        baseline(&array(&[1], &values[..1])).unwrap(),
        [Run::Measured(0.0)]
    );
    assert_eq!(baseline(&array(&[], &[])).unwrap(), []);
    assert_eq!(margin(0.05).unwrap(), 0.05_f64.ln_1p());
    assert_eq!(looks(24, 24).unwrap().looks.len(), 7);
}

#[test]
fn metrics_that_cannot_be_compared_are_refused() {
    let one = [Some(1.0)];
    let two_dimensional = "targets is not a two-dimensional array";
    refused(
        targets(&array(&[1], &one), 1),
        two_dimensional,
        "1 dimension.",
    );
    refused(
        targets(&array(&[1, 1, 1], &one), 1),
        two_dimensional,
        "3 dimensions",
    );
    refused(
        targets(&array(&[], &[]), 1),
        "there are too few targets",
        "0 rows",
    );
    refused(
        targets(&array(&[1, 1], &one), 2),
        "there are too few targets",
        "1 row,",
    );
    let many = [Some(1.0); 51];
    refused(
        targets(&array(&[51, 1], &many), 1),
        "there are too many targets",
        "51",
    );
    refused(
        baseline(&array(&[1, 1], &one)),
        "baseline is not a one-dimensional array",
        "2 dim",
    );
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let values = [Some(1.0), Some(value)];
        let message = "a metric is not above zero";
        refused(
            targets(&array(&[2, 1], &values), 1),
            message,
            "target 2 in block 1",
        );
        refused(
            baseline(&array(&[2], &values)),
            message,
            "the baseline in block 2",
        );
    }
    let rows = targets(&array(&[1, 1], &one), 1).unwrap();
    refused(
        same_blocks(&[], &rows),
        "baseline and targets do not have the same blocks",
        "0 blocks",
    );
    assert!(same_blocks(&rows[0], &rows).is_ok());
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    for blocks in [-3, 0, 5, 25, i32::MAX] {
        refused(
            looks(blocks, 3),
            "after max_blocks there is no look",
            "3, 4, 6, 8, 12, 16 or 24",
        );
    }
    refused(
        looks(3, 4),
        "there are more blocks than max_blocks",
        "4 blocks",
    );
    for share in [0.0, -0.05, 1.01, f64::NAN] {
        refused(
            margin(share),
            "margin is not above zero and at most 1",
            "share",
        );
    }
}

#[test]
fn numbers_are_finite_and_not_too_many() {
    assert_eq!(
        numbers("d", &[Some(1.0), None, Some(2.0)], 3).unwrap(),
        [1.0, 2.0]
    );
    assert_eq!(
        nullable("x", &[Some(1.0), None], 2).unwrap(),
        [Some(1.0), None]
    );
    refused(numbers("d", &[None; 4], 3), "d is too long", "4 values");
    refused(
        nullable("x", &[Some(f64::NAN)], 3),
        "a value of x is not finite",
        "NaN",
    );
    refused(
        student_t(1.0, 5.0),
        "there is no such quantile of Student's t",
        "1,",
    );
    refused(
        student_t(0.05, 0.5),
        "there is no such quantile of Student's t",
        "0.5",
    );
    assert!(student_t(f64::NAN, 1.0).is_err() && student_t(0.5, f64::NAN).is_err());
}

#[test]
fn cycles_without_a_meaning_are_refused() {
    let good = [Some(5.0)];
    let read = |rates: &[Option<f64>], scheduled: &[Option<f64>], misses: &[Option<f64>], q| {
        cycles([rates, scheduled, misses], q)
    };
    assert_eq!(read(&good, &good, &good, 0.01).unwrap().len(), 1);
    for q in [0.0, 1.0, f64::NAN] {
        refused(
            read(&good, &good, &good, q),
            "quantile is not between 0 and 1",
            "share",
        );
    }
    refused(
        read(&good, &[], &good, 0.01),
        "rates, scheduled and misses are not equally many",
        "1, 0 and 1",
    );
    let no_meaning = "a cycle has no meaning";
    for bad in [None, Some(0.0), Some(-1.0), Some(f64::NAN)] {
        refused(
            read(&[bad], &good, &good, 0.01),
            if bad.is_some_and(f64::is_nan) {
                "a value of rates is not finite"
            } else {
                no_meaning
            },
            "",
        );
        refused(read(&good, &[bad], &good, 0.01), no_meaning, "number 1");
    }
    for bad in [None, Some(-1.0), Some(5.1), Some(f64::NAN)] {
        refused(read(&good, &good, &[bad], 0.01), no_meaning, "number 1");
    }
    let many = vec![Some(1.0); MOST_VALUES + 1];
    refused(
        read(&many, &many, &many, 0.01),
        "rates is too long",
        "10001",
    );
}

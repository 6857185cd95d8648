//! The acceptance of verdicts by simulation, as far as it takes seconds: of each row of the table some settings, with fewer experiments. With
//! PGFSBENCH_ACCEPTANCE=all it is all of it, in minutes: `bench/run verdicts`, which reads the figures that are printed.

mod acceptance {
    pub mod baseline;
    pub mod course;
    pub mod data;
    pub mod goal_best;
    pub mod nights;
    pub mod queue;
    pub mod rates;
    pub mod table;
}

use acceptance::table::{Effort, ROWS};

fn effort() -> Effort {
    let all = std::env::var("PGFSBENCH_ACCEPTANCE").is_ok_and(|asked| asked == "all");
    if all { Effort::All } else { Effort::Little }
}

/// Every figure of a row is within its bound.
#[track_caller]
fn holds(row: &str) {
    let (_, simulate) = ROWS.iter().find(|(name, _)| *name == row).unwrap();
    let figures = simulate(effort());
    assert!(!figures.is_empty());
    for figure in &figures {
        println!("figure: {figure}");
    }
    let beyond: Vec<String> = (figures.iter())
        .filter(|f| !f.holds())
        .map(ToString::to_string)
        .collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
}

macro_rules! rows {
    ($($test:ident: $row:literal,)*) => {
        $(#[test]
        fn $test() {
            holds($row);
        })*

        #[test]
        fn every_row_is_tested() {
            let tested = [$($row),*];
            let rows: Vec<&str> = ROWS.iter().map(|(row, _)| *row).collect();
            assert_eq!(rows, tested);
        }
    };
}

rows! {
    no_difference_is_seen_under_normal_noise: "1",
    no_difference_is_seen_with_slow_runs: "2",
    no_difference_is_seen_with_clock_states: "3",
    no_difference_is_seen_under_drift: "4",
    no_difference_is_seen_under_unequal_noise: "5",
    exactly_the_margin_is_not_equivalent: "6",
    the_same_at_half_a_percent: "7",
    the_same_at_one_and_a_half_percent: "8",
    five_percent_are_seen: "9",
    ten_percent_are_seen_at_three: "10",
    much_noise_hides_ten_percent_and_not_twenty: "11",
    slow_runs_cost_little: "12",
    hopeless_noise_is_given_up: "13",
    intervals_hold_at_the_stop: "14",
    the_best_is_in_the_answer: "15",
    few_are_thrown_out_or_taken_in_wrongly: "15a",
    what_is_close_stays_in: "15b",
    runs_until_the_best_is_known: "15c",
    rates_are_found: "16",
    changes_of_level_are_seen: "17",
    the_order_balances_what_runs_leave_behind: "18",
    an_early_end_and_an_extension_cost_little: "19",
    bad_nights_are_seen: "20",
    who_cannot_keep_a_rate_is_seen: "21",
    half_of_the_runs_are_saved: "22",
}

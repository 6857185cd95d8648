//! Limits and ranges of the specification of TPC-C.

use crate::finding_row::Text;

/// Three digits, or all of a whole number.
fn number(value: f64) -> String {
    let whole_digits = value.abs().max(1.0).log10() as usize + 1;
    let factor = 10f64.powi(3usize.saturating_sub(whole_digits) as i32);
    ((value * factor).round() / factor).to_string()
}

/// Types of transactions, each with the 90th percentile of its response time and the limit, in milliseconds.
pub fn response_time_limit(over: &[(&str, f64, f64)]) -> Text {
    let seconds = |ms: f64| number(ms / 1000.0);
    let over = over.iter().map(|(transaction, p90, limit)| {
        let (p90, limit) = (seconds(*p90), seconds(*limit));
        format!("{transaction} {p90} s (at most {limit} s)")
    });
    let message = format!(
        "the 90th percentile of the response time is over its limit: {}",
        over.collect::<Vec<_>>().join(", ")
    );
    let hint = "Clause 5.2.5.3 of TPC-C allows no more: do not take NOTPM for the rate that this storage sustains. Use fewer clients or a lower rate.";
    Text::new("response_time_limit", message, hint)
}

/// New-Orders a minute for each warehouse, and the most that the specification allows.
pub fn not_paced(per_warehouse: f64, most: f64) -> Text {
    let message = format!(
        "{} New-Orders a minute for each warehouse; terminals with keying and thinking times make at most {most}",
        number(per_warehouse)
    );
    let hint = "Compare NOTPM only with runs of as many warehouses and clients without these times. The option \"waits\" has them.";
    Text::new("not_paced", message, hint)
}

/// An input that clause 9.2.2.5 has a range for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    Rollbacks,
    Lines,
    RemoteLines,
    RemotePayments,
    ByName,
}

/// An input outside its range. All but the lines of an order are shares in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missed {
    pub input: Input,
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Missed {
    fn words(&self) -> String {
        let (name, unit) = match self.input {
            Input::Rollbacks => ("rollbacks", " %"),
            Input::Lines => ("lines of an order", ""),
            Input::RemoteLines => ("remote lines", " %"),
            Input::RemotePayments => ("remote payments", " %"),
            Input::ByName => ("payments by last name", " %"),
        };
        let value = number(self.value);
        format!("{name} {value}{unit} ({} to {})", self.low, self.high)
    }
}

pub fn inputs_out_of_range(missed: &[Missed], has_remote: bool) -> Text {
    let missed: Vec<String> = missed.iter().map(Missed::words).collect();
    let message = format!(
        "inputs are outside the ranges of the specification: {}",
        missed.join(", ")
    );
    let hint = match has_remote {
        true => {
            "The figures are of another mix of inputs than those of other runs: report a bug in pgfsbench."
        }
        false => {
            "Without remote inputs clients of different warehouses meet less often: compare only with runs with {\"remote\": false}."
        }
    };
    Text::new("inputs_out_of_range", message, hint)
}

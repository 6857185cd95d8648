mod cases;
mod input;
mod properties;
mod search;
mod vectors;

use super::Run;

fn delta() -> f64 {
    0.05_f64.ln_1p()
}

/// ln metric, NaN where a run is missing.
fn runs(values: &[f64]) -> Vec<Run> {
    let run = |x: &f64| {
        if x.is_nan() {
            Run::Missing
        } else {
            Run::Measured(*x)
        }
    };
    values.iter().map(run).collect()
}

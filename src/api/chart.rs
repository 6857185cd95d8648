//! Charts of characters.

use pgfsbench_core::chart::{Chart, HEIGHTS, Style, WIDTHS};
use pgrx::{iter::SetOfIterator, pg_extern, pg_sys::panic::ErrorReport};

use crate::{
    errors::{Fault, sqlstate},
    pg::text::{self, Document},
};

#[pg_extern(sql = false)]
fn fsbench_chart(
    what: Document,
    width: i32,
    height: i32,
    ascii: bool,
) -> Result<SetOfIterator<'static, Vec<u8>>, ErrorReport> {
    let style = Style {
        width: within("width", width, WIDTHS)?,
        height: within("height", height, HEIGHTS)?,
        ascii,
    };
    let chart: Chart = serde_json::from_value(what.0).map_err(|e| {
        Fault::new(
            sqlstate::INVALID_PARAMETER,
            "this is no chart that can be drawn",
        )
        .detail(format!("{e}."))
        .hint("Call fsbench.chart(), which puts it together.")
    })?;
    let lines = chart.draw(style).into_iter();
    Ok(SetOfIterator::new(lines.map(|line| text::to_server(&line))))
}

fn within(name: &str, value: i32, bounds: std::ops::RangeInclusive<usize>) -> Result<usize, Fault> {
    let arguments = usize::try_from(value).ok();
    arguments
        .filter(|value| bounds.contains(value))
        .ok_or_else(|| {
            Fault::new(
                sqlstate::INVALID_PARAMETER,
                format!("{name} must be from {} to {}", bounds.start(), bounds.end()),
            )
            .detail(format!("It is {value}."))
            .hint("Leave it out for what fits a terminal.")
        })
}

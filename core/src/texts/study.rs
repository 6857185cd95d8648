//! Studies: what is not tested, how claims are decided, and the announcement.

pub mod announced;
pub mod claims;
pub mod not_tested;

/// The remark on a figure: why ours is missing, and options that are gone (the option, since when, and what stands in for it).
pub fn remark(
    not_tested: Option<&str>,
    gone: &[[&str; 3]],
    author: Option<&str>,
) -> Option<String> {
    let not_tested = not_tested.map(|why| format!("not tested: {why}"));
    let gone = gone.iter();
    let gone =
        gone.map(|[option, since, instead]| format!("{option} is gone since {since}: {instead}"));
    let parts = not_tested.into_iter().chain(gone);
    let parts: Vec<String> = parts.chain(author.map(str::to_owned)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

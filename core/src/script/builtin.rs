//! pgbench's own scripts, by their names.

const SCRIPTS: [(&str, &str); 3] = [
    ("tpcb-like", include_str!("builtin/tpcb-like.sql")),
    ("simple-update", include_str!("builtin/simple-update.sql")),
    ("select-only", include_str!("builtin/select-only.sql")),
];

/// Names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCRIPTS.into_iter().map(|(name, _)| name)
}

/// The name and text of the one script whose name begins so.
pub fn find(beginning: &str) -> Option<(&'static str, &'static str)> {
    let exact = SCRIPTS.into_iter().find(|(name, _)| *name == beginning);
    let mut like = (SCRIPTS.into_iter()).filter(|(name, _)| name.starts_with(beginning));
    exact.or_else(|| like.next().filter(|_| like.next().is_none()))
}

//! Studies: published benchmarks as data, each of which one call repeats, and the authors' claims judged by what was measured here.
//!
//! A study is a file that a person can read ([`definition`], [`builtin`]): its claims first, then the variants, the questions (each
//! becomes one experiment), and the published figures. [`plan`] turns it into targets and experiments for this machine, and
//! says what is left out and why; [`said`] tells that beforehand; [`claims`], [`report`] and [`pairs`] say what came out. All of it is a pure function of what is stored.

pub mod announcement;
pub mod arguments;
pub mod builtin;
pub mod check;
pub mod claims;
pub mod definition;
pub mod evidence;
pub mod figure;
pub mod not_tested;
pub mod pairs;
pub mod plan;
pub mod report;

//! The table of texts: each function makes the words of one code from its values. Rooms above decide on codes, and have no sentences.

pub mod answer;
pub mod difference;
pub mod doctor;
pub mod durability;
pub mod finding;
pub mod plan;
pub mod power_cut;
pub mod recommend;
pub mod steps;
pub mod study;
pub mod verdict;

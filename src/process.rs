//! The processes of a run and their mains; each runs in a background worker of its own.

pub mod client;
pub mod conductor;
pub mod coordinator;
mod frame;
pub mod helper_worker;
pub mod janitor;
pub mod sampler;
pub mod worker;

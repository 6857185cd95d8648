//! pgfsbench-helper, as root and with loop devices: what it makes is there and what it removes is gone, whatever happens in
//! between; and what it must not do it does not do.

mod askers;
mod asking;
mod bench;
mod connection;
mod contents;
mod crash;
mod devices;
mod discard;
mod disk;
mod exchange;
mod hostile;
mod images;
mod jobs;
mod kills;
mod lab;
mod logs;
mod machine;
mod misfortune;
mod noticed;
pub mod processes;
mod promise;
mod random_kills;
mod refusals;
mod remount;
mod runs;
mod runs_luck;
mod scan;
mod scene;
mod settings;
mod setup;
mod unseen;
mod untold;
mod words;
mod zfs;

//! The parts of pgfsbench that need no PostgreSQL: what can be decided, computed or parsed without a server is
//! here, in plain safe Rust, and is tested here in seconds. It does not know pgrx.
//!
//! Purpose of each module (the floors are below):
//! - [`workload`]: each workload in its folder; with it what a caller asked for becomes a full specification of a run, or is refused.
//! - [`spec`]: that specification, what a workload is to the rest, and the check of each argument.
//! - [`finding`]: what can mislead about a run, afterwards, and beforehand for [`doctor`].
//! - [`difference`]: the differences between two runs, and which of them are likely to matter.
//! - [`allowance`]: how much is taken from a server that one does not know.
//! - [`board`]: what lies in shared memory while it runs, one writer a field.
//! - [`btree`]: pages of an index, made from sorted keys.
//! - [`checkpoint`]: what the server's messages say of checkpoints, and which of them belong to a measured window.
//! - [`pacing`]: when a client's transactions are due under a rate.
//! - [`helper`]: what the helper is asked for, and which options of mkfs and mount it accepts.
//! - [`random`]: streams of random numbers that are the same on every machine.
//! - [`hist`]: latency histograms, in shared memory and to compute with.
//! - [`chart`]: charts of characters.
//! - [`loading`]: rows that are loaded past SQL.
//! - [`knee`]: where a scaling curve stops rising.
//! - [`io_rings`]: how much locked memory servers take for io_uring.
//! - [`session_settings`]: settings of sessions under which our SQL is written.
//! - [`server_setting`]: which settings a target's server may be given.
//! - [`statement`], [`statistics`]: pg_stat_statements and core's statistics views over a run.
//! - [`run`]: what is decided in a run's life, its plan, and what its row says of it.
//! - [`script`]: pgbench's scripts, compiled, with the same values, random numbers and errors.
//! - [`seconds`]: the seconds of a run as they are stored.
//! - [`environment`]: where a run happens, as it is stored.
//! - [`target`]: what defines a target.
//! - [`doctor`]: requirements of benchmarks, and whether they are met here.
//! - [`sqlstate`]: the codes of errors, and what follows from one.
//! - [`series`]: moments, stalls and drift of a run's seconds.
//! - [`proc`]: mounts, memory and processors from the texts in /proc.
//! - [`sys`]: devices below a filesystem and the machine, from /sys and /proc.
//! - [`units`]: sizes and scales, parsed and written.
//! - [`rows`]: what all rows of the tables of results have in common.
//! - [`error_texts`]: texts of errors without values of a user's data.
//! - [`escape`]: texts from elsewhere, fit to be shown.
//! - [`file_attributes`]: attributes of files and directories that change how they are written.
//! - [`work_database`]: by what a run's own database is told from everybody else's.
//! - [`quoting`]: texts in commands for pasting.
//! - [`verification`]: checks of the data of a run, and their outcomes.
//! - [`verdict`]: is the difference between targets real, and which is best?
//! - [`experiment`]: which runs are made for a verdict, and what is said of them.
//! - [`study`]: published benchmarks as data, repeated here, and their claims judged.
//! - [`recorded_statements`]: a script of what pg_stat_statements has recorded.
//! - [`recovery_log`]: what a server's log says of its recovery.
//! - [`orphaned_data`]: when prepared data that no database has are removed.
//! - [`written`]: write amplification.
//! - [`texts`]: the sentences of findings, durability, verdicts, advice, plans, studies and power cuts.
//! - [`wording`]: the way of every sentence, so that tests can take them away.
//! - [`refusal`]: why something is not done, and the SQLSTATE of each kind.
//!
//! Floors, from the roof down (`tools/check arrows`). A file and the folder of its name are one thing, and may import each other. A room of a
//! few functions is a single file.
//!
//! ```text
//! doctor study
//! experiment
//! run
//! difference environment finding seconds target
//! workload
//! texts
//! spec
//! sys helper
//! proc io_rings
//! board chart knee pacing server_setting statement units verdict verification
//! allowance btree checkpoint error_texts file_attributes finding_row hist loading orphaned_data quoting random recorded_statements recovery_log refusal script series statistics work_database written
//! escape rows session_settings sqlstate wording
//! ```
#![forbid(unsafe_code)]
// A test may go through a long list.
#![cfg_attr(test, allow(clippy::too_many_lines))]

pub mod allowance;
pub mod board;
pub mod btree;
pub mod chart;
pub mod checkpoint;
pub mod difference;
pub mod doctor;
pub mod environment;
pub mod error_texts;
pub mod escape;
pub mod experiment;
pub mod file_attributes;
pub mod finding;
pub mod finding_row;
pub mod helper;
pub mod hist;
pub mod io_rings;
pub mod knee;
pub mod loading;
pub mod orphaned_data;
pub mod pacing;
pub mod proc;
pub mod quoting;
pub mod random;
pub mod recorded_statements;
pub mod recovery_log;
pub mod refusal;
pub mod rows;
pub mod run;
pub mod script;
pub mod seconds;
pub mod series;
pub mod server_setting;
pub mod session_settings;
pub mod spec;
pub mod sqlstate;
pub mod statement;
pub mod statistics;
pub mod study;
pub mod sys;
pub mod target;
pub mod texts;
pub mod units;
pub mod verdict;
pub mod verification;
pub mod wording;
pub mod work_database;
pub mod workload;
pub mod written;

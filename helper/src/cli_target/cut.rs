//! Power cuts on the command line.

use super::{TargetName, word};
use crate::engine::{Engine, Hook, Tell};
use clap::Subcommand;
use pgfsbench_core::helper::record::{Cut, CutStop, Fault, Window};
use pgfsbench_core::refusal::Refusal;
use serde_json::Value;

#[derive(Subcommand)]
pub enum CutAction {
    /// End the recording of a target, unmount it, and choose moments for power cuts
    CutStop {
        #[command(flatten)]
        target_name: TargetName,
        /// Number of moments
        #[arg(long, default_value_t = 0)]
        cuts: u32,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// No moment is earlier (CLOCK_MONOTONIC, in nanoseconds)
        #[arg(long, default_value_t = 0)]
        from_ns: u64,
        /// No moment is later
        #[arg(long, default_value_t = u64::MAX)]
        to_ns: u64,
        #[command(flatten)]
        hook: Hook,
    },
    /// Mount a target as a power cut would have left it
    Cut {
        #[command(flatten)]
        target_name: TargetName,
        /// Number of writes, flushes and discards that have reached its disk before
        #[arg(long)]
        entry: u64,
        /// Number of the cut, which with the seed decides what is lost
        #[arg(long, default_value_t = 1)]
        number: u32,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Parts in which writes are kept: none (whole writes), sector or page
        #[arg(long, default_value = "none")]
        tear: String,
        #[command(flatten)]
        hook: Hook,
    },
    /// Unmount it, and mount it again as it has become since the cut
    CutAgain {
        #[command(flatten)]
        target_name: TargetName,
        #[command(flatten)]
        hook: Hook,
    },
    /// Unmount it, and throw away what was written since
    CutEnd {
        #[command(flatten)]
        target_name: TargetName,
        #[command(flatten)]
        hook: Hook,
    },
    /// Have the filesystem of a recorded target send no more flushes to its disk
    BarriersOff {
        #[command(flatten)]
        target_name: TargetName,
        #[command(flatten)]
        hook: Hook,
    },
    /// Let the disk of a recorded target fail: the next write or flush, or all from now on
    Fault {
        #[command(flatten)]
        target_name: TargetName,
        /// write or flush
        #[arg(long)]
        on: String,
        #[arg(long)]
        lasting: bool,
    },
}

impl CutAction {
    /// Does it. Returns the result of the job.
    pub fn run(
        self,
        engine: impl FnOnce(Hook) -> Result<Engine, Refusal>,
        tell: Tell,
    ) -> Result<Value, Refusal> {
        match self {
            Self::CutStop {
                target_name,
                cuts,
                seed,
                from_ns,
                to_ns,
                hook,
            } => {
                let engine = engine(hook)?;
                let window = Window {
                    cuts,
                    from_ns,
                    to_ns,
                };
                let stop = CutStop {
                    seed,
                    windows: vec![window],
                };
                stop.check()?;
                engine.cut_stop(&target_name.place(&engine)?, &stop, tell)
            }
            Self::Cut {
                target_name,
                entry,
                number,
                seed,
                tear,
                hook,
            } => {
                let engine = engine(hook)?;
                let cut = Cut {
                    number,
                    seed,
                    entry,
                    tear: word("tear", &tear)?,
                };
                engine.cut(&target_name.place(&engine)?, &cut, tell)
            }
            Self::CutAgain { target_name, hook } => {
                let engine = engine(hook)?;
                engine.cut_again(&target_name.place(&engine)?, tell)
            }
            Self::BarriersOff { target_name, hook } => {
                let engine = engine(hook)?;
                engine.barriers_off(&target_name.place(&engine)?, tell)
            }
            Self::CutEnd { target_name, hook } => {
                let engine = engine(hook)?;
                engine.cut_end(&target_name.place(&engine)?, tell)
            }
            Self::Fault {
                target_name,
                on,
                lasting,
            } => {
                let engine = engine(Hook::default())?;
                let fault = Fault {
                    on: word("on", &on)?,
                    lasting,
                };
                engine.fault(&target_name.place(&engine)?, &fault)
            }
        }
    }
}

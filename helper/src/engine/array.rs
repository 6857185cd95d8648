//! Makes arrays of md, and waits until they are in sync.

use super::steps::Work;
use crate::exec;
use crate::journal::{Entry, Layer};
use crate::layer::{Step, Tell};
use crate::probe;
use crate::probe::arrays::{self, Array, Sync};
use crate::probe::device::{self, Access};
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::time::{Duration, Instant};

/// The time in which a sync must come forward.
const PATIENCE: Duration = Duration::from_secs(600);
/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(200);

impl Work<'_> {
    /// Makes the array. Its UUID goes into the journal before.
    pub(super) fn create_array(
        &mut self,
        step: &Step,
        uuid: &str,
        entry: &mut Entry,
        tell: Tell,
    ) -> Result<(), Refusal> {
        self.look_at_wiped_members()?;
        entry.layers.push(Layer::Md {
            uuid: uuid.to_owned(),
        });
        self.engine.journal.write(entry)?;
        self.run(step, tell)?;
        self.devices.array = Some(self.array_of_members()?.node);
        Ok(())
    }

    /// The array that has exactly the members of the plan.
    fn array_of_members(&self) -> Result<Array, Refusal> {
        let numbers = self.devices.members.iter();
        let ours: Vec<_> = numbers
            .filter_map(|path| probe::device_number(path))
            .collect();
        let array = match ours.first() {
            Some(first) => arrays::over(*first)?,
            None => None,
        };
        let has_all = |array: &Array| {
            array.members.len() == ours.len() && ours.iter().all(|n| array.members.contains(n))
        };
        array.filter(has_all).ok_or_else(|| {
            Refusal::new(Kind::System, "the array does not have the target's devices")
                .detail(format!("Its members are {:?}.", self.devices.members))
                .hint("The kernel's log (dmesg) may say why.")
        })
    }

    /// Checks that the array is the one that was made, and has no user.
    pub(super) fn check_array(&self) -> Result<(), Refusal> {
        let Some(node) = &self.devices.array else {
            return Ok(());
        };
        let array = self.array_of_members()?;
        let user = match array.node == *node {
            true => {
                device::open(&node.display().to_string(), Access::Claim)?
                    .facts()?
                    .in_use
            }
            false => Some(format!("It is {} now.", array.node.display())),
        };
        match user {
            None => Ok(()),
            Some(user) => Err(Refusal::new(
                Kind::NotInThisState,
                format!("array {} is in use", node.display()),
            )
            .detail(user)
            .hint("Find out which program uses it, and try again.")),
        }
    }

    pub(super) fn wipe_array(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        self.check_array()?;
        self.run(step, tell).map(|_| ())
    }

    /// Waits until the array is in sync, and tells each tenth.
    pub(super) fn await_sync(&self, tell: Tell) -> Result<(), Refusal> {
        let Some(node) = &self.devices.array else {
            return Ok(());
        };
        let began = Instant::now();
        let (mut last, mut moved, mut told) = (None, Instant::now(), 0);
        loop {
            let state = arrays::sync(node)?;
            let report = |output: String| Report {
                step: Step::AwaitSync.name().into(),
                argv: vec![Step::AwaitSync.words()],
                ms: began.elapsed().as_secs_f64() * 1000.0,
                exit_code: None,
                output,
            };
            match state {
                Sync::Done => {
                    tell(report("in sync".into()));
                    return Ok(());
                }
                Sync::Running(Some((done, all))) if done * 10 >= (told + 1) * all && all > 0 => {
                    told = done * 10 / all;
                    tell(report(format!("{} % in sync", told * 10)));
                }
                _ => {}
            }
            if last != Some(state) {
                (last, moved) = (Some(state), Instant::now());
            }
            let why = match (exec::is_stopping(), moved.elapsed() > PATIENCE, state) {
                (true, ..) => Some("pgfsbench-helper is being stopped.".to_owned()),
                (_, true, Sync::Degraded(missing)) => {
                    Some(format!("It lacks {missing} of its devices."))
                }
                (_, true, _) => Some(format!(
                    "Its sync has not come forward for {} s.",
                    PATIENCE.as_secs()
                )),
                _ => None,
            };
            if let Some(why) = why {
                let message = format!("array {} is not in sync", node.display());
                return Err(Refusal::new(Kind::System, message)
                    .detail(why)
                    .hint("The kernel's log (dmesg) may say more."));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

//! Changes settings and puts them back.

use super::steps::Work;
use crate::config::Config;
use crate::journal::{Entry, Journal};
use crate::layer::{Part, UndoContext};
use crate::output::log;
use crate::place::Place;
use crate::plan::changed_by;
use crate::probe;
use crate::probe::queue::Queue;
use crate::settings::{self, Changed, SettingOwner, Value};
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::Path;
use std::time::Instant;

/// Which other place has changed settings of the same queue or of the kernel. What was changed before the last boot has gone
/// with it.
pub fn user(
    config: &Config,
    journal: &Journal,
    place: &Place,
    of: &SettingOwner,
) -> Result<Option<Place>, Refusal> {
    let boot = probe::boot_id()?;
    for (other, entry) in journal.entries(config)?.0 {
        if other != *place
            && entry.boot == boot
            && entry.settings.iter().any(|changed| changed.of == *of)
        {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

impl Work<'_> {
    /// Sets the queue of each member's disk. Partitions of one disk have one queue.
    pub(super) fn set_queues(
        &mut self,
        values: &[Value],
        entry: &mut Entry,
    ) -> Result<(), Refusal> {
        let mut done = Vec::new();
        for member in 0..self.plan.members.len() {
            let queue = self.queue_of(self.devices.of(Part::Member(member)))?;
            if !done.contains(&queue) {
                done.push(queue.clone());
                self.set_queue(queue, values, entry)?;
            }
        }
        Ok(())
    }

    pub(super) fn set_array_queue(
        &mut self,
        values: &[Value],
        entry: &mut Entry,
    ) -> Result<(), Refusal> {
        let queue = self.queue_of(self.devices.filesystem())?;
        self.set_queue(queue, values, entry)
    }

    fn queue_of(&self, device: &Path) -> Result<Queue, Refusal> {
        Queue::of_device(device).ok_or_else(|| {
            let message = format!("{} has no queue", device.display());
            Refusal::new(Kind::System, message).hint("Leave block_settings out.")
        })
    }

    fn set_queue(
        &mut self,
        queue: Queue,
        values: &[Value],
        entry: &mut Entry,
    ) -> Result<(), Refusal> {
        let of = SettingOwner::Queue(queue);
        let place = Place::of_key(&entry.place)
            .ok_or_else(|| Refusal::new(Kind::Internal, "the entry has no place"))?;
        // Which loop device it is was not known before.
        if let Some(user) = user(self.engine.config(), &self.engine.journal, &place, &of)? {
            return Err(changed_by(&user, "settings of the same disk's queue"));
        }
        self.set(of, values, entry)
    }

    /// Changes settings. The old values go into the journal first. The new ones are read back: the kernel must show what was asked for.
    pub(super) fn set(
        &mut self,
        of: SettingOwner,
        values: &[Value],
        entry: &mut Entry,
    ) -> Result<(), Refusal> {
        let before = settings::before(&of, values);
        let first = entry.settings.len();
        entry.settings.extend(before.iter().cloned());
        self.engine.journal.write(entry)?;
        self.settings_before
            .extend(before.iter().map(|changed| changed.before.clone()));
        for value in values {
            self.engine.hook.before(&value.file);
            settings::write(&of, value)?;
            self.engine.hook.after(&value.file);
        }
        let now = entry.settings[first..].iter().filter_map(Changed::now);
        check_taken(values, &now.collect::<Vec<_>>())?;
        // The kernel may change those of a queue until `keep_queue`: until then the old values are put back whatever is there.
        if of == SettingOwner::Kernel {
            for changed in &mut entry.settings[first..] {
                changed.after = changed.now();
            }
        }
        self.engine.journal.write(entry)
    }

    /// Writes again which of these settings of the queue have changed since they were set. A release puts the old ones back only where they are still as they are then.
    pub(super) fn keep_queue(
        &mut self,
        values: &[Value],
        entry: &mut Entry,
    ) -> Result<(), Refusal> {
        let is_of_queue = |changed: &Changed| matches!(changed.of, SettingOwner::Queue(_));
        let requested = |changed: &Changed| {
            let value = values
                .iter()
                .find(|value| value.file == changed.before.file);
            value.filter(|_| is_of_queue(changed))
        };
        for changed in &entry.settings {
            if let Some(value) = requested(changed)
                && changed.now().as_ref() != Some(value)
            {
                settings::write(&changed.of, value)?;
            }
        }
        for changed in &entry.settings {
            if let Some(value) = requested(changed) {
                let now: Vec<Value> = changed.now().into_iter().collect();
                check_taken(std::slice::from_ref(value), &now)?;
            }
        }
        for changed in entry
            .settings
            .iter_mut()
            .filter(|changed| is_of_queue(changed))
        {
            changed.after = changed.now();
        }
        self.engine.journal.write(entry)
    }
}

/// Refuses if the kernel does not show all that was asked for.
fn check_taken(requested: &[Value], now: &[Value]) -> Result<(), Refusal> {
    match requested.iter().find(|value| !now.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let message = format!("the kernel did not take {} = {}", value.file, value.value);
            Err(Refusal::new(Kind::System, message)
                .detail(format!("There is now {}.", settings::words(now)))
                .hint("Give another value, or leave it out."))
        }
    }
}

impl UndoContext<'_> {
    /// Puts back settings that are still as the helper left them. The list of these goes into the journal before the first is written,
    /// since writing one may change others.
    pub fn put_back(&mut self, entry: &mut Entry) -> Result<(), Refusal> {
        if entry.settings.is_empty() || entry.boot != probe::boot_id()? {
            return Ok(());
        }
        let due = settings::to_put_back(&entry.settings, Changed::now);
        let left: Vec<Value> = entry
            .settings
            .iter()
            .filter(|changed| {
                !due.iter()
                    .any(|d| d.of == changed.of && d.before == changed.before)
            })
            .map(|changed| changed.before.clone())
            .collect();
        entry.settings = due
            .into_iter()
            .map(|changed| Changed {
                after: None,
                ..changed
            })
            .collect();
        if let Err(refusal) = self.journal.write(entry) {
            log!(None; "{}: {refusal}", entry.place);
        }
        let began = Instant::now();
        self.hook.before("put_back");
        let (mut written, mut failed) = (Vec::new(), None);
        for changed in &entry.settings {
            let now = changed.now();
            // A setting that is gone, or has its old value, needs nothing.
            if now.is_none() || now.as_ref() == Some(&changed.before) {
                continue;
            }
            match settings::write(&changed.of, &changed.before) {
                Ok(()) => written.push(changed.before.clone()),
                Err(refusal) => failed = failed.or(Some(refusal)),
            }
            self.hook
                .after(&format!("put_back_{}", changed.before.file));
        }
        let mut output = String::new();
        if !left.is_empty() {
            output = format!(
                "left as another program has set it meanwhile: {}",
                settings::files(&left)
            );
        }
        if let Some(refusal) = &failed {
            output += &refusal.to_string();
        }
        (self.tell)(Report {
            step: "put_back".into(),
            argv: vec![match written.is_empty() {
                true => "nothing to write".into(),
                false => format!("write {}", settings::words(&written)),
            }],
            ms: began.elapsed().as_secs_f64() * 1000.0,
            exit_code: None,
            output,
        });
        self.hook.after("put_back");
        failed.map_or(Ok(()), Err)
    }
}

//! Names the mount options that a kernel does not take. The kernel says only that one of them is bad, if not something else. So after a
//! mount has failed, the helper mounts the new filesystem, which is not in use yet, with some of them.

use super::Tell;
use super::steps::Work;
use crate::exec;
use crate::plan::Step;
use pgfsbench_core::refusal::{Refusal, quoted};

/// Always there, and no option that was asked for.
const OURS: [&str; 2] = ["nosuid", "nodev"];

/// The options that the kernel refuses.
#[derive(Debug, PartialEq)]
enum Refused {
    /// None of them: the mount fails without them, too.
    None,
    /// Each of these.
    Each(Vec<String>),
    /// These with each other.
    Together(Vec<String>),
}

impl Work<'_> {
    pub(super) fn mount(&self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        let Err(refusal) = self.run(step, tell) else {
            return Ok(());
        };
        let requested = self.plan.mount_options.iter();
        let requested: Vec<String> = requested
            .filter(|option| !OURS.contains(&option.as_str()))
            .cloned()
            .collect();
        let refused = find(&requested, &mut |some| {
            self.takes(step, &requested, some, tell)
        })?;
        let Some((what, hint)) = refused.in_words() else {
            return Err(refusal);
        };
        let message = format!("this kernel does not take mount {what}")
            .replace("{fs}", self.plan.filesystem.name());
        let detail = format!(
            "The options were tried one by one on kernel {}. {}",
            crate::probe::kernel::release(),
            refusal.detail.as_deref().unwrap_or("")
        );
        Err(Refusal {
            message,
            ..refusal.detail(detail).hint(hint)
        })
    }

    /// True if it can be mounted with only some of the options that were asked for.
    fn takes(
        &self,
        step: &Step,
        requested: &[String],
        some: &[String],
        tell: Tell,
    ) -> Result<bool, Refusal> {
        let mut tried = step.clone();
        let Step::Mount {
            options,
            mount_point,
            ..
        } = &mut tried
        else {
            return Ok(false);
        };
        options.retain(|option| some.contains(option) || !requested.contains(option));
        let umount = exec::require("umount", "mount")?.display().to_string();
        let unmount = [umount, "-i".into(), mount_point.display().to_string()];
        let argv = tried.argv(&self.devices).expect("a step with a program");
        if !self.run_argv(step, &argv, tell)?.succeeded() {
            return Ok(false);
        }
        // If it cannot be unmounted, the clean-up does it.
        let outcome = self.run_argv(step, &unmount, tell)?;
        match outcome.succeeded() {
            true => Ok(true),
            false => Err(outcome.refusal()),
        }
    }
}

/// Finds the refused ones among options that are refused as they are. `takes` tries some of them, in their order.
fn find<E>(
    requested: &[String],
    takes: &mut dyn FnMut(&[String]) -> Result<bool, E>,
) -> Result<Refused, E> {
    if requested.is_empty() || !takes(&[])? {
        return Ok(Refused::None);
    }
    // An option whose absence is enough is the bad one; if the absence of each of several is, these do not go together.
    let helps = select(requested, |option| takes(&select_but(requested, option)))?;
    match helps.len() {
        0 => {}
        1 => return Ok(Refused::Each(helps)),
        _ => return Ok(Refused::Together(helps)),
    }
    // Several are bad. One that is refused by itself may need another one.
    let alone = select(requested, |option| {
        Ok(!takes(std::slice::from_ref(option))?)
    })?;
    let is_good = |option: &&String| !alone.contains(option);
    let good: Vec<String> = requested.iter().filter(is_good).cloned().collect();
    if !takes(&good)? {
        return Ok(Refused::Together(requested.to_vec()));
    }
    let bad = select(&alone, |option| {
        let with_it = requested
            .iter()
            .filter(|o| good.contains(o) || *o == option);
        Ok(!takes(&with_it.cloned().collect::<Vec<_>>())?)
    })?;
    Ok(match bad.is_empty() {
        true => Refused::Together(alone),
        false => Refused::Each(bad),
    })
}

fn select<E>(
    options: &[String],
    mut is_it: impl FnMut(&String) -> Result<bool, E>,
) -> Result<Vec<String>, E> {
    let mut selected = Vec::new();
    for option in options {
        if is_it(option)? {
            selected.push(option.clone());
        }
    }
    Ok(selected)
}

fn select_but(options: &[String], option: &String) -> Vec<String> {
    let others = options.iter().filter(|other| *other != option);
    others.cloned().collect()
}

impl Refused {
    /// The end of the message, in which `{fs}` stands for the filesystem, and the hint.
    fn in_words(&self) -> Option<(String, &'static str)> {
        let quoted_all = |options: &[String]| {
            let names: Vec<String> = options.iter().map(|option| quoted(option)).collect();
            names.join(", ")
        };
        match self {
            Self::None => None,
            Self::Each(options) if options.len() == 1 => Some((
                format!("option {} of {{fs}}", quoted_all(options)),
                "Change the target's mount_options: leave it out, or give it another value.",
            )),
            Self::Each(options) => Some((
                format!("options {} of {{fs}}", quoted_all(options)),
                "Change the target's mount_options: leave them out, or give them other values.",
            )),
            Self::Together(options) => Some((
                format!("options {} of {{fs}} together", quoted_all(options)),
                "Change the target's mount_options: leave one of them out, or give it another value.",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel like ext4: mode `ordered` unless told otherwise, with which an asynchronous commit does not go; none takes `bad`.
    fn takes(options: &[String]) -> bool {
        let has = |name: &str| options.iter().any(|option| option == name);
        let is_bad = |option: &String| option.starts_with("bad");
        let has_mode = has("data=writeback");
        let has_units = has("sunit=8") == has("swidth=16");
        let lacks_mode = has("async_commit") && !has_mode;
        let excluded = has_mode && has("delalloc");
        !(options.iter().any(is_bad) || lacks_mode || excluded) && has_units
    }

    fn found(requested: &str) -> Refused {
        let requested: Vec<String> = requested.split(',').map(str::to_owned).collect();
        assert!(!takes(&requested), "{requested:?}");
        find::<()>(&requested, &mut |some| Ok(takes(some))).unwrap()
    }

    fn all(options: &str) -> Vec<String> {
        options.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn only_the_guilty_ones_are_named() {
        for (requested, bad) in [
            ("bad", "bad"),
            ("noatime,bad=1,commit=9", "bad=1"),
            // Refused by itself, and good with another one.
            ("async_commit,data=writeback,bad", "bad"),
            ("data=writeback,bad,async_commit", "bad"),
            ("sunit=8,bad,swidth=16", "bad"),
            ("bad=1,noatime,bad=2", "bad=1,bad=2"),
            ("async_commit,bad=1,data=writeback,bad=2", "bad=1,bad=2"),
            ("async_commit,noatime", "async_commit"),
        ] {
            assert_eq!(found(requested), Refused::Each(all(bad)), "{requested}");
        }
        assert_eq!(
            found("noatime,delalloc,data=writeback"),
            Refused::Together(all("delalloc,data=writeback"))
        );
    }

    #[test]
    fn where_the_mount_fails_anyway_no_option_is_named() {
        let requested = all("noatime,commit=9");
        assert_eq!(
            find::<()>(&requested, &mut |_| Ok(false)),
            Ok(Refused::None)
        );
        assert_eq!(find::<()>(&[], &mut |_| Ok(false)), Ok(Refused::None));
    }

    #[test]
    fn options_are_named_with_what_to_do() {
        let (said, hint) = Refused::Each(all("bad=1")).in_words().unwrap();
        assert_eq!(said, "option \"bad=1\" of {fs}");
        assert!(hint.starts_with("Change the target's mount_options: leave it out"));
        let (said, hint) = Refused::Each(all("bad=1,bad=2")).in_words().unwrap();
        assert_eq!(said, "options \"bad=1\", \"bad=2\" of {fs}");
        assert!(hint.contains("leave them out"));
        let (said, hint) = Refused::Together(all("a,b")).in_words().unwrap();
        assert_eq!(said, "options \"a\", \"b\" of {fs} together");
        assert!(hint.contains("leave one of them out"));
        assert_eq!(Refused::None.in_words(), None);
    }
}

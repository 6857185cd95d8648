//! Failures of devices that a layout survives.

/// A layout, and the failures of devices that it survives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survival {
    pub layout: &'static str,
    pub members: usize,
    pub failures: Failures,
    /// Most members that one disk or array below them may hold. None: not known.
    pub most_on_one: Option<usize>,
    pub log: Log,
}

/// Members that may fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failures {
    /// Any that are not more than these.
    Any(usize),
    /// None, since the filesystem keeps these blocks in a profile without copies on other members.
    Profile {
        blocks: &'static str,
        profile: String,
    },
    NotKnown,
}

/// Place of the filesystem's log or journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    Inside,
    /// One device.
    OneDevice,
    /// One device of a pool of zfs.
    OneDeviceOfPool,
    /// A mirror over these devices.
    Mirror(usize),
}

/// The layout of a target, and the failures that it survives.
pub fn survives(target: &str, of: &Survival) -> String {
    let layout = format!("{target}: {} over {} devices", of.layout, of.members);
    let failures = match &of.failures {
        Failures::Any(0) => {
            return format!("{layout}, and the failure of any one loses the data");
        }
        Failures::Any(failures) => failures,
        Failures::Profile { blocks, profile } => {
            return format!(
                "{layout}, with {blocks} of profile {profile}: the failure of one may lose the data"
            );
        }
        Failures::NotKnown => {
            return format!("{layout}; whether one may fail is not known");
        }
    };
    let shared = match of.most_on_one {
        None => " if they share no disk".to_owned(),
        Some(0 | 1) => String::new(),
        Some(most) => {
            format!("; some are on one disk or array, whose failure takes up to {most} of them")
        }
    };
    let log = match of.log {
        Log::Inside => String::new(),
        Log::OneDevice => "; the failure of its log's device may lose the filesystem".to_owned(),
        Log::OneDeviceOfPool => {
            "; the failure of its log's device and a crash together lose commits".to_owned()
        }
        Log::Mirror(devices) => {
            let spare = devices.saturating_sub(1);
            format!(
                "; its log is on {devices} devices, any {spare} of which may fail if they share no disk"
            )
        }
    };
    format!("{layout}, any {failures} of which may fail{shared}{log}")
}

//! The requests of jobs. The helper cannot be asked for anything that cannot be represented here.

use serde::{Deserialize, Serialize};

use super::record::{Cut, CutStop, Fault};
use crate::refusal::{Kind, Refusal, quoted};

mod prepare;

pub use prepare::{DeviceRequest, Log, Prepare, Storage, check_device_path};

/// A request longer than this is refused unread.
pub const LONGEST_REQUEST: usize = 16 << 10;

/// The name of a target, or of a database in the helper's configuration: fit to be part of a file's name, with nothing in it
/// that a path, a shell or an option gives a meaning to. The same as the CHECK of fsbench.target.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// Checks a name.
    pub fn new(text: impl Into<String>) -> Result<Self, Refusal> {
        let text = text.into();
        let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '+' | '-');
        let fits = text.len() <= 63
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.chars().all(inner);
        if fits {
            return Ok(Self(text));
        }
        Err(Refusal::argument(format!("invalid target name {}", quoted(&text)))
            .detail("A name has 1 to 63 letters, digits, \"_\", \".\", \"+\" and \"-\", all ASCII, and begins with a letter or a digit.")
            .hint("Choose another name."))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Name {
    type Error = Refusal;
    fn try_from(text: String) -> Result<Self, Refusal> {
        Self::new(text)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One thing to be done by the helper's root part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Make the filesystem and mount it.
    Prepare { target: Name, prepare: Box<Prepare> },
    /// Unmount it and remove what was made for it.
    Release { target: Name },
    /// Unmount it, and mount it again as it was, so that nothing of it is cached.
    Remount { target: Name },
    /// Say which steps `Prepare` would take now, and which undo them. Nothing is changed.
    Plan { target: Name, prepare: Box<Prepare> },
    /// Make and mount once, on a small image, what `Prepare` would, and remove it again: to see whether programs and kernel
    /// take the options.
    Try { target: Name, prepare: Box<Prepare> },
    /// Say what may be used here: devices, directories of images, filesystems. Nothing is changed.
    Describe,
    /// Write back and forget what is cached of all filesystems, so that a run begins cold.
    DropCaches,
    /// End the recording of a target, and unmount it.
    CutStop { target: Name, stop: CutStop },
    /// Mount a target as a power cut would have left it.
    Cut { target: Name, cut: Cut },
    /// Mount the target once more on the device as it has become since the cut.
    CutAgain { target: Name },
    /// Unmount it again, and forget what was written since.
    CutEnd { target: Name },
    /// Have the filesystem of a recorded target send no more flushes.
    BarriersOff { target: Name },
    /// Let the disk of a recorded target fail.
    Fault { target: Name, fault: Fault },
}

impl Request {
    /// The request of a row of fsbench.helper_job.
    pub fn of_job(action: &str, target: &str, request: &str) -> Result<Self, Refusal> {
        if request.len() > LONGEST_REQUEST {
            return Err(Refusal::argument("request is too long")
                .detail(format!(
                    "It has {} bytes; {LONGEST_REQUEST} are accepted.",
                    request.len()
                ))
                .hint("Give fewer options."));
        }
        let request = match action {
            "prepare" => Self::Prepare {
                target: Name::new(target)?,
                prepare: Box::new(parse(request)?),
            },
            "release" => Self::Release {
                target: Name::new(target)?,
            },
            "remount" => Self::Remount {
                target: Name::new(target)?,
            },
            "plan" => Self::Plan {
                target: Name::new(target)?,
                prepare: Box::new(parse(request)?),
            },
            "try" => Self::Try {
                target: Name::new(target)?,
                prepare: Box::new(parse(request)?),
            },
            "describe" => Self::Describe,
            "drop_caches" => Self::DropCaches,
            "cut_stop" => Self::CutStop {
                target: Name::new(target)?,
                stop: parse(request)?,
            },
            "cut" => Self::Cut {
                target: Name::new(target)?,
                cut: parse(request)?,
            },
            "cut_again" => Self::CutAgain {
                target: Name::new(target)?,
            },
            "cut_end" => Self::CutEnd {
                target: Name::new(target)?,
            },
            "barriers_off" => Self::BarriersOff {
                target: Name::new(target)?,
            },
            "fault" => Self::Fault {
                target: Name::new(target)?,
                fault: parse(request)?,
            },
            other => {
                return Err(
                    Refusal::argument(format!("unknown action {}", quoted(other)))
                        .detail("The helper prepares, remounts, cuts and releases targets, plans and tries that, describes what there is, and drops caches.")
                        .hint("Use the functions of the extension."),
                );
            }
        };
        request.check()?;
        Ok(request)
    }

    /// Refuses requests that no configuration would allow. The root part checks again, whatever was checked before.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Prepare { prepare, .. }
            | Self::Plan { prepare, .. }
            | Self::Try { prepare, .. } => prepare.check(),
            Self::CutStop { stop, .. } => stop.check(),
            Self::Release { .. }
            | Self::Remount { .. }
            | Self::Describe
            | Self::DropCaches
            | Self::Cut { .. }
            | Self::CutAgain { .. }
            | Self::CutEnd { .. }
            | Self::BarriersOff { .. }
            | Self::Fault { .. } => Ok(()),
        }
    }

    /// The target's name, if it is about one.
    pub fn target(&self) -> Option<&Name> {
        match self {
            Self::Prepare { target, .. }
            | Self::Plan { target, .. }
            | Self::Try { target, .. }
            | Self::Release { target }
            | Self::Remount { target }
            | Self::CutStop { target, .. }
            | Self::Cut { target, .. }
            | Self::CutAgain { target }
            | Self::CutEnd { target }
            | Self::BarriersOff { target }
            | Self::Fault { target, .. } => Some(target),
            Self::Describe | Self::DropCaches => None,
        }
    }
}

fn parse<T: serde::de::DeserializeOwned>(request: &str) -> Result<T, Refusal> {
    serde_json::from_str(request).map_err(|error| {
        Refusal::new(Kind::InvalidArgument, "request is not understood")
            .detail(format!("It does not parse: {}.", quoted(&error.to_string())))
            .hint("The extension and pgfsbench-helper must be of the same version; do not write to fsbench.helper_job.")
    })
}

#[cfg(test)]
mod tests;

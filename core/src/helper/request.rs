//! What a job asks of the helper. Whatever cannot be represented here cannot be asked for.

use serde::{Deserialize, Serialize};

use super::Filesystem;
use super::options::{mkfs_arguments, mount_options};
use crate::refusal::{Kind, Refusal, quoted};
use crate::units::format_bytes;

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

    /// The text.
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

/// What the filesystem is made on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Storage {
    /// A file that serves as a disk, in one of the directories of the helper's configuration.
    Image {
        /// Its size.
        bytes: u64,
        /// Whether its blocks are allocated only when they are written.
        #[serde(default = "yes")]
        sparse: bool,
    },
    /// A block device that the helper's configuration names with the same path.
    Device {
        /// The path.
        path: String,
    },
}

fn yes() -> bool {
    true
}

/// To make a filesystem and mount it: the `request` of a job whose action is `prepare`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    /// What it is made on.
    pub storage: Storage,
    /// Which one.
    pub filesystem: Filesystem,
    /// Options of mkfs, as on its command line.
    #[serde(default)]
    pub mkfs_options: Option<String>,
    /// Mount options, with commas.
    #[serde(default)]
    pub mount_options: Option<String>,
}

impl Prepare {
    /// Refuses what no configuration would allow.
    pub fn check(&self) -> Result<(), Refusal> {
        mkfs_arguments(self.filesystem, self.mkfs_options.as_deref().unwrap_or(""))?;
        mount_options(self.filesystem, self.mount_options.as_deref().unwrap_or(""))?;
        match &self.storage {
            Storage::Image { bytes, .. } => check_image_size(self.filesystem, *bytes),
            Storage::Device { path } => check_device_path(path),
        }
    }
}

fn check_image_size(filesystem: Filesystem, bytes: u64) -> Result<(), Refusal> {
    let smallest = filesystem.smallest_bytes();
    if bytes < smallest {
        let message = format!("image of {} is too small", format_bytes(bytes));
        return Err(Refusal::argument(message)
            .detail(format!(
                "The smallest size for {filesystem} is {}.",
                format_bytes(smallest)
            ))
            .hint("Give a larger image_size."));
    }
    // What fits a bigint, with room to round up.
    if bytes > i64::MAX as u64 - (1 << 20) {
        return Err(Refusal::argument("image is too large")
            .detail(format!("{bytes} bytes were asked for."))
            .hint("Give a smaller image_size."));
    }
    Ok(())
}

/// Refuses what is no plain path below /dev.
pub fn check_device_path(path: &str) -> Result<(), Refusal> {
    let known = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '/' | '_' | '.' | '+' | '-' | ':' | '@' | '=' | '#' | '~')
    };
    let parts_are_plain = || {
        path.split('/')
            .skip(1)
            .all(|part| !part.is_empty() && part != "." && part != "..")
    };
    if path.len() <= 255
        && path.starts_with("/dev/")
        && path.chars().all(known)
        && parts_are_plain()
    {
        return Ok(());
    }
    Err(Refusal::argument(format!("invalid device path {}", quoted(path)))
        .detail("A device is given by an absolute path below /dev, without \"..\", blanks or special characters.")
        .hint("Use a path of /dev/disk/by-id."))
}

/// One thing to be done by the helper's root part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Make the filesystem and mount it.
    Prepare {
        /// For this target.
        target: Name,
        /// What exactly.
        prepare: Prepare,
    },
    /// Unmount it and remove what was made for it.
    Release {
        /// The target.
        target: Name,
    },
    /// Say which steps `Prepare` would take now, and which undo them. Nothing is changed.
    Plan {
        /// For this target.
        target: Name,
        /// What exactly.
        prepare: Prepare,
    },
    /// Say what may be used here: devices, directories of images, filesystems. Nothing is changed.
    Describe,
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
                prepare: parse(request)?,
            },
            "release" => Self::Release {
                target: Name::new(target)?,
            },
            "plan" => Self::Plan {
                target: Name::new(target)?,
                prepare: parse(request)?,
            },
            "describe" => Self::Describe,
            other => {
                return Err(
                    Refusal::argument(format!("unknown action {}", quoted(other)))
                        .detail("The helper prepares and releases targets, plans that, and describes what there is.")
                        .hint("Use the functions of the extension."),
                );
            }
        };
        request.check()?;
        Ok(request)
    }

    /// Refuses what no configuration would allow. The root part asks again, whoever has asked before.
    pub fn check(&self) -> Result<(), Refusal> {
        match self {
            Self::Prepare { prepare, .. } | Self::Plan { prepare, .. } => prepare.check(),
            Self::Release { .. } | Self::Describe => Ok(()),
        }
    }

    /// The target's name, if it is about one.
    pub fn target(&self) -> Option<&Name> {
        match self {
            Self::Prepare { target, .. } | Self::Plan { target, .. } | Self::Release { target } => {
                Some(target)
            }
            Self::Describe => None,
        }
    }
}

fn parse(request: &str) -> Result<Prepare, Refusal> {
    serde_json::from_str(request).map_err(|error| {
        Refusal::new(Kind::InvalidArgument, "request is not understood")
            .detail(format!("It does not parse: {}.", quoted(&error.to_string())))
            .hint("The extension and pgfsbench-helper must be of the same version; do not write to fsbench.helper_job.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;
    use proptest::prelude::*;

    #[test]
    fn requests_of_jobs() {
        let json = r#"{"storage": {"image": {"bytes": 1073741824}}, "filesystem": "xfs",
                       "mkfs_options": "-l size=128m", "mount_options": null}"#;
        let request = Request::of_job("prepare", "xfs-tuned", json).unwrap();
        assert_eq!(
            request,
            Request::Prepare {
                target: Name::new("xfs-tuned").unwrap(),
                prepare: Prepare {
                    storage: Storage::Image {
                        bytes: 1 << 30,
                        sparse: true
                    },
                    filesystem: Filesystem::Xfs,
                    mkfs_options: Some("-l size=128m".into()),
                    mount_options: None,
                }
            }
        );
        let json = r#"{"storage": {"device": {"path": "/dev/disk/by-id/wwn-0x5000-part1"}}, "filesystem": "ext4"}"#;
        assert!(Request::of_job("prepare", "a", json).is_ok());
        let plan = Request::of_job("plan", "a", json).unwrap();
        assert!(matches!(plan, Request::Plan { .. }));
        assert_eq!(plan.target().map(Name::as_str), Some("a"));
        assert!(Request::of_job("release", "a", "{}").is_ok());
        assert_eq!(Request::of_job("describe", "", "{}"), Ok(Request::Describe));
    }

    #[test]
    fn what_is_refused() {
        let image = |bytes: u64| {
            format!(r#"{{"storage": {{"image": {{"bytes": {bytes}}}}}, "filesystem": "ext4"}}"#)
        };
        let device = |path: &str| {
            format!(r#"{{"storage": {{"device": {{"path": "{path}"}}}}, "filesystem": "ext4"}}"#)
        };
        for (action, target, request) in [
            ("prepare", "a", "{}".to_owned()),
            ("prepare", "a", "null".into()),
            ("prepare", "a", image(1 << 30).replace("ext4", "ntfs")),
            ("prepare", "a", image(1 << 30).replace("}}", "}, \"x\": 1}")),
            ("prepare", "a", image(1 << 20)),
            ("prepare", "a", image(u64::MAX)),
            ("prepare", "a", device("/dev/../etc/passwd")),
            ("prepare", "a", device("/etc/passwd")),
            ("prepare", "a", device("/dev//sda")),
            ("prepare", "a", device("/dev/sd a")),
            ("prepare", "a", device("/dev/sdä")),
            ("prepare", "a", " ".repeat(LONGEST_REQUEST + 1)),
            ("prepare", "../a", image(1 << 30)),
            ("plan", "a", "{}".into()),
            ("plan", "../a", image(1 << 30)),
            ("plan", "a", image(1 << 20)),
            ("release", "", "{}".into()),
            ("release", "-o", "{}".into()),
            ("release", "a b", "{}".into()),
            ("release", "a\n", "{}".into()),
            ("release", "ä", "{}".into()),
            ("release", "a'b", "{}".into()),
            ("release", &"x".repeat(64), "{}".into()),
            ("format", "a", "{}".into()),
        ] {
            let refusal = Request::of_job(action, target, &request).expect_err(&request);
            assert_eq!(refusal.kind, Kind::InvalidArgument);
            check::style(&refusal);
        }
    }

    proptest! {
        #[test]
        fn an_accepted_name_is_a_plain_file_name(text in any::<String>()) {
            if let Ok(name) = Name::new(text) {
                prop_assert!(!name.as_str().contains(['/', '@', ' ', '\0', '\n', '\'', '"']));
                prop_assert!(!name.as_str().starts_with(['.', '-']));
            }
        }

        #[test]
        fn an_accepted_path_stays_below_dev(text in "/dev/[a-z./ \\-]{0,12}") {
            if check_device_path(&text).is_ok() {
                prop_assert!(!text.contains("..") || text.split('/').all(|part| part != ".."));
                prop_assert!(text.starts_with("/dev/") && !text.contains(' '));
            }
        }

        #[test]
        fn never_panics(action in "prepare|plan|release|.*", target in any::<String>(), request in any::<String>()) {
            let _ = Request::of_job(&action, &target, &request);
        }
    }
}

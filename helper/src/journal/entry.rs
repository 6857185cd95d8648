//! An entry of the journal: the layers of one target, how far each has come, and what has to be put back.

use crate::config::Config;
use crate::place::Place;
use crate::probe::device::Identity;
use crate::recorder::{Recorder, ZEROS};
use crate::secure;
use crate::settings::Changed;
use pgfsbench_core::helper::Filesystem;
use pgfsbench_core::helper::layout::{MOST_LOGS, MOST_MEMBERS};
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const VERSION: u32 = 2;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Entry {
    pub version: u32,
    pub place: String,
    /// The boot in which it was made: after another one nothing is mounted or attached any more.
    pub boot: String,
    pub filesystem: Filesystem,
    /// The UUID that mkfs is given. On an array and for a pool, one that mkfs or zpool has chosen takes its place.
    pub uuid: String,
    /// Leaves and layers in the order in which they are made. A release undoes them from the end.
    pub layers: Vec<Layer>,
    /// The recorder above all leaves; None if nothing is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorder: Option<Recorder>,
    pub mount_point: PathBuf,
    /// The options that it is mounted with, by which it can be mounted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_options: Option<Vec<String>>,
    pub state: State,
    /// The run that the target was prepared for: the helper releases the target when the run is over, even without a request. None if a user prepared it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<i64>,
    /// The steps that were begun. The last of them may not have been finished.
    pub steps: Vec<String>,
    /// The settings that it has changed, or was about to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Changed>,
    /// Images that another program made first: they are not undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_ours: Vec<PathBuf>,
}

/// A leaf of a target: one of the devices that its filesystem is made on, or one of those of its log. Both are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "StoredPart", into = "StoredPart")]
pub enum Part {
    Member(usize),
    Log(usize),
}

/// A leaf as the journal names it. Entries from before logs on several devices have `log`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredPart {
    Member(usize),
    Log,
    LogMember(usize),
}

impl From<StoredPart> for Part {
    fn from(stored: StoredPart) -> Self {
        match stored {
            StoredPart::Member(n) => Self::Member(n),
            StoredPart::Log => Self::Log(0),
            StoredPart::LogMember(n) => Self::Log(n),
        }
    }
}

impl From<Part> for StoredPart {
    fn from(part: Part) -> Self {
        match part {
            Part::Member(n) => Self::Member(n),
            Part::Log(0) => Self::Log,
            Part::Log(n) => Self::LogMember(n),
        }
    }
}

/// The use that leaves have, and the array over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    #[default]
    Filesystem,
    Log,
}

impl Role {
    fn is_filesystem(&self) -> bool {
        *self == Self::Filesystem
    }
}

/// One step of the stack below a filesystem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Layer {
    Leaf {
        part: Part,
        on: JournalLeaf,
    },
    /// An array of md over the members, or over the devices of the log.
    Md {
        uuid: String,
        #[serde(default, skip_serializing_if = "Role::is_filesystem")]
        role: Role,
    },
    /// A group of LVM over the members, with one volume.
    Lvm {
        uuid: String,
    },
    /// A zfs pool over the members, with its log.
    Pool(KeptPool),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JournalLeaf {
    Image { path: PathBuf, bytes: u64 },
    Device { path: String, identity: Identity },
}

/// An entry as it is on disk. Version 1 had one device, one log and one pool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    place: String,
    boot: String,
    filesystem: Filesystem,
    uuid: String,
    #[serde(default)]
    layers: Vec<Layer>,
    on: Option<JournalLeaf>,
    log: Option<JournalLeaf>,
    pool: Option<KeptPool>,
    recorder: Option<Recorder>,
    mount_point: PathBuf,
    mount_options: Option<Vec<String>>,
    state: State,
    run: Option<i64>,
    steps: Vec<String>,
    #[serde(default)]
    settings: Vec<Changed>,
    #[serde(default)]
    not_ours: Vec<PathBuf>,
}

impl TryFrom<Stored> for Entry {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Self, Self::Error> {
        let leaf = |part| move |on| Layer::Leaf { part, on };
        let members = stored.on.map(leaf(Part::Member(0)));
        let logs = stored.log.map(leaf(Part::Log(0)));
        let pools = stored.pool.map(Layer::Pool);
        let of_first_version: Vec<Layer> = members.into_iter().chain(logs).chain(pools).collect();
        let (version, layers) = match (stored.version, of_first_version.is_empty()) {
            (1, false) if stored.layers.is_empty() => (VERSION, of_first_version),
            (1, _) | (_, false) => return Err("its layers are not those of its version"),
            (version, true) => (version, stored.layers),
        };
        Ok(Self {
            version,
            place: stored.place,
            boot: stored.boot,
            filesystem: stored.filesystem,
            uuid: stored.uuid,
            layers,
            recorder: stored.recorder,
            mount_point: stored.mount_point,
            mount_options: stored.mount_options,
            state: stored.state,
            run: stored.run,
            steps: stored.steps,
            settings: stored.settings,
            not_ours: stored.not_ours,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptPool {
    pub name: String,
    /// Known once it has been made.
    pub guid: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Preparing,
    /// The target is made and mounted, and the caller does not know it yet: no run may use the target.
    #[serde(rename = "untold")]
    Unreported,
    Ready,
    /// The target is being unmounted and mounted again. No run may use the target before it is ready.
    Remounting,
    /// The recording has ended. It is mounted as power cuts have left it, or not at all.
    Cutting,
    Releasing,
}

impl Entry {
    /// The leaves, in the order in which they are made.
    pub fn leaves(&self) -> impl Iterator<Item = (Part, &JournalLeaf)> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Leaf { part, on } => Some((*part, on)),
            Layer::Md { .. } | Layer::Lvm { .. } | Layer::Pool(_) => None,
        })
    }

    /// The leaves that the filesystem is made on, or those of its log.
    pub fn members(&self, role: Role) -> impl Iterator<Item = &JournalLeaf> {
        let members = self.leaves().filter(move |(part, _)| part.role() == role);
        members.map(|(_, on)| on)
    }

    pub fn has_log(&self) -> bool {
        self.members(Role::Log).next().is_some()
    }

    /// The only leaf, if nothing is between that and the filesystem.
    pub fn only_leaf(&self) -> Option<&JournalLeaf> {
        match &self.layers[..] {
            [Layer::Leaf { part, on }] if part.role() == Role::Filesystem => Some(on),
            _ => None,
        }
    }

    /// The UUID of dm-log-writes above the device, which is there until the recording ends. The recorder serves images instead.
    pub fn log_writes(&self) -> Option<&str> {
        match (&self.recorder, self.only_leaf()) {
            (Some(_), Some(JournalLeaf::Device { .. })) => Some(&self.uuid),
            _ => None,
        }
    }

    /// The zfs pool that is on it, or was about to be.
    pub fn pool(&self) -> Option<&KeptPool> {
        self.layers.iter().find_map(|layer| match layer {
            Layer::Pool(pool) => Some(pool),
            _ => None,
        })
    }

    /// True if there is an array of md or a volume of LVM over these leaves, or there was about to be.
    pub fn has_array(&self, role: Role) -> bool {
        let is_array = |layer: &Layer| match layer {
            Layer::Md { role: over, .. } => *over == role,
            Layer::Lvm { .. } => role == Role::Filesystem,
            Layer::Leaf { .. } | Layer::Pool(_) => false,
        };
        self.layers.iter().any(is_array)
    }

    /// The file that the loop device of this image has.
    pub fn attached(&self, image: &Path) -> PathBuf {
        match &self.recorder {
            Some(recorder) => recorder.disk(image),
            None => image.to_owned(),
        }
    }

    /// The files that the recorder serves as disks: one for each image, or that of a log of dm-log-writes. None without a recorder.
    pub fn disks(&self) -> Vec<PathBuf> {
        let Some(recorder) = &self.recorder else {
            return Vec::new();
        };
        let disk = |kept: &JournalLeaf| match kept {
            JournalLeaf::Image { path, .. } => recorder.disk(path),
            JournalLeaf::Device { .. } => recorder.disk(Path::new(ZEROS)),
        };
        self.leaves().map(|(_, kept)| disk(kept)).collect()
    }

    /// The images that were made for it, and the file of its record.
    pub fn images(&self) -> impl Iterator<Item = (&Path, u64)> {
        let image = |(_, kept)| match kept {
            &JournalLeaf::Image { ref path, bytes } => Some((path.as_path(), bytes)),
            JournalLeaf::Device { .. } => None,
        };
        self.leaves()
            .filter_map(image)
            .chain(self.recorder.iter().map(|r| (r.record.as_path(), r.bytes)))
            .filter(|(path, _)| !self.not_ours.iter().any(|other| other == path))
    }

    pub fn new(
        place: &Place,
        filesystem: Filesystem,
        uuid: &str,
        layers: Vec<Layer>,
        mount_point: PathBuf,
    ) -> Result<Self, Refusal> {
        Ok(Self {
            version: VERSION,
            place: place.key(),
            boot: crate::probe::boot_id()?,
            filesystem,
            uuid: uuid.to_owned(),
            layers,
            recorder: None,
            mount_point,
            mount_options: None,
            state: State::Preparing,
            run: None,
            steps: Vec::new(),
            settings: Vec::new(),
            not_ours: Vec::new(),
        })
    }

    /// Checks that the configuration allows what the entry names: an entry is no way around it.
    fn check(&self, place: &Place, config: &Config) -> Result<(), &'static str> {
        if self.version != VERSION {
            return Err("it is of another version of pgfsbench-helper");
        }
        if self.place != place.key() {
            return Err("it names another place than its file");
        }
        if self.mount_point != place.mount_point(config) {
            return Err("its mount point is not that of the configuration");
        }
        if self.pool().is_some_and(|pool| pool.name != place.pool()) {
            return Err("its pool is not that of its place");
        }
        if self.members(Role::Filesystem).next().is_none() {
            return Err("it has no member");
        }
        for changed in &self.settings {
            changed.check()?;
        }
        let is_allowed = self.leaves().all(|(part, kept)| match kept {
            JournalLeaf::Image { path, .. } => {
                let name = part.image_name(place);
                let mut all = config.images.iter();
                all.any(|i| i.directory.join(&name) == *path)
            }
            JournalLeaf::Device { path, .. } => config.device.iter().any(|d| d.path == *path),
        });
        let is_of_place = |recorder: &Recorder| {
            let mut directories = config.images.iter().map(|images| &images.directory);
            recorder.mount_point == place.recorder_mount_point(config)
                && directories.any(|d| d.join(place.record_name()) == recorder.record)
        };
        if !self.recorder.as_ref().is_none_or(is_of_place) {
            return Err("its recorder is not that of its place");
        }
        let is_on_images = self.layers.iter().all(|layer| match layer {
            Layer::Leaf { on, .. } => matches!(on, JournalLeaf::Image { .. }),
            Layer::Md { .. } => true,
            Layer::Lvm { .. } | Layer::Pool(_) => false,
        });
        if self.recorder.is_some() && !is_on_images && self.only_leaf().is_none() {
            return Err("its recorder is not that of images or of a single device");
        }
        match is_allowed {
            true => Ok(()),
            false => Err("its image or device is not in the configuration"),
        }
    }
}

impl Part {
    /// The name of the file that is this leaf of a target.
    pub fn image_name(self, place: &Place) -> String {
        match self {
            Self::Member(0) => place.image_name(""),
            Self::Member(n) => place.image_name(&format!("@{}", n + 1)),
            Self::Log(0) => place.image_name("@log"),
            Self::Log(n) => place.image_name(&format!("@log{}", n + 1)),
        }
    }

    pub fn role(self) -> Role {
        match self {
            Self::Member(_) => Role::Filesystem,
            Self::Log(_) => Role::Log,
        }
    }

    /// All that a target may have.
    pub fn all() -> impl Iterator<Item = Self> {
        let members = (0..MOST_MEMBERS).map(Self::Member);
        members.chain((0..MOST_LOGS).map(Self::Log))
    }
}

/// The entry that a file of the journal holds, if it fits the configuration.
pub fn believe(text: &str, path: &Path, place: &Place, config: &Config) -> Result<Entry, Refusal> {
    let mangled = |problem: &str| {
        Refusal::new(
            Kind::NotAllowed,
            format!("journal entry {} is not believed", secure::shown(path)),
        )
        .detail(format!("It does not fit: {problem}."))
        .hint("Look at what it names; put it right by hand, and remove the entry.")
    };
    let entry: Entry = serde_json::from_str(text).map_err(|e| mangled(&quoted(&e.to_string())))?;
    entry.check(place, config).map_err(mangled)?;
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{SettingOwner, Value};

    const CONFIG: &str =
        "[[images]]\ndirectory = \"/srv/i\"\nmax_bytes = 1\n[[device]]\npath = \"/dev/x\"\n";

    fn a_device(path: &str) -> JournalLeaf {
        JournalLeaf::Device {
            path: path.into(),
            identity: Identity {
                major: 8,
                minor: 16,
                bytes: 1,
                sequence: None,
                serial: None,
                wwn: None,
                partition_uuid: None,
            },
        }
    }

    #[test]
    fn an_entry_must_fit_the_configuration() {
        let config = Config::parse(CONFIG).unwrap();
        let place = Place::of_key("bench@t").unwrap();
        let image = |path: &str| JournalLeaf::Image {
            path: path.into(),
            bytes: 1,
        };
        let with = |layers: Vec<Layer>| {
            let mount_point = place.mount_point(&config);
            Entry::new(&place, Filesystem::Ext4, "u", layers, mount_point).unwrap()
        };
        let leaf = |part, on| Layer::Leaf { part, on };
        let entry = |on: JournalLeaf| with(vec![leaf(Part::Member(0), on)]);
        let good = entry(image("/srv/i/bench@t.img"));
        assert_eq!(good.check(&place, &config), Ok(()));
        let other = |change: fn(&mut Entry)| {
            let mut entry = good.clone();
            change(&mut entry);
            entry
        };
        let recorded = |layers: &[Layer], record: &str| {
            let mut entry = with(layers.to_vec());
            entry.recorder = Some(Recorder {
                mount_point: place.recorder_mount_point(&config),
                record: record.into(),
                bytes: 1,
            });
            entry
        };
        let of_image = recorded(&good.layers, "/srv/i/bench@t@record.img");
        assert_eq!(of_image.check(&place, &config), Ok(()));
        assert!(
            of_image
                .images()
                .any(|(path, _)| path.ends_with("bench@t@record.img"))
        );
        let several = with(vec![
            leaf(Part::Member(0), image("/srv/i/bench@t.img")),
            leaf(Part::Member(1), image("/srv/i/bench@t@2.img")),
            leaf(Part::Log(0), image("/srv/i/bench@t@log.img")),
            leaf(Part::Log(1), image("/srv/i/bench@t@log2.img")),
            Layer::Md {
                uuid: "u".into(),
                role: Role::Filesystem,
            },
            Layer::Md {
                uuid: "v".into(),
                role: Role::Log,
            },
        ]);
        assert_eq!(several.members(Role::Log).count(), 2);
        assert_eq!(several.check(&place, &config), Ok(()));
        let again = serde_json::to_string(&several).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&again).unwrap(), several);
        // The writes to a device are logged by dm-log-writes.
        let of_device = recorded(
            &[leaf(Part::Member(0), a_device("/dev/x"))],
            "/srv/i/bench@t@record.img",
        );
        assert_eq!(of_device.check(&place, &config), Ok(()));
        assert_eq!(of_device.log_writes(), Some(of_device.uuid.as_str()));
        assert_eq!(of_image.log_writes(), None);
        let of_several = recorded(&several.layers, "/srv/i/bench@t@record.img");
        assert_eq!(of_several.check(&place, &config), Ok(()));
        assert_eq!(of_several.log_writes(), None);
        let disk = |name: &str| place.recorder_mount_point(&config).join(name);
        assert_eq!(
            of_several.disks(),
            [
                "bench@t.img",
                "bench@t@2.img",
                "bench@t@log.img",
                "bench@t@log2.img"
            ]
            .map(disk)
        );
        assert_eq!(of_device.disks(), [disk("zero")]);
        assert!(several.disks().is_empty());
        for bad in [
            entry(image("/srv/i/other@t.img")),
            entry(image("/srv/i/../i/bench@t.img")),
            entry(image("/etc/passwd")),
            other(|e| e.mount_point = "/".into()),
            other(|e| e.version = 3),
            other(|e| e.place = "bench@u".into()),
            recorded(
                &[
                    leaf(Part::Member(0), image("/srv/i/bench@t.img")),
                    leaf(Part::Log(0), a_device("/dev/x")),
                ],
                "/srv/i/bench@t@record.img",
            ),
            recorded(
                &[
                    leaf(Part::Member(0), image("/srv/i/bench@t.img")),
                    Layer::Lvm { uuid: "u".into() },
                ],
                "/srv/i/bench@t@record.img",
            ),
            recorded(&good.layers, "/srv/i/bench@t@2.img"),
            with(vec![]),
            with(vec![leaf(Part::Log(0), image("/srv/i/bench@t@log.img"))]),
            with(vec![leaf(Part::Member(1), image("/srv/i/bench@t.img"))]),
            with(vec![
                leaf(Part::Member(0), image("/srv/i/bench@t.img")),
                leaf(Part::Log(0), image("/srv/i/bench@t@2.img")),
            ]),
            with(vec![
                leaf(Part::Member(0), image("/srv/i/bench@t.img")),
                leaf(Part::Log(1), image("/etc/passwd")),
            ]),
            other(|e| {
                e.layers.push(Layer::Pool(KeptPool {
                    name: "rpool".into(),
                    guid: None,
                }))
            }),
            other(|e| {
                e.settings.push(Changed {
                    of: SettingOwner::Kernel,
                    before: Value {
                        file: "../kernel/core_pattern".into(),
                        value: "x".into(),
                    },
                    after: None,
                })
            }),
        ] {
            assert!(bad.check(&place, &config).is_err(), "{bad:?}");
        }
    }

    /// An earlier build has written such layers.
    #[test]
    fn layers_of_one_log_and_one_array_keep_their_form() {
        let layers = |text: &str| serde_json::from_str::<Vec<Layer>>(text).unwrap();
        let text = r#"[{"leaf":{"part":{"member":1},"on":{"image":{"path":"/i","bytes":1}}}},{"leaf":{"part":"log","on":{"image":{"path":"/l","bytes":1}}}},{"md":{"uuid":"u"}}]"#;
        assert_eq!(serde_json::to_string(&layers(text)).unwrap(), text);
        let further = text.replace("\"log\"", r#"{"log_member":1}"#);
        assert!(matches!(
            layers(&further)[1],
            Layer::Leaf {
                part: Part::Log(1),
                ..
            }
        ));
    }

    /// The helper of another version may have written the journal.
    #[test]
    fn the_states_on_disk_keep_their_names() {
        for (state, name) in [
            (State::Preparing, "preparing"),
            (State::Unreported, "untold"),
            (State::Ready, "ready"),
            (State::Remounting, "remounting"),
            (State::Cutting, "cutting"),
            (State::Releasing, "releasing"),
        ] {
            assert_eq!(serde_json::to_value(state).unwrap(), name);
        }
    }

    /// The helper of version 0.2.0 has written such entries.
    #[test]
    fn an_entry_of_the_first_version_is_undone_like_others() {
        let image = |name: &str| format!(r#"{{"image": {{"path": "/srv/i/{name}", "bytes": 1}}}}"#);
        let text = format!(
            r#"{{"version": 1, "place": "bench@t", "boot": "b", "filesystem": "zfs", "uuid": "u", "on": {}, "log": {},
                "mount_point": "/run/pgfsbench/mnt/bench@t", "state": "ready", "steps": [],
                "pool": {{"name": "pgfsbench-bench:t", "guid": "1"}}}}"#,
            image("bench@t.img"),
            image("bench@t@log.img")
        );
        let entry: Entry = serde_json::from_str(&text).unwrap();
        let config = Config::parse(CONFIG).unwrap();
        let place = Place::of_key("bench@t").unwrap();
        assert_eq!(entry.check(&place, &config), Ok(()));
        let parts: Vec<Part> = entry.leaves().map(|(part, _)| part).collect();
        assert_eq!(parts, [Part::Member(0), Part::Log(0)]);
        assert!(entry.has_log() && matches!(entry.layers.last(), Some(Layer::Pool(_))));
        let mixed = text.replace(
            "\"steps\"",
            "\"layers\": [{\"md\": {\"uuid\": \"u\"}}], \"steps\"",
        );
        assert!(serde_json::from_str::<Entry>(&mixed).is_err());
    }

    #[test]
    fn a_forged_file_is_not_believed() {
        let config = Config::parse(CONFIG).unwrap();
        let place = Place::of_key("bench@t").unwrap();
        let on = JournalLeaf::Image {
            path: "/srv/i/bench@t.img".into(),
            bytes: 1,
        };
        let layers = vec![Layer::Leaf {
            part: Part::Member(0),
            on,
        }];
        let mount_point = place.mount_point(&config);
        let entry = Entry::new(&place, Filesystem::Ext4, "u", layers, mount_point);
        let mut entry = entry.unwrap();
        let record = "/srv/i/bench@t@record.img";
        entry.recorder = Some(Recorder {
            mount_point: place.recorder_mount_point(&config),
            record: record.into(),
            bytes: 1,
        });
        let good = serde_json::to_string(&entry).unwrap();
        let path = Path::new("/var/lib/pgfsbench/journal/bench@t.json");
        let read = |text: &str| believe(text, path, &place, &config);
        assert!(read(&good).is_ok());
        for forged in [
            good.replace("/srv/i/", "/srv/precious/"),
            good.replace("/srv/i/bench@t.img", "/etc/passwd"),
            good.replace("mnt/bench@t", "mnt/.."),
            good.replace(record, "/etc/passwd"),
            good.replace(record, "/srv/i/bench@u@record.img"),
            good.replace("recorder/bench@t", "recorder/.."),
            good.replace("\"place\":\"bench@t\"", "\"place\":\"bench@u\""),
            good.replace("\"version\":2", "\"version\":2,\"more\":1"),
            good.replace("\"version\":2", "\"version\":1"),
            good[..good.len() / 2].to_owned(),
            String::new(),
            "\0".into(),
        ] {
            assert_ne!(forged, good);
            let refusal = read(&forged).unwrap_err();
            assert!(
                refusal.message.ends_with("is not believed"),
                "{forged}: {refusal}"
            );
        }
    }
}

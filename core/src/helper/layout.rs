//! Layouts: how several devices become one place for a filesystem. The kernel's md makes an array of them, LVM a volume; btrfs and zfs take them as
//! they are.

mod options;

pub use options::{Bitmap, Consistency, LayoutOptions};

use serde::{Deserialize, Serialize};

use super::Filesystem;
use crate::refusal::{Refusal, quoted};

/// Most devices of a target.
pub const MOST_MEMBERS: usize = 16;

/// Most devices of an external log.
pub const MOST_LOGS: usize = 4;

/// How the devices of an external log become one place: as a mirror. None for one device.
pub fn of_log(filesystem: Filesystem, devices: usize) -> Option<Layout> {
    match (devices, filesystem) {
        (0 | 1, _) => None,
        (_, Filesystem::Zfs) => Some(Layout::ZfsMirror),
        _ => Some(Layout::Raid1),
    }
}

/// How several devices become one place for a filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    Linear,
    Raid0,
    Raid1,
    Raid5,
    Raid6,
    Raid10,
    LvmLinear,
    LvmStripe,
    LvmRaid1,
    LvmRaid5,
    LvmRaid6,
    LvmRaid10,
    BtrfsSingle,
    BtrfsRaid0,
    BtrfsRaid1,
    BtrfsRaid10,
    ZfsStripe,
    ZfsMirror,
    ZfsRaidz,
}

/// The software that joins the devices of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The kernel's software RAID.
    Md,
    /// LVM, by the kernel's device mapper.
    Lvm,
    /// The filesystem itself.
    Btrfs,
    /// The pool of the filesystem.
    Zfs,
}

impl Layout {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::Linear,
        Self::Raid0,
        Self::Raid1,
        Self::Raid5,
        Self::Raid6,
        Self::Raid10,
        Self::LvmLinear,
        Self::LvmStripe,
        Self::LvmRaid1,
        Self::LvmRaid5,
        Self::LvmRaid6,
        Self::LvmRaid10,
        Self::BtrfsSingle,
        Self::BtrfsRaid0,
        Self::BtrfsRaid1,
        Self::BtrfsRaid10,
        Self::ZfsStripe,
        Self::ZfsMirror,
        Self::ZfsRaidz,
    ];

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
            Self::Raid10 => "raid10",
            Self::LvmLinear => "lvm-linear",
            Self::LvmStripe => "lvm-stripe",
            Self::LvmRaid1 => "lvm-raid1",
            Self::LvmRaid5 => "lvm-raid5",
            Self::LvmRaid6 => "lvm-raid6",
            Self::LvmRaid10 => "lvm-raid10",
            Self::BtrfsSingle => "btrfs-single",
            Self::BtrfsRaid0 => "btrfs-raid0",
            Self::BtrfsRaid1 => "btrfs-raid1",
            Self::BtrfsRaid10 => "btrfs-raid10",
            Self::ZfsStripe => "zfs-stripe",
            Self::ZfsMirror => "zfs-mirror",
            Self::ZfsRaidz => "zfs-raidz",
        }
    }

    /// The layout of this name, or a refusal that names all.
    pub fn of_name(name: &str) -> Result<Self, Refusal> {
        let found = Self::ALL.into_iter().find(|layout| layout.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|layout| layout.name()).collect();
            Refusal::argument(format!("unknown layout {}", quoted(name)))
                .detail("A layout says how several devices become one place for a filesystem.")
                .hint(format!("Known are {}.", names.join(", ")))
        })
    }

    pub fn maker(self) -> Maker {
        match self {
            Self::Linear | Self::Raid0 | Self::Raid1 | Self::Raid5 | Self::Raid6 | Self::Raid10 => {
                Maker::Md
            }
            Self::LvmLinear
            | Self::LvmStripe
            | Self::LvmRaid1
            | Self::LvmRaid5
            | Self::LvmRaid6
            | Self::LvmRaid10 => Maker::Lvm,
            Self::BtrfsSingle | Self::BtrfsRaid0 | Self::BtrfsRaid1 | Self::BtrfsRaid10 => {
                Maker::Btrfs
            }
            Self::ZfsStripe | Self::ZfsMirror | Self::ZfsRaidz => Maker::Zfs,
        }
    }

    /// The word of mdadm, lvcreate, mkfs.btrfs or zpool for it. zpool has no word for a stripe.
    pub fn word(self) -> &'static str {
        let name = self.name();
        match self {
            Self::ZfsStripe => "",
            Self::LvmStripe => "striped",
            _ => name.split_once('-').map_or(name, |(_, word)| word),
        }
    }

    /// The fewest devices that it takes.
    pub fn fewest_members(self) -> usize {
        match self {
            Self::Raid5 | Self::LvmRaid5 | Self::ZfsRaidz => 3,
            Self::Raid6 | Self::Raid10 | Self::LvmRaid10 | Self::BtrfsRaid10 => 4,
            // LVM takes three stripes of data at least.
            Self::LvmRaid6 => 5,
            _ => 2,
        }
    }

    /// Members' worth of data, without copies and parity, of so many members.
    pub fn data_members(self, members: usize) -> usize {
        match self {
            Self::Linear
            | Self::Raid0
            | Self::LvmLinear
            | Self::LvmStripe
            | Self::BtrfsSingle
            | Self::BtrfsRaid0
            | Self::ZfsStripe => members,
            Self::Raid1 | Self::LvmRaid1 | Self::ZfsMirror => 1,
            Self::Raid5 | Self::LvmRaid5 | Self::ZfsRaidz => members.saturating_sub(1),
            Self::Raid6 | Self::LvmRaid6 => members.saturating_sub(2),
            Self::Raid10 | Self::LvmRaid10 | Self::BtrfsRaid1 | Self::BtrfsRaid10 => members / 2,
        }
    }

    /// Members that may fail in any case before data are lost. Where it depends on which of them fail, the fewest.
    pub fn survives(self, members: usize) -> usize {
        match self {
            Self::Linear
            | Self::Raid0
            | Self::LvmLinear
            | Self::LvmStripe
            | Self::BtrfsSingle
            | Self::BtrfsRaid0
            | Self::ZfsStripe => 0,
            Self::Raid1 | Self::LvmRaid1 | Self::ZfsMirror => members.saturating_sub(1),
            Self::Raid6 | Self::LvmRaid6 => 2,
            // Both copies of btrfs's raid1 are on any two of the devices.
            Self::Raid5
            | Self::LvmRaid5
            | Self::ZfsRaidz
            | Self::Raid10
            | Self::LvmRaid10
            | Self::BtrfsRaid1
            | Self::BtrfsRaid10 => 1,
        }
    }

    /// `survives` where these options may give the number of copies.
    pub fn survives_with(self, options: &LayoutOptions, members: usize) -> usize {
        match (self, options.copies()) {
            (Self::Raid10, Some(copies)) => copies.min(members).saturating_sub(1),
            _ => self.survives(members),
        }
    }

    /// True if the array has copies or parity, which have to be in sync before anything is measured.
    pub fn has_sync(self) -> bool {
        let is_of_kernel = matches!(self.maker(), Maker::Md | Maker::Lvm);
        is_of_kernel && self.survives(self.fewest_members()) > 0
    }

    /// True if the kernel's array has parity.
    fn has_parity(self) -> bool {
        matches!(
            self,
            Self::Raid5 | Self::Raid6 | Self::LvmRaid5 | Self::LvmRaid6
        )
    }

    /// True if md or LVM writes it in stripes: then it has chunks.
    fn has_chunks(self) -> bool {
        self.has_parity()
            || matches!(
                self,
                Self::Raid0 | Self::Raid10 | Self::LvmStripe | Self::LvmRaid10
            )
    }

    fn check(self, filesystem: Filesystem, members: usize) -> Result<(), Refusal> {
        let fewest = self.fewest_members();
        if members < fewest {
            return Err(Refusal::argument(format!(
                "layout {} needs {fewest} devices",
                quoted(self.name())
            ))
            .detail(format!("The target has {members}."))
            .hint("Give more in devices, or a larger image_count, or another layout."));
        }
        if self == Self::LvmRaid10 && !members.is_multiple_of(2) {
            return Err(
                Refusal::argument("layout \"lvm-raid10\" needs an even number of devices")
                    .detail(format!("The target has {members}."))
                    .hint("Give one more or one less, or the layout raid10."),
            );
        }
        let only = match self.maker() {
            Maker::Md | Maker::Lvm => None,
            Maker::Btrfs => Some(Filesystem::Btrfs),
            Maker::Zfs => Some(Filesystem::Zfs),
        };
        match only {
            Some(only) if only != filesystem => Err(Refusal::argument(format!(
                "layout {} is of {only}",
                quoted(self.name())
            ))
            .detail(format!(
                "The filesystem is {filesystem}, which takes one device."
            ))
            .hint("Give a layout of md or LVM, such as raid10.")),
            None if filesystem == Filesystem::Zfs => Err(Refusal::argument(format!(
                "zfs takes no layout {}",
                quoted(self.name())
            ))
            .detail("A pool joins its devices itself.")
            .hint("Give zfs-stripe, zfs-mirror or zfs-raidz.")),
            _ => Ok(()),
        }
    }
}

/// Whether an array is brought in sync before anything is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InitialSync {
    /// The helper waits until it is.
    Wait,
    /// The helper waits, and then has every copy and all parity compared.
    Check,
    /// md takes it for being in sync.
    Skip,
}

/// Refuses more devices, or images, than a target can have.
pub fn check_members(members: usize) -> Result<(), Refusal> {
    if members <= MOST_MEMBERS {
        return Ok(());
    }
    Err(Refusal::argument("a target has too many devices")
        .detail(format!("There are {members}; {MOST_MEMBERS} are accepted."))
        .hint("Give fewer devices, or a smaller image_count."))
}

/// The layout that a request or a target asks for, with its options.
pub struct LayoutRequest<'a> {
    pub layout: Option<Layout>,
    pub options: Option<&'a LayoutOptions>,
    pub initial_sync: Option<InitialSync>,
    pub filesystem: Filesystem,
    /// Devices or images.
    pub members: usize,
    /// True if every byte of a new member is zero: it is a file that was made just now.
    pub are_zeroed: bool,
}

impl LayoutRequest<'_> {
    /// Refuses what does not go together.
    pub fn check(&self) -> Result<(), Refusal> {
        check_members(self.members)?;
        match self.layout {
            None => self.check_without_layout(),
            Some(layout) => {
                layout.check(self.filesystem, self.members)?;
                if let Some(options) = self.options {
                    options.check(layout)?;
                }
                self.check_initial_sync(layout)
            }
        }
    }

    fn check_without_layout(&self) -> Result<(), Refusal> {
        if self.members != 1 {
            return Err(Refusal::argument("several devices need a layout")
                .detail(format!("The target has {}.", self.members))
                .hint("Give the argument layout, such as raid10 or btrfs-raid10."));
        }
        let given = [
            ("layout_options", self.options.is_some()),
            ("initial_sync", self.initial_sync.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((name, _)) => Err(Refusal::argument(format!("{name} needs a layout"))
                .detail("One device is used as it is.")
                .hint("Leave it out.")),
        }
    }

    /// Parity of members that hold something else than zeros is wrong until it has been computed.
    fn check_initial_sync(&self, layout: Layout) -> Result<(), Refusal> {
        let refused = |detail: &str| {
            Err(
                Refusal::argument("the initial sync cannot be skipped or waited for")
                    .detail(detail)
                    .hint("Leave initial_sync out."),
            )
        };
        match self.initial_sync {
            None => Ok(()),
            Some(_) if !layout.has_sync() => refused(
                "Only layouts of md and LVM with copies or parity have it: raid1, raid5, raid6, raid10.",
            ),
            Some(InitialSync::Skip) if layout == Layout::LvmRaid6 => {
                refused("lvcreate makes no raid6 without it.")
            }
            Some(InitialSync::Skip) if layout.has_parity() && !self.are_zeroed => {
                refused("Parity of devices that may hold something is wrong until it is computed.")
            }
            Some(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check::style;

    #[test]
    fn names_lead_there_and_back() {
        for layout in Layout::ALL {
            assert_eq!(Layout::of_name(layout.name()), Ok(layout));
            let json = serde_json::to_string(&layout).unwrap();
            assert_eq!(json, format!("\"{}\"", layout.name()));
            let fewest = layout.fewest_members();
            assert!((1..=fewest).contains(&layout.data_members(fewest)));
        }
        for name in ["", "RAID0", "raid4", "btrfs"] {
            style(&Layout::of_name(name).unwrap_err());
        }
        assert_eq!(Layout::BtrfsRaid10.word(), "raid10");
        assert_eq!(Layout::ZfsStripe.word(), "");
        assert_eq!(Layout::Raid5.word(), "raid5");
        assert_eq!(Layout::LvmStripe.word(), "striped");
        assert_eq!(Layout::LvmRaid6.word(), "raid6");
    }

    fn requested(
        layout: Option<Layout>,
        filesystem: Filesystem,
        members: usize,
    ) -> LayoutRequest<'static> {
        LayoutRequest {
            layout,
            options: None,
            initial_sync: None,
            filesystem,
            members,
            are_zeroed: false,
        }
    }

    #[test]
    fn the_number_of_devices_and_the_filesystem_fit_the_layout() {
        for (layout, filesystem, members, words) in [
            (None, Filesystem::Xfs, 1, ""),
            (None, Filesystem::Btrfs, 2, "several devices need a layout"),
            (Some(Layout::Raid5), Filesystem::Xfs, 3, ""),
            (Some(Layout::Raid5), Filesystem::Xfs, 2, "\"raid5\" needs 3"),
            (Some(Layout::Raid0), Filesystem::Btrfs, 2, ""),
            (Some(Layout::Raid0), Filesystem::Xfs, 1, "\"raid0\" needs 2"),
            (Some(Layout::Raid0), Filesystem::Xfs, 17, "too many devices"),
            (Some(Layout::BtrfsRaid1), Filesystem::Btrfs, 2, ""),
            (Some(Layout::BtrfsRaid1), Filesystem::Xfs, 2, "is of btrfs"),
            (Some(Layout::ZfsRaidz), Filesystem::Zfs, 3, ""),
            (Some(Layout::ZfsRaidz), Filesystem::Ext4, 3, "is of zfs"),
            (
                Some(Layout::Raid10),
                Filesystem::Zfs,
                4,
                "zfs takes no layout",
            ),
        ] {
            let outcome = requested(layout, filesystem, members).check();
            match (words, outcome) {
                ("", outcome) => assert_eq!(outcome, Ok(())),
                (words, outcome) => {
                    let refusal = outcome.expect_err(words);
                    assert!(refusal.message.contains(words), "{refusal}");
                    style(&refusal);
                }
            }
        }
    }

    #[test]
    fn what_a_layout_survives() {
        for (layout, members, survives) in [
            (Layout::Raid0, 4, 0),
            (Layout::LvmLinear, 4, 0),
            (Layout::BtrfsSingle, 4, 0),
            (Layout::Raid1, 3, 2),
            (Layout::Raid5, 4, 1),
            (Layout::Raid6, 4, 2),
            (Layout::Raid10, 4, 1),
            (Layout::BtrfsRaid1, 4, 1),
            (Layout::ZfsMirror, 2, 1),
            (Layout::ZfsRaidz, 3, 1),
        ] {
            assert_eq!(layout.survives(members), survives, "{layout:?}");
        }
        for (layout, copies, survives) in [
            (Layout::Raid10, None, 1),
            (Layout::Raid10, Some("n3"), 2),
            (Layout::Raid10, Some("f4"), 3),
            (Layout::Raid6, Some("n4"), 2),
        ] {
            let options = LayoutOptions {
                copies: copies.map(str::to_owned),
                ..LayoutOptions::default()
            };
            let found = layout.survives_with(&options, 4);
            assert_eq!(found, survives, "{layout:?} {copies:?}");
        }
        let with_sync = Layout::ALL.into_iter().filter(|layout| layout.has_sync());
        use Layout::*;
        assert_eq!(
            with_sync.collect::<Vec<_>>(),
            [
                Raid1, Raid5, Raid6, Raid10, LvmRaid1, LvmRaid5, LvmRaid6, LvmRaid10
            ]
        );
    }

    #[test]
    fn a_sync_is_skipped_only_where_nothing_is_wrong_without() {
        let outcome = |layout, are_zeroed| {
            let requested = LayoutRequest {
                initial_sync: Some(InitialSync::Skip),
                are_zeroed,
                ..requested(Some(layout), Filesystem::Xfs, 4)
            };
            requested.check()
        };
        for layout in [Layout::Raid1, Layout::Raid10] {
            assert_eq!(outcome(layout, false), Ok(()));
        }
        assert_eq!(outcome(Layout::Raid5, true), Ok(()));
        assert_eq!(outcome(Layout::LvmRaid5, true), Ok(()));
        style(&outcome(Layout::LvmRaid6, true).unwrap_err());
        for layout in [
            Layout::Raid5,
            Layout::Raid6,
            Layout::Raid0,
            Layout::LvmRaid5,
            Layout::LvmStripe,
        ] {
            style(&outcome(layout, false).unwrap_err());
        }
        let alone = LayoutRequest {
            initial_sync: Some(InitialSync::Wait),
            ..requested(None, Filesystem::Xfs, 1)
        };
        style(&alone.check().unwrap_err());
    }
}

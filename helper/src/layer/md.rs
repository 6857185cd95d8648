//! An array of md over all members, or over the devices of the log. The helper waits until it is in sync. A release stops it, and leaves each device empty.

use super::{Step, UndoContext, extended, numbers_of};
use crate::exec;
use crate::journal::{Entry, JournalLeaf, Layer, PART_OF_MD, Role};
use crate::layer::{ArrayFacts, Facts};
use crate::probe::arrays::{self, Array};
use crate::probe::contents::{self, Contents, Signature};
use crate::probe::device::{self, Access, DeviceFacts, Identity, Opened};
use crate::probe::kernel::{self, Support};
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::helper::{Filesystem, InitialSync, Layout, LayoutOptions, Prepare};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::ops::Range;
use std::path::Path;

/// Refuses an array that the kernel cannot make. The module of software RAID is loaded first; the kernel itself loads that of the level.
pub fn module(layout: Layout, array: &ArrayFacts, facts: &Facts) -> Result<Option<Step>, Refusal> {
    if array.driver != Support::Missing && array.level == Support::Missing {
        let level = layout.word();
        let message = format!("this kernel has no software RAID of level {level}");
        return Err(Refusal::new(Kind::NotInThisState, message)
            .detail(format!(
                "/proc/mdstat of kernel {} does not list {level}, and modprobe finds no module md-{level}.",
                facts.kernel
            ))
            .hint("Give another layout."));
    }
    match array.driver {
        Support::Present => Ok(None),
        Support::Module => Ok(Some(Step::LoadModule {
            program: facts.modprobe.clone()?,
            module: kernel::MD,
        })),
        Support::Missing => Err(missing(&facts.kernel)),
    }
}

/// The refusal of a kernel without software RAID.
pub fn missing(release: &str) -> Refusal {
    Refusal::new(Kind::NotInThisState, "this kernel has no software RAID")
        .detail(format!(
            "Kernel {release} has no /proc/mdstat, and modprobe finds no module {}.",
            kernel::MD
        ))
        .hint("On Debian the module is in the package linux-image-amd64; or give a layout of btrfs or zfs.")
}

/// The steps that make the array and wait for it, when all members are wiped. The options of the layout are not those of a log's array.
pub fn steps(
    request: &Prepare,
    (role, layout): (Role, Layout),
    facts: &Facts,
) -> Result<Vec<Step>, Refusal> {
    let create = Step::CreateArray {
        program: facts.mdadm.clone()?,
        role,
        uuid: facts.array(role).uuid.clone(),
        layout,
        options: match role {
            Role::Filesystem => request.layout_options.clone().unwrap_or_default(),
            Role::Log => LayoutOptions::default(),
        },
        skips_sync: request.initial_sync == Some(InitialSync::Skip),
    };
    // The members may hold data of an earlier array at the same places.
    let wipe = Step::WipeArray {
        role,
        program: facts.wipefs.clone()?,
    };
    let wait = layout.has_sync().then_some(Step::AwaitSync {
        role,
        volume: None,
        checks: request.initial_sync == Some(InitialSync::Check),
    });
    Ok([create, wipe].into_iter().chain(wait).collect())
}

/// From this size on mke2fs takes blocks of 4096 bytes where none are asked for.
const BLOCKS_OF_EXT_FROM: u64 = 512 << 20;

/// Stripes over this size make mkfs.xfs write stripes of 32 KiB in the log.
const LARGEST_LOG_STRIPE: u64 = 256 << 10;

/// Adds the stripes of an array of md or LVM to the options of mkfs. mkfs.xfs takes none from md where the filesystem is smaller than 1 GiB. What is given in
/// `given` stays.
pub fn add_geometry(
    request: &Prepare,
    layout: Layout,
    bytes: u64,
    given: &[String],
    options: &mut Vec<String>,
) {
    let of_array = request.layout_options.clone().unwrap_or_default();
    let Some(chunk) = of_array.chunk_bytes(layout) else {
        return;
    };
    let members = request.storage.members();
    let data = match of_array.copies() {
        Some(copies @ 1..) => members / copies,
        _ => layout.data_members(members),
    };
    let width = of_array.stripe_chunks(layout, members);
    // mkfs.xfs adds up what it is given of an option, and mke2fs takes the last.
    let values = |option: &str| {
        let pairs = given.windows(2).filter(|pair| pair[0] == option);
        let values: Vec<&str> = pairs.map(|pair| pair[1].as_str()).collect();
        values
    };
    let names = |option: &str, names: &[&str]| {
        let pairs = values(option)
            .into_iter()
            .flat_map(|value| value.split(','));
        let mut keys = pairs.map(|pair| pair.split('=').next().unwrap_or_default());
        keys.any(|key| names.contains(&key))
    };
    match request.filesystem {
        Filesystem::Xfs => {
            if !names("-d", &["su", "sw", "sunit", "swidth", "noalign"]) {
                let stripes = format!("su={chunk},sw={width}");
                options.extend(["-d".to_owned(), stripes]);
            }
            let has_log_stripe = names("-l", &["su", "sunit"]) || request.log.is_some();
            if chunk > LARGEST_LOG_STRIPE && !has_log_stripe {
                options.extend(["-l".to_owned(), "su=32k".to_owned()]);
            }
        }
        Filesystem::Ext2 | Filesystem::Ext3 | Filesystem::Ext4 => {
            let requested: Option<u64> = values("-b").last().and_then(|block| block.parse().ok());
            let is_large = bytes.saturating_mul(data as u64) >= BLOCKS_OF_EXT_FROM;
            let block = requested
                .or(is_large.then_some(4096))
                .filter(|block| *block > 0);
            if let Some(stride) = block.map(|block| chunk / block)
                && !extended::has(options, "stride")
            {
                let width = stride * width as u64;
                extended::add(options, &format!("stride={stride},stripe_width={width}"));
            }
        }
        _ => {}
    }
}

/// The array of an entry over these leaves. None if they have none, or another one: its UUID is not that of the entry, or it has a device that
/// is not one of them.
pub fn array(entry: &Entry, role: Role) -> Result<Option<Array>, Refusal> {
    let uuids = entry.layers.iter().filter_map(|layer| match layer {
        Layer::Md { uuid, role: over } if *over == role => Some(uuid.as_str()),
        _ => None,
    });
    let uuids: Vec<&str> = uuids.collect();
    let ours = members_now(entry, role)?;
    for member in &ours {
        if let Some(array) = arrays::over(*member)? {
            let is_ours = array.members.iter().all(|number| ours.contains(number))
                && uuid_of(&array)?.is_some_and(|uuid| uuids.contains(&uuid.as_str()));
            return Ok(is_ours.then_some(array));
        }
    }
    Ok(None)
}

/// The UUID of an array: from the kernel, or from the superblock of a member where the kernel does not tell it.
fn uuid_of(array: &Array) -> Result<Option<String>, Refusal> {
    if array.uuid.is_some() {
        return Ok(array.uuid.clone());
    }
    for (major, minor) in &array.members {
        let node = format!("/dev/block/{major}:{minor}");
        let uuid = contents::uuid_of(Path::new(&node), PART_OF_MD)?;
        if uuid.is_some() {
            return Ok(uuid);
        }
    }
    Ok(None)
}

/// The numbers of these leaves of an entry, also after a reboot.
pub fn members_now(entry: &Entry, role: Role) -> Result<Vec<(u32, u32)>, Refusal> {
    let mut numbers = Vec::new();
    for member in entry.members(role) {
        numbers.extend(numbers_now(member, entry)?);
    }
    Ok(numbers)
}

/// The numbers of a member, also after a reboot, when the kernel may have assembled the array again.
fn numbers_now(member: &JournalLeaf, entry: &Entry) -> Result<Vec<(u32, u32)>, Refusal> {
    let numbers = numbers_of(member, entry)?;
    match member {
        JournalLeaf::Device { path, identity }
            if numbers.is_empty() && Path::new(path).exists() =>
        {
            let opened = device::open(path, Access::Glance)?;
            let is_it = opened.identity()?.is_medium(identity);
            Ok(is_it.then_some(opened.number).into_iter().collect())
        }
        _ => Ok(numbers),
    }
}

/// The signature of a member of an array, by which it is known while it is emptied.
pub struct Part<'a> {
    /// The type by which blkid knows it.
    pub kind: &'a str,
    pub uuid: &'a str,
    /// Bytes of the device that hold the signature.
    pub superblock: Range<u64>,
    /// The filesystem above and its UUID: the end of an array may be that of a member, with a copy of the filesystem's superblock.
    /// The entry may not know a UUID that mkfs has chosen: then this one is on no device.
    pub filesystem: (Filesystem, &'a str),
}

impl Part<'_> {
    /// True if it is on a device, and nothing of another owner.
    fn is_all_of(&self, contents: &Contents) -> bool {
        let is_it = |signature: &Signature| {
            signature.kind == self.kind && signature.uuid.as_deref() == Some(self.uuid)
        };
        let (above, uuid) = self.filesystem;
        let is_above = |signature: &Signature| {
            signature.kind == above.name() && signature.uuid.as_deref() == Some(uuid)
        };
        let signatures = contents.signatures();
        signatures.iter().any(is_it) && signatures.iter().all(|s| is_it(s) || is_above(s))
    }
}

impl UndoContext<'_> {
    /// Stops the array, and empties the members. Images need not be: their files go.
    pub fn stop_array(&mut self, entry: &Entry, role: Role, uuid: &str) -> Result<(), Refusal> {
        if let Some(array) = array(entry, role)? {
            let argv = [
                exec::require("mdadm", "mdadm")?.display().to_string(),
                "--stop".into(),
                array.node.display().to_string(),
            ];
            let stopped = self.run("stop_array", &argv);
            if self::array(entry, role)?.is_some() {
                stopped?;
            }
        }
        for member in entry.members(role) {
            if let JournalLeaf::Device { path, .. } = member
                && Path::new(path).exists()
            {
                let part = Part {
                    kind: PART_OF_MD,
                    uuid,
                    superblock: SUPERBLOCK,
                    filesystem: (entry.filesystem, &entry.uuid),
                };
                self.empty_member(member, &part)?;
            }
        }
        Ok(())
    }

    /// Empties the device that was erased for this array, and ends its record in the journal: what comes on it later is not the helper's.
    /// The superblock goes last, since the device is known by it when this is done again. Contents without it are left alone.
    pub fn empty_member(&mut self, member: &JournalLeaf, part: &Part) -> Result<(), Refusal> {
        let JournalLeaf::Device { path, identity } = member else {
            return Ok(());
        };
        let Some((claimed, facts)) = claim_member(path, identity)? else {
            return Ok(());
        };
        match facts.contents {
            Contents::Empty => return self.end_member(identity),
            // All members were wiped before the array was made.
            contents if !part.is_all_of(&contents) => {
                (self.tell)(Report {
                    step: "leave".into(),
                    argv: vec![format!("leave {path}")],
                    ms: 0.0,
                    exit_code: None,
                    output: format!("It holds {contents}."),
                });
                return self.journal.forget_held(identity);
            }
            _ => check_unused(path, facts.in_use)?,
        }
        self.make_blank(&claimed, identity, &part.superblock)?;
        self.make_blank(&claimed, identity, &(0..0))?;
        self.end_member(identity)
    }

    /// Zeros a claimed member. If that fails, the record of the journal stays, without the signatures that were erased.
    fn make_blank(
        &mut self,
        claimed: &Opened,
        identity: &Identity,
        kept: &Range<u64>,
    ) -> Result<(), Refusal> {
        let blanked = self.own("make_blank", "empty", &claimed.node, || {
            claimed.make_blank(kept)
        });
        if blanked.is_err() {
            self.journal.forget_held(identity)?;
        }
        blanked
    }

    /// An emptied device needs no record.
    fn end_member(&self, identity: &Identity) -> Result<(), Refusal> {
        self.journal.forget_older(&[], identity)?;
        self.journal.end_erasing(identity)
    }
}

/// The superblock of version 1.2.
const SUPERBLOCK: Range<u64> = 4096..8192;

/// A member, claimed, and its facts. None if it is not the device of the entry any more.
fn claim_member(path: &str, identity: &Identity) -> Result<Option<(Opened, DeviceFacts)>, Refusal> {
    let claimed = device::open(path, Access::Claim)?;
    let facts = claimed.facts()?;
    let is_it = facts.identity.is_medium(identity);
    Ok(is_it.then_some((claimed, facts)))
}

fn check_unused(path: &str, user: Option<String>) -> Result<(), Refusal> {
    match user {
        None => Ok(()),
        Some(user) => Err(
            Refusal::new(Kind::NotInThisState, format!("device {path} is in use"))
                .detail(user)
                .hint("Free it, and run pgfsbench-helper cleanup."),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgfsbench_core::helper::Storage;

    fn request(filesystem: Filesystem, layout: Layout, options: &str, mkfs: &str) -> Prepare {
        let storage = Storage::Images {
            count: 4,
            bytes: 1 << 30,
            sparse: true,
        };
        Prepare {
            layout: Some(layout),
            layout_options: Some(serde_json::from_str(options).unwrap()),
            mkfs_options: Some(mkfs.into()),
            ..Prepare::new(storage, filesystem)
        }
    }

    #[test]
    fn a_member_with_a_signature_beside_the_superblock_is_left_alone() {
        let part = Part {
            kind: PART_OF_MD,
            uuid: "1",
            superblock: SUPERBLOCK,
            filesystem: (Filesystem::Nilfs2, "5"),
        };
        let signature = |kind: &str, uuid: &str| Signature {
            kind: kind.into(),
            label: None,
            uuid: Some(uuid.into()),
        };
        let own = || signature(PART_OF_MD, "1");
        assert!(part.is_all_of(&Contents::Signature(own())));
        let at_end = Contents::Several(vec![own(), signature("nilfs2", "5")]);
        assert!(part.is_all_of(&at_end));
        let without_uuid = Signature {
            uuid: None,
            ..signature("nilfs2", "")
        };
        for other in [
            Contents::Several(vec![own(), signature("nilfs2", "6")]),
            Contents::Several(vec![own(), without_uuid]),
            Contents::Signature(signature("nilfs2", "5")),
            Contents::Signature(signature(PART_OF_MD, "2")),
            Contents::Several(vec![own(), signature("ext4", "3")]),
            Contents::Several(vec![signature("swap", "4"), own()]),
            Contents::Table("gpt".into()),
            Contents::Unknown("some bytes".into()),
        ] {
            assert!(!part.is_all_of(&other), "{other}");
        }
    }

    #[test]
    fn the_stripes_of_the_array_are_handed_to_mkfs() {
        let options = |filesystem, layout, of_layout: &str, mkfs: &str| {
            let request = request(filesystem, layout, of_layout, mkfs);
            let given: Vec<String> = mkfs.split_whitespace().map(str::to_owned).collect();
            let mut options = given.clone();
            add_geometry(&request, layout, 1 << 30, &given, &mut options);
            options.join(" ")
        };
        let xfs = |layout, of_layout, mkfs| options(Filesystem::Xfs, layout, of_layout, mkfs);
        assert_eq!(
            xfs(
                Layout::Raid5,
                r#"{"chunk": "64k"}"#,
                "-d agcount=8 -d su=64k,sw=3"
            ),
            "-d agcount=8 -d su=64k,sw=3"
        );
        assert_eq!(
            xfs(Layout::Raid5, r#"{"chunk": "64k"}"#, ""),
            "-d su=65536,sw=3"
        );
        assert_eq!(xfs(Layout::Raid6, "{}", ""), "-d su=524288,sw=2 -l su=32k");
        assert_eq!(
            xfs(Layout::Raid0, "{}", "-d noalign -l su=64k"),
            "-d noalign -l su=64k"
        );
        assert_eq!(
            xfs(
                Layout::Raid10,
                r#"{"chunk": "256k", "copies": "n4"}"#,
                "-d agcount=8"
            ),
            "-d agcount=8 -d su=262144,sw=1"
        );
        for (of_layout, width) in [
            (r#"{"chunk": "64k", "copies": "n2"}"#, 2),
            (r#"{"chunk": "64k", "copies": "f2"}"#, 4),
            (r#"{"chunk": "64k", "copies": "o2"}"#, 4),
        ] {
            let stripes = format!("-d su=65536,sw={width}");
            assert_eq!(xfs(Layout::Raid10, of_layout, ""), stripes, "{of_layout}");
        }
        assert_eq!(xfs(Layout::Raid1, "{}", ""), "");
        let ext4 = |layout, of_layout, mkfs| options(Filesystem::Ext4, layout, of_layout, mkfs);
        assert_eq!(
            ext4(Layout::Raid0, "{}", ""),
            "-E stride=128,stripe_width=512"
        );
        assert_eq!(
            ext4(Layout::Raid5, r#"{"chunk": "64k"}"#, "-b 1024 -E nodiscard"),
            "-b 1024 -E nodiscard,stride=64,stripe_width=192"
        );
        assert_eq!(
            ext4(Layout::Raid10, r#"{"copies": "f2"}"#, ""),
            "-E stride=128,stripe_width=512"
        );
        assert_eq!(ext4(Layout::Raid0, "{}", "-E stride=1"), "-E stride=1");
        assert_eq!(options(Filesystem::Btrfs, Layout::Raid0, "{}", ""), "");
    }
}

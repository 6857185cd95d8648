//! A volume of LVM over all members: a group of its own with one volume in it. A release removes the volume from the device mapper, and leaves each
//! device empty.

use super::md::{Part, members_now};
use super::{Facts, Step, Undoing};
use crate::exec;
use crate::journal::{Entry, Kept, Layer, PART_OF_LVM};
use crate::probe::arrays::Array;
use crate::probe::kernel::{self, Support};
use crate::probe::volumes::{self, Volume};
use pgfsbench_core::helper::{InitialSync, Layout, LayoutOptions, Prepare};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How lvm is called.
#[derive(Clone, Debug, PartialEq)]
pub struct Lvm {
    pub program: PathBuf,
    /// Whether udev makes the nodes of new devices: lvm waits for it.
    pub has_udev: bool,
}

/// The volume that is made.
#[derive(Clone, Debug, PartialEq)]
pub struct NewVolume {
    pub layout: Layout,
    pub options: LayoutOptions,
    pub skips_sync: bool,
}

/// Refuses a volume that the kernel cannot make.
pub fn module(layout: Layout, facts: &Facts) -> Result<Option<Step>, Refusal> {
    if facts.driver != Support::Missing && facts.level == Support::Missing {
        let message = format!("this kernel has no volumes of type {}", layout.word());
        return Err(Refusal::new(Kind::NotInThisState, message)
            .detail(format!(
                "Kernel {} finds no module {}.",
                facts.kernel,
                kernel::DM_RAID
            ))
            .hint("Give the layout lvm-linear or lvm-stripe, or one of md."));
    }
    match facts.driver {
        Support::Present => Ok(None),
        Support::Module => Ok(Some(Step::LoadModule {
            program: facts.modprobe.clone()?,
            module: kernel::DM,
        })),
        Support::Missing => Err(missing(&facts.kernel)),
    }
}

/// The refusal of a kernel without the device mapper.
pub fn missing(release: &str) -> Refusal {
    Refusal::new(Kind::NotInThisState, "this kernel has no device mapper")
        .detail(format!(
            "Kernel {release} has no {}, and modprobe finds no module {}.",
            kernel::DM_CONTROL,
            kernel::DM
        ))
        .hint("On Debian the module is in the package linux-image-amd64; or give a layout of btrfs or zfs.")
}

/// The steps that make the volume and wait for it, when all members are wiped.
pub fn steps(request: &Prepare, layout: Layout, facts: &Facts) -> Result<Vec<Step>, Refusal> {
    let lvm = Lvm {
        program: facts.lvm.clone()?,
        has_udev: facts.has_udev,
    };
    let dmsetup = facts.dmsetup.clone()?;
    let uuid = &facts.array_uuid;
    let parts = (0..request.storage.members()).map(|member| Step::MakePart {
        lvm: lvm.clone(),
        uuid: uuid.clone(),
        member,
    });
    let group = Step::MakeGroup {
        lvm: lvm.clone(),
        uuid: uuid.clone(),
    };
    let volume = Step::CreateVolume {
        lvm: lvm.clone(),
        uuid: uuid.clone(),
        volume: NewVolume {
            layout,
            options: request.layout_options.clone().unwrap_or_default(),
            skips_sync: request.initial_sync == Some(InitialSync::Skip),
        },
    };
    // The members may hold data of an earlier volume at the same places.
    let wipe = Step::WipeArray {
        program: facts.wipefs.clone()?,
    };
    let wait = layout.has_sync().then(|| Step::AwaitSync {
        volume: Some((dmsetup, name_of_volume(uuid))),
    });
    Ok((parts.chain([group, volume, wipe])).chain(wait).collect())
}

/// The name of the group.
fn group(uuid: &str) -> String {
    let short: String = uuid.chars().take(8).collect();
    format!("pgfsbench_{short}")
}

/// The name of the volume in the device mapper.
pub fn name_of_volume(uuid: &str) -> String {
    format!("{}-data", group(uuid))
}

/// The UUID of a member: that of the array in LVM's form, with the number of the member at its end.
pub fn uuid_of_part(uuid: &str, member: usize) -> String {
    let digits: String = uuid.chars().filter(char::is_ascii_hexdigit).collect();
    let digits = format!("{}{member:x}", &digits[..digits.len().saturating_sub(1)]);
    let mut rest = digits.as_str();
    let groups = [6, 4, 4, 4, 4, 4, 6].map(|length| {
        let (group, further) = rest.split_at(length.min(rest.len()));
        rest = further;
        group
    });
    groups.join("-")
}

impl Lvm {
    /// A command that sees these devices only, keeps no copies of the metadata in /etc, and has the volume watched by no daemon.
    fn command(&self, command: &str, members: &[PathBuf]) -> Vec<String> {
        let udev = match self.has_udev {
            true => "",
            false => " udev_sync=0 udev_rules=0 verify_udev_operations=1",
        };
        let config = format!(
            "backup{{backup=0 archive=0}} devices{{obtain_device_list_from_udev=0}} activation{{monitoring=0{udev}}}"
        );
        let members: Vec<_> = members.iter().map(|m| m.display().to_string()).collect();
        [
            self.program.display().to_string(),
            command.to_owned(),
            "--yes".into(),
            "--devices".into(),
            members.join(","),
            "--config".into(),
            config,
        ]
        .to_vec()
    }

    /// The command that makes a member one of LVM.
    pub fn make_part(&self, uuid: &str, member: usize, members: &[PathBuf]) -> Vec<String> {
        let device = members.get(member).map(|m| m.display().to_string());
        let mut argv = self.command("pvcreate", members);
        argv.extend(["--norestorefile".into(), "--uuid".into()]);
        argv.push(uuid_of_part(uuid, member));
        argv.extend(device);
        argv
    }

    /// The command that makes the group. It is not activated at boot.
    pub fn make_group(&self, uuid: &str, members: &[PathBuf]) -> Vec<String> {
        let mut argv = self.command("vgcreate", members);
        argv.extend(["--setautoactivation", "n"].map(String::from));
        argv.push(group(uuid));
        argv.extend(members.iter().map(|m| m.display().to_string()));
        argv
    }

    /// The command that makes the volume, of all room. What lies on the members is wiped afterwards.
    pub fn create_volume(
        &self,
        uuid: &str,
        volume: &NewVolume,
        members: &[PathBuf],
    ) -> Vec<String> {
        let NewVolume {
            layout,
            options,
            skips_sync,
        } = volume;
        let mut argv = self.command("lvcreate", members);
        argv.extend(["--type".into(), layout.word().into()]);
        let data = layout.data_members(members.len());
        match layout {
            Layout::LvmRaid1 => argv.extend(["--mirrors".into(), (members.len() - 1).to_string()]),
            Layout::LvmRaid10 => argv.extend(["--mirrors".into(), "1".into()]),
            _ => {}
        }
        if let Some(chunk) = options.chunk_bytes(*layout) {
            argv.extend(["--stripes".into(), data.to_string()]);
            argv.extend(["--stripesize".into(), format!("{}k", chunk >> 10)]);
        }
        if *skips_sync {
            argv.push("--nosync".into());
        }
        argv.extend(
            [
                "--wipesignatures",
                "n",
                "--zero",
                "n",
                "--extents",
                "100%FREE",
            ]
            .map(String::from),
        );
        argv.extend(["--name".into(), "data".into(), group(uuid)]);
        argv
    }
}

/// The volume of an entry. None if it is not there, or stands on other devices than its members.
pub fn array(entry: &Entry) -> Result<Option<Array>, Refusal> {
    let uuids = entry.layers.iter().filter_map(|layer| match layer {
        Layer::Lvm { uuid } => Some(uuid),
        _ => None,
    });
    for uuid in uuids {
        if let Some(volume) = volume_over(uuid, &members_now(entry)?)? {
            return Ok(Some(volume));
        }
    }
    Ok(None)
}

/// The volume of this UUID, if it stands on no other devices than these.
pub fn volume_over(uuid: &str, members: &[(u32, u32)]) -> Result<Option<Array>, Refusal> {
    let name = name_of_volume(uuid);
    let mut found = volumes::of_group(&name)?.into_iter();
    let found = found.find(|volume| volume.name == name && is_on(volume, members));
    Ok(found.map(|volume| Array {
        node: volume.node,
        number: volume.number,
        uuid: None,
        members: volume.leaves,
    }))
}

fn is_on(volume: &Volume, members: &[(u32, u32)]) -> bool {
    !volume.leaves.is_empty() && volume.leaves.iter().all(|leaf| members.contains(leaf))
}

/// The label of LVM, with the UUID of the member.
const LABEL: Range<u64> = 512..1024;

/// A volume of RAID over all members has two volumes for each, and one above.
const MOST_VOLUMES: usize = 64;

impl Undoing<'_> {
    /// Removes the volumes, and empties the members. Images need not be: their files go.
    pub fn remove_volumes(&mut self, entry: &Entry, uuid: &str) -> Result<(), Refusal> {
        let members = members_now(entry)?;
        let ours = || -> Result<Vec<Volume>, Refusal> {
            let mut all = volumes::of_group(&format!("{}-", group(uuid)))?;
            all.retain(|volume| is_on(volume, &members));
            Ok(all)
        };
        for _ in 0..MOST_VOLUMES {
            let all = ours()?;
            let Some(volume) = all.iter().find(|v| !v.is_held).or(all.first()) else {
                break;
            };
            let argv = remove(
                &exec::require("dmsetup", "dmsetup")?,
                &volume.name,
                has_udev(),
            );
            let removed = self.run("remove_volume", &argv);
            if ours()?.iter().any(|left| left.name == volume.name) {
                removed?;
            }
        }
        for (number, member) in entry.members().enumerate() {
            if let Kept::Device { path, .. } = member
                && Path::new(path).exists()
            {
                let part = Part {
                    kind: PART_OF_LVM,
                    uuid: &uuid_of_part(uuid, number),
                    superblock: LABEL,
                    mdadm: None,
                };
                self.empty_member(member, &part)?;
            }
        }
        Ok(())
    }
}

/// The command that removes a volume from the device mapper.
pub fn remove(dmsetup: &Path, name: &str, has_udev: bool) -> Vec<String> {
    let mut argv = vec![dmsetup.display().to_string(), "remove".into()];
    argv.extend((!has_udev).then(|| "--noudevsync".to_owned()));
    argv.push(name.to_owned());
    argv
}

/// True if udev runs.
pub fn has_udev() -> bool {
    Path::new("/run/udev/control").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "12345678-0000-4000-8000-00000000000f";

    #[test]
    fn each_member_has_a_uuid_of_its_own_in_the_form_of_lvm() {
        assert_eq!(
            uuid_of_part(UUID, 0),
            "123456-7800-0040-0080-0000-0000-000000"
        );
        assert_eq!(
            uuid_of_part(UUID, 15),
            "123456-7800-0040-0080-0000-0000-00000f"
        );
    }

    #[test]
    fn lvm_is_told_all_that_it_would_ask_or_choose() {
        let lvm = |has_udev| Lvm {
            program: "/sbin/lvm".into(),
            has_udev,
        };
        let members = ["/dev/loop1", "/dev/loop2", "/dev/loop3", "/dev/loop4"].map(PathBuf::from);
        const BEGIN: &str = "--yes --devices /dev/loop1,/dev/loop2,/dev/loop3,/dev/loop4 --config \
             backup{backup=0 archive=0} devices{obtain_device_list_from_udev=0} activation{monitoring=0";
        assert_eq!(
            lvm(true).make_part(UUID, 1, &members).join(" "),
            format!(
                "/sbin/lvm pvcreate {BEGIN}}} --norestorefile --uuid 123456-7800-0040-0080-0000-0000-000001 /dev/loop2"
            )
        );
        assert_eq!(
            lvm(false).make_group(UUID, &members).join(" "),
            format!(
                "/sbin/lvm vgcreate {BEGIN} udev_sync=0 udev_rules=0 verify_udev_operations=1}} \
                 --setautoactivation n pgfsbench_12345678 /dev/loop1 /dev/loop2 /dev/loop3 /dev/loop4"
            )
        );
        let volume = |layout, options: &str, skips_sync| {
            let volume = NewVolume {
                layout,
                options: serde_json::from_str(options).unwrap(),
                skips_sync,
            };
            let argv = lvm(true).create_volume(UUID, &volume, &members);
            let line = argv.join(" ");
            let line = line.strip_prefix(&format!("/sbin/lvm lvcreate {BEGIN}}} --type "));
            let end =
                " --wipesignatures n --zero n --extents 100%FREE --name data pgfsbench_12345678";
            line.unwrap().strip_suffix(end).unwrap().to_owned()
        };
        for (layout, options, skips, words) in [
            (Layout::LvmLinear, "{}", false, "linear"),
            (
                Layout::LvmStripe,
                "{}",
                false,
                "striped --stripes 4 --stripesize 64k",
            ),
            (Layout::LvmRaid1, "{}", true, "raid1 --mirrors 3 --nosync"),
            (
                Layout::LvmRaid5,
                r#"{"chunk": "256k"}"#,
                false,
                "raid5 --stripes 3 --stripesize 256k",
            ),
            (
                Layout::LvmRaid6,
                "{}",
                false,
                "raid6 --stripes 2 --stripesize 64k",
            ),
            (
                Layout::LvmRaid10,
                "{}",
                false,
                "raid10 --mirrors 1 --stripes 2 --stripesize 64k",
            ),
        ] {
            assert_eq!(volume(layout, options, skips), words);
        }
        let line = |has_udev| remove(Path::new("/sbin/dmsetup"), "x-data", has_udev).join(" ");
        assert_eq!(line(true), "/sbin/dmsetup remove x-data");
        assert_eq!(line(false), "/sbin/dmsetup remove --noudevsync x-data");
    }
}

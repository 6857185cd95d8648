//! The command lines that make a volume of LVM, and remove it, with the names that it has.

use pgfsbench_core::helper::{Layout, LayoutOptions};
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

/// The name of the group.
pub fn group(uuid: &str) -> String {
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

/// The command that removes a volume from the device mapper.
pub fn remove(dmsetup: &Path, name: &str, has_udev: bool) -> Vec<String> {
    let mut argv = vec![dmsetup.display().to_string(), "remove".into()];
    argv.extend((!has_udev).then(|| "--noudevsync".to_owned()));
    argv.push(name.to_owned());
    argv
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

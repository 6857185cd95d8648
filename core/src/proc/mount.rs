//! `/proc/self/mountinfo`: which mount a path is on. Its format is described in proc_pid_mountinfo(5).

use serde::{Deserialize, Serialize};

use super::{MOUNTINFO, ParseError};

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// Major number of st_dev of files on it. On btrfs and overlay files can have another st_dev.
    pub major: u32,
    /// Minor number of it.
    pub minor: u32,
    /// The directory of the filesystem that is mounted: `/`, or deeper for bind mounts and subvolumes.
    pub root: String,
    pub mount_point: String,
    /// Options of the mount, then those of the filesystem that are not among them, separated by commas.
    pub options: String,
    /// The filesystem's type.
    pub fs_type: String,
    /// The source: mostly a device.
    pub source: String,
}

impl Mount {
    /// The value of an option: Some("") for one without a value, None when it is not set.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options
            .split(',')
            .map(|o| o.split_once('=').unwrap_or((o, "")))
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v)
    }

    /// The device that it is on by its name, where the number does not say it. Of other filesystems whoever mounts, with FUSE
    /// any user, chooses what stands there as the source.
    pub fn device_by_name(&self) -> Option<&str> {
        let is_known_by_name = NUMBERED_BY_THEMSELVES.contains(&self.fs_type.as_str());
        Some(self.source.as_str()).filter(|name| is_known_by_name && name.starts_with("/dev/"))
    }
}

/// Filesystems on devices whose files have another st_dev than the device's number.
const NUMBERED_BY_THEMSELVES: [&str; 2] = ["btrfs", "bcachefs"];

/// Mount options by which filesystems do not flush, as kernels show them.
const NO_FLUSH: [&str; 5] = [
    "nobarrier",
    "barrier=0",
    "barrier=none",
    "fsync_mode=nobarrier",
    "nobarriers",
];

/// True if a filesystem with these mount options does not flush its device.
pub fn has_barriers_off(options: &str) -> bool {
    options.split(',').any(|option| NO_FLUSH.contains(&option))
}

/// The mount option, among these with commas, by which a filesystem compresses what is written; None when there is none.
pub fn compressing_option(options: &str) -> Option<&str> {
    const NAMES: [&str; 4] = [
        "compress",
        "compress-force",
        "compress_algorithm",
        "compression",
    ];
    options.split(',').find(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        NAMES.contains(&name) && !["no", "none"].contains(&value)
    })
}

/// Parses the text of `/proc/self/mountinfo`, in its order, which is the order of mounting. Fails with the line that is
/// not understood.
pub fn parse_mountinfo(text: &str) -> Result<Vec<Mount>, ParseError> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty());
    lines
        .map(|(i, line)| {
            let problem = "expected: id, parent, major:minor, root, mount point, options, \"-\", type, source, options";
            parse_line(line).ok_or_else(|| ParseError { path: MOUNTINFO, line: Some(i + 1), problem: problem.into() })
        })
        .collect()
}

/// The same of what the kernel told, whatever the bytes. A line that is not understood is left out: anybody may name a mount as he
/// likes, and the others are there all the same.
pub fn understood_mounts(mountinfo: &[u8]) -> Vec<Mount> {
    String::from_utf8_lossy(mountinfo)
        .lines()
        .filter_map(parse_line)
        .collect()
}

/// The mount that `path`, absolute and without symbolic links, is on. `device` is (major, minor) of its st_dev.
///
/// It is the mount with the longest mount point that leads to the path and has this device; the latest, when one covers
/// the other. When none has this device (btrfs, overlay), or `device` is None, the device does not count. When no
/// mount point leads to the path (seen from another mount namespace), any mount of the device will do.
pub fn mount_of<'m>(
    mounts: &'m [Mount],
    path: &str,
    device: Option<(u32, u32)>,
) -> Option<&'m Mount> {
    let on_device = |m: &&Mount| device == Some((m.major, m.minor));
    let leading = || mounts.iter().filter(|m| leads_to(&m.mount_point, path));
    // max_by_key takes the last of equals: the mount on top.
    leading()
        .filter(on_device)
        .max_by_key(|m| m.mount_point.len())
        .or_else(|| leading().max_by_key(|m| m.mount_point.len()))
        .or_else(|| mounts.iter().find(on_device))
}

fn leads_to(mount_point: &str, path: &str) -> bool {
    path.strip_prefix(mount_point.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn parse_line(line: &str) -> Option<Mount> {
    let (mount, filesystem) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(2);
    let (major, minor) = mount.next()?.split_once(':')?;
    let (root, mount_point, mount_options) = (mount.next()?, mount.next()?, mount.next()?);
    // The source can be empty: two blanks follow each other. The options are the rest of the line: filesystems write them, and not
    // all of them escape blanks.
    let mut filesystem = filesystem.splitn(3, ' ');
    let (fs_type, source, super_options) =
        (filesystem.next()?, filesystem.next()?, filesystem.next()?);
    Some(Mount {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        root: unescape(root),
        mount_point: unescape(mount_point),
        options: merge(&unescape(mount_options), &unescape(super_options)),
        fs_type: unescape(fs_type),
        source: unescape(source),
    })
}

fn merge(first: &str, second: &str) -> String {
    let known: Vec<&str> = first.split(',').collect();
    let further = second
        .split(',')
        .filter(|o| !o.is_empty() && !known.contains(o));
    known
        .iter()
        .copied()
        .chain(further)
        .collect::<Vec<_>>()
        .join(",")
}

/// Blank, tab, newline, backslash and # are written as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, octal(tail)) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            _ => bytes.push(*first),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn octal(text: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(text.get(..3)?).ok()?;
    u8::from_str_radix(digits, 8)
        .ok()
        .filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXT4: &str = "\
22 28 0:21 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
40 28 8:17 / /var/lib/postgresql rw,noatime shared:20 master:3 - ext4 /dev/sdb1 rw,nobarrier,data=ordered
41 28 8:17 /backup /backup rw,noatime - ext4 /dev/sdb1 rw,nobarrier,data=ordered
";
    const OVERLAY: &str = "\
600 500 0:52 / / rw,relatime master:150 - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,workdir=/d
601 600 0:55 / /proc rw,nosuid - proc proc rw
602 600 254:1 /volumes/pg /var/lib/postgresql/data rw,relatime - xfs /dev/vda1 rw,attr2,inode64
";
    const BTRFS: &str = "\
28 1 0:26 /@ / rw,relatime shared:1 - btrfs /dev/nvme0n1p2 rw,ssd,space_cache=v2,subvolid=256,subvol=/@
35 28 0:26 /@pg /srv/my\\040data\\134x rw,noatime - btrfs /dev/nvme0n1p2 rw,ssd,space_cache=v2,subvolid=260,subvol=/@pg
";

    fn on(text: &str, path: &str, device: Option<(u32, u32)>) -> (String, String, String) {
        let mounts = parse_mountinfo(text).unwrap();
        let m = mount_of(&mounts, path, device).unwrap();
        (m.source.clone(), m.fs_type.clone(), m.mount_point.clone())
    }

    fn owned(source: &str, fs_type: &str, mount_point: &str) -> (String, String, String) {
        (source.into(), fs_type.into(), mount_point.into())
    }

    #[test]
    fn ext4_by_device_and_by_path() {
        let data = "/var/lib/postgresql/15/main";
        let expected = owned("/dev/sdb1", "ext4", "/var/lib/postgresql");
        assert_eq!(on(EXT4, data, Some((8, 17))), expected);
        assert_eq!(on(EXT4, data, None), expected);
        assert_eq!(on(EXT4, "/var/lib/postgresql", None), expected);
        assert_eq!(on(EXT4, "/var/lib/postgresql2", None).2, "/");
        assert_eq!(on(EXT4, "/backup/x", Some((8, 17))).2, "/backup");
    }

    #[test]
    fn options_of_mount_and_filesystem() {
        let mounts = parse_mountinfo(EXT4).unwrap();
        let m = mount_of(&mounts, "/var/lib/postgresql", None).unwrap();
        assert_eq!(m.options, "rw,noatime,nobarrier,data=ordered");
        assert_eq!(
            (m.option("nobarrier"), m.option("data"), m.option("barrier")),
            (Some(""), Some("ordered"), None)
        );
        assert_eq!((m.major, m.minor, m.root.as_str()), (8, 17, "/"));
    }

    #[test]
    fn a_container_on_overlay() {
        assert_eq!(
            on(OVERLAY, "/var/lib/postgresql/data/base", Some((254, 1))).1,
            "xfs"
        );
        assert_eq!(
            on(OVERLAY, "/tmp/pg", Some((0, 99))),
            owned("overlay", "overlay", "/"),
            "st_dev of a lower layer"
        );
    }

    #[test]
    fn btrfs_where_st_dev_is_the_subvolume() {
        let expected = owned("/dev/nvme0n1p2", "btrfs", "/srv/my data\\x");
        assert_eq!(on(BTRFS, "/srv/my data\\x/base/1", Some((0, 31))), expected);
    }

    #[test]
    fn the_mount_on_top_counts() {
        let text = format!("{EXT4}50 28 0:60 / /var/lib/postgresql rw - tmpfs tmpfs rw\n");
        assert_eq!(on(&text, "/var/lib/postgresql/x", None).1, "tmpfs");
        assert_eq!(on(&text, "/var/lib/postgresql/x", Some((8, 17))).1, "ext4");
    }

    #[test]
    fn nfs_has_no_device_behind_its_source() {
        let text = format!(
            "{EXT4}70 28 0:55 / /srv/pg rw,noatime shared:40 - nfs4 db-store:/export/pg rw,vers=4.2,hard,proto=tcp\n"
        );
        assert_eq!(
            on(&text, "/srv/pg/15/main", Some((0, 55))),
            owned("db-store:/export/pg", "nfs4", "/srv/pg")
        );
    }

    #[test]
    fn another_namespace() {
        let mounts: Vec<Mount> = parse_mountinfo(EXT4)
            .unwrap()
            .into_iter()
            .filter(|m| m.mount_point != "/")
            .collect();
        assert_eq!(
            mount_of(&mounts, "/elsewhere", Some((8, 17))).map(|m| m.source.as_str()),
            Some("/dev/sdb1")
        );
        assert_eq!(mount_of(&mounts, "/elsewhere", Some((9, 9))), None);
    }

    #[test]
    fn a_source_may_be_empty() {
        let mounts = parse_mountinfo("1 1 0:5 / /x rw - tmpfs  rw,size=1k\n").unwrap();
        assert_eq!(
            (mounts[0].source.as_str(), mounts[0].option("size")),
            ("", Some("1k"))
        );
    }

    #[test]
    fn options_go_to_the_end_of_the_line() {
        let line =
            "1 1 0:5 / /x rw,noatime - 9p share rw,access=client,aname=/srv/my data,trans=virtio\n";
        let mounts = parse_mountinfo(line).unwrap();
        assert_eq!(
            mounts[0].options,
            "rw,noatime,access=client,aname=/srv/my data,trans=virtio"
        );
        assert_eq!(mounts[0].option("aname"), Some("/srv/my data"));
        assert_eq!(mounts[0].option("trans"), Some("virtio"));
    }

    #[test]
    fn a_name_that_anybody_may_choose_is_no_device() {
        let text = "\
1 1 0:30 / /a rw - btrfs /dev/sdb rw\n\
2 1 0:31 / /b rw - fuse /dev/sdb1 rw\n\
3 1 0:32 / /c rw - fuse.btrfs /dev/sdb1 rw\n\
4 1 0:33 / /d rw - tmpfs /dev/sdb1 rw\n\
5 1 8:17 / /e rw - ext4 /dev/sdb1 rw\n\
6 1 0:34 / /f rw - btrfs sdb rw\n";
        let mounts = parse_mountinfo(text).unwrap();
        let named: Vec<_> = mounts.iter().filter_map(Mount::device_by_name).collect();
        assert_eq!(named, ["/dev/sdb"]);
    }

    #[test]
    fn errors_name_file_and_line() {
        for bad in [
            "rubbish",
            "1 2 8 / / rw - ext4 s rw",
            "1 2 8:x / / rw - ext4 s rw",
            "1 2 8:1 / / rw ext4 s rw",
        ] {
            let error = parse_mountinfo(&format!("{EXT4}{bad}\n")).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("could not parse file \"/proc/self/mountinfo\", line 5: "),
                "{error}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9: /\\\\a-z\n-]*") {
            let _ = parse_mountinfo(&text);
        }

        /// Of those that lead to the path the one that is nearest to it; if there is none, none.
        #[test]
        fn no_other_is_nearer(places in prop::collection::vec("(/[ab]{1,2}){0,3}", 0..6), path in "(/[ab]{1,2}){1,4}") {
            let line = |place: &String| format!("1 2 8:1 / /{} rw - ext4 x rw\n", place.trim_start_matches('/'));
            let text: String = places.iter().map(line).collect();
            let mounts = parse_mountinfo(&text).unwrap();
            prop_assert_eq!(mounts.len(), places.len());
            let leads = |m: &&Mount| std::path::Path::new(&path).starts_with(&m.mount_point);
            let nearest = mounts.iter().filter(leads).map(|m| m.mount_point.len()).max();
            prop_assert_eq!(mount_of(&mounts, &path, None).map(|m| m.mount_point.len()), nearest);
        }

        #[test]
        fn escapes_are_undone(text in "[ -~é]*") {
            let escaped: String = text.chars().map(|c| match c {
                ' ' => "\\040".to_owned(),
                '\\' => "\\134".to_owned(),
                '#' => "\\043".to_owned(),
                c => c.to_string(),
            }).collect();
            prop_assert_eq!(unescape(&escaped), text);
        }
    }

    #[test]
    fn a_mount_with_a_name_that_nobody_understands_hides_no_other() {
        let mut text = EXT4.as_bytes().to_vec();
        text.extend(b"50 28 0:60 / /home/eve/\xff rw - fuse.x \xfe\xff rw\nnonsense\n");
        let mounts = understood_mounts(&text);
        assert_eq!(mounts.len(), 5);
        assert_eq!(mounts[1].mount_point, "/");
        assert_eq!(mounts[4].fs_type, "fuse.x");
    }
}

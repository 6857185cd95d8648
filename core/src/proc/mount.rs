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

    /// The device by its name, where the number does not say it. The source of other filesystems is chosen by the process that mounts them, with FUSE
    /// by any user.
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

/// The lines of a mount table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mountinfo {
    /// The mounts, in the order of mounting.
    pub mounts: Vec<Mount>,
    /// Lines that cannot be read.
    pub odd: Vec<OddMount>,
}

/// A line of a mount table that cannot be read. A decision that must be safe takes it for any mount that the readable parts of
/// the line do not exclude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OddMount {
    /// The line, from 1.
    pub line: usize,
    /// The device number, if that part of the line can be read.
    pub number: Option<(u32, u32)>,
    /// The mount point, if that part and the parts before it can be read.
    pub mount_point: Option<String>,
}

impl OddMount {
    fn of(line: usize, text: &str) -> Self {
        let mut words = text.split(' ').skip(2);
        let number = words.next().and_then(parse_number);
        let mount_point = number
            .and(words.nth(1))
            .filter(|path| path.starts_with('/'));
        Self {
            line,
            number,
            mount_point: mount_point.map(unescape),
        }
    }

    /// True unless the line excludes that it is a mount of the device with this number. Filesystems that number themselves have
    /// major number 0, so that such a line can be a mount of any device.
    pub fn may_be_of(&self, device: (u32, u32)) -> bool {
        self.number
            .is_none_or(|number| number.0 == 0 || number == device)
    }

    /// True unless the line excludes that something is mounted on a directory that `is_it` accepts.
    pub fn may_be_on(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.mount_point.as_deref().is_none_or(is_it)
    }

    /// The error of a decision that needs this line.
    pub fn error(&self) -> ParseError {
        ParseError {
            path: MOUNTINFO,
            line: Some(self.line),
            problem: "expected: id, parent, major:minor, root, mount point, options, \"-\", type, source, options".into(),
        }
    }
}

impl Mountinfo {
    /// The mounts, for a decision that must be safe; the error of the first line that cannot be read and that `may_matter`.
    pub fn unless_odd(
        self,
        may_matter: impl Fn(&OddMount) -> bool,
    ) -> Result<Vec<Mount>, ParseError> {
        match self.odd.iter().find(|odd| may_matter(odd)) {
            Some(odd) => Err(odd.error()),
            None => Ok(self.mounts),
        }
    }
}

/// Parses the text of `/proc/self/mountinfo`. A line that cannot be read costs that line only.
pub fn parse_mountinfo(text: &str) -> Mountinfo {
    let mut found = Mountinfo::default();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match parse_line(line) {
            Some(mount) => found.mounts.push(mount),
            None => found.odd.push(OddMount::of(index + 1, line)),
        }
    }
    found
}

/// The mounts of what the kernel told, whatever the bytes, without the lines that cannot be read: for descriptions, which are
/// no decisions about safety.
pub fn understood_mounts(mountinfo: &[u8]) -> Vec<Mount> {
    parse_mountinfo(&String::from_utf8_lossy(mountinfo)).mounts
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

/// gVisor and others leave the last columns out, and Windows puts blanks into the options: they go to the end of the line.
fn parse_line(line: &str) -> Option<Mount> {
    let (mount, filesystem) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(2);
    let (major, minor) = parse_number(mount.next()?)?;
    let (root, mount_point, mount_options) = (mount.next()?, mount.next()?, mount.next()?);
    // The options are the rest of the line: filesystems write them, and not all of them escape blanks.
    let mut filesystem = filesystem.splitn(3, ' ');
    // The source can be empty: two blanks follow each other.
    let fs_type = filesystem.next().filter(|name| !name.is_empty())?;
    let (source, super_options) = (filesystem.next(), filesystem.next());
    Some(Mount {
        major,
        minor,
        root: unescape(root),
        mount_point: unescape(mount_point),
        options: merge(
            &unescape(mount_options),
            &unescape(super_options.unwrap_or_default()),
        ),
        fs_type: unescape(fs_type),
        source: unescape(source.unwrap_or_default()),
    })
}

fn parse_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
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

/// Undoes the escapes of the kernel: blank, tab, newline, backslash and # are written as a backslash and three octal digits.
pub(super) fn unescape(text: &str) -> String {
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

    fn mounts_of(text: &str) -> Vec<Mount> {
        parse_mountinfo(text).unless_odd(|_| true).unwrap()
    }

    fn on(text: &str, path: &str, device: Option<(u32, u32)>) -> (String, String, String) {
        let mounts = mounts_of(text);
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
        let mounts = mounts_of(EXT4);
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
        let mounts: Vec<Mount> = mounts_of(EXT4)
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
        let mounts = mounts_of("1 1 0:5 / /x rw - tmpfs  rw,size=1k\n");
        assert_eq!(
            (mounts[0].source.as_str(), mounts[0].option("size")),
            ("", Some("1k"))
        );
    }

    #[test]
    fn options_go_to_the_end_of_the_line() {
        let line =
            "1 1 0:5 / /x rw,noatime - 9p share rw,access=client,aname=/srv/my data,trans=virtio\n";
        let mounts = mounts_of(line);
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
        let mounts = mounts_of(text);
        let named: Vec<_> = mounts.iter().filter_map(Mount::device_by_name).collect();
        assert_eq!(named, ["/dev/sdb"]);
    }

    #[test]
    fn a_line_that_cannot_be_read_costs_that_line() {
        let root = Some("/");
        for (text, number, mount_point) in [
            ("rubbish", None, None),
            ("1 2 8 / / rw - ext4 s rw", None, None),
            ("1 2 8:x / / rw - ext4 s rw", None, None),
            ("1 2 8:33 / / rw ext4 s rw", Some((8, 33)), root),
            ("1 2 8:33 /", Some((8, 33)), None),
            ("1 2 8:33  / rw", Some((8, 33)), root),
            ("1 2 8:33 / rw", Some((8, 33)), None),
            ("1 2 0:33 / / rw shared:1 -", Some((0, 33)), root),
            ("1 2 8:33 / /a\\040b rw - ", Some((8, 33)), Some("/a b")),
        ] {
            let found = parse_mountinfo(&format!("{text}\n\n{EXT4}"));
            assert_eq!(found.mounts, mounts_of(EXT4), "{text}");
            let odd = OddMount {
                line: 1,
                number,
                mount_point: mount_point.map(str::to_owned),
            };
            assert_eq!(found.odd, [odd], "{text}");
            assert_eq!(found.clone().unless_odd(|_| false), Ok(mounts_of(EXT4)));
            // A decision that needs the line does without none of them.
            let error = found.unless_odd(|_| true).unwrap_err();
            assert!(
                error
                    .to_string()
                    .starts_with("could not parse file \"/proc/self/mountinfo\", line 1: "),
                "{error}"
            );
        }
    }

    #[test]
    fn an_odd_line_can_be_any_mount_that_it_does_not_exclude() {
        let odd = |number, mount_point: Option<&str>| OddMount {
            line: 1,
            number,
            mount_point: mount_point.map(str::to_owned),
        };
        assert!(!odd(Some((8, 33)), None).may_be_of((8, 17)));
        for doubtful in [Some((8, 17)), Some((0, 26)), None] {
            assert!(odd(doubtful, None).may_be_of((8, 17)), "{doubtful:?}");
        }
        let is_it = |path: &str| path == "/srv";
        assert!(!odd(None, Some("/")).may_be_on(is_it));
        assert!(odd(None, Some("/srv")).may_be_on(is_it) && odd(None, None).may_be_on(is_it));
    }

    /// gVisor, LXCFS in a container, WSL, and a kernel of RHEL 6.
    #[test]
    fn lines_of_other_kernels() {
        let text = "\
2 1 0:20 / / rw - overlay none rw
3 2 0:21 / /dev/shm rw - tmpfs none
4 2 0:22 / /dev/pts rw,noexec - devpts
640 600 0:51 /proc/meminfo /proc/meminfo rw,nosuid,nodev,relatime - fuse.lxcfs lxcfs rw,user_id=0,group_id=0,allow_other
70 60 0:56 / /mnt/c rw,noatime - 9p C:\\134 rw,dirsync,aname=drvfs;path=C:\\;uid=0;symlinkroot=/mnt/ my files/,mmap,access=client
20 1 253:0 / / rw,relatime - ext4 /dev/mapper/vg_db-lv_root rw,barrier=1,data=ordered
";
        let mounts = mounts_of(text);
        let types: Vec<&str> = mounts.iter().map(|m| m.fs_type.as_str()).collect();
        assert_eq!(
            types,
            ["overlay", "tmpfs", "devpts", "fuse.lxcfs", "9p", "ext4"]
        );
        assert_eq!(
            (mounts[2].source.as_str(), mounts[2].options.as_str()),
            ("", "rw,noexec")
        );
        assert_eq!(mounts[4].source, "C:\\");
        assert!(
            mounts[4]
                .options
                .ends_with("symlinkroot=/mnt/ my files/,mmap,access=client")
        );
        assert_eq!(mounts[5].option("data"), Some("ordered"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[0-9: /\\\\a-z\n-]*") {
            parse_mountinfo(&text);
        }

        /// The mount found is the one nearest to the path, or none if none leads there.
        #[test]
        fn no_other_is_nearer(places in prop::collection::vec("(/[ab]{1,2}){0,3}", 0..6), path in "(/[ab]{1,2}){1,4}") {
            let line = |place: &String| format!("1 2 8:1 / /{} rw - ext4 x rw\n", place.trim_start_matches('/'));
            let text: String = places.iter().map(line).collect();
            let mounts = mounts_of(&text);
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

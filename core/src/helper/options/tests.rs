use super::*;
use crate::refusal::{Kind, check};
use proptest::prelude::*;

fn mkfs(filesystem: Filesystem, text: &str) -> String {
    mkfs_arguments(filesystem, text)
        .unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
        .join(" ")
}

fn mount(filesystem: Filesystem, text: &str) -> String {
    mount_options(filesystem, text)
        .unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
        .join(",")
}

#[test]
fn what_people_ask_for_is_accepted() {
    use Filesystem::*;
    for (fs, text, arguments) in [
        (Ext4, "", ""),
        (
            Ext4,
            "  -b4096   -E stride=16,stripe_width=64 ",
            "-b 4096 -E stride=16,stripe_width=64",
        ),
        (
            Ext4,
            "-O ^has_journal,extent -m 0.5",
            "-O ^has_journal,extent -m 0.5",
        ),
        (
            Ext4,
            "-J size=400 -E lazy_itable_init=0,nodiscard",
            "-J size=400 -E lazy_itable_init=0,nodiscard",
        ),
        (Ext3, "-j -T largefile4", "-j -T largefile4"),
        (
            Xfs,
            "-l size=128m,lazy-count=1 -d su=64k,sw=4",
            "-l size=128m,lazy-count=1 -d su=64k,sw=4",
        ),
        (
            Btrfs,
            "--csum=xxhash -n 16k -m single",
            "--csum xxhash -n 16k -m single",
        ),
        (F2fs, "-a 0 -o 5", "-a 0 -o 5"),
        (Jfs, "-s 128", "-s 128"),
        (Nilfs2, "-B 1024 -O ^block_count", "-B 1024 -O ^block_count"),
        (Reiserfs, "--format 3.6 -h tea", "--format 3.6 -h tea"),
    ] {
        assert_eq!(mkfs(fs, text), arguments);
    }
    for (fs, text, options) in [
        (Ext4, "", "nosuid,nodev"),
        (Ext4, "noatime,nodev", "nosuid,nodev,noatime"),
        (
            Ext4,
            "noatime, barrier=0,data=writeback,commit=30,",
            "nosuid,nodev,noatime,barrier=0,data=writeback,commit=30",
        ),
        (
            Xfs,
            "noatime,logbsize=256k,logbufs=8",
            "nosuid,nodev,noatime,logbsize=256k,logbufs=8",
        ),
        (
            Btrfs,
            "compress=zstd:3,nodatacow,discard=async",
            "nosuid,nodev,compress=zstd:3,nodatacow,discard=async",
        ),
        (Btrfs, "compress", "nosuid,nodev,compress"),
        (F2fs, "fsync_mode=strict", "nosuid,nodev,fsync_mode=strict"),
        (Jfs, "discard=0", "nosuid,nodev,discard=0"),
        (
            Reiserfs,
            "notail,barrier=flush",
            "nosuid,nodev,notail,barrier=flush",
        ),
    ] {
        assert_eq!(mount(fs, text), options);
    }
}

#[test]
fn what_reaches_further_is_refused_by_name() {
    use Filesystem::*;
    for (fs, text, word) in [
        (Ext4, "-c", "\"-c\""),
        (Ext4, "-cc", "\"-c\""),
        (Ext4, "-l /etc/passwd", "\"-l\""),
        (Ext4, "-d /root", "\"-d\""),
        (Ext4, "-z /tmp/undo", "\"-z\""),
        (Ext4, "-J device=/dev/sda", "\"device=/dev/sda\""),
        (Ext4, "-J size=4,device=/dev/sda", "\"device=/dev/sda\""),
        (Ext4, "-O journal_dev", "\"journal_dev\""),
        (Ext4, "-E offset=5", "\"offset=5\""),
        (Ext4, "-E root_owner=0:0", "\"root_owner=0:0\""),
        (Ext4, "-b", "\"-b\""),
        (Ext4, "-b -F", "\"-F\""),
        (Ext4, "-j/dev/sda", "\"/dev/sda\""),
        (Ext4, "/dev/sda", "\"/dev/sda\""),
        (Ext4, "-- /dev/sda", "\"--\""),
        (Ext4, "-", "\"-\""),
        (Ext4, "-é", "invalid"),
        // mke2fs would make 2048 of it.
        (Ext4, "-b 3000", "\"3000\""),
        (Ext3, "-b3000", "\"3000\""),
        (Ext2, "-b 3k", "\"3k\""),
        (Ext4, "-b 4096\n-c", "invalid"),
        (Ext4, "-b $(reboot)", "\"$(reboot)\""),
        (Ext4, "-b 4096;reboot", "\"4096;reboot\""),
        (Xfs, "-l logdev=/dev/sda", "\"logdev=/dev/sda\""),
        (Xfs, "-r rtdev=/dev/sda", "\"-r\""),
        (Xfs, "-p /root/proto", "\"-p\""),
        (Xfs, "-c options=/root/x", "\"-c\""),
        (Xfs, "-d name=/dev/sda", "\"name=/dev/sda\""),
        (Xfs, "-d file,name=x", "\"file\""),
        (Xfs, "-d size=9t", "\"size=9t\""),
        (Xfs, "-m uuid=x", "\"uuid=x\""),
        (Btrfs, "-r /root", "\"-r\""),
        (Btrfs, "--rootdir=/root", "\"--rootdir\""),
        (Btrfs, "-d raid0", "\"raid0\""),
        (F2fs, "-c /dev/sda", "\"-c\""),
        (Jfs, "-j /dev/sda", "\"-j\""),
        (Nilfs2, "-c", "\"-c\""),
        (Nilfs2, "-B 2048k", "\"2048k\""),
        (Reiserfs, "-j /dev/sda", "\"-j\""),
        (Reiserfs, "-B file", "\"-B\""),
    ] {
        let refusal = mkfs_arguments(fs, text).expect_err(text);
        assert_eq!(refusal.kind, Kind::InvalidArgument);
        assert!(refusal.message.contains(word), "{text}: {refusal}");
        check::style(&refusal);
    }
    for (fs, text, word) in [
        (Ext4, "suid", "\"suid\""),
        (Ext4, "noatime,dev", "\"dev\""),
        (Ext4, "ro", "\"ro\""),
        (Ext4, "remount", "\"remount\""),
        (Ext4, "loop=/dev/loop0", "\"loop\""),
        (Ext4, "user", "\"user\""),
        (Ext4, "X-mount.mkdir", "\"X-mount.mkdir\""),
        (Ext4, "errors=panic", "\"panic\""),
        (Ext4, "journal_dev=0x801", "\"journal_dev\""),
        (Ext4, "journal_path=/dev/sda", "\"journal_path\""),
        (Ext4, "noatime=1", "\"1\""),
        (Ext4, "noatime=", "\"\""),
        (Ext4, "commit", "\"commit\""),
        (Ext4, "commit=", "\"commit\""),
        (Ext4, "barrier=", "\"barrier\""),
        (Ext4, "helper=x", "\"helper\""),
        (Ext4, "context=\"a,b\"", "\"context\""),
        (Ext2, "data=journal", "\"data\""),
        (Xfs, "logdev=/dev/sda", "\"logdev\""),
        (Xfs, "rtdev=/dev/sda", "\"rtdev\""),
        (Btrfs, "device=/dev/sda", "\"device\""),
        (Btrfs, "subvol=x", "\"subvol\""),
        (F2fs, "test_dummy_encryption", "\"test_dummy_encryption\""),
    ] {
        let refusal = mount_options(fs, text).expect_err(text);
        assert!(refusal.message.contains(word), "{text}: {refusal}");
        check::style(&refusal);
    }
    assert!(mkfs_arguments(Ext4, &"-j ".repeat(400)).is_err());
}

/// Texts near what is accepted: known options and values among hostile ones.
fn texts(separators: &'static str) -> impl Strategy<Value = String> {
    let mut pieces: Vec<String> = [
        "/dev/sda",
        "..",
        "device=",
        "logdev=/dev/x",
        "suid",
        "dev",
        "exec",
        "-c",
        "--",
        "$(x)",
        "`x`",
        ";",
        "'",
        "\"",
        "\\",
        "\n",
        "\0",
        "=",
        ",",
        "^",
        "-",
        "4096",
        "64k",
        "0.5",
        "size=1",
        "é",
        "loop",
        "remount",
    ]
    .map(String::from)
    .to_vec();
    for fs in Filesystem::ALL {
        for table in [mkfs::table(fs), mount::table(fs), mount::COMMON] {
            pieces.extend(table.iter().map(|(name, _)| (*name).to_owned()));
            for (name, value) in table {
                if let Value::OneOf(words) | Value::Features(words) | Value::Levels(words) = value {
                    pieces.extend(words.iter().map(|w| format!("{name}={w}")));
                    pieces.extend(words.iter().map(|w| (*w).to_owned()));
                }
                if let Value::Keys(keys) = value {
                    pieces.extend(keys.iter().map(|(key, _)| format!("{key}=1")));
                }
            }
        }
    }
    let separator = prop::sample::select(separators.chars().collect::<Vec<_>>());
    prop::collection::vec((prop::sample::select(pieces), separator), 0..6).prop_map(|parts| {
        parts
            .iter()
            .map(|(piece, c)| format!("{piece}{c}"))
            .collect()
    })
}

fn plain(text: &str, further: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || further.contains(c))
}

const HOSTILE: &[&str] = &[
    "logdev",
    "rtdev",
    "journal_dev",
    "journal_path",
    "device",
    "uuid",
    "subvol",
];

proptest! {
    #[test]
    fn accepted_mkfs_options_hold_nothing_else(
        fs in prop::sample::select(Filesystem::ALL.to_vec()), text in texts("   =,"),
    ) {
        if let Ok(arguments) = mkfs_arguments(fs, &text) {
            for argument in &arguments {
                prop_assert!(plain(argument, "=,._^-"), "{argument}");
                prop_assert!(!HOSTILE.iter().any(|h| argument.contains(h)), "{argument}");
            }
            // Every argument is an option of the table, or follows one that takes a value.
            let mut rest = arguments.iter();
            while let Some(option) = rest.next() {
                let value = find(mkfs::table(fs), option).expect("an option of the table");
                if !matches!(value, Value::Flag) {
                    prop_assert!(value.accepts(rest.next().expect("a value")));
                }
            }
            prop_assert_eq!(mkfs_arguments(fs, &arguments.join(" ")), Ok(arguments));
        }
    }

    #[test]
    fn accepted_mount_options_hold_nothing_else(
        fs in prop::sample::select(Filesystem::ALL.to_vec()), text in texts(",,,= "),
    ) {
        if let Ok(options) = mount_options(fs, &text) {
            prop_assert_eq!(&options[..2], ["nosuid", "nodev"]);
            for option in &options {
                prop_assert!(plain(option, "=._:-"), "{option}");
                prop_assert!(!HOSTILE.iter().any(|h| option.contains(h)), "{option}");
                prop_assert!(!["suid", "dev", "exec", "ro", "remount", "loop"].contains(&option.as_str()));
            }
            prop_assert_eq!(mount_options(fs, &options.join(",")), Ok(options));
        }
    }

    #[test]
    fn never_panics(fs in prop::sample::select(Filesystem::ALL.to_vec()), text in any::<String>()) {
        let _ = mkfs_arguments(fs, &text);
        let _ = mount_options(fs, &text);
    }
}

#[test]
fn options_that_are_given_twice_or_against_each_other_are_refused() {
    use Filesystem::*;
    for (fs, text, message) in [
        (
            Ext4,
            "noatime,noatime",
            r#"mount option "noatime" is given twice"#,
        ),
        (
            Ext4,
            "commit=5,commit=30",
            r#"mount option "commit" is given twice"#,
        ),
        (
            Ext4,
            "barrier=0,nobarrier",
            r#"mount options "barrier" and "nobarrier" exclude each other"#,
        ),
        (
            Xfs,
            "noatime,relatime",
            r#"mount options "noatime" and "relatime" exclude each other"#,
        ),
        (
            Btrfs,
            "nodiscard,discard=async",
            r#"mount options "nodiscard" and "discard" exclude each other"#,
        ),
        (
            Nilfs2,
            "nobarrier,barrier",
            r#"mount options "nobarrier" and "barrier" exclude each other"#,
        ),
        (
            F2fs,
            "heap,no_heap",
            r#"mount options "heap" and "no_heap" exclude each other"#,
        ),
        (
            Ext4,
            "dioread_lock,dioread_nolock",
            r#"mount options "dioread_lock" and "dioread_nolock" exclude each other"#,
        ),
    ] {
        let refusal = mount_options(fs, text).expect_err(text);
        check::style(&refusal);
        assert_eq!(refusal.message, message);
    }
    for text in [
        "nosuid,nodev,noatime",
        "noatime,nodiratime,lazytime",
        "nodatacow,nodatasum",
    ] {
        assert!(mount_options(Btrfs, text).is_ok(), "{text}");
    }
}

#[test]
fn the_generic_mount_options_are_named_too() {
    let refusal = mount_options(Filesystem::Xfs, "atime").expect_err("unknown");
    let hint = refusal.hint.unwrap();
    for name in ["logbsize", "noatime", "lazytime"] {
        assert!(hint.contains(name), "no {name} in {hint}");
    }
}

/// Linux 6.18: "can't mount with journal_async_commit in data=ordered mode"; with the other two it does.
#[test]
fn a_commit_that_waits_for_no_data_is_refused_with_data_ordered() {
    for text in [
        "journal_async_commit",
        "noatime,journal_async_commit,data=ordered,commit=9",
    ] {
        let refusal = mount_options(Filesystem::Ext4, text).expect_err(text);
        check::style(&refusal);
        assert_eq!(
            refusal.message,
            "mount option \"journal_async_commit\" is refused with data=ordered"
        );
    }
    for text in [
        "journal_async_commit,data=writeback",
        "data=journal,journal_async_commit",
    ] {
        assert!(mount(Filesystem::Ext4, text).ends_with(text), "{text}");
    }
}

//! Attributes of files and directories, as `chattr` sets them, and the property `compression` of btrfs. New files take most of them from
//! their directory. A file that was there before keeps its own.

/// The flags of FS_IOC_GETFLAGS that change how a file is stored, read or written. Others say how the filesystem keeps it, or nothing.
const FLAGS: [(u32, &str); 13] = [
    (0x0000_0004, "compress"),
    (0x0000_0008, "sync"),
    (0x0000_0010, "immutable"),
    (0x0000_0020, "append"),
    (0x0000_0080, "noatime"),
    (0x0000_0400, "nocompress"),
    (0x0000_0800, "encrypt"),
    (0x0000_4000, "data_journal"),
    (0x0001_0000, "dirsync"),
    (0x0010_0000, "verity"),
    (0x0080_0000, "nocow"),
    (0x0200_0000, "dax"),
    (0x4000_0000, "casefold"),
];

/// Attributes that change what a file costs to write on any filesystem.
const TELLING: [&str; 7] = [
    "append",
    "data_journal",
    "dax",
    "encrypt",
    "immutable",
    "sync",
    "verity",
];

/// The names of flags, and the property, with commas; empty for none.
pub fn in_words(flags: u32, compression: Option<&str>) -> String {
    let names = FLAGS.iter().filter(|(bit, _)| flags & bit != 0);
    let property = compression.map(|value| format!("compression={value}"));
    let names = names.map(|(_, name)| (*name).to_owned()).chain(property);
    names.collect::<Vec<_>>().join(",")
}

/// Attributes in the words of [`in_words`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes<'a>(pub &'a str);

impl<'a> Attributes<'a> {
    /// Each of them.
    pub fn names(self) -> impl Iterator<Item = &'a str> {
        self.0.split(',').filter(|name| !name.is_empty())
    }

    /// True if this one is set.
    pub fn has(self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The one by which the file is compressed; None when it is not, or when it is not known whether it is.
    pub fn compressing(self) -> Option<&'a str> {
        if self.forbids_compression().is_some() {
            return None;
        }
        let property = self
            .names()
            .find(|name| name.starts_with("compression=") && !is_none(name));
        property.or_else(|| self.names().find(|name| *name == "compress"))
    }

    /// The one by which the file is not compressed, whatever the mount options are.
    pub fn forbids_compression(self) -> Option<&'a str> {
        self.names()
            .find(|name| ["nocow", "nocompress"].contains(name) || is_none(name))
    }

    /// Those that change what a file costs to write on any filesystem.
    pub fn telling(self) -> Vec<&'a str> {
        self.names().filter(|name| TELLING.contains(name)).collect()
    }
}

fn is_none(property: &str) -> bool {
    ["compression=no", "compression=none"].contains(&property)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `lsattr` and `btrfs property get` showed them on Linux 6.18.
    #[test]
    fn recorded_flags_in_words() {
        for (flags, compression, words) in [
            (0x0, None, ""),
            // ext4 keeps a file by extents, a directory by an index.
            (0x0008_1000, None, ""),
            (0x0080_0000, None, "nocow"),
            (0x4, Some("zstd"), "compress,compression=zstd"),
            (0x400, Some("none"), "nocompress,compression=none"),
            (0x0008_4000, None, "data_journal"),
            (0x0008_0030, None, "immutable,append"),
            (0x2008_0088, None, "sync,noatime"),
        ] {
            assert_eq!(in_words(flags, compression), words, "{flags:x}");
        }
    }

    #[test]
    fn what_compresses_and_what_forbids_it() {
        for (words, compressing, forbids) in [
            ("", None, None),
            ("compress", Some("compress"), None),
            ("compress,compression=lzo", Some("compression=lzo"), None),
            // A file that was made in a directory with the property, under the mount option nodatacow.
            ("compress,nocow", None, Some("nocow")),
            ("nocompress", None, Some("nocompress")),
            ("compression=none", None, Some("compression=none")),
            ("noatime,sync", None, None),
        ] {
            let attributes = Attributes(words);
            assert_eq!(attributes.compressing(), compressing, "{words}");
            assert_eq!(attributes.forbids_compression(), forbids, "{words}");
        }
        assert_eq!(Attributes("noatime,sync").telling(), ["sync"]);
    }
}

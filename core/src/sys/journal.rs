//! The journal mode of a filesystem of the ext family.

use super::Tree;

/// The journal mode: `ordered`, `writeback` or `journal`, as in the mount option data=, or `none`. It is read from the driver's own
/// list, since the mount table leaves out the default. None for other filesystems, and where that cannot be read.
pub fn journal_mode(tree: &dyn Tree, number: &str) -> Option<String> {
    let event = tree.read(&format!("/sys/dev/block/{number}/uevent"))?;
    let name = event
        .lines()
        .find_map(|line| line.strip_prefix("DEVNAME="))?;
    let options = tree.read(&format!("/proc/fs/ext4/{name}/options"))?;
    let mode = options.lines().find_map(|line| line.strip_prefix("data="));
    Some(mode.unwrap_or("none").to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Recorded;
    use super::*;

    fn tree(options: Option<&str>) -> Recorded {
        Recorded::of("/sys/dev/block/7:3/uevent\tMAJOR=7\\nMINOR=3\\nDEVNAME=loop3")
            .but("/proc/fs/ext4/loop3/options", options)
    }

    #[test]
    fn the_driver_tells_the_mode_and_no_mode_is_no_journal() {
        for (options, mode) in [
            (
                Some("rw\nbarrier\ndata=ordered\ncommit=5\n"),
                Some("ordered"),
            ),
            (Some("rw\ndata=journal\n"), Some("journal")),
            (Some("rw\nbarrier\n"), Some("none")),
            // A line that cannot be parsed costs that line only.
            (Some("\u{fffd}\n\ndata\n=\ndata=ordered"), Some("ordered")),
            (None, None),
        ] {
            assert_eq!(journal_mode(&tree(options), "7:3").as_deref(), mode);
        }
        assert_eq!(journal_mode(&tree(Some("rw\n")), "7:4"), None);
    }
}

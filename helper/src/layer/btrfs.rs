//! btrfs over several devices: mkfs writes to all of them, mount has to be told each. There is nothing to undo but the leaves.

use super::step;
use pgfsbench_core::helper::Layout;

/// The profiles of data and metadata. Metadata have that of the data, unless mkfs_options say otherwise.
pub fn profiles(layout: Layout, given: &[String]) -> Vec<String> {
    let profile = layout.word();
    let is_given = given.iter().any(|o| o == "-m" || o == "--metadata");
    let mut options = vec!["-d".to_owned(), profile.to_owned()];
    if !is_given {
        options.extend(["-m".to_owned(), profile.to_owned()]);
    }
    options
}

/// The further devices. The kernel does not find them by itself where no udev has told it of them.
pub fn mount_options(joined: usize) -> Vec<String> {
    let option = |member| format!("device={}", step::member(member));
    (1..joined).map(option).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_kept_as_the_data_are() {
        let given = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let profiles = |options: &str| profiles(Layout::BtrfsRaid10, &given(options)).join(" ");
        assert_eq!(profiles("-n 16384"), "-d raid10 -m raid10");
        assert_eq!(profiles("-m dup"), "-d raid10");
        assert_eq!(profiles("--metadata single"), "-d raid10");
        assert_eq!(mount_options(1), [""; 0]);
        assert_eq!(mount_options(3), ["device={member2}", "device={member3}"]);
    }
}

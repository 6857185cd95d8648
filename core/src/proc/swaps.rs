//! `/proc/swaps`: which files and devices are swap space.

use super::mount::unescape;

/// The kernel adds this to the path of a file that was removed, or whose name in /dev was made anew.
const DELETED: &str = " (deleted)";

/// A line of `/proc/swaps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swap {
    /// The path, without the escapes of the kernel and its mark of a removed file.
    pub path: String,
    /// False for a file, and for what LXCFS makes up: neither holds a device for itself.
    pub may_be_device: bool,
}

/// Parses the text of `/proc/swaps`. A line without a type counts as a device: a decision that must be safe needs to know its path.
pub fn parse_swaps(text: &str) -> Vec<Swap> {
    let lines = text.lines().filter(|line| !line.starts_with("Filename"));
    lines.filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Swap> {
    let mut words = line.split_ascii_whitespace();
    let path = unescape(words.next()?);
    Some(Swap {
        path: path.strip_suffix(DELETED).unwrap_or(&path).to_owned(),
        may_be_device: !matches!(words.next(), Some("file" | "virtual")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn devices_and_files() {
        let text = "Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n\
                    /dev/dm-1                               partition\t2097148\t0\t-2\n\
                    /dev/sdb2\\040(deleted)                  partition\t8 0 -3\n\
                    /my\\040swap\\134file                      file\t\t1024 0 -4\n";
        let found: Vec<(String, bool)> = parse_swaps(text)
            .into_iter()
            .map(|swap| (swap.path, swap.may_be_device))
            .collect();
        assert_eq!(
            found,
            [
                ("/dev/dm-1".into(), true),
                ("/dev/sdb2".into(), true),
                ("/my swap\\file".into(), false)
            ]
        );
    }

    /// LXCFS writes a line for none, WSL has no header, and gVisor has no such file.
    #[test]
    fn an_odd_line_costs_that_line() {
        let text = "Filename\tType\tSize\tUsed\tPriority\n\nnone                                     virtual\t\t0\t0\t0\n/dev/sdc\n/swap file\n";
        let devices: Vec<String> = parse_swaps(text)
            .into_iter()
            .filter(|swap| swap.may_be_device)
            .map(|swap| swap.path)
            .collect();
        assert_eq!(devices, ["/dev/sdc"]);
        assert_eq!(parse_swaps("/dev/sdb partition 1 0 -2\n").len(), 1);
        assert_eq!(parse_swaps(""), []);
    }

    proptest! {
        #[test]
        fn never_panics(text in "[ -~\n\t]*") {
            parse_swaps(&text);
        }
    }
}

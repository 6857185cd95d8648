//! Excerpt of a failed program's output: the lines that say why, without the usage.

/// The lines that are kept.
const LINES: usize = 3;
/// The characters that are kept of each.
const LONGEST: usize = 300;

/// Words of programs that complain.
const COMPLAINTS: &[&str] = &[
    "bad ",
    "cannot",
    "can't",
    "conflict",
    "could not",
    "couldn't",
    "denied",
    "error",
    "exceed",
    "fail",
    "illegal",
    "incompatible",
    "invalid",
    "is not",
    "killed",
    "must",
    "no space",
    "no such",
    "not enough",
    "not found",
    "not supported",
    "out of range",
    "refus",
    "require",
    "too big",
    "too large",
    "too many",
    "too small",
    "unable",
    "unknown",
    "unrecognized",
    "unsupported",
    "wrong",
];

/// The lines of an output that say why a program has failed; where none does, its first ones.
pub fn error_excerpt(output: &str) -> String {
    let is_usage = |line: &str| line.to_lowercase().starts_with("usage");
    let lines = output
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let lines = lines.take_while(|line| !is_usage(line));
    let complains = |line: &&str| {
        let line = line.to_lowercase();
        COMPLAINTS.iter().any(|words| line.contains(words))
    };
    let mut kept: Vec<&str> = lines.clone().filter(complains).take(LINES).collect();
    if kept.is_empty() {
        kept = lines.take(LINES).collect();
    }
    kept.dedup();
    let cut = |line: &&str| -> String {
        match line.chars().nth(LONGEST) {
            Some(_) => line.chars().take(LONGEST).chain("...".chars()).collect(),
            None => (*line).to_owned(),
        }
    };
    kept.iter().map(cut).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_say_why() {
        for (output, expected) in [
            ("", ""),
            ("boom\n", "boom"),
            (
                "unknown option -q\nUsage: mkfs.xfs\n/* blocksize */\t[-b size=num]\n/* invalid */\n",
                "unknown option -q",
            ),
            (
                "mke2fs 1.47.0 (5-Feb-2023)\n\nBad option(s) specified: foo\n\nExtended options are separated by commas, and may take an argument which\n\tis set off by an equals ('=') sign.\n\nValid extended options are:\n\tmmp_update_interval=<interval>\n",
                "Bad option(s) specified: foo",
            ),
            (
                "mount: /mnt: wrong fs type, bad option, bad superblock on /dev/loop0, missing codepage or helper program, or other error.\n       dmesg(1) may have more information after failed mount system call.\n",
                "mount: /mnt: wrong fs type, bad option, bad superblock on /dev/loop0, missing codepage or helper program, or other error.\ndmesg(1) may have more information after failed mount system call.",
            ),
            (
                "btrfs-progs v6.2\nSee http\n\nERROR: no\nERROR: no\n",
                "ERROR: no",
            ),
            ("one\ntwo\nthree\nfour\n", "one\ntwo\nthree"),
            ("Usage: x\n  -a\n", ""),
        ] {
            assert_eq!(error_excerpt(output), expected, "{output}");
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        let output = "error ".repeat(10_000) + "\n" + &"error\n x\n".repeat(1000);
        assert!(error_excerpt(&output).chars().count() < 4 * (LONGEST + 4));
    }
}

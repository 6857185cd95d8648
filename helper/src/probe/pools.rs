//! zfs pools, as zpool tells of them.

use crate::exec;
use pgfsbench_core::refusal::Refusal;
use std::path::PathBuf;

/// A pool that is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    pub guid: String,
    /// The devices of the pool.
    pub devices: Vec<PathBuf>,
}

/// The pool of this name; None if there is none, or no zfs at all.
pub fn inspect(name: &str) -> Result<Option<Pool>, Refusal> {
    let zpool = exec::require("zpool", "zfsutils-linux")?
        .display()
        .to_string();
    let ask = |arguments: &[&str]| {
        let mut argv = vec![zpool.clone()];
        argv.extend(arguments.iter().map(|&a| a.to_owned()));
        argv.push(name.to_owned());
        exec::run(&argv, exec::SHORT)
    };
    let list = ask(&["list", "-v", "-H", "-P"])?;
    if !list.succeeded() {
        return match is_not_there(&list.output) {
            true => Ok(None),
            false => Err(list.refusal()),
        };
    }
    let guid = ask(&["get", "-H", "-p", "-o", "value", "guid"])?;
    match guid.succeeded() {
        true => Ok(Some(Pool {
            guid: guid.output.trim().to_owned(),
            devices: devices(&list.output),
        })),
        false => Err(guid.refusal()),
    }
}

fn is_not_there(said: &str) -> bool {
    said.contains("no such pool") || said.contains("modules are not loaded")
}

/// The lines below that of the pool itself begin with a tab. A line that is not understood is left out: it can only hide a further
/// device of a pool that has the helper's own name.
fn devices(list: &str) -> Vec<PathBuf> {
    list.lines()
        .filter_map(|line| line.strip_prefix('\t')?.split('\t').next())
        .map(|name| PathBuf::from(name.trim()))
        .collect()
}

/// Lines of a name and a value, from `zpool get` or `zfs get -H -p -o property,value`.
pub fn properties(text: &str) -> Vec<(String, String)> {
    text.lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "\
pgfsbench-bench:t\t1.88G\t105K\t1.87G\t-\t-\t0%\t0%\t1.00x\tONLINE\t-
\t/dev/loop0p1\t1.88G\t105K\t1.87G\t-\t-\t0%\t0.00%\t-\tONLINE
";

    #[test]
    fn recorded_outputs() {
        assert_eq!(devices(LIST), [PathBuf::from("/dev/loop0p1")]);
        let mirror = LIST.replace("\t/dev", "\tmirror-0\t1G\n\t  /dev/loop1p1\t-\n\t  /dev");
        assert_eq!(devices(&mirror).len(), 3);
        assert!(is_not_there("cannot open 'x': no such pool\n"));
        assert!(is_not_there(
            "The ZFS modules are not loaded.\nTry running '/sbin/modprobe zfs' as root to load them.\n"
        ));
        assert!(!is_not_there("internal error: out of memory\n"));
        let all = properties("recordsize\t8192\ncompression\tlz4\n");
        assert_eq!(all[0], ("recordsize".into(), "8192".into()));
        assert_eq!(all.len(), 2);
    }
}

//! A run of fio that has failed: its error, and a HINT that fits the cause.

use crate::{
    helper::error_excerpt::error_excerpt,
    refusal::{Kind, Refusal},
};

/// Words of fio and of the C library, the kind of error, and what to do.
const CAUSES: &[(&[&str], Kind, &str)] = &[
    (
        &["no space left", "disk quota exceeded"],
        Kind::DiskFull,
        "Free space on the filesystem, or give smaller files by the option \"size\".",
    ),
    (
        &["direct=1", "o_direct"],
        Kind::System,
        "The filesystem takes no direct I/O: leave out the option \"direct\".",
    ),
    (
        &[
            "not loadable",
            "load engine",
            "io_queue_init",
            "io_uring_setup",
            "function not implemented",
        ],
        Kind::System,
        "This fio or the kernel lacks the engine: use another one, such as psync, or see the sysctl kernel.io_uring_disabled.",
    ),
    (
        &["input/output error"],
        Kind::System,
        "The storage reports errors: see the kernel's messages (dmesg) before you use it again.",
    ),
    (
        &[
            "cannot allocate memory",
            "out of memory",
            "pthread_create",
            "resource temporarily unavailable",
        ],
        Kind::System,
        "Memory or threads ran out: use fewer jobs, smaller blocks, or fewer operations at the same time.",
    ),
    (
        &["read-only file system"],
        Kind::System,
        "The filesystem is read-only, by its mount options or after an error: see the kernel's messages (dmesg).",
    ),
    (
        &["permission denied", "operation not permitted"],
        Kind::NotAllowed,
        "The server's user may not do this: see the rights of the target's directory, and rules of the kernel such as AppArmor or seccomp.",
    ),
];

/// The HINT and the kind of the first known cause that a text names.
pub fn cause(said: &str) -> Option<(Kind, &'static str)> {
    let said = said.to_lowercase();
    let names = |words: &&(&[&str], Kind, &str)| words.0.iter().any(|word| said.contains(word));
    CAUSES
        .iter()
        .find(names)
        .map(|(_, kind, hint)| (*kind, *hint))
}

/// How a process of fio has ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    pub is_success: bool,
    /// Whether a signal has ended it.
    pub is_killed: bool,
    /// Its exit status in words.
    pub status: String,
    /// Its messages, where it has failed.
    pub output: String,
}

impl Ended {
    /// Refuses an end that is no success, whatever it has written.
    pub fn check(&self) -> Result<(), Refusal> {
        match self.is_success {
            true => Ok(()),
            false => Err(refusal(&self.status, self.is_killed, &self.output)),
        }
    }
}

/// The error of fio that ended as `status` says, after what it wrote. `is_killed`: a signal ended it.
fn refusal(status: &str, is_killed: bool, output: &str) -> Refusal {
    let said = error_excerpt(output);
    let (kind, hint) = cause(&said).unwrap_or((
        Kind::System,
        match is_killed {
            true => {
                "The kernel kills fio when memory is short (see dmesg), and so may an administrator. Repeat the run, with fewer jobs if memory was short."
            }
            false => "See the kernel's messages (dmesg), and try another engine or fewer options.",
        },
    ));
    let refusal = Refusal::new(kind, format!("fio has failed: {status}")).hint(hint);
    match said.is_empty() {
        true => refusal.detail("It wrote no message."),
        false => refusal.detail(format!("It wrote: {}.", said.trim_end_matches('.'))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::check;

    #[test]
    fn the_hint_fits_the_cause() {
        for (output, killed, kind, hint) in [
            (
                "fio: pid=7, err=28/file:filesetup.c:241, func=write, error=No space left on device\n",
                false,
                Kind::DiskFull,
                "Free space",
            ),
            (
                "fio: looks like your file system does not support direct=1/buffered=0\nfio: destination does not support O_DIRECT\n",
                false,
                Kind::System,
                "\"direct\"",
            ),
            (
                "fio: engine libaio not loadable\nfio: failed to load engine\n",
                false,
                Kind::System,
                "another one",
            ),
            (
                "fio: pid=7, err=1/file:engines/io_uring.c:1054, func=io_queue_init, error=Operation not permitted\n",
                false,
                Kind::System,
                "kernel.io_uring_disabled",
            ),
            (
                "fio: io_u error on file f: Input/output error: write offset=0, buflen=8192\n",
                false,
                Kind::System,
                "dmesg",
            ),
            ("", true, Kind::System, "memory is short"),
            ("note: nothing\n", false, Kind::System, "another engine"),
        ] {
            let refusal = refusal("exit status: 1", killed, output);
            check::style(&refusal);
            let hinted = refusal.hint.clone().unwrap_or_default();
            assert!(hinted.contains(hint), "{output}: {hinted}");
            assert_eq!(refusal.kind, kind, "{output}");
            assert!(refusal.detail.is_some());
        }
    }
}

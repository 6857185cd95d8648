//! Directories and files of the servers' owner, if that is another user than the one who tests: root makes them and hands them over, and
//! then neither writes there nor follows a name there, since its owner decides what a name leads to.

use crate::as_server::{as_server, server_owner};
use crate::scratch::scratch;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// A directory of the servers' owner, which goes with the value. It is in one of our own, so that no other user can put another one in its place.
#[derive(Debug)]
pub struct OwnedDirectory {
    _parent: TempDir,
    path: PathBuf,
}

impl OwnedDirectory {
    /// In `scratch`.
    pub fn new(name: &str) -> Self {
        Self::within(scratch(), name)
    }

    /// In this directory, which they can enter.
    pub fn within(directory: &Path, name: &str) -> Self {
        let parent = open_directory(name, directory);
        let path = parent.path().join("d");
        make_owned(&path);
        Self {
            _parent: parent,
            path,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A directory of our own that others may enter.
pub(crate) fn open_directory(name: &str, within: &Path) -> TempDir {
    use std::os::unix::fs::PermissionsExt;
    let directory = TempDir::with_prefix_in(name, within)
        .unwrap_or_else(|error| panic!("no directory in {}: {error}", within.display()));
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory.path(), mode).expect("chmod");
    directory
}

/// Makes a directory in one of our own, and hands it over.
pub(crate) fn make_owned(path: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().mode(0o700).create(path);
    made.unwrap_or_else(|error| panic!("no {}: {error}", path.display()));
    hand_over(path);
}

/// Makes an empty file in a directory of our own, and hands it over.
pub(crate) fn make_owned_file(path: &Path) {
    let made = std::fs::File::create_new(path);
    made.unwrap_or_else(|error| panic!("no {}: {error}", path.display()));
    hand_over(path);
}

fn hand_over(path: &Path) {
    if let Some(owner) = server_owner() {
        std::os::unix::fs::lchown(path, Some(owner), None).expect("root may chown");
    }
}

/// Has the servers' owner write a file of its own.
pub fn write_as_owner(path: &Path, text: &str) {
    let mut tee = as_server("tee");
    tee.arg(path).stdin(Stdio::piped());
    // Not a terminal of root's.
    tee.stdout(Stdio::null()).stderr(Stdio::null());
    let mut tee = tee.spawn().expect("tee");
    let mut pipe = tee.stdin.take().expect("a pipe");
    pipe.write_all(text.as_bytes()).expect("it reads");
    drop(pipe);
    let written = tee.wait().expect("it ends").success();
    assert!(written, "{} could not be written", path.display());
}

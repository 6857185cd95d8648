//! The library takes libpq into the server. It has to be the server's own: another one that lies in the system's directories is often
//! older, and whoever else in that server wants libpq (postgres_fdw, dblink, a standby) gets the one that came first. So the library
//! looks for it where the server's own lies, unless that is where the system looks by itself.
//!
//! `#[cfg(since = "17")]` is code for PostgreSQL 17 and later versions.

use std::{
    env,
    path::{Component, Path, PathBuf},
    process::Command,
};

/// Versions after the oldest supported one: each may differ from the one before it.
const SINCE: [u32; 4] = [16, 17, 18, 19];

/// Where pgrx is told which PostgreSQL it builds for.
const PG_CONFIG: &str = "PGRX_PG_CONFIG_PATH";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PG_CONFIG}");
    for version in SINCE {
        println!("cargo:rustc-check-cfg=cfg(since, values(\"{version}\"))");
        let has = |later: &u32| env::var_os(format!("CARGO_FEATURE_PG{later}")).is_some();
        if SINCE.iter().filter(|later| **later >= version).any(has) {
            println!("cargo:rustc-cfg=since=\"{version}\"");
        }
    }
    let Some(pg_config) = env::var_os(PG_CONFIG).map(PathBuf::from) else {
        return;
    };
    let (Some(libdir), Some(pkglibdir)) =
        (ask(&pg_config, "--libdir"), ask(&pg_config, "--pkglibdir"))
    else {
        return;
    };
    if is_of_the_system(&libdir) {
        return;
    }
    println!("cargo:rustc-link-search=native={}", libdir.display());
    // Relative to the library itself: the tree of a server may be moved, or packed.
    let relative = relative(&pkglibdir, &libdir);
    let place = Path::new("$ORIGIN").join(relative);
    println!("cargo:rustc-link-arg-cdylib=-Wl,-rpath,{}", place.display());
}

fn ask(pg_config: &Path, what: &str) -> Option<PathBuf> {
    let output = Command::new(pg_config).arg(what).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let path = Path::new(text.trim());
    (output.status.success() && path.is_absolute()).then(|| {
        let real = path.canonicalize();
        real.unwrap_or_else(|_| path.to_owned())
    })
}

/// Whether the dynamic loader looks there unasked: /lib, /usr/lib, their 64-bit siblings, and what Debian has for each architecture.
fn is_of_the_system(directory: &Path) -> bool {
    let below = ["/usr/lib", "/lib"]
        .iter()
        .find_map(|lib| directory.strip_prefix(lib).ok());
    let is_multiarch = |rest: &Path| {
        let mut parts = rest.components();
        let triplet = parts
            .next()
            .is_some_and(|part| part.as_os_str().to_string_lossy().contains("-linux-"));
        triplet && parts.next().is_none()
    };
    match below {
        Some(rest) => rest.as_os_str().is_empty() || is_multiarch(rest),
        None => ["/usr/lib64", "/lib64"]
            .iter()
            .any(|lib| directory == Path::new(lib)),
    }
}

/// The way from one directory to another.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component>, Vec<Component>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    up.chain(to[common..].iter().copied()).collect()
}

//! The systemd unit, and how the helper is started where there is no systemd.

use crate::config;
use crate::exec;
use crate::output::say;
use crate::secure;
use pgfsbench_core::quoting;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// The path of this program. Root is going to run it at each start of the machine: so only root may be able to change it.
pub fn own_program() -> Result<PathBuf, Refusal> {
    let program = std::env::current_exe().map_err(|e| {
        Refusal::new(Kind::System, "where is this program?").detail(format!("{e}."))
    })?;
    secure::check_file(&program)?;
    Ok(program)
}

/// The unit as packages install it.
const UNIT: &str = include_str!("../../pgfsbench-helper.service");
const NAME: &str = "pgfsbench-helper.service";
/// Packages and `make install` put units here.
const DIRECTORIES: [&str; 2] = ["/usr/lib/systemd/system", "/lib/systemd/system"];

/// The unit for the program where it is.
fn text(program: &Path, configuration: &Path) -> String {
    let mut command = program.display().to_string();
    if configuration != Path::new(config::PATH) {
        command += &format!(" --config {}", configuration.display());
    }
    UNIT.replace(config::PATH, &configuration.display().to_string())
        .replace("/usr/sbin/pgfsbench-helper", &command)
}

/// The line of a unit that starts the program.
fn start_of(unit: &str) -> Option<&str> {
    unit.lines().find(|line| line.starts_with("ExecStart="))
}

/// True if systemd starts the services of this machine.
pub fn is_used() -> bool {
    Path::new("/run/systemd/system").exists()
}

/// Writes the unit below this directory, unless an installation has put it there.
pub fn write(program: &Path, configuration: &Path, prefix: &Path) -> Result<(), Refusal> {
    let below = |path: &str| prefix.join(path.trim_start_matches('/'));
    let text = text(program, configuration);
    let installed = DIRECTORIES
        .map(|directory| below(directory).join(NAME))
        .into_iter()
        .find(|path| {
            std::fs::read_to_string(path).is_ok_and(|unit| start_of(&unit) == start_of(&text))
        });
    match installed {
        Some(unit) => say!("found {}", unit.display()),
        None => {
            let unit = below("/etc/systemd/system").join(NAME);
            say!("{}", text.trim_end());
            super::write_file(&unit, &text, 0o644)?;
            say!("wrote {}", unit.display());
        }
    }
    Ok(())
}

/// Tells how to start the helper where systemd does not run; anew if it may run with what was there before.
pub fn say_how_to_serve(configuration: &Path, anew: bool) {
    let config = match configuration == Path::new(config::PATH) {
        true => String::new(),
        false => format!(
            "--config {} ",
            quoting::shell(&configuration.display().to_string())
        ),
    };
    let before = match anew {
        true => "where it runs already, end it (SIGTERM): it has read what was there before; then ",
        false => "",
    };
    say!("{before}start it as root, now and with the machine, by: pgfsbench-helper {config}serve");
}

/// Has systemd start it now and with the machine; anew if it may run with what was there before.
pub fn enable(anew: bool) -> Result<(), Refusal> {
    let systemctl = exec::require("systemctl", "systemd")?.display().to_string();
    let all: &[&[&str]] = match anew {
        true => &[
            &["daemon-reload"],
            &["enable", "pgfsbench-helper"],
            &["restart", "pgfsbench-helper"],
        ],
        false => &[&["daemon-reload"], &["enable", "--now", "pgfsbench-helper"]],
    };
    for words in all {
        let mut argv = vec![systemctl.clone()];
        argv.extend(words.iter().map(|&w| w.to_owned()));
        let outcome = exec::run(&argv, exec::SHORT)?;
        if !outcome.succeeded() {
            return Err(outcome.refusal().hint(
                "The configuration and the unit are written. See what systemd says, and then run: systemctl daemon-reload, and systemctl enable --now pgfsbench-helper.",
            ));
        }
        say!("{}", argv.join(" "));
    }
    Ok(())
}

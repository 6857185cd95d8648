//! `pgfsbench-helper`: the root side of pgfsbench. It makes, mounts, unmounts and removes filesystems for benchmark targets, as
//! jobs in a database ask for, and as far as its own configuration allows.
//!
//! From the top down: [`serve`] and [`database`] are the two processes that take jobs, [`child`] gives the second process
//! another user, and [`client`] speaks with a server, by the parameters of [`connection`], with pauses of [`backoff`]; [`engine`]
//! does one; [`plan`] decides what that takes, from what [`config`] allows and [`probe`] finds, a device that is in use among it;
//! [`layer`] has the images, devices, arrays and pools below a filesystem, each with the steps that make and undo it; [`journal`] remembers
//! them; [`place`] is where a filesystem is mounted, and [`mount_users`] the processes that keep it from being unmounted; [`recorder`] records
//! what a target writes, and makes power cuts of it; [`settings`] changes block devices and the kernel; [`exec`] runs programs to their end;
//! [`secure`] opens files that only root
//! can have changed; [`output`] prints. [`setup`], [`doctor`] and [`cli_target`] are for its command line.
//!
//! Floors (`tools/check arrows`). A file and the folder of its name are one thing, and may import each other. Single files stand beside the
//! folders: each is one small tool, or one command, and a folder around one file would only hide it.
//!
//! ```text
//! serve setup cli_target
//! engine doctor
//! plan
//! layer
//! journal
//! mount_users place recorder settings
//! probe config database
//! child client
//! secure exec connection output backoff
//! ```

#![deny(unsafe_code)]
// A test may go through a long list.
#![cfg_attr(test, allow(clippy::too_many_lines))]

mod backoff;
mod child;
mod cli_target;
mod client;
mod config;
mod connection;
mod database;
mod doctor;
mod engine;
mod exec;
mod journal;
mod layer;
mod mount_users;
mod output;
mod place;
mod plan;
mod probe;
mod recorder;
mod secure;
mod serve;
mod settings;
mod setup;

use child::Part;
use clap::{Parser, Subcommand};
use cli_target::{CliTarget, TargetName};
use config::Config;
use engine::{Cleared, Engine, Hook};
use output::{note, say};
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    version,
    about = "Makes, mounts and removes filesystems for pgfsbench's targets",
    max_term_width = 100
)]
struct Command {
    /// Configuration
    #[arg(long, global = true, default_value = config::PATH, value_name = "FILE")]
    config: PathBuf,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Do the jobs of all databases as they come, until SIGTERM
    Serve(serve::Options),
    /// Do the jobs that wait now, and end
    RunOnce(serve::Options),
    /// Print what preparing a target would execute, and do nothing
    Plan(CliTarget),
    /// Make a filesystem and mount it
    Prepare {
        #[command(flatten)]
        cli_target: CliTarget,
        #[command(flatten)]
        hook: Hook,
    },
    /// Unmount a target and remove what was made for it
    Release {
        #[command(flatten)]
        target_name: TargetName,
        #[command(flatten)]
        hook: Hook,
    },
    /// Unmount a target and mount it again as it was
    Remount {
        #[command(flatten)]
        target_name: TargetName,
        #[command(flatten)]
        hook: Hook,
    },
    #[command(flatten)]
    Cut(cli_target::CutAction),
    /// Undo everything that the journal names and that is not in use
    Cleanup {
        #[command(flatten)]
        hook: Hook,
    },
    /// Say as JSON what the configuration allows and what is there: devices, images, filesystems
    Describe,
    /// Write back and forget what is cached of all filesystems
    DropCaches,
    /// Say which filesystems this machine can make and mount
    Doctor,
    /// Write the configuration and the systemd unit
    Setup(setup::Arguments),
    #[command(name = "_as", hide = true)]
    As(child::Role),
    #[command(name = "_record", hide = true)]
    Record(recorder::Arguments),
    #[command(name = "_mark", hide = true)]
    Mark(recorder::MarkArguments),
}

fn main() -> ExitCode {
    let command = Command::parse();
    // Descriptors that were open when this was started are not for the programs that it starts.
    close_fds::set_fds_cloexec(3, &[]);
    // Files belong to root, or to whom they are given.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let config = std::path::absolute(&command.config).unwrap_or(command.config);
    match act(&config, command.action) {
        Ok(()) if output::is_all_printed() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(refusal) => {
            complain(&refusal);
            ExitCode::FAILURE
        }
    }
}

fn act(config: &Path, action: Action) -> Result<(), Refusal> {
    let engine = |hook: Hook| Engine::new(Config::load(config)?, hook);
    match action {
        Action::As(role) => {
            let part = child::become_other(&role)?;
            output::is_forwarded();
            match part {
                Part::Database => database::main(),
                Part::Visit => setup::visit::main(),
            }
        }
        Action::Describe => {
            let engine = engine(Hook::default())?;
            let database = engine.config().database(None)?.name.clone();
            say!("{:#}", engine.describe(&database)?);
            Ok(())
        }
        Action::DropCaches => {
            say!("{:#}", engine(Hook::default())?.drop_caches(&mut show)?);
            Ok(())
        }
        Action::Doctor => doctor::print(config),
        Action::Setup(arguments) => setup::run(&arguments, config),
        Action::Serve(options) => serve::serve(engine(options.hook.clone())?, false, &options),
        Action::RunOnce(options) => serve::serve(engine(options.hook.clone())?, true, &options),
        Action::Plan(cli_target) => {
            let engine = engine(Hook::default())?;
            let plan = engine.plan(
                &cli_target.target_name.place(&engine)?,
                &cli_target.request()?,
            )?;
            let devices = plan.devices();
            for step in &plan.steps {
                match step.argv(&devices) {
                    Some(argv) => say!("{}", argv.join(" ")),
                    None => say!("({})", step.words()),
                }
            }
            Ok(())
        }
        Action::Prepare { cli_target, hook } => {
            let engine = engine(hook)?;
            let place = cli_target.target_name.place(&engine)?;
            let result = engine.prepare(&place, None, &cli_target.request()?, &mut show)?;
            engine.keep(&place.database, &place.target)?;
            say!("{result:#}");
            Ok(())
        }
        Action::Release { target_name, hook } => {
            let engine = engine(hook)?;
            let result = engine.release(&target_name.place(&engine)?, &mut show)?;
            say!("{result:#}");
            Ok(())
        }
        Action::Remount { target_name, hook } => {
            let engine = engine(hook)?;
            let result = engine.remount(&target_name.place(&engine)?, &mut show)?;
            say!("{result:#}");
            Ok(())
        }
        Action::Cleanup { hook } => cleanup(&engine(hook)?),
        Action::Record(arguments) => recorder::main(&arguments),
        Action::Mark(arguments) => recorder::mark(&arguments),
        Action::Cut(action) => {
            say!("{:#}", action.run(engine, &mut show)?);
            Ok(())
        }
    }
}

fn cleanup(engine: &Engine) -> Result<(), Refusal> {
    let mut failures = 0;
    for Cleared { place, outcome } in engine.cleanup(true, &mut show)? {
        match outcome {
            Ok(()) => say!("{place}: cleared up"),
            Err(refusal) => {
                failures += 1;
                note!("{place}:");
                complain(&refusal);
            }
        }
    }
    match failures {
        0 => Ok(()),
        _ => Err(Refusal::new(
            Kind::NotInThisState,
            "not everything could be cleared up",
        )),
    }
}

fn show(report: Report) {
    let code = report
        .exit_code
        .map_or(String::new(), |code| format!(", exit code {code}"));
    note!(
        "{}: {} ({:.0} ms{code})",
        report.step,
        report.argv.join(" "),
        report.ms
    );
    for line in report.output.lines() {
        note!("  {line}");
    }
}

fn complain(refusal: &Refusal) {
    note!("pgfsbench-helper: {refusal}");
    for (word, text) in [("DETAIL", &refusal.detail), ("HINT", &refusal.hint)] {
        if let Some(text) = text {
            // Nothing in it passes for the next of them.
            note!("{word}: {}", text.replace('\n', "\n\t"));
        }
    }
}

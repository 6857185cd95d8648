//! Takes the steps of a plan.

use super::{Engine, closed, taken};
use crate::exec::{self, Outcome};
use crate::journal::Entry;
use crate::layer::{Devices, Part, PlannedLeaf, Role, Step, Tell, check_discards, check_image};
use crate::plan::Plan;
use crate::probe::device::{self, Access, DeviceFacts, Opened};
use crate::probe::queue::Queue;
use crate::probe::{self, loops};
use crate::secure::{self, failed};
use crate::settings::{SettingOwner, Value};
use pgfsbench_core::helper::geometry::{Geometry, geometry};
use pgfsbench_core::helper::protocol::Report;
use pgfsbench_core::proc::Mount;
use pgfsbench_core::refusal::{Kind, Refusal, quoted};
use rustix::fs::{
    FallocateFlags, Gid, Mode, OFlags, Uid, fallocate, fchmod, fchown, ftruncate, mkdirat, openat,
};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Facts about an array of md or a volume of LVM, by their names.
pub type ArrayDescription = serde_json::Map<String, serde_json::Value>;

/// A plan being carried out.
pub struct Work<'a> {
    pub(super) engine: &'a Engine,
    pub(super) plan: &'a Plan,
    pub(super) lock: &'a File,
    /// Held open from its check until it is mounted: so its number becomes no other device's.
    pub(super) held: Vec<(Part, Opened)>,
    /// Known from the start, or when the images are attached.
    pub devices: Devices,
    /// The mount options that are in force, once it is mounted.
    pub options: String,
    /// The geometry that mkfs printed.
    pub geometry: Option<Geometry>,
    /// The devices below dm-log-writes, as they were before.
    pub(super) recorded_members: Vec<(usize, DeviceFacts)>,
    /// Properties in force of a zfs pool and its dataset.
    pub properties: BTreeMap<String, String>,
    /// Facts about the array of md or the volume of LVM, once it is in sync.
    array: ArrayDescription,
    /// Facts about the array over the devices of the log.
    log_array: ArrayDescription,
    /// By what the filesystem is known.
    pub uuid: String,
    /// The values of settings before they were changed.
    pub settings_before: Vec<Value>,
}

impl<'a> Work<'a> {
    pub fn new(engine: &'a Engine, plan: &'a Plan, lock: &'a File) -> Self {
        let mut devices = Devices::default();
        for (part, on) in plan.leaves() {
            let node = match on {
                PlannedLeaf::Image { .. } => PathBuf::new(),
                PlannedLeaf::Device { facts, .. } => facts.node.clone(),
            };
            devices.set(part, node);
        }
        Self {
            engine,
            plan,
            lock,
            held: Vec::new(),
            devices,
            options: String::new(),
            geometry: None,
            recorded_members: Vec::new(),
            properties: BTreeMap::new(),
            array: ArrayDescription::new(),
            log_array: ArrayDescription::new(),
            uuid: plan.uuid.clone(),
            settings_before: Vec::new(),
        }
    }

    /// Facts about the array over these leaves; none where there is none.
    pub fn array(&self, role: Role) -> &ArrayDescription {
        match role {
            Role::Filesystem => &self.array,
            Role::Log => &self.log_array,
        }
    }

    pub fn take(&mut self, step: &Step, entry: &mut Entry, tell: Tell) -> Result<(), Refusal> {
        match step {
            Step::Attach { image, part, .. } => self.attach(step, image, *part, tell),
            Step::LogWrites { .. } => self.log_writes(step, tell),
            Step::Wipe { part, .. } => self.wipe(step, *part, tell),
            Step::Discard { part, .. } => self.discard(step, *part, tell),
            Step::MakeJournal { .. } => self.make_journal(step, tell),
            Step::Mkfs { .. } => self.mkfs(step, entry, tell),
            Step::Geometry { .. } => self.look_at_geometry(step, tell),
            Step::AddPartition { part, .. } => self.add_partition(step, *part, tell),
            Step::CreateArray { role, .. } => self.create_array(step, *role, entry, tell),
            Step::MakePart { uuid, member, .. } => self.make_part(step, uuid, *member, entry, tell),
            Step::MakeGroup { .. } => self.make_group(step, tell),
            Step::CreateVolume { .. } => self.create_volume(step, tell),
            Step::WipeArray { role, .. } => self.wipe_array(step, *role, tell),
            Step::AwaitSync {
                role,
                volume,
                checks,
            } => self.await_sync(step, *role, (volume.as_ref(), *checks), tell),
            Step::CreatePool { pool, .. } => self.create_pool(step, pool, entry, tell),
            Step::LoadModule { .. } | Step::CreateDataset { .. } => {
                self.run(step, tell).map(|_| ())
            }
            Step::Properties { .. } => self.look_at_properties(step, tell),
            Step::Mount { .. } => self.mount(step, tell),
            _ => {
                let began = Instant::now();
                let outcome = self.without_program(step, entry);
                tell(Report {
                    step: step.name().into(),
                    argv: vec![step.words()],
                    ms: began.elapsed().as_secs_f64() * 1000.0,
                    exit_code: None,
                    output: outcome
                        .as_ref()
                        .err()
                        .map(Refusal::to_string)
                        .unwrap_or_default(),
                });
                outcome
            }
        }
    }

    fn without_program(&mut self, step: &Step, entry: &mut Entry) -> Result<(), Refusal> {
        match step {
            Step::CreateImage {
                path,
                bytes,
                sparse,
            } => self.create_image(path, *bytes, *sparse, entry),
            Step::Record { recorder, images } => recorder.start(images, None),
            Step::CheckDevice { part, .. } => self.check_device(*part),
            Step::SetQueue { values } => self.set_queues(values, entry),
            Step::SetArrayQueue { values } => self.set_array_queue(values, entry),
            Step::KeepQueue { values } => self.keep_queue(values, entry),
            Step::SetKernel { values } => self.set(SettingOwner::Kernel, values, entry),
            Step::MakeMountPoint { path } => secure::make_directory(path, 0o700).map(|_| ()),
            Step::Verify { mount_point } => self.verify(mount_point),
            Step::MakeDirectory { path, owner } => make_directory(path, owner),
            Step::CreateArray { .. }
            | Step::AssembleArray { .. }
            | Step::WipeArray { .. }
            | Step::MakePart { .. }
            | Step::MakeGroup { .. }
            | Step::CreateVolume { .. }
            | Step::AwaitSync { .. }
            | Step::Discard { .. }
            | Step::MakeJournal { .. }
            | Step::Geometry { .. }
            | Step::LoadModule { .. }
            | Step::AddPartition { .. }
            | Step::CreatePool { .. }
            | Step::CreateDataset { .. }
            | Step::Properties { .. }
            | Step::Attach { .. }
            | Step::LogWrites { .. }
            | Step::Wipe { .. }
            | Step::Mkfs { .. }
            | Step::Mount { .. } => {
                unreachable!()
            }
        }
    }

    /// Runs the program of a step. Returns its output.
    pub(super) fn run(&self, step: &Step, tell: Tell) -> Result<String, Refusal> {
        let argv = step.argv(&self.devices).expect("a step with a program");
        let outcome = self.run_argv(step, &argv, tell)?;
        let hint = match step {
            Step::Wipe { .. } | Step::AddPartition { .. } => "Look at the kernel's log (dmesg).",
            Step::LoadModule { .. } => {
                "Have it loaded at boot, by a file in /etc/modules-load.d, and now by modprobe: the service may load none."
            }
            Step::Discard { .. } => "Ask for ssd_state as_is, or leave it out.",
            Step::CreatePool { .. } => "Change the target's pool_properties or its size.",
            Step::CreateArray {
                role: Role::Log, ..
            } => "Change the target's log_devices; the kernel's log (dmesg) may say why.",
            Step::CreateArray { .. } | Step::CreateVolume { .. } => {
                "Change the target's layout or layout_options; the kernel's log (dmesg) may say why."
            }
            Step::CreateDataset { .. } => "Change the target's dataset_properties.",
            Step::MakeJournal { .. } => match self.plan.argument_of_log() {
                Some("log_size") => "Change the target's log_size.",
                Some("log_devices") => "Change the target's log_devices.",
                _ => "Change the target's log_device.",
            },
            _ => "The kernel's log (dmesg) may say why.",
        };
        match outcome.succeeded() {
            true => Ok(outcome.output),
            false => Err(outcome.refusal().hint(hint)),
        }
    }

    fn discard(&mut self, step: &Step, part: Part, tell: Tell) -> Result<(), Refusal> {
        self.look_at_wiped(part)?;
        let device = self.devices.of(part);
        if let Some(limits) = Queue::of_device(device).and_then(|queue| queue.limits()) {
            check_discards(&limits, &device.display().to_string())?;
        }
        self.run(step, tell).map(|_| ())
    }

    /// An unknown geometry is no reason to stop.
    fn look_at_geometry(&mut self, step: &Step, tell: Tell) -> Result<(), Refusal> {
        let argv = step.argv(&self.devices).expect("a step with a program");
        let outcome = self.run_argv(step, &argv, tell)?;
        self.geometry = geometry(self.plan.filesystem, &outcome.output);
        Ok(())
    }

    pub(super) fn run_argv(
        &self,
        step: &Step,
        argv: &[String],
        tell: Tell,
    ) -> Result<Outcome, Refusal> {
        let outcome = exec::run_making(argv, exec::LONG, self.lock)?;
        tell(outcome.report(step.name()));
        Ok(outcome)
    }

    fn create_image(
        &mut self,
        path: &Path,
        bytes: u64,
        sparse: bool,
        entry: &mut Entry,
    ) -> Result<(), Refusal> {
        check_image(&self.engine.config, path)?;
        let (directory, name) = split(path)?;
        let directory = secure::open_directory(directory)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(&directory, name, flags, Mode::from_raw_mode(0o600)) {
            Ok(file) => file,
            Err(Errno::EXIST) => {
                // Another program made it meanwhile: the helper does not remove it.
                entry.not_ours.push(path.to_owned());
                self.engine.journal.write(entry)?;
                return Err(taken(path));
            }
            Err(e) => return Err(failed("create", path, e)),
        };
        let sized = match sparse {
            true => ftruncate(&file, bytes),
            false => fallocate(&file, FallocateFlags::empty(), 0, bytes),
        };
        sized.map_err(|e| Refusal {
            kind: if e == Errno::NOSPC {
                Kind::DiskFull
            } else {
                Kind::System
            },
            ..failed("allocate", path, e)
        })
    }

    fn attach(&mut self, step: &Step, image: &Path, part: Part, tell: Tell) -> Result<(), Refusal> {
        let opened = self.attached(step, image, tell)?;
        let device = opened.node.clone();
        self.held.push((part, opened));
        self.devices.set(part, device.clone());
        loops::have_flushed(&device)
    }

    /// Attaches an image with direct I/O. If the filesystem below cannot do that, losetup says so, and the page cache is used.
    pub(super) fn attached(
        &self,
        step: &Step,
        image: &Path,
        tell: Tell,
    ) -> Result<Opened, Refusal> {
        let mut argv = step.argv(&self.devices).expect("a step with a program");
        let mut outcome = self.run_argv(step, &argv, tell)?;
        if !outcome.succeeded() && loops::of_file(image)?.is_empty() {
            argv.retain(|argument| argument != "--direct-io=on");
            outcome = self.run_argv(step, &argv, tell)?;
        }
        match loops::of_file(image)?.as_slice() {
            [device] => {
                // Held open like a disk; and looked at once more, since it may have been another's a moment ago.
                let opened = device::open(&device.display().to_string(), Access::Glance)?;
                match loops::of_file(image)? == [device.clone()] {
                    true => Ok(opened),
                    false => Err(outcome.refusal()),
                }
            }
            _ => Err(outcome.refusal()),
        }
    }

    /// A mount that has failed without a word would have the filesystem below measured.
    fn verify(&mut self, mount_point: &Path) -> Result<(), Refusal> {
        let mounts = probe::mounts_on(mount_point)?;
        // btrfs shows one of its devices.
        let devices = self.devices.members.targets();
        let is_of = |mount: &Mount| {
            let numbers = devices
                .iter()
                .filter_map(|device| probe::device_number(device));
            numbers
                .into_iter()
                .any(|number| probe::is_of_device(mount, number))
        };
        match mounts.last() {
            Some(mount)
                if mount.fs_type == self.plan.filesystem.name()
                    && match &self.plan.dataset {
                        Some(dataset) => mount.source == *dataset,
                        None => is_of(mount),
                    } =>
            {
                self.options = mount.options.clone();
                self.array = self.facts_of_array(Role::Filesystem)?;
                self.log_array = self.facts_of_array(Role::Log)?;
                check_confined(&mount.options, mount_point)
            }
            found => Err(Refusal::new(
                Kind::System,
                format!(
                    "{} is not mounted on {}",
                    self.plan.filesystem,
                    mount_point.display()
                ),
            )
            .detail(match found {
                Some(mount) => format!("There is {} of {}.", mount.fs_type, quoted(&mount.source)),
                None => "Nothing is mounted there, though mount succeeded.".into(),
            })),
        }
    }
}

/// The servers' user must not gain rights by a file or device on the filesystem.
pub(super) fn check_confined(options: &str, mount_point: &Path) -> Result<(), Refusal> {
    let is_in_force = |option: &str| options.split(',').any(|o| o == option);
    match ["nosuid", "nodev"].into_iter().find(|o| !is_in_force(o)) {
        None => Ok(()),
        Some(lacking) => Err(Refusal::new(
            Kind::System,
            format!("{} is mounted without {lacking}", mount_point.display()),
        )
        .detail(format!("Its mount options are {options}."))
        .hint("Find out who changes mounts; the kernel's log (dmesg) may say more.")),
    }
}

/// The server's directory in the new filesystem, which then is closed to others.
fn make_directory(path: &Path, owner: &str) -> Result<(), Refusal> {
    let (root, name) = split(path)?;
    let parent = secure::open_directory(root)?;
    let (uid, gid) = probe::user::ids(owner)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o700);
    mkdirat(&parent, name, mode)
        .and_then(|()| openat(&parent, name, flags, Mode::empty()))
        .and_then(|made| {
            fchmod(&made, mode)?;
            fchown(&made, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))
        })
        .map_err(|e| failed("make directory", path, e))?;
    closed::root_of_filesystem(&parent, (uid, gid), root)
}

fn split(path: &Path) -> Result<(&Path, &str), Refusal> {
    path.parent()
        .zip(path.file_name().and_then(|name| name.to_str()))
        .ok_or_else(|| Refusal::argument(format!("invalid path {}", secure::shown(path))))
}

//! Makes the steps, or a refusal, from a request, the configuration and the facts. Nothing here looks at the machine or changes it.

mod remount_options;
mod settings;

pub use remount_options::mount_options_again;
pub use settings::changed_by;

use crate::config::Config;
use crate::layer::{self, Devices, Facts, NewImage, Part, PlannedLeaf, Role, Step};
use crate::place::Place;
use crate::probe::kernel::Support;
use crate::recorder::Recorder;
use pgfsbench_core::helper::options::check_kernel as check_options_of_kernel;
use pgfsbench_core::helper::options::{mkfs_arguments, mount_options};
use pgfsbench_core::helper::{Filesystem, Prepare};
use pgfsbench_core::refusal::{Kind, Refusal};
use std::path::{Path, PathBuf};

/// The steps that prepare a target, and what they are made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub filesystem: Filesystem,
    pub uuid: String,
    /// The UUID of an array of md, if one is made.
    pub array_uuid: String,
    /// The UUID of an array over the devices of the log, if one is made.
    pub log_array_uuid: String,
    /// The leaves that the filesystem is made on.
    pub members: Vec<PlannedLeaf>,
    /// The devices of its log; none if the filesystem holds it.
    pub logs: Vec<PlannedLeaf>,
    /// The recorder above all leaves; None if nothing is recorded.
    pub recorder: Option<Recorder>,
    /// The UUID by which the log is known: its own, or that of the filesystem.
    pub log_uuid: String,
    /// The dataset by which zfs is mounted; None for other filesystems.
    pub dataset: Option<String>,
    pub mount_point: PathBuf,
    pub mount_options: Vec<String>,
    /// The options of mkfs without those that were asked for; None if none were.
    pub plain_mkfs: Option<Vec<String>>,
    pub steps: Vec<Step>,
}

impl Plan {
    /// All leaves, in the order in which they are made.
    pub fn leaves(&self) -> impl Iterator<Item = (Part, &PlannedLeaf)> {
        let members = self.members.iter().enumerate();
        let logs = self.logs.iter().enumerate();
        let logs = logs.map(|(n, on)| (Part::Log(n), on));
        members.map(|(n, on)| (Part::Member(n), on)).chain(logs)
    }

    /// The leaves that the filesystem is made on, or those of its log.
    pub fn parts(&self, role: Role) -> Vec<Part> {
        let parts = self.leaves().map(|(part, _)| part);
        parts.filter(|part| part.role() == role).collect()
    }

    /// The argument that gives the log; None if the filesystem holds it.
    pub fn argument_of_log(&self) -> Option<&'static str> {
        match &self.logs[..] {
            [] => None,
            [PlannedLeaf::Image { .. }] => Some("log_size"),
            [PlannedLeaf::Device { .. }] => Some("log_device"),
            _ => Some("log_devices"),
        }
    }

    /// True if an array of md is made over these leaves.
    pub fn makes_array(&self, over: Role) -> bool {
        let makes_array =
            |step: &Step| matches!(step, Step::CreateArray { role, .. } if *role == over);
        self.steps.iter().any(makes_array)
    }

    /// The UUID of the array over these leaves.
    pub fn uuid_of_array(&self, role: Role) -> &str {
        match role {
            Role::Filesystem => &self.array_uuid,
            Role::Log => &self.log_array_uuid,
        }
    }

    /// The devices, as far as they are known: the free loop device is known only when it is taken.
    pub fn devices(&self) -> Devices {
        let mut devices = Devices::default();
        for (part, on) in self.leaves() {
            let free = match part {
                Part::Member(0) => "/dev/loopN".to_owned(),
                Part::Member(n) => format!("/dev/loopN+{n}"),
                Part::Log(_) => "/dev/loopM".to_owned(),
            };
            let node = match on {
                PlannedLeaf::Image { .. } => free.into(),
                PlannedLeaf::Device { facts, .. } => facts.node.clone(),
            };
            devices.set(part, node);
        }
        for step in &self.steps {
            match step {
                Step::LogWrites { uuid, .. } => {
                    let name = layer::name_of_log_writes(uuid);
                    devices.members.recorded = Some(Path::new("/dev/mapper").join(name));
                }
                Step::CreateArray { role, uuid, .. } => {
                    devices.joined_mut(*role).array = Some(layer::node_of_array(uuid));
                }
                Step::CreateVolume { uuid, .. } => {
                    let name = layer::name_of_volume(uuid);
                    devices.members.array = Some(Path::new("/dev/mapper").join(name));
                }
                _ => {}
            }
        }
        devices
    }
}

/// The plan for a request.
pub fn prepare(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
) -> Result<Plan, Refusal> {
    request.check()?;
    let fs = request.filesystem;
    check_allowed(config, fs)?;
    // Options are refused before devices are looked at.
    mkfs_arguments(fs, request.mkfs_options.as_deref().unwrap_or_default())?;
    let asked_to_mount = request.mount_options.as_deref().unwrap_or("");
    let mount_options = mount_options(fs, asked_to_mount)?;
    check_kernel(fs, facts)?;
    check_options_of_kernel(fs, asked_to_mount, &facts.kernel)?;
    let mkfs = facts.mkfs.clone()?;
    let mount = facts.mount.clone()?;

    let mount_point = place.mount_point(config);
    let (members, mut steps) = storage(config, place, request, facts)?;
    let smallest = members.iter().map(PlannedLeaf::bytes).min().unwrap_or(0);
    let mut mkfs_options = options_of_mkfs(request, &facts.uuid, smallest)?;
    let mut plain_mkfs = plain_options_of_mkfs(request, &facts.uuid, smallest)?;
    let log = layer::log(config, place, request, facts, &members)?;
    let (logs, log_uuid) = match log {
        None => (Vec::new(), String::new()),
        Some(log) => {
            steps.extend(log.steps);
            if let Some(plain) = &mut plain_mkfs {
                plain.extend(log.mkfs_options.clone());
            }
            mkfs_options.extend(log.mkfs_options);
            (log.on, log.uuid)
        }
    };
    let leaves = [&members[..], &logs[..]].concat();
    let recorder = layer::record(config, place, request, facts, &leaves, &mut steps)?;
    let mut steps = before_mkfs(config, request, facts, steps)?;
    if let (true, Some(recorder)) = (request.is_logged(), &recorder) {
        steps.push(layer::step_of_log_writes(recorder, facts)?);
    }
    match fs {
        Filesystem::Zfs => steps.extend(layer::steps_of_pool(place, request, facts)?),
        _ => steps.push(Step::Mkfs {
            program: mkfs,
            options: mkfs_options,
        }),
    }
    let joined = layer::joined(request.layout, members.len());
    let of_layers = layer::mount_options(fs, !logs.is_empty(), joined);
    let mount = Step::Mount {
        program: mount,
        filesystem: fs,
        options: [&mount_options[..], &of_layers].concat(),
        mount_point: mount_point.clone(),
        dataset: (fs == Filesystem::Zfs).then(|| place.dataset()),
    };
    steps.extend(geometry(fs, facts));
    steps.extend(mounting(config, &mount_point, mount));
    steps.extend(settings::step_to_keep(&steps));
    let plan = Plan {
        filesystem: fs,
        uuid: facts.uuid.clone(),
        array_uuid: facts.array.uuid.clone(),
        log_array_uuid: facts.log_array.uuid.clone(),
        members,
        logs,
        recorder,
        log_uuid,
        dataset: (fs == Filesystem::Zfs).then(|| place.dataset()),
        mount_point,
        mount_options,
        plain_mkfs,
        steps,
    };
    layer::check_apart(&plan.leaves().collect::<Vec<_>>())?;
    Ok(plan)
}

/// The options of mkfs without those that the request gives; None if it gives none.
fn plain_options_of_mkfs(
    request: &Prepare,
    uuid: &str,
    smallest: u64,
) -> Result<Option<Vec<String>>, Refusal> {
    let requested = request.mkfs_options.as_deref().unwrap_or_default();
    if requested.trim().is_empty() {
        return Ok(None);
    }
    let plain = Prepare {
        mkfs_options: None,
        ..request.clone()
    };
    options_of_mkfs(&plain, uuid, smallest).map(Some)
}

/// The leaves that the filesystem is made on, with the steps that lead there.
fn storage(
    config: &Config,
    place: &Place,
    request: &Prepare,
    facts: &Facts,
) -> Result<(Vec<PlannedLeaf>, Vec<Step>), Refusal> {
    let is_zfs = request.filesystem == Filesystem::Zfs;
    let (mut members, mut steps) = (Vec::new(), Vec::new());
    for n in 0..request.storage.members() {
        let part = Part::Member(n);
        let (on, further) = match (request.storage.images(), request.storage.devices().get(n)) {
            (_, Some(requested)) => layer::device(config, requested, facts, part)?,
            (Some((bytes, sparse)), None) => {
                let new_image = NewImage {
                    part,
                    name: part.image_name(place),
                    bytes,
                    sparse,
                    partitions: is_zfs,
                };
                layer::image(config, &new_image, facts, &members)?
            }
            (None, None) => return Err(Refusal::new(Kind::Internal, "a target without a member")),
        };
        steps.extend(further);
        if is_zfs {
            steps.extend(layer::partition(part, &on, facts)?);
        }
        members.push(on);
    }
    Ok((members, steps))
}

fn check_allowed(config: &Config, fs: Filesystem) -> Result<(), Refusal> {
    if config.filesystems.contains(&fs) {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::NotAllowed,
        format!("{fs} is not allowed by the helper's configuration"),
    )
    .detail("Its line \"filesystems\" does not name it.")
    .hint("Let the administrator add it, and restart pgfsbench-helper."))
}

/// mkfs.xfs and mkfs.btrfs print the geometry themselves; for the ext family another program does.
fn geometry(fs: Filesystem, facts: &Facts) -> Option<Step> {
    let is_ext = matches!(fs, Filesystem::Ext2 | Filesystem::Ext3 | Filesystem::Ext4);
    let program = facts.dumpe2fs.clone().filter(|_| is_ext)?;
    Some(Step::Geometry { program })
}

/// The steps around the mount, in order.
fn mounting(config: &Config, mount_point: &Path, mount: Step) -> [Step; 4] {
    let path = mount_point.to_owned();
    [
        Step::MakeMountPoint { path: path.clone() },
        mount,
        Step::Verify { mount_point: path },
        Step::MakeDirectory {
            path: mount_point.join(crate::place::DIRECTORY),
            owner: config.server_user.clone(),
        },
    ]
}

/// Those that are asked for, and what of our own they leave.
fn options_of_mkfs(request: &Prepare, uuid: &str, smallest: u64) -> Result<Vec<String>, Refusal> {
    let fs = request.filesystem;
    let requested = request.mkfs_options.as_deref().unwrap_or("");
    let mut options = fs.own_arguments(uuid);
    options.extend(mkfs_arguments(fs, requested)?);
    layer::spare(request, &mut options)?;
    layer::write_at_once(fs, &mut options);
    layer::add_mkfs_options(request, smallest, &mut options)?;
    Ok(options)
}

/// The steps before mkfs, in order. Those that look and set come first, then those that erase: what can fail comes before the first
/// byte is gone.
fn before_mkfs(
    config: &Config,
    request: &Prepare,
    facts: &Facts,
    steps: Vec<Step>,
) -> Result<Vec<Step>, Refusal> {
    let erases = |step: &Step| matches!(step, Step::Wipe { .. } | Step::MakeJournal { .. });
    let (erasing, mut steps): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(erases);
    steps.extend(settings::steps(config, request, facts)?);
    let (wiping, making): (Vec<Step>, Vec<Step>) = erasing
        .into_iter()
        .partition(|step| matches!(step, Step::Wipe { .. }));
    steps.extend(layer::module(request.filesystem, facts)?);
    steps.extend(layer::modules_of_arrays(request, facts)?);
    steps.extend(layer::module_of_log_writes(request, facts)?);
    steps.extend(wiping);
    steps.extend(layer::discards(request, facts)?);
    // A journal is made on its array.
    steps.extend(layer::steps_of_array(request, Role::Log, facts)?);
    steps.extend(making);
    let array = layer::steps_of_array(request, Role::Filesystem, facts)?;
    if !array.is_empty() {
        steps.extend(array);
        steps.extend(settings::step_of_array(request));
    }
    Ok(steps)
}

fn check_kernel(fs: Filesystem, facts: &Facts) -> Result<(), Refusal> {
    if facts.support != Support::Missing {
        return Ok(());
    }
    Err(Refusal::new(Kind::NotInThisState, format!("this kernel has no {fs}"))
        .detail(format!(
            "/proc/filesystems of kernel {} does not list it, and modprobe finds no module for it.",
            facts.kernel
        ))
        .hint(format!(
            "On Debian the module is in the package {}.",
            fs.kernel_package()
        )))
}

#[cfg(test)]
mod tests;

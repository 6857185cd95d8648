//! The steps by which a filesystem comes to be mounted.

use super::volume::{Lvm, NewVolume};
use super::{Part, Role, mdadm};
use crate::recorder::Recorder;
use crate::settings::{self, Value};
use pgfsbench_core::helper::{Filesystem, Layout, LayoutOptions};
use std::path::{Path, PathBuf};

/// In options: the device of the log. No option that is asked for has braces.
pub const LOG: &str = "{log}";

/// In options: the device of a further member, which is counted from 0.
pub fn member(member: usize) -> String {
    format!("{{member{}}}", member + 1)
}

/// In options of mkfs.xfs, behind the device of the log: the size of its sectors, where mkfs.xfs would take a smaller one.
pub const LOG_SECTOR: &str = "{log_sector}";

/// mkfs.xfs takes sectors of this size for a log on another device, whatever that device says.
const SECTOR_OF_XFS_LOG: u64 = 512;

/// The devices of leaves that have one role, and what is made of them.
#[derive(Clone, Debug, Default)]
pub struct Joined {
    pub leaves: Vec<PathBuf>,
    /// The array of md or volume of LVM over them.
    pub array: Option<PathBuf>,
    /// The device of dm-log-writes over the only leaf.
    pub recorded: Option<PathBuf>,
    /// Bytes of a sector; 0 where that is not known.
    pub sector: u64,
}

impl Joined {
    /// The one device that is used; empty where that is not known.
    pub fn device(&self) -> &Path {
        self.targets()
            .first()
            .map_or(Path::new(""), PathBuf::as_path)
    }

    /// The devices that are written to: dm-log-writes, the array, or all leaves.
    pub fn targets(&self) -> &[PathBuf] {
        match self.recorded.as_ref().or(self.array.as_ref()) {
            Some(above) => std::slice::from_ref(above),
            None => &self.leaves,
        }
    }

    fn names_of_targets(&self) -> impl Iterator<Item = String> {
        let name = |path: &PathBuf| path.display().to_string();
        self.targets().iter().map(name)
    }
}

/// The devices of a plan.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    pub members: Joined,
    pub log: Joined,
}

impl Devices {
    pub fn joined(&self, role: Role) -> &Joined {
        match role {
            Role::Filesystem => &self.members,
            Role::Log => &self.log,
        }
    }

    pub fn joined_mut(&mut self, role: Role) -> &mut Joined {
        match role {
            Role::Filesystem => &mut self.members,
            Role::Log => &mut self.log,
        }
    }

    /// The device of a leaf; empty where that is not known.
    pub fn of(&self, part: Part) -> &Path {
        let (Part::Member(n) | Part::Log(n)) = part;
        let leaf = self.joined(part.role()).leaves.get(n);
        leaf.map_or(Path::new(""), PathBuf::as_path)
    }

    pub fn set(&mut self, part: Part, device: PathBuf) {
        let (Part::Member(n) | Part::Log(n)) = part;
        let leaves = &mut self.joined_mut(part.role()).leaves;
        leaves.resize(leaves.len().max(n + 1), PathBuf::new());
        leaves[n] = device;
    }

    /// The device that the filesystem is mounted from.
    pub fn filesystem(&self) -> &Path {
        self.members.device()
    }

    /// An option with the names and sizes of these devices.
    fn in_option(&self, option: &str) -> String {
        let sector = match self.log.sector > SECTOR_OF_XFS_LOG {
            true => format!(",sectsize={}", self.log.sector),
            false => String::new(),
        };
        let option = option
            .replace(LOG, &self.log.device().display().to_string())
            .replace(LOG_SECTOR, &sector);
        let members = self.members.leaves.iter().enumerate();
        members.fold(option, |option, (n, device)| {
            option.replace(&member(n), &device.display().to_string())
        })
    }

    /// The options of mkfs for these devices. xfs writes its log in sectors that are no larger than those of the filesystem: where the
    /// log's device has larger ones, the filesystem takes them, too.
    fn in_options_of_mkfs(&self, options: &[String]) -> Vec<String> {
        let is_xfs_with_log = options.iter().any(|option| option.contains(LOG_SECTOR));
        let is_given = options.iter().any(|option| option == "-s");
        let is_larger = self.members.sector > 0 && self.log.sector > self.members.sector;
        let mut all: Vec<String> = options.iter().map(|o| self.in_option(o)).collect();
        if is_xfs_with_log && is_larger && !is_given {
            all.extend(["-s".to_owned(), format!("size={}", self.log.sector)]);
        }
        all
    }
}

/// One step. Those with a program are executed exactly as [`Step::argv`] says.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    CreateImage {
        path: PathBuf,
        bytes: u64,
        sparse: bool,
    },
    /// Serve the images as disks whose writes are recorded. The images themselves stay as they are.
    Record {
        recorder: Recorder,
        images: Vec<PathBuf>,
    },
    /// Has the kernel log what is written to the device, in the file of the record. Another process marks the time there.
    LogWrites {
        losetup: PathBuf,
        dmsetup: PathBuf,
        recorder: Recorder,
        /// The UUID of the filesystem, which names the device of dm-log-writes, too.
        uuid: String,
        has_udev: bool,
    },
    Attach {
        program: PathBuf,
        image: PathBuf,
        part: Part,
        /// True if the kernel must look for partitions. They go when it is detached.
        partitions: bool,
    },
    /// It stays loaded.
    LoadModule {
        program: PathBuf,
        module: &'static str,
    },
    /// To a loop device; on disk there is nothing of it.
    AddPartition {
        program: PathBuf,
        part: Part,
        first: u64,
        sectors: u64,
    },
    CheckDevice {
        path: String,
        part: Part,
    },
    /// An array of md over all members, or over the devices of the log.
    CreateArray {
        program: PathBuf,
        role: Role,
        uuid: String,
        layout: Layout,
        options: LayoutOptions,
        skips_sync: bool,
    },
    /// Makes a member one of LVM.
    MakePart {
        lvm: Lvm,
        uuid: String,
        member: usize,
    },
    /// A group of LVM over all members.
    MakeGroup {
        lvm: Lvm,
        uuid: String,
    },
    /// The volume of a group.
    CreateVolume {
        lvm: Lvm,
        uuid: String,
        volume: NewVolume,
    },
    /// Makes an array of md again from the devices that it had.
    AssembleArray {
        program: PathBuf,
        role: Role,
        uuid: String,
    },
    WipeArray {
        program: PathBuf,
        role: Role,
    },
    /// Waits until the array is in sync. A volume is asked by dmsetup and its name.
    AwaitSync {
        role: Role,
        volume: Option<(PathBuf, String)>,
        /// Then compares all copies and parity.
        checks: bool,
    },
    Wipe {
        program: PathBuf,
        part: Part,
    },
    /// Settings of the queue of each member's disk.
    SetQueue {
        values: Vec<Value>,
    },
    /// Settings of the queue of the array.
    SetArrayQueue {
        values: Vec<Value>,
    },
    /// Sets the queue once more where its settings are lost: the kernel computes some anew when it learns what the disk cannot do, in mkfs for
    /// example.
    KeepQueue {
        values: Vec<Value>,
    },
    /// Settings of the whole machine.
    SetKernel {
        values: Vec<Value>,
    },
    /// The whole device.
    Discard {
        program: PathBuf,
        part: Part,
    },
    /// On the log's device.
    MakeJournal {
        program: PathBuf,
        options: Vec<String>,
    },
    Mkfs {
        program: PathBuf,
        options: Vec<String>,
    },
    CreatePool {
        program: PathBuf,
        pool: String,
        properties: Vec<String>,
        /// mirror or raidz; empty where the devices stand side by side.
        joined_as: &'static str,
    },
    CreateDataset {
        program: PathBuf,
        dataset: String,
        properties: Vec<String>,
    },
    /// Only looks.
    Properties {
        program: PathBuf,
        names: Vec<String>,
        of: String,
    },
    /// Only looks.
    Geometry {
        program: PathBuf,
    },
    MakeMountPoint {
        path: PathBuf,
    },
    Mount {
        program: PathBuf,
        filesystem: Filesystem,
        options: Vec<String>,
        mount_point: PathBuf,
        /// The dataset of zfs; None for other filesystems.
        dataset: Option<String>,
    },
    Verify {
        mount_point: PathBuf,
    },
    MakeDirectory {
        path: PathBuf,
        owner: String,
    },
}

impl Step {
    pub fn name(&self) -> &'static str {
        match self {
            Step::CreateImage { .. } => "create_image",
            Step::Record { .. } => "record",
            Step::LogWrites { .. } => "log_writes",
            Step::Attach { .. } => "attach",
            Step::LoadModule { .. } => "load_module",
            Step::AddPartition { .. } => "add_partition",
            Step::CreatePool { .. } => "create_pool",
            Step::CreateDataset { .. } => "create_dataset",
            Step::Properties { .. } => "properties",
            Step::CheckDevice { .. } => "check_device",
            Step::CreateArray { .. } => "create_array",
            Step::AssembleArray { .. } => "assemble_array",
            Step::WipeArray { .. } => "wipe_array",
            Step::MakePart { .. } => "make_part",
            Step::MakeGroup { .. } => "make_group",
            Step::CreateVolume { .. } => "create_volume",
            Step::AwaitSync { .. } => "await_sync",
            Step::Wipe { .. } => "wipe",
            Step::SetQueue { .. } => "set_queue",
            Step::SetArrayQueue { .. } => "set_array_queue",
            Step::KeepQueue { .. } => "keep_queue",
            Step::SetKernel { .. } => "set_kernel",
            Step::Discard { .. } => "discard",
            Step::MakeJournal { .. } => "make_journal",
            Step::Mkfs { .. } => "mkfs",
            Step::Geometry { .. } => "geometry",
            Step::MakeMountPoint { .. } => "make_mount_point",
            Step::Mount { .. } => "mount",
            Step::Verify { .. } => "verify",
            Step::MakeDirectory { .. } => "make_directory",
        }
    }

    /// The command of a step, with these devices. None for what the helper does itself.
    pub fn argv(&self, devices: &Devices) -> Option<Vec<String>> {
        let text = |path: &Path| path.display().to_string();
        let device = devices.filesystem();
        let argv = match self {
            Step::CreateArray { .. }
            | Step::AssembleArray { .. }
            | Step::MakePart { .. }
            | Step::MakeGroup { .. }
            | Step::CreateVolume { .. }
            | Step::WipeArray { .. } => return self.argv_of_array(devices),
            Step::Attach {
                program,
                image,
                partitions,
                ..
            } => {
                let mut argv = vec![text(program)];
                argv.extend(["--find", "--show", "--direct-io=on"].map(String::from));
                argv.extend(partitions.then(|| "--partscan".to_owned()));
                argv.push(text(image));
                argv
            }
            Step::Wipe { program, part } => {
                vec![text(program), "--all".into(), text(devices.of(*part))]
            }
            Step::Discard { program, part } => vec![text(program), text(devices.of(*part))],
            Step::MakeJournal { program, options } => {
                let mut argv = vec![text(program)];
                argv.extend(options.iter().cloned());
                argv.push(text(devices.log.device()));
                argv
            }
            Step::Mkfs { program, options } => {
                let mut argv = vec![text(program)];
                argv.extend(devices.in_options_of_mkfs(options));
                argv.extend(devices.members.names_of_targets());
                argv
            }
            Step::Geometry { program } => vec![text(program), "-h".into(), text(device)],
            Step::LoadModule { program, module } => vec![text(program), (*module).into()],
            Step::AddPartition {
                program,
                part,
                first,
                sectors,
            } => vec![
                text(program),
                text(devices.of(*part)),
                "1".into(),
                first.to_string(),
                sectors.to_string(),
            ],
            Step::CreatePool { .. } | Step::CreateDataset { .. } | Step::Properties { .. } => {
                return self.argv_of_pool(devices);
            }
            Step::Mount { .. } => return self.argv_of_mount(devices),
            _ => return None,
        };
        Some(argv)
    }

    /// The command of a step of an array of md, or of a volume of LVM.
    fn argv_of_array(&self, devices: &Devices) -> Option<Vec<String>> {
        let members = &devices.members.leaves;
        let argv = match self {
            Step::CreateArray {
                program,
                role,
                uuid,
                layout,
                options,
                skips_sync,
            } => mdadm::create(
                program,
                uuid,
                (*layout, options, *skips_sync),
                &devices.joined(*role).leaves,
            ),
            Step::AssembleArray {
                program,
                role,
                uuid,
            } => mdadm::assemble(program, uuid, &devices.joined(*role).leaves),
            Step::MakePart { lvm, uuid, member } => lvm.make_part(uuid, *member, members),
            Step::MakeGroup { lvm, uuid } => lvm.make_group(uuid, members),
            Step::CreateVolume { lvm, uuid, volume } => lvm.create_volume(uuid, volume, members),
            Step::WipeArray { program, role } => {
                let text = |path: &Path| path.display().to_string();
                let array = devices.joined(*role).device();
                vec![text(program), "--all".into(), text(array)]
            }
            _ => return None,
        };
        Some(argv)
    }

    /// The command of a step of a zfs pool.
    fn argv_of_pool(&self, devices: &Devices) -> Option<Vec<String>> {
        let text = |path: &Path| path.display().to_string();
        let argv = match self {
            Step::CreatePool {
                program,
                pool,
                properties,
                joined_as,
            } => {
                let ours = ["cachefile=none"].map(String::from);
                let of_root = [
                    "canmount=off",
                    "mountpoint=none",
                    "setuid=off",
                    "devices=off",
                ];
                let mut argv = vec![text(program), "create".into(), "-f".into()];
                argv.extend(with_option("-o", &ours));
                argv.extend(with_option("-O", &of_root.map(String::from)));
                argv.extend(with_option("-o", properties));
                argv.push(pool.clone());
                argv.extend((!joined_as.is_empty()).then(|| (*joined_as).to_owned()));
                argv.extend(devices.members.names_of_targets());
                let words_of_log = match devices.log.leaves.len() {
                    0 => &[][..],
                    1 => &["log"],
                    _ => &["log", "mirror"],
                };
                argv.extend(words_of_log.iter().map(|&word| word.to_owned()));
                argv.extend(devices.log.names_of_targets());
                argv
            }
            Step::CreateDataset {
                program,
                dataset,
                properties,
            } => {
                let ours = ["mountpoint=legacy", "setuid=off", "devices=off"].map(String::from);
                let mut argv = vec![text(program), "create".into()];
                argv.extend(with_option("-o", &ours));
                argv.extend(with_option("-o", properties));
                argv.push(dataset.clone());
                argv
            }
            Step::Properties { program, names, of } => {
                let mut argv = vec![text(program)];
                argv.extend(["get", "-H", "-p", "-o", "property,value"].map(String::from));
                argv.extend([names.join(","), of.clone()]);
                argv
            }
            _ => return None,
        };
        Some(argv)
    }

    /// The command that mounts.
    fn argv_of_mount(&self, devices: &Devices) -> Option<Vec<String>> {
        let text = |path: &Path| path.display().to_string();
        let argv = match self {
            // By its own helper program, which knows how zfs wants to be asked.
            Step::Mount {
                program,
                filesystem,
                options,
                mount_point,
                dataset: Some(dataset),
            } => vec![
                text(program),
                "-t".into(),
                filesystem.name().into(),
                "-o".into(),
                options.join(","),
                dataset.clone(),
                text(mount_point),
            ],
            Step::Mount {
                program,
                filesystem,
                options,
                mount_point,
                dataset: None,
            } => vec![
                text(program),
                // No helper programs: /sbin/mount.FILESYSTEM is not run.
                "-i".into(),
                "-t".into(),
                filesystem.name().into(),
                "-o".into(),
                devices.in_option(&options.join(",")),
                text(devices.filesystem()),
                text(mount_point),
            ],
            _ => return None,
        };
        Some(argv)
    }

    /// The step in words, for what has no program.
    pub fn words(&self) -> String {
        match self {
            Step::CreateImage {
                path,
                bytes,
                sparse,
            } => {
                let how = if *sparse { "sparse" } else { "allocated" };
                format!(
                    "create file {} of {bytes} bytes, {how}, mode 0600",
                    path.display()
                )
            }
            Step::Record { recorder, images } => {
                let served = images.iter().map(|image| {
                    let disk = recorder.disk(image);
                    format!("{} as {}", image.display(), disk.display())
                });
                format!(
                    "serve {}, and record in {} what is written",
                    served.collect::<Vec<_>>().join(", "),
                    recorder.record.display()
                )
            }
            Step::LogWrites {
                dmsetup, recorder, ..
            } => format!(
                "attach {}, have {} log there what is written to the device, and mark the time in it",
                recorder.record.display(),
                dmsetup.display()
            ),
            Step::CheckDevice { path, .. } => {
                format!("check again that {path} is the same device, not in use, and may be erased")
            }
            Step::SetQueue { values }
            | Step::SetArrayQueue { values }
            | Step::KeepQueue { values }
            | Step::SetKernel { values } => self.words_of_settings(values),
            Step::AwaitSync { volume, checks, .. } => {
                let read = match volume {
                    Some((program, name)) => format!("{} status {name}", program.display()),
                    None => {
                        "sync_action, sync_completed, degraded and resync_start of the array".into()
                    }
                };
                let check = if *checks { "; check it" } else { "" };
                format!("read {read} until it is in sync{check}")
            }
            Step::MakeMountPoint { path } => {
                format!("make directory {}, mode 0700", path.display())
            }
            Step::Verify { mount_point } => format!(
                "read /proc/self/mountinfo: is it mounted on {}, and with which options?",
                mount_point.display()
            ),
            Step::MakeDirectory { path, owner } => format!(
                "make directory {}, owner {owner}, mode 0700; the filesystem's root likewise",
                path.display()
            ),
            // The others have a program.
            _ => String::new(),
        }
    }

    /// A step that changes these settings, in words.
    fn words_of_settings(&self, values: &[Value]) -> String {
        match self {
            Step::SetQueue { .. } => {
                format!(
                    "write {} of the queue of the disk; what is there now is kept, and put back at release",
                    settings::words(values)
                )
            }
            Step::SetArrayQueue { .. } => {
                format!(
                    "write {} of the queue of the array",
                    settings::words(values)
                )
            }
            Step::KeepQueue { .. } => {
                format!(
                    "read {} of the queue of the disk, and write again what the kernel has changed meanwhile",
                    settings::files(values)
                )
            }
            Step::SetKernel { .. } => {
                format!(
                    "write {} of {}; what is there now is kept, and put back at release",
                    settings::words(values),
                    settings::VM
                )
            }
            _ => String::new(),
        }
    }
}

/// Each of them with this option before it.
fn with_option(option: &str, properties: &[String]) -> Vec<String> {
    properties
        .iter()
        .flat_map(|property| [option.to_owned(), property.clone()])
        .collect()
}

//! The machine: processors, memory, kernel settings, what kind it is, and how to tell it from others.

use pgfsbench_core::{
    environment::Machine,
    proc,
    sys::{
        self,
        cgroup::{Cgroups, Limits},
    },
};

use super::tree::{self, ThisMachine};

/// This machine. Its memory is what the server can use.
pub fn read() -> Machine {
    let (cpu, total) = machine();
    let limits = limits();
    let seen = sys::machine(&ThisMachine);
    Machine {
        virtualization: virtualization().map(str::to_owned),
        container: sys::container(&ThisMachine),
        processors: cpu.as_ref().map(|cpu| cpu.processors),
        processor_model: cpu.and_then(|cpu| cpu.model),
        memory_bytes: limits.clone().unwrap_or_default().usable_memory(total),
        limits,
        kernel_command_line: sys::command_line(&ThisMachine),
        vm: seen.vm,
        transparent_hugepage: seen.transparent_hugepage,
        cpu_governor: seen.governor,
        cpu_mhz_min: seen.mhz_min,
        cpu_mhz_max: seen.mhz_max,
        numa_nodes: seen.numa_nodes,
        clock_source: seen.clock_source,
    }
}

/// A text that tells the machine from others; only its hash is stored. None where nothing tells.
pub fn identity(machine: &Machine) -> Option<String> {
    let container = machine.container.as_deref();
    sys::identity(&ThisMachine, container, machine.processor_model.as_deref())
}

/// The part of the machine that the server can use: less than all where its cgroups have limits.
#[derive(Clone, Copy, Debug)]
pub struct Usable {
    /// Processors that it can keep busy.
    pub processors: Option<u32>,
    /// RAM in bytes.
    pub memory_bytes: Option<u64>,
}

/// The part of the machine that the server can use.
pub fn usable() -> Usable {
    let (cpu, total) = machine();
    let limits = limits().unwrap_or_default();
    Usable {
        processors: limits.usable_processors(cpu.map(|cpu| cpu.processors)),
        memory_bytes: limits.usable_memory(total),
    }
}

/// The limits of the server's cgroups.
fn limits() -> Option<Limits> {
    Cgroups::find(&ThisMachine).limits(&ThisMachine)
}

/// Processors and RAM of the machine.
fn machine() -> (Option<proc::Cpu>, Option<u64>) {
    let cpu = tree::text(proc::CPUINFO).and_then(|text| proc::parse_cpuinfo(&text).ok());
    let memory = tree::text(proc::MEMINFO).and_then(|text| proc::parse_memory_bytes(&text).ok());
    (cpu, memory)
}

/// Whether the machine is a virtual one, and which kind; None where that cannot be known.
fn virtualization() -> Option<&'static str> {
    let read = tree::text;
    proc::virtualization(&proc::VirtualizationSigns {
        cpuinfo: read(proc::CPUINFO),
        dmi: proc::DMI.iter().filter_map(|path| read(path)).collect(),
        hypervisor: read(proc::HYPERVISOR),
        device_tree: read(proc::DEVICE_TREE),
        clocks: read(proc::CLOCKS),
    })
}

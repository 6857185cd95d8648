//! The machine: processors, memory, kernel settings, what kind it is, and how to tell it from others.

use pgfsbench_core::{environment::Machine, proc, sys};

use super::tree::{self, ThisMachine};

/// This machine.
pub fn look() -> Machine {
    let (cpu, memory_bytes) = machine();
    let seen = sys::machine(&ThisMachine);
    Machine {
        virtualization: virtualization().map(str::to_owned),
        container: sys::container(&ThisMachine),
        processors: cpu.as_ref().map(|cpu| cpu.processors),
        processor_model: cpu.and_then(|cpu| cpu.model),
        memory_bytes,
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

/// Processors and RAM of the machine.
pub fn machine() -> (Option<proc::Cpu>, Option<u64>) {
    let cpu = tree::text(proc::CPUINFO).and_then(|text| proc::parse_cpuinfo(&text).ok());
    let memory = tree::text(proc::MEMINFO).and_then(|text| proc::parse_memory_bytes(&text).ok());
    (cpu, memory)
}

/// Whether the machine is a virtual one, and which kind; None where that cannot be known.
fn virtualization() -> Option<&'static str> {
    let read = tree::text;
    proc::virtualization(&proc::Clues {
        cpuinfo: read(proc::CPUINFO),
        dmi: proc::DMI.iter().filter_map(|path| read(path)).collect(),
        hypervisor: read(proc::HYPERVISOR),
        device_tree: read(proc::DEVICE_TREE),
        clocks: read(proc::CLOCKS),
    })
}

//! The machine: processors, memory, kernel settings, what kind it is, and how to tell it from others.

use std::fs;

use pgfsbench_core::{environment::Machine, proc, sys, sys::Tree};

use super::tree::ThisMachine;

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

/// A text that tells the machine from others; only its hash is stored.
pub fn identity(machine: &Machine, hostname: &str) -> String {
    let id = ThisMachine.read("/etc/machine-id").unwrap_or_default();
    let mut parts = vec![
        id.trim().to_owned(),
        hostname.to_owned(),
        machine.processor_model.clone().unwrap_or_default(),
        machine.processors.unwrap_or(0).to_string(),
        // The kernel takes a little for itself, and another one another little.
        machine
            .memory_bytes
            .map_or(0, |bytes| bytes >> 28)
            .to_string(),
    ];
    parts.extend(sys::physical_disks(&ThisMachine));
    parts.join("\n")
}

/// Processors and RAM of the machine.
pub fn machine() -> (Option<proc::Cpu>, Option<u64>) {
    let cpu = fs::read_to_string(proc::CPUINFO)
        .ok()
        .and_then(|text| proc::parse_cpuinfo(&text).ok());
    let memory = fs::read_to_string(proc::MEMINFO)
        .ok()
        .and_then(|text| proc::parse_memory_bytes(&text).ok());
    (cpu, memory)
}

/// Whether the machine is a virtual one, and which kind; None where that cannot be known.
fn virtualization() -> Option<&'static str> {
    let read = |path: &str| fs::read_to_string(path).ok();
    proc::virtualization(&proc::Clues {
        cpuinfo: read(proc::CPUINFO),
        dmi: proc::DMI.iter().filter_map(|path| read(path)).collect(),
        hypervisor: read(proc::HYPERVISOR),
        device_tree: read(proc::DEVICE_TREE),
        clocks: read(proc::CLOCKS),
    })
}

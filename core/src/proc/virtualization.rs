//! Tells whether a machine is real or virtual, from files of firmware and kernel that take no privilege. Words and tables are those
//! of systemd-detect-virt(1).

/// The contents of the files; None where there is no such file.
#[derive(Clone, Debug, Default)]
pub struct VirtualizationSigns {
    /// `/proc/cpuinfo`.
    pub cpuinfo: Option<String>,
    /// The files of [`DMI`], those that are there.
    pub dmi: Vec<String>,
    /// `/sys/hypervisor/type`.
    pub hypervisor: Option<String>,
    /// `/proc/device-tree/hypervisor/compatible`.
    pub device_tree: Option<String>,
    /// The clocks that the kernel could use.
    pub clocks: Option<String>,
}

/// The firmware names the machine here.
pub const DMI: [&str; 5] = [
    "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor",
    "/sys/class/dmi/id/board_vendor",
    "/sys/class/dmi/id/bios_vendor",
    "/sys/class/dmi/id/product_version",
];
/// Xen and others name themselves here.
pub const HYPERVISOR: &str = "/sys/hypervisor/type";
/// The hypervisor's name on machines without DMI.
pub const DEVICE_TREE: &str = "/proc/device-tree/hypervisor/compatible";

/// The kernel lists its clocks here. That of KVM is there for its guests only.
pub const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

/// The beginnings of names that firmware gives virtual machines. That of QEMU is the same with KVM and without.
const NAMES: [(&str, &str); 18] = [
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("KubeVirt", "kvm"),
    ("Amazon EC2", "amazon"),
    ("QEMU", "qemu"),
    ("VMware", "vmware"),
    ("VMW", "vmware"),
    ("innotek GmbH", "oracle"),
    ("VirtualBox", "oracle"),
    ("Oracle Corporation", "oracle"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Hyper-V", "microsoft"),
    ("Virtual Machine", "microsoft"),
    ("Apple Virtualization", "apple"),
    ("Google Compute Engine", "google"),
];

/// `uml`, `kvm`, `qemu`, `xen`, `vmware` and so on; `vm-other` for a virtual machine that does not say which; `none` for a
/// real one; None where that cannot be known.
pub fn virtualization(signs: &VirtualizationSigns) -> Option<&'static str> {
    let field = |name: &str| {
        let mut lines = signs.cpuinfo.as_deref().unwrap_or("").lines();
        lines.find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim())
        })
    };
    // First, since its processor has the flags of its host's.
    if field("vendor_id") == Some("User Mode Linux") {
        return Some("uml");
    }
    let flags = field("flags");
    let holds = |text: &Option<String>, word| text.as_deref().is_some_and(|t| t.contains(word));
    // Amazon's and Oracle's real machines have their names in the firmware too.
    let is_real = flags.is_some_and(|flags| !flags.split(' ').any(|flag| flag == "hypervisor"));
    let named = NAMES.iter().find(|(begins, _)| {
        let mut dmi = signs.dmi.iter();
        dmi.any(|text| text.starts_with(begins))
    });
    match (named, signs.hypervisor.as_deref().map(str::trim)) {
        (_, Some("xen")) => Some("xen"),
        _ if is_real => Some("none"),
        (Some((_, name)), _) if *name != "qemu" => Some(name),
        _ if holds(&signs.clocks, "kvm-clock") || holds(&signs.device_tree, "kvm") => Some("kvm"),
        (Some((_, name)), _) => Some(name),
        _ if signs.device_tree.is_some() || signs.hypervisor.is_some() => Some("vm-other"),
        _ if flags.is_some() => Some("vm-other"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UML: &str = "processor\t: 0\nvendor_id\t: User Mode Linux\nmodel name\t: UML\nmode\t\t: skas\nflags\t\t: fpu hypervisor\n";

    fn x86(flags: &str) -> Option<String> {
        Some(format!(
            "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nflags\t\t: fpu {flags} sse\n"
        ))
    }

    fn seen(cpuinfo: Option<String>, dmi: &[&str]) -> Option<&'static str> {
        virtualization(&VirtualizationSigns {
            cpuinfo,
            dmi: dmi.iter().map(|&text| text.to_owned()).collect(),
            ..VirtualizationSigns::default()
        })
    }

    #[test]
    fn user_mode_linux_with_the_flags_and_firmware_of_its_host() {
        assert_eq!(seen(Some(UML.into()), &["QEMU"]), Some("uml"));
    }

    #[test]
    fn virtual_machines_by_their_firmware() {
        for (name, expected) in [
            ("KVM", "kvm"),
            ("QEMU", "qemu"),
            ("VMware7,1", "vmware"),
            ("Virtual Machine", "microsoft"),
            ("Amazon EC2", "amazon"),
            ("Google Compute Engine", "google"),
            ("somebody's own", "vm-other"),
        ] {
            assert_eq!(seen(x86("hypervisor"), &["Vendor", name]), Some(expected));
        }
        assert_eq!(seen(x86("hypervisor"), &[]), Some("vm-other"));
    }

    #[test]
    fn a_real_machine_whatever_its_firmware_says() {
        assert_eq!(
            seen(x86("vme"), &["PowerEdge R740", "Dell Inc."]),
            Some("none")
        );
        assert_eq!(seen(x86("vme"), &["m5.metal", "Amazon EC2"]), Some("none"));
    }

    #[test]
    fn an_odd_line_costs_that_line() {
        let odd = "\u{fffd}\n:\nvendor_id\nflags\nprocessor\t: x\n";
        let cpuinfo = format!("{odd}{}", x86("hypervisor").unwrap());
        let dmi = ["\u{fffd}\u{fffd}", "", "VMware7,1"];
        assert_eq!(seen(Some(cpuinfo), &dmi), Some("vmware"));
        assert_eq!(seen(Some(odd.into()), &["\u{fffd}"]), None);
    }

    #[test]
    fn without_dmi_and_flags() {
        let arm = "processor\t: 0\nFeatures\t: fp asimd\n";
        assert_eq!(seen(Some(arm.into()), &[]), None);
        assert_eq!(seen(Some(arm.into()), &["QEMU"]), Some("qemu"));
        assert_eq!(seen(None, &[]), None);
        let firecracker = VirtualizationSigns {
            cpuinfo: x86("hypervisor"),
            clocks: Some("kvm-clock tsc \n".into()),
            ..VirtualizationSigns::default()
        };
        assert_eq!(virtualization(&firecracker), Some("kvm"));
        let guest = VirtualizationSigns {
            device_tree: Some("linux,kvm\0".into()),
            ..VirtualizationSigns::default()
        };
        assert_eq!(virtualization(&guest), Some("kvm"));
        let xen = VirtualizationSigns {
            hypervisor: Some("xen\n".into()),
            cpuinfo: x86("vme"),
            ..VirtualizationSigns::default()
        };
        assert_eq!(virtualization(&xen), Some("xen"));
    }
}

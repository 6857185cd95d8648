//! `/proc/cpuinfo`: how many processors, and which.

use serde::{Deserialize, Serialize};

use super::{CPUINFO, ParseError};

/// The processors of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Processors that the kernel runs, hyper-threads counted.
    pub processors: u32,
    /// The first one's model as the kernel calls it. None on machines (most ARM) whose kernel does not say.
    pub model: Option<String>,
}

/// Parses the text of `/proc/cpuinfo` of x86, ARM, POWER, RISC-V or s390. Fails when no processor is listed.
pub fn parse_cpuinfo(text: &str) -> Result<Cpu, ParseError> {
    let pairs = || {
        text.lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim(), value.trim()))
    };
    let processors = pairs().filter(|(key, _)| is_processor(key)).count() as u32;
    if processors == 0 {
        return Err(ParseError {
            path: CPUINFO,
            line: None,
            problem: "no processor is listed".into(),
        });
    }
    let model = ["model name", "cpu", "Model", "uarch"]
        .iter()
        .find_map(|name| pairs().find(|(key, value)| key == name && !value.is_empty()))
        .map(|(_, value)| value.to_owned());
    Ok(Cpu { processors, model })
}

/// `processor` everywhere; on s390 `processor 0`, `processor 1`, …
fn is_processor(key: &str) -> bool {
    key.strip_prefix("processor")
        .is_some_and(|rest| rest.trim().bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(text: &str) -> (u32, Option<String>) {
        let cpu = parse_cpuinfo(text).unwrap();
        (cpu.processors, cpu.model)
    }

    #[test]
    fn x86() {
        let one = |n| {
            format!(
                "processor\t: {n}\nvendor_id\t: AuthenticAMD\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nflags\t\t: fpu vme\n\n"
            )
        };
        assert_eq!(cpu(&(one(0) + &one(1))), (2, Some("AMD EPYC".into())));
    }

    #[test]
    fn arm_without_and_with_a_model() {
        let cores = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n\nprocessor\t: 1\nCPU part\t: 0xd0c\n\n";
        assert_eq!(cpu(cores), (2, None));
        let board =
            format!("{cores}Revision\t: c03114\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n");
        assert_eq!(
            cpu(&board),
            (2, Some("Raspberry Pi 4 Model B Rev 1.4".into()))
        );
    }

    #[test]
    fn power_and_s390() {
        assert_eq!(
            cpu("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"),
            (1, Some("POWER9, altivec supported".into()))
        );
        let s390 = "vendor_id       : IBM/S390\n# processors    : 2\nprocessor 0: version = FF,  identification = 2C8\nprocessor 1: version = FF\n";
        assert_eq!(cpu(s390), (2, None));
    }

    /// gVisor has few fields, ARM kernels before 3.8 call the model `Processor`, and a line may be anything.
    #[test]
    fn an_odd_line_costs_that_line() {
        let gvisor =
            "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: unknown\n\nprocessor\t: 1\n";
        assert_eq!(cpu(gvisor), (2, Some("unknown".into())));
        let old_arm = "Processor\t: ARMv7 Processor rev 10 (v7l)\nprocessor\t: 0\nprocessor\t: 1\n";
        assert_eq!(cpu(old_arm).0, 2);
        let odd = "\u{fffd}: \u{fffd}\n:\nno colon\nmodel name\t:\nprocessor\t: x\nprocessors : 9\nprocessor: 1\nmodel name: M\n";
        assert_eq!(cpu(odd), (2, Some("M".into())));
    }

    #[test]
    fn none_is_an_error() {
        for text in ["", "model name : x\n", "\n\n\n"] {
            assert_eq!(
                parse_cpuinfo(text).unwrap_err().to_string(),
                "could not parse file \"/proc/cpuinfo\": no processor is listed"
            );
        }
    }
}

//! The container that the server runs in.

use super::{Tree, line};

/// Namespaces of this process, and the numbers that the kernel gives the first ones of the machine (`include/linux/proc_ns.h`).
const FIRST: [(&str, &str); 2] = [
    ("/proc/self/ns/pid", "pid:[4026531836]"),
    ("/proc/self/ns/cgroup", "cgroup:[4026531835]"),
];

/// Parts of the path of a container's cgroup.
const GROUPS: [(&str, &str); 5] = [
    ("kubepods", "kubernetes"),
    ("/docker", "docker"),
    ("/libpod", "podman"),
    ("/lxc", "lxc"),
    ("/machine.slice/machine-", "systemd-nspawn"),
];

/// The container that the server runs in, in the words of systemd-detect-virt: docker, podman, lxc, kubernetes, ...; `none` for a
/// server in the machine's own namespaces; None where that cannot be known.
pub fn container(tree: &dyn Tree) -> Option<String> {
    let found = kubernetes(tree)
        .or_else(|| named(tree))
        .or_else(|| marked(tree))
        .or_else(|| grouped(tree));
    found.or_else(|| is_none(tree).then(|| "none".to_owned()))
}

/// Each pod has the address of the cluster in its environment. The volume of the service account is optional.
fn kubernetes(tree: &dyn Tree) -> Option<String> {
    let is_pod = tree.variable("KUBERNETES_SERVICE_HOST").is_some()
        || of_first_process(tree, "KUBERNETES_SERVICE_HOST").is_some()
        || tree.exists("/var/run/secrets/kubernetes.io")
        || tree.exists("/run/secrets/kubernetes.io");
    is_pod.then(|| "kubernetes".to_owned())
}

/// The name that a container manager has left. Images of some makers say `oci` under whatever manager.
fn named(tree: &dyn Tree) -> Option<String> {
    let name = line(tree, "/run/systemd/container")
        .or_else(|| of_first_process(tree, "container"))
        .or_else(|| tree.variable("container"));
    name.filter(|name| !name.is_empty() && name != "oci")
}

/// A variable in the environment of the first process, where that can be read.
fn of_first_process(tree: &dyn Tree, name: &str) -> Option<String> {
    let environment = tree.read("/proc/1/environ")?;
    let mut variables = environment.split('\0');
    variables.find_map(|variable| {
        let value = variable.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.to_owned())
    })
}

fn marked(tree: &dyn Tree) -> Option<String> {
    let marks = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let (_, name) = marks.iter().find(|(path, _)| tree.exists(path))?;
    Some((*name).to_owned())
}

/// Where the cgroup has no namespace of its own, its path names the manager.
fn grouped(tree: &dyn Tree) -> Option<String> {
    let own = tree.read("/proc/self/cgroup").unwrap_or_default();
    let first = tree.read("/proc/1/cgroup").unwrap_or_default();
    let names = |part: &str| own.contains(part) || first.contains(part);
    let (_, name) = GROUPS.iter().find(|(part, _)| names(part))?;
    Some((*name).to_owned())
}

/// True in the machine's first namespaces. A kernel without namespaces of cgroups has no such link.
fn is_none(tree: &dyn Tree) -> bool {
    let [(pid, first_pid), (cgroup, first_cgroup)] = FIRST;
    tree.link(pid).as_deref() == Some(first_pid)
        && tree.link(cgroup).is_none_or(|link| link == first_cgroup)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::Recorded;

    /// A server outside of containers, in a unit of systemd.
    const REAL: &str = "/proc/1/comm\tsystemd\n/proc/1/cgroup\t0::/init.scope\n/proc/self/cgroup\t0::/system.slice/postgresql.service\n\
        link:/proc/self/ns/pid\tpid:[4026531836]\nlink:/proc/self/ns/cgroup\tcgroup:[4026531835]\n";
    /// A pod on containerd with cgroup v2, as a user who may not read the environment of the first process.
    const CONTAINED: &str = "/proc/1/comm\tpause\n/proc/1/cgroup\t0::/\n/proc/self/cgroup\t0::/\n\
        link:/proc/self/ns/pid\tpid:[4026532511]\nlink:/proc/self/ns/cgroup\tcgroup:[4026532512]\n";

    fn found(tree: Recorded) -> Option<String> {
        container(&tree)
    }

    #[test]
    fn none_only_where_that_is_known() {
        let real = || Recorded::of(REAL);
        assert_eq!(found(real()).as_deref(), Some("none"));
        // An older kernel has no namespaces of cgroups.
        let older = real().but("link:/proc/self/ns/cgroup", None);
        assert_eq!(found(older).as_deref(), Some("none"));
        let hidden = real().but("link:/proc/self/ns/pid", None);
        assert_eq!(found(hidden), None);
        // A container that shares the machine's processes.
        let shared = real().but("link:/proc/self/ns/cgroup", Some("cgroup:[4026532512]"));
        assert_eq!(found(shared), None);
        assert_eq!(found(Recorded::of(CONTAINED)), None);
        // The first process is readable, and says nothing.
        let silent = Recorded::of(CONTAINED).but("/proc/1/environ", Some("PATH=/bin\0"));
        assert_eq!(found(silent), None);
        assert_eq!(found(Recorded::of("")), None);
    }

    #[test]
    fn pods() {
        let contained = || Recorded::of(CONTAINED);
        for (path, text) in [
            ("env:KUBERNETES_SERVICE_HOST", "10.96.0.1"),
            (
                "/proc/1/environ",
                "A=1\0KUBERNETES_SERVICE_HOST=10.96.0.1\0",
            ),
            (
                "/var/run/secrets/kubernetes.io/serviceaccount/namespace",
                "db",
            ),
            ("/proc/1/cgroup", "12:cpu:/kubepods/besteffort/pod1/abc\n"),
            (
                "/proc/self/cgroup",
                "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-abc.scope\n",
            ),
        ] {
            let pod = contained().but(path, Some(text));
            assert_eq!(found(pod).as_deref(), Some("kubernetes"), "{path}");
        }
        // Docker below Kubernetes.
        let both = contained()
            .but("env:KUBERNETES_SERVICE_HOST", Some("10.96.0.1"))
            .but("/.dockerenv", Some(""));
        assert_eq!(found(both).as_deref(), Some("kubernetes"));
    }

    #[test]
    fn other_containers_by_what_they_leave() {
        let contained = || Recorded::of(CONTAINED);
        for (path, text, expected) in [
            (
                "/run/systemd/container",
                "systemd-nspawn\n",
                "systemd-nspawn",
            ),
            ("/run/.containerenv", "", "podman"),
            ("/.dockerenv", "", "docker"),
            ("/proc/1/environ", "TERM=x\0container=lxc\0", "lxc"),
            ("env:container", "podman", "podman"),
            (
                "/proc/self/cgroup",
                "0::/system.slice/docker-1.scope/x\n0::/docker/1\n",
                "docker",
            ),
            ("/proc/1/cgroup", "4:memory:/lxc/one\n", "lxc"),
        ] {
            let tree = contained().but(path, Some(text));
            assert_eq!(found(tree).as_deref(), Some(expected), "{path}");
        }
        // The value that images set names no manager.
        let image = contained().but("env:container", Some("oci"));
        assert_eq!(found(image), None);
        let image = contained()
            .but("env:container", Some("oci"))
            .but("/.dockerenv", Some(""));
        assert_eq!(found(image).as_deref(), Some("docker"));
    }
}

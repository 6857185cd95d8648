//! Mount namespaces of tests.

/// First commands of a shell in a new mount namespace: it lets go of the devices that other tests have mounted just then. It has copies of those
/// mounts, and as long as it lives no process could claim such a device, or detach it.
pub const LET_GO_OF_OTHERS_DEVICES: &str = r#"mounted=$(cat /proc/self/mounts)
while read -r device place _; do
    case $device:$place in /dev/loop*:*/pgfsbench-helper.*/* | /dev/loop*:*/pgfsbench-disks.*/*) umount -l "$place" || :;; esac
done <<END
$mounted
END
"#;

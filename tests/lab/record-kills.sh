# In a guest: the helper is killed while dm-log-writes records a disk, and while the recorder serves the members of an array; and what is left after a
# cleanup. Sourced by tools/lab.d/guest.
: > /run/lab/server.log
: > /run/lab/helper.log
modprobe -a fuse loop md_mod
mkdir /run/lab/images
printf 'power_cuts = true\nmount_root = "/run/lab/mnt"\nstate = "/run/lab/state"\n[[database]]\nname = "bench"\nconnection = "host=/nowhere"\n' > /run/lab/helper.toml
printf '[[images]]\ndirectory = "/run/lab/images"\nmax_bytes = "2GB"\n[[device]]\npath = "%s"\n' "${members[0]}" >> /run/lab/helper.toml
chmod 600 /run/lab/helper.toml

helper() { /mnt/pgfsbench-helper --config /run/lab/helper.toml "$@" >> /run/lab/helper.log 2>&1; }
prepare() { helper prepare --target t --filesystem ext4 --device "${members[0]}" --record 128MB "$@"; }
# One step of the helper that kills itself.
killed() { # killed COMMAND...
    local code=0
    "$@" || code=$?
    [ $code = 137 ] || { say "exit code $code of $*"; exit 5; }
}
# A file that is on the disk.
recorded() {
    prepare
    echo kept > /run/lab/mnt/bench@t/pgfsbench/kept
    sync
}
left() { # left WHEN
    local left
    helper cleanup
    left=$(
        cat /sys/block/dm-*/dm/name /sys/block/loop*/loop/backing_file 2> /dev/null
        find /run/lab/images /run/lab/mnt /run/lab/state/journal /run/lab/state/recorder -mindepth 1 2> /dev/null
        # Without udev, the node of an array that was stopped stays in /dev, and an array without members begins when it is opened.
        grep '^md' /proc/mdstat
        grep ' /run/lab/\(mnt\|state\)/' /proc/mounts
        pgrep -a -f '[_]mark|[_]record '
    ) || true
    echo "fact: $*: ${left:-nothing} is left"
}

for hook in '--stop-before log_writes' '--stop-after log_writes' '--stop-after mkfs' '--stop-after mount'; do
    # shellcheck disable=SC2086
    killed prepare $hook
    left "prepare $hook"
done
for step in unmount remove_log_writes; do
    recorded
    killed helper release --target t --stop-after $step
    left "release --stop-after $step"
    recorded
    killed helper cut-stop --target t --stop-after $step
    left "cut-stop --stop-after $step"
done
recorded
helper cut-stop --target t
killed helper cut --target t --entry 1 --stop-after attach_cut
left "cut --stop-after attach_cut"
# Without the process that marks the time there is no end of the recording; the target can be released.
recorded
pkill -KILL -f '[_]mark '
while pgrep -f '[_]mark ' > /dev/null; do :; done
! helper cut-stop --target t || exit 5
grep -q 'the record has no times' /run/lab/helper.log
helper release --target t
left "without marks"

# The images of an array.
prepare() { helper prepare --target t --filesystem ext4 --image 64MB --image-count 2 --layout raid1 --record 128MB "$@"; }
for step in record create_array mount; do
    killed prepare --stop-after $step
    left "array: prepare --stop-after $step"
done
recorded
killed helper release --target t --stop-after stop_array
left "array: release --stop-after stop_array"
recorded
killed helper cut-stop --target t --stop-after stop_array
left "array: cut-stop --stop-after stop_array"
for step in assemble_array_cut mount_cut; do
    recorded
    helper cut-stop --target t
    entries=$(sed -n 's/.*"entries": *\([0-9]*\).*/\1/p' /run/lab/helper.log | tail -n 1)
    killed helper cut --target t --entry "$entries" --stop-after $step
    left "array: cut --stop-after $step"
done

# In a guest of four disks: the helper is killed at each step of a target whose filesystem and log are arrays of two disks each, and clears up. Sourced by
# tools/lab.d/guest. Lines begin with "fact:".
: > /run/lab/server.log
: > /run/lab/helper.log
modprobe md_mod
for directory in /etc/pgfsbench /var/lib/pgfsbench; do
    mkdir -p $directory
    mount -t tmpfs -o mode=755 tmpfs $directory
done
{
    echo 'filesystems = ["ext4"]'
    printf '[[database]]\nname = "bench"\nconnection = "dbname=bench"\n'
    printf '[[device]]\npath = "%s"\n' "${members[@]}"
} > /etc/pgfsbench/helper.toml
chmod 600 /etc/pgfsbench/helper.toml
helper() { /mnt/pgfsbench-helper --config /etc/pgfsbench/helper.toml "$@" >> /run/lab/helper.log 2>&1; }
prepare=(prepare --target t --filesystem ext4 --layout raid1 --skip-initial-sync --device "${members[0]}" --device "${members[1]}"
    --log-device "${members[2]}" --log-device "${members[3]}")

# All disks are empty, no array is there, and nothing is mounted.
check_empty() { # check_empty WHEN
    local disk
    ! grep '^md' /proc/mdstat || { echo "$1: this array is left"; exit 1; }
    ! grep ' /run/pgfsbench/mnt/' /proc/mounts || { echo "$1: this is mounted"; exit 1; }
    for disk in "${members[@]}"; do
        [ -z "$(wipefs -n "$disk")" ] || { echo "$1: $disk holds $(wipefs -n "$disk")"; exit 1; }
    done
}
killed() { # killed WHEN STEP COMMAND...
    local status=0
    helper "${@:3}" "$1" "$2" || status=$?
    [ $status = 137 ] || { echo "$* ended with $status"; exit 1; }
    helper cleanup || { echo "$*: cleanup failed"; exit 1; }
    check_empty "$*"
    : $((times++))
}
times=0
for step in check_device wipe create_array wipe_array await_sync make_journal mkfs mount verify; do
    for when in --stop-before --stop-after; do killed $when $step "${prepare[@]}"; done
done
echo "fact: killed while it prepared: $times times"
times=0
for step in unmount stop_array make_blank zero_superblock; do
    for when in --stop-before --stop-after; do
        helper "${prepare[@]}"
        killed $when $step release --target t
    done
done
echo "fact: killed while it released: $times times"
mkswap -q "${members[3]}"
before=$(wipefs -n "${members[3]}")
if helper "${prepare[@]}"; then echo "a device with a foreign signature was used"; exit 1; fi
[ "$(wipefs -n "${members[3]}")" = "$before" ] || { echo "the signature is lost"; exit 1; }
echo "fact: a foreign signature on a device of the log is refused, and stays"

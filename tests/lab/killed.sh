# In a guest of four disks: the helper is killed at each step of a target whose filesystem and log are arrays of two disks each, then of one with a volume
# of LVM in place of the first, and clears up; of zfs, of a pool with a mirrored log. Sourced by tools/lab.d/guest. Lines begin with "fact:".
: > /run/lab/server.log
: > /run/lab/helper.log
[ "$fs" = zfs ] || modprobe md_mod
# Partitions, which a pool wants.
[ "$fs" != zfs ] || assemble
for directory in /etc/pgfsbench /var/lib/pgfsbench; do
    mkdir -p $directory
    mount -t tmpfs -o mode=755 tmpfs $directory
done
{
    echo 'filesystems = ["ext4", "zfs"]'
    printf '[[database]]\nname = "bench"\nconnection = "dbname=bench"\n'
    for member in "${members[@]}"; do
        printf '[[device]]\npath = "%s"\n' "$member"
        # A partition is known by its own mark.
        [ "$fs" != zfs ] || printf 'partition_uuid = "%s"\n' "$(blkid -p -o value -s PART_ENTRY_UUID "$member")"
    done
} > /etc/pgfsbench/helper.toml
chmod 600 /etc/pgfsbench/helper.toml
helper() { /mnt/pgfsbench-helper --config /etc/pgfsbench/helper.toml "$@" >> /run/lab/helper.log 2>&1; }
# Sets the command that prepares a target of this layout.
use() { # use LAYOUT
    prepare=(prepare --target t --filesystem ext4 --layout "$1" --skip-initial-sync --device "${members[0]}" --device "${members[1]}"
        --log-device "${members[2]}" --log-device "${members[3]}")
}

# All disks are empty, no array and no volume is there, and nothing is mounted. Signatures of a pool stay, and are known as the helper's.
check_empty() { # check_empty WHEN
    local disk
    if [ "$fs" = zfs ]; then
        [ -z "$(zpool list -H)" ] || { echo "$1: this pool is left: $(zpool list -H)"; exit 1; }
        ! grep zfs /proc/mounts || { echo "$1: this is mounted"; exit 1; }
        return
    fi
    ! ls -d /sys/block/dm-* 2> /dev/null || { echo "$1: this volume is left"; exit 1; }
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
killed_while_it_prepared() { # killed_while_it_prepared STEP...
    local step when
    times=0
    for step; do
        for when in --stop-before --stop-after; do killed $when "$step" "${prepare[@]}"; done
    done
}
killed_while_it_released() { # killed_while_it_released STEP...
    local step when
    times=0
    for step; do
        for when in --stop-before --stop-after; do
            helper "${prepare[@]}"
            killed $when "$step" release --target t
        done
    done
}
if [ "$fs" = zfs ]; then
    prepare=(prepare --target t --filesystem zfs --layout zfs-stripe --device "${members[0]}" --device "${members[1]}"
        --log-device "${members[2]}" --log-device "${members[3]}")
    killed_while_it_prepared check_device create_pool create_dataset properties mount verify
    echo "fact: killed while it prepared: $times times"
    killed_while_it_released unmount destroy_pool
    echo "fact: killed while it released: $times times"
    exit
fi

use raid1
killed_while_it_prepared check_device wipe create_array wipe_array await_sync make_journal mkfs mount verify
echo "fact: killed while it prepared: $times times"
killed_while_it_released unmount stop_array make_blank
echo "fact: killed while it released: $times times"
use lvm-raid1
killed_while_it_prepared make_part make_group create_volume wipe_array await_sync mkfs
echo "fact: killed while it prepared a volume: $times times"
killed_while_it_released unmount remove_volume make_blank
echo "fact: killed while it released a volume: $times times"

# While an array syncs, the helper has lent the lock.
echo 1000 > /proc/sys/dev/raid/speed_limit_max
/mnt/pgfsbench-helper --config /etc/pgfsbench/helper.toml prepare --target t --filesystem ext4 --layout raid1 \
    --device "${members[0]}" --device "${members[1]}" >> /run/lab/helper.log 2>&1 &
syncs() { compgen -G '/var/lib/pgfsbench/journal/.*.lent' && grep -x resync /sys/block/md*/md/sync_action; }
for ((tries = 0; tries < 600; tries++)); do ! syncs || break; sleep 0.1; done &> /dev/null
syncs > /dev/null || { echo "no array syncs"; exit 1; }
kill -KILL "$!"
status=0
wait "$!" || status=$?
[ $status = 137 ] || { echo "the helper that waited for a sync ended with $status"; exit 1; }
grep -qx resync /sys/block/md*/md/sync_action || { echo "the sync ended with the helper"; exit 1; }
helper cleanup || { echo "cleanup during a sync failed"; exit 1; }
check_empty "killed while an array syncs"
echo "fact: killed while an array syncs"

# A signature that another program has written on a member while the array was stopped is left alone.
use raid1
mke2fs -q /run/lab/other 1M
helper "${prepare[@]}"
status=0
helper release --target t --stop-after stop_array || status=$?
[ $status = 137 ] || { echo "the release ended with $status"; exit 1; }
dd if=/run/lab/other of="${members[1]}" bs=1024 skip=1 seek=1 count=1 conv=notrunc,fsync status=none
before=$(wipefs -n "${members[1]}")
grep -q ext2 <<< "$before" && grep -q linux_raid_member <<< "$before" || { echo "it holds $before"; exit 1; }
helper cleanup || { echo "cleanup failed"; exit 1; }
[ "$(wipefs -n "${members[1]}")" = "$before" ] || { echo "the signature on a member is lost"; exit 1; }
wipefs -q -a "${members[1]}"
check_empty "after a foreign signature on a member"
echo "fact: a foreign signature that comes on a member stays"

mkswap -q "${members[3]}"
before=$(wipefs -n "${members[3]}")
if helper "${prepare[@]}"; then echo "a device with a foreign signature was used"; exit 1; fi
[ "$(wipefs -n "${members[3]}")" = "$before" ] || { echo "the signature is lost"; exit 1; }
echo "fact: a foreign signature on a device of the log is refused, and stays"

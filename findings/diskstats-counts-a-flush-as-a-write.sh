#!/bin/bash
# Linux counts a cache flush that carries no data twice in /proc/diskstats: as a flush, and as a completed write.
#
# An expert would guess that "writes completed" counts requests with data, and that fdatasync() of a clean file asks the device for nothing.
# Seen on Linux 6.18, ext4, loop device with a write-back cache, 100 calls each:
#
#   fsync() of the idle block device:    writes +100, sectors written +0, flushes +100
#   fdatasync() of a clean ext4 file:    writes +100 or a few more, flushes +100
#
# So writes per second of a device that serves commits are up to twice the writes of data. Sectors written tell data; subtract flushes from writes.
# Needs root, a loop device, util-linux, e2fsprogs and python3. Fails if the behaviour has changed.
set -euo pipefail
calls=100
work=$(mktemp -d)
device=''
cleanup() {
    umount "$work/mnt" 2> /dev/null || true
    [ -z "$device" ] || losetup --detach "$device"
    rm -rf "$work"
}
trap cleanup EXIT

truncate -s 64M "$work/image"
mkdir "$work/mnt"
device=$(losetup --find --show "$work/image")
name=$(basename "$device")
echo "Linux $(uname -r), $(cat "/sys/block/$name/queue/write_cache")"

# writes completed, sectors written, flushes completed
counters() { awk -v name="$name" '$3 == name {print $8, $10, $19}' /proc/diskstats; }
sync_often() { # sync_often FILE FLAGS CALL
    python3 -c 'import os, sys
file = os.open(sys.argv[1], os.O_RDWR)
for _ in range(int(sys.argv[3])):
    getattr(os, sys.argv[2])(file)' "$1" "$2" $calls
}
failed=0
show() { # show WHAT BEFORE AFTER MOST_WRITES
    local writes sectors flushes
    read -r writes sectors flushes < <(echo "$2 $3" | awk '{print $4 - $1, $5 - $2, $6 - $3}')
    echo "$1: writes +$writes, sectors written +$sectors, flushes +$flushes"
    [ "$flushes" -ge $calls ] && [ "$writes" -ge $calls ] && [ "$writes" -le "$4" ] || failed=1
}

before=$(counters)
sync_often "$device" fsync
show "fsync() of the idle block device" "$before" "$(counters)" $calls

mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$device"
mount "$device" "$work/mnt"
head -c 8192 /dev/urandom > "$work/mnt/file"
sync -f "$work/mnt"
before=$(counters)
sync_often "$work/mnt/file" fdatasync
show "fdatasync() of a clean ext4 file" "$before" "$(counters)" $((calls + 20))
[ $failed = 0 ] || { echo "the behaviour has changed"; exit 1; }

#!/bin/bash
# A WAL segment that is only allocated costs a second cache flush for each commit until it was written once (ext4, xfs).
#
# An expert would guess that posix_fallocate(), which takes no time, prepares a WAL segment as well as writing zeros does
# (PostgreSQL: wal_init_zero = off). But each first fdatasync() of a block has to turn its unwritten extent into a written one in the journal.
# Seen on Linux 6.18, 8 KiB and an fdatasync() a commit:
#
#   ext4: zeros 1 flush, 8 KiB; allocated 2 flushes, 20 KiB
#   xfs:  zeros 1 flush, 8 KiB; allocated 2 flushes, 9 KiB
#
# Needs root, a loop device, util-linux, e2fsprogs, xfsprogs and python3. Fails if the behaviour has changed.
set -euo pipefail
work=$(mktemp -d)
device=''
cleanup() {
    umount "$work/mnt" 2> /dev/null || true
    [ -z "$device" ] || losetup --detach "$device"
    rm -rf "$work"
}
trap cleanup EXIT
truncate -s 600M "$work/image"
mkdir "$work/mnt"
device=$(losetup --find --show "$work/image")
echo "Linux $(uname -r), $(cat "/sys/block/$(basename "$device")/queue/write_cache")"

# Writes 16 MiB as PREPARED says, overwrites 100 x 8 KiB one after the other with an fdatasync() each, and prints what that took each time.
commits() { # commits PREPARED: flushes, KiB written
    python3 - "$work/mnt/wal" "$(basename "$device")" "$1" << 'END'
import os, subprocess, sys
path, device, prepared = sys.argv[1:]
file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
if prepared == 'nodatacow':
    subprocess.run(['chattr', '+C', path], check=True)
if prepared == 'fallocate':
    os.posix_fallocate(file, 0, 16 << 20)
else:
    os.write(file, bytes(16 << 20))
os.fsync(file)
os.sync()

def counters():
    for words in map(str.split, open('/proc/diskstats')):
        if words[2] == device:
            return int(words[18]), int(words[9]) / 2

before = counters()
for i in range(100):
    os.pwrite(file, b'x' * 8192, i * 8192)
    os.fdatasync(file)
print(*(round((now - then) / 100, 1) for then, now in zip(before, counters())))
os.unlink(path)
END
}

failed=0
for filesystem in ext4 xfs; do
    case $filesystem in
        ext4) mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$device" ;;
        xfs) mkfs.xfs -q -f "$device" ;;
    esac
    mount -t "$filesystem" "$device" "$work/mnt" || { echo "this kernel has no $filesystem"; exit 77; }
    read -r zeros_flushes zeros_kib <<< "$(commits zeros)"
    read -r flushes kib <<< "$(commits fallocate)"
    umount "$work/mnt"
    echo "$filesystem: zeros $zeros_flushes flushes, $zeros_kib KiB; allocated $flushes flushes, $kib KiB"
    awk -v a="$zeros_flushes" -v b="$flushes" 'BEGIN {exit !(a < 1.3 && b > 1.7)}' || failed=1
done
[ $failed = 0 ] || { echo "the behaviour has changed"; exit 1; }

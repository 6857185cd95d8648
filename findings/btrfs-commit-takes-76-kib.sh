#!/bin/bash
# btrfs writes 76 KiB and flushes twice for an 8 KiB commit, and nodatacow changes neither.
#
# An expert would guess that an overwrite in place (chattr +C) of an allocated block needs no metadata, as on ext4 or xfs (1 flush, 8 KiB).
# But each fdatasync() writes the log tree, its root and the superblocks, since the inode has changed. Seen on Linux 6.18, 8 KiB and an fdatasync() a commit:
#
#   default (metadata DUP): 2 flushes, 76 KiB
#   nodatacow (the same):   2 flushes, 76 KiB
#
# Needs root, a loop device, util-linux, e2fsprogs (chattr), btrfs-progs and python3. Fails if the behaviour has changed.
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

mkfs.btrfs -q -f "$device" > /dev/null 2>&1
mount -t btrfs "$device" "$work/mnt" || { echo "this kernel has no btrfs"; exit 77; }
failed=0
for prepared in default nodatacow; do
    read -r flushes kib <<< "$(commits $prepared)"
    echo "$prepared: $flushes flushes, $kib KiB"
    awk -v flushes="$flushes" -v kib="$kib" 'BEGIN {exit !(flushes > 1.7 && flushes < 2.3 && kib > 60)}' || failed=1
done
[ $failed = 0 ] || { echo "the behaviour has changed"; exit 1; }

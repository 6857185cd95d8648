#!/bin/bash
# "write through" in queue/write_cache of a loop device stays when the device is detached and gets another file.
#
# An expert would guess that a loop device begins anew with each file: its size, offset, block size and direct I/O do. But the flag by which the
# block layer drops flushes belongs to the queue, which stays. The next filesystem on that device then reports commits that are in the page cache.
# Seen on Linux 6.18:
#
#   new file: write back; written: write through; detached, and another file: write through; the file has 2052 dirty pages after an fsync above it
#
# Needs root, a loop device, util-linux, e2fsprogs and python3. Fails if the behaviour has changed.
set -euo pipefail
work=$(mktemp -d)
device=''
cleanup() {
    umount "$work/mnt" 2> /dev/null || true
    if [ -n "$device" ]; then
        echo 'write back' > "/sys/block/${device##*/}/queue/write_cache" || true
        losetup --detach "$device" 2> /dev/null || true
    fi
    rm -rf "$work"
}
trap cleanup EXIT
truncate -s 64M "$work/one" "$work/two"
mkdir "$work/mnt"
device=$(losetup --find --show "$work/one")
cache=/sys/block/${device##*/}/queue/write_cache
echo 'write back' > "$cache"
first=$(cat "$cache")
echo 'write through' > "$cache"
losetup --detach "$device"
until losetup "$device" "$work/two" 2> /dev/null; do sleep 0.1; done
again=$(cat "$cache")
mkfs.ext4 -q "$device"
mount "$device" "$work/mnt"
sync "$work/two"

# Writes 8 MiB to the filesystem, syncs them there, and prints how many pages of the file below are dirty (cachestat, system call 451).
dirty() {
    python3 - "$work/mnt/file" "$work/two" << 'END'
import ctypes, os, sys
above, below = sys.argv[1:]
file = os.open(above, os.O_WRONLY | os.O_CREAT)
os.write(file, bytes(8 << 20))
os.fsync(file)
image = os.open(below, os.O_RDONLY)
area, found = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
if ctypes.CDLL(None, use_errno=True).syscall(451, image, area, found, 0):
    sys.exit(f"cachestat: {os.strerror(ctypes.get_errno())}")
print(found[1])
END
}
with=$(dirty)
echo 'write back' > "$cache"
without=$(dirty)
echo "Linux $(uname -r): new file: $first; detached, and another file: $again; dirty pages after an fsync: $with; with write back: $without"
[ "$first" = 'write back' ] && [ "$again" = 'write through' ] && [ "$with" -ge 2048 ] && [ "$without" = 0 ]

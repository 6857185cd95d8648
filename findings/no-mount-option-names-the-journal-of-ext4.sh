#!/bin/bash
# No mount option tells that the journal of a mounted ext4 is on another device; the name of a kernel thread does.
#
# An expert would guess that the list of mounts has it, as it has logdev= of xfs. For ext4 the device is in the superblock alone, which takes root to read,
# and by a UUID. But /sys/fs/ext4/DEVICE/journal_task has the number of the thread that commits, and every user may read its name: jbd2/DEVICE is
# an external journal's device, jbd2/DEVICE-INODE a journal within the filesystem. Seen on Linux 6.18, as user nobody:
#
#   external: options rw; thread jbd2/loop1
#   internal: options rw; thread jbd2/loop0-8
#
# Needs root, two loop devices, util-linux and e2fsprogs. Fails if the behaviour has changed.
set -euo pipefail
work=$(mktemp -d)
devices=()
cleanup() {
    umount "$work/mnt" 2> /dev/null || true
    [ ${#devices[@]} = 0 ] || losetup --detach "${devices[@]}" || true
    rm -rf "$work"
}
trap cleanup EXIT
mkdir "$work/mnt"
chmod 755 "$work" "$work/mnt"
truncate -s 64M "$work/data" "$work/journal"
for file in data journal; do devices+=("$(losetup --find --show "$work/$file")"); done
data=${devices[0]##*/} journal=${devices[1]##*/}
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

# Prints the options of the filesystem, and the name of its journal's thread.
seen() {
    mount "${devices[0]}" "$work/mnt"
    local thread
    thread=$(as_nobody cat "/sys/fs/ext4/$data/journal_task")
    echo "options $(findmnt -n -o FS-OPTIONS "$work/mnt"); thread $(as_nobody cat "/proc/$thread/comm")"
    umount "$work/mnt"
}
echo "Linux $(uname -r), data on $data, journal on $journal"
mkfs.ext4 -q -b 4096 -O journal_dev "${devices[1]}"
mkfs.ext4 -q -b 4096 -J "device=${devices[1]}" "${devices[0]}"
external=$(seen)
mkfs.ext4 -q -F -b 4096 "${devices[0]}"
internal=$(seen)
printf '%s\n' "external: $external" "internal: $internal"
[ "$external" = "options rw; thread jbd2/$journal" ] && [ "$internal" = "options rw; thread jbd2/$data-8" ]

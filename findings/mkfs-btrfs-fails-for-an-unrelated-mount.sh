#!/bin/bash
# mkfs.btrfs fails where the list of mounts names a loop device without a file, even if nothing has to do with the device that it makes.
#
# An expert would guess that mkfs only asks whether its own device is mounted, as mkfs.ext4 and mkfs.xfs do. mkfs.btrfs reads the list of mounts, and
# asks each loop device in it for its file. Where another loop device is unmounted and detached in between, it fails: now and then, and more often the
# more loop devices come and go. With -f it fails too. Seen with btrfs-progs 6.2 on Linux 6.18:
#
#   mkfs.ext4: exit code 0; mkfs.xfs: exit code 0; mkfs.btrfs: exit code 1
#   ERROR: cannot check mount status of IMAGE: No such device or address
#   after umount: mkfs.btrfs: exit code 0
#
# Here a tmpfs has the name of a free loop device, so that this moment lasts; it is mounted in a namespace of this script. IMAGE is a plain file.
# Needs root, util-linux, e2fsprogs, xfsprogs, btrfs-progs and the module loop. Fails if the behaviour has changed.
set -euo pipefail
if [ "${1:-}" != inside ]; then exec unshare --mount "$0" inside; fi
work=$(mktemp -d)
cleanup() {
    umount "$work/mnt" 2> /dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
mkdir "$work/mnt"
truncate -s 400M "$work/image"
free=$(losetup --find)
[ -b "$free" ] || { echo "there is no free loop device"; exit 77; }
mkfs.btrfs --version
mount -t tmpfs "$free" "$work/mnt"

code=0
make() { # make PROGRAM OPTION...: leaves its exit code in code
    code=0
    "$@" "$work/image" > "$work/said" 2>&1 || code=$?
    echo "${1##*/}: exit code $code"
}
make mkfs.ext4 -q -F
of_ext4=$code
make mkfs.xfs -q -f
of_xfs=$code
make mkfs.btrfs -q -f
of_btrfs=$code
grep ERROR "$work/said" | sed "s|$work/image|IMAGE|"
why=$(grep -c 'cannot check mount status of .*: No such device or address' "$work/said")
umount "$work/mnt"
make mkfs.btrfs -q -f
[ "$of_ext4 $of_xfs $of_btrfs $why $code" = '0 0 1 1 0' ]

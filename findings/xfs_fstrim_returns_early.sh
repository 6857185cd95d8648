#!/bin/bash
# fstrim on xfs returns while the device still discards; on ext4 it does not. Needs root, loop devices, mkfs.xfs, mkfs.ext4, fstrim, python3,
# 1 GB in the temporary folder. Seen on Linux 6.18. Fails if no try of ten shows it on xfs, or one does on ext4.
set -eu
work=$(mktemp -d)
device=
clean() { umount "$work/mnt" 2> /dev/null || true; [ -z "$device" ] || losetup -d "$device"; rm -rf "$work"; }
trap clean EXIT
mkdir "$work/mnt"
fallocate -l 1G "$work/image" 2> /dev/null || truncate -s 1G "$work/image"
device=$(losetup --find --show "$work/image")
stat=/sys/block/${device#/dev/}/stat
uname -r
# early FILESYSTEM OPTION: after how many of ten fstrims requests were in flight.
early() {
    local found=0 in_flight
    wipefs --all --quiet "$device"
    "mkfs.$1" -q $2 "$device"
    mount -i -t "$1" "$device" "$work/mnt"
    for n in 1 2 3 4 5 6 7 8 9 10; do
        python3 - "$work/mnt" <<'EOF'
import os, sys
names = [f"{sys.argv[1]}/{i}" for i in range(1500)]
for name in names:
    with open(name, "wb") as f: f.write(b"x" * 65536)
os.sync()
for name in names: os.unlink(name)
os.sync()
EOF
        # fstrim and the look are one process each: nothing else runs on this device.
        in_flight=$(fstrim "$work/mnt" && awk '{print $9}' "$stat")
        [ "$in_flight" = 0 ] || found=$((found + 1))
        while [ "$(awk '{print $9}' "$stat")" != 0 ]; do sleep 0.1; done
    done
    umount "$work/mnt"
    echo $found
}
xfs=$(early xfs -f) ext4=$(early ext4 -F)
echo "requests in flight after fstrim: xfs $xfs times of 10, ext4 $ext4 times of 10"
[ "$xfs" -gt 0 ] && [ "$ext4" = 0 ]

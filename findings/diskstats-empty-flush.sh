#!/bin/bash
# /proc/diskstats counts an empty flush as a completed write, too: 10 fsyncs of an idle block device add 10 to "flushes completed", and 10
# to "writes completed" with no sector written. Writes per second of iostat (w/s) are then writes and flushes together.
# Seen on Linux 6.18.44: writes +10, sectors +0, flushes +10.
# Needs root and a free loop device. Fails if the kernel counts otherwise.
set -euo pipefail
dir=$(mktemp -d)
truncate -s 16M "$dir/image"
loop=$(losetup --find --show "$dir/image")
trap 'losetup --detach "$loop"; rm -r "$dir"' EXIT
counters() { awk -v name="${loop#/dev/}" '$3 == name { print $8, $10, $19 }' /proc/diskstats; }
# udev looks at a new device for a moment.
! command -v udevadm > /dev/null || udevadm settle
read -r writes sectors flushes < <(counters)
python3 - "$loop" <<'PY'
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
for _ in range(10):
    os.fsync(fd)
PY
read -r writes2 sectors2 flushes2 < <(counters)
got="writes +$((writes2 - writes)), sectors +$((sectors2 - sectors)), flushes +$((flushes2 - flushes))"
echo "Linux $(uname -r): $got"
[[ $got == "writes +10, sectors +0, flushes +10" ]]

#!/bin/bash
# chattr +C on a btrfs directory that is in use: which files work without copy on write afterwards? Needs root, loop devices,
# mkfs.btrfs, chattr and lsattr. Seen on Linux 6.18, btrfs-progs 6.2, e2fsprogs 1.47.0. Fails if the kernel does something else.
set -eu
work=$(mktemp -d)
device=
clean() { umount "$work/mnt" 2> /dev/null || true; [ -z "$device" ] || losetup -d "$device"; rm -rf "$work"; }
trap clean EXIT
mkdir "$work/mnt"
truncate -s 512M "$work/image"
device=$(losetup --find --show "$work/image")
mkfs.btrfs -q -f "$device" > /dev/null
mount -t btrfs "$device" "$work/mnt"
cd "$work/mnt"
uname -r

wrong=0
# expect yes|no PATH WHY: whether the path has the attribute C (no copy on write).
expect() {
    local got=no; lsattr -d "$2" | cut -d' ' -f1 | grep -q C && got=yes
    [ "$got" = "$1" ] || wrong=1
    echo "nocow $got: $2 ($3)"
}
mkdir -p data/base                       # as PostgreSQL has it
echo x > data/base/old
chattr +C data
touch data/new data/base/new; mkdir data/later
expect yes data          "asked for"
expect yes data/new      "a new file in it"
expect yes data/later    "a new directory in it"
expect no  data/base     "a directory that was there before"
expect no  data/base/new "a new file in that: tables are here"
echo "chattr +C on a file with data: exit code $(chattr +C data/base/old && echo 0 || echo $?)"
expect no  data/base/old "and it does nothing, without an error"
mv data/new data/base/moved
expect yes data/base/moved "a file keeps its own when it is moved"
cp data/base/moved data/base/copied
expect no  data/base/copied "a copy takes that of its directory"
cd /
exit $wrong

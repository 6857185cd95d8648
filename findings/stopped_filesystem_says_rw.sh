#!/bin/bash
# A filesystem that has stopped itself: what do its mount options say, and what does a new file say? xfs goes on saying rw; ext4 adds
# "shutdown" since Linux 6.15. Creating a file fails on both. It is stopped by the administrator's own command (xfs_io -c shutdown), on an
# image of its own. Needs root, loop devices, mkfs.xfs, mkfs.ext4, xfs_io. Seen on Linux 6.18, xfsprogs 6.1.0. Fails if that changes.
set -eu
work=$(mktemp -d)
device=
clean() { umount "$work/mnt" 2> /dev/null || true; [ -z "$device" ] || losetup -d "$device"; rm -rf "$work"; }
trap clean EXIT
mkdir "$work/mnt"
truncate -s 400M "$work/image"
device=$(losetup --find --show "$work/image")
uname -r
wrong=0
# try FILESYSTEM EXPECTED: what the mount options are expected to tell.
try() {
    local options tells=nothing creates=yes
    wipefs --all --quiet "$device"
    "mkfs.$1" -q "$device"
    mount -i -t "$1" "$device" "$work/mnt"
    xfs_io -x -c shutdown "$work/mnt"
    options=$(awk -v at="$work/mnt" '$5 == at { print $6 "," $NF }' /proc/self/mountinfo)
    case ",$options," in *,shutdown,* | *,emergency_ro,* | *,ro,*) tells=stopped ;; esac
    touch "$work/mnt/new" 2> "$work/error" || creates="no ($(sed 's/.*: //' "$work/error"))"
    umount "$work/mnt"
    echo "$1: mount options $options; they tell $tells; a file can be made: $creates"
    [ "$tells" = "$2" ] && [ "$creates" != yes ] || wrong=1
}
try xfs nothing
try ext4 stopped
exit $wrong

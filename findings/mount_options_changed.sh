#!/bin/bash
# Mount options that Linux changes without an error. Needs root, loop devices, and mkfs.btrfs, mkfs.ext4.
# Seen on Linux 6.18 (btrfs-progs 6.2, e2fsprogs 1.47.0). Fails if the kernel does something else.
set -eu
work=$(mktemp -d)
device=
clean() { umount "$work/mnt" 2> /dev/null || true; [ -z "$device" ] || losetup -d "$device"; rm -rf "$work"; }
trap clean EXIT
mkdir "$work/mnt"
truncate -s 512M "$work/image"
device=$(losetup --find --show "$work/image")
uname -r

# shown FILESYSTEM OPTIONS: the options that the kernel shows, or "refused".
shown() {
    wipefs --all --quiet "$device"
    "mkfs.$1" -q "$device" > /dev/null 2>&1
    if mount -i -t "$1" -o "$2" "$device" "$work/mnt" 2> /dev/null; then
        awk -v at="$work/mnt" '$5 == at { print $NF }' /proc/self/mountinfo
        umount "$work/mnt"
    else
        echo refused
    fi
}
wrong=0
# has|lacks FILESYSTEM OPTIONS WHAT
expect() {
    local got; got=$(shown "$2" "$3")
    case ",$got," in *",$4,"*) found=has ;; *) found=lacks ;; esac
    [ $found = "$1" ] || wrong=1
    echo "$2 -o $3: $got ($found $4)"
}
expect has   btrfs compress=zstd:20         compress=zstd:15    # no error: the highest level
expect has   btrfs compress=zlib:20         compress=zlib:9
expect has   btrfs compress=lzo:3           compress=lzo        # no error: lzo has no levels
expect has   btrfs nodatacow,compress=zstd  compress=zstd:3     # the last one wins
expect lacks btrfs nodatacow,compress=zstd  nodatacow
expect has   btrfs compress=zstd,nodatacow  nodatacow
expect lacks btrfs compress=zstd,nodatacow  compress=zstd:3
expect has   btrfs max_inline=999999        max_inline=4096
expect has   ext4  data=journal,dioread_nolock nodioread_nolock # and no delayed allocation
expect has   ext4  data=journal,dioread_nolock nodelalloc
expect has   ext4  journal_async_commit     refused             # data=ordered is the default: not "unknown"
expect has   ext4  journal_async_commit,data=writeback journal_async_commit
expect has   ext4  journal_async_commit,data=journal   journal_async_commit
exit $wrong

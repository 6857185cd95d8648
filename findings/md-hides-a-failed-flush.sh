#!/bin/bash
# An array of md says that a flush went well where a member's flush failed, and keeps the member.
#
# An expert would guess that a failed flush is an error as a failed write is: md would fail the member, or pass the error on if no other
# has the data. But md looks at the result of no member's flush: fsync() above the array returns 0, and the member stays in sync ([UU]).
# On the member alone the same fsync() is EIO. A database above an array is not told that a disk no longer flushes.
# Seen on Linux 6.1 with RAID 1:
#
#   before: member 0, array 0 [UU]
#   the member's flush fails: member EIO, array 0 [UU]
#   the member's flush and writes fail, and the array is written to: array 0 [_U]
#
# The member is a linear device of dm that becomes a flakey one with error_writes, which fails flushes too.
# Without udev, set DM_DISABLE_UDEV=1 and MDADM_NO_UDEV=1: dmsetup and mdadm then make the names of devices themselves.
# Needs root, loop devices, the modules raid1 and dm_flakey, mdadm, dmsetup and python3. Exit code 77 where the kernel lacks them; fails if the
# behaviour has changed.
set -euo pipefail
modprobe -qa loop md_mod raid1 dm_mod dm_flakey || { echo "this kernel has no md or dm_flakey"; exit 77; }
work=$(mktemp -d)
name=flush$$
array=/dev/md/$name
devices=()
cleanup() {
    mdadm --quiet --stop "$array" 2> /dev/null || true
    dmsetup remove --retry "$name" 2> /dev/null || true
    [ ${#devices[@]} = 0 ] || losetup --detach "${devices[@]}" || true
    rm -rf "$work"
}
trap cleanup EXIT
for file in one two; do
    truncate -s 64M "$work/$file"
    devices+=("$(losetup --find --show "$work/$file")")
done
sectors=$(blockdev --getsz "${devices[0]}")
dmsetup create "$name" --table "0 $sectors linear ${devices[0]} 0"
mdadm --quiet --create "$array" --run --metadata=1.2 --level=1 --raid-devices=2 --assume-clean --bitmap=none "/dev/mapper/$name" "${devices[1]}" < /dev/null
kernel_name=$(basename "$(readlink -f "$array")")

# Prints what fsync() of a device returns: 0, or the error's name. Writes to its last page before, if that is asked for.
sync_of() { # sync_of DEVICE [write]
    python3 - "$@" << 'END'
import errno, os, sys
file = os.open(sys.argv[1], os.O_RDWR)
try:
    if len(sys.argv) > 2:
        os.lseek(file, -4096, os.SEEK_END)
        os.write(file, bytes(4096))
    os.fsync(file)
    print(0)
except OSError as error:
    print(errno.errorcode[error.errno])
END
}
members() { grep -A 1 "^$kernel_name :" /proc/mdstat | grep -o '\[[U_]*\]'; }
both() { echo "member $(sync_of "/dev/mapper/$name"), array $(sync_of "$array") $(members)"; }
# md writes to its superblock when the array has become clean: not while the member fails writes.
await_clean() { until [ "$(cat "/sys/block/$kernel_name/md/array_state")" = clean ]; do sleep 0.1; done; }

echo "Linux $(uname -r), $(mdadm --version 2>&1)"
await_clean
before=$(both)
dmsetup suspend "$name"
dmsetup reload "$name" --table "0 $sectors flakey ${devices[0]} 0 0 3600 1 error_writes"
dmsetup resume "$name"
failing=$(both)
written="array $(sync_of "$array" write) $(members)"
printf '%s\n' "before: $before" "the member's flush fails: $failing" "the member's flush and writes fail, and the array is written to: $written"
[ "$before" = 'member 0, array 0 [UU]' ] && [ "$failing" = 'member EIO, array 0 [UU]' ] && [ "$written" = 'array 0 [_U]' ]

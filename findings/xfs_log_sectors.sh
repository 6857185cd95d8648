#!/bin/bash
# mkfs.xfs takes sectors of 512 bytes for an external log, even where the log's device and the data's device both have 4096, and then
# fails. -l sectsize= helps. Needs root, loop devices, mkfs.xfs. Seen with xfsprogs 6.1.0 on Linux 6.18. Fails if that changes.
set -eu
work=$(mktemp -d)
data= log=
clean() { for d in $data $log; do losetup -d "$d"; done; rm -rf "$work"; }
trap clean EXIT
truncate -s 512M "$work/data"; truncate -s 80M "$work/log"
echo "$(mkfs.xfs -V), Linux $(uname -r)"
wrong=0
# try DATA_SECTOR LOG_SECTOR EXPECTED OPTIONS
try() {
    local sector=$1 log_sector=$2 expected=$3 got=fails; shift 3
    data=$(losetup --find --show --sector-size "$sector" "$work/data")
    log=$(losetup --find --show --sector-size "$log_sector" "$work/log")
    wipefs --all --quiet "$data" "$log"
    mkfs.xfs -q -f -l "logdev=$log$1" ${2:+"$2" "$3"} "$data" > /dev/null 2>&1 && got=works
    losetup -d "$data"; losetup -d "$log"; data= log=
    echo "sectors of data $sector, of log $log_sector, -l logdev=LOG$*: $got"
    [ $got = "$expected" ] || wrong=1
}
try 512  512  works ""
try 4096 512  works ""
try 4096 4096 fails ""
try 4096 4096 works ",sectsize=4096"
try 512  4096 fails ",sectsize=4096"
try 512  4096 works ",sectsize=4096" -s size=4096
exit $wrong

#!/bin/bash
# mkfs.nilfs2 reads the beginning of a number: "2048k" blocks in a segment are 2048, and a block of "4096.5" bytes has 4096.
#
# An expert would guess that it knows units, as mkfs of ext4, xfs and btrfs do, or that it refuses what is no number. It does neither: without an
# error it makes another filesystem than was asked for. Only sizes of blocks that it does not take are refused, so "4k" is an error, of 4 bytes.
# Seen with nilfs-utils 2.2.9:
#
#   -B 2048k: exit code 0, 2048 blocks in a segment, blocks of 4096 bytes
#   -B 512k: exit code 0, 512 blocks in a segment, blocks of 4096 bytes
#   -b 4096.5: exit code 0, 2048 blocks in a segment, blocks of 4096 bytes
#   -b 4k: exit code 1, Error: invalid blocksize: 4
#
# Needs nilfs-tools and od; makes a file of 300 MB, with holes. Fails if the behaviour has changed.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkfs.nilfs2 -V

# Prints the exit code, blocks in a segment and bytes of a block: 48 and 20 bytes from the beginning of the superblock, which is at 1024.
made() { # made OPTION VALUE
    local code=0 blocks='' shift=''
    rm -f "$work/image"
    truncate -s 300M "$work/image"
    mkfs.nilfs2 -q -f "$1" "$2" "$work/image" > "$work/said" 2>&1 || code=$?
    if [ $code = 0 ]; then
        blocks=$(od -A n -t u4 -j $((1024 + 48)) -N 4 "$work/image" | tr -d ' ')
        shift=$(od -A n -t u4 -j $((1024 + 20)) -N 4 "$work/image" | tr -d ' ')
    fi
    echo "$1 $2: exit code $code${blocks:+, $blocks blocks in a segment, blocks of $((1 << (10 + shift))) bytes}$(grep -o 'Error.*' "$work/said" | sed 's/^/, /')"
}
said=$(for option in '-B 2048k' '-B 512k' '-b 4096.5' '-b 4k'; do made $option; done)
echo "$said"
[ "$said" = '-B 2048k: exit code 0, 2048 blocks in a segment, blocks of 4096 bytes
-B 512k: exit code 0, 512 blocks in a segment, blocks of 4096 bytes
-b 4096.5: exit code 0, 2048 blocks in a segment, blocks of 4096 bytes
-b 4k: exit code 1, Error: invalid blocksize: 4' ]

#!/bin/bash
# An overlay that is mounted with the option "volatile" is not shown as "volatile" by newer kernels: /proc/self/mountinfo has
# "fsync=volatile". A search for the word alone between commas takes such a mount, on which fsync does nothing, for a safe one.
# Seen on Linux 6.18.44: fsync=volatile. Older kernels (5.10 and later) show volatile.
# Needs root. Fails if the kernel shows neither or "volatile" again.
set -euo pipefail
dir=$(mktemp -d)
mkdir "$dir"/{lower,upper,work,merged}
mount -t overlay overlay -o "lowerdir=$dir/lower,upperdir=$dir/upper,workdir=$dir/work,volatile" "$dir/merged"
trap 'umount "$dir/merged"; rm -r "$dir"' EXIT
shown=$(grep -F " $dir/merged " /proc/self/mountinfo | tr ', ' '\n\n' | grep -x -e volatile -e fsync=volatile)
echo "Linux $(uname -r): $shown"
[[ $shown == fsync=volatile ]]

#!/bin/bash
# glibc's posix_fallocate() where the filesystem has no fallocate(): it succeeds, and writes into each block. PostgreSQL 16 and
# later extend files by it. Needs root, loop devices, mkfs.ext2 to mkfs.ext4, python3. Seen on Linux 6.18, glibc 2.36. Fails if that changes.
set -eu
work=$(mktemp -d)
device=
clean() { umount "$work/mnt" 2> /dev/null || true; [ -z "$device" ] || losetup -d "$device"; rm -rf "$work"; }
trap clean EXIT
mkdir "$work/mnt"
truncate -s 128M "$work/image"
device=$(losetup --find --show "$work/image")
echo "$(uname -r), $(getconf GNU_LIBC_VERSION)"

cat > "$work/try.py" <<'EOF'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
name, has = sys.argv[1], sys.argv[2] == "has"
size = 4 << 20
one = os.open("one", os.O_RDWR | os.O_CREAT)
failed = libc.fallocate(one, 0, 0, size)
code = errno.errorcode[ctypes.get_errno()] if failed else "0"
before = int(next(l for l in open("/proc/self/io") if l.startswith("write_bytes")).split()[1])
two = os.open("two", os.O_RDWR | os.O_CREAT)
os.posix_fallocate(two, 0, size)
os.fsync(two)
after = int(next(l for l in open("/proc/self/io") if l.startswith("write_bytes")).split()[1])
print(f"{name}: fallocate() gives {code}; posix_fallocate() succeeds and dirties {(after - before) >> 10} kB of {size >> 10} kB")
wrote = after - before >= size
sys.exit(code not in (("0",) if has else ("EOPNOTSUPP", "ENOTSUP")) or wrote == has)
EOF
wrong=0
for filesystem in ext4:has ext3:lacks ext2:lacks; do
    name=${filesystem%:*}
    "mkfs.$name" -q -F "$device"
    mount -i -t "$name" "$device" "$work/mnt"
    (cd "$work/mnt"; python3 "$work/try.py" "$name" "${filesystem#*:}") || wrong=1
    umount "$work/mnt"
done
exit $wrong

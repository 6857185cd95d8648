#!/bin/bash
# /proc/PID/mountinfo of a process that has ended, and that its parent has not waited for, cannot be opened: EINVAL.
#
# An expert would guess ENOENT or ESRCH ("gone"), or an empty file as maps gives. A program that looks through the mount namespaces
# of all processes, and takes every other error than ENOENT and ESRCH for a lack of rights, fails whenever there is a zombie.
# Seen on Linux 6.18:
#
#   mountinfo: EINVAL    ns/mnt: ENOENT    fd: an empty directory    maps: an empty file
#
# Needs python3. Fails if the behaviour has changed.
set -euo pipefail
echo "Linux $(uname -r)"
python3 - <<'PYTHON'
import errno, os, sys
child = os.fork()
if child == 0:
    os._exit(0)
# WNOWAIT: wait until it is a zombie, and leave it one.
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
def outcome(read):
    try:
        return read() or "empty"
    except OSError as error:
        return errno.errorcode[error.errno]
place = f"/proc/{child}"
seen = {
    "mountinfo": outcome(lambda: open(f"{place}/mountinfo").read()),
    "ns/mnt": outcome(lambda: os.readlink(f"{place}/ns/mnt")),
    "fd": outcome(lambda: os.listdir(f"{place}/fd")),
    "maps": outcome(lambda: open(f"{place}/maps").read()),
}
os.waitpid(child, 0)
for name, answer in seen.items():
    print(f"{name}: {answer}")
sys.exit(seen != {"mountinfo": "EINVAL", "ns/mnt": "ENOENT", "fd": "empty", "maps": "empty"})
PYTHON

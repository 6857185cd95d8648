# A guest of User-Mode Linux: every filesystem but zfs, in a second. Sourced by boot.
# PGFSBENCH_UML is a program in place of linux.uml, for tests of what happens where that does not boot.

# shellcheck disable=SC2034 # used by boot
disk_names=(ubd{b..p})

uml=${PGFSBENCH_UML:-linux.uml}

machine_needs() {
    need "$uml" user-mode-linux
    need modprobe kmod
    echo '#include <sys/ptrace.h>' | gcc -E - > /dev/null 2>&1 || missing+=("gcc with a C library (Debian packages gcc and libc6-dev)")
}

# Sets machine, the command, and prints what the guest has to know of it.
machine_command() { # machine_command SHARE HOME DISK...
    local share=$1 home=$2 console=null memory=/tmp disks=() disk
    [ -z "$interactive" ] || console=fd:0
    shift 2
    for disk; do disks+=("$(basename "$disk")=$disk"); done
    # Its memory is a file in a tmpfs that allows programs to be mapped.
    ! findmnt -n -o FSTYPE,OPTIONS /dev/shm | grep -q '^tmpfs' || findmnt -n -o OPTIONS /dev/shm | grep -q noexec || memory=/dev/shm
    gcc -O2 -shared -fPIC -o "$home/uml.so" "$root"/tools/lab.d/uml-{xstate,timer,cpu}.c
    machine=(env -i PATH=/usr/bin:/bin HOME="$home/home" TMPDIR="$memory" LD_PRELOAD="$home/uml.so" "$uml" umid=guest mem=2G
        root=none rootfstype=hostfs rootflags=/ ro quiet loglevel=1 init="$share/init"
        con=null con0="$console,fd:1" con1=null "${disks[@]}")
    printf 'mount_share=(mount -t hostfs -o %s none)\nterminal=/dev/tty0\n' "$share"
}

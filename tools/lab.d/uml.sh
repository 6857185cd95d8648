# A guest of User-Mode Linux: every filesystem but zfs, in a second. Sourced by boot.

# shellcheck disable=SC2034 # used by boot
disk_names=(ubdb ubdc ubdd ubde)

machine_needs() {
    need linux.uml user-mode-linux
    need modprobe kmod
}

# Sets machine, the command, and prints what the guest has to know of it.
machine_command() { # machine_command SHARE HOME DISK...
    local share=$1 home=$2 console=null memory=/tmp disks=() disk
    [ -z "$interactive" ] || console=fd:0
    shift 2
    for disk; do disks+=("$(basename "$disk")=$disk"); done
    # Its memory is a file in a tmpfs that allows programs to be mapped.
    ! findmnt -n -o FSTYPE,OPTIONS /dev/shm | grep -q '^tmpfs' || findmnt -n -o OPTIONS /dev/shm | grep -q noexec || memory=/dev/shm
    machine=(env -i PATH=/usr/bin:/bin HOME="$home" TMPDIR="$memory" linux.uml umid=guest mem=2G
        root=none rootfstype=hostfs rootflags=/ ro quiet loglevel=1 init="$share/init"
        con=null con0="$console,fd:1" con1=null "${disks[@]}")
    printf 'mount_share=(mount -t hostfs -o %s none)\nterminal=/dev/tty0\n' "$share"
}

# A guest of QEMU with a kernel that this machine has in /boot, or that tools/lab.d/zfs has made: zfs too, but slowly where there is no KVM.
# Sourced by boot.
# PGFSBENCH_QEMU is a program in place of QEMU's, for tests of what happens where that does not boot.

# shellcheck disable=SC2034 # used by boot
disk_names=(vd{b..p})

# Modules that its kernel needs before it has its root.
boot_modules=(virtio_pci virtio_blk 9pnet_virtio 9p overlay)

# The newest kernel that has all of it: kernels for clouds lack 9p. Sets kernel, kernel_version, and kernel_root, where its modules are.
find_kernel() {
    local image version module
    for kernel_root in '' "$target/lab/zfs"; do
        for image in $(printf '%s\n' "$kernel_root"/boot/vmlinuz-* | sort -rV); do
            version=${image##*/vmlinuz-}
            for module in "${boot_modules[@]}" "$fs"; do
                modprobe -d "$kernel_root/" -S "$version" -n -q "$module" 2> /dev/null || continue 2
            done
            [ -r "$image" ] || continue
            kernel=$image kernel_version=$version
            return 0
        done
    done
    return 1
}

qemu=${PGFSBENCH_QEMU:-qemu-system-x86_64}

machine_needs() {
    local packages="linux-image-amd64, not the one for clouds"
    PATH=$PATH:/usr/sbin:/sbin
    need "$qemu" qemu-system-x86
    need cpio cpio
    need busybox busybox-static
    need modprobe kmod
    if [ "$fs" = zfs ]; then
        need sfdisk fdisk
        packages+=", with zfs-dkms and zfsutils-linux of the component contrib, or made by tools/lab.d/zfs"
    fi
    find_kernel && { [ "$fs" != zfs ] || PATH=$kernel_root/usr/sbin:$PATH command -v zpool > /dev/null; } || missing+=("a kernel in /boot with the modules ${boot_modules[*]} $fs (Debian packages $packages)")
}

# The first root: busybox and these modules, in the order in which they need each other.
make_initramfs() { # make_initramfs DIRECTORY
    local module line path tree=$1/initramfs
    mkdir -p "$tree/bin" "$tree/modules"
    cp "$(command -v busybox)" "$tree/bin/busybox"
    install -m 755 "$root/tools/lab.d/initramfs" "$tree/init"
    for module in "${boot_modules[@]}"; do
        # shellcheck disable=SC2015
        while read -r line path; do
            path=${path%% *}
            [ "$line" = insmod ] && [ ! -e "$tree/modules/$(basename "$path")" ] || continue
            cp "$path" "$tree/modules/"
            basename "$path" >> "$tree/modules/order"
        done < <(modprobe -d "$kernel_root/" -S "$kernel_version" --show-depends "$module")
    done
    (cd "$tree" && find . | cpio --quiet -o -H newc) > "$1/initramfs.img"
    rm -rf "$tree"
}

# Sets machine, the command, and prints what the guest has to know of it.
machine_command() { # machine_command SHARE HOME DISK...
    local share=$1 home=$2 accelerator=tcg,thread=multi disks=() disk command
    shift 2
    ! "${step_down[@]}" test -w /dev/kvm || accelerator=kvm
    make_initramfs "$home" >&2
    cp "$kernel" "$home/kernel"
    # The guest counts from vda.
    truncate -s 1M "$home/none"
    theirs+=("$home/none")
    for disk in "$home/none" "$@"; do disks+=(-drive "file=$disk,if=virtio,format=raw,discard=unmap"); done
    machine=("$qemu" -accel "$accelerator" -cpu max -smp 2 -m 2G
        -nodefaults -no-reboot -display none -chardev "stdio,id=console,signal=off" -serial chardev:console -kernel "$home/kernel" -initrd "$home/initramfs.img"
        -append "console=ttyS0 quiet loglevel=1 panic=-1 share=$share${kernel_root:+ over}"
        -virtfs "local,path=/,mount_tag=machine,security_model=none,readonly=on,multidevs=remap"
        -virtfs "local,path=$share,mount_tag=share,security_model=none,multidevs=remap" "${disks[@]}")
    [ -z "$kernel_root" ] || machine+=(-virtfs "local,path=$kernel_root,mount_tag=over,security_model=none,readonly=on,multidevs=remap")
    if [ -n "$cut_port" ]; then
        # The block server's cache has everything that was written since the last flush, in memory or an unlinked file: it ends with the server.
        machine=("${machine[@]/file=$1,if=virtio/file=nbd:unix:$home/home/nbd,if=virtio}" -device virtio-net-pci,netdev=net,romfile=
            -netdev "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$cut_port-:5432")
        printf -v command '%q ' exec "${machine[@]}"
        machine=(nbdkit --unix "$home/home/nbd" --filter=cache file "$1" cache=writeback --run "$command")
    fi
    machine=(env -i PATH=/usr/sbin:/usr/bin:/bin HOME="$home/home" TMPDIR=/tmp "${machine[@]}")
    printf 'mount_share=(mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288,cache=mmap share)\nterminal=/dev/ttyS0\n'
}

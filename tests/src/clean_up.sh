# Waits for the end of the tests' process, which closes the input, and removes what is left below these directories: all of it where the process
# was killed.
trap '' INT TERM HUP
cat > /dev/null

mounts() { # mounts DIRECTORY: it and those below it, inner ones first
    awk -v place="$1" '$2 == place || index($2, place "/") == 1 {print $2}' /proc/self/mounts | tac
}

# Servers and helpers; nobody who looks on from a shell.
processes() { # processes DIRECTORY
    local process
    for process in /proc/[0-9]*; do
        case $(cat "$process/comm") in
            postgres | pgfsbench-help*) ;;
            *) continue ;;
        esac
        case "$(readlink "$process/cwd") $(tr '\0' ' ' < "$process/cmdline")" in
            *"$1"/*) echo "${process#/proc/}" ;;
        esac
    done
}

# QUIT lets a server remove its shared memory.
end_processes() { # end_processes DIRECTORY
    local pids try=0
    pids=$(processes "$1")
    [ -n "$pids" ] || return 0
    kill -CONT $pids
    kill -QUIT $pids
    while [ -n "$(processes "$1")" ] && [ $((try += 1)) -lt 50 ]; do sleep 0.1; done
    pids=$(processes "$1")
    [ -z "$pids" ] || kill -KILL $pids
}

has_file() { # has_file DEVICE FILE
    [ "$(cat "/sys/block/${1#/dev/}/loop/backing_file")" = "$2" ]
}
has_partitions() { # has_partitions DEVICE
    cat "/sys/block/${1#/dev/}"/*/partition
}

# With what is on top of it. Whoever has it open for a moment is waited for; in that time the number may become another's.
detach() { # detach DEVICE FILE
    local above file holder try=0
    losetup --noheadings --output NAME,BACK-FILE | while read -r above file; do
        [ "$file" != "$1" ] || detach "$above" "$file"
    done
    swapoff "$1"
    for holder in "/sys/block/${1#/dev/}"/holders/*/dm/name; do
        [ ! -e "$holder" ] || dmsetup remove "$(cat "$holder")"
    done
    while has_partitions "$1" && has_file "$1" "$2" && [ $((try += 1)) -lt 100 ]; do
        partx --delete "$1" || sleep 0.1
        # Where nobody else makes and removes them.
        rm -f "$1"p[0-9]*
    done
    ! has_file "$1" "$2" || losetup --detach "$1"
}

detach_all() { # detach_all DIRECTORY
    local device file
    losetup --noheadings --output NAME,BACK-FILE | while read -r device file; do
        case $file in
            "$1"/*) detach "$device" "$file" ;;
        esac
    done
}

clear() { # clear DIRECTORY
    local mount
    # A process that reads a frozen filesystem would wait for ever.
    mounts "$1" | while read -r mount; do fsfreeze --unfreeze "$mount"; done
    end_processes "$1"
    mounts "$1" | while read -r mount; do
        detach_all "$mount"
        umount --lazy "$mount"
    done
    detach_all "$1"
    # Nothing that is only mounted there.
    [ -n "$(mounts "$1")" ] || rm -rf --one-file-system "$1"
}

# Files that are being made while this looks come a little later.
for place; do
    try=0
    while [ -e "$place" ] && [ $((try += 1)) -le 5 ]; do
        clear "$place"
        [ ! -e "$place" ] || sleep 1
    done
done

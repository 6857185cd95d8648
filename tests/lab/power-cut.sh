# In a guest whose disk loses its write cache when the guest is killed: a server on ext4 on that disk, which the machine below reaches by TCP. Sourced by
# tools/lab.d/guest, after lines that set mount_options, server_options, and verifier, which is that of the superuser's password.
disk=${members[0]} place=/run/lab/disk
mkdir $place
if [ -z "$(blkid -p -s TYPE -o value "$disk")" ]; then
    mkfs.ext4 -q "$disk"
    mount "$disk" $place
    install -d -m 700 -o postgres -g postgres $place/data $sockets
    as_postgres tar -C $place/data -xf /mnt/cluster.tar
    # A local connection is not let in below. The server ends at the first error.
    echo "ALTER ROLE postgres PASSWORD '$verifier'" |
        as_postgres postgres --single -c exit_on_error=on -D $place/data postgres > /dev/null || { say "no password is set"; exit 5; }
    {
        printf "listen_addresses = '*'\nunix_socket_directories = '%s'\n" $sockets
        printf "shared_preload_libraries = 'pgfsbench'\nshared_buffers = 32MB\n"
    } >> $place/data/postgresql.conf
    # The machine below has this address, for each of its users: a superuser here runs programs in the guest.
    echo 'host all all 10.0.2.2/32 scram-sha-256' > $place/data/pg_hba.conf
    # It is flushed here, whatever the options are from now on.
    umount $place
else
    install -d -m 700 -o postgres -g postgres $sockets
fi
say "mount -o $mount_options"
mount -o "$mount_options" "$disk" $place || { say "it does not come back: no filesystem"; exit 5; }
modprobe virtio_net
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
: > /run/lab/server.log
: > /run/lab/helper.log
chown postgres /run/lab/server.log
# With fsync off this file may have lost its contents. An administrator then removes it.
[ -s $place/data/postmaster.pid ] || rm -f $place/data/postmaster.pid
as_postgres pg_ctl start -s -w -t 600 -D $place/data -l /run/lab/server.log -o "$server_options" ||
    { say "it does not come back: no server"; exit 5; }
say "the server has started"
# A client makes this file.
until [ -e /run/lab/sockets/end ]; do sleep 0.2; done
as_postgres pg_ctl stop -s -m fast -D $place/data
umount $place

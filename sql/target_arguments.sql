-- Targets: what create_target, alter_target and drop_target take and refuse. Core has more refusals (target/tests.rs, helper/options/tests.rs, server_setting.rs).
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SELECT target, kind FROM fsbench.target;
SELECT fsbench.create_target('tmp', directory => '/tmp', settings => '{"Shared_Buffers": "64MB", "max_wal_size": "2GB", "wal_compression": true}',
                             power_loss_protected => false);
SELECT target, kind, directory, settings, bindir, power_loss_protected, created_by = session_user FROM fsbench.target WHERE kind <> 'default';
SELECT fsbench.alter_target('tmp', power_loss_protected => true);
SELECT settings, power_loss_protected FROM fsbench.target WHERE target = 'tmp';

-- Names.
SELECT fsbench.create_target('tmp', directory => '/tmp');
SELECT fsbench.create_target('', directory => '/tmp');
SELECT fsbench.create_target(NULL, directory => '/tmp');
SELECT fsbench.create_target('../etc', directory => '/tmp');
SELECT fsbench.create_target('default', directory => '/tmp');
SELECT fsbench.alter_target('default', directory => '/tmp');
SELECT fsbench.drop_target('default');
SELECT fsbench.alter_target('nowhere');
SELECT fsbench.drop_target('nowhere');
SELECT fsbench.drop_target(NULL);

-- Directories.
SELECT fsbench.create_target('x', directory => 'tmp');
SELECT fsbench.create_target('x', directory => '/does/not/exist');
SELECT fsbench.create_target('x', directory => '/etc/passwd');
SELECT fsbench.create_target('x', directory => '/proc/self/task');
SELECT fsbench.create_target('x', directory => '/tmp', bindir => '/tmp');
SELECT fsbench.create_target('x', directory => '/tmp', bindir => 'bin');

-- Filesystems that the helper makes.
SELECT fsbench.create_target('x', filesystem => 'xfs');
SELECT fsbench.create_target('x', filesystem => 'xfs', image_size => '1 parsec');
SELECT fsbench.create_target('x', filesystem => 'xfs', image_size => '1GB', directory => '/tmp');
SELECT fsbench.create_target('x', filesystem => 'xfs', directory => '/tmp');
SELECT fsbench.create_target('x', directory => '/tmp', mount_options => 'noatime');
-- A list.
SELECT fsbench.create_target('x', filesystem => 'btrfs', device => '/dev/sdy,/dev/sdz');
SELECT fsbench.create_target('x', filesystem => 'xfs', image_size => '1GB', mount_options => 'logbufs=2,logbufs=8');
SELECT fsbench.create_target('x', filesystem => 'xfs', image_size => '1GB', log_devices => '{/dev/sdx,/dev/sdy}', log_size => '64MB');
SELECT fsbench.create_target('x', filesystem => 'ext4', device => '/dev/sdx', log_devices => '{/dev/sdx,/dev/sdy}');
SELECT fsbench.create_target('x', filesystem => 'xfs', image_size => '1GB', kernel_settings => '{"vm.dirty_bytes": 1}');
SELECT fsbench.create_target('x', filesystem => 'xfs', image_size => '1GB', kernel_settings => '{"dirty_bytes": "1GB"}');
SELECT fsbench.create_target('made', filesystem => 'xfs', image_size => '8GB', mkfs_options => '-l size=128m', mount_options => 'noatime,logbsize=256k');
SELECT fsbench.alter_target('made', filesystem => 'ext4', reset => '{mkfs_options,mount_options}');
SELECT target, kind, filesystem, image_size_bytes, mkfs_options, mount_options FROM fsbench.target WHERE target = 'made';
SELECT fsbench.alter_target('made', reset => '{image_size}');
SELECT fsbench.alter_target('made', reset => '{kind}');
SELECT fsbench.alter_target('made', device => '/dev/sdz', reset => '{image_size}');
SELECT kind, device, image_size_bytes FROM fsbench.target WHERE target = 'made';
SET client_min_messages = warning;  -- the number of the run depends on the tests before
SELECT * FROM fsbench.run(target => 'made', scale => 1, clients => 1, transactions => 1, seed => 1);
RESET client_min_messages;
SELECT action, status, error FROM fsbench.helper_job;
SELECT fsbench.drop_target('made');

-- Other servers.
SELECT fsbench.create_target('x', connection => '');
SELECT fsbench.create_target('x', connection => 'somewhere');
SELECT fsbench.create_target('x', connection => 'hots=db2');
SELECT fsbench.create_target('x', connection => 'host=db2 password=secret');
SELECT fsbench.create_target('x', connection => 'postgresql://bench:secret@db2/bench');
SELECT fsbench.create_target('x', connection => 'host=db2 sslpassword=secret');
SELECT fsbench.create_target('x', connection => 'dbname=postgresql://bench:secret@db2/bench');
SELECT fsbench.create_target('x', connection => 'host=db2 dbname=''password=secret''');
SELECT fsbench.create_target('x', connection => 'postgresql://db2/user%3Dbench%20password%3Dsecret');
SELECT fsbench.create_target('x', connection => 'host=postgres://bench:secret@db2/bench');
SELECT fsbench.create_target('x', connection => 'host=db2 options=''-c my.password=secret''');
SELECT fsbench.create_target('x', connection => 'host=db2 replication=true');
SELECT fsbench.create_target('x', connection => 'service=bench', directory => '/tmp');
SELECT fsbench.create_target('x', connection => 'service=bench', filesystem => 'xfs');
SELECT fsbench.create_target('x', connection => 'service=bench', bindir => '/usr/bin');
SELECT fsbench.create_target('far', connection => 'host=db2 dbname=bench user=bench passfile=/etc/bench.pass', power_loss_protected => true);
SELECT who, action, command FROM fsbench.plan('far') WHERE who = 'coordinator';
SELECT fsbench.prepare_target('far');
SELECT kind, connection, power_loss_protected FROM fsbench.target WHERE target = 'far';
SELECT fsbench.alter_target('far', connection => 'host=/does/not/exist');
-- Only where a server is made, settings can be made that need a restart.
SELECT * FROM fsbench.run(target => 'far', settings => '{"shared_buffers": "1GB"}');
SELECT fsbench.drop_target('far');

-- Settings.
SELECT fsbench.create_target('x', directory => '/tmp', settings => '[]');
SELECT fsbench.create_target('x', directory => '/tmp', settings => '{"no_such": 1}');
SELECT fsbench.create_target('x', directory => '/tmp', settings => '{"shared_buffers": "much"}');
SELECT fsbench.create_target('x', directory => '/tmp', settings => '{"wal_level": "none"}');
SELECT fsbench.create_target('x', directory => '/tmp', settings => '{"checkpoint_timeout": "soon"}');
SELECT fsbench.create_target('x', directory => '/tmp', settings => '{"1 = 1\ninclude": "/etc/passwd"}');
-- Programs of another version have settings that are not known here: names are checked first.
SELECT setting AS bindir FROM pg_config WHERE name = 'BINDIR' \gset
SELECT fsbench.create_target('x', directory => '/tmp', bindir => :'bindir', settings => '{"restore_command": "true"}');
SELECT fsbench.create_target('x', directory => '/tmp', settings => '{"work_mem": ["1MB"]}');
SELECT fsbench.create_target('x', directory => '/tmp', settings => '{"work_mem": "1MB\nfsync = off"}');

-- Runs.
SELECT * FROM fsbench.run(target => 'nowhere');
SELECT * FROM fsbench.run(target => 'tmp', keep => true);
SELECT fsbench.drop_target('tmp');
SELECT count(*) FROM fsbench.target;

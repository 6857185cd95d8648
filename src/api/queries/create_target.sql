-- Target $1 with the arguments $2.
SELECT fsbench.create_target($1, a.filesystem, a.device, a.image_size, a.directory, a.connection, a.mkfs_options, a.mount_options, a.log_device,
  a.log_size, a.pool_properties, a.dataset_properties, a.image_sparse, a.ssd_state, a.block_settings, a.kernel_settings, a.drop_caches, a.settings,
  a.bindir, a.data_checksums, a.power_loss_protected, devices => a.devices, image_count => a.image_count, layout => a.layout,
  layout_options => a.layout_options, initial_sync => a.initial_sync, log_devices => a.log_devices)
FROM pg_catalog.jsonb_to_record($2::jsonb) AS a (filesystem text, device text, image_size text, directory text, connection text, mkfs_options text,
  mount_options text, log_device text, log_size text, pool_properties text, dataset_properties text, image_sparse boolean, ssd_state text,
  block_settings jsonb, kernel_settings jsonb, drop_caches boolean, settings jsonb, bindir text, data_checksums boolean, power_loss_protected boolean, devices text[], image_count integer,
  layout text, layout_options jsonb, initial_sync text, log_devices text[])

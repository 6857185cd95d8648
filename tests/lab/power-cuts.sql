-- In a guest: power cuts of filesystems that this machine's kernel may lack, on images. Prints rows of the table in docs/power-cuts.md.
\set QUIET on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = warning;
SELECT fsbench.create_target(concat_ws('_', filesystem, number), filesystem => filesystem, image_size => '700MB', image_sparse => true, mount_options => options)
FROM (VALUES (1, 'ext2', NULL), (2, 'ext3', NULL), (4, 'reiserfs', NULL), (5, 'reiserfs', 'barrier=none'), (6, 'f2fs', NULL),
    (7, 'f2fs', 'nobarrier')) AS t (number, filesystem, options) \g /dev/null
-- One that cannot be cut says why, and the others go on.
\set ON_ERROR_STOP off
SELECT format('SELECT %L, part, outcome, says FROM fsbench.power_cut(%L, cuts => 100)', target, target) FROM fsbench.target WHERE kind = 'image' ORDER BY split_part(target, '_', 2) \gexec
\set ON_ERROR_STOP on
SELECT format('| %s | %s | {} | %s | %s of %s fail |', t.filesystem, t.mount_options,
    string_agg(p.outcome || ': ' || split_part(p.says, ' at 95', 1), ' | ' ORDER BY p.part) FILTER (WHERE NOT p.control),
    count(*) FILTER (WHERE p.control AND p.outcome = 'failed'), count(*) FILTER (WHERE p.control))
FROM fsbench.power_cut_result p JOIN fsbench.run_log r USING (run_id) JOIN fsbench.target t USING (target) GROUP BY r.run_id, t.target ORDER BY r.run_id;

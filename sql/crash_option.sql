-- A run that ends with a crash of its server: only where the server is pgfsbench's own.
SELECT * FROM fsbench.run(options => '{"crash": true}');
SELECT * FROM fsbench.run(options => '{"crash": "yes"}');
SELECT fsbench.create_target('crash-far', connection => 'host=/nowhere dbname=bench');
SELECT * FROM fsbench.run(target => 'crash-far', options => '{"crash": true}');
SELECT fsbench.drop_target('crash-far');
\pset format unaligned
SELECT a.attname, format_type(a.atttypid, a.atttypmod) AS type, col_description(a.attrelid, a.attnum) IS NOT NULL AS has_comment
FROM pg_attribute a WHERE a.attrelid = 'fsbench.recovery'::regclass AND a.attnum > 0 ORDER BY a.attnum;
SELECT count(*) FROM fsbench.recovery;

-- Power cuts: what is refused before anything is made.
SELECT * FROM fsbench.run(workload => 'power-cut');
SELECT * FROM fsbench.power_cut('default', cuts => 5);
SELECT * FROM fsbench.power_cut('default', cuts => 0);
SELECT * FROM fsbench.power_cut('default', cuts => 901);
SELECT * FROM fsbench.run(workload => 'power-cut', warmup => '1 s');
SELECT * FROM fsbench.run(workload => 'commit', options => '{"cuts": 5}');

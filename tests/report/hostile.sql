-- Names and texts of somebody who wants a page to do something: scripts, ends of scripts, quotes, marks that turn text round, line ends of JavaScript.
UPDATE fsbench.experiment_target SET target = '</script><script>document.title="taken"</script>' WHERE target = 'xfs';
UPDATE fsbench.experiment_target SET target = E'"><img src=x onerror="document.title=''taken''">\u202Etxt.\u2028\U0001F600' WHERE target = 'btrfs';
UPDATE fsbench.experiment_target SET target = '<a href="javascript:document.title=1">ext4</a>' || chr(38) || 'lt;b' || chr(38) || 'gt; %{x} ${1+1}' WHERE target = 'ext4';
UPDATE fsbench.experiment SET experiment = E'new <svg onload="document.title=1"> ''server'' \u2066\\' WHERE experiment = 'new server';
UPDATE fsbench.run_log SET label = '<script>document.title="taken"</script>', asked = '{"label": "</pre><script>document.title=1</script>"}';
UPDATE fsbench.environment SET kernel = '<!--<script>', device_model = '"onmouseover="document.title=1', settings = '{"</td><script>1</script>": "]]>"}';
UPDATE fsbench.finding SET message = '<iframe src="javascript:parent.document.title=1">', hint = E'a\u2029b\tc';
UPDATE fsbench.wait_event SET wait_event = '<b onclick=1>' WHERE wait_event = 'WALSync';
UPDATE fsbench.checkpoint SET kind = '</script>';
UPDATE fsbench.study SET definition = replace(replace(definition::text, 'more transactions', '</title><script>document.title=1</script>'), 'one SATA disk', '<img src=x onerror=document.title=1>')::jsonb;
UPDATE fsbench.environment SET kernel = '<a href="https://evil/">6.2</a>' WHERE run_id > 414;
UPDATE fsbench.fsync SET method = '<a href="https://evil/">fdatasync</a>' WHERE method = 'fdatasync';
UPDATE fsbench.run_log SET target = '<a href="https://evil/">xfs</a>' || chr(38) || 'lt;a href="https://evil/"' || chr(38) || 'gt;' WHERE run_id >= 300;
UPDATE fsbench.run_log SET error = '<img src=x onerror=document.title=1>', error_hint = '</script>' WHERE status = 'failed';
INSERT INTO fsbench.finding (run_id, code, severity, message, hint, weight)
SELECT run_id, '<b onclick=1>', 'warning', '<a href="https://evil/">See</a>', '<a href="https://evil/">here</a>', 0 FROM fsbench.run_log WHERE status = 'done';

-- Studies that are refused. Core has the other arguments (study/arguments.rs).
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
SELECT fsbench.study(NULL, image_size => '4GB');
SELECT fsbench.study('heron', image_size => '4GB');
SELECT fsbench.study('heron-2010');
SELECT fsbench.study('heron-2010', image_size => '4');
SELECT fsbench.study('heron-2010', image_size => '4GB', part => 'options, nothing');
SELECT fsbench.study('heron-2010', image_size => '4GB', duration => '1000000 years');
SELECT fsbench.study('heron-2010', device => '/dev/null', quick => true);
SELECT fsbench.study('heron-2010', image_size => '4GB', part => 'barriers');
SELECT fsbench.study_claims('heron-2010');
SELECT fsbench.study_report('heron');
SELECT fsbench.define_study('"heron"');
SELECT fsbench.drop_study('heron-2010');
SELECT fsbench.study('heron-2010', device => '/dev/nothing-is-there', quick => true);
SELECT fsbench.study('smith-2011', image_size => '4GB', part => 'builds', quick => true);
SELECT fsbench.define_study(NULL);
SELECT fsbench.define_study('{"study": "own"}');
SELECT fsbench.study('deckelmann-2009', devices => '{/dev/null}');
SELECT fsbench.study('deckelmann-2009', device => '/dev/null', image_count => 4);
SELECT fsbench.study('deckelmann-2009', image_size => '4GB', image_count => 17);

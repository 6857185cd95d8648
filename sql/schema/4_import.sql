-- Import of the files that fsbench.export() has written in another database.

CREATE FUNCTION fsbench._line_member(line text, name text) RETURNS text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_line_member_wrapper';
COMMENT ON FUNCTION fsbench._line_member IS 'A member of a line of a file, unparsed text; NULL if the line lacks it. Private';

CREATE FUNCTION fsbench._line_count(line text) RETURNS integer LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'fsbench_line_count_wrapper';
COMMENT ON FUNCTION fsbench._line_count IS 'Number of rows in a line of a file; NULL without rows. Private';

CREATE FUNCTION fsbench._line_rows(line text, from_row integer, bytes integer) RETURNS SETOF text
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE ROWS 200 AS 'MODULE_PATHNAME', 'fsbench_line_rows_wrapper';
COMMENT ON FUNCTION fsbench._line_rows IS 'Rows of a line of a file, unparsed text: from this row on (counted from 1), at least one, and together no more than this number of bytes. Private';

CREATE FUNCTION fsbench._import_problem(line integer, what text) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'the file cannot be imported'
        USING ERRCODE = 'bad_copy_file_format', DETAIL = CASE WHEN line IS NULL THEN '' ELSE format('Line %s: ', line) END || what,
              HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it.';
END
$$;
COMMENT ON FUNCTION fsbench._import_problem IS 'Refuses a file. Private';

-- A row when it is stored is not much longer than in the file, and can be read again. That is seen before it is parsed: numbers of jsonb are written
-- without exponents, and what is nested deeply cannot be compared later.
CREATE FUNCTION fsbench._import_line(line text) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    document jsonb;
    numbers text;
BEGIN
    IF octet_length(line) > 100000 THEN
        RAISE EXCEPTION 'a row has % bytes, and at most 100000 are read', octet_length(line) USING ERRCODE = 'data_exception';
    END IF;
    -- Strings hold no quotes: these are written %22, and no line has a backslash by which a string could hold one.
    IF strpos(line, '\') > 0 THEN
        RAISE EXCEPTION 'a row has a backslash' USING ERRCODE = 'data_exception';
    END IF;
    numbers := regexp_replace(line, '"[^"]*"', '', 'g');
    IF numbers ~ '[0-9][eE]' OR translate(numbers, '123456789', '000000000') LIKE '%' || repeat('0', 345) || '%' THEN
        RAISE EXCEPTION 'a number is too large, or has too many digits' USING ERRCODE = 'data_exception';
    END IF;
    BEGIN
        document := regexp_replace(line, '%([0-9A-Fa-f]{2})', '\\u00\1', 'g')::jsonb;
    EXCEPTION WHEN feature_not_supported OR program_limit_exceeded THEN
        RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'data_exception';
    END;
    IF jsonb_path_exists(document, '$.**{50 to last}') THEN
        RAISE EXCEPTION 'values are nested more than 50 deep' USING ERRCODE = 'data_exception';
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION fsbench._import_line IS 'A row of a file, or its first line, as JSON. Private';

-- Texts are shown in lines of their own, beside commands to paste.
CREATE FUNCTION fsbench._import_texts(document jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    -- In other encodings a byte above 127 is a character or a part of one; where the server knows of none, texts are UTF-8.
    controls text := CASE getdatabaseencoding() WHEN 'UTF8' THEN '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]'
        WHEN 'SQL_ASCII' THEN '[\u0001-\u001f\u007f]|\u00c2[\u0080-\u009f]|\u00d8\u009c|\u00e2\u0080[\u008e\u008f\u00a8-\u00ae]|\u00e2\u0081[\u00a6-\u00a9]'
        ELSE '[\u0001-\u001f\u007f]' END;
    words text := document::text;
BEGIN
    IF words ~ controls OR words ~ '\\[bfnrtu]' THEN
        -- A backslash that stands for itself does not begin what follows.
        words := replace(regexp_replace(words, controls, ' ', 'g'), '\\', chr(1));
        words := regexp_replace(words, '\\([bfnrt]|u00[01][0-9a-f])', ' ', 'g');
        RETURN replace(words, chr(1), '\\')::jsonb;
    END IF;
    RETURN document;
END
$$;
COMMENT ON FUNCTION fsbench._import_texts IS 'JSON with a space for each control character. Private';

-- judge(), diff() and fingerprints read these parameters, and cast what is checked here.
CREATE FUNCTION fsbench._is_odd_used(used jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT jsonb_typeof(used) NOT IN ('object', 'null')
        OR jsonb_typeof(used -> 'bound') NOT IN ('object', 'null')
        OR EXISTS (SELECT FROM (VALUES ('{scale}', 2147483647), ('{clients}', 2147483647), ('{warmup_ms}', 2678400000), ('{within_ms}', 2678400000), ('{rate}', 1e15),
                                       ('{latency_limit_ms}', 1e15), ('{bound,duration_ms}', 2678400000), ('{bound,transactions}', 1e15)) n (path, most)
                   WHERE CASE jsonb_typeof(used #> n.path::text[]) WHEN 'number' THEN NOT (used #>> n.path::text[])::numeric BETWEEN 0 AND n.most WHEN 'null' THEN false ELSE used #> n.path::text[] IS NOT NULL END)
        OR EXISTS (SELECT FROM (VALUES ('object', '{settings}'), ('object', '{options}'), ('array', '{chosen}'), ('array', '{chosen_there}'),
                                       ('boolean', '{keep}'), ('boolean', '{force}'), ('boolean', '{options,unlogged}'), ('boolean', '{options,crash}'),
                                       ('string', '{options,cache}'), ('string', '{options,data}'), ('number', '{options,sustain}'), ('number', '{seed}')) k (type, path)
                   WHERE jsonb_typeof(used #> k.path::text[]) NOT IN (k.type, 'null'))
        OR EXISTS (SELECT FROM jsonb_each(CASE jsonb_typeof(used -> 'settings') WHEN 'object' THEN used -> 'settings' ELSE '{}' END) s WHERE jsonb_typeof(s.value) NOT IN ('string', 'null'))
    $$;
COMMENT ON FUNCTION fsbench._is_odd_used IS 'Whether the parameters of a run have a value of a wrong kind or out of range, in what is read of them later. Private';

-- How a value of a column has to be written in JSON, so that a cast can go wrong in a clear way only; and what values no run has.
CREATE FUNCTION fsbench._import_column(relation name, attname name, type oid, given text, words text, OUT value text, OUT wrong text)
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    own jsonb := (SELECT t.limits -> $2 FROM fsbench._result_tables() t WHERE t.relation = $1);
    most integer;
BEGIN
    CASE
        WHEN type = 'jsonb'::regtype THEN
            value := format('nullif(%s, ''null'')', given);
            wrong := CASE WHEN attname IN ('phases', 'steps', 'layers', 'wal_layers', 'durability_codes', 'open_because', 'looks', 'run_order')
                THEN format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > %s)', given, given, given,
                    -- Each call for verdicts goes through all looks.
                    CASE WHEN attname IN ('looks', 'run_order', 'durability_codes', 'open_because') THEN 50 ELSE 10000 END)
                WHEN own = 'true' THEN format('jsonb_typeof(%s) NOT IN (''array'', ''object'', ''null'')', given)
                WHEN (relation, attname) = ('run_log', 'used') THEN format('fsbench._is_odd_used(%s)', given)
                ELSE format('jsonb_typeof(%s) NOT IN (''object'', ''null'')', given) END;
        WHEN type IN ('smallint[]'::regtype, 'bigint[]'::regtype, 'text[]'::regtype) THEN
            value := format('CASE WHEN jsonb_typeof(%s) = ''array'' THEN ARRAY(SELECT e.x FROM jsonb_array_elements_text(%s) WITH ORDINALITY e (x, o) ORDER BY e.o)::%s END',
                given, given, type::regtype);
            wrong := format('jsonb_typeof(%s) NOT IN (''array'', ''null'') OR (jsonb_typeof(%s) = ''array'' AND jsonb_array_length(%s) > 10000)', given, given, given);
        WHEN type IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype, 'real'::regtype, 'float8'::regtype, 'numeric'::regtype) THEN
            value := format('%s::%s', words, type::regtype);
            -- Sums and ratios of what is here can be taken, and charts have a row for each second: of 31 days at most, as a run takes 30.
            wrong := format('CASE jsonb_typeof(%s) WHEN ''number'' THEN NOT %s::numeric BETWEEN %s%s WHEN ''null'' THEN false ELSE true END', given, words, CASE
                WHEN attname IN ('start_second', 'end_second') THEN '-2678400 AND 2678400'
                WHEN attname = 'second' THEN '0 AND 2678400'
                WHEN jsonb_typeof(own) = 'string' THEN own #>> '{}'
                WHEN (relation, attname) IN (('run_log', 'scale'), ('run_log', 'clients')) THEN '0 AND 2147483647'
                WHEN type IN ('smallint'::regtype, 'integer'::regtype) THEN '-2147483648 AND 2147483647'
                -- Hashes, seeds, and sizes of filesystems that have no end.
                WHEN type = 'bigint'::regtype AND (relation = 'environment' OR attname IN ('queryid', 'seed', 'run_id', 'experiment_id'))
                    THEN '-9223372036854775808 AND 9223372036854775807'
                WHEN type = 'bigint'::regtype THEN '-1e15 AND 1e15'
                WHEN type = 'real'::regtype THEN '-1e18 AND 1e18'
                ELSE '-1e24 AND 1e24' END,
                -- Products and quotients of smaller ones are no float8.
                CASE WHEN type IN ('real'::regtype, 'float8'::regtype, 'numeric'::regtype)
                    THEN format(' OR (%s::numeric <> 0 AND abs(%s::numeric) < %s)', words, words, CASE type WHEN 'real'::regtype THEN '1e-30' ELSE '1e-100' END) ELSE '' END);
        WHEN type = 'interval'::regtype THEN
            value := format('%s::interval', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR NOT %s::interval BETWEEN ''0'' AND ''31 days''', given, words);
        WHEN (relation, attname) IN (('finding', 'hint'), ('run_log', 'error_hint')) THEN
            -- It would be shown as a hint of pgfsbench.
            value := 'NULL::text';
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'')', given);
        WHEN jsonb_typeof(own) = 'array' THEN
            value := words;
            wrong := format('NOT coalesce(%s = ANY (%L::text[]), %L)', words, ARRAY(SELECT jsonb_array_elements_text(own)),
                (SELECT NOT a.attnotnull FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || $1)::regclass AND a.attname = $2));
        WHEN type = 'boolean'::regtype THEN
            value := format('%s::boolean', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''boolean'', ''null'')', given);
        WHEN type = 'timestamptz'::regtype THEN
            value := format('%s::timestamptz', words);
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR %s !~ ''^\d{4}-\d\d-\d\dT[0-9:.+-]+$'' '
                'OR NOT %s::timestamptz BETWEEN ''2000-01-01 UTC'' AND clock_timestamp() + interval ''1 day''', given, words, words);
        ELSE
            value := format('%s::%s', words, type::regtype);
            -- Short ones are names.
            most := CASE WHEN attname IN ('target', 'workload', 'target_name', 'label', 'experiment', 'metric') THEN 200 WHEN jsonb_typeof(own) = 'number' THEN own::integer ELSE 100000 END;
            wrong := format('jsonb_typeof(%s) NOT IN (''string'', ''null'') OR length(%s) > %s OR (%L AND fsbench._import_texts(%s) <> %s)', given, words, most, most < 100000, given, given);
    END CASE;
END
$$;
COMMENT ON FUNCTION fsbench._import_column IS 'Expressions that read a column and that detect values to refuse. given is the value as JSON, words as text. Private';

-- Another server that carries a run out may send anything: its figures have the bounds of those in files.
CREATE FUNCTION fsbench._odd_column(relation name, rows jsonb, left_out name[]) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on AS $$
DECLARE
    wrong text;
    odd text;
BEGIN
    -- Numbers of jsonb are written without exponents, and what is nested deeply cannot be compared later.
    IF jsonb_path_exists(rows, '$.**{52 to last}') THEN RETURN '(nested)'; END IF;
    IF translate(regexp_replace(rows::text, '"([^"\\]|\\.)*"', '', 'g'), '123456789', '000000000') LIKE '%' || repeat('0', 345) || '%' THEN
        RETURN '(number)';
    END IF;
    SELECT string_agg(format('WHEN %s THEN %L', i.wrong, a.attname), ' ' ORDER BY a.attnum) INTO wrong
    FROM pg_attribute a, fsbench._import_column($1, a.attname, a.atttypid, format('coalesce(r -> %L, ''null'')', a.attname), format('(r ->> %L)', a.attname)) i
    WHERE a.attrelid = (SELECT c.oid FROM pg_class c WHERE c.relnamespace = 'fsbench'::regnamespace AND c.relname = $1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL ($3);
    EXECUTE format('SELECT max(CASE WHEN jsonb_typeof(r) <> ''object'' THEN ''(no row)'' %s END) FROM jsonb_array_elements($1) r', wrong) INTO odd USING rows;
    RETURN odd;
END
$$;
COMMENT ON FUNCTION fsbench._odd_column IS 'A column with a value that no run has; NULL without one. Private: the library checks what another server sends';

-- A prepared transaction may hold the lock for ever.
CREATE FUNCTION fsbench._lock_imports() RETURNS void LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    before text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', CASE WHEN (SELECT s.setting::int BETWEEN 1 AND 60000 FROM pg_settings s WHERE s.name = 'lock_timeout') THEN before ELSE '60s' END, true);
    LOCK TABLE fsbench.imported_file IN SHARE ROW EXCLUSIVE MODE;
    PERFORM set_config('lock_timeout', before, true);
EXCEPTION WHEN lock_not_available THEN
    RAISE EXCEPTION 'another transaction imports a file'
        USING ERRCODE = 'lock_not_available', DETAIL = 'It holds a lock on table fsbench.imported_file, for longer than lock_timeout or a minute.',
              HINT = 'End it, and import again. If no session in pg_locks holds the lock, see pg_prepared_xacts.';
END
$$;
COMMENT ON FUNCTION fsbench._lock_imports IS 'Waits until no other transaction imports a file, a minute at most. Private';

-- Only the role that has imported runs of a host may add to them.
CREATE FUNCTION fsbench._check_importer(host text, caller name) RETURNS void LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM fsbench.imported_file f WHERE f.host = $1
               AND NOT EXISTS (SELECT FROM pg_roles o WHERE o.rolname IN (f.imported_by, current_user) AND pg_has_role(caller, o.oid, 'USAGE'))) THEN
        RAISE EXCEPTION 'permission denied for what was imported of host "%"', $1
            USING ERRCODE = 'insufficient_privilege', DETAIL = 'Another role has imported it.',
                  HINT = 'Only members of that role, and the owner of the extension, may add to it or drop it. Another name for the host is free: fsbench.import(..., host => ...).';
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._check_importer IS 'Refuses a role that has not imported what is there of a host. Private: called with the rights of the owner';

-- A run is not changed by a second file. Where its row is the same and a row below it is not, one of the two files was changed.
CREATE FUNCTION fsbench._import_differs(runs bigint[], host text, line integer, what text) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION '% of host "%" is here with other figures',
        (SELECT CASE cardinality(runs) WHEN 1 THEN 'run ' ELSE 'one of the runs ' END || string_agg(i.run_id_there::text, ', ') || CASE WHEN cardinality(runs) > 10 THEN ', ...' ELSE '' END
         FROM (SELECT i.run_id_there FROM fsbench.imported_run i WHERE i.run_id = ANY (runs) ORDER BY 1 LIMIT 10) i), host
        USING ERRCODE = 'duplicate_object', DETAIL = format('Line %s: %s; one of the two files was changed after it was written.', line, what),
              HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it; fsbench.drop_imported() forgets what is here of the host.';
END
$$;
COMMENT ON FUNCTION fsbench._import_differs IS 'Refuses a file that tells something else of a run than one before it. Private';

CREATE FUNCTION fsbench._import_whole(relation name, runs bigint[], rows bigint, host text, line integer) RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    there bigint;
BEGIN
    runs := ARRAY(SELECT x FROM unnest(runs) x WHERE x IS NOT NULL GROUP BY x);
    IF cardinality(runs) > 0 AND relation IN (SELECT x.relation FROM fsbench._exported() x) THEN
        EXECUTE format('SELECT count(*) FROM fsbench.%I t WHERE t.run_id = ANY ($1)', relation) INTO there USING runs;
        IF there <> rows THEN
            PERFORM fsbench._import_differs(runs, host, line, format('table %s has %s rows of %s in the file, and %s here', relation, rows,
                CASE cardinality(runs) WHEN 1 THEN 'it' ELSE 'them' END, there));
        END IF;
    END IF;
END
$$;
COMMENT ON FUNCTION fsbench._import_whole IS 'Refuses a file that lacks rows of runs that are here, or has more of them. Private';

-- Texts are found by their hash, so that nothing of them is changed: pages show characters that are not seen by their numbers.
CREATE FUNCTION fsbench._import_document(relation name, hash text, words text, hashes text[], line integer) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF hash IS NULL THEN
        RETURN;
    ELSIF hash <> encode(sha256(convert_to(words, 'UTF8')), 'hex') THEN
        PERFORM fsbench._import_problem(line, format('The texts of %ss have another hash than the file says.', relation));
    ELSIF hash <> ALL (hashes) THEN
        PERFORM fsbench._import_problem(line, format('It has texts of %ss to which none of its runs refers.', relation));
    END IF;
    -- The table knows its documents.
    BEGIN
        EXECUTE format('INSERT INTO fsbench.%I (sha256, document) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING', relation) USING hash, words;
    EXCEPTION WHEN check_violation OR data_exception OR program_limit_exceeded OR statement_too_complex THEN
        PERFORM fsbench._import_problem(line, format('The texts of %1$ss are no document of %1$ss.', relation));
    END;
END
$$;
COMMENT ON FUNCTION fsbench._import_document IS 'Stores texts of a file, if there are any; hashes are those that its runs refer to. Private';

CREATE FUNCTION fsbench._import_documents(relation name, rows jsonb[], attributes jsonb, hashes text[], line integer, INOUT hash text, INOUT words text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    next_hash text;
    next_words text;
BEGIN
    FOR next_hash, next_words IN SELECT max(v.value) FILTER (WHERE a.name = 'sha256'), max(v.value) FILTER (WHERE a.name = 'document')
        FROM unnest(rows) WITH ORDINALITY r (part, o), jsonb_array_elements_text(r.part) WITH ORDINALITY v (value, o)
        JOIN jsonb_array_elements_text(attributes) WITH ORDINALITY a (name, o) ON a.o = v.o GROUP BY r.o ORDER BY r.o
    LOOP
        IF next_hash IS NULL OR next_words IS NULL THEN
            PERFORM fsbench._import_problem(line, format('The texts of %ss have another hash than the file says.', relation));
        ELSIF next_hash IS DISTINCT FROM hash THEN
            PERFORM fsbench._import_document(relation, hash, words, hashes, line);
            hash := next_hash; words := '';
        END IF;
        words := words || next_words;
        -- No run takes longer ones.
        IF length(words) > 1000000 THEN
            PERFORM fsbench._import_problem(line, format('The texts of %ss are too long.', relation));
        END IF;
    END LOOP;
END
$$;
COMMENT ON FUNCTION fsbench._import_documents IS 'Puts the parts of texts together, and stores all texts but the last one: hash and words are those that the next row may continue. Private';

-- Called with the rights of the extension's owner: no other role changes results. Whatever the file says, its rows say that they were imported, are over, belong to
-- targets, labels and experiments whose names have an @, and name nothing that could be found again, started or removed.
CREATE FUNCTION fsbench._import(file text, host text, caller name) RETURNS TABLE (suffix text, experiments bigint, runs bigint, already_here bigint)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 1
    SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET timezone = 'GMT' SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1
    AS $$
#variable_conflict use_column
DECLARE
    lines text[];
    longest integer;
    n integer;
    hash bytea := '';
    of_table text;
    attributes jsonb;           -- names of columns
    row_count integer;          -- of a line
    first_row integer;          -- of those that are parsed at a time
    header jsonb;
    stated text;
    called text;
    id bigint;
    digest text;
    old bigint;
    known jsonb := '{}';        -- run there: run here
    fresh jsonb := '{}';        -- the same, of those that were not here
    known_experiments jsonb := '{}';
    fresh_experiments jsonb := '{}';
    -- Those above are copied whenever they grow: they take these up by the thousand.
    recent jsonb := '{}';
    recent_fresh jsonb := '{}';
    recent_count integer := 0;
    places text[];              -- of the rows in hand: numbers there
    ids bigint[];               -- and here
    are_fresh boolean[];
    in_hand jsonb;
    fresh_in_hand jsonb;
    run_count integer := 0;
    experiment_count integer := 0;
    part record;
    columns text;
    expressions text;
    wrong text;
    bad text;
    names text[];
    hashes text[];              -- of texts that the runs refer to
    text_hash text;             -- of the texts that are not stored yet
    words text;
    brought jsonb;              -- of a line, those that were not here: their hashes
    item jsonb;
    rows jsonb[];
    object jsonb;
    this_import bigint;
    name text;
    met integer := 1;
    place integer := 0;
    keys text;
    same text;
    of_relation name;           -- of the runs that were here: what was compared of this table
    compared bigint[] := '{}';
    compared_rows bigint := 0;
    old_runs bigint[];
    old_rows bigint;
BEGIN
    IF file IS NULL THEN
        RAISE EXCEPTION 'file must not be null' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It is the text that fsbench.export() has written.',
                  HINT = 'In psql: \set file `cat x.jsonl` and SELECT * FROM fsbench.import(:''file'');';
    END IF;
    IF octet_length(file) > 256 * 1024 * 1024 THEN
        RAISE EXCEPTION 'the file is too long'
            USING ERRCODE = 'program_limit_exceeded', DETAIL = format('It has %s MB, and at most 256 MB are read: it is held in memory several times.', octet_length(file) / 1024 / 1024),
                  HINT = 'Export its runs in several files: fsbench.export(run_ids => ...).';
    END IF;
    SELECT max(octet_length(l)) INTO longest FROM string_to_table(file, E'\n') l;
    IF longest > 2000000 THEN
        PERFORM fsbench._import_problem(NULL, format('A line has %s bytes, and fsbench.export() writes none of more than 2000000.', longest));
    END IF;
    -- No line of a file is shorter, and an array of millions of them takes a gigabyte.
    IF length(file) - length(replace(file, E'\n', '')) > 10 + length(file) / 25 THEN
        PERFORM fsbench._import_problem(NULL, 'It is not one of fsbench.export(): its lines are too short.');
    END IF;
    -- Not by rtrim(), which takes twelve times the bytes of its text.
    lines := ARRAY(SELECT CASE WHEN s.line LIKE E'%\r' THEN left(s.line, -1) ELSE s.line END FROM string_to_table(file, E'\n') WITH ORDINALITY s (line, o) WHERE s.line <> ''
                   ORDER BY substring(left(s.line, 30) FROM '^\{"n": (\d{1,9})[,}]')::integer, s.o);
    IF coalesce(lines[1] NOT LIKE '{"n": 1, "pgfsbench_export": %', true) THEN
        PERFORM fsbench._import_problem(NULL, 'It is not one of fsbench.export(): its first line does not say so.');
    END IF;
    BEGIN
        header := fsbench._import_texts(fsbench._import_line(lines[1]) -> 'pgfsbench_export');
    EXCEPTION WHEN data_exception THEN
        PERFORM fsbench._import_problem(1, format('%s.', SQLERRM));
    END;
    IF jsonb_typeof(header -> 'format') IS DISTINCT FROM 'number' THEN
        PERFORM fsbench._import_problem(1, 'It does not say of what format the file is.');
    ELSIF (header ->> 'format')::numeric > 1 THEN
        RAISE EXCEPTION 'the file is of format %, which is newer than this pgfsbench', left(header ->> 'format', 20) USING ERRCODE = 'feature_not_supported',
                  DETAIL = format('It was written by pgfsbench %s; pgfsbench %s reads formats up to 1.', coalesce(left(header ->> 'pgfsbench', 50), 'of a version that it does not tell'), fsbench.version()),
                  HINT = 'Update pgfsbench here.';
    ELSIF header -> 'format' <> '1' OR jsonb_typeof(header -> 'host_fingerprints') IS DISTINCT FROM 'array'
          OR jsonb_array_length(header -> 'host_fingerprints') > 10000
          OR NOT coalesce(header ->> 'exported_at' ~ '^\d{4}-\d\d-\d\dT[0-9:.+-]+$', false) THEN
        PERFORM fsbench._import_problem(1, 'It does not say when, on what host and in what format the file was written.');
    END IF;
    FOR n IN 1 .. cardinality(lines) - 1 LOOP
        IF lines[n] NOT LIKE format('{"n": %s, ', n) || '%' THEN
            PERFORM fsbench._import_problem(n, 'It is not where it should be: lines are missing, or there is one too many.');
        END IF;
        hash := fsbench._line_hash(hash, lines[n]);
        CASE btrim(fsbench._line_member(lines[n], 'table'), '"')
            WHEN 'run_log' THEN run_count := run_count + coalesce(fsbench._line_count(lines[n]), 0);
            WHEN 'experiment' THEN experiment_count := experiment_count + coalesce(fsbench._line_count(lines[n]), 0);
            ELSE
        END CASE;
    END LOOP;
    IF run_count > 100000 OR experiment_count > 1000 THEN
        RAISE EXCEPTION 'the file has % runs and % experiments, which are too many', run_count, experiment_count
            USING ERRCODE = 'program_limit_exceeded', DETAIL = 'At most 100000 runs and 1000 experiments are read of one file.',
                  HINT = 'Export its runs in several files: fsbench.export(run_ids => ...).';
    END IF;
    n := cardinality(lines);
    stated := substring(lines[n] FROM '"sha256": "([0-9a-f]{64})"\}\}$');
    IF stated IS NULL OR lines[n] NOT LIKE format('{"n": %s, "end": {"lines": %s, ', n, n - 1) || '%' THEN
        PERFORM fsbench._import_problem(n, 'The file is not complete: its last line is missing.');
    ELSIF stated <> encode(hash, 'hex') THEN
        PERFORM fsbench._import_problem(NULL, format('The checksum is wrong: it says %s, and its lines have %s.', left(stated, 16), left(encode(hash, 'hex'), 16)));
    END IF;
    suffix := coalesce($2, header ->> 'hostname');
    IF suffix !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$' IS NOT FALSE THEN
        RAISE EXCEPTION 'there is no name for the host of the file' USING ERRCODE = 'invalid_parameter_value',
                  DETAIL = 'It has to begin with a letter or a digit, and to consist of letters, digits and _ . - (ASCII), 63 at most.',
                  HINT = 'Say how it is to be called here: fsbench.import(..., host => ''db1'').';
    END IF;
    -- One import at a time: each knows what the others have brought.
    PERFORM fsbench._lock_imports();
    called := suffix;
    PERFORM fsbench._check_importer(called, caller);
    experiments := 0; runs := 0; already_here := 0;
    suffix := '@' || suffix;
    BEGIN
        INSERT INTO fsbench.imported_file (host, hostname, host_fingerprints, format, pgfsbench_version, exported_at, sha256, imported_by)
        SELECT called, left(header ->> 'hostname', 200), (SELECT array_agg(left(f, 100)) FROM jsonb_array_elements_text(header -> 'host_fingerprints') f),
               (header ->> 'format')::integer, left(header ->> 'pgfsbench', 50), (header ->> 'exported_at')::timestamptz, stated, caller
        RETURNING import_id INTO this_import;
        FOR n IN 2 .. cardinality(lines) - 1 LOOP
            met := n;
            of_table := btrim(fsbench._line_member(lines[n], 'table'), '"');
            SELECT * INTO part FROM fsbench._exported() x WHERE x.relation = of_table;
            IF part.relation IS NULL OR part.place < place THEN
                PERFORM fsbench._import_problem(n, format('There is no table "%s", or not here.', left(of_table, 63)));
            END IF;
            place := part.place;
            IF of_relation IS DISTINCT FROM part.relation THEN
                PERFORM fsbench._import_document(of_relation, text_hash, words, hashes, n - 1);
                text_hash := NULL; hashes := NULL;
                PERFORM fsbench._import_whole(of_relation, compared, compared_rows, called, n - 1);
                IF of_relation = 'run_log' THEN
                    known := known || recent; fresh := fresh || recent_fresh;
                ELSIF of_relation = 'experiment' THEN
                    known_experiments := known_experiments || recent; fresh_experiments := fresh_experiments || recent_fresh;
                END IF;
                of_relation := part.relation; compared := '{}'; compared_rows := 0;
                recent := '{}'; recent_fresh := '{}'; recent_count := 0;
            END IF;
            attributes := fsbench._import_line(fsbench._line_member(lines[n], 'columns'));
            -- Counted before any row is parsed.
            row_count := fsbench._line_count(lines[n]);
            IF jsonb_typeof(attributes) IS DISTINCT FROM 'array' OR row_count BETWEEN 1 AND 200 IS NOT TRUE THEN
                PERFORM fsbench._import_problem(n, 'It has no columns, no rows, or not as many values as columns.');
            ELSIF jsonb_array_length(attributes) > 500 THEN
                PERFORM fsbench._import_problem(n, 'It has too many columns.');
            END IF;
            -- As jsonb some rows at a time: the whole line would take thirty times its bytes.
            first_row := 1;
            WHILE first_row <= row_count LOOP
            rows := ARRAY(SELECT fsbench._import_line(l) FROM fsbench._line_rows(lines[n], first_row, 100000) l);
            first_row := first_row + cardinality(rows);
            IF EXISTS (SELECT FROM unnest(rows) r WHERE jsonb_typeof(r) <> 'array')
               OR EXISTS (SELECT FROM unnest(rows) r WHERE jsonb_array_length(r) <> jsonb_array_length(attributes)) THEN
                PERFORM fsbench._import_problem(n, 'It has no columns, no rows, or not as many values as columns.');
            END IF;
            SELECT string_agg(DISTINCT coalesce(left(c.name, 63), 'null'), ', ') INTO bad
            FROM (SELECT c.name, count(*) FROM jsonb_array_elements_text(attributes) c (name) GROUP BY 1) c
            WHERE c.count > 1 OR c.name = ANY (part.left_out)
               OR NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = c.name);
            IF bad IS NOT NULL THEN
                RAISE EXCEPTION 'the file has columns that are not known here' USING ERRCODE = 'feature_not_supported',
                          DETAIL = format('Line %s: %s of table %s. It was written by pgfsbench %s, and this is %s.', n, left(bad, 200), part.relation, left(header ->> 'pgfsbench', 50), fsbench.version()),
                          HINT = 'Nothing was changed. If that is a newer version, update pgfsbench here.';
            END IF;
            IF NOT attributes ? part.parent THEN
                PERFORM fsbench._import_problem(n, format('It has no %s.', part.parent));
            END IF;
            SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY c.o), string_agg(CASE
                       WHEN a.attname = 'run_id' AND part.relation = 'experiment_run' THEN format('($2 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN a.attname = 'run_id' THEN format('($3 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN a.attname = 'experiment_id' THEN format('($3 ->> (r ->> %s))::bigint', c.o - 1)
                       WHEN (part.relation, a.attname) IN (('run_log', 'target'), ('run_log', 'label'), ('experiment', 'experiment'), ('experiment_target', 'target_name')) THEN format('(r ->> %s) || %L', c.o - 1, suffix)
                       ELSE i.value END, ', ' ORDER BY c.o),
                   string_agg(format('WHEN %s THEN %L', i.wrong, a.attname), ' ' ORDER BY c.o),
                   -- Rows of an older import may lack a column that was not there yet, and may have control characters.
                   string_agg(format('t.%I = f.%I', a.attname, a.attname), ' AND ') FILTER (WHERE a.attname = ANY (string_to_array(part.key, ', '))),
                   coalesce(string_agg(CASE WHEN a.atttypid IN ('text'::regtype, 'jsonb'::regtype)
                       THEN format('(t.%I IS NULL OR fsbench._import_texts(to_jsonb(t.%I)) = to_jsonb(f.%I))', a.attname, a.attname, a.attname)
                       ELSE format('(t.%I IS NULL OR t.%I = f.%I)', a.attname, a.attname, a.attname) END, ' AND ') FILTER (WHERE a.attname <> ALL (string_to_array(part.key, ', '))), 'true')
            INTO columns, expressions, wrong, keys, same
            FROM jsonb_array_elements_text(attributes) WITH ORDINALITY c (name, o)
            JOIN pg_attribute a ON a.attrelid = ('fsbench.' || part.relation)::regclass AND a.attname = c.name AND a.attnum > 0
            CROSS JOIN LATERAL fsbench._import_column(part.relation, a.attname, a.atttypid, format('(r -> %s)', c.o - 1), format('(r ->> %s)', c.o - 1)) i;
            EXECUTE format('SELECT max(CASE %s END) FROM unnest($1) r', wrong) INTO bad USING rows;
            IF bad IS NOT NULL THEN
                PERFORM fsbench._import_problem(n, format('A value of column %s of table %s is of a wrong kind, too long, or cannot be.', bad, part.relation));
            END IF;
            IF part.option IS NOT NULL THEN
                IF hashes IS NULL THEN
                    hashes := ARRAY(SELECT DISTINCT x.hash FROM jsonb_each_text(known || recent) k JOIN fsbench.run_log r ON r.run_id = k.value::bigint,
                                    LATERAL (SELECT r.used #>> ARRAY['options', part.option, 'sha256']) x (hash) WHERE x.hash IS NOT NULL);
                END IF;
                SELECT d.hash, d.words INTO text_hash, words FROM fsbench._import_documents(part.relation, rows, attributes, hashes, n, text_hash, words) d;
                CONTINUE;
            END IF;
            IF part.relation IN ('run_log', 'experiment') THEN
                names := ARRAY(SELECT c.name FROM jsonb_array_elements_text(attributes) WITH ORDINALITY c (name, o) ORDER BY c.o);
                brought := '{}'; places := '{}'; ids := '{}'; are_fresh := '{}';
                FOR item IN SELECT r FROM unnest(rows) r LOOP
                    SELECT jsonb_object_agg(names[v.o], v.value) FILTER (WHERE v.value <> 'null') INTO object FROM jsonb_array_elements(item) WITH ORDINALITY v (value, o);
                    name := object ->> part.parent;
                    IF name IS NULL OR (CASE part.relation WHEN 'run_log' THEN known ELSE known_experiments END) ? name OR recent ? name OR name = ANY (places) THEN
                        PERFORM fsbench._import_problem(n, format('There are two rows of one %s.', part.parent));
                    ELSIF coalesce(object ->> 'status' NOT IN ('done', 'cancelled'), true) AND (part.relation = 'experiment' OR object ->> 'status' IS DISTINCT FROM 'failed') THEN
                        PERFORM fsbench._import_problem(n, 'It tells of something that is not over.');
                    END IF;
                    digest := encode(sha256(convert_to(object::text, 'UTF8')), 'hex');
                    old := NULL;
                    IF part.relation = 'run_log' THEN
                        SELECT i.run_id INTO old FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) WHERE i.sha256 = digest AND f.host = called;
                        -- Numbers of runs begin anew in a new database; the moment does not.
                        IF old IS NULL AND EXISTS (SELECT FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) JOIN fsbench.run_log r USING (run_id)
                                                   WHERE i.run_id_there = name::bigint AND f.host = called AND r.requested_at = (object ->> 'requested_at')::timestamptz) THEN
                            RAISE EXCEPTION 'run % of host "%" is here with other figures', name, called
                                USING ERRCODE = 'duplicate_object', DETAIL = format('Line %s: one of the two files was changed after it was written.', n),
                                      HINT = 'Nothing was changed. Take the file once more from where fsbench.export() has written it; fsbench.drop_imported() forgets what is here of the host.';
                        END IF;
                        id := coalesce(old, nextval('fsbench.run_id_seq'));
                    ELSE
                        SELECT i.experiment_id INTO old FROM fsbench.imported_experiment i JOIN fsbench.imported_file f USING (import_id) WHERE i.sha256 = digest AND f.host = called;
                        id := coalesce(old, nextval('fsbench.experiment_id_seq'));
                        IF old IS NULL AND EXISTS (SELECT FROM fsbench.experiment e WHERE e.experiment = (object ->> 'experiment') || suffix) THEN
                            RAISE EXCEPTION 'experiment "%" already exists', (object ->> 'experiment') || suffix
                                USING ERRCODE = 'duplicate_object', DETAIL = 'Nothing was changed: it is another one, or what it was when it was not over yet.',
                                      HINT = 'Drop it with fsbench.drop_experiment(), or call the host something else: fsbench.import(..., host => ...).';
                        END IF;
                    END IF;
                    places := places || name; ids := ids || id; are_fresh := are_fresh || (old IS NULL);
                    IF old IS NULL THEN
                        brought := brought || jsonb_build_object(name, digest);
                    END IF;
                END LOOP;
                SELECT jsonb_object_agg(r.place, r.id), coalesce(jsonb_object_agg(r.place, r.id) FILTER (WHERE r.is_fresh), '{}'),
                       already_here + count(*) FILTER (WHERE NOT r.is_fresh),
                       runs + count(*) FILTER (WHERE r.is_fresh AND part.relation = 'run_log'), experiments + count(*) FILTER (WHERE r.is_fresh AND part.relation = 'experiment')
                INTO in_hand, fresh_in_hand, already_here, runs, experiments
                FROM unnest(places, ids, are_fresh) r (place, id, is_fresh);
                -- At once: a statement for each row takes five times as long.
                EXECUTE format('INSERT INTO fsbench.%I (%s, requested_by%s) SELECT %s, $4%s FROM (SELECT fsbench._import_texts(u) AS r FROM unnest($1) u OFFSET 0) t_r WHERE $5 ? (r ->> %s)', part.relation, columns,
                        CASE part.relation WHEN 'experiment' THEN ', mark' ELSE '' END, expressions, CASE part.relation WHEN 'experiment' THEN ', ''''' ELSE '' END,
                        array_position(names, part.parent) - 1)
                    USING rows, known, fresh_in_hand, caller, brought;
                IF part.relation = 'run_log' THEN
                    INSERT INTO fsbench.imported_run SELECT (fresh_in_hand ->> b.key)::bigint, this_import, b.key::bigint, b.value FROM jsonb_each_text(brought) b;
                ELSE
                    INSERT INTO fsbench.imported_experiment SELECT (fresh_in_hand ->> b.key)::bigint, this_import, b.value FROM jsonb_each_text(brought) b;
                END IF;
                recent := recent || in_hand; recent_fresh := recent_fresh || fresh_in_hand;
                recent_count := recent_count + cardinality(places);
                IF recent_count > 2000 AND part.relation = 'run_log' THEN
                    known := known || recent; fresh := fresh || recent_fresh;
                    recent := '{}'; recent_fresh := '{}'; recent_count := 0;
                END IF;
            ELSE
                SELECT a.o - 1 INTO id FROM jsonb_array_elements_text(attributes) WITH ORDINALITY a (name, o) WHERE a.name = part.parent;
                IF EXISTS (SELECT FROM unnest(rows) r
                           WHERE NOT coalesce(CASE part.parent WHEN 'run_id' THEN known ELSE known_experiments END ? (r ->> id::integer), false)) THEN
                    PERFORM fsbench._import_problem(n, format('It tells of a %s of which the file has no row.', part.parent));
                END IF;
                -- Findings are made anew; seconds and waits may have been dropped since, here or there.
                IF part.parent = 'run_id' AND part.relation <> 'finding' AND already_here > 0 THEN
                    -- Row by row, by the primary key: tables are long, and a line is not.
                    EXECUTE format('SELECT min(f.run_id) FILTER (WHERE f.same IS NOT TRUE), array_agg(DISTINCT f.run_id), count(*) '
                        'FROM (SELECT f.run_id, (SELECT bool_and(%s) FROM fsbench.%I t WHERE %s) AS same '
                              'FROM (SELECT %s FROM (SELECT fsbench._import_texts(u) AS r FROM unnest($1) u OFFSET 0) t_r WHERE NOT $4 ? (r ->> %s)) f (%s) '
                              'WHERE (SELECT min(x.run_id) FROM (SELECT t.run_id FROM fsbench.%I t WHERE t.run_id = f.run_id LIMIT 1) x) IS NOT NULL) f',
                            same, part.relation, keys, expressions, id, columns, part.relation)
                        INTO old, old_runs, old_rows USING rows, known, known, fresh;
                    IF old IS NOT NULL THEN
                        PERFORM fsbench._import_differs(ARRAY[old], called, n, format('a row of table %s is another one', part.relation));
                    END IF;
                    compared := compared || old_runs;
                    compared_rows := compared_rows + old_rows;
                END IF;
                EXECUTE format('INSERT INTO fsbench.%I (%s) SELECT %s FROM (SELECT fsbench._import_texts(u) AS r FROM unnest($1) u OFFSET 0) t_r WHERE $3 ? (r ->> %s)', part.relation, columns, expressions, id)
                    USING rows, known, CASE part.parent WHEN 'run_id' THEN fresh ELSE fresh_experiments END;
            END IF;
            END LOOP;
        END LOOP;
        PERFORM fsbench._import_document(of_relation, text_hash, words, hashes, n);
        PERFORM fsbench._import_whole(of_relation, compared, compared_rows, called, n);
        -- Values that the types allow, and no run has.
        met := NULL;
        FOR name IN SELECT t.relation FROM fsbench._result_tables() t JOIN pg_attribute a ON a.attrelid = ('fsbench.' || t.relation)::regclass AND a.attname = 'buckets' LOOP
            EXECUTE format('SELECT ''a histogram'' FROM fsbench.%I h JOIN fsbench.imported_run i USING (run_id) WHERE i.import_id = $1 '
                'AND (cardinality(h.buckets) <> cardinality(h.counts) OR 0 > ANY (h.counts) OR 1000000000000000 < ANY (h.counts) OR 0 > ANY (h.buckets) OR 2048 < ANY (h.buckets) '
                'OR array_position(h.buckets, NULL) IS NOT NULL OR array_position(h.counts, NULL) IS NOT NULL) LIMIT 1', name) INTO bad USING this_import;
            EXIT WHEN bad IS NOT NULL;
        END LOOP;
        IF bad IS NULL THEN
            SELECT 'a second' INTO bad FROM fsbench.sample s JOIN fsbench.imported_run i USING (run_id)
            WHERE i.import_id = this_import AND NOT s.interval_ms > 0 LIMIT 1;
        END IF;
        IF bad IS NULL THEN
            SELECT 'a target' INTO bad FROM fsbench.imported_experiment i JOIN fsbench.experiment e USING (experiment_id)
            LEFT JOIN LATERAL (SELECT count(*) AS targets, max(t.target_number) AS last, min(t.target_number) AS first FROM fsbench.experiment_target t WHERE t.experiment_id = i.experiment_id) t ON true
            LEFT JOIN LATERAL (SELECT max(x.block) AS block, max(x.attempt) AS attempt FROM fsbench.experiment_run x WHERE x.experiment_id = i.experiment_id) x ON true
            WHERE i.import_id = this_import AND NOT (t.targets BETWEEN 1 AND 100 AND t.first = 0 AND t.last = t.targets - 1 AND coalesce(x.block, 0) <= 100 AND coalesce(x.attempt, 1) <= 1000
                AND coalesce(e.baseline_number, 0) BETWEEN 0 AND t.last AND coalesce(e.control_number, 0) BETWEEN 0 AND t.last) LIMIT 1;
        END IF;
        IF bad IS NULL THEN
            SELECT 'a measurement without its run' INTO bad FROM fsbench.experiment_run x JOIN fsbench.imported_experiment i USING (experiment_id)
            WHERE i.import_id = this_import AND x.outcome IN ('measured', 'behind') AND x.run_id IS NULL LIMIT 1;
        END IF;
        IF bad IS NOT NULL THEN
            PERFORM fsbench._import_problem(NULL, format('It has figures of %s that cannot be.', bad));
        END IF;
        DELETE FROM fsbench.finding f USING fsbench.imported_run i WHERE i.import_id = this_import AND f.run_id = i.run_id AND f.code = 'imported';
        INSERT INTO fsbench.finding (run_id, code, severity, message, hint)
        SELECT i.run_id, 'imported', 'info', format('run %s of host %s, imported from a file: it was not measured here', i.run_id_there, called),
               'Nothing but the file, and who gave it, vouches for its figures.'
        FROM fsbench.imported_run i WHERE i.import_id = this_import;
        -- An experiment that cannot be read back would break views that show all experiments.
        FOR name IN SELECT e.experiment FROM fsbench.experiment e JOIN fsbench.imported_experiment i USING (experiment_id) WHERE i.import_id = this_import LOOP
            PERFORM FROM fsbench.compare(name);
            PERFORM FROM fsbench.recommend(name);
            PERFORM FROM fsbench.chart_block b WHERE b.experiment = name;
            PERFORM FROM fsbench.chart_target t WHERE t.experiment = name;
        END LOOP;
        FOR id IN SELECT r.run_id FROM fsbench.imported_run i JOIN fsbench.run_log r USING (run_id) WHERE i.import_id = this_import AND r.status = 'done' LOOP
            PERFORM FROM fsbench.judge(id);
        END LOOP;
        IF experiments = 0 AND runs = 0 THEN
            DELETE FROM fsbench.imported_file f WHERE f.import_id = this_import;
        END IF;
    EXCEPTION
        WHEN bad_copy_file_format OR feature_not_supported OR duplicate_object OR insufficient_privilege THEN
            RAISE;
        WHEN data_exception OR data_corrupted OR integrity_constraint_violation OR invalid_parameter_value OR internal_error OR undefined_object OR program_limit_exceeded THEN
            -- The reason why stored facts cannot be read is in the detail.
            bad := NULL;
            IF SQLSTATE = 'XX001' THEN
                GET STACKED DIAGNOSTICS bad = PG_EXCEPTION_DETAIL;
            END IF;
            PERFORM fsbench._import_problem(met, concat_ws(' ', upper(left(SQLERRM, 1)) || substr(left(SQLERRM, 300), 2) || '.', nullif(left(bad, 300), '')));
    END;
    RETURN NEXT;
END
$$;
COMMENT ON FUNCTION fsbench._import IS 'Reads a file in the name of a role. Private: called with the rights of the owner';

-- It takes the role whose rights are in use, which need not be the one of the session, and calls what is below with those of the extension's owner.
CREATE FUNCTION fsbench._change_imported(verb text, file text, host text) RETURNS text
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fsbench_change_imported_wrapper';
COMMENT ON FUNCTION fsbench._change_imported IS 'Imports a file, or drops what was imported. Private';

CREATE FUNCTION fsbench.import(file text, host text DEFAULT NULL) RETURNS TABLE (suffix text, experiments bigint, runs bigint, already_here bigint)
    LANGUAGE sql VOLATILE PARALLEL UNSAFE ROWS 1 SET search_path = pg_catalog, pg_temp AS $$
    SELECT r.suffix, r.experiments, r.runs, r.already_here
    FROM jsonb_to_record(fsbench._change_imported('import', $1, $2)::jsonb) r (suffix text, experiments bigint, runs bigint, already_here bigint)
    $$;
COMMENT ON FUNCTION fsbench.import IS 'Reads a whole file of fsbench.export() of another database, or nothing of it. Runs and experiments that are here already stay unchanged. Names of its targets, labels and experiments get an @ and the name of the host (host, or without it the name in the file), and each run the finding imported. Imported runs are not repeated, extended or confirmed, and recommend() makes no lines of them';

CREATE FUNCTION fsbench._drop_imported(host text, caller name) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    files bigint[];
    gone bigint[];
BEGIN
    IF $1 IS NULL THEN
        RAISE EXCEPTION 'host must not be null' USING ERRCODE = 'invalid_parameter_value', DETAIL = 'It says what is dropped.', HINT = 'See fsbench.imported.';
    END IF;
    SELECT array_agg(f.import_id) INTO files FROM fsbench.imported_file f WHERE f.host = $1;
    IF files IS NULL THEN
        RAISE EXCEPTION 'nothing was imported of host "%"', $1
            USING ERRCODE = 'invalid_parameter_value', DETAIL = 'There is no row with this host in fsbench.imported_file of this database.', HINT = 'See fsbench.imported.';
    END IF;
    PERFORM fsbench._check_importer($1, $2);
    DELETE FROM fsbench.experiment e USING fsbench.imported_experiment i WHERE i.experiment_id = e.experiment_id AND i.import_id = ANY (files);
    SELECT array_agg(i.run_id) INTO gone FROM fsbench.imported_run i WHERE i.import_id = ANY (files);
    DELETE FROM fsbench.run_log r WHERE r.run_id = ANY (gone);
    DELETE FROM fsbench.imported_file f WHERE f.import_id = ANY (files);
    RETURN coalesce(cardinality(gone), 0);
END
$$;
COMMENT ON FUNCTION fsbench._drop_imported IS 'Removes what was imported of a host, in the name of a role. Private: called with the rights of the owner';

CREATE FUNCTION fsbench.drop_imported(host text) RETURNS bigint
    LANGUAGE sql VOLATILE PARALLEL UNSAFE RETURN fsbench._change_imported('drop', NULL, host)::bigint;
COMMENT ON FUNCTION fsbench.drop_imported IS 'Removes all experiments and runs that were imported of a host, and returns how many runs they were';

CREATE VIEW fsbench.imported AS
    SELECT i.run_id, r.target, r.label, r.status, f.host, i.run_id_there, f.hostname, e.host_fingerprint, f.pgfsbench_version, f.exported_at, f.imported_by, f.imported_at, f.import_id
    FROM fsbench.imported_run i JOIN fsbench.imported_file f USING (import_id) JOIN fsbench.run_log r USING (run_id) LEFT JOIN fsbench.environment e USING (run_id)
    ORDER BY i.run_id;
COMMENT ON VIEW fsbench.imported IS 'Runs that were imported from files, and where they come from as the files say';
COMMENT ON COLUMN fsbench.imported.target IS 'Target, with the host behind an @';
COMMENT ON COLUMN fsbench.imported.label IS 'Label, with the host behind an @';
COMMENT ON COLUMN fsbench.imported.status IS 'done, failed or cancelled';

-- Settings of the caller's session decide neither how our SQL is read nor what our texts say: each function with a search_path of its own has these,
-- too, and so has one that reads figures as text. Functions in C have them for their statements (READING_AND_PRINTING in core).
DO $$
DECLARE
    routine pg_catalog.regprocedure;
BEGIN
    FOR routine IN
        SELECT p.oid FROM pg_catalog.pg_proc p
        WHERE p.pronamespace = 'fsbench'::pg_catalog.regnamespace AND (p.proconfig IS NOT NULL OR p.proname = '_metric')
    LOOP
        EXECUTE 'ALTER FUNCTION ' || routine || $s$
            SET array_nulls = on
            SET backslash_quote = 'safe_encoding'
            SET bytea_output = 'hex'
            SET datestyle = 'ISO'
            SET extra_float_digits = 1
            SET intervalstyle = 'postgres'
            SET quote_all_identifiers = off
            SET standard_conforming_strings = on
            SET timezone = 'GMT'
            SET transform_null_equals = off$s$;
    END LOOP;
END
$$;

-- Says at once what would make the first run fail.
SELECT fsbench._check_preloaded();

//! What runs with the rights of the extension's owner does not trust what its caller can make.

use pgfsbench_tests::{PRELOADED, Server, refusal};

/// An operator's own `||`, `<>`, `=` and functions before PostgreSQL's, each an error that says with whose rights it ran.
const TRAP: &str = "
    CREATE FUNCTION public.spring(what text) RETURNS void LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'trap % sprung with the rights of %', what, current_user; END $$;
    CREATE FUNCTION public.trap(text, text) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('operator'); RETURN true; END $$;
    CREATE FUNCTION public.trap_name(name, name) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('operator on names'); RETURN true; END $$;
    CREATE FUNCTION public.trap_text(text, text) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('concatenation'); RETURN ''; END $$;
    CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.trap);
    CREATE OPERATOR public.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = public.trap);
    CREATE OPERATOR public.= (LEFTARG = name, RIGHTARG = name, FUNCTION = public.trap_name);
    CREATE OPERATOR public.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = public.trap_text);
    CREATE FUNCTION public.current_setting(text) RETURNS text LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('current_setting'); RETURN ''; END $$;
    CREATE FUNCTION public.pg_size_bytes(text) RETURNS bigint LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('pg_size_bytes'); RETURN 0; END $$;
";

#[test]
fn operators_and_functions_of_the_caller_are_never_called() {
    let server = Server::start(PRELOADED);
    let mut owner = server.connect("postgres");
    owner
        .batch_execute(
            "CREATE EXTENSION pgfsbench; CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO mallory; \
             SELECT fsbench.grant_operator('mallory')",
        )
        .expect("set-up");
    owner
        .batch_execute(&format!(
            "SET ROLE mallory; {TRAP} SET search_path = public, pg_catalog, fsbench"
        ))
        .expect("the trap");
    // That the trap works at all.
    let sprung = owner.query("SELECT 'a'::text || 'b'::text", &[]);
    assert!(sprung.is_err());

    owner
        .batch_execute(
            r#"SELECT fsbench.run(scale => 1, clients => 1, transactions => 10, settings => '{"timezone": "utc"}')"#,
        )
        .expect("run");
    owner
        .batch_execute(
            "SELECT fsbench.wait(fsbench.start(scale => 1, clients => 1, transactions => 10))",
        )
        .expect("start and wait");
    let path: String = owner
        .query_one("SHOW search_path", &[])
        .expect("SHOW")
        .get(0);
    assert_eq!(path, "public, pg_catalog, fsbench");
}

#[test]
fn the_extension_does_not_go_into_a_schema_of_somebody_else() {
    let server = Server::start(PRELOADED);
    let mut client = server.connect("postgres");
    client
        .batch_execute("CREATE ROLE mallory; CREATE SCHEMA fsbench AUTHORIZATION mallory")
        .expect("set-up");
    let error = refusal(&mut client, "CREATE EXTENSION pgfsbench");
    assert_eq!(error.code().code(), "42501", "{error}");
    for sql in [
        "ALTER SCHEMA fsbench OWNER TO CURRENT_USER",
        "CREATE EXTENSION pgfsbench",
    ] {
        client.batch_execute(sql).expect(sql);
    }
}

//! Functions that run with the rights of the extension's owner do not trust objects that their caller can make; and operators have
//! all of what they are to have.

use crate::common::{QUICK, execute, row, run, server};
use pgfsbench_tests::{PRELOADED, TestServer, refusal, skip};

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
    CREATE FUNCTION public.trap_float(float8, integer) RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('comparison'); RETURN true; END $$;
    CREATE OPERATOR public.>= (LEFTARG = float8, RIGHTARG = integer, FUNCTION = public.trap_float);
    CREATE OPERATOR public.<= (LEFTARG = float8, RIGHTARG = integer, FUNCTION = public.trap_float);
    CREATE FUNCTION public.trap_product(integer, float8) RETURNS float8 LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('product'); RETURN 0; END $$;
    CREATE OPERATOR public.* (LEFTARG = integer, RIGHTARG = float8, FUNCTION = public.trap_product);
    CREATE FUNCTION public.pg_size_bytes(text) RETURNS bigint LANGUAGE plpgsql AS
        $$ BEGIN PERFORM public.spring('pg_size_bytes'); RETURN 0; END $$;
";

#[test]
fn operators_and_functions_of_the_caller_are_never_called() {
    let server = TestServer::start(PRELOADED);
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
    // The trap works at all.
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
    for sql in [
        "SELECT fsbench.percentile(0.5, 1), fsbench.percentile(0.5, '{1}'::bigint[], 'commit')",
        "SELECT fsbench.bucket_low_ms(100), fsbench.bucket_high_ms(100)",
        "SELECT * FROM fsbench.wait_profile(1, 0, 1)",
        "SELECT count(tps), count(data_ram_ratio) FROM fsbench.result",
        "SELECT count(*) FROM fsbench.progress",
        "SELECT count(*) FROM fsbench.device",
        "SELECT count(*) FROM fsbench.prepared_target",
        "SELECT * FROM fsbench.knee('{1,2}', '{2,1}')",
        "CALL fsbench.wait(1)",
        "SELECT count(*) FROM fsbench.doctor()",
    ] {
        owner
            .batch_execute(sql)
            .unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    let path: String = owner
        .query_one("SHOW search_path", &[])
        .expect("SHOW")
        .get(0);
    assert_eq!(path, "public, pg_catalog, fsbench");
}

#[test]
fn the_extension_does_not_go_into_a_schema_of_somebody_else() {
    let server = TestServer::start(PRELOADED);
    let mut client = server.connect("postgres");
    client
        .batch_execute("CREATE ROLE mallory; CREATE SCHEMA fsbench AUTHORIZATION mallory")
        .expect("set-up");
    let error = refusal(&mut client, "CREATE EXTENSION pgfsbench");
    assert_eq!(error.code().code(), "42501", "{error}");
    // His objects there stay when the schema gets another owner.
    client
        .batch_execute(
            "GRANT CREATE ON SCHEMA fsbench TO mallory; SET ROLE mallory; \
             CREATE FUNCTION fsbench.trap(float8, bigint) RETURNS float8 LANGUAGE sql RETURN 0; RESET ROLE; \
             ALTER SCHEMA fsbench OWNER TO CURRENT_USER",
        )
        .expect("another owner");
    let mut refused = |code: &str, words: &str, hint: &str| {
        let error = refusal(&mut client, "CREATE EXTENSION pgfsbench");
        assert_eq!(error.code().code(), code, "{error:?}");
        assert!(error.message().contains(words), "{error:?}");
        let statement = error.hint().expect("a hint").to_owned();
        assert!(statement.contains(hint), "{error:?}");
    };
    refused("55000", "\"fsbench\" is not empty", "Drop the schema");
    let mut owner = server.connect("postgres");
    owner
        .batch_execute("DROP FUNCTION fsbench.trap; CREATE ROLE \"a b\"; GRANT CREATE ON SCHEMA fsbench TO \"a b\"")
        .expect("another right");
    refused("42501", "role \"a b\" may create", "FROM \"a b\".");
    owner
        .batch_execute(
            "REVOKE CREATE ON SCHEMA fsbench FROM \"a b\"; GRANT CREATE ON SCHEMA fsbench TO PUBLIC",
        )
        .expect("everybody's right");
    refused("42501", "role \"public\" may create", "FROM PUBLIC.");
    owner
        .batch_execute("REVOKE CREATE ON SCHEMA fsbench FROM PUBLIC; CREATE EXTENSION pgfsbench")
        .expect("it is clean");
}

#[test]
fn operators_get_pages_whenever_they_became_operators() {
    let server = server(&[]);
    let mut owner = server.connect("postgres");
    let python = "SELECT count(*) FROM pg_available_extensions WHERE name = 'plpython3u'";
    if row(&mut owner, python) != "1" {
        let test = "rights::operators_get_pages_whenever_they_became_operators";
        return skip(test, "there is no plpython3u for this PostgreSQL");
    }
    let run = run(&mut owner, QUICK);
    execute(
        &mut owner,
        "CREATE ROLE early; CREATE ROLE late; CREATE ROLE stranger; SELECT fsbench.grant_operator('early'); \
         CREATE EXTENSION pgfsbench_report CASCADE; SELECT fsbench.grant_operator('late')",
    );
    let page = format!("SELECT left(fsbench.report(run_ids => '{{{run}}}'), 15)");
    let mut as_role = |role: &str, sql: &str| {
        execute(&mut owner, &format!("RESET ROLE; SET ROLE {role}"));
        match owner.query_one(sql, &[]) {
            Ok(row) => row.get::<_, String>(0),
            Err(error) => error.code().expect("an answer").code().to_owned(),
        }
    };
    for role in ["early", "late"] {
        assert_eq!(as_role(role, &page), "<!DOCTYPE html>", "{role}");
    }
    assert_eq!(as_role("stranger", &page), "42501");

    // An update grants what is new, and not what the owner has revoked.
    let update = "REVOKE EXECUTE ON FUNCTION fsbench._page FROM early; ALTER EXTENSION pgfsbench_report UPDATE";
    execute(&mut server.connect("postgres"), update);
    assert_eq!(as_role("early", &page), "42501");
    let again = "DROP EXTENSION pgfsbench_report; CREATE EXTENSION pgfsbench_report";
    execute(&mut server.connect("postgres"), again);
    assert_eq!(as_role("early", &page), "<!DOCTYPE html>");
    let mut early = server.connect("postgres");
    execute(
        &mut early,
        "SET ROLE early; CREATE EXTENSION IF NOT EXISTS pgfsbench_report",
    );
    execute(
        &mut server.connect("postgres"),
        "SELECT fsbench.revoke_operator('early')",
    );
    assert_eq!(as_role("early", &page), "42501");
    assert_eq!(as_role("late", &page), "<!DOCTYPE html>");
}

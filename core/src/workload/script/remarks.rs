//! Remarks about constructs of scripts that are allowed, and may not do what the author expects.

use super::{Document, arguments, located};
use crate::{
    refusal::{Refusal, quoted},
    script::{Action, Program, Protocol},
    spec::{Remark, ScriptArguments},
};

/// The scripts of these arguments with their document; None if they are refused elsewhere.
fn compiled(arguments: &ScriptArguments) -> Option<Program> {
    let document = Document::of(arguments).ok()?;
    let (_, protocol) = arguments::protocol(arguments).ok()?;
    Program::compile(&document.texts(), &document.given(), protocol).ok()
}

/// The remarks about scripts: at most one of each kind, with its first place.
pub fn of(arguments: &ScriptArguments) -> Vec<Remark> {
    let Some(program) = compiled(arguments) else {
        return Vec::new();
    };
    let commands = || {
        let of_script = |script| {
            let script: &crate::script::Script = script;
            (script.commands.iter()).map(move |command| (script.name.as_str(), command))
        };
        program.scripts.iter().flat_map(of_script)
    };
    let pipeline = commands().find(|(_, command)| command.action == Action::StartPipeline);
    let pipeline = pipeline.map(|(script, command)| Remark {
        message: located(script, command.line, "a pipeline saves no round trip here"),
        hint: "Statements run inside the server. A pipeline is still one implicit transaction block. Use pgbench to measure round trips.",
    });
    let is_simple = program.protocol == Protocol::Simple;
    let minus = commands().find_map(|(script, command)| match &command.action {
        Action::Statement(statement) if is_simple => {
            let word = statement.behind_minus().next()?;
            Some((script, command.line, word))
        }
        _ => None,
    });
    let minus = minus.map(|(script, line, word)| Remark {
        message: located(
            script,
            line,
            &format!("a negative value of {word} begins a comment"),
        ),
        hint: "Two minus signs in a row are a comment of SQL. Write a blank or a parenthesis between the sign and the variable.",
    });
    let unset = commands().find_map(|(script, command)| match &command.action {
        Action::Statement(statement) if !is_simple => {
            let slot = (statement.parameters.iter()).find(|slot| !program.may_set(**slot))?;
            Some((script, command.line, program.names.name(*slot)))
        }
        _ => None,
    });
    let unset = unset.map(|(script, line, name)| Remark {
        message: located(script, line, &format!("nothing sets the variable :{name}")),
        hint: "Its value is NULL, as in pgbench -M prepared. Set it by \\set or \\gset, or give it in variables.",
    });
    pipeline.into_iter().chain(minus).chain(unset).collect()
}

/// Refuses to vary the clients of scripts whose rows depend on their number.
pub fn check_varied(arguments: &ScriptArguments, varied: &[&str]) -> Result<(), Refusal> {
    let depends = || compiled(arguments).is_some_and(|program| program.depends_on_clients());
    if !varied.contains(&"clients") || !depends() {
        return Ok(());
    }
    Err(Refusal::argument(format!(
        "factor {} changes the values of the scripts",
        quoted("clients")
    ))
    .detail("A script uses :default_seed, or hash() or permute() without a seed. As in pgbench, the default seed depends on the number of clients.")
    .hint("Give these functions a seed, or give variables => '{\"default_seed\": 42}'."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::refusal::check;

    fn scripts(text: &str) -> ScriptArguments {
        ScriptArguments {
            scripts: Some(text.into()),
            ..ScriptArguments::default()
        }
    }

    #[test]
    fn a_pipeline_is_remarked_once_with_its_place() {
        let text = "SELECT 1;\n\\startpipeline\nSELECT 2;\n\\endpipeline\n\\startpipeline\nSELECT 3;\n\\endpipeline";
        let remarks = of(&scripts(text));
        assert_eq!(remarks.len(), 1);
        let expected = "script \"script\", line 2: a pipeline saves no round trip here";
        assert_eq!(remarks[0].message, expected);
        assert_eq!(of(&scripts("SELECT 1;")), []);
        // A wrong script is refused elsewhere.
        assert_eq!(of(&scripts("\\startpipelin")), []);
    }

    #[test]
    fn a_minus_before_a_variable_matters_to_text_only() {
        let text = "\\set a -1\nSELECT 3 -:a;\nSELECT 3 - :a;";
        let simple = ScriptArguments {
            protocol: Some("simple".into()),
            ..scripts(text)
        };
        let remarks = of(&simple);
        assert_eq!(remarks.len(), 1);
        let expected = "script \"script\", line 2: a negative value of :a begins a comment";
        assert_eq!(remarks[0].message, expected);
        assert_eq!(of(&scripts(text)), []);
    }

    #[test]
    fn a_variable_that_nothing_sets_is_remarked() {
        let remarks = of(&scripts(
            "\\set a 1\nSELECT :a, :client_id;\nSELECT :a, :b;",
        ));
        assert_eq!(remarks.len(), 1);
        let expected = "script \"script\", line 3: nothing sets the variable :b";
        assert_eq!(remarks[0].message, expected);
        for text in [
            // A column may have this name.
            "SELECT b FROM t \\gset\nSELECT :b;",
            "SELECT b FROM t \\gset x_\nSELECT :x_b;",
            "SELECT :b;\n\\set b 1",
        ] {
            assert_eq!(of(&scripts(text)), [], "{text}");
        }
        assert_eq!(of(&scripts("SELECT 1 AS b \\gset x_\nSELECT :b;")).len(), 1);
        let given = ScriptArguments {
            variables: Some(json!({"b": 1})),
            ..scripts("SELECT :b;")
        };
        assert_eq!(of(&given), []);
        // As text it is an error of the server's.
        let simple = ScriptArguments {
            protocol: Some("simple".into()),
            ..scripts("SELECT :b;")
        };
        assert_eq!(of(&simple), []);
    }

    #[test]
    fn clients_are_not_varied_where_the_default_seed_decides() {
        let unseeded = [
            "\\set a hash(:client_id)\nSELECT :a;",
            "\\if permute(0, 10) > 5\nSELECT 1;\n\\endif",
            "SELECT :default_seed;",
        ];
        for text in unseeded {
            let refusal = check_varied(&scripts(text), &["clients"]).unwrap_err();
            check::style(&refusal);
            assert!(check_varied(&scripts(text), &["rate"]).is_ok());
            let given = ScriptArguments {
                variables: Some(json!({"default_seed": 42})),
                ..scripts(text)
            };
            check_varied(&given, &["clients"]).unwrap();
        }
        for text in ["\\set a hash(:client_id, 1)\nSELECT :a;", "tpcb-like"] {
            check_varied(&scripts(text), &["clients"]).unwrap();
        }
    }
}

//! Remarks about constructs of scripts that are allowed, and may not do what the author expects.

use super::{Document, arguments, located};
use crate::{
    refusal::{Refusal, quoted},
    script::{Action, Program, Protocol, Script, Slot},
    spec::{Remark, ScriptArguments},
};

/// The scripts of these arguments with their document; None if they are refused elsewhere.
fn compiled(arguments: &ScriptArguments) -> Option<Program> {
    let document = Document::of(arguments).ok()?;
    let (_, protocol) = arguments::protocol(arguments).ok()?;
    Program::compile(&document.texts(), &document.given(), protocol).ok()
}

/// Most remarks of a kind about variables.
const MOST: usize = 5;

/// The first ones. The last of them tells how many are left out.
fn first(mut remarks: Vec<Remark>) -> Vec<Remark> {
    let left_out = remarks.len().saturating_sub(MOST);
    remarks.truncate(MOST);
    if let Some(last) = remarks.last_mut().filter(|_| left_out > 0) {
        last.message += &format!("; and so in {left_out} more of the scripts");
    }
    remarks
}

/// A remark for each script whose statements use variables that nothing sets.
fn unset(program: &Program) -> Vec<Remark> {
    let hint = "The value is NULL, as in pgbench -M prepared. Set it by \\set or \\gset, or give it in variables.";
    let is_unset = |_: &Script, slot| !program.may_set(slot);
    of_variables(program, "nothing sets", hint, is_unset)
}

/// A remark for each script whose statements use variables that only other scripts set.
fn set_elsewhere(program: &Program) -> Vec<Remark> {
    let hint = "The value is NULL until another script of the client has set it, and stays from then on, as in pgbench. Set it in this script, too, or use another name.";
    let is_elsewhere =
        |script: &Script, slot| program.may_set(slot) && !program.may_set_in(script, slot);
    of_variables(program, "only other scripts set", hint, is_elsewhere)
}

/// Remarks about the variables for which this holds, with `verb` before their names.
fn of_variables(
    program: &Program,
    verb: &str,
    hint: &'static str,
    holds: impl Fn(&Script, Slot) -> bool,
) -> Vec<Remark> {
    let all = program.scripts.iter().filter_map(|script| {
        let (line, names) = variables(program, script, &holds)?;
        let message = located(&script.name, line, &format!("{verb} {names}"));
        Some(Remark { message, hint })
    });
    first(all.collect())
}

/// The variables of a script's statements for which this holds, in words, and the line of the first one.
fn variables(
    program: &Program,
    script: &Script,
    holds: impl Fn(&Script, Slot) -> bool,
) -> Option<(u32, String)> {
    let mut line = None;
    let mut names: Vec<String> = Vec::new();
    for command in &script.commands {
        let Action::Statement(statement) = &command.action else {
            continue;
        };
        for &slot in (statement.parameters.iter()).filter(|slot| holds(script, **slot)) {
            let name = format!(":{}", program.names.name(slot));
            if !names.contains(&name) {
                names.push(name);
            }
            line = line.or(Some(command.line));
        }
    }
    let words = match &names[..] {
        [one] => format!("the variable {one}"),
        all => format!("the variables {}", all.join(", ")),
    };
    Some((line?, words))
}

/// The remarks about scripts: at most one of each kind, with its first place; of variables, one for each script.
pub fn of(arguments: &ScriptArguments) -> Vec<Remark> {
    let Some(program) = compiled(arguments) else {
        return Vec::new();
    };
    let commands = || {
        let of_script = |script| {
            let script: &Script = script;
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
    let of_variables = match is_simple {
        // As text, a variable without a value is an error of the server's.
        true => Vec::new(),
        false => [unset(&program), set_elsewhere(&program)].concat(),
    };
    (pipeline.into_iter().chain(minus))
        .chain(of_variables)
        .collect()
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
    fn each_script_names_all_variables_that_it_does_not_set() {
        let several = json!([
            {"name": "a", "text": "\\set p1 1\nSELECT :p1, :p2;\nSELECT :p3, :p2;"},
            {"name": "b", "text": "SELECT 1;\nSELECT :p1, :given;"},
            {"name": "c", "text": "SELECT :p4, :p1;"},
        ]);
        let arguments = ScriptArguments {
            variables: Some(json!({"given": 1})),
            ..scripts(&several.to_string())
        };
        let remarks: Vec<String> = of(&arguments).into_iter().map(|r| r.message).collect();
        assert_eq!(
            remarks,
            [
                "script \"a\", line 2: nothing sets the variables :p2, :p3",
                "script \"c\", line 1: nothing sets the variable :p4",
                "script \"b\", line 2: only other scripts set the variable :p1",
                "script \"c\", line 1: only other scripts set the variable :p1",
            ]
        );
    }

    #[test]
    fn of_many_scripts_the_first_are_named() {
        let script = |n: u32| json!({"name": format!("s{n}"), "text": "SELECT :b;"});
        let several: Vec<_> = (1..=7).map(script).collect();
        let remarks = of(&scripts(&json!(several).to_string()));
        assert_eq!(remarks.len(), 5);
        let expected =
            "script \"s5\", line 1: nothing sets the variable :b; and so in 2 more of the scripts";
        assert_eq!(remarks[4].message, expected);
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

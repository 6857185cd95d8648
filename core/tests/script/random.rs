//! Random numbers: the same as those of `pgbench --random-seed=42`, client by client.

use pgfsbench_core::script::{Generator, Program, Protocol, Seeds, Text};

use super::client::Run;

/// What two clients draw in three calls each.
fn draws(expression: &str) -> Vec<i64> {
    let script = format!("\\set x debug({expression})\n").repeat(3);
    let run = Run {
        clients: 2,
        ..Run::of(&script)
    };
    let values = run.outcome().debug;
    values
        .iter()
        .map(|value| value.split_once(' ').unwrap().1.parse().unwrap())
        .collect()
}

#[test]
fn two_clients_draw_what_those_of_pgbench_draw() {
    for (expression, expected) in [
        (
            "random(1,1000000)",
            [668251, 855542, 665859, 844242, 649374, 585467],
        ),
        (
            "random_gaussian(1,1000,2.5)",
            [761, 398, 641, 747, 251, 440],
        ),
        (
            "random_exponential(1,1000,2.5)",
            [352, 553, 350, 538, 337, 288],
        ),
        ("random_zipfian(1,1000,1.1)", [93, 30, 3, 8, 339, 1]),
    ] {
        assert_eq!(draws(expression), expected, "{expression}");
    }
    assert_eq!(
        (1..=3)
            .map(|i| draws(&format!("permute({i},100,42)"))[0])
            .collect::<Vec<_>>(),
        [77, 31, 52]
    );
}

#[test]
fn the_default_seed_depends_on_the_number_of_clients() {
    let program = program(&[("s", 1, "select 1;")]);
    let seed = |clients| Seeds::new(&program, 42, clients, 1).default_seed;
    assert_eq!(
        [seed(1), seed(2), seed(3)],
        [
            4306334408478191133,
            4482733528210176216,
            1183949725203728575
        ]
    );
}

#[test]
fn scripts_are_chosen_by_weight_as_pgbench_chooses_them() {
    let text = "select 1;";
    let program = program(&[("1", 1, text), ("2", 2, text), ("3", 3, text)]);
    let mut choice: Generator = Seeds::new(&program, 42, 1, 1).thread(0).choice;
    let chosen: Vec<_> = (0..10).map(|_| program.choose(&mut choice) + 1).collect();
    assert_eq!(chosen, [2, 3, 3, 3, 2, 2, 3, 1, 3, 2]);
}

#[test]
fn the_builtin_tpcb_draws_its_parameters() {
    let (_, text) = pgfsbench_core::script::builtin::find("tpcb").unwrap();
    let run = Run {
        protocol: Protocol::Prepared,
        transactions: 3,
        ..Run::of(text)
    };
    let sent = run.outcome().sent;
    let history: Vec<_> = (sent.iter())
        .filter(|(_, sent)| sent[0].starts_with("INSERT"))
        .map(|(_, sent)| sent[1].as_str())
        .collect();
    assert_eq!(
        history,
        [
            "$1 = '1', $2 = '1', $3 = '83532', $4 = '-170'",
            "$1 = '5', $2 = '1', $3 = '86390', $4 = '-253'",
            "$1 = '2', $2 = '1', $3 = '452', $4 = '4776'",
        ]
    );
}

fn program(texts: &[(&str, u32, &str)]) -> Program {
    let texts: Vec<_> = (texts.iter())
        .map(|(name, weight, text)| Text {
            name,
            weight: *weight,
            text,
        })
        .collect();
    Program::compile(&texts, &[], Protocol::Simple).unwrap()
}

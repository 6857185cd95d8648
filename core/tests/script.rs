//! Scripts against what pgbench 15.20 and 18.6 made of them: `data/pgbench-oracle-expr.tsv` has expressions and their values or errors,
//! `data/pgbench-oracle-script.jsonl` has scripts with the statements that reached a server.

mod script {
    mod client;
    mod expressions;
    mod random;
    mod refusals;
    mod scripts;
}

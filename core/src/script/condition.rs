//! Connects each `\if` with its branches: commands learn where to go on.

use super::command::{Action, Command, Text};
use super::error::ScriptError;
use super::place;

/// An open `\if`.
struct Open {
    /// The command whose false condition leads to the next branch.
    last: usize,
    /// The branches behind the first: the `\endif` is entered into them.
    branches: Vec<usize>,
    has_else: bool,
    first: usize,
}

pub fn connect(script: &Text<'_>, commands: &mut [Command]) -> Result<(), ScriptError> {
    let mut open: Vec<Open> = Vec::new();
    for at in 0..commands.len() {
        let error = |message: &str| Err(place::of_command(script, &commands[at], at + 1, message));
        match (&commands[at].action, open.last_mut()) {
            (Action::If { .. }, _) => open.push(Open {
                last: at,
                branches: Vec::new(),
                has_else: false,
                first: at,
            }),
            (Action::Elif { .. }, None) => return error("\\elif without matching \\if"),
            (Action::Else { .. }, None) => return error("\\else without matching \\if"),
            (Action::Endif, None) => return error("\\endif without matching \\if"),
            (Action::Elif { .. }, Some(Open { has_else: true, .. })) => {
                return error("\\elif after \\else");
            }
            (Action::Else { .. }, Some(Open { has_else: true, .. })) => {
                return error("\\else after \\else");
            }
            (Action::Elif { .. }, Some(here)) => {
                let last = std::mem::replace(&mut here.last, at);
                here.branches.push(at);
                lead(&mut commands[last], at);
            }
            (Action::Else { .. }, Some(here)) => {
                here.has_else = true;
                here.branches.push(at);
                let last = here.last;
                lead(&mut commands[last], at + 1);
            }
            (Action::Endif, Some(_)) => close(open.pop(), at, commands),
            _ => {}
        }
    }
    match open.pop() {
        None => Ok(()),
        Some(Open { first, .. }) => Err(place::of_command(
            script,
            &commands[first],
            commands.len() + 1,
            "\\if without matching \\endif",
        )),
    }
}

fn close(open: Option<Open>, at: usize, commands: &mut [Command]) {
    let Some(open) = open else { return };
    if !open.has_else {
        lead(&mut commands[open.last], at);
    }
    for branch in open.branches {
        if let Action::Elif { end, .. } | Action::Else { end } = &mut commands[branch].action {
            *end = at;
        }
    }
}

/// Enters where a false condition leads.
fn lead(command: &mut Command, to: usize) {
    if let Action::If { otherwise, .. } | Action::Elif { otherwise, .. } = &mut command.action {
        *otherwise = to;
    }
}

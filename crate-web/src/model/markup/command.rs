//! The commands that markup carries in `data-do`: a word and its numbers.

use crate::model::action::{Action, Move};
use crate::model::view::Over;
use crate::protocol::Control;

/// What a control's `data-do` asks for.
pub fn read(command: &str) -> Option<Action> {
    let mut words = command.split(' ');
    let word = words.next()?;
    let mut number = || words.next().and_then(|word| word.parse::<usize>().ok());
    Some(match word {
        "fix" => Action::Fix { problem: number()?, fix: number()? },
        "pick" => Action::PickFix(number()?),
        "problem" => Action::ShowProblem(number()?),
        "next-problem" => Action::NextProblem { forward: true },
        "previous-problem" => Action::NextProblem { forward: false },
        "inspect" => Action::Inspect,
        "select" => Action::Select(Some(number()? as u32)),
        "step" => Action::Step(Move::To(number()?)),
        "graph" => Action::Toggle(Over::Graph),
        "train" => match words.next()? {
            "go" => Action::Train(Control::Go),
            "pause" => Action::Train(Control::Pause),
            "step" => Action::Train(Control::Step),
            "cancel" => Action::Train(Control::Cancel),
            "again" => Action::TrainAgain,
            _ => return None,
        },
        "trouble" => Action::ShowTrouble(number()? as u32),
        "retry" => Action::Retry,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Action, Move, read};

    #[test]
    fn a_word_and_its_numbers() {
        assert!(matches!(read("fix 1 2"), Some(Action::Fix { problem: 1, fix: 2 })));
        assert!(matches!(read("step 7"), Some(Action::Step(Move::To(7)))));
        assert!(read("fix 1").is_none());
        assert!(read("fix one two").is_none());
        assert!(read("delete everything").is_none());
        assert!(read("").is_none());
    }
}

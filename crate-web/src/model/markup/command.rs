//! The commands that markup carries in `data-do`: a word, and what it needs to know.

use crate::model::action::{Action, Move, Pane, Source};
use crate::model::reduce::RULES;
use crate::model::timeline::Grain;
use crate::model::view::{Aid, Draw, Over, Tab, Theme};
use crate::protocol::Control;

/// What a control's `data-do` asks for.
pub fn read(command: &str) -> Option<Action> {
    let mut words = command.split(' ');
    let word = words.next()?;
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let number = |word: &str| word.parse::<usize>().ok();
    Some(match word {
        "undo" => Action::Undo,
        "redo" => Action::Redo,
        "new" => Action::Open(Source::New),
        "example" => Action::Open(Source::Example(number(first)?)),
        "doc" => Action::Doc(command.get(4..).unwrap_or_default().to_owned()),
        "documents" => Action::Toggle(Over::Documents),
        "choose-file" => Action::ChooseFile,
        "save" => Action::Save,
        "help" => Action::Toggle(Over::Keys),
        "keys" => Action::Keys(command.get(5..).unwrap_or_default().to_owned()),
        "theme" => Action::SetTheme(Theme::from_key(first)),
        "tab" => Action::Show(Tab::from_key(first)?),
        "fix" => Action::Fix { problem: number(first)?, fix: number(second)? },
        "pick" => Action::PickFix(number(first)?),
        "problem" => Action::ShowProblem(number(first)?),
        "next-problem" => Action::NextProblem { forward: true },
        "previous-problem" => Action::NextProblem { forward: false },
        "inspect" => Action::Inspect,
        "select" => Action::Select(Some(number(first)? as u32)),
        "graph" => Action::Toggle(Over::Graph),
        "train" => match first {
            "go" => Action::Train(Control::Go),
            "pause" => Action::Train(Control::Pause),
            "step" => Action::Train(Control::Step),
            "cancel" => Action::Train(Control::Cancel),
            "again" => Action::TrainAgain,
            _ => return None,
        },
        "trouble" => Action::ShowTrouble(number(first)? as u32),
        "checks" => Action::Toggle(Over::Checks),
        "steps" => Action::Toggle(Over::Steps),
        "show-fold" => Action::Toggle(Over::Fold),
        "show-rules" => Action::Toggle(Over::Rules),
        "show-paths" => Action::Toggle(Over::Paths),
        "reference" => Action::Toggle(Over::Reference),
        "tell" => Action::Tell(command.get(5..).unwrap_or_default().to_owned()),
        "draw" => Action::Draw(match first {
            "new" => Draw::New,
            "connect" => Draw::Connect { to: None },
            "before" => Draw::Before,
            "find" => Draw::Find { from: None, lines: false },
            "lines" => Draw::Find { from: Some(Pane::Program), lines: true },
            _ => Draw::Nothing,
        }),
        "make" => Action::Make(command.get(5..).unwrap_or_default().to_owned()),
        "close" => Action::Close(Some(first.to_owned()).filter(|call| !call.is_empty())),
        "predict" => Action::Predict,
        "guess" => Action::Guess(command.get(6..).unwrap_or_default().to_owned()),
        "write" => {
            let text = command.splitn(4, ' ').nth(3)?.to_owned();
            Action::Write { span: (number(first)?, number(second)?), text }
        }
        "go-to" => Action::GoTo(number(first)?),
        "aid" => Action::Aid(Aid::Nothing),
        "edit-line" => Action::EditLine,
        "take" => Action::Take(command.get(5..).unwrap_or_default().to_owned()),
        "rules" => Action::SetRules(RULES.into_iter().find(|rules| *rules == first)?),
        "zoom-in" => Action::Zoom { factor: 1.25, at: None },
        "zoom-out" => Action::Zoom { factor: 0.8, at: None },
        "fit" => Action::Fit,
        "first" => Action::Step(Move::First),
        "back" => Action::Step(Move::Back),
        "next" => Action::Step(Move::Next { held: false }),
        "last" => Action::Step(Move::Last),
        "fold" => Action::Step(Move::Fold { forward: true }),
        "run" => Action::Step(match first {
            "sum" => Move::Sum,
            "refusal" => Move::Refusal,
            "node" => Move::About,
            "contribution" => Move::Contribution { forward: true },
            _ => return None,
        }),
        "step" => Action::Step(Move::To(number(first)?)),
        "play" => Action::Play,
        "faster" => Action::Faster,
        "grain" => Action::SetGrain(Grain::from_key(first)?),
        "retry" => Action::Retry,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Action, Grain, Move, Tab, read};

    #[test]
    fn a_word_and_its_numbers() {
        assert!(matches!(read("fix 1 2"), Some(Action::Fix { problem: 1, fix: 2 })));
        assert!(matches!(read("step 7"), Some(Action::Step(Move::To(7)))));
        assert!(read("fix 1").is_none());
        assert!(read("fix one two").is_none());
        assert!(read("delete everything").is_none());
        assert!(read("").is_none());
    }

    #[test]
    fn a_word_and_a_choice() {
        assert!(matches!(read("tab program"), Some(Action::Show(Tab::Program))));
        assert!(matches!(read("grain node"), Some(Action::SetGrain(Grain::Node))));
        assert!(read("tab").is_none());
        assert!(read("grain coarse").is_none());
    }
}

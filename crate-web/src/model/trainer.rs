//! When the trainer's worker is started, given work and ended: the decisions, without a worker.
//!
//! It is a second worker beside the one that reads texts, so that a long run keeps nobody waiting.
//! Deliberately absent: starting again by itself a run that has ended its worker.

use super::supervise::Life;
use crate::protocol::{Control, Job, Pace, Request};

/// How long a run may be silent, in milliseconds: one step of a large graph takes its time.
const PATIENCE: f64 = 20_000.0;

/// What happens to the trainer.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The whole engine is there, without which there is no training.
    Loaded,
    /// The worker can be sent to.
    Ready,
    /// Train by this text from now on.
    Run {
        /// Its revision.
        rev: u32,
        /// The text.
        text: String,
        /// Whether the run begins at once.
        start: bool,
    },
    /// Do this with the run.
    Control(Control),
    /// Train by the same text from the start.
    Again,
    /// The text asks for no training any more.
    Rest,
    /// The run of this revision has said where it stands.
    Heard(u32, Pace),
    /// The worker has ended, and why.
    Ended(String),
    /// Time has passed.
    Tick,
}

/// What has to be done.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Start a worker.
    Spawn,
    /// End the worker.
    Kill,
    /// Send this.
    Post(Request),
    /// Say that the run of this revision has ended its worker, and why.
    Tell(u32, String),
}

/// The supervisor of the trainer's worker.
#[derive(Clone, Debug, Default)]
pub struct Trainer {
    is_loaded: bool,
    life: Life,
    /// The run that no worker has been given yet.
    asked: Option<Request>,
    /// The last run asked for: its revision and its text.
    last: Option<(u32, String)>,
    /// The revision of the run that the worker has.
    rev: Option<u32>,
    /// When a run that goes on was last heard of.
    going: Option<f64>,
}

impl Trainer {
    /// When the next [`Event::Tick`] is due, in milliseconds.
    pub fn deadline(&self) -> Option<f64> {
        self.going.map(|heard| heard + PATIENCE)
    }

    /// Takes in what happened at `now`, in milliseconds, and says what to do about it.
    pub fn on(&mut self, event: Event, now: f64) -> Vec<Command> {
        let mut commands = Vec::new();
        match event {
            Event::Loaded => self.is_loaded = true,
            Event::Ready => self.life = Life::Up,
            Event::Run { rev, text, start } => {
                self.last = Some((rev, text.clone()));
                self.asked = Some(Request::new(rev, Job::Run { text, start }));
            }
            Event::Again => {
                let again = |(rev, text)| Request::new(rev, Job::Run { text, start: true });
                self.asked = self.last.clone().map(again);
            }
            Event::Control(control) => {
                if let (Life::Up, None, Some(rev)) = (self.life, &self.asked, self.rev) {
                    commands.push(Command::Post(Request::new(rev, Job::Control(control))));
                    self.going = Some(now);
                }
            }
            Event::Rest => {
                self.asked = None;
                self.last = None;
                if self.going.is_some() {
                    self.end(&mut commands);
                }
            }
            Event::Heard(rev, pace) => {
                if self.rev == Some(rev) {
                    self.going = (!pace.over && !pace.paused).then_some(now);
                }
            }
            Event::Ended(why) => self.ended(why, &mut commands),
            Event::Tick => {
                if self.deadline().is_some_and(|deadline| deadline <= now) {
                    let why = "A step took too long, and the trainer was ended.";
                    self.ended(why.to_owned(), &mut commands);
                }
            }
        }
        if let Some(asked) = self.asked.take() {
            match self.life {
                Life::Up => {
                    self.rev = Some(asked.rev);
                    self.going = Some(now);
                    commands.push(Command::Post(asked));
                }
                Life::Gone if self.is_loaded => {
                    self.life = Life::Starting;
                    self.asked = Some(asked);
                    commands.push(Command::Spawn);
                }
                Life::Gone | Life::Starting => self.asked = Some(asked),
            }
        }
        commands
    }

    fn end(&mut self, commands: &mut Vec<Command>) {
        commands.push(Command::Kill);
        self.life = Life::Gone;
        self.going = None;
        self.rev = None;
    }

    fn ended(&mut self, why: String, commands: &mut Vec<Command>) {
        if self.life == Life::Gone {
            return;
        }
        let rev = self.rev.or_else(|| self.asked.take().map(|asked| asked.rev));
        self.end(commands);
        commands.extend(rev.map(|rev| Command::Tell(rev, why)));
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Control, Event, Job, Pace, Request, Trainer};

    fn run(rev: u32) -> Event {
        Event::Run { rev, text: "t".to_owned(), start: true }
    }

    fn post(rev: u32) -> Command {
        Command::Post(Request::new(rev, Job::Run { text: "t".to_owned(), start: true }))
    }

    fn running() -> Trainer {
        let mut trainer = Trainer::default();
        trainer.on(Event::Loaded, 0.0);
        assert_eq!(trainer.on(run(1), 0.0), [Command::Spawn]);
        assert_eq!(trainer.on(Event::Ready, 1.0), [post(1)]);
        trainer
    }

    #[test]
    fn no_worker_is_started_before_the_engine_is_there_and_a_run_is_asked_for() {
        let mut trainer = Trainer::default();
        assert_eq!(trainer.on(run(1), 0.0), []);
        assert_eq!(trainer.on(Event::Loaded, 1.0), [Command::Spawn]);
        assert_eq!(trainer.on(run(2), 2.0), []);
        assert_eq!(trainer.on(Event::Ready, 3.0), [post(2)], "the newest text alone");
    }

    #[test]
    fn a_run_is_controlled_and_its_silence_is_timed_while_it_goes() {
        let mut trainer = running();
        let control = |c| [Command::Post(Request::new(1, Job::Control(c)))];
        assert_eq!(trainer.on(Event::Control(Control::Pause), 2.0), control(Control::Pause));
        trainer.on(Event::Heard(1, Pace { paused: true, ..Pace::default() }), 3.0);
        assert_eq!(trainer.deadline(), None, "one that waits may be silent");
        assert_eq!(trainer.on(Event::Control(Control::Go), 4.0), control(Control::Go));
        assert_eq!(trainer.deadline(), Some(20_004.0));
    }

    #[test]
    fn a_worker_that_ends_is_told_and_not_given_the_same_again() {
        let mut trainer = running();
        let tell = Command::Tell(1, "trap".to_owned());
        assert_eq!(trainer.on(Event::Ended("trap".to_owned()), 5.0), [Command::Kill, tell]);
        assert_eq!(trainer.on(Event::Tick, 6.0), []);
        assert_eq!(trainer.on(Event::Again, 6.5), [Command::Spawn], "its author may ask for it");
        assert_eq!(trainer.on(Event::Ready, 6.6), [post(1)]);
        trainer.on(Event::Ended("trap".to_owned()), 6.7);
        assert_eq!(trainer.on(run(2), 7.0), [Command::Spawn]);
    }

    #[test]
    fn a_hang_ends_the_worker() {
        let mut trainer = running();
        let commands = trainer.on(Event::Tick, 20_001.0);
        assert!(matches!(&commands[..], [Command::Kill, Command::Tell(1, _)]), "{commands:?}");
    }

    #[test]
    fn a_text_without_training_ends_a_run_that_goes_on() {
        let mut trainer = running();
        assert_eq!(trainer.on(Event::Rest, 2.0), [Command::Kill]);
        assert_eq!(trainer.on(Event::Rest, 3.0), []);
    }
}

//! When the worker is given work, and what happens when it does not come back: the decisions, without a worker.
//!
//! `link` feeds events in and carries the commands out. Time is an argument.
//!
//! The first worker has a part of the engine, enough to show and step through a first document. The whole engine is
//! loaded behind it; a worker that has it then takes the first one's place, unseen.
//! Deliberately absent: sending anything again by itself that has ended a worker.

use super::layout::Orientation;
use crate::protocol::{Job, Request};

/// How long a text may take, in milliseconds, and how long any other job may be silent.
pub const PATIENCE: f64 = 2000.0;
/// How long a new worker may take to say that it is ready: it only has to start a compiled module.
const STARTING: f64 = 10_000.0;
/// This many crashes in a row are not an accident.
const GIVE_UP: u32 = 2;

/// Why a worker ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Crash {
    /// It panicked and said so.
    Panicked {
        /// What it said.
        message: String,
        /// File and line.
        place: String,
    },
    /// It trapped without a word, or could not be started.
    Failed {
        /// What the browser said.
        message: String,
    },
    /// It went on for too long.
    TimedOut,
}

/// What the page shows of the worker.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum LinkState {
    /// A worker is being started.
    #[default]
    Starting,
    /// It waits for work.
    Ready,
    /// It works.
    Busy {
        /// On which revision.
        rev: u32,
        /// Since when, in milliseconds.
        since: f64,
    },
    /// The text has ended a worker, and is not sent again unless it changes or the user asks for it.
    Down {
        /// How.
        crash: Crash,
        /// Whether no new worker was started either.
        gave_up: bool,
    },
}

/// What happens to the link.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// The page opens.
    Start,
    /// The worker can be sent to.
    Ready,
    /// The text has changed.
    Edit {
        /// The new revision.
        rev: u32,
        /// The new text.
        text: String,
        /// Which way its picture shall run.
        orientation: Orientation,
        /// The calls that are drawn closed, by their names, with blanks between them.
        closed: String,
    },
    /// What the accepted text asks for further.
    Ask {
        /// Its revision.
        rev: u32,
        /// In this order.
        jobs: Vec<Job>,
    },
    /// The worker is alive and at work on this revision.
    Progress(u32),
    /// The worker has done the job it was given for this revision.
    Done(u32),
    /// The worker has only a part of the engine, and this revision needs the whole.
    Beyond(u32),
    /// The whole engine is there: the next worker has it.
    Loaded,
    /// It could not be loaded.
    NotLoaded(String),
    /// The worker has ended.
    Crashed(Crash),
    /// Time has passed.
    Tick,
    /// The user asks for the same text again.
    Retry,
}

/// What `link` has to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Load the whole engine.
    Load,
    /// Start a worker, with as much of the engine as is there.
    Spawn,
    /// End the worker.
    Kill,
    /// Send this.
    Post(Request),
}

/// How a worker is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Life {
    /// There is none.
    #[default]
    Gone,
    /// It has been started, and cannot be sent to.
    Starting,
    /// It can be sent to.
    Up,
}

/// How much of the engine a worker gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Engine {
    #[default]
    Part,
    Loading,
    Whole,
}

#[derive(Clone, PartialEq, Debug)]
struct Draft {
    rev: u32,
    text: String,
    orientation: Orientation,
    closed: String,
}

#[derive(Clone, PartialEq, Debug)]
struct Flight {
    request: Request,
    since: f64,
    heard: f64,
}

/// The supervisor of one worker at a time.
#[derive(Clone, Debug, Default)]
pub struct Supervisor {
    life: Life,
    engine: Engine,
    /// Whether the worker has all of it.
    has_whole: bool,
    /// The revision that has been answered, which is not told again.
    answered: Option<u32>,
    /// The revision that needs the whole engine.
    beyond: Option<u32>,
    spawned: f64,
    flight: Option<Flight>,
    /// The newest text that no worker has seen yet.
    waiting: Option<Draft>,
    /// The newest text that a worker has seen.
    sent: Option<Draft>,
    further: Vec<Job>,
    crash: Option<Crash>,
    n_crashes: u32,
}

impl Supervisor {
    /// What the page shows.
    pub fn state(&self) -> LinkState {
        match (&self.crash, &self.flight, self.life) {
            (Some(crash), ..) => {
                LinkState::Down { crash: crash.clone(), gave_up: self.life == Life::Gone }
            }
            (None, Some(flight), _) => {
                LinkState::Busy { rev: flight.request.rev, since: flight.since }
            }
            (None, None, Life::Up) if self.beyond.is_none() => LinkState::Ready,
            (None, None, _) => LinkState::Starting,
        }
    }

    /// Whether an answer to this revision is news, which it is once: the whole engine reads again what its part has
    /// answered.
    pub fn is_news(&mut self, rev: u32) -> bool {
        self.answered.replace(rev) != Some(rev)
    }

    /// When the next [`Event::Tick`] is due, in milliseconds.
    pub fn deadline(&self) -> Option<f64> {
        match (&self.flight, self.life) {
            (Some(flight), _) => Some(flight.heard + PATIENCE),
            (None, Life::Starting) => Some(self.spawned + STARTING),
            _ => None,
        }
    }

    /// Takes in what happened at `now`, in milliseconds, and says what to do about it.
    pub fn on(&mut self, event: Event, now: f64) -> Vec<Command> {
        let mut commands = Vec::new();
        match event {
            Event::Start => self.spawn(now, &mut commands),
            Event::Ready => self.life = Life::Up,
            Event::Edit { rev, text, orientation, closed } => {
                self.waiting = Some(Draft { rev, text, orientation, closed });
                self.further.clear();
                self.beyond = None;
                if self.life != Life::Gone {
                    self.crash = None;
                }
            }
            Event::Ask { rev, jobs } => {
                if self.is_newest(rev) {
                    self.further = jobs;
                }
            }
            Event::Progress(rev) => {
                if let Some(flight) = &mut self.flight
                    && flight.request.rev == rev
                {
                    flight.heard = now;
                }
            }
            Event::Done(rev) => {
                if self.flight.as_ref().is_some_and(|flight| flight.request.rev == rev) {
                    self.flight = None;
                    self.n_crashes = 0;
                    self.load(&mut commands);
                }
            }
            Event::Beyond(rev) => {
                if self.flight.take_if(|flight| flight.request.rev == rev).is_some() {
                    self.beyond = (self.engine != Engine::Whole).then_some(rev);
                    self.load(&mut commands);
                }
            }
            Event::Loaded => {
                self.engine = Engine::Whole;
                self.beyond = None;
            }
            Event::NotLoaded(message) => {
                self.engine = Engine::Part;
                if self.beyond.is_some() || !self.further.is_empty() {
                    self.crash = Some(Crash::Failed { message });
                }
            }
            Event::Crashed(crash) => self.crashed(crash, now, &mut commands),
            Event::Tick => {
                if self.deadline().is_some_and(|deadline| deadline <= now) {
                    self.crashed(Crash::TimedOut, now, &mut commands);
                }
            }
            Event::Retry => {
                if self.crash.take().is_some() {
                    self.waiting = self.waiting.take().or_else(|| self.sent.clone());
                    self.beyond = None;
                    self.answered = None;
                    if self.life == Life::Gone {
                        self.spawn(now, &mut commands);
                    }
                }
            }
        }
        self.swap(now, &mut commands);
        self.send(now, &mut commands);
        commands
    }

    fn is_newest(&self, rev: u32) -> bool {
        self.waiting.as_ref().or(self.sent.as_ref()).is_some_and(|newest| newest.rev == rev)
    }

    /// Puts a worker with the whole engine in the place of one with a part, which has finished what it was given.
    fn swap(&mut self, now: f64, commands: &mut Vec<Command>) {
        let stays = self.life == Life::Gone || self.has_whole || self.flight.is_some();
        if stays || self.engine != Engine::Whole {
            return;
        }
        commands.push(Command::Kill);
        // A text that has ended a worker waits for its author.
        if self.crash.is_none() {
            self.waiting = self.waiting.take().or_else(|| self.sent.clone());
        }
        self.spawn(now, commands);
    }

    fn load(&mut self, commands: &mut Vec<Command>) {
        if self.engine == Engine::Part {
            self.engine = Engine::Loading;
            commands.push(Command::Load);
        }
    }

    fn spawn(&mut self, now: f64, commands: &mut Vec<Command>) {
        self.life = Life::Starting;
        self.has_whole = self.engine == Engine::Whole;
        self.spawned = now;
        commands.push(Command::Spawn);
    }

    fn crashed(&mut self, crash: Crash, now: f64, commands: &mut Vec<Command>) {
        if self.life == Life::Gone {
            return;
        }
        commands.push(Command::Kill);
        self.life = Life::Gone;
        self.flight = None;
        self.further.clear();
        self.n_crashes += 1;
        // The text may have been typed back to what has just ended the worker.
        let same =
            |waiting: &mut Draft| self.sent.as_ref().is_some_and(|sent| sent.text == waiting.text);
        let waiting = self.waiting.take_if(same);
        if let Some(waiting) = waiting {
            self.sent = Some(waiting);
        }
        let gives_up = self.n_crashes >= GIVE_UP;
        // A newer text is the user's own next try: nothing to wait for.
        self.crash = (gives_up || self.waiting.is_none()).then_some(crash);
        if !gives_up {
            self.spawn(now, commands);
        }
    }

    /// Gives the worker the newest text at once, unless it is still reading an older one;
    /// other jobs wait for an idle worker.
    fn send(&mut self, now: f64, commands: &mut Vec<Command>) {
        let reads = |flight: &Flight| matches!(flight.request.job, Job::Analyse { .. });
        if self.life != Life::Up || self.crash.is_some() || self.flight.as_ref().is_some_and(reads)
        {
            return;
        }
        let request = if let Some(next) = self.waiting.take() {
            self.sent = Some(next.clone());
            let Draft { rev, text, orientation, closed } = next;
            Request::new(rev, Job::Analyse { text, orientation, closed })
        } else if let (None, Some(sent), false, true) =
            (&self.flight, &self.sent, self.further.is_empty(), self.has_whole)
        {
            Request::new(sent.rev, self.further.remove(0))
        } else {
            return;
        };
        self.flight = Some(Flight { request: request.clone(), since: now, heard: now });
        commands.push(Command::Post(request));
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Crash, Event, LinkState, Orientation, Supervisor};
    use crate::protocol::{Job, Request};

    fn edit(rev: u32, text: &str) -> Event {
        let (text, closed) = (text.to_owned(), String::new());
        Event::Edit { rev, text, orientation: Orientation::Wide, closed }
    }

    fn analyse(rev: u32, text: &str) -> Command {
        let (text, orientation, closed) = (text.to_owned(), Orientation::Wide, String::new());
        Command::Post(Request::new(rev, Job::Analyse { text, orientation, closed }))
    }

    fn running(text: &str) -> Supervisor {
        let mut link = Supervisor::default();
        link.on(Event::Start, 0.0);
        link.on(Event::Loaded, 0.5);
        link.on(Event::Ready, 1.0);
        assert_eq!(link.on(edit(1, text), 2.0), [analyse(1, text)]);
        link
    }

    /// The same with a part of the engine.
    fn beginning(text: &str) -> Supervisor {
        let mut link = Supervisor::default();
        link.on(Event::Start, 0.0);
        link.on(Event::Ready, 1.0);
        assert_eq!(link.on(edit(1, text), 2.0), [analyse(1, text)]);
        link
    }

    #[test]
    fn the_whole_engine_takes_over_unseen_and_goes_on_with_what_was_asked() {
        let mut link = beginning("a");
        assert!(link.is_news(1));
        assert_eq!(link.on(Event::Done(1), 3.0), [Command::Load]);
        assert_eq!(link.on(Event::Ask { rev: 1, jobs: vec![Job::Check] }, 4.0), []);
        assert_eq!(link.on(Event::Loaded, 5.0), [Command::Kill, Command::Spawn]);
        assert_eq!(link.on(Event::Ready, 6.0), [analyse(1, "a")]);
        assert!(!link.is_news(1), "the page has it already");
        let check = Command::Post(Request::new(1, Job::Check));
        assert_eq!(link.on(Event::Done(1), 7.0), [check]);
    }

    #[test]
    fn a_text_beyond_the_part_waits_for_the_whole() {
        let mut link = beginning("a");
        assert_eq!(link.on(Event::Beyond(1), 3.0), [Command::Load]);
        assert_eq!(link.state(), LinkState::Starting);
        assert_eq!(link.on(Event::Loaded, 4.0), [Command::Kill, Command::Spawn]);
        assert_eq!(link.on(Event::Ready, 5.0), [analyse(1, "a")]);
        assert!(link.is_news(1));
    }

    #[test]
    fn a_reading_is_finished_before_the_whole_takes_over() {
        let mut link = beginning("a");
        assert_eq!(link.on(Event::Done(1), 3.0), [Command::Load]);
        assert_eq!(link.on(edit(2, "b"), 4.0), [analyse(2, "b")]);
        assert_eq!(link.on(Event::Loaded, 5.0), []);
        assert_eq!(link.on(Event::Done(2), 6.0), [Command::Kill, Command::Spawn]);
    }

    #[test]
    fn a_whole_that_cannot_be_loaded_is_told_once_it_is_needed() {
        let mut link = beginning("a");
        link.on(Event::Done(1), 3.0);
        link.on(Event::NotLoaded("no network".to_owned()), 4.0);
        assert_eq!(link.state(), LinkState::Ready);
        assert_eq!(link.on(edit(2, "b"), 5.0), [analyse(2, "b")]);
        assert_eq!(link.on(Event::Beyond(2), 6.0), [Command::Load]);
        link.on(Event::NotLoaded("no network".to_owned()), 7.0);
        assert!(is_down(&link, false));
        assert_eq!(link.on(Event::Retry, 8.0), [analyse(2, "b")]);
        assert_eq!(link.on(Event::Beyond(2), 9.0), [Command::Load]);
    }

    fn is_down(link: &Supervisor, expected: bool) -> bool {
        matches!(link.state(), LinkState::Down { gave_up, .. } if gave_up == expected)
    }

    #[test]
    fn nothing_is_sent_before_the_worker_is_ready() {
        let mut link = Supervisor::default();
        assert_eq!(link.on(Event::Start, 0.0), [Command::Spawn]);
        assert_eq!(link.on(edit(1, "a"), 1.0), []);
        assert_eq!(link.on(edit(2, "ab"), 2.0), []);
        assert_eq!(link.on(Event::Ready, 3.0), [analyse(2, "ab")]);
    }

    #[test]
    fn keystrokes_are_coalesced_to_the_newest() {
        let mut link = running("a");
        assert_eq!(link.on(edit(2, "ab"), 3.0), []);
        assert_eq!(link.on(edit(3, "abc"), 4.0), []);
        assert_eq!(link.on(Event::Done(1), 5.0), [analyse(3, "abc")]);
        assert_eq!(link.on(Event::Done(3), 6.0), []);
        assert_eq!(link.state(), LinkState::Ready);
    }

    #[test]
    fn a_new_text_supersedes_a_running_check() {
        let mut link = running("a");
        link.on(Event::Done(1), 3.0);
        let jobs = vec![Job::Check, Job::Check];
        let check = Command::Post(Request::new(1, Job::Check));
        assert_eq!(link.on(Event::Ask { rev: 1, jobs }, 4.0), [check]);
        assert_eq!(link.on(edit(2, "b"), 5.0), [analyse(2, "b")]);
        assert_eq!(link.on(Event::Done(1), 6.0), [], "the old check's answer changes nothing");
        assert_eq!(link.on(Event::Done(2), 7.0), [], "and what else it asked for is forgotten");
    }

    #[test]
    fn jobs_of_an_outdated_text_are_not_sent() {
        let mut link = running("a");
        link.on(edit(2, "b"), 3.0);
        link.on(Event::Done(1), 4.0);
        assert_eq!(link.on(Event::Ask { rev: 1, jobs: vec![Job::Check] }, 5.0), []);
        assert_eq!(link.on(Event::Done(2), 6.0), []);
    }

    #[test]
    fn a_hang_ends_the_worker_and_the_text_is_not_sent_again() {
        let mut link = running("a");
        assert_eq!(link.on(Event::Tick, 1000.0), []);
        assert_eq!(link.on(Event::Tick, 2002.0), [Command::Kill, Command::Spawn]);
        assert!(is_down(&link, false));
        assert_eq!(link.on(Event::Ready, 2100.0), []);
        assert!(is_down(&link, false));
        assert_eq!(link.on(edit(2, "b"), 2200.0), [analyse(2, "b")]);
        link.on(Event::Done(2), 2300.0);
        assert_eq!(link.state(), LinkState::Ready);
    }

    #[test]
    fn progress_is_a_sign_of_life() {
        let mut link = running("a");
        link.on(Event::Done(1), 3.0);
        link.on(Event::Ask { rev: 1, jobs: vec![Job::Check] }, 4.0);
        link.on(Event::Progress(1), 1900.0);
        assert_eq!(link.on(Event::Tick, 2500.0), []);
        assert_eq!(link.on(Event::Tick, 3900.0), [Command::Kill, Command::Spawn]);
    }

    #[test]
    fn two_crashes_in_a_row_stay_down_until_asked() {
        let crash = || Event::Crashed(Crash::Failed { message: "unreachable".to_owned() });
        let mut link = running("a");
        assert_eq!(link.on(crash(), 3.0), [Command::Kill, Command::Spawn]);
        link.on(Event::Ready, 4.0);
        assert_eq!(link.on(Event::Retry, 5.0), [analyse(1, "a")]);
        assert_eq!(link.on(crash(), 6.0), [Command::Kill]);
        assert!(is_down(&link, true));
        assert_eq!(link.on(edit(2, "b"), 7.0), [], "an edit does not start a third one");
        assert_eq!(link.on(Event::Retry, 8.0), [Command::Spawn]);
        assert_eq!(link.on(Event::Ready, 9.0), [analyse(2, "b")]);
        link.on(Event::Done(2), 10.0);
        assert_eq!(link.on(edit(3, "a"), 11.0), [analyse(3, "a")]);
        assert_eq!(link.on(crash(), 12.0), [Command::Kill, Command::Spawn], "the count began anew");
    }

    #[test]
    fn a_newer_text_goes_on_after_a_crash_unless_it_is_the_same_again() {
        let crash = || Event::Crashed(Crash::TimedOut);
        let mut link = running("a");
        link.on(edit(2, "b"), 3.0);
        link.on(crash(), 4.0);
        assert_eq!(link.state(), LinkState::Starting);
        assert_eq!(link.on(Event::Ready, 5.0), [analyse(2, "b")]);

        let mut link = running("a");
        link.on(edit(2, "b"), 3.0);
        link.on(edit(3, "a"), 3.0);
        link.on(crash(), 4.0);
        assert_eq!(link.on(Event::Ready, 5.0), []);
        assert!(is_down(&link, false));
        assert_eq!(link.on(Event::Retry, 6.0), [analyse(3, "a")]);
    }
}

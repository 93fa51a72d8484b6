//! What the page asks the panels' worker: markup that needs the whole engine and that stepping does without.
//!
//! Each place of the page has at most one question at a time, made from the state alone. Decisions, without a worker.
//! Deliberately absent: asking anything again by itself that has ended a worker.

use foldback::report::Role;

use super::markup::Html;
use super::reduce::State;
use super::supervise::Life;
use super::view::{Aid, Draw, Over, Side};
use crate::protocol::{Job, Request};

/// A place that the worker fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// Over the graph.
    Over,
    /// Beneath the inspected node.
    Side,
    /// The list of things to draw.
    Draw,
    /// Nowhere on the page: it goes into the text, to the clipboard or into a file.
    Errand,
    /// What is asked before a step.
    Quiz,
    /// At a word of the program.
    Aid,
    /// Nowhere either: what is stored of documents, and what comes of it.
    Keep,
}

/// How many places there are.
pub const N_SLOTS: usize = 7;

impl Slot {
    /// Those that ask what the state says; [`Slot::Keep`] has its own questions.
    const ALL: [Self; N_SLOTS - 1] =
        [Self::Over, Self::Side, Self::Draw, Self::Errand, Self::Quiz, Self::Aid];

    /// Its place in a list of them.
    pub const fn ix(self) -> usize {
        self as usize
    }

    /// Whether it asks of the text as it is being written, or of none: then it need not be one that can be built.
    fn is_free(self, ask: &str) -> bool {
        let free = ["make example ", "draw find ", "draw lines ", "keys ", "reference ", "docs "];
        ask.is_empty() || self == Self::Aid || free.iter().any(|free| ask.starts_with(free))
    }

    /// What it asks for now: a word and what that needs to know; empty for nothing.
    fn ask(self, state: &State) -> String {
        let (run, view) = (&state.run, &state.view);
        let args = &state.panels.args;
        let node = || run.inspected(view).map_or_else(|| "-".to_owned(), |node| node.to_string());
        // A step of the picture: the checks and the updates have none.
        let step = || run.timeline.picture(view.step).unwrap_or(0).to_string();
        match self {
            Self::Over => match view.over {
                Over::Graph | Over::Steps => String::new(),
                Over::Checks => "checks".to_owned(),
                Over::Fold => ["fold ", &step(), " ", args].concat(),
                Over::Rules => "rules".to_owned(),
                Over::Paths => ["paths ", &node(), " ", args].concat(),
                Over::Reference => ["reference ", args].concat(),
                Over::Keys => ["keys ", &view.keys.text()].concat(),
                Over::Documents => {
                    let shelf = &state.shelf;
                    ["docs list ", &shelf.place.id, " ", &shelf.made.to_string(), " ", args]
                        .concat()
                }
            },
            Self::Side => match view.side {
                Side::Inspect => {
                    let mut ask = ["side ", &step(), " ", &node()].concat();
                    for (word, names) in
                        [(" sel=", marks(state)), (" closed=", state.closed.join(","))]
                    {
                        if !names.is_empty() {
                            ask += word;
                            ask += &names;
                        }
                    }
                    ask
                }
                Side::Problem(_) => String::new(),
            },
            Self::Draw => {
                let name = |node: Option<u32>| drawable(state, node).unwrap_or("-").to_owned();
                let from = name(run.inspected(view).filter(|_| view.selected.is_some()));
                let query = &state.panels.query;
                match view.draw {
                    Draw::Nothing => String::new(),
                    Draw::New => ["draw new ", &from, " ", query].concat(),
                    Draw::Before => ["draw before ", &from, " ", query].concat(),
                    Draw::Find { lines: true, .. } => ["draw lines ", query].concat(),
                    Draw::Find { .. } => ["draw find ", &from, " ", query].concat(),
                    Draw::Connect { to } => {
                        ["draw connect ", &from, " ", &name(to), " ", query].concat()
                    }
                }
            }
            Self::Quiz => view.quiz.map_or(String::new(), |step| {
                ["quiz ", &step.to_string(), " ", &state.panels.guess].concat()
            }),
            Self::Errand => state.panels.errand.clone(),
            Self::Aid => match view.aid {
                Aid::Nothing => String::new(),
                Aid::Complete { asked } => {
                    let word = if asked { "proposals " } else { "complete " };
                    [word, &state.doc.caret().to_string()].concat()
                }
                Aid::Card(at) => ["card ", &at.to_string()].concat(),
            },
            Self::Keep => String::new(),
        }
    }
}

/// The name under which a node can be drawn upon: its own, or for a gradient that of its forward node.
pub fn drawable(state: &State, node: Option<u32>) -> Option<&str> {
    let report = state.run.report()?;
    let row = report.nodes.get(node? as usize)?;
    let own = if node? < report.n_forward { row } else { report.nodes.get(row.into? as usize)? };
    (own.role != Role::Inline).then_some(own.name.as_str())
}

/// The names that a gesture takes where several nodes are selected, with commas between them; empty for one.
fn marks(state: &State) -> String {
    if state.also.is_empty() { String::new() } else { drawables(state) }
}

/// The names that a gesture takes: of all that is selected, else of what the step is about.
pub fn drawables(state: &State) -> String {
    let mut out: Vec<&str> = Vec::new();
    let one = state.run.inspected(&state.view);
    for node in state.also.iter().copied().chain(one) {
        if let Some(name) = drawable(state, Some(node)).filter(|name| !out.contains(name)) {
            out.push(name);
        }
    }
    out.join(",")
}

/// What the worker's places show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Panels {
    /// What the panel over the graph was told beside its own name.
    pub args: String,
    /// What is looked for in the list of things to draw.
    pub query: String,
    /// What the worker is to do, in words: draw, take something along, open an example.
    pub errand: String,
    /// What was guessed of the step that is being predicted.
    pub guess: String,
    /// Why it could not be.
    pub refused: String,
    /// What was asked last for each place: the revision, and the question.
    asked: [(u32, String); N_SLOTS],
    /// What stands there.
    html: [String; N_SLOTS],
    /// Counts the changes of that.
    pub version: u32,
}

impl Panels {
    /// What stands in a place.
    pub fn html(&self, slot: Slot) -> &str {
        &self.html[slot.ix()]
    }

    /// Whether something was asked for a place.
    pub fn awaits(&self, slot: Slot) -> bool {
        !self.asked[slot.ix()].1.is_empty()
    }

    /// Takes in an answer, if it is the answer to the last question.
    ///
    /// What an errand brings has no place: it is given back.
    pub fn fill(&mut self, slot: usize, rev: u32, ask: &str, html: String) -> Option<String> {
        if !self.asked.get(slot).is_some_and(|(of, asked)| *of == rev && asked == ask) {
            return None;
        }
        if slot == Slot::Errand.ix() {
            self.errand.clear();
            return Some(html);
        }
        if let Some(place) = self.html.get_mut(slot) {
            *place = html;
            self.version += 1;
        }
        None
    }
}

/// The questions that have changed with the state; a place that asks nothing any more is emptied.
pub fn ask(state: &mut State) -> Vec<Event> {
    // A text that cannot be built has the panels of the last one that could.
    let stale =
        state.run.newest.is_none() || state.run.is_stale() || state.run.rev != state.doc.rev();
    let mut events = Vec::new();
    for slot in Slot::ALL {
        let ask = slot.ask(state);
        if stale && !slot.is_free(&ask) {
            continue;
        }
        // What is asked at a word is asked of the newest text.
        let (rev, text) = match slot {
            Slot::Aid => (state.doc.rev(), state.doc.text()),
            _ => (state.run.rev, state.run.of.as_str()),
        };
        let text = text.to_owned();
        let now = (rev, ask);
        let was = &mut state.panels.asked[slot.ix()];
        if *was == now || was.1.is_empty() && now.1.is_empty() {
            continue;
        }
        // Another panel is not shown in this one's frame.
        let word = |ask: &str| ask.split(' ').next().unwrap_or_default().to_owned();
        if word(&was.1) != word(&now.1) && !state.panels.html[slot.ix()].is_empty() {
            state.panels.html[slot.ix()].clear();
            state.panels.version += 1;
        }
        was.clone_from(&now);
        // A node that was selected is told at once; the steps that one runs through are not.
        let waits = slot == Slot::Side && state.view.selected.is_none();
        events.push(Event::Ask { slot, rev, text, ask: now.1, waits });
    }
    events.extend(state.shelf_ask());
    events
}

/// What stands in the place of a panel that could not be made.
pub fn crashed(why: &str) -> String {
    let mut html = Html::new();
    html.raw(
        "<p class=\"nopanel\">This panel could not be made, and nothing else has come to harm: ",
    );
    html.text(why).raw("</p>");
    html.done()
}

/// How long the question of a step waits for the next step, in milliseconds: while one steps on, none is asked.
const PAUSE: f64 = 60.0;
/// How long an answer may take, in milliseconds.
const PATIENCE: f64 = 10_000.0;

/// What happens to the panels' worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The whole engine is there, without which there is no panel.
    Loaded,
    /// It could not be loaded, and why.
    NotLoaded(String),
    /// The worker can be sent to.
    Ready,
    /// A place wants something else.
    Ask {
        /// Which.
        slot: Slot,
        /// The text's revision.
        rev: u32,
        /// The text.
        text: String,
        /// What it wants; empty for nothing.
        ask: String,
        /// Whether it waits a little for the next question to take its place.
        waits: bool,
    },
    /// The worker has answered.
    Heard,
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
    /// Say that this question cannot be answered, and why.
    Tell(Request, String),
}

/// The supervisor of the panels' worker: one question at a time, of each place the newest.
#[derive(Clone, Debug, Default)]
pub struct Asks {
    is_loaded: bool,
    life: Life,
    waiting: [Option<Request>; N_SLOTS],
    flight: Option<(Request, f64)>,
    /// Until when the question of a step waits.
    held: f64,
    /// Of which revision it is.
    rev: u32,
}

impl Asks {
    /// When the next [`Event::Tick`] is due, in milliseconds.
    pub fn deadline(&self) -> Option<f64> {
        let waits = self.life == Life::Up && self.waiting[Slot::Side.ix()].is_some();
        let held = waits.then_some(self.held);
        self.flight.as_ref().map(|(_, since)| since + PATIENCE).or(held)
    }

    /// Takes in what happened at `now`, in milliseconds, and says what to do about it.
    pub fn on(&mut self, event: Event, now: f64) -> Vec<Command> {
        let mut commands = Vec::new();
        match event {
            Event::Loaded => self.is_loaded = true,
            Event::NotLoaded(why) => {
                let all = self.waiting.iter_mut().filter_map(Option::take);
                commands.extend(all.map(|request| Command::Tell(request, why.clone())));
            }
            Event::Ready => self.life = Life::Up,
            Event::Ask { slot, rev, text, ask, waits } => {
                let job = Job::Panel { slot: slot.ix() as u32, text, ask: ask.clone() };
                let request = Request::new(rev, job);
                self.waiting[slot.ix()] = (!ask.is_empty()).then_some(request);
                if slot == Slot::Side {
                    // Of another text it is told at once.
                    self.held = if waits && self.rev == rev { now + PAUSE } else { now };
                    self.rev = rev;
                }
            }
            Event::Heard => self.flight = None,
            Event::Ended(why) => self.ended(why, &mut commands),
            Event::Tick => {
                let since = self.flight.as_ref().map(|(_, since)| *since);
                if since.is_some_and(|since| since + PATIENCE <= now) {
                    self.ended("It took too long.".to_owned(), &mut commands);
                }
            }
        }
        if self.flight.is_none() && self.waiting.iter().any(Option::is_some) {
            match self.life {
                Life::Up => {
                    let free = |ix: usize| ix != Slot::Side.ix() || self.held <= now;
                    let mut all = self.waiting.iter_mut().enumerate();
                    let next = all.find_map(|(ix, one)| if free(ix) { one.take() } else { None });
                    if let Some(request) = next {
                        self.flight = Some((request.clone(), now));
                        commands.push(Command::Post(request));
                    }
                }
                Life::Gone if self.is_loaded => {
                    self.life = Life::Starting;
                    commands.push(Command::Spawn);
                }
                Life::Gone | Life::Starting => {}
            }
        }
        commands
    }

    fn ended(&mut self, why: String, commands: &mut Vec<Command>) {
        if self.life == Life::Gone {
            return;
        }
        self.life = Life::Gone;
        commands.push(Command::Kill);
        if let Some((request, _)) = self.flight.take() {
            commands.push(Command::Tell(request, why));
        } else {
            // It could not be started: nothing is asked of the next one by itself.
            let all = self.waiting.iter_mut().filter_map(Option::take);
            commands.extend(all.map(|request| Command::Tell(request, why.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Asks, Command, Event, Job, Request, Slot};

    fn ask(slot: Slot, ask: &str) -> Event {
        Event::Ask { slot, rev: 1, text: "t".to_owned(), ask: ask.to_owned(), waits: true }
    }

    fn request(slot: Slot, ask: &str) -> Request {
        let (text, ask) = ("t".to_owned(), ask.to_owned());
        Request::new(1, Job::Panel { slot: slot.ix() as u32, text, ask })
    }

    fn post(slot: Slot, ask: &str) -> [Command; 1] {
        [Command::Post(request(slot, ask))]
    }

    fn running() -> Asks {
        let mut asks = Asks::default();
        asks.on(Event::Loaded, 0.0);
        assert_eq!(asks.on(ask(Slot::Draw, "a"), 0.0), [Command::Spawn]);
        assert_eq!(asks.on(Event::Ready, 1.0), post(Slot::Draw, "a"));
        asks
    }

    #[test]
    fn nothing_is_started_before_the_engine_is_there_and_something_is_asked() {
        let mut asks = Asks::default();
        assert_eq!(asks.on(ask(Slot::Draw, "a"), 0.0), []);
        assert_eq!(asks.on(Event::Loaded, 1.0), [Command::Spawn]);
        assert_eq!(asks.on(ask(Slot::Draw, "b"), 2.0), []);
        assert_eq!(asks.on(Event::Ready, 3.0), post(Slot::Draw, "b"), "the newest alone");
    }

    #[test]
    fn one_question_is_under_way_and_of_each_place_the_newest_waits() {
        let mut asks = running();
        assert_eq!(asks.on(ask(Slot::Draw, "b"), 2.0), []);
        assert_eq!(asks.on(ask(Slot::Over, "c"), 2.0), []);
        assert_eq!(asks.on(ask(Slot::Draw, "d"), 2.0), []);
        assert_eq!(asks.on(Event::Heard, 3.0), post(Slot::Over, "c"));
        assert_eq!(asks.on(Event::Heard, 4.0), post(Slot::Draw, "d"));
        assert_eq!(asks.on(Event::Heard, 5.0), []);
        assert_eq!(asks.deadline(), None);
    }

    #[test]
    fn a_place_that_is_closed_asks_nothing() {
        let mut asks = running();
        asks.on(ask(Slot::Over, "c"), 2.0);
        asks.on(ask(Slot::Over, ""), 2.5);
        assert_eq!(asks.on(Event::Heard, 3.0), []);
    }

    #[test]
    fn what_ends_a_worker_is_told_and_not_asked_again() {
        let mut asks = running();
        let tell = Command::Tell(request(Slot::Draw, "a"), "trap".to_owned());
        assert_eq!(asks.on(Event::Ended("trap".to_owned()), 5.0), [Command::Kill, tell]);
        assert_eq!(asks.on(Event::Tick, 6.0), []);
        assert_eq!(asks.on(ask(Slot::Draw, "b"), 7.0), [Command::Spawn]);
        assert_eq!(asks.on(Event::Ready, 8.0), post(Slot::Draw, "b"));
        let commands = asks.on(Event::Tick, 10_009.0);
        assert!(matches!(&commands[..], [Command::Kill, Command::Tell(..)]), "{commands:?}");
    }

    #[test]
    fn while_one_steps_nothing_is_asked_of_each_step() {
        let mut asks = running();
        asks.on(Event::Heard, 2.0);
        assert_eq!(asks.on(ask(Slot::Side, "text"), 3.0), post(Slot::Side, "text"));
        asks.on(Event::Heard, 4.0);
        for step in 0..5 {
            assert_eq!(asks.on(ask(Slot::Side, &step.to_string()), f64::from(10 * step)), []);
        }
        assert_eq!(asks.deadline(), Some(100.0));
        assert_eq!(asks.on(Event::Tick, 50.0), []);
        assert_eq!(asks.on(Event::Tick, 100.0), post(Slot::Side, "4"), "the last one alone");
    }

    #[test]
    fn without_the_whole_engine_every_place_that_waits_is_told_why() {
        let mut asks = Asks::default();
        asks.on(ask(Slot::Over, "a"), 0.0);
        let why = "no network".to_owned();
        let told = [Command::Tell(request(Slot::Over, "a"), why.clone())];
        assert_eq!(asks.on(Event::NotLoaded(why), 1.0), told);
        assert_eq!(asks.on(ask(Slot::Over, "b"), 2.0), []);
        assert_eq!(asks.on(Event::Loaded, 3.0), [Command::Spawn], "a later try may succeed");
    }
}

//! The one place where the page's state changes: a pure function of state and action.
//!
//! What has to happen outside of the state comes back as effects.

use std::sync::Arc;

use foldback::lang::{self, Span, TextEdit, edit};
use foldback::report::{FindingRow, Report, TickGlyph, Weight};

use super::action::{Action, Effect, Move, Pane};
use super::answer::Answer;
use super::asks::{self, Panels};
use super::doc::Doc;
use super::examples::{EXAMPLES, FIRST, NEW};
use super::layout::Orientation;
use super::markup::trouble;
use super::names::{self, Arrow};
use super::shelf::Shelf;
use super::supervise::LinkState;
use super::timeline::{Grain, Timeline};
use super::trainer;
use super::view::{Aid, Camera, Over, Room, Scroll, Side, Size, Tab, Theme, View};
use crate::protocol::{Checked, Job, Trained};

/// The rule sets, in the order in which one goes through them.
pub const RULES: [&str; 3] = ["ggml", "upstream", "numpy"];

/// The least zoom at which a box's name is read, and the one on a phone, which is held closer but smaller.
const READABLE: f64 = 0.5;
const READABLE_ON_A_PHONE: f64 = 0.7;

/// A run of at most so many steps begins by itself.
const AT_ONCE: u32 = 1000;

/// What the engine has said.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The answer on screen: the last one whose graph is whole.
    pub shown: Option<Arc<Answer>>,
    /// The newest answer: its findings are the list of problems.
    pub newest: Option<Arc<Answer>>,
    /// The newest answer's revision.
    pub rev: u32,
    /// The text that it is the answer to.
    pub of: String,
    /// The checks of the answer on screen.
    pub checks: Option<Arc<Checked>>,
    /// Its training.
    pub training: Option<Arc<Trained>>,
    /// The revision that it trains: the graph on screen's, which may be older than the text.
    pub trains: Option<u32>,
    /// Its steps.
    pub timeline: Timeline,
    /// Counts the changes of all this.
    pub version: u32,
}

impl Run {
    /// The problems of the newest text.
    pub fn problems(&self) -> &[FindingRow] {
        self.newest.as_ref().map_or(&[], |answer| &answer.report.findings)
    }

    /// The report on screen.
    pub fn report(&self) -> Option<&Report> {
        self.shown.as_deref().map(|answer| &answer.report)
    }

    /// Whether the graph on screen is older than the text, because the text has none.
    pub fn is_stale(&self) -> bool {
        match (&self.shown, &self.newest) {
            (Some(shown), Some(newest)) => !Arc::ptr_eq(shown, newest),
            _ => false,
        }
    }

    /// The problem that stopped the build.
    pub fn stopped_by(&self) -> Option<usize> {
        self.problems().iter().position(|finding| finding.stops)
    }
}

/// All that the page is.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The text.
    pub doc: Doc,
    /// What is shown of it.
    pub view: View,
    /// Where the picture stands.
    pub camera: Camera,
    /// How much room there is.
    pub room: Room,
    /// Where the table of steps stands.
    pub scroll: Scroll,
    /// What the engine has said.
    pub run: Run,
    /// What the panels' worker has made.
    pub panels: Panels,
    /// Which document is open, and what is asked of the store.
    pub shelf: Shelf,
    /// How the engine is.
    pub link: LinkState,
    /// Counts the changes of that.
    pub n_links: u32,
    /// Selected beside the selected node, in the order in which they were.
    pub also: Vec<u32>,
    /// The calls that are drawn closed, by their names.
    pub closed: Vec<String>,
    /// What was drawn and is to be selected when its answer is there.
    drawn: Vec<String>,
    /// Whether the next answer is a document's first one.
    opens: bool,
}

impl State {
    /// A page that has just been given a document, and the first things to do.
    pub fn open(text: &str, room: Room, theme: Theme) -> (Self, Vec<Effect>) {
        let view = View { theme, ..View::default() };
        let state = Self { doc: Doc::new(text), room, view, opens: true, ..Self::default() };
        let effects = vec![Effect::ShowText { text: text.to_owned(), caret: 0 }, state.analyse()];
        (state, effects)
    }

    fn analyse(&self) -> Effect {
        let orientation = if self.room.narrow { Orientation::Tall } else { Orientation::Wide };
        let (text, closed) = (self.doc.text().to_owned(), self.closed.join(" "));
        Effect::Analyse { rev: self.doc.rev(), text, orientation, closed }
    }
}

/// Changes the state and says what else to do.
pub fn reduce(state: &mut State, action: Action) -> Vec<Effect> {
    let mut effects = acted(state, action);
    effects.extend(asks::ask(state).into_iter().map(Effect::Panels));
    effects.extend(state.shelf_news().map(|mark| Effect::Keep("mark", mark)));
    effects
}

fn acted(state: &mut State, action: Action) -> Vec<Effect> {
    let mut effects = Vec::new();
    match action {
        Action::Type { text, caret } => {
            let grew = text.len() > state.doc.text().len();
            if state.doc.typed(&text, caret) {
                state.view.aid = panels::aid(state, grew);
                edited(state, &mut effects);
            }
        }
        Action::Caret(caret) => {
            if caret != state.doc.caret() {
                state.view.aid = Aid::Nothing;
            }
            state.doc.put_caret(caret);
        }
        Action::Undo => {
            if state.doc.undo() {
                rewritten(state, &mut effects, "Undone");
            }
        }
        Action::Redo => {
            if state.doc.redo() {
                rewritten(state, &mut effects, "Done again");
            }
        }
        Action::SetRules(name) => set_rules(state, name, &mut effects),
        Action::NextRules => {
            let now = state.run.newest.as_ref().map_or("", |answer| &answer.report.rules);
            let ix = RULES.iter().position(|name| *name == now).map_or(0, |ix| ix + 1);
            set_rules(state, RULES[ix % RULES.len()], &mut effects);
        }
        Action::Fix { problem, fix } => apply_fix(state, problem, fix, &mut effects),
        Action::Open(source) => shelf::open(state, source, &mut effects),
        Action::Doc(_) | Action::Flush | Action::Refuse(_) => {
            shelf::acted(state, action, &mut effects);
        }
        Action::ChooseFile => effects.push(Effect::ChooseFile),
        Action::Save => effects
            .push(Effect::Download { name: file_name(state), text: state.doc.text().to_owned() }),
        Action::Step(to) => {
            state.view.playing = false;
            if panels::predicts(state, to, &mut effects) {
                return effects;
            }
            if step(state, to) {
                announce_step(state, &mut effects);
            }
        }
        Action::SetGrain(grain) => {
            state.view.grain = grain;
            // One stands at a place of the scrubber, so at a node's end.
            if grain == Grain::Node {
                let place = state.run.timeline.place(grain, state.view.step);
                go(state, state.run.timeline.step_at(grain, place));
            }
        }
        Action::Play => {
            state.view.playing = !state.view.playing;
            if state.view.playing {
                step(state, Move::Next { held: false });
                effects.push(Effect::Wait(state.view.speed.period()));
            } else {
                announce_step(state, &mut effects);
            }
        }
        Action::Faster => state.view.speed = state.view.speed.next(),
        Action::Beat => {
            if state.view.playing && step(state, Move::Next { held: true }) {
                effects.push(Effect::Wait(state.view.speed.period()));
            } else if state.view.playing {
                state.view.playing = false;
                announce_step(state, &mut effects);
            }
        }
        Action::Select(node) => {
            select(state, node);
            marks::reveal(state, node, &mut effects);
        }
        Action::Mark(_)
        | Action::MarkWalk(_)
        | Action::MarkIn(..)
        | Action::Drag { .. }
        | Action::Close(_) => marks::acted(state, action, &mut effects),
        Action::Walk(arrow) => {
            if let Some(node) = neighbour(state, arrow) {
                select(state, Some(node));
                effects.push(Effect::FocusSelected);
            }
        }
        Action::ShowProblem(ix) => show_problem(state, ix, &mut effects),
        Action::NextProblem { forward } => {
            let n = state.run.problems().len();
            if n > 0 {
                let ix = match state.view.side {
                    Side::Problem(ix) if forward => (ix + 1) % n,
                    Side::Problem(ix) => (ix + n - 1) % n,
                    Side::Inspect if forward => 0,
                    Side::Inspect => n - 1,
                };
                show_problem(state, ix, &mut effects);
            }
        }
        Action::Inspect => state.view.side = Side::Inspect,
        Action::PickFix(fix) => state.view.fix = fix,
        Action::Toggle(over) => {
            state.view.over = if state.view.over == over { Over::Graph } else { over };
            state.panels.args.clear();
            state.view.tab = Tab::Graph;
        }
        Action::Tell(_)
        | Action::Panel { .. }
        | Action::Draw(_)
        | Action::Find(_)
        | Action::Make(_)
        | Action::MakeHere(_)
        | Action::Wire { .. }
        | Action::Predict
        | Action::Guess(_)
        | Action::EditLine
        | Action::Aid(_)
        | Action::CardHere
        | Action::Write { .. }
        | Action::GoTo(_)
        | Action::Keys(_)
        | Action::Take(_) => panels::acted(state, action, &mut effects),
        Action::Show(tab) => state.view.tab = tab,
        Action::SetTheme(theme) => {
            state.view.theme = theme;
            effects.push(Effect::Theme(theme));
        }
        Action::NextPane { from, forward } => {
            let n = Pane::ALL.len();
            let at = from.and_then(|from| Pane::ALL.iter().position(|pane| *pane == from));
            let next = match (at, forward) {
                (Some(at), true) => (at + 1) % n,
                (Some(at), false) => (at + n - 1) % n,
                (None, true) => 0,
                (None, false) => n - 1,
            };
            go_to_pane(state, Pane::ALL[next], &mut effects);
        }
        Action::Resize(room) => {
            let turned = room.narrow != state.room.narrow;
            state.room = room;
            if turned && state.run.newest.is_some() {
                shelf::touch(state);
                edited(state, &mut effects);
            }
            if state.camera.fitted {
                open_camera(state);
            }
        }
        Action::Fit => fit(state, 0.0),
        Action::Zoom { factor, at } => {
            let (x, y) = at.unwrap_or((state.room.pane.width / 2.0, state.room.pane.height / 2.0));
            state.camera = state.camera.zoomed(factor, x, y);
        }
        Action::Pan(dx, dy) => state.camera = state.camera.moved(dx, dy),
        Action::Scroll(scroll) => state.scroll = scroll,
        Action::Answered { rev, answer } => {
            if rev == state.doc.rev() {
                answered(state, &answer, &mut effects);
            }
        }
        Action::Checked { rev, checked } => {
            if rev == state.run.rev && !state.run.is_stale() {
                state.run.checks = Some(checked);
                state.run.retime();
            }
        }
        Action::Trained { rev, trained } => {
            if state.run.trains == Some(rev) {
                state.run.training = Some(trained);
                state.run.retime();
            }
        }
        Action::TrainerEnded { rev, why } => {
            if state.run.trains == Some(rev) {
                let [said, again] = trouble::trainer(&why);
                let places = [said, again, String::new(), String::new()];
                let trained = Trained { places, ..Trained::default() };
                state.run.training = Some(Arc::new(trained));
                state.run.retime();
            }
        }
        Action::Train(control) => effects.push(Effect::Train(trainer::Event::Control(control))),
        Action::ShowTrouble(node) => {
            state.view.over = Over::Graph;
            state.view.tab = Tab::Graph;
            select(state, Some(node));
            marks::reveal(state, Some(node), &mut effects);
            effects.push(Effect::FocusSelected);
        }
        Action::TrainAgain => effects.push(Effect::Train(trainer::Event::Again)),
        Action::Linked(link) => {
            if let (LinkState::Down { .. }, false) =
                (&link, matches!(state.link, LinkState::Down { .. }))
            {
                effects.push(Effect::Announce("The engine stopped; your text is kept".to_owned()));
            }
            state.link = link;
            state.n_links += 1;
        }
        Action::Retry => effects.push(Effect::Retry),
    }
    effects
}

impl Run {
    /// The node that a step is about.
    pub fn node_of_step(&self, step: usize) -> Option<u32> {
        let tick = self.timeline.tick(step)?;
        tick.node.or(tick.target).or(tick.inside)
    }

    /// The node that the right column shows.
    pub fn inspected(&self, view: &View) -> Option<u32> {
        view.selected.or_else(|| self.node_of_step(view.step))
    }

    /// The forward node that a node is, or whose gradient it is.
    pub fn forward(&self, node: Option<u32>) -> Option<u32> {
        let report = self.report()?;
        if node? < report.n_forward { node } else { report.nodes.get(node? as usize)?.into }
    }

    fn retime(&mut self) {
        self.timeline =
            Timeline::new(self.shown.clone(), self.checks.clone(), self.training.clone());
        self.version += 1;
    }
}

/// Brings a pane into sight and gives it the focus.
fn go_to_pane(state: &mut State, pane: Pane, effects: &mut Vec<Effect>) {
    state.view.tab = Tab::of(pane).unwrap_or(state.view.tab);
    effects.push(Effect::Focus(pane));
}

/// The text has changed: the engine reads it.
fn edited(state: &mut State, effects: &mut Vec<Effect>) {
    state.view.playing = false;
    effects.push(state.analyse());
}

/// The text has changed other than by typing: the editor shows it, too.
fn rewritten(state: &mut State, effects: &mut Vec<Effect>, what: &str) {
    effects.push(Effect::ShowText { text: state.doc.text().to_owned(), caret: state.doc.caret() });
    effects.push(Effect::Announce(what.to_owned()));
    edited(state, effects);
}

fn set_rules(state: &mut State, name: &str, effects: &mut Vec<Effect>) {
    let text = state.doc.text();
    let change = edit::set_rules(text, &lang::parse(text).ast, name);
    if let Ok(text) = edit::apply(text, &[change])
        && state.doc.replace(&text)
    {
        rewritten(state, effects, &format!("Rules: {name}"));
    }
}

fn apply_fix(state: &mut State, problem: usize, fix: usize, effects: &mut Vec<Effect>) {
    // Its spans belong to the text that the engine has read.
    if state.run.rev != state.doc.rev() {
        return;
    }
    let found = state.run.problems().get(problem).and_then(|problem| problem.fixes.get(fix));
    let Some(fix) = found.cloned() else { return };
    if let Some(text) = fixed(state.doc.text(), &fix.edits)
        && state.doc.replace(&text)
    {
        state.view.fix = 0;
        rewritten(state, effects, &format!("Applied: {}", fix.title));
    }
}

/// A text with a fix's edits made; none where they do not fit it.
pub fn fixed(text: &str, edits: &[(u32, u32, String)]) -> Option<String> {
    let edits: Vec<_> = edits
        .iter()
        .map(|(start, end, text)| TextEdit::replace(Span::new(*start, *end), text.clone()))
        .collect();
    edit::apply(text, &edits).ok()
}

fn file_name(state: &State) -> String {
    let title = state.name();
    let mut name = String::new();
    for c in title.chars().filter_map(|c| match c {
        'a'..='z' | '0'..='9' => Some(c),
        'A'..='Z' => Some(c.to_ascii_lowercase()),
        ' ' | '-' | '_' => Some('-'),
        _ => None,
    }) {
        if !(c == '-' && (name.is_empty() || name.ends_with('-'))) {
            name.push(c);
        }
    }
    let name = name.trim_end_matches('-');
    format!("{}.fold", if name.is_empty() { "untitled" } else { name })
}

/// Moves along the trace; whether there was a way to go.
fn step(state: &mut State, to: Move) -> bool {
    let (timeline, view) = (&state.run.timeline, state.view);
    if timeline.is_empty() {
        return false;
    }
    let last = timeline.len() - 1;
    let place = timeline.place(view.grain, view.step);
    let node = timeline.place(Grain::Node, view.step);
    let target = match to {
        Move::Next { held } if view.step >= last => {
            if held {
                last
            } else {
                timeline.seed().unwrap_or(0)
            }
        }
        Move::Next { .. } => timeline.step_at(view.grain, place + 1),
        Move::Back => timeline.step_at(view.grain, place.saturating_sub(1)),
        Move::NextNode => {
            // Inside a node its own end comes first.
            let end = timeline.step_at(Grain::Node, node);
            if end > view.step { end } else { timeline.step_at(Grain::Node, node + 1) }
        }
        Move::BackNode => match node.checked_sub(1) {
            Some(before) => timeline.step_at(Grain::Node, before),
            None => 0,
        },
        Move::First => 0,
        Move::Last => last,
        Move::To(step) => step.min(last),
        Move::Place(place) => timeline.step_at(view.grain, place),
        Move::Sum => timeline.next_of(view.step, TickGlyph::Accumulate).unwrap_or(view.step),
        Move::Refusal => timeline.refusal().unwrap_or(view.step),
        Move::About => {
            let next = view.selected.and_then(|node| timeline.next_about(view.step, node));
            next.unwrap_or(view.step)
        }
        Move::Contribution { forward } => {
            // Every contribution passes a fold, also one that has nothing to do.
            let node = state.run.forward(state.run.inspected(&view));
            let next = node.and_then(|node| timeline.fold(view.step, forward, Some(node)));
            next.unwrap_or(view.step)
        }
        Move::Fold { forward } => timeline.fold(view.step, forward, None).unwrap_or(view.step),
    };
    if target == view.step && view.selected.is_none() {
        return false;
    }
    go(state, target);
    true
}

/// Shows a step: the right column and the camera follow it.
fn go(state: &mut State, step: usize) {
    state.view.step = step;
    state.view.selected = None;
    marks::none(state);
    state.view.fix = 0;
    state.view.side = side_of(&state.run, step);
    if let Some(node) = state.run.node_of_step(step) {
        follow(state, node);
    }
}

fn side_of(run: &Run, step: usize) -> Side {
    match (run.timeline.refusal(), run.stopped_by()) {
        (Some(refusal), Some(problem)) if refusal == step && !run.is_stale() => {
            Side::Problem(problem)
        }
        _ => Side::Inspect,
    }
}

fn announce_step(state: &State, effects: &mut Vec<Effect>) {
    let (timeline, view) = (&state.run.timeline, state.view);
    let words = timeline.words(view.step);
    let sentence = if words.sentence.is_empty() { words.title } else { words.sentence };
    effects.push(Effect::Announce(format!(
        "Step {} of {}: {sentence}",
        timeline.place(view.grain, view.step) + 1,
        timeline.n_places(view.grain),
    )));
}

fn select(state: &mut State, node: Option<u32>) {
    let exists =
        |node: &u32| state.run.report().is_some_and(|report| (*node as usize) < report.nodes.len());
    state.view.selected = node.filter(exists);
    state.view.side = Side::Inspect;
    marks::none(state);
    if let Some(node) = state.view.selected {
        follow(state, node);
    }
}

fn show_problem(state: &mut State, ix: usize, effects: &mut Vec<Effect>) {
    let Some(problem) = state.run.problems().get(ix) else { return };
    let (stops, node, message) = (problem.stops, problem.node, problem.message.clone());
    if let (true, false, Some(refusal)) =
        (stops, state.run.is_stale(), state.run.timeline.refusal())
    {
        go(state, refusal);
    } else if let (Some(node), false) = (node, state.run.is_stale()) {
        select(state, Some(node));
    }
    marks::reveal(state, node, effects);
    state.view.side = Side::Problem(ix);
    state.view.fix = 0;
    state.view.tab = Tab::Inspect;
    let n = state.run.problems().len();
    effects.push(Effect::Announce(format!("Problem {} of {n}: {message}", ix + 1)));
}

/// A new answer: the steps, the right column and the camera go on from where they were.
fn answered(state: &mut State, answer: &Arc<Answer>, effects: &mut Vec<Effect>) {
    let was_at_end = state.view.step >= state.run.timeline.opening();
    let refused_before = refusal_message(&state.run);
    let mut selected = std::mem::take(&mut state.drawn);
    if selected.is_empty() {
        selected = marks::names(state);
    }
    state.run.rev = state.doc.rev();
    state.run.of = state.doc.text().to_owned();
    let has_picture = answer.report.whole || state.run.shown.is_none() || state.opens;
    if has_picture {
        state.run.shown = Some(Arc::clone(answer));
        state.run.checks = None;
        state.run.training = None;
    }
    state.run.newest = Some(Arc::clone(answer));
    state.run.retime();
    shelf::keep(state, effects);

    if has_picture {
        let last = state.run.timeline.len().saturating_sub(1);
        let at_end = was_at_end || state.opens;
        state.view.step = match state.shelf.step.take() {
            Some(step) if state.opens => step.min(last),
            _ if at_end => state.run.timeline.opening(),
            _ => state.view.step.min(last),
        };
        state.view.side = side_of(&state.run, state.view.step);
        let nodes = &answer.report.nodes;
        let at = |name: &String| nodes.iter().position(|node| node.name == *name);
        let found = selected.iter().filter_map(at).map(|ix| ix as u32).collect();
        marks::keep(state, found);
        if state.opens || state.camera.fitted {
            open_camera(state);
        } else if let Some(node) = state.run.inspected(&state.view) {
            follow(state, node);
        }
        state.opens = false;
    } else if let Side::Problem(_) = state.view.side {
        // A text that has no graph yet is being typed: its problems are listed, not pushed.
        state.view.side = Side::Inspect;
    }

    if answer.report.whole {
        ask(state, &answer.report, effects);
    }
    let refused = refusal_message(&state.run);
    if refused != refused_before {
        effects.push(Effect::Announce(match refused {
            Some(message) => format!("Refused: {message}"),
            None => "Nothing is refused".to_owned(),
        }));
    }
}

fn refusal_message(run: &Run) -> Option<String> {
    run.stopped_by().and_then(|ix| run.problems().get(ix)).map(|problem| problem.message.clone())
}

/// What a built text asks for further.
fn ask(state: &mut State, report: &Report, effects: &mut Vec<Effect>) {
    let rev = state.run.rev;
    state.run.trains = report.train.as_ref().map(|_| rev);
    let stopped = |finding: &FindingRow| finding.stops && finding.weight == Weight::Error;
    if !report.checks.is_empty() && !report.findings.iter().any(stopped) {
        effects.push(Effect::Ask { rev, jobs: vec![Job::Check] });
    }
    effects.push(Effect::Train(match &report.train {
        // Of a build that is refused too: the run says that it has ended in that error.
        Some(line) => {
            let text = state.doc.text().to_owned();
            trainer::Event::Run { rev, text, start: line.steps <= AT_ONCE }
        }
        None => trainer::Event::Rest,
    }));
}

fn fit(state: &mut State, least: f64) {
    let picture = state.run.shown.as_ref().map_or(Size::default(), |answer| answer.size());
    state.camera = Camera::fit(state.room.pane, picture, least);
}

/// The whole picture; where it could not be read, the part around the step.
fn open_camera(state: &mut State) {
    fit(state, 0.0);
    let readable = if state.room.narrow { READABLE_ON_A_PHONE } else { READABLE };
    if state.camera.zoom >= readable {
        return;
    }
    fit(state, readable);
    let (run, view) = (&state.run, &state.view);
    let picture = run.shown.as_ref().map_or(Size::default(), |answer| answer.size());
    let place = run.inspected(view).and_then(|node| run.shown.as_ref()?.place(node));
    if let Some((place, size)) = place {
        state.camera = state.camera.centred(place, size, state.room.pane, picture);
    }
}

fn follow(state: &mut State, node: u32) {
    let place = state.run.shown.as_ref().and_then(|answer| answer.place(node));
    if let Some((place, size)) = place {
        state.camera = state.camera.showing(place, size, state.room.pane);
    }
}

/// The node of the box that an arrow key leads to.
fn neighbour(state: &State, arrow: Arrow) -> Option<u32> {
    let answer = state.run.shown.as_ref()?;
    let from = state.run.inspected(&state.view).and_then(|node| answer.box_of(node));
    let to = match from {
        Some(from) => names::neighbour(&answer.picture, from, arrow)?,
        None => 0,
    };
    answer.boxed(to)?.node
}

mod marks;
mod panels;
mod shelf;
#[cfg(test)]
pub(crate) mod tests;

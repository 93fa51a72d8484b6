//! What the page shows of a document, as plain data: nothing here changes the text or the graph.

use super::action::Pane;
use super::keys::KeyMap;
use super::timeline::Grain;

/// What is over the middle of the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Over {
    /// The graph itself.
    #[default]
    Graph,
    /// The checks.
    Checks,
    /// The table of all steps.
    Steps,
    /// A fold, cell by cell.
    Fold,
    /// The same graph under all rule sets.
    Rules,
    /// What each consumer of a node sends it.
    Paths,
    /// The language, the ops and the codes.
    Reference,
    /// The keyboard map.
    Keys,
    /// All documents, or the history of the open one.
    Documents,
}

/// Which list of things to draw is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Draw {
    /// None.
    #[default]
    Nothing,
    /// New nodes, which read the selected one.
    New,
    /// Where the selected node can be read.
    Connect {
        /// By this node alone; by any where there is none.
        to: Option<u32>,
    },
    /// New nodes before the selected one.
    Before,
    /// Everything that can be done or looked at.
    Find {
        /// The pane that gets the focus back.
        from: Option<Pane>,
        /// Whether the lines of the program alone are looked through.
        lines: bool,
    },
}

/// What stands at a word of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aid {
    /// Nothing.
    #[default]
    Nothing,
    /// What can be written at the caret.
    Complete {
        /// Whether it was asked for, and not just typed into.
        asked: bool,
    },
    /// What is to be said of the word at this byte.
    Card(usize),
}

/// What the right column shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Side {
    /// A node: the selected one, or the step's.
    #[default]
    Inspect,
    /// A problem, by its place in the list.
    Problem(usize),
}

/// Which pane a narrow page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tab {
    /// The text.
    Program,
    /// The picture.
    #[default]
    Graph,
    /// The right column.
    Inspect,
}

impl Tab {
    /// The one that shows a pane, where not all of them do.
    pub const fn of(pane: Pane) -> Option<Self> {
        match pane {
            Pane::Program => Some(Self::Program),
            Pane::Stage => Some(Self::Graph),
            Pane::Side => Some(Self::Inspect),
            Pane::Stepper | Pane::Dock => None,
        }
    }

    /// As `data-tab` and the tabs' commands write it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Graph => "graph",
            Self::Inspect => "inspect",
        }
    }

    /// Reads [`Tab::key`].
    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Program, Self::Graph, Self::Inspect].into_iter().find(|tab| tab.key() == key)
    }
}

/// Light, dark, or as the system has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// All of them, with their words.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::System, "System"), (Self::Light, "Light"), (Self::Dark, "Dark")];

    /// As `data-theme` and the browser's storage write it.
    pub const fn key(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Reads [`Theme::key`].
    pub fn from_key(key: &str) -> Self {
        match key {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

/// How fast the page plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Speed {
    /// Half.
    Half,
    /// A step in 0.8 s.
    #[default]
    One,
    /// Twice.
    Two,
    /// Four times.
    Four,
}

impl Speed {
    /// The button's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Half => "½×",
            Self::One => "1×",
            Self::Two => "2×",
            Self::Four => "4×",
        }
    }

    /// The next one, in a ring.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Half => Self::One,
            Self::One => Self::Two,
            Self::Two => Self::Four,
            Self::Four => Self::Half,
        }
    }

    /// Milliseconds a step.
    pub const fn period(self) -> u32 {
        match self {
            Self::Half => 1600,
            Self::One => 800,
            Self::Two => 400,
            Self::Four => 200,
        }
    }
}

/// The state of the view.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct View {
    /// The step shown.
    pub step: usize,
    /// How far a step goes.
    pub grain: Grain,
    /// The selected node.
    pub selected: Option<u32>,
    /// Counts the changes of what is selected beside it.
    pub marks: u32,
    /// What the right column shows.
    pub side: Side,
    /// Which fix of the problem is looked at.
    pub fix: usize,
    /// What is over the middle.
    pub over: Over,
    /// Which list of things to draw is open.
    pub draw: Draw,
    /// Whether what comes next is to be predicted.
    pub predict: bool,
    /// The step that is being predicted.
    pub quiz: Option<usize>,
    /// Which pane a narrow page shows.
    pub tab: Tab,
    /// Whether the page plays.
    pub playing: bool,
    /// How fast.
    pub speed: Speed,
    /// Light or dark.
    pub theme: Theme,
    /// What stands at a word of the program.
    pub aid: Aid,
    /// Which letters do what.
    pub keys: KeyMap,
}

/// Where the picture stands in its pane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Camera {
    /// Where the picture's origin is, in CSS pixels.
    pub x: f64,
    /// The same, downwards.
    pub y: f64,
    /// CSS pixels a unit of the picture.
    pub zoom: f64,
    /// Whether it follows the size of pane and picture.
    pub fitted: bool,
}

impl Default for Camera {
    fn default() -> Self {
        Self { x: 0.0, y: 0.0, zoom: 1.0, fitted: true }
    }
}

const ZOOM: (f64, f64) = (0.1, 4.0);
/// What stays free around a fitted picture.
const MARGIN: f64 = 12.0;

/// A width and a height.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Size {
    /// In pixels or units.
    pub width: f64,
    /// In pixels or units.
    pub height: f64,
}

/// How much room the page has.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Room {
    /// The graph's pane.
    pub pane: Size,
    /// The scrubber's width.
    pub track: f64,
    /// Whether the panes are tabs.
    pub narrow: bool,
}

/// Which part of the table of steps is in sight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scroll {
    /// How far it is scrolled, in pixels.
    pub top: f64,
    /// The height of its pane.
    pub height: f64,
}

impl Default for Scroll {
    fn default() -> Self {
        Self { top: 0.0, height: 600.0 }
    }
}

impl Camera {
    /// The whole picture in the middle of the pane, never larger than life, nor smaller than `least`.
    #[must_use]
    pub fn fit(pane: Size, picture: Size, least: f64) -> Self {
        let room = |pane: f64, picture: f64| (pane - 2.0 * MARGIN) / picture.max(1.0);
        let zoom = room(pane.width, picture.width)
            .min(room(pane.height, picture.height))
            .clamp(least.clamp(ZOOM.0, 1.0), 1.0);
        Self {
            x: ((pane.width - picture.width * zoom) / 2.0).round(),
            y: ((pane.height - picture.height * zoom) / 2.0).round(),
            zoom,
            fitted: true,
        }
    }

    /// Closer by a factor, with one point of the pane held still.
    #[must_use]
    pub fn zoomed(self, factor: f64, x: f64, y: f64) -> Self {
        let zoom = (self.zoom * factor).clamp(ZOOM.0, ZOOM.1);
        let moved = zoom / self.zoom;
        Self { x: x - (x - self.x) * moved, y: y - (y - self.y) * moved, zoom, fitted: false }
    }

    /// Moved by so many pixels.
    #[must_use]
    pub const fn moved(self, dx: f64, dy: f64) -> Self {
        Self { x: self.x + dx, y: self.y + dy, zoom: self.zoom, fitted: false }
    }

    /// Moved so that a rectangle of the picture stands in the middle of the pane, as far as the picture fills it.
    #[must_use]
    pub fn centred(self, (x, y): (f64, f64), size: Size, pane: Size, picture: Size) -> Self {
        let start = |place: f64, extent: f64, pane: f64, whole: f64| {
            let least = pane - whole * self.zoom - MARGIN;
            let middle = if least > MARGIN {
                (pane - whole * self.zoom) / 2.0
            } else {
                ((pane - extent * self.zoom) / 2.0 - place * self.zoom).clamp(least, MARGIN)
            };
            middle.round()
        };
        Self {
            x: start(x, size.width, pane.width, picture.width),
            y: start(y, size.height, pane.height, picture.height),
            ..self
        }
    }

    /// Moved as little as brings a rectangle of the picture into the pane; the same if it is there.
    #[must_use]
    pub fn showing(self, (x, y): (f64, f64), size: Size, pane: Size) -> Self {
        let shift = |place: f64, extent: f64, pane: f64| {
            let (start, end) = (place - MARGIN, place + extent + MARGIN);
            if start < 0.0 || end - start > pane {
                -start
            } else if end > pane {
                pane - end
            } else {
                0.0
            }
        };
        let dx = shift(self.x + x * self.zoom, size.width * self.zoom, pane.width);
        let dy = shift(self.y + y * self.zoom, size.height * self.zoom, pane.height);
        if dx == 0.0 && dy == 0.0 {
            return self;
        }
        Self { x: self.x + dx, y: self.y + dy, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::{Camera, Size};

    const PANE: Size = Size { width: 800.0, height: 600.0 };

    #[test]
    fn a_small_picture_is_centred_at_its_own_size() {
        let camera = Camera::fit(PANE, Size { width: 400.0, height: 200.0 }, 0.0);
        assert_eq!((camera.x, camera.y, camera.zoom), (200.0, 200.0, 1.0));
    }

    #[test]
    fn a_large_picture_is_shown_whole() {
        let camera = Camera::fit(PANE, Size { width: 1552.0, height: 200.0 }, 0.0);
        assert_eq!((camera.x, camera.zoom), (12.0, 0.5));
        let readable = Camera::fit(PANE, Size { width: 1552.0, height: 200.0 }, 0.7);
        assert!((readable.zoom - 0.7).abs() < 1e-12);
    }

    #[test]
    fn a_node_is_brought_to_the_middle() {
        let camera = Camera { zoom: 0.5, ..Camera::default() };
        let size = Size { width: 100.0, height: 50.0 };
        let picture = Size { width: 4000.0, height: 600.0 };
        let there = camera.centred((1000.0, 0.0), size, PANE, picture);
        assert_eq!(
            (there.x, there.y),
            (-125.0, 150.0),
            "a low picture stands in the middle itself"
        );
        let at_edge = camera.centred((0.0, 0.0), size, PANE, picture);
        assert_eq!((at_edge.x, at_edge.y), (12.0, 150.0), "beside it there is nothing to see");
    }

    #[test]
    fn zooming_holds_the_point_under_the_pointer() {
        let camera = Camera { x: 10.0, y: 20.0, zoom: 1.0, fitted: true };
        let closer = camera.zoomed(2.0, 110.0, 120.0);
        assert_eq!((closer.x, closer.y, closer.zoom), (-90.0, -80.0, 2.0));
        assert!(!closer.fitted);
        assert!((closer.zoomed(1e9, 0.0, 0.0).zoom - 4.0).abs() < 1e-12);
    }

    #[test]
    fn the_camera_moves_only_if_the_node_is_out_of_view() {
        let camera = Camera::default();
        let size = Size { width: 100.0, height: 50.0 };
        assert_eq!(camera.showing((100.0, 100.0), size, PANE), camera);
        let moved = camera.showing((900.0, 100.0), size, PANE);
        assert_eq!((moved.x, moved.y), (-212.0, 0.0));
        let back = camera.showing((-50.0, 100.0), size, PANE);
        assert_eq!((back.x, back.y), (62.0, 0.0));
    }
}

//! A training run: steps in slices, with its controls let in between them.
//!
//! It has a worker of its own, so that a long run keeps nobody who edits or steps waiting.

use std::rc::Rc;

use foldback::construct::Budget;
use foldback::report::{TrainLine, Training, analyse};
use js_sys::{Date, Function, Promise};
use wasm_bindgen_futures::JsFuture;

use super::Worker;
use super::jobs::SLICE;
use crate::model::chart::chart;
use crate::model::panels::training::places;
use crate::protocol::{Body, Control, LOSSES, Pace, Trained};

/// How often a run says where it stands, in milliseconds.
const NEWS: f64 = 100.0;

/// What the run of the newest revision is to do next.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Will {
    #[default]
    Go,
    Wait,
    Step,
    End,
}

impl Worker {
    /// Changes what the run is to do, and wakes it where it waits.
    pub(super) fn control(&self, rev: u32, control: Control) {
        if self.newest.get() != rev {
            return;
        }
        self.will.set(match control {
            Control::Go => Will::Go,
            Control::Pause => Will::Wait,
            Control::Step => Will::Step,
            Control::Cancel => Will::End,
        });
        self.wake();
    }

    /// Lets a run that waits look again at what it is to do.
    pub(super) fn wake(&self) {
        if let Some(resolve) = self.waits.take() {
            let _ = resolve.call0(&resolve);
        }
    }

    async fn told(&self) {
        let pause = Promise::new(&mut |resolve: Function, _| self.waits.set(Some(resolve)));
        let _ = JsFuture::from(pause).await;
    }
}

/// Trains as the text asks for until it is over or a newer text has come.
pub(super) async fn run(worker: Rc<Worker>, rev: u32, text: String) {
    let analysis = analyse(&text, &Budget::default());
    let mut pace = Pace { over: true, ..Pace::default() };
    let Some(mut training) = analysis.training() else {
        return worker.bulk(rev, Body::Training(pace), &Trained::default());
    };
    let Some(line) = &analysis.report.train else { return };
    pace.over = training.report.state == "error";
    let mut told = Date::now();
    while !pace.over && worker.newest.get() == rev {
        match worker.will.get() {
            Will::End => {
                training.cancel();
                break;
            }
            Will::Wait => {
                pace.paused = true;
                tell(&worker, rev, pace, line, &mut training);
                worker.told().await;
                pace.paused = false;
            }
            Will::Step => {
                worker.will.set(Will::Wait);
                pace.over = !advance(&mut training, &mut pace, 0.0);
            }
            Will::Go => {
                pace.over = !advance(&mut training, &mut pace, SLICE);
                if !pace.over && Date::now() - told > NEWS {
                    told = Date::now();
                    tell(&worker, rev, pace, line, &mut training);
                }
                worker.let_in().await;
            }
        }
    }
    if worker.newest.get() == rev {
        pace.over = true;
        tell(&worker, rev, pace, line, &mut training);
    }
}

/// Takes steps for so many milliseconds, but one at least. False when there are no more.
fn advance(training: &mut Training<'_>, pace: &mut Pace, budget: f64) -> bool {
    let start = Date::now();
    let mut more = training.advance();
    while more && Date::now() - start < budget {
        more = training.advance();
    }
    pace.spent += Date::now() - start;
    more
}

fn tell(worker: &Worker, rev: u32, pace: Pace, line: &TrainLine, training: &mut Training<'_>) {
    training.look();
    let report = &training.report;
    let curve = if report.losses.len() > 1 { chart(&report.losses) } else { String::new() };
    let trained = Trained {
        method: report.method.clone(),
        lr: report.lr,
        losses: report.losses.iter().copied().take(LOSSES).collect(),
        places: places(line, report, pace, curve),
    };
    worker.bulk(rev, Body::Training(pace), &trained);
}

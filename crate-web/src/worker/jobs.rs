//! Checks, which continue an analysis, in slices.

use std::rc::Rc;

use foldback::report::{Analysis, CheckReport};
use js_sys::{Date, Promise};
use serde::Serialize;
use wasm_bindgen_futures::JsFuture;

use super::Worker;
use crate::model::panels::checks;
use crate::protocol::{Body, Checked, pack};

/// How long a job keeps messages waiting, in milliseconds.
pub(super) const SLICE: f64 = 30.0;

pub(super) async fn check(worker: Rc<Worker>, rev: u32) {
    let Some(analysis) = worker.analysis_of(rev) else { return };
    let Some(mut checking) = analysis.checking() else {
        return worker.bulk(rev, Body::Checks { done: true }, &checked(&CheckReport::default()));
    };
    loop {
        let end = Date::now() + SLICE;
        let mut more = true;
        while more && Date::now() < end {
            more = checking.advance(1);
        }
        if !more {
            break;
        }
        if !worker.goes_on(rev).await {
            return;
        }
    }
    worker.bulk(rev, Body::Checks { done: true }, &checked(&checking.report));
}

fn checked(report: &CheckReport) -> Checked {
    Checked {
        rows: report.rows.clone(),
        counts: checks::counts(report),
        panel: checks::rows(report),
    }
}

impl Worker {
    fn analysis_of(&self, rev: u32) -> Option<Rc<Analysis>> {
        (self.newest.get() == rev).then(|| self.analysis.borrow().clone()).flatten()
    }

    /// Says that it is alive, lets messages in, and says whether the job is still wanted.
    pub(super) async fn goes_on(&self, rev: u32) -> bool {
        self.reply(rev, Body::Progress, None);
        self.let_in().await;
        self.newest.get() == rev
    }

    /// Lets messages in.
    pub(super) async fn let_in(&self) {
        let pause = Promise::new(&mut |resolve, _| {
            let _ = self.scope.set_timeout_with_callback(&resolve);
        });
        // A pause that cannot be made is no reason to stop.
        let _ = JsFuture::from(pause).await;
    }

    pub(super) fn bulk(&self, rev: u32, body: Body, value: &impl Serialize) {
        self.reply(rev, body, Some(pack(value)));
    }
}

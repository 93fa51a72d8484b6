//! `cargo xtask shots`: pictures of the page, for people to look at; no test compares them.

use crate::browser::node;
use crate::build::{Profile, build};
use crate::command::run;
use crate::server::{self, Live};
use anyhow::Result;

/// Builds the page and lets `tests/e2e/shots.mjs` write into `shots/`.
pub(crate) fn shots(profile: Profile) -> Result<()> {
    build(profile)?;
    let server = server::start(0, Live::Never)?;
    run(node(&server)?.arg("tests/e2e/shots.mjs"))
}

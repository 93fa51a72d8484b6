//! What Debian's packages can supply, installed when we are root and said aloud.

use crate::command::{answer, run};
use anyhow::{Result, bail};
use std::process::Command;
use std::sync::Once;

/// Package lists are fetched once a run.
static LISTS: Once = Once::new();

/// Installs the packages, or fails with the command that a person has to run.
pub(crate) fn install(packages: &[&str], purpose: &str) -> Result<()> {
    let names = packages.join(" ");
    if answer(Command::new("apt-get").arg("--version")).is_none() {
        bail!("{purpose} is missing, and there is no apt-get here to install {names} with");
    }
    if answer(Command::new("id").arg("-u")).as_deref() != Some("0") {
        bail!(
            "{purpose} is missing; install it with\n  \
             sudo apt-get update && sudo apt-get install --no-install-recommends {names}"
        );
    }
    println!("{purpose} is missing: installing {names}");
    let mut update = Ok(());
    LISTS.call_once(|| update = run(Command::new("apt-get").args(["update", "-qq"])));
    update?;
    run(Command::new("apt-get")
        .env("DEBIAN_FRONTEND", "noninteractive")
        .args(["install", "-qq", "--yes", "--no-install-recommends", "-o", "Dpkg::Use-Pty=0"])
        .args(packages))
}

//! `completions` and `man`: made from the arguments, so that they cannot lag behind.
//! Deliberately absent: installing them.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::Status;
use crate::args::Args;
use crate::cx::{Cx, Stop};

pub(crate) fn completions(cx: &mut Cx, shell: Shell) -> Result<Status, Stop> {
    let mut made = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "foldback", &mut made);
    cx.bytes(&made)?;
    Ok(0)
}

pub(crate) fn man(cx: &mut Cx) -> Result<Status, Stop> {
    let mut made = Vec::new();
    let mut command = Args::command();
    command.build();
    Man::new(command.clone()).render(&mut made)?;
    // One page: a part for each word, after the whole.
    for word in command.get_subcommands() {
        let page = Man::new(word.clone());
        let name = word.get_name().to_uppercase();
        made.extend_from_slice(format!(".SH \"FOLDBACK {name}\"\n").as_bytes());
        for part in [Man::render_description_section, Man::render_synopsis_section] {
            let mut text = Vec::new();
            part(&page, &mut text)?;
            made.extend_from_slice(&lowered(&text));
        }
        let mut text = Vec::new();
        page.render_options_section(&mut text)?;
        made.extend_from_slice(&lowered(&text));
    }
    cx.bytes(&made)?;
    Ok(0)
}

/// Sections as subsections.
fn lowered(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace(".SH ", ".SS ").into_bytes()
}

//! Prints the page that stands in `index.html` until the engine runs: `cargo xtask build` puts it there.
#![expect(clippy::print_stdout, reason = "a command line speaks there")]

fn main() {
    println!("{}", foldback_web::first::page());
}

//! The command as its users run it: the built program, its output, its exit status.
//! Deliberately absent: what the library's tests say already; here it is whether the command says the same.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a check that cannot be made has failed"
)]

mod answers;
mod loads;
mod ran;
mod transcript;

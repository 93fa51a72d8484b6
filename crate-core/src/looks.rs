//! How often a test's thread has looked at a node or at a finding: growth is tested by it.
//! Deliberately absent: a clock, which says something else on every machine.

use std::cell::Cell;

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// Notes that something was looked at.
pub(crate) fn look() {
    LOOKS.set(LOOKS.get() + 1);
}

/// How many looks some work takes.
pub(crate) fn count(work: impl FnOnce()) -> u64 {
    let before = LOOKS.get();
    work();
    LOOKS.get() - before
}

//! The page and its worker.

//! Check functions for the test suites.

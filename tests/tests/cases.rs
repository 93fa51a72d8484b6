//! Every public case, answered. `foldback_tests::cases` says how each key of a case is checked.

use std::collections::BTreeMap;

use foldback_tests::cases::cases;
use foldback_tests::cases::judge::judge;

/// Cases that we do not answer as they ask, each with its reason. The list may only shrink: an entry that is
/// answered has to go, and there are no more than these.
const LISTED: &[(&str, &str)] = &[];

#[test]
fn every_public_case_is_answered() {
    let cases = cases();
    assert_eq!(cases.len(), 68, "a case came or went");
    let wrong: BTreeMap<&str, String> = cases
        .iter()
        .map(|case| (case.id.as_str(), judge(case)))
        .filter(|(_, problems)| !problems.is_empty())
        .map(|(id, problems)| (id, problems.join("\n    ")))
        .collect();
    for (id, reason) in LISTED {
        println!("listed {id}: {reason}");
        assert!(wrong.contains_key(id), "{id} is answered: take it off the list");
    }
    let listed = |id: &str| LISTED.iter().any(|(listed, _)| *listed == id);
    let unlisted: Vec<String> = wrong
        .iter()
        .filter(|(id, _)| !listed(id))
        .map(|(id, problems)| format!("{id}\n    {problems}"))
        .collect();
    println!(
        "{} of {} cases answered, {} listed",
        cases.len() - wrong.len(),
        cases.len(),
        LISTED.len()
    );
    assert!(unlisted.is_empty(), "{} cases:\n{}", unlisted.len(), unlisted.join("\n"));
}

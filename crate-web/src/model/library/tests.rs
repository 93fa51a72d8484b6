use super::diff::{Line, lines, words};
use super::*;

const NOW: f64 = 1.8e12;

fn asked<'a>(base: u32, dirty: bool, text: &'a str, edit: &'a str) -> Save<'a> {
    Save { id: "a", base, dirty, step: 3, edit, name: "", text }
}

fn stored(rev: u32, text: &str) -> Document {
    let (id, text) = ("a".to_owned(), text.to_owned());
    Document { id, text, rev, made: NOW, changed: NOW, ..Document::default() }
}

/// A small generator: the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn the_words_of_a_save_are_read_and_nonsense_is_not() {
    let save = Save::read("0.x-1 4 1 12 s.7 A name of words", "t");
    let expected = Save {
        id: "0.x-1",
        base: 4,
        dirty: true,
        step: 12,
        edit: "s.7",
        name: "A name of words",
        text: "t",
    };
    assert_eq!(save, Some(expected));
    for words in ["", " ", "a", "a b 1 2 s n", "a 1 1", " 1 1 1 s n", "a 1 1 -1 s n"] {
        assert_eq!(Save::read(words, "t"), None, "{words}");
    }
}

#[test]
fn a_text_that_goes_on_from_what_is_there_is_its_next_revision() {
    let Outcome::Next { document, instead_of: None } =
        save(None, &asked(0, true, "# Mine\nx = 1\n", "s.1"), &[], "c", NOW)
    else {
        panic!("it is new")
    };
    assert_eq!((document.rev, document.shown().as_str(), document.name.as_str()), (1, "Mine", ""));
    let next = save(Some(&document), &asked(1, true, "y", "s.2"), &[], "c", NOW + 5.0);
    let Outcome::Next { document, instead_of: None } = next else { panic!("{next:?}") };
    assert_eq!((document.rev, document.changed, document.made), (2, NOW + 5.0, NOW));
    let next = save(Some(&document), &asked(2, true, "yy", "s.2"), &[], "c", NOW + 9.0);
    assert!(
        matches!(next, Outcome::Next { instead_of: Some(2), .. }),
        "one step of undo: {next:?}"
    );
    let same = save(Some(&document), &asked(2, true, "y", "s.9"), &[], "c", NOW + 9.0);
    assert!(matches!(same, Outcome::Same(Document { rev: 2, step: 3, .. })), "{same:?}");
}

#[test]
fn two_tabs_lose_nothing() {
    let there = stored(7, "theirs");
    let taken = ["Untitled (2)".to_owned()];
    // One that has changed nothing shows what the other has done.
    assert_eq!(
        save(Some(&there), &asked(6, false, "old", "s.1"), &taken, "c", NOW),
        Outcome::Newer(there.clone())
    );
    // One that has goes on beside it.
    let copy = save(Some(&there), &asked(6, true, "mine", "s.1"), &taken, "c", NOW);
    let Outcome::Copy(copy) = copy else { panic!("{copy:?}") };
    assert_eq!((copy.id.as_str(), copy.text.as_str(), copy.rev), ("c", "mine", 1));
    assert_eq!(copy.name, "Untitled (3)");
    // A page that has mixed something up writes over nothing.
    let odd = save(Some(&there), &asked(7, false, "of another", "s.1"), &taken, "c", NOW);
    assert!(matches!(odd, Outcome::Copy(_)), "{odd:?}");
    // Both with the same text agree.
    assert!(matches!(
        save(Some(&there), &asked(6, true, "theirs", "s.1"), &[], "c", NOW),
        Outcome::Same(_)
    ));
}

#[test]
fn no_text_is_ever_lost_by_any_interleaving_of_two_tabs() {
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let mut store: Vec<Document> = vec![stored(1, "t0")];
        let mut history = vec!["t0".to_owned()];
        // Each tab: the id and revision it goes on from, its text, and whether that is stored.
        let mut tabs = vec![("a".to_owned(), 1, "t0".to_owned(), false); 2];
        let mut written = history.clone();
        for turn in 1..40 {
            let which = dice.below(2) as usize;
            let Some((id, base, text, dirty)) = tabs.get_mut(which) else { continue };
            if dice.below(2) == 0 {
                *text = format!("t{turn}");
                *dirty = true;
            }
            let there = store.iter().find(|document| document.id == *id);
            let edit = turn.to_string();
            let asked =
                Save { id, base: *base, dirty: *dirty, step: 0, edit: &edit, name: "", text };
            if *dirty {
                written.push(text.clone());
            }
            let taken: Vec<String> = store.iter().map(Document::shown).collect();
            match save(there, &asked, &taken, &format!("copy{turn}"), NOW) {
                Outcome::Same(document) => *base = document.rev,
                Outcome::Next { document, .. } | Outcome::Copy(document) => {
                    history.push(document.text.clone());
                    (*id, *base) = (document.id.clone(), document.rev);
                    store.retain(|other| other.id != document.id);
                    store.push(document);
                }
                Outcome::Newer(document) => {
                    assert!(!*dirty, "what was changed is not thrown away");
                    (*base, *text) = (document.rev, document.text);
                }
            }
            *dirty = false;
        }
        assert!(written.iter().all(|text| history.contains(text)), "seed {seed}");
        let mut names: Vec<String> = store.iter().map(Document::shown).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), store.len(), "every copy has a name of its own");
    }
}

#[test]
fn a_name_that_is_taken_gets_the_next_number() {
    let taken = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(free_name("a", &[]), "a");
    assert_eq!(free_name("a", &taken(&["a"])), "a (2)");
    assert_eq!(free_name("a (2)", &taken(&["a", "a (2)"])), "a (3)");
    assert_eq!(free_name("f (x)", &taken(&["f (x)"])), "f (x) (2)");
    let many: Vec<String> = (0..50).fold(Vec::new(), |mut taken, _| {
        taken.push(free_name("a", &taken));
        taken
    });
    let unlike: std::collections::BTreeSet<_> = many.iter().collect();
    assert_eq!(unlike.len(), 50);
}

#[test]
fn a_name_is_one_line_and_not_endless() {
    assert_eq!(clean("  a\n b\t\u{0}c "), "a b c");
    assert_eq!(clean(&"é".repeat(500)).chars().count(), 80);
    assert_eq!(clean(" \n "), "");
}

#[test]
fn versions_grow_sparser_with_age_whenever_they_are_thinned() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let (mut kept, mut now) = (Vec::<(u32, f64, usize)>::new(), NOW);
        for rev in 1..3000 {
            now += match dice.below(40) {
                0 => 3.0 * HOUR,
                1..4 => 5.0 * MINUTE,
                _ => 2.0 * SECOND + dice.below(5000) as f64,
            };
            kept.push((rev, now, 100 + dice.below(3000) as usize));
            let gone = thinned(&kept, now);
            kept.retain(|(rev, ..)| !gone.contains(rev));
            assert!(kept.len() <= VERSIONS);
            assert_eq!(kept.last().map(|last| last.0), Some(rev), "the newest stays");
            assert_eq!(thinned(&kept, now), [] as [u32; 0], "once is enough");
        }
        let oldest = kept.first().map_or(now, |first| first.1);
        assert!(
            now - oldest > 2.0 * DAY,
            "and still something of the days before: {}",
            now - oldest
        );
    }
}

#[test]
fn versions_do_not_outgrow_their_bytes_and_the_oldest_go_first() {
    let at = |rev: u32, size| (rev, NOW + f64::from(rev), size);
    let large: Vec<_> = (1..=10).map(|rev| at(rev, BYTES / 4)).collect();
    assert_eq!(thinned(&large, NOW + 20.0), [6, 5, 4, 3, 2, 1]);
    assert_eq!(thinned(&[at(1, 2 * BYTES)], NOW), [] as [u32; 0], "one is always there");
    let few: Vec<_> = (1..=90).map(|rev| at(rev, 10)).collect();
    assert_eq!(thinned(&few, NOW + 200.0), [] as [u32; 0], "every edit of the last minutes");
    let many: Vec<_> = (1..=150).map(|rev| at(rev, 10)).collect();
    let gone = thinned(&many, NOW + 200.0);
    assert!(gone.len() >= 50 && !gone.contains(&150), "{gone:?}");
}

#[test]
fn times_are_words() {
    for (age, words) in [
        (0.0, "just now"),
        (-HOUR, "just now"),
        (59.0 * SECOND, "59 seconds ago"),
        (MINUTE, "1 minute ago"),
        (3.5 * MINUTE, "3 minutes ago"),
        (HOUR, "1 hour ago"),
        (49.0 * HOUR, "2 days ago"),
    ] {
        assert_eq!(ago(NOW, NOW - age), words);
    }
}

#[test]
fn a_difference_leads_from_the_old_text_to_the_new_one_and_back() {
    let mut dice = Dice(7);
    for _ in 0..500 {
        let mut text = || {
            let n = dice.below(9);
            (0..n).map(|_| ["a\n", "b\n", "c\n"][dice.below(3) as usize]).collect::<String>()
        };
        let (old, new) = (text(), text());
        let all = lines(&old, &new);
        let side = |skip: fn(&Line<'_>) -> bool| {
            all.iter().filter(|line| !skip(line)).fold(String::new(), |text, line| {
                let (Line::Same(line) | Line::Gone(line) | Line::Come(line)) = line;
                text + line + "\n"
            })
        };
        assert_eq!(side(|line| matches!(line, Line::Come(_))), old);
        assert_eq!(side(|line| matches!(line, Line::Gone(_))), new);
    }
    let fewest = lines("a\nb\nc\n", "a\nc\nd\n");
    assert_eq!(fewest, [Line::Same("a"), Line::Gone("b"), Line::Same("c"), Line::Come("d")]);
    assert_eq!(words(&fewest), "1 line changed");
    assert_eq!(words(&lines("a\n", "a\nb\nc\n")), "2 lines added");
    assert_eq!(words(&lines("a", "a\n")), "Only blanks or line ends changed");
}

#[test]
fn a_difference_of_long_texts_takes_no_room() {
    let (old, new) = ("a\nb\n".repeat(20_000), "b\nc\n".repeat(20_000));
    let all = lines(&old, &new);
    assert!(all.len() >= 60_000 && all.len() <= 80_000, "{}", all.len());
}

//! The program under the editor's transparent text: colours by meaning, underlines, shapes at the right margin.

use foldback::lang::lex::{Bracket, TokenKind, lex};
use foldback::report::{Report, Role, Weight};

use super::{Html, shape};

/// What the engine has said of a text, which may be a keystroke older than the one in the editor.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// What it said.
    pub report: &'a Report,
    /// The text that it said it of.
    pub of: &'a str,
}

/// The text's lines as markup. What depends on the step or the caret is not in it: see [`line_of_node`].
pub fn code(text: &str, said: Option<Said<'_>>) -> String {
    let marks = said.map(|said| Marks::new(text, said)).unwrap_or_default();
    let all = colours(text);
    let mut pieces = all.as_slice();
    let mut html = Html::new();
    let mut start = 0;
    for (ix, line) in text.split('\n').enumerate() {
        let end = start + line.len();
        let look = if marks.refused.contains(&ix) { " bad" } else { "" };
        html.raw("<div class=\"ln").raw(look).raw("\"><i>").int(ix + 1).raw("</i>");
        if let Some(shape) = marks.shapes.get(ix).filter(|shape| !shape.is_empty()) {
            html.raw("<b>").text(shape).raw("</b>");
        }
        html.raw("<span>");
        // The line's own, for there can be thousands.
        while pieces.first().is_some_and(|piece| piece.end <= start) {
            pieces = &pieces[1..];
        }
        let n = pieces.iter().take_while(|piece| piece.start < end).count();
        spans(&mut html, text, start..end, &pieces[..n], &marks.under);
        html.raw("</span></div>");
        start = end + 1;
    }
    html.done()
}

/// What makes the lines of one [`code`] those of another one: after so many lines, so many go, and this comes.
pub fn changed(was: &str, is: &str) -> (usize, usize, String) {
    let lines = |code| str::split_inclusive(code, "</div>").collect::<Vec<&str>>();
    let (was, is) = (lines(was), lines(is));
    let head = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
    let rest = was[head..].iter().rev().zip(is[head..].iter().rev());
    let tail = rest.take_while(|(was, is)| was == is).count();
    (head, was.len() - tail - head, is[head..is.len() - tail].concat())
}

/// An underline: its bytes, and whether the build stopped there.
#[derive(Clone, Copy, Debug)]
struct Under {
    start: usize,
    end: usize,
    stops: bool,
}

#[derive(Default)]
struct Marks {
    under: Vec<Under>,
    /// Lines at which the build stopped.
    refused: Vec<usize>,
    /// By line; empty where there is none.
    shapes: Vec<String>,
}

impl Marks {
    fn new(text: &str, said: Said<'_>) -> Self {
        let shift = Shift::new(said.of, text);
        let mut marks = Self::default();
        for finding in &said.report.findings {
            let Some((start, end)) = finding.span.and_then(|span| shift.span(span)) else {
                continue;
            };
            if finding.weight != Weight::Error {
                continue;
            }
            // What ends with the text still needs something to underline.
            let start = if start == end { start.saturating_sub(1) } else { start };
            if text.get(start..end).is_some() {
                marks.under.push(Under { start, end, stops: finding.stops });
            }
            if finding.stops {
                marks.refused.push(line_of(text, start));
            }
        }
        marks.under.sort_by_key(|under| under.start);
        // Where each line begins: to count lines anew for each node would take the square of their number.
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let nodes = &said.report.nodes;
        let forward = nodes.iter().take(said.report.n_forward as usize);
        for node in forward.filter(|node| node.role != Role::Inline && !node.name.contains('.')) {
            let Some((start, _)) = node.span.and_then(|span| shift.span(span)) else { continue };
            let line = starts.partition_point(|at| *at <= start).saturating_sub(1);
            let written = starts.get(line).and_then(|at| text.get(*at..)).unwrap_or("");
            let head = written.split(['=', '\n']).next().unwrap_or("");
            let all = marks.shapes.len().max(line + 1);
            marks.shapes.resize(all, String::new());
            if marks.shapes[line].is_empty() && (node.role == Role::Op || !head.contains('[')) {
                marks.shapes[line] = shape(&node.shape);
            }
        }
        marks
    }
}

/// The line of a byte, counted from 0.
pub fn line_of(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(0, |before| before.matches('\n').count())
}

/// The line that made a node.
pub fn line_of_node(text: &str, said: Said<'_>, node: u32) -> Option<usize> {
    let span = said.report.nodes.get(node as usize)?.span?;
    Shift::new(said.of, text).span(span).map(|(start, _)| line_of(text, start))
}

/// The bracket that ends or begins at a byte, and the one that it belongs to, if it has one. The text's other brackets
/// are counted as they stand: a `)` closes whatever is open.
pub fn brackets(text: &str, caret: usize) -> Option<[Option<usize>; 2]> {
    let lexed = lex(text);
    let at_caret =
        |span: foldback::lang::Span| span.range().end == caret || span.range().start == caret;
    let is_bracket = |kind: TokenKind| matches!(kind, TokenKind::Open(_) | TokenKind::Close(_));
    let here = lexed.tokens.iter().find(|t| is_bracket(t.kind) && at_caret(t.span))?;
    let here = here.span.range().start;
    let mut open: Vec<(usize, Bracket)> = Vec::new();
    for token in &lexed.tokens {
        let at = token.span.range().start;
        match token.kind {
            TokenKind::Open(bracket) => open.push((at, bracket)),
            TokenKind::Close(bracket) => {
                let pair = open.pop().filter(|(_, opened)| *opened == bracket).map(|(at, _)| at);
                if at == here {
                    return Some([Some(here), pair]);
                }
                if pair == Some(here) {
                    return Some([Some(here), Some(at)]);
                }
            }
            _ => {}
        }
    }
    Some([Some(here), None])
}

/// Where the bytes of one text stand in another: kept before and after the one change between them.
pub struct Shift {
    same_start: usize,
    same_end: usize,
    old_len: usize,
    new_len: usize,
}

impl Shift {
    /// From one text to another.
    pub fn new(old: &str, new: &str) -> Self {
        let (a, b) = (old.as_bytes(), new.as_bytes());
        let shorter = a.len().min(b.len());
        let same_start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let most = shorter - same_start.min(shorter);
        let same_end =
            a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        Self { same_start, same_end, old_len: a.len(), new_len: b.len() }
    }

    /// Where a span stands now; none where it was changed.
    pub fn span(&self, (start, end): (u32, u32)) -> Option<(usize, usize)> {
        let (start, end) = (start as usize, end as usize);
        if start > end || end > self.old_len {
            return None;
        }
        if end <= self.same_start {
            return Some((start, end));
        }
        let changed_end = self.old_len - self.same_end;
        (start >= changed_end)
            .then(|| (self.new_len - (self.old_len - start), self.new_len - (self.old_len - end)))
    }
}

/// A run of bytes with a class; runs are in order and do not overlap.
struct Piece {
    start: usize,
    end: usize,
    class: &'static str,
}

const STATEMENTS: [&str; 10] = [
    "rules",
    "param",
    "const",
    "accumulator",
    "fn",
    "return",
    "backward",
    "check",
    "train",
    "layout",
];

fn colours(text: &str) -> Vec<Piece> {
    let lexed = lex(text);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut directive = false;
    let mut square = 0_usize;
    for (ix, token) in lexed.tokens.iter().enumerate() {
        let next = lexed.tokens.get(ix + 1).map(|next| next.kind);
        let previous =
            ix.checked_sub(1).and_then(|ix| lexed.tokens.get(ix)).map(|token| token.kind);
        let word = token.span.of(text);
        match token.kind {
            TokenKind::Open(Bracket::Square) => square += 1,
            TokenKind::Close(Bracket::Square) => square = square.saturating_sub(1),
            _ => {}
        }
        let begins = token.first || previous == Some(TokenKind::Semicolon);
        let class = match token.kind {
            TokenKind::Name if begins && STATEMENTS.contains(&word) => match word {
                "backward" => "kb",
                "check" => "kc",
                _ => "k",
            },
            TokenKind::Name if directive && !matches!(next, Some(TokenKind::Assign)) => "f",
            TokenKind::Name
                if matches!(next, Some(TokenKind::Open(Bracket::Round) | TokenKind::Bang)) =>
            {
                "f"
            }
            TokenKind::Name if square > 0 && previous == Some(TokenKind::Number) => "a",
            _ => "",
        };
        // The word after `check` and `train` says which.
        directive = begins && matches!(word, "check" | "train");
        if !class.is_empty() {
            let range = token.span.range();
            pieces.push(Piece { start: range.start, end: range.end, class });
        }
    }
    for comment in &lexed.comments {
        let range = comment.span.range();
        pieces.push(Piece { start: range.start, end: range.end, class: "c" });
    }
    pieces.sort_by_key(|piece| piece.start);
    pieces
}

/// A line's bytes, cut wherever a colour or an underline begins or ends.
fn spans(
    html: &mut Html,
    text: &str,
    line: std::ops::Range<usize>,
    pieces: &[Piece],
    under: &[Under],
) {
    let mut cuts = vec![line.start, line.end];
    let inside = |byte: &usize| line.contains(byte);
    cuts.extend(pieces.iter().flat_map(|piece| [piece.start, piece.end]).filter(inside));
    cuts.extend(under.iter().flat_map(|under| [under.start, under.end]).filter(inside));
    cuts.sort_unstable();
    cuts.dedup();
    for pair in cuts.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        let Some(piece) = text.get(start..end) else { continue };
        let colour = pieces.iter().find(|piece| piece.start <= start && end <= piece.end);
        let line = under.iter().find(|under| under.start <= start && end <= under.end);
        let colour = colour.map_or("", |piece| piece.class);
        let line = line.map_or("", |under| if under.stops { " hot" } else { " squig" });
        if colour.is_empty() && line.is_empty() {
            html.text(piece);
        } else {
            html.raw("<span class=\"").raw(colour).raw(line).raw("\">").text(piece).raw("</span>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Said, Shift, brackets, changed, code};
    use foldback::report::{FindingRow, NodeRow, Report, Role};

    fn finding(span: (u32, u32), stops: bool) -> FindingRow {
        FindingRow {
            code: "gradient-shape".to_owned(),
            stops,
            span: Some(span),
            ..FindingRow::default()
        }
    }

    #[test]
    fn only_lines_that_differ_are_changed() {
        let texts = [
            "",
            "a",
            "a\nb",
            "a\nb\nc",
            "a\nx\nc",
            "a\nb\nb\nc",
            "x\na\nb\nc",
            "a\nb\n",
            "b\nb\nb",
        ];
        for (was, is) in texts.iter().flat_map(|was| texts.iter().map(move |is| (was, is))) {
            let (was, is) = (code(was, None), code(is, None));
            let (head, n, come) = changed(&was, &is);
            let lines: Vec<&str> = was.split_inclusive("</div>").collect();
            assert_eq!(
                [&lines[..head].concat(), &come, &lines[head + n..].concat()]
                    .map(String::as_str)
                    .concat(),
                is
            );
        }
        let (head, n, come) = changed(&code("a\nb\nc", None), &code("a\nx\nc", None));
        assert_eq!((head, n, come.matches("<div").count()), (1, 1, 1));
        assert_eq!(changed(&code("a", None), &code("a", None)), (1, 0, String::new()));
    }

    #[test]
    fn colours_follow_meaning() {
        assert_eq!(
            code("check fd # <why>", None),
            "<div class=\"ln\"><i>1</i><span><span class=\"kc\">check</span> \
             <span class=\"f\">fd</span> <span class=\"c\"># &lt;why&gt;</span></span></div>"
        );
        let leaf = code("param w [2 token] = 1", None);
        assert!(
            leaf.contains("<span class=\"k\">param</span> w [2 <span class=\"a\">token</span>]")
        );
    }

    #[test]
    fn the_operand_is_underlined_and_its_line_marked() {
        let text = "c = w\ny = w / c";
        let report = Report {
            findings: vec![finding((14, 15), true)],
            nodes: vec![NodeRow {
                name: "y".to_owned(),
                role: Role::Op,
                shape: vec![2, 3],
                span: Some((6, 15)),
                ..NodeRow::default()
            }],
            n_forward: 1,
            ..Report::default()
        };
        let html = code(text, Some(Said { report: &report, of: text }));
        assert_eq!(
            html,
            "<div class=\"ln\"><i>1</i><span>c = w</span></div>\
             <div class=\"ln bad\"><i>2</i><b>[2,3]</b><span>y = w / <span class=\" hot\">c</span></span></div>"
        );
    }

    #[test]
    fn a_bracket_at_the_caret_has_a_partner() {
        let text = "y = f(g(a), [1, 2])";
        assert_eq!(brackets(text, 5), Some([Some(5), Some(18)]), "before it");
        assert_eq!(brackets(text, 6), Some([Some(5), Some(18)]), "behind it");
        assert_eq!(brackets(text, 8), Some([Some(7), Some(9)]));
        assert_eq!(brackets(text, 19), Some([Some(18), Some(5)]));
        assert_eq!(brackets(text, 14), None);
        assert_eq!(brackets("f(a]", 4), Some([Some(3), None]), "of another kind");
        assert_eq!(brackets("f(a", 2), Some([Some(1), None]));
        assert_eq!(brackets("# (", 3), None, "a comment has none");
    }

    #[test]
    fn marks_move_with_the_text_and_go_where_it_changed() {
        let shift = Shift::new("a = b\ny = w / c", "aa = b\ny = w / c");
        assert_eq!(shift.span((14, 15)), Some((15, 16)));
        let shift = Shift::new("y = w / c", "y = w / cd");
        assert_eq!(shift.span((4, 5)), Some((4, 5)));
        let shift = Shift::new("y = w / c", "y = w / d");
        assert_eq!(shift.span((8, 9)), None);
        assert_eq!(shift.span((8, 99)), None);
        assert_eq!(Shift::new("aaa", "aa").span((0, 1)), Some((0, 1)));
    }

    #[test]
    fn any_span_is_survived() {
        let text = "é";
        let report = Report { findings: vec![finding((1, 1), false)], ..Report::default() };
        let html = code(text, Some(Said { report: &report, of: text }));
        assert!(html.contains('é'));
    }
}

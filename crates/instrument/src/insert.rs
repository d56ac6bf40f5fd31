//! Texts to be put into a text, in the order in which the tree is walked: what opens before what it holds, what closes
//! behind it. So a stable sort by place is all it takes to nest them.

use std::fmt::Write as _;

/// All that is inserted, at offsets of the original in bytes.
#[derive(Debug, Default)]
pub(crate) struct Insertions {
    at: Vec<(u32, String)>,
}

impl Insertions {
    pub(crate) fn put(&mut self, offset: u32, text: String) {
        self.at.push((offset, text));
    }

    /// The text with all of it, and where each piece stands: see [`Insertions::places`].
    pub(crate) fn apply(mut self, text: &str) -> (String, String) {
        self.at.sort_by_key(|(offset, _)| *offset);
        let added: usize = self.at.iter().map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(text.len() + added);
        let mut done = 0_usize;
        for (offset, piece) in &self.at {
            let offset = *offset as usize;
            out.push_str(text.get(done..offset).unwrap_or_default());
            out.push_str(piece);
            done = offset;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        let places = self.places(text);
        (out, places)
    }

    /// `distance,length,…`: how many UTF-16 units of the original lie between one piece and the next, and how long each is.
    fn places(&self, text: &str) -> String {
        let ascii = text.is_ascii();
        let mut out = String::with_capacity(self.at.len() * 6);
        let mut done = 0_usize;
        let mut waiting: Option<(usize, usize)> = None;
        for (offset, piece) in &self.at {
            let offset = *offset as usize;
            let between = text.get(done..offset).unwrap_or_default();
            let distance = if ascii { between.len() } else { between.encode_utf16().count() };
            done = offset;
            // The pieces are ASCII, names of the program aside.
            let length = piece.encode_utf16().count();
            waiting = match waiting {
                Some((before, sum)) if distance == 0 => Some((before, sum + length)),
                Some(whole) => {
                    say(&mut out, whole);
                    Some((distance, length))
                }
                None => Some((distance, length)),
            };
        }
        if let Some(whole) = waiting {
            say(&mut out, whole);
        }
        out
    }
}

fn say(out: &mut String, (distance, length): (usize, usize)) {
    if !out.is_empty() {
        out.push(',');
    }
    // Writing to a string does not fail.
    if write!(out, "{distance},{length}").is_err() {
        debug_assert!(false, "a string takes all that is written to it");
    }
}

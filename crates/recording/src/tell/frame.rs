//! One call as its source with what changed beside each line.

use super::Page;
use crate::{
    ask::frame::{FrameRow, FrameTold, StateAt},
    show::cut,
};

/// Where the values begin, unless the source goes on, and how long that may be: a cause that is cut off is none.
const SOURCE: usize = 44;
const SOURCE_MOST: usize = 76;

impl FrameRow {
    /// `38    tries += 1        ×3 tries 0→3`.
    pub fn shown(&self) -> String {
        if self.line == 0 {
            return format!("      {}", self.changes.join("  "));
        }
        let source = self.source.as_deref().unwrap_or_default();
        let source = cut(source.replace('\t', "    "), SOURCE_MOST);
        let times = if self.times > 1 { format!("×{}  ", self.times) } else { String::new() };
        format!("{:<4}{source:<SOURCE$}  {times}{}", self.line, self.changes.join("  "))
    }
}

impl FrameTold {
    pub fn tell(&self, tokens: usize) -> String {
        let mut page = Page::new(tokens);
        let call = &self.call;
        page.must(&format!(
            "{} {}   {}:{}-{}",
            call.id,
            call.signature(160),
            call.file,
            call.line,
            self.last_line
        ));
        let receiver = call.arguments.iter().find(|(name, _)| name == "self" || name == "this");
        if let Some((name, value)) = receiver {
            page.line(&format!("    {name}={value}"));
        }
        let indent = indent(&self.rows);
        for row in &self.rows {
            let source = row.source.as_deref().map(|it| it.get(indent..).unwrap_or("").to_owned());
            page.line(&FrameRow { source, ..row.clone() }.shown());
        }
        page.must(&format!("    {}", call.end.shown()));
        for note in &self.notes {
            page.line(&format!("    {note}"));
        }
        let made = self.children.iter().take(6).map(|(name, times, first)| match times {
            1 => format!("{name} {first}"),
            times => format!("{name} ×{times} from {first}"),
        });
        let made: Vec<String> = made.collect();
        let more = self.children.len().saturating_sub(6);
        let more = if more > 0 { format!(", {more} other functions") } else { String::new() };
        let made = if made.is_empty() { "none in your code".to_owned() } else { made.join(", ") };
        page.line(&format!("calls   {made}{more}"));
        page.end(&self.missing, self.next.as_ref())
    }
}

impl FrameTold {
    /// Of a call that has not ended: its lines alone, the last of them for sure.
    pub fn tell_so_far(&self, tokens: usize) -> String {
        let indent = indent(&self.rows);
        let shown = self.rows.iter().map(|row| {
            let source = row.source.as_deref().map(|it| it.get(indent..).unwrap_or("").to_owned());
            FrameRow { source, ..row.clone() }.shown().trim_end().to_owned()
        });
        let shown: Vec<String> = shown.collect();
        let mut left = Page::chars(tokens);
        let fits = |line: &&String| {
            let cost = line.chars().count() + 1;
            let is_room = cost <= left;
            left = left.saturating_sub(cost);
            is_room
        };
        let kept = shown.iter().rev().take_while(fits).count().max(1).min(shown.len());
        let (before, last) = shown.split_at(shown.len() - kept);
        let cut = match before.len() {
            0 => String::new(),
            lines => format!("… {lines} lines before\n"),
        };
        cut + &last.join("\n")
    }
}

fn indent(rows: &[FrameRow]) -> usize {
    let sources = rows.iter().filter_map(|it| it.source.as_deref());
    let sources = sources.filter(|it| !it.trim().is_empty());
    sources.map(|it| it.len() - it.trim_start().len()).min().unwrap_or(0)
}

impl StateAt {
    pub fn tell(&self, tokens: usize) -> String {
        let mut page = Page::new(tokens);
        let call = &self.call;
        page.must(&format!(
            "{}:{}/{} before {}:{} in {}",
            call.id, self.line, self.nth, call.file, self.line, call.function
        ));
        for (name, value) in &self.values {
            page.line(&format!("{name} = {value}"));
        }
        page.end(&self.missing, None)
    }
}

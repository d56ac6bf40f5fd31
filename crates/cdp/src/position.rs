//! Lines and columns: the one place where zero-based and one-based meet.
//!
//! V8 and source maps count from zero, people and editors from one. Columns are UTF-16 code units on
//! both sides. Everything public in this crate that says `Position` counts from one; the protocol
//! types in [`crate::types`] count from zero and say so.

use crate::types::Location;

/// A place in a text as people count it: the first line is 1, the first column is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    line: u32,
    column: Option<u32>,
}

impl Position {
    /// Lines and columns start at 1; a zero is nobody's line and gives `None`.
    pub fn new(line: u32, column: Option<u32>) -> Option<Position> {
        (line > 0 && column != Some(0)).then_some(Position { line, column })
    }

    /// From the protocol's or a source map's zero-based numbers.
    pub fn from_zero_based(line: u32, column: Option<u32>) -> Position {
        Position { line: line.saturating_add(1), column: column.map(|c| c.saturating_add(1)) }
    }

    pub fn of(location: &Location) -> Position {
        Position::from_zero_based(location.line_number, location.column_number)
    }

    pub fn line(self) -> u32 {
        self.line
    }

    pub fn column(self) -> Option<u32> {
        self.column
    }

    /// The protocol's `lineNumber`.
    pub fn line_number(self) -> u32 {
        self.line - 1
    }

    /// The protocol's `columnNumber`.
    pub fn column_number(self) -> Option<u32> {
        self.column.map(|c| c - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_nobodys_line() {
        assert_eq!(Position::new(0, None), None);
        assert_eq!(Position::new(1, Some(0)), None);
    }

    proptest::proptest! {
        #[test]
        fn there_and_back(line in 0..u32::MAX, column in proptest::option::of(0..u32::MAX)) {
            let position = Position::from_zero_based(line, column);
            assert_eq!(position.line_number(), line);
            assert_eq!(position.column_number(), column);
            assert_eq!(Position::new(position.line(), position.column()), Some(position));
        }
    }
}

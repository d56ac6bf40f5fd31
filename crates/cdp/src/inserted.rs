//! Pieces that were put into a script's text before V8 read it: where a place of the one is in the other. Pure.
//!
//! Nothing else differs and no piece has the end of a line, so lines are the same, and so are columns before a piece.

use crate::position::Position;

/// What was put into one text, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Of the whole text with all of it, in UTF-16 units: by this V8's script is known to be that text.
    pub length: u64,
    pub pieces: Vec<InsertedPiece>,
}

/// Places of the original and lengths, in UTF-16 units, all from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InsertedPiece {
    pub offset: u32,
    pub line: u32,
    pub column: u32,
    pub length: u32,
}

impl Inserted {
    /// A place in the script, as one of the original. Inside of a piece that is where the piece was put.
    pub fn original(&self, at: Position) -> Position {
        let Some(column) = at.column_number() else { return at };
        let on_line = self.pieces.iter().filter(|it| it.line == at.line_number());
        let column = back(on_line.map(|it| (it.column, it.length)), column);
        Position::from_zero_based(at.line_number(), Some(column))
    }

    /// A place of the original in the script: before a piece that was put there.
    pub fn generated(&self, at: Position) -> Position {
        let Some(column) = at.column_number() else { return at };
        let before = |it: &&InsertedPiece| it.line == at.line_number() && it.column < column;
        let added: u32 = self.pieces.iter().filter(before).map(|it| it.length).sum();
        Position::from_zero_based(at.line_number(), Some(column.saturating_add(added)))
    }

    /// The same for an offset in the whole text.
    pub fn original_offset(&self, offset: u32) -> u32 {
        back(self.pieces.iter().map(|it| (it.offset, it.length)), offset)
    }

    /// Where pieces begin and end in the script, as V8 counts: line, column, column.
    pub fn ranges(&self) -> Vec<(u32, u32, u32)> {
        let mut ranges = Vec::with_capacity(self.pieces.len());
        let (mut line, mut added) = (u32::MAX, 0_u32);
        for piece in &self.pieces {
            if piece.line != line {
                (line, added) = (piece.line, 0);
            }
            let start = piece.column.saturating_add(added);
            added = added.saturating_add(piece.length);
            ranges.push((line, start, piece.column.saturating_add(added)));
        }
        ranges
    }
}

fn back(pieces: impl Iterator<Item = (u32, u32)>, at: u32) -> u32 {
    let mut added = 0_u32;
    for (place, length) in pieces {
        let start = place.saturating_add(added);
        if at < start {
            break;
        }
        if at < start.saturating_add(length) {
            return place;
        }
        added = added.saturating_add(length);
    }
    at.saturating_sub(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted() -> Inserted {
        let piece = |offset, line, column, length| InsertedPiece { offset, line, column, length };
        // `ab` / `c++d+ef` of `ab` / `cdef`.
        Inserted { length: 10, pieces: vec![piece(4, 1, 1, 2), piece(5, 1, 2, 1)] }
    }

    fn at(line: u32, column: u32) -> Position {
        Position::from_zero_based(line, Some(column))
    }

    #[test]
    fn columns_go_there_and_back() {
        let it = inserted();
        let back: Vec<u32> =
            (0..7).map(|column| it.original(at(1, column)).column_number().unwrap()).collect();
        assert_eq!(back, [0, 1, 1, 1, 2, 2, 3]);
        for (column, there) in [(0, 0), (1, 1), (2, 4), (3, 6)] {
            assert_eq!(it.generated(at(1, column)), at(1, there));
            assert_eq!(it.original(it.generated(at(1, column))), at(1, column));
        }
        assert_eq!(it.original(at(0, 1)), at(0, 1));
        assert_eq!(it.original(Position::new(2, None).unwrap()), Position::new(2, None).unwrap());
        assert_eq!(it.ranges(), [(1, 1, 3), (1, 4, 5)]);
        let offsets: Vec<u32> = (0..10).map(|offset| it.original_offset(offset)).collect();
        assert_eq!(offsets, [0, 1, 2, 3, 4, 4, 4, 5, 5, 6]);
    }
}

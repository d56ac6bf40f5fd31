//! A value's life as numbers, to be drawn.

use super::history::HistoryAsk;
use crate::{
    damage::Damage,
    datum::Datum,
    recording::{AskError, CallId, Recording},
};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValueSeries {
    /// Those that are numbers, in their order.
    pub points: Vec<SeriesPoint>,
    pub writes: u64,
    /// Every how manieth write was looked at.
    pub stride: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
    /// The how manieth write, from 1.
    pub nth: u64,
    pub value: f64,
    pub call: CallId,
    pub line: u32,
}

impl Recording {
    /// Of many writes every so manieth, and the last.
    pub fn series(&self, ask: &HistoryAsk, points: usize) -> Result<ValueSeries, AskError> {
        let all = self.all_writes(ask)?;
        let stride = all.len().div_ceil(points.max(2)).max(1);
        let mut series =
            ValueSeries { points: Vec::new(), writes: all.len() as u64, stride: stride as u64 };
        for (at, written) in all.iter().enumerate() {
            if at % stride != 0 && at + 1 != all.len() {
                continue;
            }
            let Some(value) = self.number(written.process, written.value)? else { continue };
            let call = CallId { process: written.process, number: written.call };
            series.points.push(SeriesPoint { nth: at as u64 + 1, value, call, line: written.line });
        }
        Ok(series)
    }

    fn number(&self, process: u32, value: u32) -> Result<Option<f64>, Damage> {
        let number = match self.datum(process, value)? {
            Datum::Integer(number) => Some(number as f64),
            Datum::Float(number) => Some(number),
            Datum::Digits(digits) => digits.parse().ok(),
            _ => None,
        };
        Ok(number.filter(|it| it.is_finite()))
    }
}

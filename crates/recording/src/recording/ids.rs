//! How calls and places in them are named: `#813`, `#2.813` in the second process, `#813:42/2`.

use std::{fmt, str::FromStr};

/// A call of a recording. The first process' are `#1`, `#2`, …; others' have the process' number before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId {
    pub process: u32,
    /// From 0; shown from 1.
    pub number: u32,
}

/// A line of a call, at its nth time there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpotId {
    pub call: CallId,
    pub line: Option<u32>,
    pub nth: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = u64::from(self.number) + 1;
        match self.process {
            0 => write!(to, "#{number}"),
            process => write!(to, "#{}.{number}", u64::from(process) + 1),
        }
    }
}

impl FromStr for CallId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.trim();
        let text = text.strip_prefix('#').unwrap_or(text);
        let (process, number) = text.split_once('.').unwrap_or(("1", text));
        let from_one = |text: &str| text.parse::<u32>().ok().and_then(|it| it.checked_sub(1));
        let (process, number) = (from_one(process).ok_or(())?, from_one(number).ok_or(())?);
        Ok(CallId { process, number })
    }
}

impl FromStr for SpotId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (call, place) = match text.split_once(':') {
            Some((call, place)) => (call, Some(place)),
            None => (text, None),
        };
        let call = call.parse()?;
        let Some(place) = place else { return Ok(SpotId { call, line: None, nth: 1 }) };
        let (line, nth) = place.split_once('/').unwrap_or((place, "1"));
        let nth = nth.parse().ok().filter(|it| *it > 0).ok_or(())?;
        Ok(SpotId { call, line: Some(line.parse().map_err(|_| ())?), nth })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for text in ["#1", "#813", "#2.7"] {
            assert_eq!(text.parse::<CallId>().unwrap().to_string(), text);
        }
        assert_eq!("813".parse::<CallId>(), "#813".parse());
        assert_eq!("#1.5".parse::<CallId>(), "#5".parse());
        let spot: SpotId = "#813:42/2".parse().unwrap();
        assert_eq!((spot.call.number, spot.line, spot.nth), (812, Some(42), 2));
        for wrong in ["", "#", "#0", "#x", "#0.1", "#1:x", "#1:4/0", "#99999999999"] {
            assert!(wrong.parse::<SpotId>().is_err(), "{wrong}");
        }
    }
}

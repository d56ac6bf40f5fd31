//! Who descends from whom, by what `/proc/PID/stat` says. Pure.

use std::collections::BTreeMap;

/// A zombie has children as long as one of its threads lives: they lead to us through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    parent: i32,
    is_living: bool,
}

impl Origin {
    /// From `pid (name) state parent …`.
    pub(super) fn parse(stat: &str) -> Option<Origin> {
        // The name may hold anything, also brackets.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        Some(Origin { parent, is_living: state != "Z" && state != "X" })
    }
}

/// Every living process below `me`. Children of the dead are found through them.
pub(super) fn below(me: i32, origins: &BTreeMap<i32, Origin>) -> Vec<i32> {
    let is_ours = |mut pid: i32| {
        // Numbers are given out again while we read: what looks like a circle ends.
        for _ in 0..=origins.len() {
            match origins.get(&pid) {
                Some(origin) if origin.parent == me => return true,
                Some(origin) => pid = origin.parent,
                None => return false,
            }
        }
        false
    };
    let living = origins.iter().filter(|(_, origin)| origin.is_living).map(|(pid, _)| *pid);
    living.filter(|pid| is_ours(*pid)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(parent: i32, is_living: bool) -> Origin {
        Origin { parent, is_living }
    }

    #[test]
    fn a_line_of_proc_is_read_whatever_the_name() {
        let read = |stat| Origin::parse(stat);
        assert_eq!(read("17 (python) S 12 17 17 0 -1"), Some(origin(12, true)));
        assert_eq!(read("17 (a) Z 1) R 12 17 17"), Some(origin(12, true)));
        assert_eq!(read("17 (my prog (2)) Z 12 17"), Some(origin(12, false)));
        assert_eq!(read("17 (gone) X 12 17"), Some(origin(12, false)));
        assert_eq!(read("17 (Z) S 12 17"), Some(origin(12, true)));
        for cut_off in ["", "17 (python", "17 (python)", "17 (python) S", "17 (python) S x"] {
            assert_eq!(read(cut_off), None, "{cut_off}");
        }
    }

    /// `pid parent` and a `Z` where it is a zombie, one process a line.
    #[track_caller]
    fn check(processes: &str, expected: &[i32]) {
        let origins = processes.lines().filter(|line| !line.trim().is_empty()).map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            (words[0].parse().unwrap(), origin(words[1].parse().unwrap(), words.len() == 2))
        });
        assert_eq!(below(10, &origins.collect()), expected, "{processes}");
    }

    #[test]
    fn children_and_their_children_are_ours_and_nobody_else() {
        check(
            "
            1 0
            10 1
            11 10
            12 11
            13 12
            20 1
            21 20
            ",
            &[11, 12, 13],
        );
        check("1 0\n10 1\n20 1", &[]);
    }

    #[test]
    fn a_zombie_is_no_longer_there_and_its_children_are() {
        check("1 0\n10 1\n11 10 Z\n12 11", &[12]);
    }

    #[test]
    fn a_circle_ends() {
        check("1 0\n10 1\n30 31\n31 30\n11 10", &[11]);
    }
}

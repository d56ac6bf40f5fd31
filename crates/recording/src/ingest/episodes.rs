//! Exceptions from where they are raised to where they end: caught, raised again, or out of the recorded code.

use std::collections::VecDeque;

use super::threads::Flight;
use crate::{
    columns::{Columns, SWALLOWED},
    head::{Episode, Exceptions},
    limits,
};

/// How many caught ones are remembered in case that they are raised again.
const CAUGHT: usize = 16;

/// An exception that is raised this many lines after another was caught stands for it.
const HANDLER_LINES: u32 = 12;

/// Where something is: lane, call, line, number of the event.
pub(super) type Spot = (u32, u32, u32, u64);

/// Who caught which.
#[derive(Debug, Clone, Copy)]
struct Caught {
    episode: u64,
    object: u64,
    call: u32,
    line: u32,
    lane: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Episodes {
    first: Vec<Episode>,
    last: VecDeque<Episode>,
    total: u64,
    swallowed: u64,
    caught: VecDeque<Caught>,
}

impl Episodes {
    fn get(&mut self, episode: u64) -> Option<&mut Episode> {
        let at = usize::try_from(episode).ok()?;
        if at < self.first.len() {
            return self.first.get_mut(at);
        }
        let dropped = usize::try_from(self.total).ok()?.checked_sub(self.last.len())?;
        self.last.get_mut(at.checked_sub(dropped)?)
    }

    fn add(&mut self, episode: Episode) -> u64 {
        let number = self.total;
        self.total += 1;
        if self.first.len() < limits::EXCEPTIONS_KEPT {
            self.first.push(episode);
        } else {
            if self.last.len() >= limits::EXCEPTIONS_KEPT {
                self.last.pop_front();
            }
            self.last.push_back(episode);
        }
        number
    }

    /// One is raised here, or ends a frame here: it begins, goes on, or begins again.
    pub(super) fn going(
        &mut self,
        flight: &mut Option<Flight>,
        (value, object): (u32, u64),
        (lane, call, line, event): Spot,
        columns: &mut Columns,
    ) {
        if let Some((episode, has_left)) = flight {
            if self.get(*episode).is_none_or(|it| it.object == object) {
                *has_left = false;
                return;
            }
            // Another one takes its place.
            let episode = *episode;
            self.change(episode, columns, |it| it.again = true);
        }
        if let Some(at) = self.caught.iter().rposition(|it| it.object == object && it.lane == lane)
        {
            let caught = self.caught.remove(at);
            let episode = caught.map_or(0, |it| it.episode);
            self.change(episode, columns, |it| (it.handled, it.outside) = (None, false));
            *flight = Some((episode, false));
            return;
        }
        self.translated(call, line, columns);
        let begun = Episode { value, object, lane, call, line, event, ..Episode::default() };
        *flight = Some((self.add(begun), false));
    }

    /// A handler that raises another one has not swallowed the first.
    fn translated(&mut self, call: u32, line: u32, columns: &mut Columns) {
        let near =
            |it: &Caught| it.call == call && line >= it.line && line - it.line <= HANDLER_LINES;
        if let Some(at) = self.caught.iter().rposition(near)
            && let Some(caught) = self.caught.remove(at)
        {
            self.change(caught.episode, columns, |it| it.again = true);
        }
    }

    pub(super) fn handled(
        &mut self,
        flight: Option<Flight>,
        (value, object): (u32, u64),
        (lane, call, line, event): Spot,
        columns: &mut Columns,
    ) -> u64 {
        let begun = || Episode { value, object, lane, call, line, event, ..Episode::default() };
        let episode = match flight {
            Some((episode, _)) => episode,
            None => self.add(begun()),
        };
        self.change(episode, columns, |it| it.handled = Some((call, line)));
        self.remember(Caught { episode, object, call, line, lane });
        episode
    }

    /// The line at which a handler begins is known with the next one.
    pub(super) fn at_line(&mut self, episode: u64, line: u32) {
        if let Some((_, at)) = self.get(episode).and_then(|it| it.handled.as_mut()) {
            *at = line;
        }
        if let Some(caught) = self.caught.iter_mut().rfind(|it| it.episode == episode) {
            caught.line = line;
        }
    }

    pub(super) fn outside(&mut self, episode: u64, lane: u32, call: u32, line: u32) {
        let Some(found) = self.get(episode) else { return };
        found.handled = Some((call, line));
        found.outside = true;
        let object = found.object;
        self.remember(Caught { episode, object, call, line, lane });
    }

    /// The frame in which it was last seen goes on.
    pub(super) fn caught_here(
        &mut self,
        episode: u64,
        lane: u32,
        (call, line): (u32, u32),
        columns: &mut Columns,
    ) {
        let Some(object) = self.get(episode).map(|it| it.object) else { return };
        self.change(episode, columns, |it| it.handled = Some((call, line)));
        self.remember(Caught { episode, object, call, line, lane });
    }

    pub(super) fn escaped(&mut self, episode: u64) {
        if let Some(found) = self.get(episode) {
            found.escaped = true;
        }
    }

    /// The frame that caught the last one has told somebody.
    pub(super) fn logged(&mut self, call: u32, columns: &mut Columns) {
        if let Some(caught) = self.caught.iter().rfind(|it| it.call == call).copied() {
            self.change(caught.episode, columns, |it| it.logged = true);
        }
    }

    fn remember(&mut self, caught: Caught) {
        if self.caught.len() >= CAUGHT {
            self.caught.pop_front();
        }
        self.caught.push_back(caught);
    }

    /// Changes one, and keeps the count of swallowed ones and their calls' mark right.
    fn change(&mut self, episode: u64, columns: &mut Columns, how: impl Fn(&mut Episode)) {
        let Some(found) = self.get(episode) else { return };
        let (was, by) = (found.is_swallowed(), found.handled);
        how(found);
        let (is, to) = (found.is_swallowed(), found.handled);
        match (was, is) {
            (false, true) => {
                self.swallowed += 1;
                to.into_iter().for_each(|(call, _)| columns.flag(call, SWALLOWED));
            }
            (true, false) => {
                self.swallowed -= 1;
                by.into_iter().for_each(|(call, _)| columns.unflag(call, SWALLOWED));
            }
            _ => {}
        }
    }

    pub(super) fn kept(&self) -> Exceptions {
        let kept = self.first.iter().chain(&self.last).cloned().collect();
        Exceptions { total: self.total, swallowed: self.swallowed, kept }
    }
}

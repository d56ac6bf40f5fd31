//! Who runs: threads with their stacks, tasks, and calls that were left to be resumed.

use std::collections::HashMap;

use crate::{
    columns::Columns,
    damage::Damage,
    hash::mix,
    head::{Lane, NONE},
    limits,
    steps::StepWriter,
};

/// A call that has not ended.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) call: u32,
    pub(super) function: u32,
    pub(super) lane: u32,
    pub(super) steps: StepWriter,
    pub(super) has_lines: bool,
    pub(super) last_child: u32,
    /// Of its arguments, then of each child as it ended.
    pub(super) hash: u64,
    /// The sum of those of children that ended while it did not run, in whichever order.
    pub(super) late: u64,
    pub(super) begin: u64,
    /// Before it was left.
    pub(super) ran: u64,
    /// The exception whose handler begins at its next line.
    pub(super) catching: Option<u64>,
}

impl Live {
    pub(super) fn new(
        call: u32,
        function: u32,
        lane: u32,
        line: u32,
        begin: u64,
        hash: u64,
    ) -> Self {
        let steps = StepWriter::new(call, line);
        let (last_child, has_lines, ran, catching, late) = (NONE, false, 0, None, 0);
        Live {
            call,
            function,
            lane,
            steps,
            has_lines,
            last_child,
            hash,
            late,
            begin,
            ran,
            catching,
        }
    }

    /// With everything that it had called so far.
    pub(super) fn whole_hash(&self) -> u64 {
        if self.late == 0 { self.hash } else { mix(self.hash, self.late) }
    }
}

/// An exception on its way: its number, and whether a frame has ended by it.
pub(super) type Flight = (u64, bool);

#[derive(Debug, Clone, Default)]
struct OneThread {
    number: u64,
    name: String,
    lane: u32,
    stack: Vec<Live>,
    flight: Option<Flight>,
}

#[derive(Debug, Clone)]
pub(super) struct Threads {
    all: Vec<OneThread>,
    numbers: HashMap<u64, usize>,
    current: usize,
    parked: HashMap<u32, Live>,
    lanes: Vec<Lane>,
    places: HashMap<(u64, u64), u32>,
    open: usize,
    nowhere: Option<Flight>,
}

impl Default for Threads {
    fn default() -> Self {
        let lane = Lane { name: "main".to_owned(), ..Lane::default() };
        Threads {
            all: vec![OneThread::default()],
            numbers: HashMap::from([(0, 0)]),
            current: 0,
            parked: HashMap::new(),
            lanes: vec![lane],
            places: HashMap::from([((0, 0), 0)]),
            open: 0,
            nowhere: None,
        }
    }
}

impl Threads {
    fn here(&mut self) -> Option<&mut OneThread> {
        self.all.get_mut(self.current)
    }

    pub(super) fn lane(&self) -> u32 {
        self.all.get(self.current).map_or(0, |it| it.lane)
    }

    pub(super) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    pub(super) fn top(&mut self) -> Option<&mut Live> {
        self.all.get_mut(self.current)?.stack.last_mut()
    }

    /// The call of the same lane that made this one, if it still runs.
    pub(super) fn top_of(&mut self, lane: u32, call: u32, columns: &Columns) -> Option<&mut Live> {
        let parent = *columns.parent.get(call as usize)?;
        let top = self.all.get_mut(self.current)?.stack.last_mut()?;
        (top.call == parent && top.lane == lane).then_some(top)
    }

    /// A call that was left, or that is in the current thread's stack.
    pub(super) fn not_ended(&mut self, call: u32) -> Option<&mut Live> {
        if self.parked.contains_key(&call) {
            return self.parked.get_mut(&call);
        }
        self.all.get_mut(self.current)?.stack.iter_mut().rfind(|it| it.call == call)
    }

    /// Refuses more open calls than any program has.
    pub(super) fn room(&self) -> Result<(), Damage> {
        if self.open < limits::OPEN_MAX { Ok(()) } else { Err(Damage::Many("open calls")) }
    }

    pub(super) fn push(&mut self, live: Live) {
        self.open += 1;
        if let Some(thread) = self.here() {
            thread.stack.push(live);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Live> {
        let live = self.here()?.stack.pop()?;
        self.open -= 1;
        Some(live)
    }

    pub(super) fn park(&mut self, live: Live) {
        self.open += 1;
        self.parked.insert(live.call, live);
    }

    pub(super) fn unpark(&mut self, call: u32) -> Option<Live> {
        let live = self.parked.remove(&call)?;
        self.open -= 1;
        Some(live)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.all.get(self.current).is_none_or(|it| it.stack.is_empty())
    }

    /// Everything that has not ended.
    pub(super) fn open(&self) -> impl Iterator<Item = &Live> {
        self.all.iter().flat_map(|it| &it.stack).chain(self.parked.values())
    }

    /// The exception on its way in the current thread.
    pub(super) fn flight(&mut self) -> &mut Option<Flight> {
        match self.all.get_mut(self.current) {
            Some(thread) => &mut thread.flight,
            // There is always a current thread: none is ever removed.
            None => &mut self.nowhere,
        }
    }

    /// A frame of the current thread ended by its exception.
    pub(super) fn unwound(&mut self) {
        if let Some((_, has_left)) = self.here().and_then(|it| it.flight.as_mut()) {
            *has_left = true;
        }
    }

    /// The exception that was on its way in the current thread, where its top frame runs on: its lane, its number, and
    /// whether another frame had ended by it.
    pub(super) fn passed_by(&mut self) -> Option<(u32, u64, bool)> {
        let thread = self.here()?;
        let (episode, has_left) = thread.flight.take()?;
        Some((thread.lane, episode, has_left))
    }

    pub(super) fn switch(&mut self, number: u64) -> Result<(), Damage> {
        if let Some(at) = self.numbers.get(&number) {
            self.current = *at;
            return Ok(());
        }
        if self.all.len() >= limits::LANES_MAX {
            return Err(Damage::Many("threads"));
        }
        let within = self.top().map(|it| it.call);
        self.current = self.all.len();
        self.numbers.insert(number, self.current);
        let lane = self.add_lane(number, 0, format!("thread {number}"), within)?;
        self.all.push(OneThread { number, lane, ..OneThread::default() });
        Ok(())
    }

    pub(super) fn name(&mut self, number: u64, name: &str) {
        let known = self.numbers.get(&number).and_then(|it| self.all.get_mut(*it));
        match known {
            Some(thread) => {
                name.clone_into(&mut thread.name);
                let lane = self.places.get(&(number, 0)).copied().unwrap_or(NONE);
                if let Some(lane) = self.lanes.get_mut(lane as usize) {
                    name.clone_into(&mut lane.name);
                }
            }
            // It has its name before it runs.
            None => {
                let current = self.current;
                if self.switch(number).is_ok() {
                    self.current = current;
                    self.name(number, name);
                }
            }
        }
    }

    pub(super) fn task(&mut self, number: u64, name: String) -> Result<(), Damage> {
        let Some(thread) = self.all.get(self.current) else { return Ok(()) };
        let thread_number = thread.number;
        let within = thread.stack.last().map(|it| it.call);
        let lane = match self.places.get(&(thread_number, number)) {
            Some(lane) => *lane,
            None => self.add_lane(thread_number, number, name, within)?,
        };
        if let Some(thread) = self.here() {
            thread.lane = lane;
        }
        Ok(())
    }

    fn add_lane(
        &mut self,
        thread: u64,
        task: u64,
        name: String,
        within: Option<u32>,
    ) -> Result<u32, Damage> {
        if self.lanes.len() >= limits::LANES_MAX {
            return Err(Damage::Many("tasks"));
        }
        let lane = self.lanes.len() as u32;
        self.places.insert((thread, task), lane);
        self.lanes.push(Lane { thread, task, name, within });
        Ok(lane)
    }
}

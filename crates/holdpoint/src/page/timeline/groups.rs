//! Which events belong together: what a person chooses to see, and how the list asks for it.

use holdpoint_engine::event::EventKind;

/// What a chip of the view stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventGroup {
    Stops,
    Pauses,
    Hits,
    Calls,
    Notes,
    Output,
    Steering,
    Threads,
    Connections,
}

impl EventGroup {
    pub(super) const ALL: [EventGroup; 9] = [
        EventGroup::Stops,
        EventGroup::Pauses,
        EventGroup::Hits,
        EventGroup::Calls,
        EventGroup::Notes,
        EventGroup::Output,
        EventGroup::Steering,
        EventGroup::Threads,
        EventGroup::Connections,
    ];

    /// On the chip, and in the address.
    pub(super) const fn word(self) -> &'static str {
        match self {
            EventGroup::Stops => "stops",
            EventGroup::Pauses => "pauses",
            EventGroup::Hits => "tracepoints",
            EventGroup::Calls => "calls",
            EventGroup::Notes => "notes",
            EventGroup::Output => "output",
            EventGroup::Steering => "steering",
            EventGroup::Threads => "threads",
            EventGroup::Connections => "connections",
        }
    }

    pub(super) const fn hue(self) -> &'static str {
        match self {
            EventGroup::Stops | EventGroup::Pauses => "hold",
            EventGroup::Hits => "trace",
            EventGroup::Calls => "call",
            EventGroup::Notes
            | EventGroup::Output
            | EventGroup::Steering
            | EventGroup::Threads
            | EventGroup::Connections => "",
        }
    }

    /// Whether it is seen while nobody chose: threads come and go in numbers, and say little.
    pub(super) fn is_usual(self) -> bool {
        self != EventGroup::Threads
    }

    pub(super) const fn of(kind: EventKind) -> EventGroup {
        match kind {
            EventKind::SessionStarted
            | EventKind::EditorSession
            | EventKind::Stopped
            | EventKind::Resumed
            | EventKind::SessionEnded => EventGroup::Stops,
            EventKind::CallPaused | EventKind::CallResumed | EventKind::CallLost => {
                EventGroup::Pauses
            }
            EventKind::TracepointHit => EventGroup::Hits,
            EventKind::CallCompleted
            | EventKind::CallsCompleted
            | EventKind::CallsDropped
            | EventKind::CallsLost => EventGroup::Calls,
            EventKind::Note => EventGroup::Notes,
            EventKind::Output => EventGroup::Output,
            EventKind::ControlChanged
            | EventKind::Evaluated
            | EventKind::ReplChanged
            | EventKind::BreakpointChanged
            | EventKind::BreakpointBound
            | EventKind::BreakpointUnbound
            | EventKind::CallpointChanged => EventGroup::Steering,
            EventKind::ProcessStarted
            | EventKind::ProcessEnded
            | EventKind::ThreadStarted
            | EventKind::ThreadEnded => EventGroup::Threads,
            EventKind::ServerStarted
            | EventKind::ServerStopping
            | EventKind::ClientConnected
            | EventKind::ClientLeft
            | EventKind::FunctionRegistered
            | EventKind::ExternalServer
            | EventKind::ExternalLog => EventGroup::Connections,
        }
    }

    /// By its place in [`EventGroup::ALL`].
    pub(super) fn place(self) -> usize {
        EventGroup::ALL.iter().position(|it| *it == self).unwrap_or_default()
    }

    /// The kinds of some groups, as the list asks for them.
    pub(super) fn labels(chosen: &[EventGroup]) -> Vec<&'static str> {
        let kinds = EventKind::ALL.iter().filter(|kind| chosen.contains(&EventGroup::of(**kind)));
        kinds.map(|kind| kind.as_str()).collect()
    }
}

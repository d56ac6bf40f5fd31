//! Whether a call pauses: pure, so that a table can prove it and clients can repeat it.
//!
//! A callpoint has a behavior before and one after the call; `yield` means the default of the server.
//! The words and their aliases are the call protocol's.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Behavior {
    Stop,
    Go,
    /// As the server's default says.
    Yield,
    Exception,
    StopException,
}

/// The three moments at which a call can pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    AfterSuccess,
    AfterException,
}

impl Moment {
    /// Why a call pauses then.
    pub const fn reason(self) -> &'static str {
        match self {
            Moment::Before | Moment::AfterSuccess => "breakpoint",
            Moment::AfterException => "exception",
        }
    }
}

/// Whether a call whose callpoint says `own` pauses, where the server's default is `default`.
pub fn pauses(own: Behavior, default: Behavior, moment: Moment) -> bool {
    let effective = if own == Behavior::Yield { default } else { own };
    match effective {
        Behavior::Stop => moment != Moment::AfterException,
        Behavior::Exception => moment == Moment::AfterException,
        Behavior::StopException => true,
        // The default is never `yield`.
        Behavior::Go | Behavior::Yield => false,
    }
}

impl Behavior {
    pub const ALL: &[Behavior] = &[
        Behavior::Stop,
        Behavior::Go,
        Behavior::Yield,
        Behavior::Exception,
        Behavior::StopException,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Behavior::Stop => "stop",
            Behavior::Go => "go",
            Behavior::Yield => "yield",
            Behavior::Exception => "exception",
            Behavior::StopException => "stop_exception",
        }
    }

    /// What may stand before a call: `stop`, `go`, `yield` and their aliases.
    pub fn before(word: &str) -> Option<Behavior> {
        Behavior::parse(word)
            .filter(|it| matches!(it, Behavior::Stop | Behavior::Go | Behavior::Yield))
    }

    /// What may stand after a call: every behavior.
    pub fn after(word: &str) -> Option<Behavior> {
        Behavior::parse(word)
    }

    /// What may be the default: every behavior that decides.
    pub fn default(word: &str) -> Option<Behavior> {
        Behavior::parse(word).filter(|it| *it != Behavior::Yield)
    }

    fn parse(word: &str) -> Option<Behavior> {
        match word {
            "stop" | "breakpoints" | "stop_at_breakpoints" => Some(Behavior::Stop),
            "go" | "continue" => Some(Behavior::Go),
            "yield" | "defer" | "default" => Some(Behavior::Yield),
            "exception" | "exceptions" | "stop_at_exceptions" => Some(Behavior::Exception),
            "stop_exception"
            | "breakpoints_and_exceptions"
            | "stop_at_breakpoints_and_exceptions"
            | "both" => Some(Behavior::StopException),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// The table of the wire, whole: own behavior × default × moment.
    #[test]
    fn the_table() {
        let mut table = String::from("own            default         before success exception\n");
        for own in Behavior::ALL {
            for default in Behavior::ALL.iter().filter(|it| **it != Behavior::Yield) {
                let at = |moment| if pauses(*own, *default, moment) { "pause" } else { "-" };
                table += &format!(
                    "{:14} {:15} {:6} {:7} {}\n",
                    own.as_str(),
                    default.as_str(),
                    at(Moment::Before),
                    at(Moment::AfterSuccess),
                    at(Moment::AfterException)
                );
            }
        }
        expect![[r#"
            own            default         before success exception
            stop           stop            pause  pause   -
            stop           go              pause  pause   -
            stop           exception       pause  pause   -
            stop           stop_exception  pause  pause   -
            go             stop            -      -       -
            go             go              -      -       -
            go             exception       -      -       -
            go             stop_exception  -      -       -
            yield          stop            pause  pause   -
            yield          go              -      -       -
            yield          exception       -      -       pause
            yield          stop_exception  pause  pause   pause
            exception      stop            -      -       pause
            exception      go              -      -       pause
            exception      exception       -      -       pause
            exception      stop_exception  -      -       pause
            stop_exception stop            pause  pause   pause
            stop_exception go              pause  pause   pause
            stop_exception exception       pause  pause   pause
            stop_exception stop_exception  pause  pause   pause
        "#]]
        .assert_eq(&table);
    }

    /// Every word of the wire, and what it means before a call, after it, and as the default.
    #[test]
    fn each_place_takes_its_words_and_no_others() {
        let words = "stop breakpoints stop_at_breakpoints go continue yield defer default \
            exception exceptions stop_at_exceptions stop_exception breakpoints_and_exceptions \
            stop_at_breakpoints_and_exceptions both sometimes STOP";
        let mut table = String::new();
        for word in words.split_whitespace().chain([""]) {
            let show = |it: Option<Behavior>| it.map_or("-", Behavior::as_str);
            let (before, after) = (Behavior::before(word), Behavior::after(word));
            let default = show(Behavior::default(word));
            table += &format!("{word:34} {:6} {:14} {default}\n", show(before), show(after));
        }
        expect![[r#"
            stop                               stop   stop           stop
            breakpoints                        stop   stop           stop
            stop_at_breakpoints                stop   stop           stop
            go                                 go     go             go
            continue                           go     go             go
            yield                              yield  yield          -
            defer                              yield  yield          -
            default                            yield  yield          -
            exception                          -      exception      exception
            exceptions                         -      exception      exception
            stop_at_exceptions                 -      exception      exception
            stop_exception                     -      stop_exception stop_exception
            breakpoints_and_exceptions         -      stop_exception stop_exception
            stop_at_breakpoints_and_exceptions -      stop_exception stop_exception
            both                               -      stop_exception stop_exception
            sometimes                          -      -              -
            STOP                               -      -              -
                                               -      -              -
        "#]]
        .assert_eq(&table);
    }

    #[test]
    fn a_pause_says_why() {
        let why =
            [Moment::Before, Moment::AfterSuccess, Moment::AfterException].map(Moment::reason);
        assert_eq!(why, ["breakpoint", "breakpoint", "exception"]);
    }
}

//! One program: it stops, goes on, ends, and what it cannot do is refused.

use expect_test::expect;

use super::check;

#[test]
fn a_program_stops_steps_and_ends() {
    check(
        "
        < p1 joins
        < p1 thread 1
        < p1 stops 1 entry
        > next
        < p1 continues
        < p1 stops 1 step
        > resume
        < p1 continues
        < p1 goes
        < exits
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 thread 1
                threads
            < p1 stops 1 entry
                report 1 thread 1 entry
            > next
                send step 1 Over
                running
            < p1 continues
            < p1 stops 1 step
                report 2 thread 1 step
            > resume
                send resume 1
                running
            < p1 continues
            < p1 goes
                threads
            < exits
                ended
            > resume
                refuse Ended
            = Ended
        "#]],
    );
}

#[test]
fn resume_twice_is_refused_not_sent_twice() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        > resume
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            > resume
                send resume 1
                running
            > resume
                refuse AlreadyRunning
            = Running
        "#]],
    );
}

/// `stopped` may come before the answer to the request that caused it, and before `continued`.
#[test]
fn a_stop_before_the_answer_is_not_undone() {
    check(
        "
        < p1 joins
        < p1 stops 1 entry
        > next
        < p1 stops 1 step
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 entry
                report 1 thread 1 entry
            > next
                send step 1 Over
                running
            < p1 stops 1 step
                report 2 thread 1 step
            = Stopped
        "#]],
    );
}

#[test]
fn what_cannot_be_done_is_refused() {
    check(
        "
        > resume
        > pause
        < p1 joins
        > next
        < p1 stops 1 entry
        > pause
        ",
        expect![[r#"
            > resume
                refuse NotStarted
            > pause
                refuse NotStarted
            < p1 joins
                threads
            > next
                refuse AlreadyRunning
            < p1 stops 1 entry
                report 1 thread 1 entry
            > pause
                refuse AlreadyStopped
            = Stopped
        "#]],
    );
}

/// Somebody else may let it run, or the program itself.
#[test]
fn a_program_that_runs_on_by_itself_is_running() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 continues
        > pause
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 continues
                running
            > pause
                send pause p1
            = Running
        "#]],
    );
}

#[test]
fn a_program_that_goes_while_it_stands_does_not_run_on() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 goes
        < exits
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 goes
                threads
                over
            < exits
                ended
            = Ended
        "#]],
    );
}

/// What runs at a program's end is code too, and has breakpoints.
#[test]
fn a_program_that_said_that_it_ends_may_still_stop() {
    check(
        "
        < p1 joins
        < p1 ending
        < p1 stops 1 breakpoint
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 ending
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            > resume
                send resume 1
                running
            = Running
        "#]],
    );
}

#[test]
fn nobody_pauses_what_is_not_there() {
    check(
        "
        < p1 joins
        < p1 goes
        > pause
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 goes
                threads
            > pause
                refuse NoProcess
            = Running
        "#]],
    );
}

#[test]
fn nothing_stops_or_ends_after_the_end() {
    check(
        "
        < p1 joins
        < p1 thread 1
        < exits
        ? threads
        < p1 stops 1 breakpoint
        < exits
        > pause
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 thread 1
                threads
            < exits
                ended
            ? threads
                none
            < p1 stops 1 breakpoint
            < exits
            > pause
                refuse Ended
            = Ended
        "#]],
    );
}

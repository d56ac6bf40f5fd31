//! Several processes and threads: their stops are reported one after the other, and none is resumed unseen.

use expect_test::expect;

use super::check;

/// Two workers hit the same line: the second is reported when the first runs on, never resumed unseen.
#[test]
fn stops_of_two_processes_are_reported_one_after_the_other() {
    check(
        "
        < p1 joins
        < p2 joins
        < p3 joins
        < p2 stops 2 breakpoint
        < p3 stops 2 breakpoint
        > resume
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p3 joins
                threads
            < p2 stops 2 breakpoint
                report 1 thread 2/2 breakpoint
            < p3 stops 2 breakpoint
            > resume
                send resume 2/2
                running
                report 2 thread 3/2 breakpoint
            > resume
                send resume 3/2
                running
            = Running
        "#]],
    );
}

#[test]
fn stops_of_two_threads_are_reported_one_after_the_other() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 stops 2 breakpoint
        > next
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 stops 2 breakpoint
            > next
                over
                report 2 thread 2 breakpoint
            > resume
                send resume 2
                running
            = Running
        "#]],
    );
}

#[test]
fn a_stop_that_is_said_twice_is_one() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 stops 1 breakpoint
        < p2 stops 1 breakpoint
        < p2 stops 1 breakpoint
        > resume
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 stops 1 breakpoint
            < p2 stops 1 breakpoint
            < p2 stops 1 breakpoint
            > resume
                send resume 1
                running
                report 2 thread 2/1 breakpoint
            > resume
                send resume 2/1
                running
            = Running
        "#]],
    );
}

#[test]
fn threads_stand_together_or_alone_and_run_on_as_told() {
    check(
        "
        < p1 joins
        < p1 thread 1 main
        < p1 thread 2 worker
        < p1 stops 1 breakpoint
        ? threads
        < p1 continues 2
        ? threads
        > resume
        ? threads
        < p1 stops 2 breakpoint alone
        ? threads
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 thread 1 main
                threads
            < p1 thread 2 worker
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            ? threads
                1 main*, 2 worker*
            < p1 continues 2
            ? threads
                1 main*, 2 worker
            > resume
                send resume 1
                running
            ? threads
                1 main, 2 worker
            < p1 stops 2 breakpoint alone
                report 2 thread 2 breakpoint
            ? threads
                1 main, 2 worker*
            = Stopped
        "#]],
    );
}

#[test]
fn only_a_thread_that_stands_is_stepped() {
    check(
        "
        < p1 joins
        < p1 thread 2
        < p1 stops 1 breakpoint alone
        > steps 2
        > steps 3
        > steps 1
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 thread 2
                threads
            < p1 stops 1 breakpoint alone
                report 1 thread 1 breakpoint
            > steps 2
                refuse NoSuchThread
            > steps 3
                refuse NoSuchThread
            > steps 1
                send step 1 Over
                running
            = Running
        "#]],
    );
}

#[test]
fn a_thread_that_the_caller_names_does_not_wait_for_its_own_stop() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 stops 2 breakpoint
        > steps 2
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 stops 2 breakpoint
            > steps 2
                send step 2 Over
                running
            = Running
        "#]],
    );
}

#[test]
fn a_step_of_a_thread_of_another_process_leaves_the_stop_standing() {
    check(
        "
        < p1 joins
        < p2 joins
        < p1 stops 1 breakpoint
        < p2 stops 1 breakpoint
        > steps 2/1
        < p2 refuses 1
        > steps 2/1
        < p2 stops 1 step
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p2 stops 1 breakpoint
            > steps 2/1
                send step 2/1 Over
            < p2 refuses 1
            > steps 2/1
                send step 2/1 Over
            < p2 stops 1 step
            > resume
                send resume 1
                running
                report 2 thread 2/1 step
            = Stopped
        "#]],
    );
}

#[test]
fn what_was_put_by_is_sent_when_the_other_stop_goes() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 stops 2 breakpoint
        > next
        < p1 ends 2
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 stops 2 breakpoint
            > next
                over
                report 2 thread 2 breakpoint
            < p1 ends 2
                threads
                running
                send step 1 Over
            = Running
        "#]],
    );
}

#[test]
fn what_was_put_by_for_a_thread_that_ended_is_not_sent() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p1 stops 2 breakpoint
        > next
        < p1 ends 1
        < p1 ends 2
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p1 stops 2 breakpoint
            > next
                over
                report 2 thread 2 breakpoint
            < p1 ends 1
                threads
            < p1 ends 2
                threads
                running
            = Running
        "#]],
    );
}

#[test]
fn a_process_that_joins_leaves_a_stop_standing() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p2 joins
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p2 joins
                threads
            > resume
                send resume 1
                running
            = Running
        "#]],
    );
}

#[test]
fn a_stopped_process_that_goes_is_no_longer_stopped() {
    check(
        "
        < p1 joins
        < p2 joins
        < p2 stops 1 breakpoint
        < p2 goes
        > pause
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p2 stops 1 breakpoint
                report 1 thread 2/1 breakpoint
            < p2 goes
                threads
                running
            > pause
                send pause p1
            = Running
        "#]],
    );
}

#[test]
fn a_stop_of_a_process_that_went_is_not_reported() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p2 stops 1 breakpoint
        < p2 goes
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p2 stops 1 breakpoint
            < p2 goes
                threads
            > resume
                send resume 1
                running
            = Running
        "#]],
    );
}

#[test]
fn a_stop_after_the_process_is_gone_is_none() {
    check(
        "
        < p1 joins
        < p2 joins
        < p2 goes
        < p2 stops 1 breakpoint
        ",
        expect![[r#"
            < p1 joins
                threads
            < p2 joins
                threads
            < p2 goes
                threads
            < p2 stops 1 breakpoint
            = Running
        "#]],
    );
}

//! What a debugger did not take: the stop stands again, unless the process has said otherwise.

use expect_test::expect;

use super::check;

#[test]
fn a_refused_resume_stands_again_and_the_next_is_sent() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        > resume
        < p1 refuses 1
        > resume
        < p1 refuses 1
        < p1 refuses 2
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            > resume
                send resume 1
                running
            < p1 refuses 1
                report 2 thread 1 breakpoint again
            > resume
                send resume 1
                running
            < p1 refuses 1
            < p1 refuses 2
                report 3 thread 1 breakpoint again
            = Stopped
        "#]],
    );
}

#[test]
fn what_a_process_says_counts_more_than_a_refusal() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        > resume
        < p1 continues
        < p1 refuses 1
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            > resume
                send resume 1
                running
            < p1 continues
            < p1 refuses 1
            = Running
        "#]],
    );
}

#[test]
fn a_refusal_that_comes_after_the_next_stop_brings_nothing_back() {
    check(
        "
        < p1 joins
        < p1 stops 1 entry
        > next
        < p1 stops 2 breakpoint
        < p1 refuses 1
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 entry
                report 1 thread 1 entry
            > next
                send step 1 Over
                running
            < p1 stops 2 breakpoint
                report 2 thread 2 breakpoint
            < p1 refuses 1
            > resume
                send resume 2
                running
            = Running
        "#]],
    );
}

#[test]
fn a_stop_whose_resume_was_refused_comes_before_those_that_wait() {
    check(
        "
        < p1 joins
        < p1 stops 1 breakpoint
        < p2 stops 1 breakpoint
        < p3 stops 1 breakpoint
        > resume
        < p1 refuses 1
        > resume
        > resume
        ",
        expect![[r#"
            < p1 joins
                threads
            < p1 stops 1 breakpoint
                report 1 thread 1 breakpoint
            < p2 stops 1 breakpoint
            < p3 stops 1 breakpoint
            > resume
                send resume 1
                running
                report 2 thread 2/1 breakpoint
            < p1 refuses 1
            > resume
                send resume 2/1
                running
                report 3 thread 1 breakpoint again
            > resume
                send resume 1
                running
                report 4 thread 3/1 breakpoint
            = Stopped
        "#]],
    );
}

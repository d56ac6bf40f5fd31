//! Snapshots: what becomes of a text. That the result behaves as before is tested where it runs, in `clients/js/test/record`.

use expect_test::{Expect, expect};

use crate::{Goal, LeftAlone, SourceText, instrument};

#[track_caller]
fn check(text: &str, expected: Expect) {
    check_as(Goal::CommonJs, false, text, expected);
}

#[track_caller]
fn check_as(goal: Goal, typescript: bool, text: &str, expected: Expect) {
    let done = instrument(SourceText { text, goal, typescript, jsx: !typescript })
        .expect("it can be read");
    assert_eq!(done.text.lines().count(), text.lines().count(), "no line is added");
    assert_eq!(without(&done.text, &done.places), text, "what was inserted can be taken out again");
    expected.assert_eq(&done.text);
}

/// The text without what was inserted.
fn without(text: &str, places: &str) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    let numbers: Vec<usize> = places.split(',').filter_map(|number| number.parse().ok()).collect();
    let mut out = Vec::new();
    let mut at = 0;
    for pair in numbers.chunks(2) {
        out.extend_from_slice(&units[at..at + pair[0]]);
        at += pair[0] + pair[1];
    }
    out.extend_from_slice(&units[at..]);
    String::from_utf16(&out).expect("whole letters")
}

#[test]
fn a_function_says_its_parameters_lines_and_result() {
    check(
        "'use strict'\nfunction f(a, { b }) {\n  return a + b\n}",
        expect![[r#"
            'use strict';const $hpd=$hp.c0($hp$00000);
            function f(a, { b }) {const $hpd=$hp.c2($hp$00001,a,b);try{
              $hp.l(3);return $hp.r($hpd,a + b)
            ;$hp.r($hpd,void 0)}catch($hpe){throw $hp.u($hpd,$hpe)}};$hp.r($hpd,void 0);"#]],
    );
}

#[test]
fn a_short_arrow_gets_a_body() {
    check(
        "const f = async x => ({ x })",
        expect![
            ";const $hpd=$hp.c0($hp$00000);$hp.l(1);const f = async x => {const $hpd=$hp.g($hp$00001,[x]);try{$hp.gl($hpd,1);return $hp.gr($hpd,({ x }))}catch($hpe){throw $hp.gu($hpd,$hpe)}};$hp.r($hpd,void 0);"
        ],
    );
}

#[test]
fn writes_are_told_by_their_value() {
    check(
        "let a = 1; a += 2; this.b = a++; [a] = [3]; a ||= 4; const { c } = o\nx = () => 1",
        expect![[r#"
        ;const $hpd=$hp.c0($hp$00000);$hp.l(1);let a = $hp.w(0,1); $hp.w(0,a += 2); $hp.w(1,this.b = $hp.p(0,a++)); $hp.s([a] = [3],$hp.w(0,a)); a ||= $hp.w(0,4); const { c } = o;$hp.w(2,c);
        $hp.l(2);$hp.w(3,x = () => {const $hpd=$hp.c0($hp$00001);try{$hp.l(2);return $hp.r($hpd,1)}catch($hpe){throw $hp.u($hpd,$hpe)}});$hp.r($hpd,void 0);"#]],
    );
}

#[test]
fn loops_say_their_head_at_each_pass() {
    check(
        "for (const k of xs) use(k)\nfor (let i = 0; i < 2; i++)\n  i\nwhile (a) b()\ndo c(); while (d)",
        expect![[r#"
        ;const $hpd=$hp.c0($hp$00000);$hp.l(1);for (const k of xs) {$hp.l(1);$hp.w(0,k);use(k)}
        $hp.l(2);for (let i = $hp.w(1,0); i < 2; $hp.l(2),$hp.p(1,i++))
          {$hp.l(3);i}
        while ($hp.l(4),a) {b()}
        do {$hp.l(5);c();} while ($hp.l(5),d);$hp.r($hpd,void 0);"#]],
    );
}

#[test]
fn a_derived_constructor_has_no_this_before_super() {
    check(
        "class A extends B { constructor(x) { super(x); this.y = () => this } static { k = 1 } #p = () => 2 }",
        expect![
            ";const $hpd=$hp.c0($hp$00000);class A extends B { constructor(x) {const $hpd=$hp.c1($hp$00001,x);try{ $hp.l(1);$hp.w(1,super(x)); $hp.w(2,this.y = () => {const $hpd=$hp.c0($hp$00002);try{$hp.l(1);return $hp.r($hpd,this)}catch($hpe){throw $hp.u($hpd,$hpe)}}) ;$hp.r($hpd,this)}catch($hpe){throw $hp.u($hpd,$hpe)}} static {const $hpd=$hp.c1($hp$00003,this);try{ $hp.l(1);$hp.w(1,k = 1) ;$hp.r($hpd,void 0)}catch($hpe){throw $hp.u($hpd,$hpe)}} #p = () => {const $hpd=$hp.c0($hp$00004);try{$hp.l(1);return $hp.r($hpd,2)}catch($hpe){throw $hp.u($hpd,$hpe)}} };$hp.r($hpd,void 0);"
        ],
    );
}

#[test]
fn a_return_under_finally_waits_for_it() {
    check(
        "function f() { try { return 1 } catch ({ message }) { return } finally { g() } }",
        expect![
            ";const $hpd=$hp.c0($hp$00000);function f() {const $hpd=$hp.c0($hp$00001);try{ try { $hp.l(1);return $hp.q($hpd,1) } catch ($hpe){$hp.k($hpd,$hpe);let { message }=$hpe;if(1) {$hp.w(0,message); $hp.l(1);return void $hp.q($hpd,void 0) }} finally { $hp.l(1);g() } ;$hp.r($hpd,void 0)}catch($hpe){throw $hp.u($hpd,$hpe)}finally{$hp.x($hpd)}};$hp.r($hpd,void 0);"
        ],
    );
}

#[test]
fn generators_and_async_functions_leave_and_come_back() {
    check(
        "function* g() { const x = yield 1; yield; yield* h() }\nasync function a() { for await (const v of it) await v }",
        expect![[r#"
            ;const $hpd=$hp.c0($hp$00000);function* g() {const $hpd=$hp.g($hp$00001,[]);try{ $hp.gl($hpd,1);const x = $hp.w(0,$hp.z($hpd,yield $hp.y($hpd,1))); $hp.z($hpd,yield $hp.y($hpd,void 0)); $hp.z($hpd,yield* $hp.y($hpd,h())) ;$hp.gr($hpd,void 0)}catch($hpe){throw $hp.gu($hpd,$hpe)}finally{$hp.gx($hpd)}}
            async function a() {const $hpd=$hp.g($hp$00002,[]);try{ $hp.gl($hpd,2);for await (const v of $hp.i($hpd,it)) {$hp.gl($hpd,2);$hp.w(0,v);$hp.z($hpd,await $hp.y($hpd,v))};$hp.gf($hpd); ;$hp.gr($hpd,void 0)}catch($hpe){throw $hp.gu($hpd,$hpe)}};$hp.r($hpd,void 0);"#]],
    );
}

#[test]
fn a_function_that_would_clash_in_a_block_is_not_tried() {
    check(
        "function f() { var g; function g() {} }",
        expect![
            ";const $hpd=$hp.c0($hp$00000);function f() {const $hpd=$hp.c0($hp$00001); var g; function g() {const $hpd=$hp.c0($hp$00002);try{;$hp.r($hpd,void 0)}catch($hpe){throw $hp.u($hpd,$hpe)}} ;$hp.r($hpd,void 0)};$hp.r($hpd,void 0);"
        ],
    );
}

#[test]
fn nothing_is_said_inside_with() {
    check(
        "with (o) { a = 1; (function () { b = 2 })() }",
        expect![
            ";const $hpd=$hp.c0($hp$00000);$hp.l(1);with (o) { a = 1; (function () { b = 2 })() };$hp.r($hpd,void 0);"
        ],
    );
}

#[test]
fn types_are_left_where_they_are() {
    check_as(
        Goal::Module,
        true,
        "interface P { x: number }\nexport function f<T>(this: P, a?: T): T;\nexport function f(a: any = 1) { return a as number }\ndeclare const z: number;\nenum E { A = 1 }",
        expect![[r#"
            ;const $hpd=$hp.g($hp$00000,[]);interface P { x: number }
            export function f<T>(this: P, a?: T): T;
            export function f(a: any = 1) {const $hpd=$hp.c1($hp$00001,a);try{ $hp.l(3);return $hp.r($hpd,a as number) ;$hp.r($hpd,void 0)}catch($hpe){throw $hp.u($hpd,$hpe)}}
            declare const z: number;
            enum E { A = 1 };$hp.gr($hpd,void 0);"#]],
    );
}

#[test]
fn a_test_is_known_by_its_words() {
    let text =
        "describe('cart', () => { it.only('adds', () => {}); vi.test(`x ${1}`, async () => {}) })";
    let done = instrument(SourceText { text, goal: Goal::CommonJs, typescript: false, jsx: false })
        .expect("it can be read");
    let tests: Vec<_> = done.functions.iter().filter_map(|row| row.test.as_deref()).collect();
    assert_eq!(tests, ["cart > adds", "cart > x ${1}"]);
}

#[test]
fn functions_are_called_by_their_place() {
    let text = "class A { b() {} get c() { return () => 1 } static d = () => 2 } const e = { f() {}, g: function () {} }; exports.h = class { i() {} }";
    let done = instrument(SourceText { text, goal: Goal::CommonJs, typescript: false, jsx: false })
        .expect("it can be read");
    let names: Vec<_> = done.functions.iter().map(|row| row.qualified.as_str()).collect();
    expect!["<module>, A.b, A.get c, A.get c.<anonymous>, A.d, f, g, exports.h.i"]
        .assert_eq(&names.join(", "));
}

#[test]
fn a_map_inside_says_the_lines() {
    // Line 2 of the text came from line 5 of its source.
    let map = "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXSwibWFwcGluZ3MiOiI7QUFJQSJ9";
    let text = format!("\nf();\n//# sourceMappingURL=data:application/json;base64,{map}");
    let done =
        instrument(SourceText { text: &text, goal: Goal::CommonJs, typescript: false, jsx: false })
            .expect("it can be read");
    assert!(done.text.contains("$hp.l(5)"), "{}", done.text);
    assert_eq!(done.source.as_deref(), Some("a.ts"));
}

#[test]
fn what_cannot_be_read_is_refused() {
    let refused = |text| {
        instrument(SourceText { text, goal: Goal::CommonJs, typescript: false, jsx: false }).err()
    };
    assert_eq!(refused("function ("), Some(LeftAlone::Syntax));
    assert_eq!(refused("import a from 'b'"), Some(LeftAlone::Syntax));
    assert_eq!(refused("$hp.l(1)"), Some(LeftAlone::Taken));
    assert_eq!(refused(&" ".repeat(crate::TEXT_MAX + 1)), Some(LeftAlone::TooLong));
}

#[test]
fn a_container_changed_in_place_is_looked_at_behind_the_call() {
    check(
        "const a = [], k = 1; a.push(1); a[k]['x'].sort(); const [b] = a.splice(0, 1); a.pop().run(); free.push(2); f().push(3); a?.b.push(4); a?.pop().c; [...a.splice(0)]",
        expect![[
            r#";const $hpd=$hp.c0($hp$00000);$hp.l(1);const a = $hp.w(0,[]), k = $hp.w(1,1); $hp.s(a.push(1),$hp.m(0,a)); $hp.s(a[k]['x'].sort(),$hp.m(2,a,k,"x")); const [b] = a.splice(0, 1);;$hp.m(0,a);$hp.w(3,b); $hp.s(a.pop().run(),$hp.m(0,a)); free.push(2); f().push(3); $hp.s(a?.b.push(4),$hp.m(4,a,"b")); a?.pop().c; [...a.splice(0)];$hp.r($hpd,void 0);"#
        ]],
    );
    check(
        "class A { #r = []; get #g() {} m() { this.#r.push(1); this.#g.push(2); return this.x.y.add(3) } }",
        expect![[
            r#";const $hpd=$hp.c0($hp$00000);class A { #r = []; get #g() {const $hpd=$hp.c1($hp$00001,this);try{;$hp.r($hpd,void 0)}catch($hpe){throw $hp.u($hpd,$hpe)}} m() {const $hpd=$hp.c1($hp$00002,this);try{ $hp.l(1);$hp.s(this.#r.push(1),$hp.m(1,this.#r)); this.#g.push(2); return $hp.r($hpd,$hp.s(this.x.y.add(3),$hp.m(2,this,"x","y"))) ;$hp.r($hpd,void 0)}catch($hpe){throw $hp.u($hpd,$hpe)}} };$hp.r($hpd,void 0);"#
        ]],
    );
}

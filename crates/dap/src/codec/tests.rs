use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Decodes `bytes` in pieces of every size; each cut must give the same, which is then compared.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, expected: Expect) {
    let bytes = bytes.as_ref();
    let whole = decode(bytes, bytes.len().max(1));
    for size in 1..bytes.len() {
        assert_eq!(decode(bytes, size), whole, "in pieces of {size}");
    }
    expected.assert_eq(&whole);
}

fn decode(bytes: &[u8], size: usize) -> String {
    let mut decoder = Decoder::bounded(Bounds { header: 64, body: 100, skip: 1000 });
    let mut lines = Vec::new();
    for piece in bytes.chunks(size) {
        decoder.feed(piece);
        while let Some(out) = decoder.next() {
            lines.push(out.map_or_else(|error| format!("! {error}"), |value| value.to_string()));
        }
    }
    lines.extend(decoder.finish().map(|error| format!("! end: {error}")));
    lines.join("\n")
}

#[test]
fn messages_follow_each_other() {
    let stream = [encode(&json!({"seq": 1})), encode(&json!("é\n"))].concat();
    check(
        stream,
        expect![[r#"
            {"seq":1}
            "é\n""#]],
    );
}

#[test]
fn other_headers_small_letters_bare_newlines_and_blank_lines_are_fine() {
    check(
        "Content-Type: x/y\r\nContent-Length: 1\r\n\r\n1\r\n\r\ncontent-length:1\nX-Other: 7\n\n2",
        expect![[r#"
            1
            2"#]],
    );
}

#[test]
fn what_is_printed_between_messages_is_skipped_and_told() {
    check(
        "Listening…\nContent-Length: 1\r\n\r\n1oops: no newlineContent-Length: 1\r\n\r\n2 the end",
        expect![[r#"
            ! skipped 13 bytes between messages: `Listening…\n`
            1
            ! skipped 16 bytes between messages: `oops: no newline`
            2
            ! end: skipped 8 bytes between messages: ` the end`"#]],
    );
}

#[test]
fn a_header_without_a_length_is_not_one() {
    check(
        "Content-Length: many\r\n\r\nContent-Length: -1\n\nContent-Length: 1\r\n\r\n1",
        expect![[r#"
            ! skipped 44 bytes between messages: `Content-Length: many\r\n\r\nContent-Length: -1\n\n`
            1"#]],
    );
}

#[test]
fn a_header_that_is_cut_off_by_the_next_one_is_skipped() {
    check(
        "Content-Length: 9\r\nContent-Length: 1\r\n\r\n1",
        expect![[r#"
            ! skipped 19 bytes between messages: `Content-Length: 9\r\n`
            1"#]],
    );
}

#[test]
fn a_header_that_never_ends_is_skipped() {
    let endless = format!("Content-Length: 1{}", " ".repeat(80));
    check(
        format!("{endless}\n\nContent-Length: 1\n\n1"),
        expect![[r#"
            ! skipped 99 bytes between messages: `Content-Length: 1                                                                                \n\n`
            1"#]],
    );
}

#[test]
fn a_length_that_is_too_long_loses_only_its_own_message() {
    check(
        "Content-Length: 25\r\n\r\n{}Content-Length: 1\r\n\r\n1Content-Length: 1\r\n\r\n2",
        expect![[r#"
            ! a message of 25 bytes is not JSON: trailing characters at line 1 column 3
            1
            2"#]],
    );
}

#[test]
fn a_length_that_is_too_short_loses_only_its_own_message() {
    check(
        "Content-Length: 3\r\n\r\n{\"a\":1}Content-Length: 1\r\n\r\n1",
        expect![[r#"
            ! a message of 3 bytes is not JSON: EOF while parsing a string at line 1 column 3
            ! skipped 4 bytes between messages: `\":1}`
            1"#]],
    );
}

#[test]
fn an_end_within_a_message_says_how_much_had_come() {
    check(
        "Content-Length: 30\r\n\r\n{\"a\":1",
        expect!["! end: the end came after 6 of a message's 30 bytes"],
    );
}

#[test]
fn a_body_that_is_too_large_is_passed_over() {
    check(
        format!("Content-Length: 500\r\n\r\n{}Content-Length: 1\r\n\r\n1", "x".repeat(500)),
        expect![[r#"
            ! skipped a message of 500 bytes, more than 67108864 are not kept
            1"#]],
    );
}

/// Of exactly the size that is kept: it is a message. One more, and it is passed over.
#[test]
fn the_largest_body_that_is_kept() {
    let framed = |bytes: usize| format!("Content-Length: {bytes}\r\n\r\n{:>bytes$}", 7);
    check(
        format!("{}{}{}", framed(100), framed(101), framed(1)),
        expect![[r#"
            7
            ! skipped a message of 101 bytes, more than 67108864 are not kept
            7"#]],
    );
}

/// Of exactly the size that may be skipped: its bytes are passed over. One more is a lie, and only the header is.
#[test]
fn the_largest_body_that_is_skipped() {
    let framed = |said: usize| {
        let rest = "x".repeat(1000 - encode(&json!(1)).len());
        format!("Content-Length: {said}\r\n\r\n{rest}Content-Length: 1\r\n\r\n1")
    };
    check(
        framed(1000) + "Content-Length: 1\r\n\r\n2",
        expect![[r#"
            ! skipped a message of 1000 bytes, more than 67108864 are not kept
            2"#]],
    );
    let mut decoder = Decoder::bounded(Bounds { header: 64, body: 100, skip: 1000 });
    decoder.feed(framed(1001).as_bytes());
    assert!(matches!(decoder.next(), Some(Err(DecodeError::Skipped { bytes: 1002, .. }))));
    assert_eq!(decoder.next(), Some(Ok(json!(1))));
}

/// The number of the request that a message answers stands in its first bytes.
#[test]
fn the_head_of_a_body_that_is_too_large_is_told_however_it_arrives() {
    let body: String = ('a'..='z').cycle().take(500).collect();
    let stream = format!("Content-Length: 500\r\n\r\n{body}");
    for size in [1, 7, 100, 400, stream.len()] {
        let mut decoder = Decoder::bounded(Bounds { header: 64, body: 100, skip: 1000 });
        let mut told = Vec::new();
        for piece in stream.as_bytes().chunks(size) {
            decoder.feed(piece);
            told.extend(std::iter::from_fn(|| decoder.next()));
        }
        let head = body.chars().take(limits::SAMPLE_BYTES).collect();
        assert_eq!(told, [Err(DecodeError::TooLarge { bytes: 500, head })], "pieces of {size}");
    }
}

#[test]
fn an_end_within_a_header_is_no_garbage() {
    for begun in ["Content-Length: ", "Content-Length: 12", "Conte"] {
        let mut decoder = Decoder::default();
        decoder.feed(format!("Content-Length: 1\r\n\r\n1{begun}").as_bytes());
        assert_eq!(decoder.next(), Some(Ok(serde_json::json!(1))));
        assert_eq!((decoder.next(), decoder.finish()), (None, None), "{begun}");
    }
}

#[test]
fn an_end_within_a_body_that_is_too_large_says_how_much_had_come() {
    let mut decoder = Decoder::bounded(Bounds { header: 64, body: 100, skip: 1000 });
    decoder.feed(format!("Content-Length: 500\r\n\r\n{}", "x".repeat(300)).as_bytes());
    assert!(matches!(decoder.next(), Some(Err(DecodeError::TooLarge { .. }))));
    assert_eq!(decoder.next(), None);
    assert_eq!(decoder.finish(), Some(DecodeError::CutOff { got: 300, bytes: 500 }));
}

/// What is kept of it is little, and what is not kept may be something else.
#[test]
fn text_behind_many_blanks_is_told_and_not_kept() {
    let noise = format!("{}oops", "\n".repeat(limits::SAMPLE_BYTES));
    let mut decoder = Decoder::default();
    for _ in 0..3 {
        decoder.feed(noise.as_bytes());
        assert_eq!(decoder.next(), None);
    }
    decoder.feed(&encode(&json!(1)));
    let sample = "\n".repeat(limits::SAMPLE_BYTES);
    let bytes = 3 * noise.len();
    assert_eq!(decoder.next(), Some(Err(DecodeError::Skipped { bytes, sample })));
    assert_eq!(decoder.next(), Some(Ok(json!(1))));
}

#[test]
fn a_length_that_cannot_be_true_does_not_swallow_what_follows() {
    check(
        "Content-Length: 99999999\r\n\r\nContent-Length: 1\r\n\r\n1",
        expect![[r#"
            ! skipped 28 bytes between messages: `Content-Length: 99999999\r\n\r\n`
            1"#]],
    );
}

#[test]
fn bytes_that_are_no_text_and_halves_of_surrogate_pairs_become_replacement_characters() {
    let mut stream = b"Content-Length: 3\r\n\r\n\"\xff\"".to_vec();
    let halves = r#""\ud800 \\ud800 \udc80\ud83d\ude00 \n \ud800\n \ud800\u0041""#;
    stream.extend(format!("Content-Length: {}\r\n\r\n{halves}", halves.len()).bytes());
    check(
        stream,
        expect![[r#"
            "�"
            "� \\ud800 �😀 \n �\n �A""#]],
    );
}

#[test]
fn a_large_message_in_pieces_is_whole_and_its_weight_is_told() {
    let message = json!("x".repeat(4 * limits::IDLE_BUFFER_BYTES));
    let mut decoder = Decoder::default();
    for piece in encode(&message).chunks(limits::IDLE_BUFFER_BYTES) {
        assert_eq!(decoder.next(), None);
        decoder.feed(piece);
    }
    assert_eq!(decoder.next(), Some(Ok(message)));
    assert_eq!(decoder.body_bytes(), 4 * limits::IDLE_BUFFER_BYTES + 2);
}

#[test]
fn a_large_message_does_not_keep_its_room() {
    let mut decoder = Decoder::default();
    decoder.feed(&encode(&json!("x".repeat(4 * limits::IDLE_BUFFER_BYTES))));
    assert!(decoder.next().unwrap().is_ok());
    decoder.feed(b"Content-");
    assert!(decoder.buffer.capacity() < limits::IDLE_BUFFER_BYTES);
}

/// Text in which headers, right and wrong, are likely.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        "(Content-Length|content-length|Content-Type)?:? ?[0-9]{0,4}(\r\n|\n){0,2}"
            .prop_map(String::into_bytes),
        "[{}\\[\\]\"\\\\a-f0-9ud:, ]{0,30}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

fn message() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
        Just(json!("Content-Length: 5\r\n\r\n")),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        proptest::collection::vec((".{0,5}", inner), 0..5)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    })
}

/// All that comes out when `stream` arrives in pieces that end at `cuts`.
fn decode_cut(
    stream: &[u8],
    cuts: &[prop::sample::Index],
    mut decoder: Decoder,
) -> Vec<Result<Value, DecodeError>> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    ends.push(stream.len());
    ends.sort_unstable();
    let most = decoder.bounds.header + decoder.bounds.body;
    let mut all = Vec::new();
    let mut from = 0;
    for end in ends {
        decoder.feed(&stream[from..end]);
        from = end;
        all.extend(std::iter::from_fn(|| decoder.next()));
        assert!(decoder.rest().len() < most, "keeps {} bytes", decoder.rest().len());
    }
    all.extend(decoder.finish().map(Err));
    all
}

fn small() -> Decoder {
    Decoder::bounded(Bounds { header: 64, body: 500, skip: 5000 })
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    proptest::collection::vec(any::<prop::sample::Index>(), 0..12)
}

proptest! {
    #[test]
    fn any_cut_of_any_messages_decodes_to_the_same(
        messages in proptest::collection::vec(message(), 0..6),
        cuts in cuts(),
    ) {
        let stream: Vec<u8> = messages.iter().flat_map(encode).collect();
        let messages: Vec<_> = messages.into_iter().map(Ok).collect();
        prop_assert_eq!(decode_cut(&stream, &cuts, Decoder::default()), messages);
    }

    #[test]
    fn any_cut_of_noise_reports_the_same_and_keeps_little(stream in noise(), cuts in cuts()) {
        prop_assert_eq!(decode_cut(&stream, &cuts, small()), decode_cut(&stream, &[], small()));
    }

    #[test]
    fn a_message_behind_noise_is_found(noise in "[a-z :\r\n{}\"]{0,300}", cuts in cuts()) {
        let stream = [noise.as_bytes(), &encode(&json!({"seq": 1}))].concat();
        let last = decode_cut(&stream, &cuts, small()).pop();
        prop_assert_eq!(last, Some(Ok(json!({"seq": 1}))));
    }
}

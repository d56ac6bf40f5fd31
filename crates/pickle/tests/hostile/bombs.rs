//! Pickles that are made to hurt: each is read and shown within bounds, or refused with a reason.

use holdpoint_pickle::{Fault, FaultKind, Limits, OverBound, Pickle, Show, write};

use super::look::{assert_peak, look};

/// Reads it and looks at it; gives what is shown, or why it is refused.
#[track_caller]
fn show(bytes: &[u8]) -> Result<String, Fault> {
    let pickle = Pickle::read(bytes, &Limits::default())?;
    look(&pickle, 200);
    assert_peak();
    Ok(pickle.render(pickle.root(), Show::chars(200)))
}

#[track_caller]
fn refused(bytes: &[u8]) -> FaultKind {
    show(bytes).unwrap_err().kind
}

fn repeat(head: &[u8], middle: &[u8], count: usize, tail: &[u8]) -> Vec<u8> {
    [head, &middle.repeat(count), tail].concat()
}

#[test]
fn a_billion_laughs_are_shown_in_two_hundred_characters() {
    // Sixty lists, each twice in the next: 2^60 leaves in 500 bytes.
    let mut bytes = b"\x80\x04]\x94\x8c\x03lol\x94a".to_vec();
    for level in 0..60u8 {
        // `[l, l]` of the list that was remembered last.
        bytes.extend([b']', 0x94, b'(', b'h', level + u8::from(level > 0), b'h']);
        bytes.extend([level + u8::from(level > 0), b'e']);
    }
    bytes.push(b'.');
    let text = show(&bytes).unwrap();
    assert!(text.contains("more"), "{text}");
}

#[test]
fn a_dict_of_itself_names_the_cycle() {
    assert_eq!(show(b"}\x94(\x8c\x01kh\0u.").unwrap(), "{'k': <cycle: the whole>}");
    assert_eq!(show(b"]\x94]\x94(h\0h\x01ea.").unwrap(), "[[<cycle: the whole>, <cycle: [0]>]]");
    // A tuple that is its own key, which no Python could make.
    assert!(show(b"}\x94(h\0h\0u.").unwrap().contains("<cycle: the whole>: <cycle: the whole>"));
}

#[test]
fn a_million_levels_are_read_and_counted() {
    let deep = repeat(b"\x80\x04", b"]", 1_000_000, &b"a".repeat(999_999));
    let pickle = Pickle::read(&deep, &Limits::default()).unwrap();
    assert_eq!(pickle.cut().unwrap().bound, OverBound::Nodes);
    look(&pickle, 200);
    let wide = Limits { steps_max: 10_000_000, nodes_max: 2_000_000, memo_max: 0 };
    let whole = [deep, b".".to_vec()].concat();
    let pickle = Pickle::read(&whole, &wide).unwrap();
    assert!(pickle.cut().is_none());
    assert!(pickle.render(pickle.root(), Show::chars(500)).starts_with("[[[[[[[["));
    assert!(pickle.find(&"[0]".repeat(64)).is_ok());
    // The same as tuples, which are closed from inside.
    let tuples = repeat(b"N", b"\x85", 400_000, b".");
    assert!(show(&tuples).unwrap().starts_with("((((("));
}

#[test]
fn lengths_that_lie_cost_nothing() {
    let gigabyte = 1_000_000_000u32.to_le_bytes();
    for opcode in [b'X', b'B', b'T', 0x8b] {
        let bytes = [&[opcode][..], &gigabyte, b"x."].concat();
        assert_eq!(refused(&bytes), FaultKind::Truncated);
    }
    for opcode in [0x8d, 0x8e, 0x96] {
        let bytes = [&[opcode][..], &u64::MAX.to_le_bytes(), b"x."].concat();
        assert_eq!(refused(&bytes), FaultKind::Truncated);
    }
    // A frame may say what it likes: it is not believed.
    assert_eq!(show(b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffK\x01.").unwrap(), "1");
}

#[test]
fn memo_numbers_of_any_size_are_taken_until_there_are_too_many() {
    let mut bytes = b"N".to_vec();
    for index in 0..200_000u32 {
        bytes.push(b'r');
        bytes.extend((u32::MAX - index).to_le_bytes());
    }
    bytes.push(b'.');
    let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
    assert_eq!(pickle.cut().unwrap().bound, OverBound::Memo);
    assert_eq!(show(b"Np99999999999999999999\n.").unwrap_err().kind, FaultKind::BadText);
    assert_eq!(refused(b"h\x05."), FaultKind::NotInMemo(5));
}

#[test]
fn opcodes_that_make_nothing_are_counted_too() {
    for bytes in [repeat(b"N", b"20", 3_000_000, b"."), repeat(b"N", b"(", 3_000_000, b".")] {
        let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
        assert_eq!(pickle.cut().unwrap().bound, OverBound::Steps);
        look(&pickle, 200);
    }
    let remembered = repeat(b"N", b"\x94", 3_000_000, b".");
    assert!(Pickle::read(&remembered, &Limits::default()).unwrap().cut().is_some());
    assert_peak();
}

#[test]
fn chains_of_calls_are_shown_as_far_as_they_fit() {
    // f(f(f(…
    let chain = repeat(b"", b"cos\nsystem\n", 50_000, b"");
    let chain = [chain, repeat(b")", b"R\x85", 49_999, b"R.")].concat();
    let text = show(&chain).unwrap();
    assert!(text.starts_with("system(system(system("), "{text}");
    // (f())()()()…, where what is called is a call.
    let called = repeat(b"cos\nsystem\n", b")R", 400_000, b".");
    assert!(show(&called).unwrap().starts_with("<call>("));
    // getattr(getattr(…, 'x'), 'x') as a name, and as a class.
    let names = repeat(b"cbuiltins\ngetattr\np0\n", b"(g0\n", 50_000, b"c__main__\nC\n");
    let names = [names, b"Vx\ntR".repeat(50_000)].concat();
    assert!(show(&[names.as_slice(), b"."].concat()).is_ok());
    assert!(show(&[names.as_slice(), b")\x81."].concat()).is_ok());
}

#[test]
fn states_of_anything_are_taken_or_refused() {
    assert_eq!(refused(b"K\x01K\x02b."), FaultKind::WrongKind);
    assert_eq!(refused(b"NNb."), FaultKind::WrongKind);
    assert_eq!(refused(b"]K\x01s."), FaultKind::StackUnderflow);
    assert_eq!(refused(b"K\x01K\x02a."), FaultKind::WrongKind);
    assert_eq!(refused(b"cm\nC\n)\x81b."), FaultKind::StackUnderflow);
    assert_eq!(refused(b"K\x01K\x02\x93."), FaultKind::WrongKind);
    assert_eq!(show(b"cm\nC\n)\x81cm\nD\nb.").unwrap(), "C(__state__=m.D)");
    // A million states of one object, and itself as its state.
    let many = repeat(b"cm\nC\n)\x81", b"Nb", 400_000, b".");
    assert_eq!(show(&many).unwrap(), "C()");
    assert_eq!(show(b"cm\nC\n)\x81\x94h\0b.").unwrap(), "C(__state__=<cycle: the whole>)");
    // Dates, arrays, code and cells that are none.
    for garbage in [
        &b"cdatetime\ndatetime\n(NNtR."[..],
        b"cdatetime\ndate\n(C\x02abtR.",
        b"cnumpy.core.multiarray\n_reconstruct\n(NNNtR(NNNNNtb.",
        b"cnumpy\ndtype\n(Vi99999999999999999999\ntR.",
        b"cdill._dill\n_create_function\n(NNNNNtR.",
        b"cdill._dill\n_create_code\n(C\0K\xffC\0NNNNNNNNtR.",
        b"cdill._dill\n_create_type\n(NNNNtR.",
        b"ccopy_reg\n_reconstructor\n(ccopy_reg\n_reconstructor\nc__builtin__\nobject\nNtR.",
        b"ccopy_reg\n__newobj__\n(ccopy_reg\n__newobj__\ntR.",
        b"cuuid\nUUID\n)\x81}(Vint\nL-1L\nub.",
        b"ccollections\nCounter\n(N\x94tR.",
    ] {
        assert!(!show(garbage).unwrap().is_empty());
    }
}

#[test]
fn half_of_a_pickle_is_no_pickle() {
    let value = serde_json::json!({ "a": [1, 2.5, "text", { "b": null }], "c": 1_u64 << 40 });
    let whole = write(&value);
    for end in 0..whole.len() {
        let (half, _) = whole.split_at(end);
        assert_eq!(refused(half), FaultKind::Truncated, "{end}");
    }
    assert_eq!(refused(b"\xff"), FaultKind::UnknownOpcode(0xff));
    assert_eq!(refused(b"."), FaultKind::StackUnderflow);
    assert_eq!(refused(b"(."), FaultKind::StackUnderflow);
    assert_eq!(refused(b"t."), FaultKind::NoMark);
    assert_eq!(refused(b"}(Na."), FaultKind::StackUnderflow);
    assert_eq!(refused(b"}(Nu."), FaultKind::StackUnderflow);
}

#[test]
fn what_is_too_large_is_shown_as_far_as_it_was_read() {
    let limits = Limits { nodes_max: 100, ..Limits::default() };
    let rows = |count: usize| serde_json::json!({ "rows": vec![7777; count], "after": 1 });
    let bytes = write(&rows(10_000));
    let pickle = Pickle::read(&bytes, &limits).unwrap();
    let text = pickle.render(pickle.root(), Show::chars(60));
    assert!(text.starts_with("{'rows': [7777, 7777, "), "{text}");
    let cut = pickle.cut().unwrap();
    assert_eq!(cut.to_string(), format!("read 303 of {} bytes: too many values", bytes.len()));
    // One key alone, and an object's state: other opcodes, the same end.
    for bytes in [
        write(&serde_json::json!({ "rows": vec![7777; 1_000] })),
        [&b"cm\nC\n)\x81}Vrows\n](".to_vec()[..], &b"M\x61\x1e".repeat(1_000), b"esb."].concat(),
    ] {
        let pickle = Pickle::read(&bytes, &limits).unwrap();
        let text = pickle.render(pickle.root(), Show::chars(60));
        assert!(text.contains("[7777, 7777, "), "{text}");
    }
}

#[test]
fn text_of_many_megabytes_shown_many_times_is_not_copied() {
    // A list of ten thousand times the same text, name and bytes of a megabyte.
    let big = vec![b'x'; 1_000_000];
    let length = u32::try_from(big.len()).unwrap().to_le_bytes();
    let mut bytes = [&b"X"[..], &length, &big, b"\x940"].concat();
    bytes.extend(b"Vm\nh\0\x93\x940");
    bytes.extend(b"cdill._dill\n_eval_repr\nh\0\x85R\x940");
    bytes.extend(b"c_codecs\nencode\nh\0Vlatin1\n\x86R\x940](");
    for entry in 0..4u8 {
        bytes.extend([b'h', entry].repeat(10_000));
    }
    bytes.extend(b"e.");
    let pickle = Pickle::read(&bytes, &Limits::default()).unwrap();
    assert_eq!(
        look(&pickle, 20_000),
        pickle.render(pickle.root(), Show::chars(20_000)).chars().count()
    );
    assert_peak();
}

//! Recorded pickles, and looking at all of one.

use holdpoint_pickle::{Children, Pickle, Show};

/// Recorded pickles: name and bytes. `tests/python/corpus.py` writes the file.
pub(crate) fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let lines = include_str!("corpus.txt").lines();
    lines.filter_map(|line| line.split_once(' ')).map(|(name, hex)| (name, unhex(hex))).collect()
}

fn unhex(hex: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, _) = hex.as_bytes().as_chunks::<2>();
    pairs.iter().filter_map(|[high, low]| Some(digit(*high)? * 16 + digit(*low)?)).collect()
}

/// Looks at a value in every way that there is; gives how much was said.
pub(crate) fn look(pickle: &Pickle<'_>, chars: usize) -> usize {
    let root = pickle.root();
    let text = pickle.render(root, Show::chars(chars));
    let length = text.chars().count();
    assert!(length <= chars, "{length} characters instead of {chars}: {text}");
    let json = pickle.json(root, Show::chars(chars)).to_string();
    // Escapes, brackets, and the least that is said of a value.
    assert!(json.len() <= chars * 8 + 2_000, "{} bytes of JSON for {chars}", json.len());
    let Children { items, total } = pickle.children(root, 0, 5);
    assert!(items.len() <= total);
    for child in &items {
        let found = pickle.find(&child.step);
        assert!(found.is_ok(), "{} is listed but not there: {found:?}", child.step);
        pickle.render(child.value, Show::chars(40));
        pickle.class_of(child.value).to_string();
        pickle.children(child.value, 1, 3);
    }
    length
}

/// What the whole of these tests may cost, with the pickles themselves.
const PEAK_KB: u64 = 400_000;

/// The most memory that this process ever had. Only Linux tells.
#[track_caller]
pub(crate) fn assert_peak() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    assert!(peak.unwrap_or(0) < PEAK_KB, "{peak:?} kB");
}

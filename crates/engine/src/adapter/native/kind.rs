//! Which language a program was compiled from, as far as its file tells.

use std::{fs::File, io::Read as _, path::Path};

use memchr::memmem;

use crate::limits;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NativeLanguage {
    C,
    Cpp,
    Rust,
}

impl NativeLanguage {
    pub(super) const fn language(self) -> &'static str {
        match self {
            NativeLanguage::C => "c",
            NativeLanguage::Cpp => "cpp",
            NativeLanguage::Rust => "rust",
        }
    }

    pub(super) const fn endings(self) -> &'static [&'static str] {
        match self {
            NativeLanguage::C => &["c", "h"],
            NativeLanguage::Cpp => &["cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx"],
            NativeLanguage::Rust => &["rs"],
        }
    }

    /// Of a compiled program; `None` for what is none. By what each language's unwinder is called, which
    /// stays in a program that has nothing else to tell.
    pub(super) fn of_program(file: &Path) -> Option<NativeLanguage> {
        let mut bytes = Vec::new();
        let mut open = File::open(file).ok()?;
        let mut head = [0; 4];
        open.read_exact(&mut head).ok()?;
        if head != *b"\x7fELF" {
            return None;
        }
        open.take(limits::PROGRAM_READ).read_to_end(&mut bytes).ok()?;
        let has = |what: &str| memmem::find(&bytes, what.as_bytes()).is_some();
        // Go has its own debugger; what runs Python and Node is compiled too, and is theirs.
        if has("Go build ID: ") {
            return None;
        }
        Some(match has("rust_eh_personality") || has("rust_begin_unwind") {
            true => NativeLanguage::Rust,
            false if has("__gxx_personality_v0") || has("libstdc++.so") => NativeLanguage::Cpp,
            false => NativeLanguage::C,
        })
    }
}

//! What of our own code stays mapped.
//!
//! The kernel maps the neighbourhood of every page of code that is touched, and a start touches most of the
//! binary once: options, registries, schemas. On a binary that was copied, as an installed one is, that made
//! 16 MB of an idle server. So the code is let go of behind the first handshake; what runs comes back from the
//! page cache, in less than a millisecond for all of it.

use std::{fs, ops::Range, sync::Once};

/// Called when everything has started: by the first client that says so, or by a server that waits for some.
pub(crate) fn let_go_of_the_start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(let_go_of_code);
}

fn let_go_of_code() {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return };
    let Ok(own) = std::env::current_exe() else { return };
    let own = own.display().to_string();
    for range in maps.lines().filter_map(|line| code(line, &own)) {
        let_go(range);
    }
}

/// The addresses of a line of `/proc/PID/maps`, if they hold this file's code and nothing else.
///
/// Only what can be executed: read-only data has been written to by the loader, and would be lost.
fn code(line: &str, file: &str) -> Option<Range<usize>> {
    let mut fields = line.split_ascii_whitespace();
    let (range, rights) = (fields.next()?, fields.next()?);
    let is_ours = line.ends_with(file) && rights == "r-xp";
    let (start, end) = range.split_once('-').filter(|_| is_ours)?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some(number(start)?..number(end)?)
}

#[cfg(target_os = "linux")]
fn let_go(range: Range<usize>) {
    let start = std::ptr::with_exposed_provenance_mut(range.start);
    #[expect(unsafe_code, reason = "no crate asks for this without it")]
    // SAFETY: these are pages of a file that nobody wrote to; whoever runs them reads them again from the file.
    let answer = unsafe { nix::libc::madvise(start, range.len(), nix::libc::MADV_DONTNEED) };
    if answer != 0 {
        tracing::debug!(error = %std::io::Error::last_os_error(), "the start's code stays mapped");
    }
}

#[cfg(not(target_os = "linux"))]
fn let_go(_: Range<usize>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_code_is_let_go_of() {
        let line = |rights, file| format!("1000-3000 {rights} 00001000 fe:00 123  {file}");
        assert_eq!(code(&line("r-xp", "/bin/holdpoint"), "/bin/holdpoint"), Some(0x1000..0x3000));
        for (rights, file) in [
            ("r--p", "/bin/holdpoint"),
            ("rw-p", "/bin/holdpoint"),
            ("rwxp", "/bin/holdpoint"),
            ("r-xp", "/lib/libc.so.6"),
            ("r-xp", "[vdso]"),
            ("r-xp", ""),
        ] {
            assert_eq!(code(&line(rights, file), "/bin/holdpoint"), None, "{rights} {file}");
        }
    }
}

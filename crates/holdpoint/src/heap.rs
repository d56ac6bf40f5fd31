//! How much of what was freed the C library keeps.
//!
//! Left to itself it learns from each large buffer that is freed to take the next such from the heap, where
//! small things that live on soon stand behind it and hold all of it: after a million records a quarter more
//! memory than at a fixed limit was kept for nothing. Bodies and batches of megabytes come seldom enough
//! that asking the kernel for each costs nothing that the benches see.

/// Buffers from this size on go back to the system as soon as they are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const OWN_PAGES: nix::libc::c_int = 128 * 1024;

/// Called once, before anything large is asked for.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn give_back_large_buffers() {
    // What it returns says only whether the number is one it knows.
    #[expect(
        unsafe_code,
        reason = "no crate sets this; it is one number, read under the heap's own lock"
    )]
    // SAFETY: no pointer goes in or out, and no other thread runs yet.
    let _known = unsafe { nix::libc::mallopt(nix::libc::M_MMAP_THRESHOLD, OWN_PAGES) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back_large_buffers() {}

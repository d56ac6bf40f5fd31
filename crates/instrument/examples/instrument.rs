//! The command `holdpoint instrument` by itself, for the tests of this crate: the service alone, without the rest of the binary.

#[path = "../../holdpoint/src/cmd/instrument/service.rs"]
mod service;

fn main() -> std::io::Result<()> {
    service::answer(std::io::stdin().lock()).map(drop)
}

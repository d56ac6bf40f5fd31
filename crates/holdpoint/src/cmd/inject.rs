//! `holdpoint inject`: calls one function of a library inside a process that runs, and leaves.
//!
//! What a native debugger is used for elsewhere. gdb 13 and older cannot write the registers of processors
//! with large vector units back, and leave the process with a broken system call; here they are kept as the
//! kernel gives them. The main thread alone is held, and the others go on: one of them may hold the lock that
//! the call waits for. It runs in a process of its own, because a call that is broken off in the middle would
//! end the program.
//!
//! A thread that waits in the kernel can take a call: it has left its interpreter in order. One that computes may be
//! in the middle of anything, an allocation for instance, and a call that does the same breaks it; such a one is only
//! asked to run the code when it comes to it, as Python provides for.

use std::{
    fs,
    io::{IoSlice, IoSliceMut},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use nix::{
    libc,
    sys::{
        ptrace,
        signal::Signal,
        uio::{RemoteIoVec, process_vm_readv, process_vm_writev},
        wait::{WaitPidFlag, WaitStatus, waitpid},
    },
    unistd::Pid,
};
use object::{Object as _, ObjectSegment as _, ObjectSymbol as _};

use crate::config::Config;

/// Where a call of ours returns to: nowhere, which the kernel tells us.
const NOWHERE: u64 = 0;
/// Below the stack pointer a function may keep values without saying so.
const RED_ZONE: u64 = 128;
/// Vector registers of any processor so far; the kernel says how much of it is used.
const VECTORS: usize = 64 * 1024;
/// `RTLD_NOW`.
const NOW: u64 = 2;
/// Memory of the process's own: to be read and written, private, of no file.
const MEMORY: [u64; 2] = [3, 0x22];
/// How often it is looked whether the thread waits, and how often at the most: most programs do all the time.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
const LOOKS: usize = 20;
/// What the kernel says of a system call that was interrupted while it waited: `EINTR`, `ERESTARTSYS` and its kin.
const WAITED: [i64; 5] = [-4, -512, -513, -514, -516];

/// Call a function of a library inside a process that runs
#[derive(clap::Parser)]
#[command(hide = true)]
pub(crate) struct Inject {
    pid: i32,
    library: PathBuf,
    function: String,
    text: String,
}

impl super::Command for Inject {
    const NAME: &'static str = "inject";

    fn run(self, _: Config) -> anyhow::Result<ExitCode> {
        run(self.pid, &self.library, &self.function, &self.text)
    }
}

fn run(pid: i32, library: &Path, function: &str, text: &str) -> anyhow::Result<ExitCode> {
    let held = Held::at_rest(Pid::from_raw(pid))?;
    let done =
        if held.waits() { held.call_in(library, function, text) } else { held.call_later(text) };
    held.release()?;
    let answer = done?;
    // What it returns is an int.
    #[expect(clippy::cast_possible_truncation, reason = "the upper half is not the answer's")]
    let answer = answer as i32;
    ensure!(answer == 0, "`{function}` returned {answer} in process {pid}");
    Ok(ExitCode::SUCCESS)
}

/// The main thread of a process, stopped, with everything that a call changes in it.
struct Held {
    pid: Pid,
    registers: libc::user_regs_struct,
    vectors: Vec<u8>,
    /// A signal that came while we took hold; the process gets it when we leave.
    signal: Option<Signal>,
}

impl Held {
    /// Where it waits, if it ever does.
    fn at_rest(pid: Pid) -> anyhow::Result<Held> {
        let mut held = Held::take(pid)?;
        for _ in 0..LOOKS {
            if held.waits() {
                break;
            }
            held.release()?;
            // Nobody tells when another process waits.
            std::thread::sleep(LOOK_AGAIN);
            held = Held::take(pid)?;
        }
        Ok(held)
    }

    /// Whether it stood in a system call that waits.
    fn waits(&self) -> bool {
        let is_call = self.registers.orig_rax.cast_signed() >= 0;
        is_call && WAITED.contains(&self.registers.rax.cast_signed())
    }

    fn take(pid: Pid) -> anyhow::Result<Held> {
        ptrace::seize(pid, ptrace::Options::empty())
            .with_context(|| format!("ptrace: process {pid}"))?;
        ptrace::interrupt(pid).context("ptrace: interrupt")?;
        let signal = match waitpid(pid, Some(WaitPidFlag::__WALL)).context("ptrace: wait")? {
            WaitStatus::PtraceEvent(..) => None,
            WaitStatus::Stopped(_, signal) => Some(signal),
            other => bail!("process {pid} ended before it could be held: {other:?}"),
        };
        let registers = ptrace::getregs(pid).context("ptrace: registers")?;
        Ok(Held { pid, registers, vectors: vectors(pid)?, signal })
    }

    /// As it was, and on its way: also a system call that was interrupted begins again.
    fn release(&self) -> anyhow::Result<()> {
        set_vectors(self.pid, &self.vectors)?;
        ptrace::setregs(self.pid, self.registers).context("ptrace: registers")?;
        ptrace::detach(self.pid, self.signal).context("ptrace: leave")
    }

    fn call_in(&self, library: &Path, function: &str, text: &str) -> anyhow::Result<u64> {
        let dlopen = self.address_anywhere("dlopen")?;
        let path = library.to_str().context("the library's path is not text")?;
        let handle = self.call(dlopen, path, |text| [text, NOW, 0, 0, 0, 0])?;
        if handle == 0 {
            bail!("`{path}` cannot be loaded: {}", self.loading_error());
        }
        let function = self
            .address_in(library, function)?
            .with_context(|| format!("No symbol `{function}` in {path}"))?;
        self.call(function, text, |text| [0, text, 0, 0, 0, 0])
    }

    /// Leaves the code to the interpreter, which runs it between two of the program's own instructions. The memory
    /// that it is in stays the process's: nobody knows when it was read.
    fn call_later(&self, code: &str) -> anyhow::Result<u64> {
        let [add, run] = ["Py_AddPendingCall", "PyRun_SimpleString"].map(|it| self.of_python(it));
        let (add, run) = (add?, run?);
        // An error would be one of the program, wherever it is by then.
        let hex: String = code.bytes().map(|byte| format!("{byte:02x}")).collect();
        let code = format!(
            "try:\n exec(bytes.fromhex('{hex}').decode())\nexcept BaseException:\n pass\n\0"
        );
        let mmap = self.address_anywhere("mmap")?;
        let [access, kind] = MEMORY;
        let length = code.len() as u64;
        let place = self.call(mmap, "", |_| [0, length, access, kind, u64::MAX, 0])?;
        ensure!(place.cast_signed() > 0, "no memory in process {}", self.pid);
        self.write(place, code.as_bytes())?;
        self.call(add, "", |_| [run, place, 0, 0, 0, 0])
    }

    /// A function of the interpreter, which is the program itself or a library of it.
    fn of_python(&self, function: &str) -> anyhow::Result<u64> {
        let is_python =
            |path: &str| path.rsplit('/').next().is_some_and(|name| name.contains("python"));
        for (base, path) in self.mapped()?.iter().filter(|(_, path)| is_python(path)) {
            if let Ok(Some(address)) = self.symbol(*base, path, function) {
                return Ok(address);
            }
        }
        bail!("No symbol `{function}` in process {}", self.pid)
    }

    fn loading_error(&self) -> String {
        let told = self.address_anywhere("dlerror").and_then(|it| self.call(it, "", |_| [0; 6]));
        match told {
            Ok(text) if text != 0 => self.text(text),
            _ => "no reason was given".to_owned(),
        }
    }

    /// Calls a function with a text on the stack; `arguments` says which of them it is.
    fn call(
        &self,
        function: u64,
        text: &str,
        arguments: impl FnOnce(u64) -> [u64; 6],
    ) -> anyhow::Result<u64> {
        let bytes = [text.as_bytes(), &[0]].concat();
        let stack = self.registers.rsp - RED_ZONE - bytes.len() as u64;
        let place = stack & !15;
        self.write(place, &bytes)?;
        // At its first instruction a function finds the way back, and the stack even but for that.
        let top = place - 64 - 8;
        self.write(top, &NOWHERE.to_ne_bytes())?;
        let [rdi, rsi, rdx, rcx, r8, r9] = arguments(place);
        let registers = libc::user_regs_struct {
            rip: function,
            rsp: top,
            rax: 0,
            // No system call is to begin again while we are here.
            orig_rax: u64::MAX,
            rdi,
            rsi,
            rdx,
            rcx,
            r8,
            r9,
            ..self.registers
        };
        ptrace::setregs(self.pid, registers).context("ptrace: registers")?;
        self.until_it_returns()
    }

    fn until_it_returns(&self) -> anyhow::Result<u64> {
        let mut signal = None;
        loop {
            ptrace::cont(self.pid, signal).context("ptrace: go on")?;
            match waitpid(self.pid, Some(WaitPidFlag::__WALL)).context("ptrace: wait")? {
                WaitStatus::Stopped(_, Signal::SIGSEGV | Signal::SIGBUS | Signal::SIGILL) => {
                    let now = ptrace::getregs(self.pid).context("ptrace: registers")?;
                    ensure!(now.rip == NOWHERE, "the call broke at {:#x}", now.rip);
                    return Ok(now.rax);
                }
                WaitStatus::Stopped(_, other) => signal = Some(other),
                WaitStatus::PtraceEvent(..) => signal = None,
                other => bail!("process {} ended under the call: {other:?}", self.pid),
            }
        }
    }

    fn write(&self, address: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let base = usize::try_from(address).context("an address")?;
        let there = [RemoteIoVec { base, len: bytes.len() }];
        let count = process_vm_writev(self.pid, &[IoSlice::new(bytes)], &there);
        ensure!(count.context("writing to the process")? == bytes.len(), "a write was cut short");
        Ok(())
    }

    fn text(&self, address: u64) -> String {
        let mut bytes = [0; 512];
        let base = usize::try_from(address).unwrap_or_default();
        let there = [RemoteIoVec { base, len: bytes.len() }];
        let read = process_vm_readv(self.pid, &mut [IoSliceMut::new(&mut bytes)], &there);
        let read = bytes.get(..read.unwrap_or_default()).unwrap_or_default();
        let end = read.iter().position(|byte| *byte == 0).unwrap_or(read.len());
        String::from_utf8_lossy(read.get(..end).unwrap_or_default()).into_owned()
    }

    /// In the C library, or in the one that older systems have for it.
    fn address_anywhere(&self, function: &str) -> anyhow::Result<u64> {
        let mapped = self.mapped()?;
        let is_libc = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or(path);
            ["libc.", "libc-", "libdl.", "libdl-", "ld-musl"].iter().any(|it| name.starts_with(it))
        };
        for (base, path) in mapped.iter().filter(|(_, path)| is_libc(path)) {
            if let Some(address) = self.symbol(*base, path, function)? {
                return Ok(address);
            }
        }
        bail!("No symbol `{function}` in process {}", self.pid)
    }

    fn address_in(&self, library: &Path, function: &str) -> anyhow::Result<Option<u64>> {
        let whole = library.canonicalize().unwrap_or_else(|_| library.to_owned());
        let mapped = self.mapped()?;
        let found = mapped.iter().find(|(_, path)| Path::new(path) == whole);
        let Some((base, path)) = found else { return Ok(None) };
        self.symbol(*base, path, function)
    }

    /// Each file that is mapped, and where it begins.
    fn mapped(&self) -> anyhow::Result<Vec<(u64, String)>> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.pid)).context("its maps")?;
        let mut files: Vec<(u64, String)> = Vec::new();
        for line in maps.lines() {
            let Some((range, rest)) = line.split_once(' ') else { continue };
            let Some(path) = rest.find('/').and_then(|at| rest.get(at..)) else { continue };
            let Some((start, _)) = range.split_once('-') else { continue };
            if files.iter().all(|(_, known)| known != path) {
                files.push((u64::from_str_radix(start, 16).context("its maps")?, path.to_owned()));
            }
        }
        Ok(files)
    }

    /// Its own view of the file: it may have another root than we have.
    fn symbol(&self, base: u64, path: &str, name: &str) -> anyhow::Result<Option<u64>> {
        let bytes = fs::read(format!("/proc/{}/root{path}", self.pid))
            .with_context(|| format!("`{path}` cannot be read"))?;
        let file = object::File::parse(&*bytes).with_context(|| format!("`{path}`"))?;
        let first = file.segments().map(|it| it.address()).min().unwrap_or_default();
        let found = file
            .dynamic_symbols()
            .find(|it| it.name().is_ok_and(|it| it == name) && it.is_definition());
        Ok(found.map(|it| base + it.address() - (first & !0xfff)))
    }
}

fn vectors(pid: Pid) -> anyhow::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; VECTORS];
    let length = regset(pid, libc::PTRACE_GETREGSET, &mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

fn set_vectors(pid: Pid, vectors: &[u8]) -> anyhow::Result<()> {
    regset(pid, libc::PTRACE_SETREGSET, &mut vectors.to_vec()).map(drop)
}

#[expect(unsafe_code, reason = "no crate asks for the vector registers by their real length")]
fn regset(pid: Pid, request: libc::c_uint, bytes: &mut [u8]) -> anyhow::Result<usize> {
    const NT_X86_XSTATE: usize = 0x202;
    let mut vector = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the kernel reads or writes within `vector`, which is `bytes`, and both outlive the call.
    let result = unsafe {
        libc::ptrace(request, pid.as_raw(), NT_X86_XSTATE, std::ptr::from_mut(&mut vector))
    };
    ensure!(result == 0, "ptrace: vector registers: {}", std::io::Error::last_os_error());
    Ok(vector.iov_len)
}

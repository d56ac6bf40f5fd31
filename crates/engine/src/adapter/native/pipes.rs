//! The program's own input and output. A debug server would give it a terminal, which merges its streams and makes
//! it behave as if a person sat there; so it gets pipes with names, which are gone as soon as both ends are open.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io,
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
    pin::Pin,
    process::ChildStdin as BlockingStdin,
    task::{Context, Poll},
};

use rustix::fs::{CWD, Mode, OFlags};
use tokio::{
    io::{AsyncRead, ReadBuf},
    net::unix::pipe::Receiver,
    process::ChildStdin,
};

use crate::{
    adapter::provided,
    backend::dap::dialect::Heard,
    failure::{Code, Failure},
    process::Pipes,
};

/// Pipes that the program is about to open.
pub(super) struct NamedPipes {
    folder: PathBuf,
    /// Open for both, so that the program can open it before anybody writes.
    _stdin: File,
    stdout: File,
    stderr: File,
}

impl NamedPipes {
    pub(super) fn make(home: &Path) -> Result<NamedPipes, Failure> {
        let name = format!("pipes-{}", uuid::Uuid::new_v4().simple());
        let made = provided::below(home, |base| {
            std::fs::create_dir_all(base)?;
            let folder = base.join(&name);
            DirBuilder::new().mode(0o700).create(&folder)?;
            NamedPipes::open(folder)
        });
        made.map_err(|error| {
            Failure::new(Code::LaunchFailed, format!("no pipes for the program: {error}"))
        })
    }

    fn open(folder: PathBuf) -> io::Result<NamedPipes> {
        for name in ["stdin", "stdout", "stderr"] {
            rustix::fs::mkfifoat(CWD, folder.join(name), Mode::RUSR | Mode::WUSR)?;
        }
        let reading = |name: &str| {
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            OpenOptions::new().read(true).custom_flags(flags).open(folder.join(name))
        };
        let stdin = OpenOptions::new().read(true).write(true).open(folder.join("stdin"))?;
        Ok(NamedPipes {
            _stdin: stdin,
            stdout: reading("stdout")?,
            stderr: reading("stderr")?,
            folder,
        })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The program has opened its ends. Its stdin is none any more where it has ended already.
    pub(super) fn take(self, heard: Heard) -> io::Result<Pipes> {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut writing = OpenOptions::new();
        let writing = writing.write(true).custom_flags(flags).open(self.path("stdin"));
        let stdin = match writing {
            Ok(file) => Some(ChildStdin::from_std(BlockingStdin::from(OwnedFd::from(file)))?),
            Err(_) => None,
        };
        let stdout = Receiver::from_file(self.stdout.try_clone()?)?;
        let stderr = Receiver::from_file(self.stderr.try_clone()?)?;
        Ok(Pipes {
            stdin,
            stdout: Some(Box::new(stdout)),
            stderr: Some(Box::new(Overheard { pipe: stderr, heard })),
            debugger: None,
        })
    }
}

impl Drop for NamedPipes {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            tracing::debug!(%error, "the names of a program's pipes are still there");
        }
    }
}

/// A program's stderr, with somebody who listens.
struct Overheard {
    pipe: Receiver,
    heard: Heard,
}

impl AsyncRead for Overheard {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.pipe).poll_read(context, buffer);
        if let Some(new) = buffer.filled().get(before..).filter(|it| !it.is_empty()) {
            self.heard.hear(new);
        }
        polled
    }
}

//! What debugs the programs of a language where that is a program of its own: what it is called, how it is come
//! by, and what it can be asked for.

/// A program that debugs others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DebuggerProgram {
    /// As people call it.
    pub name: &'static str,
    /// What it may be called on the search path, the best first.
    pub programs: &'static [&'static str],
    /// The words that make it say its version.
    pub version: &'static [&'static str],
    pub install: Install,
}

/// How something is come by that a machine does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Install {
    /// Packages of the system, by `apt-get`: the only way that changes the machine.
    Apt(&'static [&'static str]),
    /// Built by the Go toolchain, into our own folder.
    Go(&'static str),
    /// From npm, into our own folder.
    Npm(&'static [&'static str]),
    /// We bring it along ourselves at the first launch.
    Provided,
    /// No registry has it: what a person has to do.
    ByHand(&'static str),
}

/// What of a language can be debugged, and why something cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes {
    pub launch: Mode,
    pub attach: Mode,
    pub test: Mode,
    /// What a program left behind when it crashed.
    pub core: Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Yes,
    /// It can, under this condition or in this way.
    By(&'static str),
    /// It cannot, and why.
    No(&'static str),
}

impl Modes {
    /// In the order of the lists, each with its name.
    pub fn each(&self) -> [(&'static str, Mode); 4] {
        [("launch", self.launch), ("attach", self.attach), ("test", self.test), ("core", self.core)]
    }
}

/// A language of which no more is known than that its programs can be started.
impl Default for Modes {
    fn default() -> Self {
        let attach = Mode::No("its debugger takes no program that runs already");
        let test = Mode::No("no runner of its tests is known");
        let core = Mode::No("its runtime leaves none behind");
        Modes { launch: Mode::Yes, attach, test, core }
    }
}

impl Install {
    /// What a person would type.
    pub fn command(&self) -> String {
        match self {
            Install::Apt(packages) => format!("apt-get install {}", packages.join(" ")),
            Install::Go(package) => format!("go install {package}"),
            Install::Npm(packages) => format!("npm install {}", packages.join(" ")),
            Install::Provided => "nothing: it is brought along at the first launch".to_owned(),
            Install::ByHand(step) => (*step).to_owned(),
        }
    }
}

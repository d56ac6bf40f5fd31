//! Breakpoints: where they lie, as soon as the assembly with their code is loaded.
//!
//! All methods of an assembly are known by its rows before any of them has run, so a breakpoint lies or lies not from
//! the moment when the assembly is there; until then it waits.

use std::{collections::BTreeMap, path::Path};

use holdpoint_dap::types as t;
use holdpoint_sdb::{
    AssemblyRef, EventRequest, MethodRef, MonoError,
    command::Modifier,
    event::{EventKind, SuspendPolicy},
};

use super::server::{Done, MonoServer, refused};
use crate::limits;

#[derive(Default)]
pub(super) struct Points {
    last: i64,
    /// Of a file; and of functions, by the empty name.
    wanted: BTreeMap<String, Vec<Point>>,
    /// What the runtime was asked for, and which of ours it stands for.
    requests: BTreeMap<i32, i64>,
    /// All methods with lines, of assemblies whose methods were asked for.
    methods: Vec<Lined>,
    /// Assemblies whose methods were not asked for yet: nothing was to lie in them.
    unread: Vec<AssemblyRef>,
}

#[derive(Debug, Clone)]
struct Point {
    id: i64,
    at: At,
    requests: Vec<EventRequest>,
    /// Where it lies.
    bound: Option<(String, u32)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum At {
    Line(u32),
    /// `Shop.Total`, or `Total`.
    Function(String),
}

/// A method, and the statements of it that are in files.
struct Lined {
    method: MethodRef,
    title: String,
    /// File, line, offset.
    lines: Vec<(String, u32, i32)>,
}

const FUNCTIONS: &str = "";

/// The file, the line where it comes to lie, and where each method begins that.
type Places = (String, u32, Vec<(MethodRef, i32)>);

impl Points {
    pub(super) fn hit(&self, request: EventRequest) -> Option<i64> {
        self.requests.get(&request.0).copied()
    }

    /// The places of one breakpoint: where each method begins its line, and which line that is.
    fn places(&self, file: &str, at: &At) -> Option<Places> {
        match at {
            At::Line(line) => self.line_places(file, *line),
            At::Function(name) => {
                let is_it = |it: &&Lined| {
                    it.title == *name || it.title.rsplit('.').next() == Some(name.as_str())
                };
                let found: Vec<&Lined> = self.methods.iter().filter(is_it).collect();
                let (file, line, _) = found.first().and_then(|it| first_statement(&it.lines))?;
                let place = |it: &&Lined| {
                    first_statement(&it.lines).map(|(_, _, offset)| (it.method, offset))
                };
                Some((file, line, found.iter().filter_map(place).collect()))
            }
        }
    }

    /// A line without code is moved to the next one that has some, inside of the method around it where there is one.
    fn line_places(&self, file: &str, line: u32) -> Option<Places> {
        let in_file = |it: &&(String, u32, i32)| is_same(&it.0, file);
        let own = self.methods.iter().filter(|it| it.lines.iter().any(|one| in_file(&one)));
        let all = || own.clone().flat_map(|it| it.lines.iter().filter(in_file));
        let nearest = all().map(|it| it.1).filter(|it| *it >= line).min()?;
        let whole = all().find(|it| it.1 == nearest).map(|it| it.0.clone())?;
        let begins = own.clone().filter_map(|it| {
            let on_line = it.lines.iter().filter(in_file).filter(|it| it.1 == nearest);
            on_line.map(|it| it.2).min().map(|offset| (it.method, offset))
        });
        Some((whole, nearest, begins.collect()))
    }
}

/// The first statement in the body: the brace before it is none, where something stands behind it.
pub(super) fn first_statement(lines: &[(String, u32, i32)]) -> Option<(String, u32, i32)> {
    let (_, head, _) = lines.first()?;
    let body = lines.iter().find(|(_, line, offset)| line > head && *offset > 0);
    body.or_else(|| lines.first()).cloned()
}

/// Compilers write paths as they were given them.
fn is_same(written: &str, asked: &str) -> bool {
    written == asked || {
        let real = |it: &str| Path::new(it).canonicalize().ok();
        Path::new(written).file_name() == Path::new(asked).file_name()
            && real(written).is_some()
            && real(written) == real(asked)
    }
}

impl MonoServer {
    pub(super) async fn set_lines(
        &self,
        arguments: t::SetBreakpointsArguments,
    ) -> Done<t::SetBreakpointsBody> {
        let file = arguments.source.path.unwrap_or_default();
        let there = self.about.mappings.remote(Path::new(&file));
        let file = there.map_or(file, |it| it.display().to_string());
        let at = |it: &t::SourceBreakpoint| At::Line(u32::try_from(it.line).unwrap_or_default());
        let wanted = arguments.breakpoints.iter().map(at).collect();
        self.set(file, wanted).await
    }

    pub(super) async fn set_functions(
        &self,
        arguments: t::SetFunctionBreakpointsArguments,
    ) -> Done<t::SetBreakpointsBody> {
        let wanted = arguments.breakpoints.into_iter().map(|it| At::Function(it.name)).collect();
        self.set(FUNCTIONS.to_owned(), wanted).await
    }

    /// Replaces all of a file. What is wanted again stays as it is, so that no hit is lost.
    async fn set(&self, file: String, wanted: Vec<At>) -> Done<t::SetBreakpointsBody> {
        let mut points = self.points.lock().await;
        let points = &mut *points;
        if !wanted.is_empty() {
            self.read_methods(points).await.map_err(refused)?;
        }
        let before = points.wanted.remove(&file).unwrap_or_default();
        let (stay, go): (Vec<Point>, Vec<Point>) =
            before.into_iter().partition(|it| wanted.contains(&it.at));
        for request in go.into_iter().flat_map(|it| it.requests) {
            points.requests.remove(&request.0);
            self.mono.forget(EventKind::Breakpoint, request).await.map_err(refused)?;
        }
        let mut now = Vec::new();
        for at in wanted {
            let known = stay.iter().find(|it| it.at == at).cloned();
            let mut point = known.unwrap_or_else(|| {
                points.last += 1;
                Point { id: points.last, at, requests: Vec::new(), bound: None }
            });
            self.bind(points, &file, &mut point).await?;
            now.push(point);
        }
        let breakpoints = now.iter().map(|it| told(it, &file)).collect();
        points.wanted.insert(file, now);
        Ok(t::SetBreakpointsBody { breakpoints })
    }

    async fn bind(&self, points: &mut Points, file: &str, point: &mut Point) -> Done<()> {
        if point.bound.is_some() {
            return Ok(());
        }
        let Some((file, line, places)) = points.places(file, &point.at) else { return Ok(()) };
        for (method, offset) in places {
            let place = [Modifier::Place { method, offset }];
            let asked = self.mono.request(EventKind::Breakpoint, SuspendPolicy::All, &place).await;
            let request = asked.map_err(refused)?;
            points.requests.insert(request.0, point.id);
            point.requests.push(request);
        }
        point.bound = Some((file, line));
        Ok(())
    }

    /// Another assembly is there: what waited for it comes to lie in it.
    pub(super) async fn bind_waiting(&self, assembly: AssemblyRef) -> Done<()> {
        let mut points = self.points.lock().await;
        let points = &mut *points;
        points.unread.push(assembly);
        if points.wanted.values().all(Vec::is_empty) {
            return Ok(());
        }
        self.read_methods(points).await.map_err(refused)?;
        for (file, mut wanted) in std::mem::take(&mut points.wanted) {
            for point in wanted.iter_mut().filter(|it| it.bound.is_none()) {
                self.bind(points, &file, point).await?;
                if point.bound.is_some() {
                    let breakpoint = told(point, &file);
                    let reason = t::ChangeReason::Changed;
                    let event = t::BreakpointEvent { reason, breakpoint, data: None };
                    self.outlet.event("breakpoint", event).await;
                }
            }
            points.wanted.insert(file, wanted);
        }
        Ok(())
    }

    async fn read_methods(&self, points: &mut Points) -> Result<(), MonoError> {
        for assembly in std::mem::take(&mut points.unread) {
            for row in 1..=limits::MONO_METHODS {
                let Some(method) = self.mono.method_in(assembly, row).await? else { break };
                let lines = self.lined(method).await?;
                if !lines.is_empty() {
                    let title = self.types.method_title(method).await?;
                    points.methods.push(Lined { method, title, lines });
                }
            }
        }
        Ok(())
    }

    /// The statements of a method, as they lie in its code.
    pub(super) async fn lined(
        &self,
        method: MethodRef,
    ) -> Result<Vec<(String, u32, i32)>, MonoError> {
        let lines = self.types.lines(method).await?;
        let place = |it: &holdpoint_sdb::command::SequencePoint| {
            let file = lines.files.get(it.file?)?.clone();
            Some((file, it.line, it.offset))
        };
        Ok(lines.points.iter().filter_map(place).collect())
    }
}

fn told(point: &Point, file: &str) -> t::Breakpoint {
    let id = Some(point.id);
    match &point.bound {
        Some((written, line)) => {
            // The file as it was asked for: the compiler may have written it otherwise.
            let path = if file.is_empty() { written.clone() } else { file.to_owned() };
            let source = t::Source { path: Some(path), ..Default::default() };
            let line = Some((*line).into());
            t::Breakpoint { id, verified: true, source: Some(source), line, ..Default::default() }
        }
        None => {
            let message = match &point.at {
                At::Line(line) => format!("line {line} has no code in what is loaded so far"),
                At::Function(name) => format!("no function `{name}` is loaded so far"),
            };
            t::Breakpoint { id, message: Some(message), ..Default::default() }
        }
    }
}

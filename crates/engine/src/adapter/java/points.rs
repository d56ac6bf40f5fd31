//! Breakpoints by file and line, by a function's name, and at the entry: set in the classes that are loaded, and in
//! others as they come.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use holdpoint_dap::types as t;
use holdpoint_jdwp::types::{BRIDGE, ClassId, EventKind, Location, Modifier, SuspendPolicy};

use super::{
    serving::{FOREIGN, Serving, is_foreign, said},
    vm::{Asking, Class, lock},
};

/// What a class is in the protocol: interfaces have code too.
const CLASS: u8 = 1;
const INTERFACE: u8 = 2;

#[derive(Default)]
pub(super) struct Points {
    last: i64,
    files: HashMap<PathBuf, File>,
    functions: Vec<Function>,
    /// Requests for classes as they come, by what they are for.
    prepares: BTreeMap<String, u32>,
    seen: HashSet<ClassId>,
    /// A request's number → the breakpoint's.
    requests: HashMap<u32, i64>,
}

#[derive(Default, Clone)]
struct File {
    package: String,
    name: String,
    classes: Vec<ClassId>,
    points: Vec<Point>,
}

#[derive(Clone)]
struct Point {
    number: i64,
    line: u32,
    /// Where it came to lie.
    bound: Option<u32>,
    set: HashMap<Location, u32>,
}

#[derive(Clone)]
struct Function {
    number: i64,
    name: String,
    place: Option<(PathBuf, u32)>,
    requests: Vec<u32>,
}

impl Points {
    /// The breakpoints that a request's event means.
    pub(super) fn meant(&self, request: u32) -> Option<i64> {
        self.requests.get(&request).copied()
    }

    fn number(&mut self) -> i64 {
        self.last += 1;
        self.last
    }
}

/// Where a line's code begins in one class.
type Begins = BTreeMap<u32, Vec<Location>>;

impl Serving {
    pub(super) async fn set_lines(
        &self,
        asked: t::SetBreakpointsArguments,
    ) -> Asking<t::SetBreakpointsBody> {
        let path = PathBuf::from(asked.source.path.unwrap_or_default());
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default().to_owned();
        self.sources.know(&path);
        let package = self.sources.package(&path);
        let before = lock(&self.state).points.files.remove(&path);
        let known = before.as_ref().map(|it| it.classes.clone());
        let old = before.into_iter().flat_map(|it| it.points).flat_map(|it| it.set.into_values());
        self.clear(old.collect()).await;
        if asked.breakpoints.is_empty() {
            return Ok(t::SetBreakpointsBody::default());
        }
        self.follow(&name, Modifier::SourceName(name.clone())).await?;
        let classes = match known {
            Some(known) => known,
            None => self.loaded(&package, &name).await?,
        };
        let points = {
            let mut state = lock(&self.state);
            let mut one = |it: &t::SourceBreakpoint| Point {
                number: state.points.number(),
                line: u32::try_from(it.line).unwrap_or_default(),
                bound: None,
                set: HashMap::new(),
            };
            asked.breakpoints.iter().map(&mut one).collect()
        };
        let mut file = File { package, name, classes, points };
        self.bind(&path, &mut file).await?;
        let answer = file.points.iter().map(|it| self.answer_of(&path, it, &file)).collect();
        lock(&self.state).points.files.insert(path, file);
        Ok(t::SetBreakpointsBody { breakpoints: answer })
    }

    fn answer_of(&self, path: &Path, point: &Point, file: &File) -> t::Breakpoint {
        let message = match point.bound {
            Some(_) => None,
            None if file.classes.is_empty() => Some("its class is not loaded yet".to_owned()),
            None => Some(format!("line {} has no code in the classes loaded so far", point.line)),
        };
        t::Breakpoint {
            id: Some(point.number),
            verified: point.bound.is_some(),
            line: point.bound.map(i64::from),
            message,
            source: Some(t::Source::at(path.display().to_string())),
            ..Default::default()
        }
    }

    async fn clear(&self, requests: Vec<u32>) {
        for request in requests {
            lock(&self.state).points.requests.remove(&request);
            if let Err(error) = self.vm.wire.clear_event(EventKind::Breakpoint, request).await {
                tracing::debug!(%error, "a breakpoint was not taken back");
            }
        }
    }

    /// Asks once to hear of such classes as they come.
    async fn follow(&self, of: &str, which: Modifier) -> Asking<()> {
        if lock(&self.state).points.prepares.contains_key(of) {
            return Ok(());
        }
        let mut asked = vec![which];
        if matches!(asked.as_slice(), [Modifier::ClassMatch(_)]) {
            asked.extend(FOREIGN.iter().map(|it| Modifier::ClassExclude((*it).to_owned())));
        }
        let policy = SuspendPolicy::EventThread;
        let request = self.vm.wire.set_event(EventKind::ClassPrepare, policy, &asked).await;
        lock(&self.state).points.prepares.insert(of.to_owned(), request.map_err(said)?);
        Ok(())
    }

    /// The loaded classes of a source file. Before the start there is none of the user's.
    async fn loaded(&self, package: &str, name: &str) -> Asking<Vec<ClassId>> {
        if lock(&self.state).at_start {
            return Ok(Vec::new());
        }
        let prefix = match package {
            "" => "L".to_owned(),
            package => format!("L{}/", package.replace('.', "/")),
        };
        let mut found = Vec::new();
        for class in self.vm.wire.all_classes().await.map_err(said)? {
            let is_near = class.is_prepared()
                && class.signature.strip_prefix(&prefix).is_some_and(|it| !it.contains('/'));
            if is_near
                && self.vm.class(class.id).await.map_err(said)?.source.as_deref() == Some(name)
            {
                found.push(class.id);
            }
        }
        Ok(found)
    }

    async fn begins(&self, id: ClassId) -> Asking<(Begins, Vec<(u32, u32)>)> {
        let class = self.vm.class(id).await.map_err(said)?;
        let tag = if class.is_interface { INTERFACE } else { CLASS };
        let (mut begins, mut ranges) = (Begins::new(), Vec::new());
        for method in class.methods.iter().filter(|it| it.flags & BRIDGE == 0) {
            let table = self.vm.lines(id, method.id).await.map_err(said)?;
            let mut lines = table.lines.clone();
            lines.sort_unstable();
            let mut before = None;
            for (index, line) in &lines {
                // Code of one line that goes on is no new beginning of it.
                if before != Some(*line) {
                    let place = Location { tag, class: id, method: method.id, index: *index };
                    begins.entry(*line).or_default().push(place);
                }
                before = Some(*line);
            }
            let first = lines.iter().map(|(_, line)| *line).min();
            ranges.extend(first.zip(lines.iter().map(|(_, line)| *line).max()));
        }
        Ok((begins, ranges))
    }

    /// Sets what can be set; what is set already stays.
    async fn bind(&self, path: &Path, file: &mut File) -> Asking<()> {
        let (mut begins, mut ranges) = (Begins::new(), Vec::new());
        for class in &file.classes {
            let (more, also) = self.begins(*class).await?;
            for (line, places) in more {
                begins.entry(line).or_default().extend(places);
            }
            ranges.extend(also);
        }
        let text = std::fs::read_to_string(path).unwrap_or_default();
        for point in &mut file.points {
            let Some(line) = lies(point.line, &begins, &ranges, &text) else { continue };
            if point.bound.is_some_and(|it| it != line) {
                self.clear(point.set.drain().map(|(_, request)| request).collect()).await;
            }
            point.bound = Some(line);
            for place in begins.get(&line).into_iter().flatten() {
                if !point.set.contains_key(place) {
                    let request = self.set_at(*place, point.number).await?;
                    point.set.insert(*place, request);
                }
            }
        }
        Ok(())
    }

    async fn set_at(&self, place: Location, number: i64) -> Asking<u32> {
        let asked = [Modifier::Location(place)];
        let set = self.vm.wire.set_event(EventKind::Breakpoint, SuspendPolicy::All, &asked);
        let request = set.await.map_err(said)?;
        lock(&self.state).points.requests.insert(request, number);
        Ok(request)
    }

    /// A class came: what is wanted in it is set before its first line runs.
    pub(super) async fn prepared(&self, id: ClassId) -> Asking<()> {
        // Several requests may be for one class.
        if !lock(&self.state).points.seen.insert(id) {
            return Ok(());
        }
        let class = self.vm.class(id).await.map_err(said)?;
        self.enter(&class).await?;
        self.find_functions(&class).await?;
        let is_its = |file: &File| {
            Some(file.name.as_str()) == class.source.as_deref() && file.package == class.package()
        };
        let files: Vec<(PathBuf, File)> = {
            let state = lock(&self.state);
            let all = state.points.files.iter().filter(|(_, file)| is_its(file));
            all.map(|(path, file)| (path.clone(), file.clone())).collect()
        };
        for (path, mut file) in files {
            if file.classes.contains(&id) {
                continue;
            }
            file.classes.push(id);
            let before: Vec<Option<u32>> = file.points.iter().map(|it| it.bound).collect();
            self.bind(&path, &mut file).await?;
            let now = file.points.iter().zip(before);
            let changed: Vec<t::Breakpoint> = now
                .filter(|(point, before)| point.bound != *before)
                .map(|(point, _)| self.answer_of(&path, point, &file))
                .collect();
            lock(&self.state).points.files.insert(path, file);
            for breakpoint in changed {
                let reason = t::ChangeReason::Changed;
                self.outlet
                    .event("breakpoint", t::BreakpointEvent { reason, breakpoint, data: None })
                    .await;
            }
        }
        Ok(())
    }

    /// The first line of what is to run first.
    async fn enter(&self, class: &Arc<Class>) -> Asking<()> {
        let Some(entry) = self.entry.as_ref().filter(|it| it.is_of(&class.name)) else {
            return Ok(());
        };
        for method in &class.methods {
            let is_it = entry.method.as_ref().is_none_or(|it| *it == method.name);
            // Of classes that nobody named, only what a program begins with.
            let is_main = entry.class != "*" || method.signature == "([Ljava/lang/String;)V";
            if !is_it || !is_main || is_foreign(&class.name) {
                continue;
            }
            let table = self.vm.lines(class.id, method.id).await.map_err(said)?;
            let Some((index, _)) = table.lines.iter().min() else { continue };
            let place = Location { tag: CLASS, class: class.id, method: method.id, index: *index };
            let asked = [Modifier::Location(place)];
            let set =
                self.vm.wire.set_event(EventKind::Breakpoint, SuspendPolicy::All, &asked).await;
            lock(&self.state).entries.push(set.map_err(said)?);
        }
        Ok(())
    }

    /// The entry was reached: nothing of it is left.
    pub(super) async fn entered(&self) {
        let entries = std::mem::take(&mut lock(&self.state).entries);
        self.clear(entries).await;
    }

    pub(super) async fn set_functions(
        &self,
        asked: t::SetFunctionBreakpointsArguments,
    ) -> Asking<t::SetBreakpointsBody> {
        let before = std::mem::take(&mut lock(&self.state).points.functions);
        self.clear(before.into_iter().flat_map(|it| it.requests).collect()).await;
        if asked.breakpoints.is_empty() {
            return Ok(t::SetBreakpointsBody::default());
        }
        self.follow("*", Modifier::ClassMatch("*".to_owned())).await?;
        {
            let mut state = lock(&self.state);
            for it in asked.breakpoints {
                let number = state.points.number();
                let name = it.name.replace("::", ".").replace('#', ".");
                state.points.functions.push(Function {
                    number,
                    name,
                    place: None,
                    requests: Vec::new(),
                });
            }
        }
        if !lock(&self.state).at_start {
            for class in self.vm.wire.all_classes().await.map_err(said)? {
                let name = super::vm::readable(&class.signature);
                if class.is_prepared() && !class.signature.starts_with('[') && !is_foreign(&name) {
                    let class = self.vm.class(class.id).await.map_err(said)?;
                    self.find_functions(&class).await?;
                }
            }
        }
        let all = lock(&self.state).points.functions.clone();
        Ok(t::SetBreakpointsBody { breakpoints: all.iter().map(function_answer).collect() })
    }

    async fn find_functions(&self, class: &Arc<Class>) -> Asking<()> {
        let wanted = lock(&self.state).points.functions.clone();
        for mut function in wanted {
            let (of, own) = function.name.rsplit_once('.').unwrap_or(("", &function.name));
            let is_class = of.is_empty() || class.name.replace('$', ".").ends_with(of);
            if !is_class || is_foreign(&class.name) {
                continue;
            }
            let own = own.to_owned();
            for method in class.methods.iter().filter(|it| it.name == own && it.flags & BRIDGE == 0)
            {
                let table = self.vm.lines(class.id, method.id).await.map_err(said)?;
                let Some((index, line)) = table.lines.iter().min().copied() else { continue };
                let tag = if class.is_interface { INTERFACE } else { CLASS };
                let place = Location { tag, class: class.id, method: method.id, index };
                let request = self.set_at(place, function.number).await?;
                function.requests.push(request);
                function.place = self.source_of(class).map(|file| (file, line));
                self.keep_function(&function).await;
            }
        }
        Ok(())
    }

    async fn keep_function(&self, function: &Function) {
        {
            let mut state = lock(&self.state);
            let known = state.points.functions.iter_mut().find(|it| it.number == function.number);
            if let Some(known) = known {
                *known = function.clone();
            }
        }
        let reason = t::ChangeReason::Changed;
        let breakpoint = function_answer(function);
        self.outlet
            .event("breakpoint", t::BreakpointEvent { reason, breakpoint, data: None })
            .await;
    }
}

fn function_answer(function: &Function) -> t::Breakpoint {
    let place = function.place.as_ref();
    t::Breakpoint {
        id: Some(function.number),
        verified: !function.requests.is_empty(),
        message: function
            .requests
            .is_empty()
            .then(|| format!("no method `{}` is loaded yet", function.name)),
        line: place.map(|(_, line)| i64::from(*line)),
        source: place.map(|(file, _)| t::Source::at(file.display().to_string())),
        ..Default::default()
    }
}

/// On which line a breakpoint comes to lie. A line between methods may be of a class that is not loaded yet: it is
/// moved only where its text cannot begin one.
fn lies(line: u32, begins: &Begins, ranges: &[(u32, u32)], text: &str) -> Option<u32> {
    if begins.contains_key(&line) {
        return Some(line);
    }
    let next = begins.range(line..).map(|(line, _)| *line).next()?;
    let is_inside = ranges.iter().any(|(first, last)| (*first..=*last).contains(&line));
    if is_inside {
        return Some(next);
    }
    let from = usize::try_from(line).ok()?.saturating_sub(1);
    let count = usize::try_from(next - line).ok()?;
    let mut between = text.lines().skip(from).take(count);
    let begins_class = |it: &str| {
        ["class ", "interface ", "enum ", "record ", "new ", "->"]
            .iter()
            .any(|word| it.contains(word))
    };
    (!between.any(begins_class)).then_some(next)
}

#[cfg(test)]
mod tests {
    use holdpoint_jdwp::types::MethodId;

    use super::*;

    #[test]
    fn a_line_without_code_is_moved_only_where_no_class_can_begin() {
        let text = "class A {\n  int f() {\n    return 1;\n\n  }\n  // b\n  class B { int g() {\n    return 2; } }\n  int h() {\n    return 3;\n  }\n}\n";
        let place = Location { tag: 1, class: ClassId(1), method: MethodId(1), index: 0 };
        let begins: Begins =
            [(1, vec![place]), (3, vec![place]), (5, vec![place]), (10, vec![place])].into();
        let ranges = [(1, 1), (3, 5), (10, 10)];
        let at = |line| lies(line, &begins, &ranges, text);
        assert_eq!((at(3), at(4), at(2)), (Some(3), Some(5), Some(3)));
        // Of the class that is not loaded.
        assert_eq!((at(6), at(8)), (None, Some(10)));
        assert_eq!((at(9), at(11)), (Some(10), None));
    }
}

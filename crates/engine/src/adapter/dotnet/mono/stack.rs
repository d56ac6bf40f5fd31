//! Threads, frames and the variables of a frame.

use std::path::Path;

use holdpoint_dap::types as t;
use holdpoint_sdb::{
    ObjectRef, TypeRef,
    command::{FrameSlot, MonoField},
    value::WireValue,
};

use super::{
    super::super::served::together,
    server::{Done, FrameAt, MonoServer, refused},
    types::between,
    values::{Held, Parts, written},
};

/// A variable of a frame, wherever the compiler keeps it.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) place: Kept,
    pub(super) value: WireValue,
    /// As it is declared.
    pub(super) kind: TypeRef,
}

#[derive(Debug, Clone)]
pub(super) enum Kept {
    Slot(FrameSlot),
    /// A variable that a lambda has taken.
    Captured(ObjectRef, MonoField),
}

impl MonoServer {
    pub(super) async fn threads(&self) -> Done<t::ThreadsBody> {
        let mut all = self.mono.threads().await.map_err(refused)?;
        all.sort_unstable();
        let mut threads = Vec::new();
        for (index, thread) in all.into_iter().enumerate() {
            // One that has ended meanwhile is none.
            let Ok(name) = self.mono.thread_name(thread).await else { continue };
            let name = match name {
                name if !name.is_empty() => name,
                _ if index == 0 => "Main".to_owned(),
                _ => format!("Thread {}", thread.0),
            };
            threads.push(t::Thread { id: thread.0.into(), name });
        }
        Ok(t::ThreadsBody { threads })
    }

    pub(super) async fn stack_trace(
        &self,
        arguments: t::StackTraceArguments,
    ) -> Done<t::StackTraceBody> {
        let thread = ObjectRef(i32::try_from(arguments.thread_id).unwrap_or_default());
        let stack = self.stack(thread).await?;
        let number = |it: Option<i64>| it.and_then(|it| usize::try_from(it).ok());
        let start = number(arguments.start_frame).unwrap_or_default();
        let count = number(arguments.levels).filter(|it| *it > 0).unwrap_or(usize::MAX);
        let mut frames = Vec::new();
        let hidden = self.hidden(thread).await?;
        for (depth, frame) in stack.iter().enumerate().skip(hidden + start).take(count) {
            let place = self.types.place(frame.method, frame.offset).await.map_err(refused)?;
            let name = self.types.method_title(frame.method).await.map_err(refused)?;
            let is_users = self.types.is_users(frame.method).await;
            let id = self.state().frames.put(FrameAt { thread, depth });
            let (source, line, column) = match place {
                Some((file, point)) => {
                    let here = self.about.mappings.local(Path::new(&file));
                    let path = Some(here.map_or(file, |it| it.display().to_string()));
                    let source = t::Source { path, ..Default::default() };
                    (Some(source), point.line.into(), point.column.into())
                }
                None => (None, 0, 0),
            };
            let presentation_hint = (!is_users).then_some(t::FrameHint::Subtle);
            frames.push(t::StackFrame {
                id,
                name,
                source,
                line,
                column,
                presentation_hint,
                ..Default::default()
            });
        }
        let total_frames = i64::try_from(stack.len().saturating_sub(hidden)).ok();
        Ok(t::StackTraceBody { stack_frames: frames, total_frames })
    }

    /// How many frames of the library, of which nobody has the source, stand above the first that somebody wrote. They
    /// are shown where the library's code is wanted too.
    async fn hidden(&self, thread: ObjectRef) -> Done<usize> {
        if !self.about.just_my_code {
            return Ok(0);
        }
        for (depth, frame) in self.stack(thread).await?.iter().enumerate() {
            let place = self.types.place(frame.method, frame.offset).await.map_err(refused)?;
            if place.is_some() {
                return Ok(depth);
            }
        }
        Ok(0)
    }

    /// The first frame that is shown of a thread.
    pub(super) async fn top(&self, thread: ObjectRef) -> Done<FrameAt> {
        Ok(FrameAt { thread, depth: self.hidden(thread).await? })
    }

    pub(super) async fn scopes(&self, frame: i64) -> Done<t::ScopesBody> {
        let at = self.frame_numbered(frame)?;
        let frame = self.frame(at).await?;
        let method = self.types.method(frame.method).await.map_err(refused)?;
        let hold = |what| self.state().parts.put(Held { what, expression: None });
        let mut scopes = vec![t::Scope {
            name: "Locals".to_owned(),
            presentation_hint: Some(t::ScopeHint::Locals),
            variables_reference: hold(Parts::Locals(at)),
            ..Default::default()
        }];
        let fields = self.types.fields(method.declares).await.map_err(refused)?;
        if fields.iter().any(|it| it.is_static && !it.is_constant) {
            scopes.push(t::Scope {
                name: "Statics".to_owned(),
                presentation_hint: Some(t::ScopeHint::Other("globals".to_owned())),
                variables_reference: hold(Parts::Statics(method.declares)),
                ..Default::default()
            });
        }
        Ok(t::ScopesBody { scopes })
    }

    pub(super) fn frame_numbered(&self, number: i64) -> Done<FrameAt> {
        let found = self.state().frames.get(number);
        found.ok_or_else(|| "NotFound: that frame is of an earlier stop".to_owned())
    }

    pub(super) async fn locals(&self, at: FrameAt) -> Done<Vec<t::Variable>> {
        let (this, variables) = tokio::try_join!(self.this(at), self.variables(at))?;
        let mut all = Vec::new();
        if let Some(this) = this {
            let whole = Some("this".to_owned());
            all.push(self.show(&this, whole.clone()).await?.variable("this".to_owned(), whole));
        }
        let one = async |variable: Variable| {
            let Variable { name, value, kind, .. } = variable;
            let mut shown = self.show(&value, Some(name.clone())).await?;
            if shown.kind.is_none() {
                shown.kind = Some(self.types.name(kind).await.map_err(refused)?.to_string());
            }
            Ok::<_, String>(shown.variable(name.clone(), Some(name)))
        };
        all.extend(together(variables.into_iter().map(one)).await?);
        Ok(all)
    }

    pub(super) async fn statics(&self, kind: TypeRef) -> Done<Vec<t::Variable>> {
        let fields = self.types.fields(kind).await.map_err(refused)?;
        let owner = self.types.name(kind).await.map_err(refused)?;
        let mut all = Vec::new();
        for field in fields.iter().filter(|it| it.is_static && !it.is_constant) {
            // One that is of a thread has no value here.
            let Ok(mut values) = self.mono.static_values(kind, &[field.id]).await else {
                continue;
            };
            let Some(value) = values.pop() else { continue };
            let name = written(field).to_owned();
            let whole = Some(format!("{owner}.{name}"));
            all.push(self.show(&value, whole.clone()).await?.variable(name, whole));
        }
        Ok(all)
    }

    /// The object whose method this is; inside of a lambda that of the method around it.
    pub(super) async fn this(&self, at: FrameAt) -> Done<Option<WireValue>> {
        let frame = self.frame(at).await?;
        let method = self.types.method(frame.method).await.map_err(refused)?;
        if method.is_static {
            return Ok(None);
        }
        let this = self.mono.frame_this(at.thread, frame.id).await.map_err(refused)?;
        let facts = self.types.facts(method.declares).await.map_err(refused)?;
        if !is_made(&facts.name) {
            return Ok(Some(this));
        }
        let outer = self.fields_of(&this).await?;
        let outer = outer.into_iter().find(|(it, _)| it.name == "$this" || it.name == "<>4__this");
        Ok(outer.map(|(_, value)| value))
    }

    /// Parameters, then those locals that live where the frame stands, then what lambdas have taken of them.
    pub(super) async fn variables(&self, at: FrameAt) -> Done<Vec<Variable>> {
        let frame = self.frame(at).await?;
        let known = self.types.variables(frame.method).await.map_err(refused)?;
        let mut found = Vec::new();
        let parameters = known.parameters.names.iter().zip(&known.parameters.types);
        for (index, (name, kind)) in parameters.enumerate() {
            found.push((name.clone(), FrameSlot::Parameter(index), *kind));
        }
        let locals = known.locals.names.iter().zip(&known.locals.types).zip(&known.locals.lives);
        for (index, ((name, kind), (from, to))) in locals.enumerate() {
            let lives = *to == 0 || (*from..*to).contains(&frame.offset);
            if lives && !name.is_empty() {
                found.push((name.clone(), FrameSlot::Local(index), *kind));
            }
        }
        let slots: Vec<FrameSlot> = found.iter().map(|it| it.1).collect();
        let values = match slots.as_slice() {
            [] => Vec::new(),
            slots => self.mono.frame_values(at.thread, frame.id, slots).await.map_err(refused)?,
        };
        let mut all = Vec::new();
        for ((name, slot, kind), value) in found.into_iter().zip(values) {
            if is_made(&name) {
                self.captured(&value, &mut all).await?;
            } else {
                all.push(Variable { name, place: Kept::Slot(slot), value, kind });
            }
        }
        let method = self.types.method(frame.method).await.map_err(refused)?;
        let facts = self.types.facts(method.declares).await.map_err(refused)?;
        if !method.is_static && is_made(&facts.name) {
            let this = self.mono.frame_this(at.thread, frame.id).await.map_err(refused)?;
            self.captured(&this, &mut all).await?;
        }
        Ok(all)
    }

    /// The variables in an object that the compiler made to keep them.
    async fn captured(&self, value: &WireValue, all: &mut Vec<Variable>) -> Done<()> {
        let Some(object) = value.object() else { return Ok(()) };
        let kind = self.kind_of(object).await?;
        if !is_made(&self.types.facts(kind).await.map_err(refused)?.name) {
            return Ok(());
        }
        for (field, value) in self.fields_of(value).await? {
            let is_own = between(&field.name).is_some() || !is_made(&field.name);
            let name = written(&field).to_owned();
            if is_own && !all.iter().any(|it| it.name == name) {
                let kind = field.kind;
                all.push(Variable { name, place: Kept::Captured(object, field), value, kind });
            }
        }
        Ok(())
    }
}

/// Whether the compiler made up this name.
fn is_made(name: &str) -> bool {
    name.contains(['<', '$'])
}

//! Frames of a stopped thread, and the variables in them.

use std::path::PathBuf;

use holdpoint_dap::types as t;
use holdpoint_jdwp::types::{NATIVE, ObjectId, STATIC, SlotInfo, Value};

use super::{
    super::served::together,
    serving::{FrameAt, PartsOf, Serving, is_foreign, said},
    vm::{Class, LAMBDA, lock, readable, short},
};

/// Name, value, the expression that gives it, and what it was declared as.
type Member = (String, Value, Option<String>, Option<String>);

impl Serving {
    pub(super) async fn stack(
        &self,
        asked: t::StackTraceArguments,
    ) -> Result<t::StackTraceBody, String> {
        let thread = self.thread(asked.thread_id)?;
        let number = |it: Option<i64>| it.and_then(|it| usize::try_from(it).ok());
        let start = number(asked.start_frame).unwrap_or_default();
        let total = self.vm.wire.frame_count(thread).await.map_err(said)?;
        let wanted = number(asked.levels).filter(|it| *it > 0).unwrap_or(total);
        let count = wanted.min(total.saturating_sub(start));
        let mut stack_frames = Vec::new();
        if count > 0 {
            let frames = self.vm.wire.frames(thread, start, Some(count)).await.map_err(said)?;
            for (at, frame) in frames.into_iter().enumerate() {
                let class = self.vm.class(frame.location.class).await.map_err(said)?;
                let line = self.vm.line(frame.location).await.map_err(said)?;
                let method = class.method(frame.location.method);
                let name = method.map_or("?", |it| it.name.as_str());
                let depth = start + at;
                let id = lock(&self.state).frames.put(FrameAt { thread, depth });
                let is_made = class.name.ends_with(LAMBDA);
                let hint = (is_made || is_foreign(&class.name)).then_some(t::FrameHint::Subtle);
                stack_frames.push(t::StackFrame {
                    id,
                    name: function_name(&class, name),
                    source: Some(self.source(&class)),
                    line: line.map_or(0, i64::from),
                    presentation_hint: hint,
                    ..Default::default()
                });
            }
        }
        Ok(t::StackTraceBody { stack_frames, total_frames: i64::try_from(total).ok() })
    }

    pub(super) fn source_of(&self, class: &Class) -> Option<PathBuf> {
        class.source.as_deref().and_then(|it| self.sources.find(class.package(), it))
    }

    fn source(&self, class: &Class) -> t::Source {
        match self.source_of(class) {
            Some(path) => t::Source::at(path.display().to_string()),
            None => t::Source { name: Some(class.name.clone()), ..Default::default() },
        }
    }

    pub(super) fn frame_at(&self, number: i64) -> Result<FrameAt, String> {
        lock(&self.state)
            .frames
            .get(number)
            .ok_or_else(|| "that frame is of an earlier stop".to_owned())
    }

    pub(super) async fn scopes(&self, frame: i64) -> Result<t::ScopesBody, String> {
        let at = self.frame_at(frame)?;
        let class = self.frame(at).await?.location.class;
        let class = self.vm.class(class).await.map_err(said)?;
        let scope = |name: &str, of: PartsOf| t::Scope {
            name: name.to_owned(),
            variables_reference: lock(&self.state).parts.put(of),
            ..Default::default()
        };
        let mut scopes = vec![scope("Locals", PartsOf::Locals(at))];
        if class.fields.iter().any(|it| it.flags & STATIC != 0) {
            scopes.push(scope("Static", PartsOf::Statics(class.id)));
        }
        Ok(t::ScopesBody { scopes })
    }

    pub(super) async fn variables(&self, reference: i64) -> Result<t::VariablesBody, String> {
        let of = lock(&self.state).parts.get(reference);
        let of = of.ok_or("that value is of an earlier stop")?;
        let one = async |(name, value, way, declared): Member| {
            let (shown, reference) = self.shown(value, way.clone()).await?;
            let kind = if shown.kind.is_empty() { declared } else { Some(shown.kind) };
            Ok::<_, String>(t::Variable {
                name,
                value: shown.text,
                type_name: kind,
                evaluate_name: way,
                variables_reference: reference,
                indexed_variables: shown.indexed.and_then(|it| i64::try_from(it).ok()),
                ..Default::default()
            })
        };
        let variables = together(self.members(&of).await?.into_iter().map(one)).await?;
        Ok(t::VariablesBody { variables })
    }

    async fn members(&self, of: &PartsOf) -> Result<Vec<Member>, String> {
        match of {
            PartsOf::Locals(at) => {
                let mut all = Vec::new();
                let (this, locals) = tokio::try_join!(self.this(*at), self.locals(*at))?;
                if this != ObjectId::NULL {
                    all.push((
                        "this".to_owned(),
                        Value::object(this),
                        Some("this".to_owned()),
                        None,
                    ));
                }
                for (slot, value) in locals {
                    let declared = short(&readable(&slot.signature));
                    all.push((slot.name.clone(), value, Some(slot.name), Some(declared)));
                }
                Ok(all)
            }
            PartsOf::Statics(class) => {
                let class = self.vm.class(*class).await.map_err(said)?;
                let fields: Vec<_> =
                    class.fields.iter().filter(|it| it.flags & STATIC != 0).collect();
                let ids: Vec<_> = fields.iter().map(|it| it.id).collect();
                let values = self.vm.wire.static_values(class.id, &ids).await.map_err(said)?;
                let one = |(field, value): (&&holdpoint_jdwp::types::FieldInfo, Value)| {
                    let declared = short(&readable(&field.signature));
                    (
                        field.name.clone(),
                        value,
                        Some(format!("{}.{}", class.short(), field.name)),
                        Some(declared),
                    )
                };
                Ok(fields.iter().zip(values).map(one).collect())
            }
            PartsOf::Object(id, way) => {
                let parts = self.vm.parts(*id).await.map_err(said)?;
                let one = |it: super::values::Part| {
                    let whole =
                        way.as_ref().zip(it.way).map(|(before, it)| format!("{before}{it}"));
                    (it.name, it.value, whole, None)
                };
                Ok(parts.into_iter().map(one).collect())
            }
        }
    }

    pub(super) async fn this(&self, at: FrameAt) -> Result<ObjectId, String> {
        let frame = self.frame(at).await?;
        // A native method has none to be asked.
        Ok(self.vm.wire.this_object(at.thread, frame.id).await.unwrap_or_default())
    }

    /// The variables that are there at this line, in the order of their slots.
    pub(super) async fn locals(&self, at: FrameAt) -> Result<Vec<(SlotInfo, Value)>, String> {
        let frame = self.frame(at).await?;
        let location = frame.location;
        let class = self.vm.class(location.class).await.map_err(said)?;
        if class.method(location.method).is_some_and(|it| it.flags & NATIVE != 0) {
            return Ok(Vec::new());
        }
        let table = self.vm.slots(location.class, location.method).await.map_err(said)?;
        let is_here = |it: &&SlotInfo| it.is_at(location.index) && it.name != "this";
        let mut here: Vec<SlotInfo> = table.slots.iter().filter(is_here).cloned().collect();
        here.sort_by_key(|it| it.slot);
        if here.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Vec<(u32, u8)> =
            here.iter().map(|it| (it.slot, it.signature.bytes().next().unwrap_or(b'L'))).collect();
        let values = self.vm.wire.slots(at.thread, frame.id, &asked).await.map_err(said)?;
        Ok(here.into_iter().zip(values).collect())
    }
}

/// `Cart.total`; a constructor is `Cart.<init>`, a lambda what it is in.
fn function_name(class: &Class, method: &str) -> String {
    let own = match method.strip_prefix("lambda$").and_then(|it| it.rsplit_once('$')) {
        Some((inside, _)) => format!("{inside}.lambda"),
        None => method.to_owned(),
    };
    format!("{}.{own}", class.short())
}

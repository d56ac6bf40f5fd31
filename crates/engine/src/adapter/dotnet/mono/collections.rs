//! What lists, tables and queues of the runtime hold, read out of their fields; and structures that are one value.
//!
//! By the names of the fields as Mono's library has them, with and without the underscore before them. One that is laid
//! out otherwise is shown by its fields, as any object.

use holdpoint_sdb::{ObjectRef, TypeRef, command::MonoField, value::WireValue};

use super::server::{Done, MonoServer, refused};

/// How many things something holds, and the first of them, each with its key where it has one.
pub(super) struct Collected {
    pub(super) total: usize,
    pub(super) items: Vec<(Option<WireValue>, WireValue)>,
}

type Fields = [(MonoField, WireValue)];

fn field<'a>(fields: &'a Fields, name: &str) -> Option<&'a WireValue> {
    let found = fields.iter().find(|(it, _)| it.name.trim_start_matches('_') == name);
    found.map(|(_, value)| value)
}

fn whole(fields: &Fields, name: &str) -> Option<usize> {
    match field(fields, name) {
        Some(WireValue::I4(it)) => usize::try_from(*it).ok(),
        _ => None,
    }
}

fn array(fields: &Fields, name: &str) -> Option<ObjectRef> {
    field(fields, name).and_then(WireValue::object)
}

fn int(it: usize) -> i32 {
    i32::try_from(it).unwrap_or(i32::MAX)
}

impl MonoServer {
    /// What a value holds, and of that at most so much; `None` for one that is no collection.
    pub(super) async fn collect(&self, value: &WireValue, max: usize) -> Done<Option<Collected>> {
        if let WireValue::Array(object) = value {
            let lengths = self.mono.lengths(*object).await.map_err(refused)?;
            let total = lengths.iter().map(|it| usize::try_from(*it).unwrap_or_default()).product();
            return self.slice(*object, 0, total, max).await.map(Some);
        }
        let WireValue::Object(object) = value else { return Ok(None) };
        let kind = self.kind_of(*object).await?;
        let facts = self.types.facts(kind).await.map_err(refused)?;
        let own = facts.full.split('[').next().unwrap_or_default();
        let Some(name) = own.strip_prefix("System.Collections.Generic.") else { return Ok(None) };
        if !["List`1", "Stack`1", "Queue`1", "Dictionary`2", "HashSet`1"].contains(&name) {
            return Ok(None);
        }
        let fields = self.fields_of(value).await?;
        match name {
            "List`1" => self.listed(&fields, "items", max).await,
            "Stack`1" => self.listed(&fields, "array", max).await,
            "Queue`1" => self.queued(&fields, max).await,
            "Dictionary`2" => {
                let Some(count) = whole(&fields, "count") else { return Ok(None) };
                let free = whole(&fields, "freeCount").unwrap_or_default();
                let entries = array(&fields, "entries");
                self.slots(entries, count, count.saturating_sub(free), max).await
            }
            _ => {
                let (last, count) = (whole(&fields, "lastIndex"), whole(&fields, "count"));
                let Some((last, count)) = last.zip(count) else { return Ok(None) };
                self.slots(array(&fields, "slots"), last, count, max).await
            }
        }
    }

    async fn slice(
        &self,
        array: ObjectRef,
        start: usize,
        total: usize,
        max: usize,
    ) -> Done<Collected> {
        let count = total.min(max);
        let items = match count {
            0 => Vec::new(),
            count => self.mono.elements(array, int(start), int(count)).await.map_err(refused)?,
        };
        Ok(Collected { total, items: items.into_iter().map(|it| (None, it)).collect() })
    }

    async fn listed(&self, fields: &Fields, name: &str, max: usize) -> Done<Option<Collected>> {
        let Some((array, size)) = array(fields, name).zip(whole(fields, "size")) else {
            return Ok(None);
        };
        self.slice(array, 0, size, max).await.map(Some)
    }

    /// A ring: from its head on, and around.
    async fn queued(&self, fields: &Fields, max: usize) -> Done<Option<Collected>> {
        let sizes = whole(fields, "size").zip(whole(fields, "head"));
        let Some((array, (size, head))) = array(fields, "array").zip(sizes) else {
            return Ok(None);
        };
        let lengths = self.mono.lengths(array).await.map_err(refused)?;
        let room = lengths.first().and_then(|it| usize::try_from(*it).ok()).unwrap_or_default();
        let first = size.min(room.saturating_sub(head));
        let mut all = self.slice(array, head, first, max).await?;
        let rest = self.slice(array, 0, size - first, max.saturating_sub(all.items.len())).await?;
        all.items.extend(rest.items);
        Ok(Some(Collected { total: size, items: all.items }))
    }

    /// The entries of a table: those that are free have no hash.
    async fn slots(
        &self,
        entries: Option<ObjectRef>,
        used: usize,
        total: usize,
        max: usize,
    ) -> Done<Option<Collected>> {
        let Some(entries) = entries else {
            return Ok((total == 0).then(|| Collected { total: 0, items: Vec::new() }));
        };
        let mut items = Vec::new();
        let (mut start, step) = (0, 256);
        while start < used && items.len() < max {
            let count = step.min(used - start);
            let some =
                self.mono.elements(entries, int(start), int(count)).await.map_err(refused)?;
            for entry in &some {
                let parts = self.fields_of(entry).await?;
                let is_free = matches!(field(&parts, "hashCode"), Some(WireValue::I4(it)) if *it < 0)
                    || matches!(field(&parts, "next"), Some(WireValue::I4(it)) if *it < -1);
                if let Some(value) = field(&parts, "value").filter(|_| !is_free)
                    && items.len() < max
                {
                    items.push((field(&parts, "key").cloned(), value.clone()));
                }
            }
            start += count;
        }
        Ok(Some(Collected { total, items }))
    }

    /// A structure that stands for one thing: a number, a moment, a box.
    pub(super) async fn special(
        &self,
        kind: TypeRef,
        fields: &[WireValue],
        depth: usize,
    ) -> Done<Option<String>> {
        let facts = self.types.facts(kind).await.map_err(refused)?;
        if facts.is_enum {
            return self.enumerated(kind, fields).await.map(Some);
        }
        if facts.is_primitive {
            return match fields.first() {
                Some(value) => self.text(value, depth).await.map(Some),
                None => Ok(None),
            };
        }
        let own = facts.full.split('[').next().unwrap_or_default();
        let kept = [
            "System.Nullable`1",
            "System.Decimal",
            "System.DateTime",
            "System.TimeSpan",
            "System.Collections.Generic.KeyValuePair`2",
        ];
        if !kept.contains(&own) {
            return Ok(None);
        }
        let value = WireValue::Structure { kind, is_enum: false, fields: fields.to_vec() };
        let parts = self.fields_of(&value).await?;
        match own {
            "System.Nullable`1" => match nullable(&parts) {
                Some(Some(value)) => self.text(value, depth).await.map(Some),
                Some(None) => Ok(Some("null".to_owned())),
                None => Ok(None),
            },
            "System.Decimal" => Ok(decimal(&parts)),
            "System.DateTime" => Ok(moment(&parts)),
            "System.TimeSpan" => Ok(span(&parts)),
            _ => {
                let Some((key, value)) = field(&parts, "key").zip(field(&parts, "value")) else {
                    return Ok(None);
                };
                let (key, value) = (self.text(key, 1).await?, self.text(value, 1).await?);
                Ok(Some(format!("[{key}, {value}]")))
            }
        }
    }

    /// The name of a constant, or its number.
    async fn enumerated(&self, kind: TypeRef, fields: &[WireValue]) -> Done<String> {
        let name = self.types.name(kind).await.map_err(refused)?;
        let known = self.types.fields(kind).await.map_err(refused)?;
        for constant in known.iter().filter(|it| it.is_static && it.is_constant) {
            let value = self.mono.static_values(kind, &[constant.id]).await;
            let value = value.ok().and_then(|mut it| it.pop());
            let is_it = match &value {
                Some(WireValue::Structure { fields: inside, .. }) => inside == fields,
                Some(value) => fields.first() == Some(value),
                None => false,
            };
            if is_it {
                return Ok(format!("{name}.{}", constant.name));
            }
        }
        let number = match fields.first() {
            Some(value) => self.text(value, 1).await?,
            None => String::new(),
        };
        Ok(format!("{name}({number})"))
    }
}

/// What is in a value that may be none.
pub(super) fn nullable(parts: &Fields) -> Option<Option<&WireValue>> {
    match field(parts, "hasValue").or_else(|| field(parts, "has_value"))? {
        WireValue::Bool(true) => Some(field(parts, "value")),
        WireValue::Bool(false) => Some(None),
        _ => None,
    }
}

fn decimal(parts: &Fields) -> Option<String> {
    let part = |name| match field(parts, name) {
        Some(WireValue::I4(it)) => Some(it.cast_unsigned()),
        Some(WireValue::U4(it)) => Some(*it),
        _ => None,
    };
    let (flags, hi, mid, lo) = (part("flags")?, part("hi")?, part("mid")?, part("lo")?);
    let number = (u128::from(hi) << 64) | (u128::from(mid) << 32) | u128::from(lo);
    let scale = usize::try_from((flags >> 16) & 0xff).ok()?;
    let digits = format!("{number:0>width$}", width = scale + 1);
    let (before, after) = digits.split_at_checked(digits.len() - scale)?;
    let sign = if flags >> 31 == 1 { "-" } else { "" };
    Some(if after.is_empty() {
        format!("{sign}{before}")
    } else {
        format!("{sign}{before}.{after}")
    })
}

const TICKS: i64 = 10_000_000;

fn moment(parts: &Fields) -> Option<String> {
    let WireValue::U8(data) = field(parts, "dateData")? else { return None };
    let ticks = i64::try_from(data & 0x3fff_ffff_ffff_ffff).ok()?;
    let day = jiff::civil::date(1, 1, 1);
    let days = jiff::Span::new().try_days(ticks / (86_400 * TICKS)).ok()?;
    let day = day.checked_add(days).ok()?;
    Some(format!("{day} {}", clock(ticks % (86_400 * TICKS))))
}

fn span(parts: &Fields) -> Option<String> {
    let WireValue::I8(ticks) = field(parts, "ticks")? else { return None };
    let sign = if *ticks < 0 { "-" } else { "" };
    let ticks = ticks.checked_abs()?;
    let days = match ticks / (86_400 * TICKS) {
        0 => String::new(),
        days => format!("{days}."),
    };
    Some(format!("{sign}{days}{}", clock(ticks % (86_400 * TICKS))))
}

fn clock(ticks: i64) -> String {
    let (seconds, rest) = (ticks / TICKS, ticks % TICKS);
    let (h, m, s) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let rest = if rest == 0 { String::new() } else { format!(".{rest:07}") };
    format!("{h:02}:{m:02}:{s:02}{rest}")
}

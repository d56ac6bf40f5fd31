//! What lists, sets and maps of the runtime hold, read out of their fields.
//!
//! By the classes' names as they are since Java 9; one that is laid out otherwise is shown by its fields as any object.

use holdpoint_jdwp::{
    JdwpError,
    types::{ObjectId, Value},
};

use super::vm::{Class, Vm};

/// The first of what something holds, and how many there are in all.
pub(super) enum Holds {
    Items { total: usize, items: Vec<Value> },
    Entries { total: usize, entries: Vec<(Value, Value)> },
}

type Found = Result<Option<Holds>, JdwpError>;

pub(super) async fn holds(vm: &Vm, id: ObjectId, class: &Class, max: usize) -> Found {
    if class.is_array() {
        return array(vm, id, max).await.map(Some);
    }
    let Some(own) = class.name.strip_prefix("java.util.") else { return Ok(None) };
    let look = Look { vm, id, max };
    match own {
        "ArrayList" => look.counted("elementData", "size").await,
        "Vector" | "Stack" => look.counted("elementData", "elementCount").await,
        "PriorityQueue" => look.counted("queue", "size").await,
        "Arrays$ArrayList" => look.array_in("a").await,
        "concurrent.CopyOnWriteArrayList" => look.array_in("array").await,
        "ImmutableCollections$ListN" => look.array_in("elements").await,
        "ImmutableCollections$List12" | "ImmutableCollections$Set12" => look.one_or_two().await,
        "ImmutableCollections$SetN" => look.sparse().await,
        "ImmutableCollections$MapN" => look.pairs().await,
        "ImmutableCollections$Map1" => look.entry("k0", "v0").await,
        "LinkedList" => look.linked_list().await,
        "ArrayDeque" => look.deque().await,
        "HashMap" | "concurrent.ConcurrentHashMap" | "Hashtable" => look.table(own).await,
        "LinkedHashMap" => look.linked_map().await,
        "TreeMap" => look.tree().await,
        "HashSet" | "LinkedHashSet" => look.keys_of("map").await,
        "TreeSet" | "TreeMap$KeySet" | "Collections$SetFromMap" => look.keys_of("m").await,
        "HashMap$KeySet" | "LinkedHashMap$LinkedKeySet" => look.keys_of("this$0").await,
        "HashMap$Values" | "LinkedHashMap$LinkedValues" | "TreeMap$Values" => {
            look.values_of("this$0").await
        }
        "HashMap$EntrySet" | "LinkedHashMap$LinkedEntrySet" | "TreeMap$EntrySet" => {
            look.inner("this$0").await
        }
        "concurrent.ConcurrentHashMap$KeySetView" => look.keys_of("map").await,
        "concurrent.ConcurrentHashMap$ValuesView" => look.values_of("map").await,
        "concurrent.ConcurrentHashMap$EntrySetView" => look.inner("map").await,
        "Optional" => look.optional().await,
        "HashMap$Node"
        | "HashMap$TreeNode"
        | "LinkedHashMap$Entry"
        | "TreeMap$Entry"
        | "KeyValueHolder"
        | "AbstractMap$SimpleEntry"
        | "AbstractMap$SimpleImmutableEntry" => look.entry("key", "value").await,
        "concurrent.ConcurrentHashMap$Node" => look.entry("key", "val").await,
        _ if own.starts_with("Collections$Unmodifiable")
            || own.starts_with("Collections$Synchronized") =>
        {
            look.behind().await
        }
        _ => Ok(None),
    }
}

async fn array(vm: &Vm, id: ObjectId, max: usize) -> Result<Holds, JdwpError> {
    let total = vm.wire.array_length(id).await?;
    let count = total.min(max);
    let items = if count == 0 { Vec::new() } else { vm.wire.elements(id, 0, count).await? };
    Ok(Holds::Items { total, items })
}

struct Look<'a> {
    vm: &'a Vm,
    id: ObjectId,
    max: usize,
}

fn reference(value: Value) -> Option<ObjectId> {
    match value {
        Value::Object { id, .. } if id != ObjectId::NULL => Some(id),
        _ => None,
    }
}

impl Look<'_> {
    async fn array_in(&self, field: &str) -> Found {
        match self.vm.object_field(self.id, field).await? {
            Some(inner) => array(self.vm, inner, self.max).await.map(Some),
            None => Ok(None),
        }
    }

    async fn size(&self, field: &str) -> Result<usize, JdwpError> {
        Ok(self.vm.int_field(self.id, field).await?.unwrap_or_default())
    }

    /// The first of an array that has room for more.
    async fn counted(&self, field: &str, size: &str) -> Found {
        let total = self.size(size).await?;
        let count = total.min(self.max);
        Ok(Some(match self.array_in(field).await? {
            Some(Holds::Items { items, .. }) => {
                Holds::Items { total, items: items.into_iter().take(count).collect() }
            }
            _ => Holds::Items { total, items: Vec::new() },
        }))
    }

    /// The second is an object of no kind where there is only one.
    async fn one_or_two(&self) -> Found {
        let first = self.vm.field(self.id, "e0").await?;
        let mut items: Vec<Value> = first.into_iter().collect();
        if let Some(second) = self.vm.object_field(self.id, "e1").await? {
            let class = self.vm.class_of(second).await?;
            if class.name != "java.lang.Object" {
                items.extend(self.vm.field(self.id, "e1").await?);
            }
        }
        Ok(Some(Holds::Items { total: items.len(), items }))
    }

    /// A table whose empty places are null.
    async fn filled(&self, field: &str) -> Result<Vec<Value>, JdwpError> {
        let Some(table) = self.vm.object_field(self.id, field).await? else {
            return Ok(Vec::new());
        };
        let length = self.vm.wire.array_length(table).await?;
        if length == 0 {
            return Ok(Vec::new());
        }
        self.vm.wire.elements(table, 0, length).await
    }

    async fn sparse(&self) -> Found {
        let all = self.filled("elements").await?;
        let items: Vec<Value> = all.into_iter().filter(|it| reference(*it).is_some()).collect();
        let total = items.len();
        Ok(Some(Holds::Items { total, items: items.into_iter().take(self.max).collect() }))
    }

    async fn pairs(&self) -> Found {
        let all = self.filled("table").await?;
        let mut entries = Vec::new();
        for pair in all.chunks_exact(2) {
            if let [key, value] = pair
                && reference(*key).is_some()
            {
                entries.push((*key, *value));
            }
        }
        Ok(Some(self.entries(entries)))
    }

    fn entries(&self, mut entries: Vec<(Value, Value)>) -> Holds {
        let total = entries.len();
        entries.truncate(self.max);
        Holds::Entries { total, entries }
    }

    async fn entry(&self, key: &str, value: &str) -> Found {
        let (key, value) =
            (self.vm.field(self.id, key).await?, self.vm.field(self.id, value).await?);
        Ok(Some(self.entries(key.zip(value).into_iter().collect())))
    }

    async fn optional(&self) -> Found {
        let held = self.vm.field(self.id, "value").await?;
        let items: Vec<Value> = held.into_iter().filter(|it| reference(*it).is_some()).collect();
        Ok(Some(Holds::Items { total: items.len(), items }))
    }

    async fn linked_list(&self) -> Found {
        let total = self.size("size").await?;
        let mut items = Vec::new();
        let mut next = self.vm.object_field(self.id, "first").await?;
        while let Some(node) = next.filter(|_| items.len() < self.max) {
            items.extend(self.vm.field(node, "item").await?);
            next = self.vm.object_field(node, "next").await?;
        }
        Ok(Some(Holds::Items { total, items }))
    }

    async fn deque(&self) -> Found {
        let all = self.filled("elements").await?;
        let (head, tail) = (self.size("head").await?, self.size("tail").await?);
        let room = all.len().max(1);
        let total = (tail + room - head) % room;
        let ring = all.iter().cycle().skip(head).take(total.min(self.max)).copied().collect();
        Ok(Some(Holds::Items { total, items: ring }))
    }

    async fn table(&self, own: &str) -> Found {
        let value_field = if own.starts_with("concurrent") { "val" } else { "value" };
        let mut entries = Vec::new();
        let counted = self.vm.int_field(self.id, "size").await?;
        for bin in self.filled("table").await? {
            let mut next = reference(bin);
            while let Some(node) = next.filter(|_| entries.len() < self.max) {
                let key = self.vm.field(node, "key").await?;
                let value = self.vm.field(node, value_field).await?;
                entries.extend(key.zip(value));
                next = self.vm.object_field(node, "next").await?;
            }
        }
        let total = counted.unwrap_or(entries.len());
        Ok(Some(Holds::Entries { total, entries }))
    }

    async fn linked_map(&self) -> Found {
        let total = self.size("size").await?;
        let mut entries = Vec::new();
        let mut next = self.vm.object_field(self.id, "head").await?;
        while let Some(node) = next.filter(|_| entries.len() < self.max) {
            let (key, value) =
                (self.vm.field(node, "key").await?, self.vm.field(node, "value").await?);
            entries.extend(key.zip(value));
            next = self.vm.object_field(node, "after").await?;
        }
        Ok(Some(Holds::Entries { total, entries }))
    }

    /// In the order of the keys.
    async fn tree(&self) -> Found {
        let total = self.size("size").await?;
        let mut entries = Vec::new();
        let mut above = Vec::new();
        let mut next = self.vm.object_field(self.id, "root").await?;
        while entries.len() < self.max {
            if let Some(node) = next {
                above.push(node);
                next = self.vm.object_field(node, "left").await?;
                continue;
            }
            let Some(node) = above.pop() else { break };
            let (key, value) =
                (self.vm.field(node, "key").await?, self.vm.field(node, "value").await?);
            entries.extend(key.zip(value));
            next = self.vm.object_field(node, "right").await?;
        }
        Ok(Some(Holds::Entries { total, entries }))
    }

    /// Of what another one stands for.
    async fn inner(&self, field: &str) -> Found {
        let Some(inner) = self.vm.object_field(self.id, field).await? else { return Ok(None) };
        let class = self.vm.class_of(inner).await?;
        Box::pin(holds(self.vm, inner, &class, self.max)).await
    }

    async fn keys_of(&self, field: &str) -> Found {
        Ok(match self.inner(field).await? {
            Some(Holds::Entries { total, entries }) => Some(Holds::Items {
                total,
                items: entries.into_iter().map(|(key, _)| key).collect(),
            }),
            other => other,
        })
    }

    async fn values_of(&self, field: &str) -> Found {
        Ok(match self.inner(field).await? {
            Some(Holds::Entries { total, entries }) => Some(Holds::Items {
                total,
                items: entries.into_iter().map(|(_, value)| value).collect(),
            }),
            other => other,
        })
    }

    async fn behind(&self) -> Found {
        match self.inner("c").await? {
            Some(found) => Ok(Some(found)),
            None => self.inner("m").await,
        }
    }
}

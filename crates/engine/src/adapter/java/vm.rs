//! A virtual machine with what is known of its classes: each is asked once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use holdpoint_jdwp::{
    JdwpError, Requester,
    types::{
        ClassId, FieldInfo, INTERFACE, LineTable, Location, MethodId, MethodInfo, ObjectId, STATIC,
        SlotTable, Value,
    },
};

/// What is asked of a virtual machine fails so, in one line.
pub(super) type Asking<T> = Result<T, String>;

pub(super) struct Vm {
    pub(super) wire: Requester,
    classes: Mutex<HashMap<ClassId, Arc<Class>>>,
    lines: Mutex<HashMap<(ClassId, MethodId), Arc<LineTable>>>,
    slots: Mutex<HashMap<(ClassId, MethodId), Arc<SlotTable>>>,
    /// What objects are, until the program goes on: the machine has a number for each only as long as it lives.
    objects: Mutex<HashMap<ObjectId, ClassId>>,
}

/// One class, without those above it.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) id: ClassId,
    /// `com.shop.Cart$Item`, `int[]`
    pub(super) name: String,
    pub(super) signature: String,
    pub(super) is_interface: bool,
    pub(super) fields: Vec<FieldInfo>,
    pub(super) methods: Vec<MethodInfo>,
    pub(super) above: Option<ClassId>,
    pub(super) interfaces: Vec<ClassId>,
    /// `Cart.java`
    pub(super) source: Option<String>,
}

impl Class {
    pub(super) fn is_array(&self) -> bool {
        self.signature.starts_with('[')
    }

    /// `Cart.Item` of `com.shop.Cart$Item`
    pub(super) fn short(&self) -> String {
        short(&self.name)
    }

    pub(super) fn package(&self) -> &str {
        self.name.rsplit_once('.').map_or("", |(package, _)| package)
    }

    pub(super) fn method(&self, id: MethodId) -> Option<&MethodInfo> {
        self.methods.iter().find(|it| it.id == id)
    }
}

/// `Shop$$Lambda` of `Shop$$Lambda$14.0x0000000800c03000`, which the machine made up.
fn plain(name: &str) -> String {
    match name.split_once("$$Lambda") {
        Some((of, _)) => format!("{of}{LAMBDA}"),
        None => name.to_owned(),
    }
}

/// How the names of classes end that are made for lambdas.
pub(super) const LAMBDA: &str = "$$Lambda";

/// A class name without its package.
pub(super) fn short(name: &str) -> String {
    let own = name.rsplit_once('.').map_or(name, |(_, own)| own);
    own.replace(LAMBDA, ".<lambda>").replace('$', ".")
}

/// `Ljava/lang/String;` is `java.lang.String`.
pub(super) fn readable(signature: &str) -> String {
    let inner = signature.trim_start_matches('[');
    let depth = signature.len() - inner.len();
    let name = match inner.as_bytes().first() {
        Some(b'B') => "byte".to_owned(),
        Some(b'C') => "char".to_owned(),
        Some(b'D') => "double".to_owned(),
        Some(b'F') => "float".to_owned(),
        Some(b'I') => "int".to_owned(),
        Some(b'J') => "long".to_owned(),
        Some(b'S') => "short".to_owned(),
        Some(b'Z') => "boolean".to_owned(),
        Some(b'V') => "void".to_owned(),
        // One `L` stands before the name, which may begin with another.
        _ => inner.strip_prefix('L').unwrap_or(inner).trim_end_matches(';').replace('/', "."),
    };
    format!("{name}{}", "[]".repeat(depth))
}

/// `java.lang.String` is `Ljava/lang/String;`, `int[]` is `[I`.
pub(super) fn signature(name: &str) -> String {
    let inner = name.trim_end_matches("[]");
    let depth = (name.len() - inner.len()) / 2;
    let one = match inner {
        "byte" => "B".to_owned(),
        "char" => "C".to_owned(),
        "double" => "D".to_owned(),
        "float" => "F".to_owned(),
        "int" => "I".to_owned(),
        "long" => "J".to_owned(),
        "short" => "S".to_owned(),
        "boolean" => "Z".to_owned(),
        _ => format!("L{};", inner.replace('.', "/")),
    };
    format!("{}{one}", "[".repeat(depth))
}

impl Vm {
    pub(super) fn new(wire: Requester) -> Vm {
        Vm {
            wire,
            classes: Mutex::default(),
            lines: Mutex::default(),
            slots: Mutex::default(),
            objects: Mutex::default(),
        }
    }

    pub(super) async fn class(&self, id: ClassId) -> Result<Arc<Class>, JdwpError> {
        if let Some(known) = lock(&self.classes).get(&id) {
            return Ok(Arc::clone(known));
        }
        let signature = self.wire.signature(id).await?;
        let class = match signature.starts_with('[') {
            true => Class {
                id,
                name: readable(&signature),
                signature,
                is_interface: false,
                fields: Vec::new(),
                methods: Vec::new(),
                above: self.object_class().await?,
                interfaces: Vec::new(),
                source: None,
            },
            false => self.ask_class(id, signature).await?,
        };
        let class = Arc::new(class);
        lock(&self.classes).insert(id, Arc::clone(&class));
        Ok(class)
    }

    async fn ask_class(&self, id: ClassId, signature: String) -> Result<Class, JdwpError> {
        let wire = &self.wire;
        // One round trip: they are asked side by side.
        let (flags, fields, methods, interfaces, source) = tokio::join!(
            wire.class_flags(id),
            wire.class_fields(id),
            wire.class_methods(id),
            wire.interfaces(id),
            wire.source_file(id)
        );
        let is_interface = flags? & INTERFACE != 0;
        let above = if is_interface { None } else { wire.superclass(id).await? };
        Ok(Class {
            id,
            name: plain(&readable(&signature)),
            signature,
            is_interface,
            fields: fields?,
            methods: methods?,
            above,
            interfaces: interfaces?,
            // Compiled without it, or by no compiler.
            source: source.ok(),
        })
    }

    async fn object_class(&self) -> Result<Option<ClassId>, JdwpError> {
        let found = self.wire.classes_by_signature("Ljava/lang/Object;").await?;
        Ok(found.first().map(|it| it.id))
    }

    pub(super) async fn class_of(&self, object: ObjectId) -> Result<Arc<Class>, JdwpError> {
        self.class(self.kind_of(object).await?).await
    }

    async fn kind_of(&self, object: ObjectId) -> Result<ClassId, JdwpError> {
        if let Some(known) = lock(&self.objects).get(&object) {
            return Ok(*known);
        }
        let class = self.wire.class_of(object).await?;
        lock(&self.objects).insert(object, class);
        Ok(class)
    }

    /// The program goes on: what its objects are is asked again.
    pub(super) fn forget_objects(&self) {
        lock(&self.objects).clear();
    }

    /// A class and all above it, itself first.
    pub(super) async fn chain(&self, id: ClassId) -> Result<Vec<Arc<Class>>, JdwpError> {
        let mut chain = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let class = self.class(id).await?;
            next = class.above;
            chain.push(class);
        }
        Ok(chain)
    }

    /// All that an object of this class is: classes above it, and interfaces of all of them.
    pub(super) async fn kinds(&self, id: ClassId) -> Result<Vec<Arc<Class>>, JdwpError> {
        let mut all = self.chain(id).await?;
        let mut at = 0;
        while let Some(class) = all.get(at).cloned() {
            for interface in &class.interfaces {
                if !all.iter().any(|it| it.id == *interface) {
                    all.push(self.class(*interface).await?);
                }
            }
            at += 1;
        }
        Ok(all)
    }

    pub(super) async fn lines(
        &self,
        class: ClassId,
        method: MethodId,
    ) -> Result<Arc<LineTable>, JdwpError> {
        if let Some(known) = lock(&self.lines).get(&(class, method)) {
            return Ok(Arc::clone(known));
        }
        let table = match self.wire.line_table(class, method).await {
            // A native or abstract method, or one without lines.
            Err(JdwpError::Refused(_)) => LineTable::default(),
            table => table?,
        };
        let table = Arc::new(table);
        lock(&self.lines).insert((class, method), Arc::clone(&table));
        Ok(table)
    }

    pub(super) async fn slots(
        &self,
        class: ClassId,
        method: MethodId,
    ) -> Result<Arc<SlotTable>, JdwpError> {
        if let Some(known) = lock(&self.slots).get(&(class, method)) {
            return Ok(Arc::clone(known));
        }
        let table = match self.wire.slot_table(class, method).await {
            // Compiled without `-g`, or native.
            Err(JdwpError::Refused(_)) => SlotTable::default(),
            table => table?,
        };
        let table = Arc::new(table);
        lock(&self.slots).insert((class, method), Arc::clone(&table));
        Ok(table)
    }

    /// The line of a place.
    pub(super) async fn line(&self, location: Location) -> Result<Option<u32>, JdwpError> {
        Ok(self.lines(location.class, location.method).await?.line(location.index))
    }

    /// The fields of an object with their values, those of classes above it first; static ones are not its own.
    pub(super) async fn fields(
        &self,
        object: ObjectId,
    ) -> Result<Vec<(FieldInfo, Value)>, JdwpError> {
        let class = self.kind_of(object).await?;
        let mut fields: Vec<FieldInfo> = Vec::new();
        for class in self.chain(class).await?.iter().rev() {
            fields.extend(class.fields.iter().filter(|it| it.flags & STATIC == 0).cloned());
        }
        let ids: Vec<_> = fields.iter().map(|it| it.id).collect();
        let values = self.wire.values(object, &ids).await?;
        Ok(fields.into_iter().zip(values).collect())
    }

    /// One field of an object, by its name.
    pub(super) async fn field(
        &self,
        object: ObjectId,
        name: &str,
    ) -> Result<Option<Value>, JdwpError> {
        let class = self.kind_of(object).await?;
        for class in self.chain(class).await? {
            let is_it = |it: &&FieldInfo| it.name == name && it.flags & STATIC == 0;
            if let Some(field) = class.fields.iter().find(is_it) {
                return Ok(self.wire.values(object, &[field.id]).await?.into_iter().next());
            }
        }
        Ok(None)
    }

    /// One that refers to an object.
    pub(super) async fn object_field(
        &self,
        object: ObjectId,
        name: &str,
    ) -> Result<Option<ObjectId>, JdwpError> {
        Ok(match self.field(object, name).await? {
            Some(Value::Object { id, .. }) if id != ObjectId::NULL => Some(id),
            _ => None,
        })
    }

    pub(super) async fn int_field(
        &self,
        object: ObjectId,
        name: &str,
    ) -> Result<Option<usize>, JdwpError> {
        Ok(match self.field(object, name).await? {
            Some(Value::Int(it)) => usize::try_from(it).ok(),
            _ => None,
        })
    }
}

/// The state is consistent between statements; a panic elsewhere does not spoil it.
pub(super) fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_names_and_back() {
        for (written, name) in [
            ("I", "int"),
            ("[[J", "long[][]"),
            ("Ljava/lang/String;", "java.lang.String"),
            ("LLoop;", "Loop"),
        ] {
            assert_eq!((readable(written), signature(name)), (name.to_owned(), written.to_owned()));
        }
        assert_eq!(short("com.shop.Cart$Item"), "Cart.Item");
    }
}

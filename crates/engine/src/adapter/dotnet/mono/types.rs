//! What is known of the types and methods of a program. None of it changes, so each is asked for once.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::BoxFuture;
use holdpoint_sdb::{
    AssemblyRef, MethodRef, MonoError, MonoRequester, TypeRef,
    command::{MethodLines, MethodLocals, MethodParameters, MonoField, SequencePoint, TypeFacts},
};

pub(super) struct Types {
    mono: MonoRequester,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    facts: HashMap<TypeRef, Arc<TypeFacts>>,
    names: HashMap<TypeRef, Arc<str>>,
    fields: HashMap<TypeRef, Arc<Vec<MonoField>>>,
    methods: HashMap<MethodRef, Arc<Method>>,
    lines: HashMap<MethodRef, Arc<MethodLines>>,
    variables: HashMap<MethodRef, Arc<Variables>>,
    /// Assemblies with debug information: somebody's own code.
    users: Vec<AssemblyRef>,
}

pub(super) struct Method {
    pub(super) name: String,
    pub(super) declares: TypeRef,
    pub(super) is_static: bool,
}

pub(super) struct Variables {
    pub(super) parameters: MethodParameters,
    pub(super) locals: MethodLocals,
}

type Asked<T> = Result<T, MonoError>;

/// What the language calls the runtime's own types.
const ALIASES: &[(&str, &str)] = &[
    ("System.Boolean", "bool"),
    ("System.Byte", "byte"),
    ("System.SByte", "sbyte"),
    ("System.Char", "char"),
    ("System.Decimal", "decimal"),
    ("System.Double", "double"),
    ("System.Single", "float"),
    ("System.Int32", "int"),
    ("System.UInt32", "uint"),
    ("System.Int64", "long"),
    ("System.UInt64", "ulong"),
    ("System.Int16", "short"),
    ("System.UInt16", "ushort"),
    ("System.Object", "object"),
    ("System.String", "string"),
    ("System.Void", "void"),
];

/// The runtime's own name of what the language calls so.
pub(super) fn whole_name(alias: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(_, it)| *it == alias).map(|(whole, _)| *whole)
}

impl Types {
    pub(super) fn new(mono: MonoRequester) -> Types {
        Types { mono, known: Mutex::default() }
    }

    /// Consistent between statements; a panic elsewhere does not spoil it.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn once<K: Copy + Eq + Hash, T>(
        &self,
        key: K,
        of: fn(&mut Known) -> &mut HashMap<K, Arc<T>>,
        ask: impl Future<Output = Asked<T>>,
    ) -> Asked<Arc<T>> {
        if let Some(known) = of(&mut self.known()).get(&key) {
            return Ok(Arc::clone(known));
        }
        let told = Arc::new(ask.await?);
        of(&mut self.known()).insert(key, Arc::clone(&told));
        Ok(told)
    }

    pub(super) async fn facts(&self, kind: TypeRef) -> Asked<Arc<TypeFacts>> {
        self.once(kind, |it| &mut it.facts, self.mono.type_facts(kind)).await
    }

    pub(super) async fn lines(&self, method: MethodRef) -> Asked<Arc<MethodLines>> {
        self.once(method, |it| &mut it.lines, self.mono.lines(method)).await
    }

    pub(super) async fn method(&self, method: MethodRef) -> Asked<Arc<Method>> {
        let ask = async {
            Ok(Method {
                name: self.mono.method_name(method).await?,
                declares: self.mono.declaring_type(method).await?,
                is_static: self.mono.is_static(method).await?,
            })
        };
        self.once(method, |it| &mut it.methods, ask).await
    }

    pub(super) async fn variables(&self, method: MethodRef) -> Asked<Arc<Variables>> {
        let ask = async {
            let parameters = self.mono.parameters(method).await?;
            // A method without a body has none.
            let locals = self.mono.locals(method).await.unwrap_or_default();
            Ok(Variables { parameters, locals })
        };
        self.once(method, |it| &mut it.variables, ask).await
    }

    /// Those of a type and of all that it is derived from, its own first.
    pub(super) async fn fields(&self, kind: TypeRef) -> Asked<Arc<Vec<MonoField>>> {
        let ask = async {
            let mut all = Vec::new();
            for kind in self.chain(kind).await? {
                all.extend(self.mono.fields(kind).await?);
            }
            Ok(all)
        };
        self.once(kind, |it| &mut it.fields, ask).await
    }

    /// A type, and what it is derived from.
    pub(super) async fn chain(&self, kind: TypeRef) -> Asked<Vec<TypeRef>> {
        let mut all = vec![kind];
        let mut next = self.facts(kind).await?.base;
        while let Some(base) = next
            && all.len() < crate::limits::MONO_BASES
        {
            all.push(base);
            next = self.facts(base).await?.base;
        }
        Ok(all)
    }

    /// As the language writes it: `Dictionary<string, int>`.
    pub(super) fn name(&self, kind: TypeRef) -> BoxFuture<'_, Asked<Arc<str>>> {
        Box::pin(async move {
            if let Some(known) = self.known().names.get(&kind) {
                return Ok(Arc::clone(known));
            }
            let facts = self.facts(kind).await?;
            let name: Arc<str> = self.written(&facts).await?.into();
            self.known().names.insert(kind, Arc::clone(&name));
            Ok(name)
        })
    }

    async fn written(&self, facts: &TypeFacts) -> Asked<String> {
        if let Some(element) = facts.element.filter(|_| facts.rank > 0) {
            let commas = ",".repeat(usize::from(facts.rank).saturating_sub(1));
            return Ok(format!("{}[{commas}]", self.name(element).await?));
        }
        if let Some((_, alias)) = ALIASES.iter().find(|(whole, _)| *whole == facts.full) {
            return Ok((*alias).to_owned());
        }
        let own = facts.name.split('`').next().unwrap_or_default().to_owned();
        if facts.arguments.is_empty() {
            return Ok(own);
        }
        let mut arguments = Vec::new();
        for argument in &facts.arguments {
            arguments.push(self.name(*argument).await?.to_string());
        }
        if facts.full.starts_with("System.Nullable`1") {
            return Ok(format!("{}?", arguments.join(", ")));
        }
        Ok(format!("{own}<{}>", arguments.join(", ")))
    }

    /// A type's own name without what the compiler makes of it.
    pub(super) async fn method_title(&self, method: MethodRef) -> Asked<String> {
        let known = self.method(method).await?;
        let facts = self.facts(known.declares).await?;
        let owner = self.name(known.declares).await?;
        let outer = || facts.full.split(['+', '/']).next().unwrap_or_default().to_owned();
        let last = |it: String| it.rsplit('.').next().unwrap_or_default().to_owned();
        // `<Main>m__0` of `<Main>c__AnonStorey0`, `<Main>b__0`, and `MoveNext` of `<Count>c__Iterator0`.
        if let Some(inside) = between(&known.name) {
            return Ok(format!("{}.{inside} (lambda)", last(outer())));
        }
        if let Some(inside) = between(&facts.name) {
            return Ok(format!("{}.{inside}", last(outer())));
        }
        Ok(format!("{owner}.{}", known.name))
    }

    pub(super) fn add_users(&self, assembly: AssemblyRef) {
        let mut known = self.known();
        if !known.users.contains(&assembly) {
            known.users.push(assembly);
        }
    }

    pub(super) fn users(&self) -> Vec<AssemblyRef> {
        self.known().users.clone()
    }

    /// Whether a method is of the user's own code.
    pub(super) async fn is_users(&self, method: MethodRef) -> bool {
        let Ok(method) = self.method(method).await else { return false };
        let Ok(facts) = self.facts(method.declares).await else { return false };
        self.known().users.contains(&facts.assembly)
    }

    /// Where an offset of a method is in the sources.
    pub(super) async fn place(
        &self,
        method: MethodRef,
        offset: i32,
    ) -> Asked<Option<(String, SequencePoint)>> {
        let lines = self.lines(method).await?;
        let point = lines.points.iter().filter(|it| it.file.is_some());
        let Some(point) = point.filter(|it| it.offset <= offset).max_by_key(|it| it.offset) else {
            return Ok(None);
        };
        let file = point.file.and_then(|it| lines.files.get(it)).cloned();
        Ok(file.map(|file| (file, *point)))
    }
}

/// What stands between the angles at the begin of a name that the compiler made.
pub(super) fn between(name: &str) -> Option<&str> {
    let (inside, _) = name.strip_prefix('<')?.split_once('>')?;
    (!inside.is_empty()).then_some(inside)
}

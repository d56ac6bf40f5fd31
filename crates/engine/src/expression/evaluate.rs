//! A tree carried out in a stopped program.

use futures::future::BoxFuture;

use super::{
    numeric::{Numeric, NumericKind, Sum, sum},
    token::Grammar,
    tree::Tree,
};

/// What an expression comes to. `O` is how the program's debugger names an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operand<O> {
    /// Of a method that returns nothing.
    Nothing,
    Null,
    Bool(bool),
    Char(u16),
    Number(Numeric),
    /// A text that is not the program's own: a literal, or what was put together here.
    Text(String),
    Object(O),
}

/// Whose method is called.
pub(crate) enum Receiver<O, T> {
    Value(Operand<O>),
    Type(T),
    /// Of where the program stands.
    Here,
}

/// What is assigned to.
pub(crate) enum Assignee<O, T> {
    /// A variable, or a field of where the program stands.
    Named(String),
    Field(O, String),
    Static(T, String),
    Element(O, Vec<Operand<O>>),
}

/// What can be asked of a stopped program, at one frame of it. Failures are one line; see [`super`].
pub(crate) trait World: Sync {
    type Object: Clone + Send + Sync;
    type Type: Clone + Send + Sync;

    fn grammar(&self) -> Grammar;

    fn this(&self) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send;

    /// A variable, or a field of where the program stands.
    fn named(
        &self,
        name: &str,
    ) -> impl Future<Output = Result<Option<Operand<Self::Object>>, String>> + Send;

    /// A type by its own name or its whole one.
    fn type_named(
        &self,
        name: &str,
    ) -> impl Future<Output = Result<Option<Self::Type>, String>> + Send;

    fn field(
        &self,
        of: &Operand<Self::Object>,
        name: &str,
    ) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send;

    /// `None` where the type has no such field: it may be a type inside of it.
    fn static_field(
        &self,
        of: &Self::Type,
        name: &str,
    ) -> impl Future<Output = Result<Option<Operand<Self::Object>>, String>> + Send;

    fn call(
        &self,
        of: Receiver<Self::Object, Self::Type>,
        name: &str,
        arguments: Vec<Operand<Self::Object>>,
    ) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send;

    fn create(
        &self,
        kind: Self::Type,
        arguments: Vec<Operand<Self::Object>>,
    ) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send;

    /// Of an array, a list or a map.
    fn element(
        &self,
        of: &Operand<Self::Object>,
        at: &[Operand<Self::Object>],
    ) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send;

    /// Whether an object is of a type, `java.util.List` or `int[]`.
    fn is_a(
        &self,
        of: &Operand<Self::Object>,
        kind: &str,
    ) -> impl Future<Output = Result<bool, String>> + Send;

    /// `==` where not both are numbers: identity in Java, what the types say in C#.
    fn same(
        &self,
        left: &Operand<Self::Object>,
        right: &Operand<Self::Object>,
    ) -> impl Future<Output = Result<bool, String>> + Send;

    /// The number, the truth or the character inside of a box; anything else as it is.
    fn unboxed(
        &self,
        of: Operand<Self::Object>,
    ) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send;

    /// As it becomes a part of a text.
    fn text(
        &self,
        of: &Operand<Self::Object>,
    ) -> impl Future<Output = Result<String, String>> + Send;

    /// Whether `+` with it puts texts together.
    fn is_text(
        &self,
        of: &Operand<Self::Object>,
    ) -> impl Future<Output = Result<bool, String>> + Send;

    /// What the place holds afterwards.
    fn assign(
        &self,
        to: Assignee<Self::Object, Self::Type>,
        value: Operand<Self::Object>,
    ) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send;

    /// A sign between two that are no numbers and no texts, where the language lets types say what it means.
    fn overloaded(
        &self,
        sign: &str,
        _left: &Operand<Self::Object>,
        _right: &Operand<Self::Object>,
    ) -> impl Future<Output = Result<Operand<Self::Object>, String>> + Send {
        let refused = Err(format!("TypeMismatch: `{sign}` is not for these operands"));
        async move { refused }
    }
}

/// What the tree comes to.
pub(crate) async fn evaluate<W: World>(
    world: &W,
    tree: &Tree,
) -> Result<Operand<W::Object>, String> {
    Walk { world }.value(tree).await
}

struct Walk<'w, W> {
    world: &'w W,
}

/// A name may be a value, a type, or the first part of a type's name.
enum Seen<O, T> {
    Value(Operand<O>),
    Type(T, String),
    Path(String),
}

type Done<W> = Result<Operand<<W as World>::Object>, String>;
type Sight<W> = Result<Seen<<W as World>::Object, <W as World>::Type>, String>;

impl<W: World> Walk<'_, W> {
    fn value<'a>(&'a self, tree: &'a Tree) -> BoxFuture<'a, Done<W>> {
        Box::pin(async move {
            match self.seen(tree).await? {
                Seen::Value(value) => Ok(value),
                Seen::Type(_, name) => {
                    Err(format!("TypeMismatch: `{name}` is a type, not a value"))
                }
                Seen::Path(name) => Err(unknown(&name)),
            }
        })
    }

    async fn seen(&self, tree: &Tree) -> Sight<W> {
        match tree {
            Tree::Name(name) => {
                if let Some(value) = self.world.named(name).await? {
                    return Ok(Seen::Value(value));
                }
                self.path(name.clone()).await
            }
            Tree::Field { of, name, unless_null } => self.member(of, name, *unless_null).await,
            other => self.plain(other).await.map(Seen::Value),
        }
    }

    async fn path(&self, name: String) -> Sight<W> {
        Ok(match self.world.type_named(&name).await? {
            Some(kind) => Seen::Type(kind, name),
            None => Seen::Path(name),
        })
    }

    async fn member(&self, of: &Tree, name: &str, unless_null: bool) -> Sight<W> {
        match self.boxed_seen(of).await? {
            Seen::Value(Operand::Null) if unless_null => Ok(Seen::Value(Operand::Null)),
            Seen::Value(value) => self.world.field(&value, name).await.map(Seen::Value),
            Seen::Type(kind, whole) => match self.world.static_field(&kind, name).await? {
                Some(value) => Ok(Seen::Value(value)),
                // A type inside of it, which only its whole name tells.
                None => match self.path(format!("{whole}.{name}")).await? {
                    Seen::Path(_) => Err(format!("UnknownName: `{whole}` has no static `{name}`")),
                    seen => Ok(seen),
                },
            },
            Seen::Path(before) => self.path(format!("{before}.{name}")).await,
        }
    }

    fn boxed_seen<'a>(&'a self, tree: &'a Tree) -> BoxFuture<'a, Sight<W>> {
        Box::pin(self.seen(tree))
    }

    async fn plain(&self, tree: &Tree) -> Done<W> {
        Ok(match tree {
            Tree::Null => Operand::Null,
            Tree::Bool(it) => Operand::Bool(*it),
            Tree::Char(it) => Operand::Char(*it),
            Tree::Number(it) => Operand::Number(*it),
            Tree::Text(it) => Operand::Text(it.clone()),
            Tree::This => self.world.this().await?,
            Tree::Call { of, name, arguments, unless_null } => {
                return self.call(of.as_deref(), name, arguments, *unless_null).await;
            }
            Tree::Index { of, at } => {
                let of = self.value(of).await?;
                let at = self.values(at).await?;
                self.world.element(&of, &at).await?
            }
            Tree::New { kind, arguments } => {
                let found = self.world.type_named(kind).await?.ok_or_else(|| unknown(kind))?;
                let arguments = self.values(arguments).await?;
                self.world.create(found, arguments).await?
            }
            Tree::Unary { sign, of } => self.unary(sign, of).await?,
            Tree::Binary { sign, left, right } => {
                let (left, right) = (self.value(left).await?, self.value(right).await?);
                self.binary(sign, left, right).await?
            }
            Tree::Either { sign, left, right } => self.either(sign, left, right).await?,
            Tree::Choice { when, then, otherwise } => {
                let taken = if self.truth("?", when).await? { then } else { otherwise };
                self.value(taken).await?
            }
            Tree::Cast { to, of } => {
                let of = self.value(of).await?;
                self.cast(to, of).await?
            }
            Tree::As { to, of } => {
                let of = self.value(of).await?;
                if self.world.is_a(&of, to).await? { of } else { Operand::Null }
            }
            Tree::IsA { of, kind } => {
                let of = self.value(of).await?;
                Operand::Bool(!matches!(of, Operand::Null) && self.world.is_a(&of, kind).await?)
            }
            Tree::Assign { to, sign, value } => self.assign(to, *sign, value).await?,
            Tree::Name(name) => return Err(unknown(name)),
            Tree::Field { name, .. } => return Err(unknown(name)),
        })
    }

    async fn values(&self, trees: &[Tree]) -> Result<Vec<Operand<W::Object>>, String> {
        let mut all = Vec::new();
        for tree in trees {
            all.push(self.value(tree).await?);
        }
        Ok(all)
    }

    async fn call(
        &self,
        of: Option<&Tree>,
        name: &str,
        arguments: &[Tree],
        unless_null: bool,
    ) -> Done<W> {
        let receiver = match of {
            None => Receiver::Here,
            Some(tree) => match self.boxed_seen(tree).await? {
                Seen::Value(Operand::Null) if unless_null => return Ok(Operand::Null),
                Seen::Value(Operand::Null) => {
                    let kind = self.world.grammar().null_error();
                    return Err(format!("{kind}: `{name}` is called on null"));
                }
                Seen::Value(value) => Receiver::Value(value),
                Seen::Type(kind, _) => Receiver::Type(kind),
                Seen::Path(path) => return Err(unknown(&path)),
            },
        };
        let arguments = self.values(arguments).await?;
        self.world.call(receiver, name, arguments).await
    }

    async fn unary(&self, sign: &str, of: &Tree) -> Done<W> {
        if sign == "!" {
            return Ok(Operand::Bool(!self.truth("!", of).await?));
        }
        let value = self.value(of).await?;
        let number = number(self.world.unboxed(value).await?).ok_or_else(|| not_for(sign))?;
        Ok(Operand::Number(match sign {
            "-" => number.negated(),
            "~" => number.inverted().ok_or_else(|| not_for(sign))?,
            _ => number.promoted(),
        }))
    }

    async fn truth(&self, sign: &str, of: &Tree) -> Result<bool, String> {
        let value = self.value(of).await?;
        match self.world.unboxed(value).await? {
            Operand::Bool(it) => Ok(it),
            _ => Err(format!("TypeMismatch: `{sign}` wants true or false")),
        }
    }

    async fn either(&self, sign: &str, left: &Tree, right: &Tree) -> Done<W> {
        Ok(match sign {
            "&&" => Operand::Bool(self.truth(sign, left).await? && self.truth(sign, right).await?),
            "||" => Operand::Bool(self.truth(sign, left).await? || self.truth(sign, right).await?),
            _ => match self.value(left).await? {
                Operand::Null => self.value(right).await?,
                value => value,
            },
        })
    }

    async fn binary(
        &self,
        sign: &str,
        left: Operand<W::Object>,
        right: Operand<W::Object>,
    ) -> Done<W> {
        let world = self.world;
        if sign == "+" && (world.is_text(&left).await? || world.is_text(&right).await?) {
            let text = format!("{}{}", world.text(&left).await?, world.text(&right).await?);
            return Ok(Operand::Text(text));
        }
        // Two boxes are two objects: only beside a number is one opened.
        let compares = matches!(sign, "==" | "!=");
        let both_objects = matches!(
            (&left, &right),
            (Operand::Object(_) | Operand::Null, Operand::Object(_) | Operand::Null)
        );
        if compares
            && (both_objects
                || matches!(left, Operand::Text(_))
                || matches!(right, Operand::Text(_)))
        {
            let is_same = world.same(&left, &right).await?;
            return Ok(Operand::Bool(is_same == (sign == "==")));
        }
        let (one, other) =
            (world.unboxed(left.clone()).await?, world.unboxed(right.clone()).await?);
        if let (Operand::Bool(one), Operand::Bool(other)) = (&one, &other) {
            return logic(sign, *one, *other).map(Operand::Bool).ok_or_else(|| not_for(sign));
        }
        match (number(one), number(other)) {
            (Some(one), Some(other)) => Ok(match sum(sign, one, other)? {
                Sum::Number(it) => Operand::Number(it),
                Sum::Bool(it) => Operand::Bool(it),
            }),
            _ if compares => Ok(Operand::Bool(world.same(&left, &right).await? == (sign == "=="))),
            _ => world.overloaded(sign, &left, &right).await,
        }
    }

    async fn cast(&self, to: &str, of: Operand<W::Object>) -> Done<W> {
        if let Some(kind) = numeric_kind(to, self.world.grammar()) {
            let number = number(self.world.unboxed(of).await?);
            let number =
                number.ok_or_else(|| format!("TypeMismatch: that is no number and no `{to}`"))?;
            return Ok(Operand::Number(number.cast(kind)));
        }
        match (to, of) {
            ("char", of) => {
                let number =
                    number(self.world.unboxed(of).await?).ok_or_else(|| not_for("char"))?;
                match number.cast(NumericKind::U16) {
                    Numeric::U16(unit) => Ok(Operand::Char(unit)),
                    _ => Err(not_for("char")),
                }
            }
            ("boolean" | "bool", of) => self.world.unboxed(of).await,
            (_, Operand::Null) => Ok(Operand::Null),
            (_, of) if self.world.is_a(&of, to).await? => Ok(of),
            _ => Err(format!("ClassCastException: it is no `{to}`")),
        }
    }

    async fn assign(&self, to: &Tree, sign: Option<&str>, value: &Tree) -> Done<W> {
        let mut new = self.value(value).await?;
        if let Some(sign) = sign {
            let before = self.value(to).await?;
            new = self.binary(sign, before, new).await?;
        }
        let place = match to {
            Tree::Name(name) => Assignee::Named(name.clone()),
            Tree::Field { of, name, .. } => match self.boxed_seen(of).await? {
                Seen::Value(Operand::Object(of)) => Assignee::Field(of, name.clone()),
                Seen::Type(kind, _) => Assignee::Static(kind, name.clone()),
                Seen::Path(path) => return Err(unknown(&path)),
                Seen::Value(_) => {
                    return Err(format!("TypeMismatch: nothing there has a field `{name}`"));
                }
            },
            Tree::Index { of, at } => match self.value(of).await? {
                Operand::Object(of) => Assignee::Element(of, self.values(at).await?),
                _ => return Err("TypeMismatch: it has no elements".to_owned()),
            },
            _ => return Err("SyntaxError: that cannot be assigned to".to_owned()),
        };
        self.world.assign(place, new).await
    }
}

fn number<O>(of: Operand<O>) -> Option<Numeric> {
    match of {
        Operand::Number(it) => Some(it),
        Operand::Char(it) => Some(Numeric::I32(it.into())),
        _ => None,
    }
}

fn logic(sign: &str, left: bool, right: bool) -> Option<bool> {
    Some(match sign {
        "&" => left & right,
        "|" => left | right,
        "^" | "!=" => left ^ right,
        "==" => left == right,
        _ => return None,
    })
}

/// What the language calls its numbers.
fn numeric_kind(name: &str, grammar: Grammar) -> Option<NumericKind> {
    Some(match (name, grammar) {
        ("byte", Grammar::Java) | ("sbyte", Grammar::CSharp) => NumericKind::I8,
        ("byte", Grammar::CSharp) => NumericKind::U8,
        ("short", _) => NumericKind::I16,
        ("ushort", Grammar::CSharp) => NumericKind::U16,
        ("int", _) => NumericKind::I32,
        ("uint", Grammar::CSharp) => NumericKind::U32,
        ("long", _) => NumericKind::I64,
        ("ulong", Grammar::CSharp) => NumericKind::U64,
        ("float", _) => NumericKind::F32,
        ("double", _) => NumericKind::F64,
        _ => return None,
    })
}

fn unknown(name: &str) -> String {
    format!("UnknownName: `{name}` is no variable, field or loaded type here")
}

fn not_for(sign: &str) -> String {
    format!("TypeMismatch: `{sign}` is not for this operand")
}

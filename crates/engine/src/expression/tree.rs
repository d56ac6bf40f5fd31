//! An expression as it was meant.

use super::numeric::Numeric;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Char(u16),
    Number(Numeric),
    Text(String),
    This,
    /// A variable, a field of where the program stands, a type, or the first part of a type's name.
    Name(String),
    Field {
        of: Box<Tree>,
        name: String,
        unless_null: bool,
    },
    /// Of nothing: a method of where the program stands.
    Call {
        of: Option<Box<Tree>>,
        name: String,
        arguments: Vec<Tree>,
        unless_null: bool,
    },
    Index {
        of: Box<Tree>,
        at: Vec<Tree>,
    },
    New {
        kind: String,
        arguments: Vec<Tree>,
    },
    Unary {
        sign: &'static str,
        of: Box<Tree>,
    },
    /// Both sides are evaluated.
    Binary {
        sign: &'static str,
        left: Box<Tree>,
        right: Box<Tree>,
    },
    /// The right side only where the left one does not decide: `&&`, `||`, `??`.
    Either {
        sign: &'static str,
        left: Box<Tree>,
        right: Box<Tree>,
    },
    Choice {
        when: Box<Tree>,
        then: Box<Tree>,
        otherwise: Box<Tree>,
    },
    Cast {
        to: String,
        of: Box<Tree>,
    },
    /// `null` where it is none of them: C#'s `as`.
    As {
        to: String,
        of: Box<Tree>,
    },
    IsA {
        of: Box<Tree>,
        kind: String,
    },
    /// With a sign, `+=` and its like.
    Assign {
        to: Box<Tree>,
        sign: Option<&'static str>,
        value: Box<Tree>,
    },
}

//! Numbers as the program's language counts: of a width, signed or not, wrapping.

use super::token::Grammar;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Numeric {
    I8(i8),
    U8(u8),
    I16(i16),
    U16(u16),
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumericKind {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// What a sign comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sum {
    Number(Numeric),
    Bool(bool),
}

impl Numeric {
    /// A whole number without a suffix: the first kind that has room for it. In hexadecimal a Java `int` may use its
    /// sign bit.
    pub(super) fn whole(value: u64, radix: u32, grammar: Grammar) -> Option<Numeric> {
        if let Ok(value) = i32::try_from(value) {
            return Some(Numeric::I32(value));
        }
        match grammar {
            Grammar::Java if radix != 10 => {
                u32::try_from(value).ok().map(|it| Numeric::I32(it.cast_signed()))
            }
            // `-2147483648` is a minus before a number that is one too large.
            Grammar::Java if value == 1 << 31 => Some(Numeric::I64(1 << 31)),
            Grammar::Java => None,
            Grammar::CSharp => Some(match (u32::try_from(value), i64::try_from(value)) {
                (Ok(value), _) => Numeric::U32(value),
                (Err(_), Ok(value)) => Numeric::I64(value),
                (Err(_), Err(_)) => Numeric::U64(value),
            }),
        }
    }

    pub(crate) fn kind(self) -> NumericKind {
        match self {
            Numeric::I8(_) => NumericKind::I8,
            Numeric::U8(_) => NumericKind::U8,
            Numeric::I16(_) => NumericKind::I16,
            Numeric::U16(_) => NumericKind::U16,
            Numeric::I32(_) => NumericKind::I32,
            Numeric::U32(_) => NumericKind::U32,
            Numeric::I64(_) => NumericKind::I64,
            Numeric::U64(_) => NumericKind::U64,
            Numeric::F32(_) => NumericKind::F32,
            Numeric::F64(_) => NumericKind::F64,
        }
    }

    /// As a whole number; none for one that has a fraction.
    pub(crate) fn as_whole(self) -> Option<i128> {
        Some(match self {
            Numeric::I8(it) => it.into(),
            Numeric::U8(it) => it.into(),
            Numeric::I16(it) => it.into(),
            Numeric::U16(it) => it.into(),
            Numeric::I32(it) => it.into(),
            Numeric::U32(it) => it.into(),
            Numeric::I64(it) => it.into(),
            Numeric::U64(it) => it.into(),
            Numeric::F32(_) | Numeric::F64(_) => return None,
        })
    }

    pub(crate) fn as_real(self) -> f64 {
        match self {
            Numeric::F32(it) => it.into(),
            Numeric::F64(it) => it,
            // The nearest there is, as a cast in the language is.
            other => other.as_whole().unwrap_or_default() as f64,
        }
    }

    /// A cast, as both languages do it: bits are cut off, fractions too.
    pub(crate) fn cast(self, to: NumericKind) -> Numeric {
        let whole = match self {
            Numeric::F32(_) | Numeric::F64(_) => {
                let real = self.as_real();
                match to {
                    // Saturating, to the width of at least an int.
                    NumericKind::I64 => (real as i64).into(),
                    NumericKind::U64 => (real as u64).into(),
                    NumericKind::U32 => (real as u32).into(),
                    _ => i128::from(real as i32),
                }
            }
            other => other.as_whole().unwrap_or_default(),
        };
        match to {
            NumericKind::I8 => Numeric::I8(whole as i8),
            NumericKind::U8 => Numeric::U8(whole as u8),
            NumericKind::I16 => Numeric::I16(whole as i16),
            NumericKind::U16 => Numeric::U16(whole as u16),
            NumericKind::I32 => Numeric::I32(whole as i32),
            NumericKind::U32 => Numeric::U32(whole as u32),
            NumericKind::I64 => Numeric::I64(whole as i64),
            NumericKind::U64 => Numeric::U64(whole as u64),
            NumericKind::F32 => Numeric::F32(match self {
                Numeric::F32(it) => it,
                Numeric::F64(it) => it as f32,
                _ => whole as f32,
            }),
            NumericKind::F64 => Numeric::F64(self.as_real()),
        }
    }

    /// As the language writes it.
    pub(crate) fn text(self) -> String {
        match self {
            Numeric::F32(it) => real_text(&it.to_string(), &format!("{it:e}"), it.abs().into()),
            Numeric::F64(it) => real_text(&it.to_string(), &format!("{it:e}"), it.abs()),
            other => other.as_whole().unwrap_or_default().to_string(),
        }
    }

    pub(super) fn negated(self) -> Numeric {
        match self.promoted() {
            Numeric::I32(it) => Numeric::I32(it.wrapping_neg()),
            // Only a literal is that: it becomes the smallest int.
            Numeric::I64(it) if it == 1 << 31 => Numeric::I32(i32::MIN),
            Numeric::I64(it) => Numeric::I64(it.wrapping_neg()),
            Numeric::U32(it) => Numeric::I64(-i64::from(it)),
            Numeric::U64(it) => Numeric::U64(it.wrapping_neg()),
            Numeric::F32(it) => Numeric::F32(-it),
            Numeric::F64(it) => Numeric::F64(-it),
            other => other,
        }
    }

    pub(super) fn inverted(self) -> Option<Numeric> {
        Some(match self.promoted() {
            Numeric::I32(it) => Numeric::I32(!it),
            Numeric::I64(it) => Numeric::I64(!it),
            Numeric::U32(it) => Numeric::U32(!it),
            Numeric::U64(it) => Numeric::U64(!it),
            _ => return None,
        })
    }

    /// Nothing narrower than an int is reckoned with.
    pub(super) fn promoted(self) -> Numeric {
        match self.kind() {
            NumericKind::I8 | NumericKind::U8 | NumericKind::I16 | NumericKind::U16 => {
                self.cast(NumericKind::I32)
            }
            _ => self,
        }
    }
}

/// `1.0E10` and `1.0`, as Java does: never a bare whole number, and powers of ten from ten millions on.
fn real_text(plain: &str, exponent: &str, size: f64) -> String {
    if !size.is_finite() {
        return plain.replace("inf", "Infinity");
    }
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        let (digits, power) = exponent.split_once('e').unwrap_or((exponent, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        return format!("{digits}{point}E{power}");
    }
    if plain.contains('.') { plain.to_owned() } else { format!("{plain}.0") }
}

/// Two numbers, and a sign between them.
pub(super) fn sum(sign: &str, left: Numeric, right: Numeric) -> Result<Sum, String> {
    let (left, right) = (left.promoted(), right.promoted());
    if let "<<" | ">>" | ">>>" = sign {
        return shift(sign, left, right).map(Sum::Number).ok_or_else(|| unfit(sign));
    }
    let kind = common(left.kind(), right.kind());
    let (left, right) = (left.cast(kind), right.cast(kind));
    if let Some(compared) = compare(sign, left, right) {
        return Ok(Sum::Bool(compared));
    }
    let is_zero = right.as_whole() == Some(0);
    if matches!(sign, "/" | "%") && is_zero {
        return Err("ArithmeticException: / by zero".to_owned());
    }
    reckon(sign, left, right).map(Sum::Number).ok_or_else(|| unfit(sign))
}

fn unfit(sign: &str) -> String {
    format!("TypeMismatch: `{sign}` is not for such numbers")
}

/// In which kind two are reckoned.
fn common(left: NumericKind, right: NumericKind) -> NumericKind {
    use NumericKind as K;
    let has = |it: K| left == it || right == it;
    if has(K::F64) {
        K::F64
    } else if has(K::F32) {
        K::F32
    } else if has(K::U64) {
        K::U64
    } else if has(K::I64) || (has(K::U32) && has(K::I32)) {
        K::I64
    } else if has(K::U32) {
        K::U32
    } else {
        K::I32
    }
}

fn compare(sign: &str, left: Numeric, right: Numeric) -> Option<bool> {
    let order = match (left.as_whole(), right.as_whole()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_real().partial_cmp(&right.as_real()),
    };
    Some(match sign {
        "==" => order.is_some_and(|it| it.is_eq()),
        "!=" => order.is_none_or(|it| it.is_ne()),
        "<" => order.is_some_and(|it| it.is_lt()),
        ">" => order.is_some_and(|it| it.is_gt()),
        "<=" => order.is_some_and(|it| it.is_le()),
        ">=" => order.is_some_and(|it| it.is_ge()),
        _ => return None,
    })
}

fn reckon(sign: &str, left: Numeric, right: Numeric) -> Option<Numeric> {
    macro_rules! whole {
        ($kind:ident, $left:expr, $right:expr) => {
            Numeric::$kind(match sign {
                "+" => $left.wrapping_add($right),
                "-" => $left.wrapping_sub($right),
                "*" => $left.wrapping_mul($right),
                "/" => $left.wrapping_div($right),
                "%" => $left.wrapping_rem($right),
                "&" => $left & $right,
                "|" => $left | $right,
                "^" => $left ^ $right,
                _ => return None,
            })
        };
    }
    macro_rules! real {
        ($kind:ident, $left:expr, $right:expr) => {
            Numeric::$kind(match sign {
                "+" => $left + $right,
                "-" => $left - $right,
                "*" => $left * $right,
                "/" => $left / $right,
                "%" => $left % $right,
                _ => return None,
            })
        };
    }
    Some(match (left, right) {
        (Numeric::I32(left), Numeric::I32(right)) => whole!(I32, left, right),
        (Numeric::U32(left), Numeric::U32(right)) => whole!(U32, left, right),
        (Numeric::I64(left), Numeric::I64(right)) => whole!(I64, left, right),
        (Numeric::U64(left), Numeric::U64(right)) => whole!(U64, left, right),
        (Numeric::F32(left), Numeric::F32(right)) => real!(F32, left, right),
        (Numeric::F64(left), Numeric::F64(right)) => real!(F64, left, right),
        _ => return None,
    })
}

/// The width of the left side counts alone.
fn shift(sign: &str, left: Numeric, right: Numeric) -> Option<Numeric> {
    // Both languages look at the low bits only.
    let by = (right.as_whole()? & 0x3f) as u32;
    Some(match (left, sign) {
        (Numeric::I32(it), "<<") => Numeric::I32(it.wrapping_shl(by)),
        (Numeric::I32(it), ">>") => Numeric::I32(it.wrapping_shr(by)),
        (Numeric::I32(it), ">>>") => {
            Numeric::I32(it.cast_unsigned().wrapping_shr(by).cast_signed())
        }
        (Numeric::U32(it), "<<") => Numeric::U32(it.wrapping_shl(by)),
        (Numeric::U32(it), _) => Numeric::U32(it.wrapping_shr(by)),
        (Numeric::I64(it), "<<") => Numeric::I64(it.wrapping_shl(by)),
        (Numeric::I64(it), ">>") => Numeric::I64(it.wrapping_shr(by)),
        (Numeric::I64(it), ">>>") => {
            Numeric::I64(it.cast_unsigned().wrapping_shr(by).cast_signed())
        }
        (Numeric::U64(it), "<<") => Numeric::U64(it.wrapping_shl(by)),
        (Numeric::U64(it), _) => Numeric::U64(it.wrapping_shr(by)),
        _ => return None,
    })
}

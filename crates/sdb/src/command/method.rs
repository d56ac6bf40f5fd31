//! Methods: names, lines, variables, what they catch.

use super::of;
use crate::{MethodRef, MonoError, MonoRequester, TypeRef, wire::WireReader};

const METHOD: u8 = 22;

/// Where the code of a method comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodLines {
    pub files: Vec<String>,
    pub points: Vec<SequencePoint>,
}

/// Where a statement begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencePoint {
    pub offset: i32,
    pub line: u32,
    pub column: u32,
    /// Which of the files; none for code that nobody wrote.
    pub file: Option<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodParameters {
    pub returns: i32,
    pub types: Vec<TypeRef>,
    pub names: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodLocals {
    pub types: Vec<TypeRef>,
    pub names: Vec<String>,
    /// From the first offset to before the second.
    pub lives: Vec<(i32, i32)>,
}

/// A part of a method in which exceptions of a type, or all of them, are caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatchClause {
    pub from: i32,
    pub to: i32,
    /// None where a filter of the program decides.
    pub kind: Option<TypeRef>,
}

/// Lines that stand for no line.
const HIDDEN: i32 = 0x00fe_efee;

impl MonoRequester {
    pub async fn method_name(&self, method: MethodRef) -> Result<String, MonoError> {
        self.read((METHOD, 1), of(method.0), |it| it.text()).await
    }

    pub async fn declaring_type(&self, method: MethodRef) -> Result<TypeRef, MonoError> {
        self.read((METHOD, 2), of(method.0), |it| it.int().map(TypeRef)).await
    }

    pub async fn lines(&self, method: MethodRef) -> Result<MethodLines, MonoError> {
        self.read((METHOD, 3), of(method.0), lines).await
    }

    pub async fn parameters(&self, method: MethodRef) -> Result<MethodParameters, MonoError> {
        self.read((METHOD, 4), of(method.0), |it| {
            it.int()?;
            let count = usize::try_from(it.int()?).unwrap_or_default();
            it.int()?;
            let returns = it.int()?;
            let types = it.some(count, |it| it.int().map(TypeRef))?;
            let names = it.some(count, |it| it.text())?;
            Ok(MethodParameters { returns, types, names })
        })
        .await
    }

    pub async fn locals(&self, method: MethodRef) -> Result<MethodLocals, MonoError> {
        self.read((METHOD, 5), of(method.0), |it| {
            it.all(|it| Ok((it.int()?, it.int()?)))?;
            let types = it.all(|it| it.int().map(TypeRef))?;
            let names = it.some(types.len(), |it| it.text())?;
            let lives = it.some(types.len(), |it| Ok((it.int()?, it.int()?)))?;
            Ok(MethodLocals { types, names, lives })
        })
        .await
    }

    pub async fn is_static(&self, method: MethodRef) -> Result<bool, MonoError> {
        self.read((METHOD, 6), of(method.0), |it| Ok(it.int()? & 0x10 != 0)).await
    }

    /// What the method catches; `finally` catches nothing.
    pub async fn catches(&self, method: MethodRef) -> Result<Vec<CatchClause>, MonoError> {
        self.read((METHOD, 7), of(method.0), |it| {
            let code = it.count()?;
            it.bytes(code)?;
            Ok(it.all(clause)?.into_iter().flatten().collect())
        })
        .await
    }
}

fn lines(it: &mut WireReader<'_>) -> Result<MethodLines, MonoError> {
    it.int()?;
    let files = it.all(|it| {
        let file = it.text()?;
        it.bytes(16)?;
        Ok(file)
    })?;
    let points = it.all(|it| {
        let (offset, line, file) = (it.int()?, it.int()?, it.int()?);
        let column = it.int()?;
        it.int()?;
        it.int()?;
        let file = usize::try_from(file).ok().filter(|_| line != HIDDEN && line > 0);
        let number = |it: i32| u32::try_from(it).unwrap_or_default();
        Ok(SequencePoint { offset, line: number(line), column: number(column), file })
    })?;
    Ok(MethodLines { files, points })
}

fn clause(it: &mut WireReader<'_>) -> Result<Option<CatchClause>, MonoError> {
    let flags = it.int()?;
    let (from, length) = (it.int()?, it.int()?);
    it.int()?;
    it.int()?;
    let to = from.saturating_add(length);
    Ok(match flags {
        0 => Some(CatchClause { from, to, kind: Some(TypeRef(it.int()?)) }),
        1 => it.int().map(|_| Some(CatchClause { from, to, kind: None }))?,
        _ => None,
    })
}

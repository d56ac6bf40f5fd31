//! The bytes being read, and how far.

use crate::fault::{Fault, FaultKind};

#[derive(Debug)]
pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Input { bytes, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn fault(&self, kind: FaultKind) -> Fault {
        Fault { at: self.at, kind }
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        let byte = self.bytes.get(self.at).ok_or_else(|| self.fault(FaultKind::Truncated))?;
        self.at += 1;
        Ok(*byte)
    }

    /// The next bytes. A length that lies costs nothing: there is no copy and no allocation.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(count);
        let found = end.and_then(|end| Some((self.bytes.get(self.at..end)?, end)));
        let (bytes, end) = found.ok_or_else(|| self.fault(FaultKind::Truncated))?;
        self.at = end;
        Ok(bytes)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| self.fault(FaultKind::Truncated))
    }

    pub(super) fn u16(&mut self) -> Result<u16, Fault> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Bytes with their length before them, of one, four or eight bytes.
    #[inline]
    pub(super) fn counted1(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.byte()?;
        self.take(count.into())
    }

    pub(super) fn counted4(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.u32()?;
        self.take(count as usize)
    }

    pub(super) fn counted8(&mut self) -> Result<&'a [u8], Fault> {
        let count = u64::from_le_bytes(self.array()?);
        let count = usize::try_from(count).map_err(|_| self.fault(FaultKind::Truncated))?;
        self.take(count)
    }

    /// The rest of the line, without its end.
    pub(super) fn line(&mut self) -> Result<&'a [u8], Fault> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n');
        let length = length.ok_or_else(|| self.fault(FaultKind::Truncated))?;
        let line = self.take(length)?;
        self.at += 1;
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

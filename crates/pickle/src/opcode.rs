//! The opcodes of pickle protocols 0 to 5, as CPython's `pickletools` lists them.

macro_rules! opcodes {
    ($($name:ident = $byte:literal,)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Op {
            $($name,)*
        }

        impl Op {
            #[inline]
            pub(crate) fn of(byte: u8) -> Option<Op> {
                match byte {
                    $($byte => Some(Op::$name),)*
                    _ => None,
                }
            }
        }
    };
}

opcodes! {
    // The machine.
    Mark = b'(',
    Stop = b'.',
    Pop = b'0',
    PopMark = b'1',
    Dup = b'2',
    Proto = 0x80,
    Frame = 0x95,
    // The memo.
    Get = b'g',
    BinGet = b'h',
    LongBinGet = b'j',
    Put = b'p',
    BinPut = b'q',
    LongBinPut = b'r',
    Memoize = 0x94,
    // Constants and numbers.
    None = b'N',
    NewTrue = 0x88,
    NewFalse = 0x89,
    Int = b'I',
    BinInt = b'J',
    BinInt1 = b'K',
    BinInt2 = b'M',
    Long = b'L',
    Long1 = 0x8a,
    Long4 = 0x8b,
    Float = b'F',
    BinFloat = b'G',
    // Text and bytes.
    String = b'S',
    BinString = b'T',
    ShortBinString = b'U',
    Unicode = b'V',
    BinUnicode = b'X',
    ShortBinUnicode = 0x8c,
    BinUnicode8 = 0x8d,
    BinBytes = b'B',
    ShortBinBytes = b'C',
    BinBytes8 = 0x8e,
    ByteArray8 = 0x96,
    NextBuffer = 0x97,
    ReadonlyBuffer = 0x98,
    // Containers.
    EmptyList = b']',
    List = b'l',
    Append = b'a',
    Appends = b'e',
    EmptyTuple = b')',
    Tuple = b't',
    Tuple1 = 0x85,
    Tuple2 = 0x86,
    Tuple3 = 0x87,
    EmptyDict = b'}',
    Dict = b'd',
    SetItem = b's',
    SetItems = b'u',
    EmptySet = 0x8f,
    AddItems = 0x90,
    FrozenSet = 0x91,
    // Names and objects.
    Global = b'c',
    StackGlobal = 0x93,
    Reduce = b'R',
    Build = b'b',
    Inst = b'i',
    Obj = b'o',
    NewObj = 0x81,
    NewObjEx = 0x92,
    PersId = b'P',
    BinPersId = b'Q',
    Ext1 = 0x82,
    Ext2 = 0x83,
    Ext4 = 0x84,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_68_of_them() {
        assert_eq!((0..=255).filter_map(Op::of).count(), 68);
    }
}

"""How lldb shows values of Rust and C++ for Holdpoint: containers with their parts, enums by the variant that they
are. Loaded by lldb's own Python. Nothing here calls into the program; all loops are bounded, for what is read may be
anything before a variable has its value."""

import inspect
import struct

import lldb

PARTS = 8  # of a container, in one line
TEXT = 200  # characters of a text, in one line
DEPTH = 3
STRING = 4096  # bytes that are read of a text
ITEMS = 10000  # of a container that are listed


def bytes_at(value, address, count):
    if address is None:
        return None
    if count == 0 or address == 0:
        return b""
    error = lldb.SBError()
    read = value.GetProcess().ReadMemory(address, min(count, STRING), error)
    return read if error.Success() and read else None


def quoted(raw, count):
    if raw is None:
        return "<cannot be read>"
    text = raw.decode("utf-8", "replace").replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace("\n", "\\n").replace("\t", "\\t")
    more = "…" if count > len(raw) or len(text) > TEXT else ""
    return '"' + text[:TEXT] + more + '"'


def field(value, *names):
    for name in names:
        if not value.IsValid():
            return value
        value = value.GetNonSyntheticValue().GetChildMemberWithName(name)
    return value


def pointed(value):
    """What a reference to it leads to: only that has the types of what is in it."""
    kind = value.GetType()
    return value.Dereference() if kind.IsPointerType() or kind.IsReferenceType() else value


def pointer(value):
    """The address inside of Unique, NonNull, Box and the like."""
    for _ in range(8):
        value = value.GetNonSyntheticValue()
        if value.GetType().IsPointerType() or value.GetNumChildren() == 0:
            return value
        value = value.GetChildAtIndex(0)
    return value


# ---- Rust

def vec_fields(value):
    """Where a Vec has the address and the number of what it has."""
    buf = field(value, "buf")
    inner = field(buf, "inner")
    return pointer(field(inner if inner.IsValid() else buf, "ptr")), field(value, "len")


def vec_parts(value):
    """The address, the number and the type of what a Vec has."""
    start, count = vec_fields(value)
    kind = value.GetNonSyntheticValue().GetType().GetTemplateArgumentType(0)
    return start.GetValueAsUnsigned(0), count.GetValueAsUnsigned(0), kind


def slice_parts(value):
    value = value.GetNonSyntheticValue()
    data = field(value, "data_ptr")
    return data.GetValueAsUnsigned(0), field(value, "length").GetValueAsUnsigned(0), data.GetType().GetPointeeType()


LAYOUTS = {}  # of a String, by the module that its type is of


def string_parts(value):
    """The address and the length of a String's text. Where they lie in it is found out once."""
    value = value.GetNonSyntheticValue()
    at = value.GetLoadAddress()
    if at == lldb.LLDB_INVALID_ADDRESS or value.GetByteSize() != 24:
        return vec_parts(field(value, "vec"))[:2]
    key = value.GetType().GetModule().GetUUIDString()
    if key not in LAYOUTS:
        vec = field(value, "vec")
        places = tuple(it.GetLoadAddress() - at for it in vec_fields(vec))
        if not all(0 <= it <= 16 for it in places):
            return vec_parts(vec)[:2]
        LAYOUTS[key] = places
    error = lldb.SBError()
    raw = value.GetProcess().ReadMemory(at, 24, error)
    if not error.Success() or not raw or len(raw) != 24:
        return None, 0
    return tuple(struct.unpack_from("<Q", raw, it)[0] for it in LAYOUTS[key])


def string_summary(value, _):
    start, count = string_parts(value)
    return quoted(bytes_at(value, start, count), count)


def str_summary(value, _):
    start, count, _kind = slice_parts(value)
    return quoted(bytes_at(value, start, count), count)


def path_summary(value, _):
    for _step in range(8):
        value = value.GetNonSyntheticValue()
        if value.GetTypeName().startswith("alloc::vec::Vec<"):
            start, count, _kind = vec_parts(value)
            return quoted(bytes_at(value, start, count), count)
        if value.GetNumChildren() == 0:
            return None
        value = value.GetChildAtIndex(0)
    return None


class Sequence:
    """What lies in a row in memory."""

    def __init__(self, value, _):
        self.value = pointed(value)

    def parts(self):
        return vec_parts(self.value)

    def update(self):
        self.start, self.count, self.kind = self.parts()
        self.size = self.kind.GetByteSize() if self.kind.IsValid() else 0
        if not self.kind.IsValid() or self.count > 1 << 40:
            self.count = 0
        return False

    def has_children(self):
        return True

    def num_children(self, limit=ITEMS):
        return min(self.count, ITEMS)

    def get_child_index(self, name):
        try:
            return int(name.strip("[]"))
        except ValueError:
            return -1

    def get_child_at_index(self, index):
        if not 0 <= index < self.count:
            return None
        address = self.start + index * self.size
        return self.value.CreateValueFromAddress("[%d]" % index, address, self.kind)


class Slice(Sequence):
    def parts(self):
        return slice_parts(self.value)


class Ring(Sequence):
    """A VecDeque: a row that may begin in its middle."""

    def parts(self):
        value = self.value.GetNonSyntheticValue()
        self.head = field(value, "head").GetValueAsUnsigned(0)
        buf = field(value, "buf")
        inner = field(buf, "inner")
        inner = inner if inner.IsValid() else buf
        cap = field(inner, "cap")
        for _ in range(4):
            if cap.GetNumChildren() == 0:
                break
            cap = cap.GetNonSyntheticValue().GetChildAtIndex(0)
        self.cap = cap.GetValueAsUnsigned(0)
        start = pointer(field(inner, "ptr")).GetValueAsUnsigned(0)
        return start, field(value, "len").GetValueAsUnsigned(0), value.GetType().GetTemplateArgumentType(0)

    def get_child_at_index(self, index):
        if not 0 <= index < self.count or self.cap == 0:
            return None
        address = self.start + ((self.head + index) % self.cap) * self.size
        return self.value.CreateValueFromAddress("[%d]" % index, address, self.kind)


class Listed:
    """What has to be walked over first."""

    def __init__(self, value, _):
        self.value = pointed(value)
        self.items = []

    def has_children(self):
        return True

    def num_children(self, limit=ITEMS):
        return len(self.items)

    def get_child_index(self, name):
        for index, (own, _address, _kind) in enumerate(self.items):
            if own == name:
                return index
        return -1

    def get_child_at_index(self, index):
        if not 0 <= index < len(self.items):
            return None
        name, address, kind = self.items[index]
        return self.value.CreateValueFromAddress(name, address, kind)


class Hashed(Listed):
    """A HashMap or HashSet: what is in its buckets, which lie before the bytes that say so."""

    def update(self):
        self.items = []
        value = self.value.GetNonSyntheticValue()
        for name in ("base", "map", "base"):
            inner = field(value, name)
            value = inner if inner.IsValid() else value
        inner = field(value, "table", "table")
        control = pointer(field(inner, "ctrl")).GetValueAsUnsigned(0)
        mask = field(inner, "bucket_mask").GetValueAsUnsigned(0)
        kind = field(value, "table").GetType().GetTemplateArgumentType(0)
        if not kind.IsValid() or mask > 1 << 24 or control == 0:
            return False
        error = lldb.SBError()
        marks = self.value.GetProcess().ReadMemory(control, mask + 1, error)
        if not error.Success() or not marks:
            return False
        size = kind.GetByteSize()
        is_set = "HashSet<" in self.value.GetTypeName()
        for index, mark in enumerate(marks):
            if mark & 0x80 == 0 and len(self.items) < ITEMS:
                address = control - (index + 1) * size
                found = kind.GetFieldAtIndex(0).GetType() if is_set else kind
                self.items.append(("[%d]" % len(self.items), address, found))
        return False


class Tree(Listed):
    """A BTreeMap or BTreeSet."""

    def update(self):
        self.items = []
        value = self.value.GetNonSyntheticValue()
        inner = field(value, "map")
        value = inner if inner.IsValid() else value
        count = field(value, "length").GetValueAsUnsigned(0)
        if count == 0 or count > 1 << 40:
            return False
        root = variant_of(field(value, "root"))
        root = root.GetNonSyntheticValue().GetChildAtIndex(0) if root else None
        if root is None or not root.IsValid():
            return False
        height = field(root, "height").GetValueAsUnsigned(0)
        node = pointer(field(root, "node"))
        if height > 12:
            return False
        leaf = node.GetType().GetPointeeType()
        name = leaf.GetName().replace("::LeafNode<", "::InternalNode<", 1)
        self.leaf, self.inner = leaf, self.value.GetTarget().FindFirstType(name)
        self.is_set = "BTreeSet<" in self.value.GetTypeName()
        self.walk(node.GetValueAsUnsigned(0), height)
        return False

    def walk(self, address, height):
        if address == 0 or len(self.items) >= ITEMS:
            return
        leaf = self.value.CreateValueFromAddress("node", address, self.leaf).GetNonSyntheticValue()
        count = min(field(leaf, "len").GetValueAsUnsigned(0), 11)
        keys, values = field(leaf, "keys"), field(leaf, "vals")
        edges = None
        if height > 0 and self.inner.IsValid():
            whole = self.value.CreateValueFromAddress("node", address, self.inner).GetNonSyntheticValue()
            edges = field(whole, "edges")
        for index in range(count + 1):
            if edges is not None:
                edge = pointer(inside(edges.GetNonSyntheticValue().GetChildAtIndex(index)))
                self.walk(edge.GetValueAsUnsigned(0), height - 1)
            if index < count and len(self.items) < ITEMS:
                key = inside(keys.GetNonSyntheticValue().GetChildAtIndex(index))
                item = inside(values.GetNonSyntheticValue().GetChildAtIndex(index))
                number = "[%d]" % len(self.items)
                if self.is_set:
                    self.items.append((number, key.GetLoadAddress(), key.GetType()))
                else:
                    self.items.append(("[" + preview(key, 1) + "]", item.GetLoadAddress(), item.GetType()))


class Unordered(Listed):
    """An unordered map or set of libstdc++: a list from one element to the next."""

    def update(self):
        self.items = []
        table = field(self.value, "_M_h")
        count = field(table, "_M_element_count").GetValueAsUnsigned(0)
        kind = table.GetType().GetTemplateArgumentType(1)
        node = field(table, "_M_before_begin", "_M_nxt").GetValueAsUnsigned(0)
        error = lldb.SBError()
        while node and kind.IsValid() and len(self.items) < min(count, ITEMS):
            self.items.append(("[%d]" % len(self.items), node + 8, kind))
            node = self.value.GetProcess().ReadPointerFromMemory(node, error)
            if not error.Success():
                break
        return False


def optional_summary(value, _):
    payload = field(value, "_M_payload")
    engaged = field(payload, "_M_engaged")
    if not engaged.IsValid():
        return None
    if engaged.GetValueAsUnsigned(0) == 0:
        return "nullopt"
    return preview(field(payload, "_M_payload", "_M_value"), 1)


def inside(value):
    """What a MaybeUninit or ManuallyDrop has."""
    for _ in range(6):
        name = value.GetTypeName() or ""
        if "MaybeUninit<" not in name and "ManuallyDrop<" not in name and "MaybeDangling<" not in name:
            return value
        inner = value.GetNonSyntheticValue()
        value = inner.GetChildMemberWithName("value")
        if not value.IsValid():
            value = inner.GetChildAtIndex(0)
    return value


def is_enum(kind, _):
    return kind.GetNumberOfFields() == 1 and kind.GetFieldAtIndex(0).GetName() == "$variants$"


def leaf_at(kind, offset, depth=0):
    """The names of what lies at an offset of a type, down to a number or pointer."""
    names = [kind.GetName() or ""]
    for index in range(min(kind.GetNumberOfFields(), 64)):
        one = kind.GetFieldAtIndex(index)
        begin = one.GetOffsetInBytes()
        if begin <= offset < begin + max(one.GetType().GetByteSize(), 1) and depth < 16:
            return names + leaf_at(one.GetType(), offset - begin, depth + 1)
    return names


def variant_of(value):
    """The variant that a value is; None where that cannot be known.

    lldb keeps 32 bits of the number by which a variant is known. Where a number of 64 bits is in the place of
    another value, that is the capacity of a Vec or String: its spare numbers begin at 2**63."""
    value = value.GetNonSyntheticValue()
    union = value.GetChildMemberWithName("$variants$")
    if not union.IsValid():
        return None
    default, numbered = None, []
    for index in range(min(union.GetNumChildren(), 4096)):
        one = union.GetChildAtIndex(index)
        name = one.GetName() or ""
        if name == "$variant$":
            default = one
        elif name.startswith("$variant$"):
            numbered.append((int(name[len("$variant$"):]), one))
    tag = None
    for _number, one in numbered:
        tag = one.GetChildMemberWithName("$discr$")
        if tag.IsValid():
            break
    if tag is None or not tag.IsValid():
        only = default if default is not None else (numbered[0][1] if len(numbered) == 1 else None)
        return only.GetChildMemberWithName("value") if only is not None else None
    size = tag.GetByteSize()
    now = tag.GetValueAsUnsigned(0) & ((1 << (8 * size)) - 1)
    spare = False
    if size == 8 and default is not None:
        kind = numbered[0][1].GetType()
        offset = 0
        for index in range(kind.GetNumberOfFields()):
            if kind.GetFieldAtIndex(index).GetName() == "$discr$":
                offset = kind.GetFieldAtIndex(index).GetOffsetInBytes()
        names = leaf_at(default.GetChildMemberWithName("value").GetType(), offset)
        spare = any("NoHighBit" in it or it.endswith("::Cap") for it in names)
    for number, one in numbered:
        wanted = number & ((1 << (8 * min(size, 4))) - 1)
        if spare:
            wanted += 1 << 63
        if now == wanted:
            return one.GetChildMemberWithName("value")
    return default.GetChildMemberWithName("value") if default is not None else None


class Enum:
    def __init__(self, value, _):
        self.value = value
        self.variant = None

    def update(self):
        self.variant = variant_of(self.value)
        return False

    def has_children(self):
        return self.num_children() > 0

    def num_children(self, limit=ITEMS):
        return self.variant.GetNonSyntheticValue().GetNumChildren() if self.variant else 0

    def get_child_index(self, name):
        return self.variant.GetNonSyntheticValue().GetIndexOfChildWithName(name) if self.variant else -1

    def get_child_at_index(self, index):
        if not self.variant:
            return None
        child = self.variant.GetNonSyntheticValue().GetChildAtIndex(index)
        name = (child.GetName() or "").replace("__", "", 1)
        return child.Clone(name) if name.isdigit() else child


def enum_summary(value, _):
    variant = variant_of(value)
    if variant is None:
        return "<no variant that is known>"
    # A value's own type name may have the width of a bit field behind it.
    name = variant.GetType().GetName() or ""
    depth, start = 0, 0
    for index, one in enumerate(name):
        if one == "<":
            depth += 1
        elif one == ">":
            depth -= 1
        elif one == ":" and depth == 0:
            start = index + 1
    name = name[start:].split("<")[0]
    inner = variant.GetNonSyntheticValue()
    parts = [inner.GetChildAtIndex(index) for index in range(min(inner.GetNumChildren(), PARTS))]
    if not parts:
        return name
    if (parts[0].GetName() or "").startswith("__"):
        return "%s(%s)" % (name, ", ".join(preview(it, 1) for it in parts))
    return "%s {%s}" % (name, ", ".join("%s: %s" % (it.GetName(), preview(it, 1)) for it in parts))


class Shared:
    """What an Rc or Arc has, with its counts."""

    def __init__(self, value, _):
        self.value = value
        self.inner = None

    def update(self):
        held = pointer(field(self.value, "ptr"))
        self.inner = held.Dereference().GetNonSyntheticValue() if held.GetType().IsPointerType() else None
        return False

    def has_children(self):
        return True

    def held(self):
        if self.inner is None or not self.inner.IsValid():
            return None
        value = self.inner.GetChildMemberWithName("value")
        return value if value.IsValid() else self.inner.GetChildMemberWithName("data")

    def num_children(self, limit=ITEMS):
        return 1 if self.held() is not None else 0

    def get_child_index(self, name):
        return 0 if name == "value" else -1

    def get_child_at_index(self, index):
        held = self.held()
        return held.Clone("value") if held is not None else None


def shared_summary(value, _):
    held = Shared(value, None)
    held.update()
    inner = held.held()
    return preview(inner, 1) if inner is not None and inner.IsValid() else None


def cell_summary(value, _):
    """Cell, RefCell, Mutex: what they have."""
    inner = field(value, "value")
    if not inner.IsValid():
        inner = field(value, "data")
    inner = field(inner, "value") if field(inner, "value").IsValid() else inner
    return preview(inner, 1) if inner.IsValid() else None


def tuple_summary(value, _):
    inner = value.GetNonSyntheticValue()
    count = min(inner.GetNumChildren(), 32)
    return "(" + ", ".join(preview(inner.GetChildAtIndex(it), 1) for it in range(count)) + ")"


# ---- references to what has no parts: lldb shows their address alone

def is_plain(kind):
    kind = kind.GetCanonicalType()
    return kind.IsPointerType() or kind.GetBasicType() not in (lldb.eBasicTypeInvalid, lldb.eBasicTypeVoid)


def is_reference(kind, _):
    return kind.IsReferenceType() and is_plain(kind.GetDereferencedType())


def is_pointer(kind, _):
    return kind.IsPointerType() and is_plain(kind.GetPointeeType())


def referred(value, _):
    if value.GetValueAsUnsigned(0) == 0:
        return "<refers to nothing yet>"
    for _step in range(4):
        value = value.Dereference()
        if not value.GetType().IsPointerType():
            break
    return preview(value, 1) if value.GetError().Success() else "<cannot be read>"


# ---- all of them

def preview(value, depth=0):
    """A value in one line."""
    summary = value.GetSummary()
    if summary:
        return summary
    plain = value.GetValue()
    if plain is not None and not value.GetType().IsAggregateType():
        return plain
    return parts(value, depth) if depth <= DEPTH else "{…}"


def parts(value, depth):
    count = value.GetNumChildren()
    shown = []
    for index in range(min(count, PARTS)):
        child = value.GetChildAtIndex(index)
        name = child.GetName() or ""
        text = preview(child, depth + 1)
        is_number = name.startswith("[") and name[1:-1].isdigit()
        shown.append(text if is_number else "%s: %s" % (name.strip("[]") if name.startswith("[") else name, text))
    if count > PARTS:
        shown.append("… %d more" % (count - PARTS))
    return "{" + ", ".join(shown) + "}"


def container_summary(value, _):
    text = parts(value, 1)
    return "[" + text[1:-1] + "]"


def map_summary(value, _):
    count = value.GetNumChildren()
    shown = []
    has_keys = "BTreeMap<" in (value.GetTypeName() or "")
    for index in range(min(count, PARTS)):
        child = value.GetChildAtIndex(index)
        name = child.GetName() or ""
        inner = child.GetNonSyntheticValue()
        if has_keys:
            shown.append("%s: %s" % (name[1:-1], preview(child, 2)))
        elif name[1:-1].isdigit() and inner.GetNumChildren() >= 2:
            key, item = inner.GetChildAtIndex(0), inner.GetChildAtIndex(1)
            shown.append("%s: %s" % (preview(key, 2), preview(item, 2)))
        elif name[1:-1].isdigit():
            shown.append(preview(child, 2))
        else:
            shown.append("%s: %s" % (name[1:-1], preview(child, 2)))
    if count > PARTS:
        shown.append("… %d more" % (count - PARTS))
    return "{" + ", ".join(shown) + "}"


RUST = [
    (r"^alloc::string::String$", None, "string_summary"),
    (r"^&(mut )?str$", None, "str_summary"),
    (r"^alloc::boxed::Box<str>$", None, "str_summary"),
    (r"^std::(path::PathBuf|ffi::os_str::OsString)$", None, "path_summary"),
    (r"^alloc::vec::Vec<.+>$", "Sequence", "container_summary"),
    (r"^&(mut )?\[.+\]$", "Slice", "container_summary"),
    (r"^alloc::collections::vec_deque::VecDeque<.+>$", "Ring", "container_summary"),
    (r"^std::collections::hash::(map::HashMap|set::HashSet)<.+>$", "Hashed", "map_summary"),
    (r"^alloc::collections::btree::(map::BTreeMap|set::BTreeSet)<.+>$", "Tree", "map_summary"),
    (r"^alloc::(rc::Rc|sync::Arc)<.+>$", "Shared", "shared_summary"),
    (r"^core::cell::(Cell|RefCell)<.+>$", None, "cell_summary"),
    (r"^\(.+\)$", None, "tuple_summary"),
]

CPP = [
    (r"^std::(__\w+::)?(vector|list|deque|array|forward_list|initializer_list)<.+>$", None, "container_summary"),
    (r"^std::(__\w+::)?(multi)?(map|set)<.+>$", None, "map_summary"),
    (r"^std::(__\w+::)?unordered_(multi)?(map|set)<.+>$", "Unordered", "map_summary"),
    (r"^std::optional<.+>$", None, "optional_summary"),
]


def known(*owners):
    """lldb asks for a function's signature whenever it calls it, which takes longer than most of them do."""
    for one in owners:
        one.__signature__ = inspect.signature(one)


def __lldb_init_module(debugger, _):
    for one in list(globals().values()):
        if inspect.isclass(one):
            known(one, *(it for it in vars(one).values() if inspect.isfunction(it)))
        elif inspect.isfunction(one):
            known(one)

    def run(command):
        debugger.HandleCommand(command)

    own = "holdpoint_values."
    for pattern, synthetic, summary in RUST + CPP:
        if synthetic:
            run('type synthetic add -w holdpoint -l %s%s -x "%s"' % (own, synthetic, pattern))
        run('type summary add -w holdpoint -e -F %s%s -x "%s"' % (own, summary, pattern))
    run("type synthetic add -w holdpoint -l %sEnum --recognizer-function %sis_enum" % (own, own))
    run("type summary add -w holdpoint -e -F %senum_summary --recognizer-function %sis_enum" % (own, own))
    run("type summary add -w holdpoint -e -F %sreferred --recognizer-function %sis_reference" % (own, own))
    run("type category enable holdpoint")

//! What a Python user would recognise: every value, by every pickler, in every protocol.

use std::collections::HashSet;

use holdpoint_pickle::{Limits, Pickle, Show};

use super::{Row, rows};

/// The texts that a value may have. More than one only where Python itself says less in an older
/// protocol, or another in a newer version.
const EXPECTED: &[(&str, &[&str])] = &[
    ("none", &["None"]),
    ("true", &["True"]),
    ("int", &["5"]),
    ("negative", &["-300"]),
    ("int64", &["4611686018427387904"]),
    ("big", &["1180591620717411303424"]),
    ("big_negative", &["-1180591620717411303424"]),
    ("float", &["1.5"]),
    ("nan", &["nan"]),
    ("huge_float", &["1e+100"]),
    ("str", &[r#""it's""#]),
    ("unicode", &[r"'é € 😀 \n \\ \x00'"]),
    ("surrogate", &[r"'a\ud800b'"]),
    ("bytes", &[r#"b"a\xff'""#]),
    ("empty_bytes", &["b''"]),
    ("bytearray", &["bytearray(b'ab')"]),
    ("list", &["[1, [2, []]]"]),
    ("tuples", &["((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4))"]),
    ("dict", &["{'a': 1, 2: None, (1, 2): [3]}"]),
    ("set", &["{1}"]),
    ("empty_set", &["set()"]),
    ("frozenset", &["frozenset({1})"]),
    ("complex", &["(1+2j)"]),
    ("imaginary", &["(-0-2.5j)"]),
    ("range", &["range(0, 3)"]),
    ("range_step", &["range(0, 10, 3)"]),
    ("slice", &["slice(1, 2, None)"]),
    ("ellipsis", &["Ellipsis"]),
    ("not_implemented", &["NotImplemented"]),
    ("type_int", &["<class 'int'>"]),
    ("type_error", &["<class 'ValueError'>"]),
    ("type_none", &["<class 'NoneType'>"]),
    ("builtin", &["<built-in function len>"]),
    ("item", &["Item(name='pen', price=1.5)"]),
    ("class", &["shop.Item"]),
    ("colour", &["Colour(1)", "Colour.RED"]),
    ("slots", &["Slots(a=1, b=[2])"]),
    // dill sends the names of the fields along.
    ("point", &["Point(1, 2)", "Point(x=1, y=2)"]),
    ("function", &["shop.total"]),
    ("failed", &["Failed('m', 3)"]),
    ("stack", &["Stack([1, 2], label='s')"]),
    ("registry", &["Registry({'a': 1})"]),
    ("counted", &["Counted(__state__=7)"]),
    ("cart", &["Cart(items=[])"]),
    ("bound", &["<bound method Cart.add of Cart(items=[])>"]),
    ("value_error", &["ValueError('x')"]),
    ("noted", &["ValueError('x', hint='look')"]),
    // Python 2 knew no `FileNotFoundError`.
    (
        "not_found",
        &["FileNotFoundError(2, 'No such file', 'a.txt')", "OSError(2, 'No such file', 'a.txt')"],
    ),
    ("key_error", &["KeyError('k')"]),
    ("datetime", &["datetime.datetime(2024, 1, 2, 3, 4, 5, 6)"]),
    ("datetime_utc", &["datetime.datetime(2024, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)"]),
    // The fold came with protocol 4.
    (
        "datetime_zone",
        &[
            "datetime.datetime(2024, 1, 2, 0, 0, fold=1, tzinfo=zoneinfo.ZoneInfo(key='Europe/Berlin'))",
            "datetime.datetime(2024, 1, 2, 0, 0, tzinfo=zoneinfo.ZoneInfo(key='Europe/Berlin'))",
        ],
    ),
    ("date", &["datetime.date(2024, 1, 2)"]),
    ("time", &["datetime.time(1, 2, 3)"]),
    ("timedelta", &["datetime.timedelta(days=1, seconds=2, microseconds=3)"]),
    ("timedelta_zero", &["datetime.timedelta(0)"]),
    ("timezone", &["datetime.timezone(datetime.timedelta(seconds=7200))"]),
    ("decimal", &["Decimal('1.50')"]),
    ("fraction", &["Fraction(1, 2)"]),
    ("uuid", &["UUID('12345678-1234-5678-9234-567812345678')"]),
    ("path", &["PurePosixPath('/a/b c')"]),
    ("relative_path", &["PurePosixPath('a')"]),
    ("ordered", &["OrderedDict({'a': 1})"]),
    ("default", &["defaultdict(<class 'list'>, {'a': [1]})"]),
    ("counter", &["Counter({'a': 2, 'b': 1})"]),
    ("deque", &["deque([1, 2], maxlen=5)"]),
    ("deque_free", &["deque([1])"]),
    ("namespace", &["namespace(a=1)"]),
    ("partial", &["functools.partial(shop.total, [1], tax=0)"]),
    ("regex", &["re.compile('a+', re.IGNORECASE)"]),
    ("address", &["IPv4Address('1.2.3.4')"]),
    ("address6", &["IPv6Address('::1')"]),
    ("logger", &["getLogger('shop')"]),
    // Since protocol 3 it is its memory and the format of it.
    (
        "array_module",
        &[
            "array('i', [1, 2])",
            r"_array_reconstructor(array.array, 'i', 8, b'\x01\x00\x00\x00\x02\x00\x00\x00')",
        ],
    ),
    ("cycle", &["[1, <cycle: the whole>]"]),
    ("tree", &["Node(parent=None, children=[Node(parent=<cycle: the whole>, children=[])])"]),
    ("shared", &["[[1], [1]]"]),
    ("np_array", &["array([0, 1, 2, 3, 4, 5], shape=(2, 3), dtype=int64)"]),
    ("np_long", &["array(shape=(50, 40), dtype=float64)"]),
    ("np_float32", &["array([0.1, -2.0], shape=(2,), dtype=float32)"]),
    ("np_bool", &["array([True, False], shape=(2,), dtype=bool)"]),
    ("np_objects", &["array(shape=(2,), dtype=object)"]),
    ("np_strings", &["array(shape=(2,), dtype=<U2)"]),
    ("np_scalar", &["np.float64(1.5)"]),
    ("np_int", &["np.int32(-7)"]),
    ("np_dtype", &["dtype('int32')"]),
    ("np_big_endian", &["array([1, 2], shape=(2,), dtype=>int32)"]),
    ("np_date", &["array(shape=(1,), dtype=datetime64[D])"]),
    ("np_empty", &["array([], shape=(0,), dtype=float64)"]),
    ("local_item", &["LocalItem(name='pen', price=1.5)"]),
    ("local_class", &["<class '__main__.LocalItem'>"]),
    // dill names the class of an enum in `__main__`, cloudpickle sends it along.
    ("local_colour", &["LocalColour(1)", "<LocalColour.RED: 1>"]),
    ("local_failed", &["LocalFailed('bad')"]),
    ("local_point", &["LocalPoint(x=1, y=2)"]),
    ("local_bound", &["<bound method LocalCart.add of LocalCart()>"]),
    ("add", &["<function add(a, b=2, *args, c=3, **kw) at app.py:21>"]),
    ("strict", &["<function strict(a, /, b, *, c) at app.py:24>"]),
    ("fetch", &["<async function fetch(url) at app.py:27>"]),
    ("count", &["<generator function count(n) at app.py:30>"]),
    ("double", &["<function <lambda>(x) at app.py:39>"]),
    ("inner", &["<function outer.<locals>.inner(x=None) at app.py:35>"]),
    ("code", &["<code object add at app.py:21>"]),
    ("cell", &["<cell: 42>"]),
    ("module", &["<module 'json'>"]),
    ("proxy", &["mappingproxy({1: 2})"]),
];

fn read(row: &Row) -> Pickle<'_> {
    let Row { name, maker, protocol, bytes } = row;
    Pickle::read(bytes, &Limits::default())
        .unwrap_or_else(|fault| panic!("{name} of {maker} in protocol {protocol}: {fault}"))
}

fn show(pickle: &Pickle<'_>, path: &str) -> String {
    pickle.render(pickle.find(path).unwrap(), Show::default())
}

#[test]
fn everything_that_python_pickles_is_recognised() {
    let mut wrong = Vec::new();
    for row in rows() {
        let expected = EXPECTED.iter().find(|(name, _)| *name == row.name);
        let (_, texts) = expected.unwrap_or_else(|| panic!("nothing expected of {}", row.name));
        let pickle = read(row);
        let text = show(&pickle, "");
        if !texts.contains(&text.as_str()) {
            wrong.push(format!("{} {} {}: {text}", row.name, row.maker, row.protocol));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_value_and_every_pickler_was_seen() {
    let names: HashSet<&str> = rows().iter().map(|row| row.name.as_str()).collect();
    let missing: Vec<_> = EXPECTED.iter().filter(|(name, _)| !names.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let of = |maker: &str| rows().iter().filter(|row| row.maker == maker).count();
    let counts = ["pickle", "dill", "cloudpickle"].map(of);
    assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
}

/// Of a value of that name: paths, and what is there.
const INSIDE: &[(&str, &[(&str, &str)])] = &[
    ("item", &[("name", "'pen'"), (".price", "1.5")]),
    ("local_item", &[("name", "'pen'"), (".price", "1.5")]),
    ("dict", &[("['a']", "1"), ("a", "1"), ("[2]", "None"), ("{2}[0]", "3")]),
    ("list", &[("[1][0]", "2"), ("[-1]", "[2, []]")]),
    ("slots", &[("b[0]", "2")]),
    ("stack", &[("[0]", "1"), ("[-1]", "2"), ("label", "'s'")]),
    ("registry", &[("['a']", "1")]),
    ("counter", &[("['b']", "1")]),
    ("deque", &[("[1]", "2"), ("maxlen", "5")]),
    ("failed", &[("[0]", "'m'"), ("args[1]", "3")]),
    ("partial", &[("func", "shop.total"), ("[0][0]", "1"), ("tax", "0")]),
    ("local_point", &[("x", "1"), ("[1]", "2")]),
    ("bound", &[("__self__.items", "[]")]),
    ("inner", &[("__closure__[0].cell_contents", "42"), ("x", "None")]),
    ("add", &[("b", "2"), ("c", "3")]),
    ("tree", &[("children[0].parent.children[0].children", "[]")]),
    ("np_objects", &[("data[1]", "1")]),
    ("local_class", &[("__module__", "'__main__'")]),
];

/// What was pickled under that name, which must be something.
#[track_caller]
fn named(name: &str, is_wanted: impl Fn(&Row) -> bool) -> Vec<&'static Row> {
    let found: Vec<&Row> = rows().iter().filter(|row| row.name == name && is_wanted(row)).collect();
    assert!(!found.is_empty(), "nothing is called {name}");
    found
}

#[test]
fn what_is_inside_is_reached_by_path() {
    for (name, paths) in INSIDE {
        for row in named(name, |row| row.protocol >= 2) {
            let pickle = read(row);
            for (path, text) in *paths {
                let found = pickle.find(path).map(|at| pickle.render(at, Show::default()));
                let what = format!("{path} of {} {} {}", row.name, row.maker, row.protocol);
                assert_eq!(found.as_deref(), Ok(*text), "{what}");
            }
        }
    }
}

#[test]
fn the_class_of_a_value_is_named() {
    for (name, class) in [
        ("none", "NoneType"),
        ("big", "int"),
        ("item", "shop.Item"),
        ("local_item", "__main__.LocalItem"),
        ("bytearray", "bytearray"),
        ("datetime", "datetime.datetime"),
        ("uuid", "uuid.UUID"),
        ("value_error", "ValueError"),
        ("local_failed", "__main__.LocalFailed"),
        ("np_array", "numpy.ndarray"),
        ("np_scalar", "numpy.float64"),
        ("add", "types.FunctionType"),
        ("local_class", "type"),
        ("counter", "collections.Counter"),
    ] {
        for row in named(name, |row| row.protocol == 4) {
            let pickle = read(row);
            assert_eq!(pickle.class_of(pickle.root()).to_string(), class, "{name} {}", row.maker);
        }
    }
}

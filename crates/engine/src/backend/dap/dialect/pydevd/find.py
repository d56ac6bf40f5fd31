# Follows `traces.py` in the same module: which function a name means, and where it is.


def _same(one, other):
    return os.path.realpath(one) == os.path.realpath(other)


def _is_named(code, wanted, frame=None):
    if "." not in wanted:
        return code.co_name == wanted
    module = frame.f_globals.get("__name__", "") if frame else ""
    return _matches(module, _qualified_name(code), wanted)


def _matches(module, qualified, wanted):
    whole = "." + module + "." + qualified.replace(".<locals>", "")
    return whole.endswith("." + wanted)


def _qualified_name(code):
    known = getattr(code, "co_qualname", None) or _qualified.get(code)
    if known is None:
        for it in gc.get_referrers(code):
            if isinstance(it, types.FunctionType):
                known = it.__qualname__
                break
        known = _qualified[code] = known or code.co_name
    return known


def title():
    """What the process is called by those who wrote the program, as JSON."""
    process = sys.modules.get("multiprocessing.process")
    name = process.current_process().name if process else "MainProcess"
    if name == "MainProcess":
        main = getattr(sys.modules.get("__main__"), "__file__", None)
        name = os.path.basename(main or (sys.argv or [""])[0]) or "python"
    return json.dumps(name)


# Where functions are, to tell the truth about them.


def find(text):
    """What is known of each wanted function: `[{places, others, sources, near}]`."""
    asked = json.loads(text)
    loaded = _loaded()
    sources = None
    answers = []
    for one in asked["functions"]:
        places, others = _in_loaded(loaded, one)
        answer = {"places": places, "others": others, "sources": [], "near": []}
        if not places:
            if sources is None:
                sources = _sources(asked["folders"])
            answer["sources"] = _in_sources(sources, one)
            if not answer["sources"] and not others:
                answer["near"] = _near(one["name"], loaded, sources)
        answers.append(answer)
    return json.dumps(answers)


def _in_loaded(loaded, one):
    last = one["name"].rpartition(".")[2]
    places, others = [], []
    for code, module, qualified in loaded:
        if code.co_name != last:
            continue
        if "." in one["name"] and not _matches(module, qualified, one["name"]):
            continue
        if one["file"] and not _same(one["file"], code.co_filename):
            continue
        found = places if _is_users(code) else others
        at = [os.path.abspath(code.co_filename), _body(code)]
        if at not in found:
            found.append(at)
    return places, others


def _loaded():
    """Every function there is, with those that they define: code, module, qualified name."""
    found = []
    seen = set()
    ours = _debuggers()

    def take(code, module, qualified):
        if id(code) in seen or code.co_filename.startswith(ours) or code.co_name == "<module>":
            return
        seen.add(id(code))
        found.append((code, module, qualified))
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                take(inner, module, qualified + "." + inner.co_name)

    for it in gc.get_objects():
        if type(it) is types.FunctionType:
            take(it.__code__, it.__module__ or "", it.__qualname__)
    return found


def _debuggers():
    """Where the debugger's own files are, and ours."""
    names = ("<holdpoint>",)
    for name in ("debugpy", "pydevd", "_pydevd_bundle", "_pydev_bundle"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            names += (os.path.dirname(file) + os.sep,)
    return names


def _is_users(code):
    db = debugger()
    try:
        if not db.get_use_libraries_filter():
            return True
        name = os.path.abspath(code.co_filename)
        return db._files_filtering.in_project_roots(name)
    except Exception:
        return "site-packages" not in code.co_filename


def _body(code):
    """The line of the first statement: the first line of the code is that of its decorator."""
    first = code.co_firstlineno
    for _, line in dis.findlinestarts(code):
        if line is not None and line > first:
            return line
    return first


_DEFINES = re.compile(r"^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)", re.M)
_SKIPPED = {"node_modules", "site-packages", "__pycache__"}
_FILES = 2000
_BYTES = 1 << 20


def _sources(folders):
    """What the files of the project define: `[(file, line, qualified name)]`."""
    found, seen = [], set()
    for folder in folders:
        for path, names, files in os.walk(folder):
            names[:] = sorted(n for n in names if n not in _SKIPPED and not n.startswith("."))
            if "pyvenv.cfg" in files:
                names[:] = []
                continue
            for name in sorted(files):
                file = os.path.join(path, name)
                if not name.endswith(".py") or file in seen:
                    continue
                if len(seen) >= _FILES:
                    return found
                seen.add(file)
                found.extend(_defined(file))
    return found


def _defined(file):
    try:
        if os.path.getsize(file) > _BYTES:
            return
        with open(file, encoding="utf-8", errors="replace") as source:
            text = source.read()
    except OSError:
        return
    inside, line, at = [], 1, 0
    for found in _DEFINES.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        indent = len(found.group(1).expandtabs())
        while inside and inside[-1][0] >= indent:
            inside.pop()
        inside.append((indent, found.group(3)))
        if found.group(2) == "def":
            yield file, line, ".".join(name for _, name in inside)


def _in_sources(sources, one):
    found = []
    for file, line, qualified in sources:
        module = os.path.splitext(file)[0].replace(os.sep, ".")
        if _matches(module, qualified, one["name"]):
            if not one["file"] or _same(one["file"], file):
                found.append([file, line])
    return found[:8]


def _near(name, loaded, sources):
    import difflib

    names = {qualified for _, _, qualified in sources}
    names.update(
        qualified.replace(".<locals>", "") for code, _, qualified in loaded if _is_users(code)
    )
    last = {}
    for each in sorted(names):
        last.setdefault(each.rpartition(".")[2].lower(), each)
    wanted = name.rpartition(".")[2].lower()
    return [last[each] for each in difflib.get_close_matches(wanted, list(last), 3)]


# Files that were edited while the program runs them.

_texts = {}


def runs(text):
    """The text of a file that the program runs, where the file says another: `{file, text}`."""
    asked = json.loads(text)
    from _pydevd_bundle import pydevd_api

    looks = getattr(pydevd_api._get_code_lines, "before_holdpoint", pydevd_api._get_code_lines)
    _texts.pop(asked["file"], None)
    if asked["text"] is not None:
        code = compile(asked["text"], asked["file"], "exec", 0, dont_inherit=True)
        _texts[asked["file"]] = sorted(set(looks(code)))
    if looks is pydevd_api._get_code_lines:

        def lines(code):
            known = _texts.get(code) if isinstance(code, str) else None
            return looks(code) if known is None else known

        lines.before_holdpoint = looks
        pydevd_api._get_code_lines = lines


def is_same(text):
    """Whether the functions of a file that are loaded are those that it has now; null where none are."""
    path = json.loads(text)
    import tokenize

    with tokenize.open(path) as file:
        written = compile(file.read(), path, "exec", 0, dont_inherit=True)
    now = {}
    codes = [written]
    while codes:
        code = codes.pop()
        now.setdefault(code.co_name, []).append(code)
        codes.extend(it for it in code.co_consts if isinstance(it, types.CodeType))
    known, names = None, {}
    for each in gc.get_objects():
        if type(each) is not types.FunctionType:
            continue
        code = each.__code__
        name = code.co_filename
        if name not in names:
            names[name] = _same(name, path)
        if not names[name]:
            continue
        known = any(code == it for it in now.get(code.co_name, ()))
        if not known:
            break
    return json.dumps(known)

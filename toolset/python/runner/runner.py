# One call of a tool. fettle starts this file compiled, sends one request on
# standard input, and reads frames from standard output. It imports as little
# as it can: what a call doesn't need is time that every call would take.
import os
import sys

MAX_RESULT = 4 << 20
MAX_PROGRESS = 64 << 10
MAX_DEPTH = 200
MAX_TEXT = 4000
MAX_NOTES = 20
SAFE_INT = 1 << 53


class Channel:
    """The way to fettle. It is taken before any code of a tool is loaded; what
    a tool prints goes to standard error then, which fettle keeps, and reading
    standard input finds its end."""

    def __init__(self, stays):
        self.stays = stays  # for more than one request
        self.source, self.sink = os.dup(0), os.dup(1)
        self.owner = os.getpid()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)

    def read(self, count):
        parts = []
        while count:
            part = os.read(self.source, min(count, 1 << 20))
            if not part:
                os._exit(0)  # nobody has a call for us
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def request(self):
        """The two tokens, and the text of what is asked for. fettle sends one
        request, so that what is there can be read at once."""
        data = b""
        while len(data) < 36:
            part = os.read(self.source, 64 << 10)
            if not part:
                os._exit(0)  # nobody has a call for us
            data += part
        size = int.from_bytes(data[:4], "big")
        text = data[36:] + self.read(size + 36 - len(data))
        if not self.stays:
            os.close(self.source)
        return data[4:20], data[20:36], text.decode("utf-8")

    def send(self, token, text):
        if os.getpid() != self.owner:
            os._exit(1)  # a fork of the tool's came back; the call isn't its own
        data = text.encode("utf-8")
        left = memoryview(len(data).to_bytes(4, "big") + token + data)
        while left:
            left = left[os.write(self.sink, left):]


def parse(text):
    """JSON without the package json, which imports the whole of re."""
    try:
        from _json import make_scanner

        class context:
            strict = False
            object_hook = object_pairs_hook = parse_constant = array_hook = None
            parse_float, parse_int, memo = float, int, {}

        return make_scanner(context)(text, 0)[0]
    except (ImportError, AttributeError, StopIteration):
        import json

        return json.loads(text)


def quoter():
    try:
        from _json import encode_basestring
    except ImportError:
        from json.encoder import encode_basestring

    def quote(text):
        if not text.isascii():
            try:
                text.encode("utf-8")
            except UnicodeEncodeError:
                text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return encode_basestring(text)

    return quote


quote = quoter()


class Unfit(Exception):
    """A value that JSON can't hold, with the way to it."""


class Encoder:
    """JSON by the rules that package python of fettle states."""

    def __init__(self, limit, notes):
        self.limit, self.notes, self.out, self.size, self.way, self.above = limit, notes, [], 0, [], set()

    def text(self, value):
        self.walk(value)
        return "".join(self.out)

    def put(self, text):
        self.size += len(text)
        if self.size > self.limit:
            raise Unfit("the result has more than %d MiB; write it to a file in the workspace" % (self.limit >> 20)
                        if self.limit >= 1 << 20 else "it has more than %d KiB" % (self.limit >> 10))
        self.out.append(text)

    def where(self):
        return ("$" + "".join(self.way))[:200]

    def fail(self, text):
        raise Unfit(self.where() + ": " + text)

    def note(self, text):
        if len(self.notes) < MAX_NOTES:
            self.notes.append(self.where() + ": " + text)

    def walk(self, o):
        if o is None:
            self.put("null")
        elif o is True:
            self.put("true")
        elif o is False:
            self.put("false")
        elif isinstance(o, str):
            self.put(quote(str.__str__(o)))
        elif isinstance(o, int):
            self.integer(o)
        elif isinstance(o, float):
            if o - o == 0:
                self.put(float.__repr__(o))
            else:
                self.note("%s became null" % float.__repr__(o))
                self.put("null")
        elif isinstance(o, dict):
            self.inside(o, self.pairs, dict.items(o))
        elif isinstance(o, (list, tuple)):
            self.inside(o, self.items, o)
        elif isinstance(o, (set, frozenset)):
            self.inside(o, self.items, ordered(o))
        elif isinstance(o, (bytes, bytearray, memoryview)):
            self.fail("%s can't be JSON; write it to a file, or decode it" % type(o).__name__)
        else:
            self.other(o)

    def integer(self, o):
        try:
            digits = int.__repr__(o)
        except ValueError:
            self.fail("an int of so many digits can't be JSON")
        if -SAFE_INT < o < SAFE_INT:
            self.put(digits)
        else:
            self.note("an int of more than 53 bits became a string")
            self.put('"' + digits + '"')

    def other(self, o):
        from _collections_abc import Mapping, Sequence, Set

        kind = type(o)
        if hasattr(kind, "__fspath__"):
            self.walk(os.fspath(o))
        elif hasattr(kind, "__members__"):  # of an Enum
            self.walk(o.value)
        elif hasattr(kind, "isoformat"):
            self.put(quote(str(o.isoformat())))
        elif hasattr(kind, "total_seconds"):
            self.walk(float(o.total_seconds()))
        elif kind.__module__ in ("decimal", "fractions", "uuid"):
            self.put(quote(str(o)))
        elif hasattr(kind, "__dataclass_fields__"):
            self.inside(o, self.pairs, [(name, getattr(o, name)) for name in kind.__dataclass_fields__])
        elif hasattr(kind, "tolist"):  # arrays and scalars of numpy, and their like
            self.inside(o, self.walk, o.tolist())
        elif isinstance(o, Mapping):
            self.inside(o, self.pairs, [(k, o[k]) for k in o])
        elif isinstance(o, Set):
            self.inside(o, self.items, ordered(o))
        elif isinstance(o, Sequence):
            self.inside(o, self.items, o)
        else:
            self.fail("%s can't be JSON" % kind.__name__)

    def inside(self, o, step, content):
        if len(self.above) >= MAX_DEPTH:
            self.fail("it is nested more than %d deep" % MAX_DEPTH)
        if id(o) in self.above:
            self.fail("it contains itself")
        self.above.add(id(o))
        step(content)
        self.above.discard(id(o))

    def items(self, values):
        self.put("[")
        for n, v in enumerate(values):
            if n:
                self.put(",")
            self.way.append("[%d]" % n)
            self.walk(v)
            self.way.pop()
        self.put("]")

    def pairs(self, pairs):
        self.put("{")
        seen = set()
        for k, v in pairs:
            name = self.key(k)
            self.way.append("." + name)
            if name in seen:
                self.fail("two keys have this name in JSON")
            self.put(("," if seen else "") + quote(name) + ":")
            seen.add(name)
            self.walk(v)
            self.way.pop()
        self.put("}")

    def key(self, k):
        if isinstance(k, str):
            return str.__str__(k)
        if k is None:
            return "null"
        if k is True or k is False:
            return "true" if k else "false"
        if isinstance(k, int):
            return int.__repr__(k)
        if isinstance(k, float):
            return float.__repr__(k)
        kind = type(k)
        if hasattr(kind, "__fspath__"):
            k = os.fspath(k)
        elif hasattr(kind, "__members__"):
            return self.key(k.value)
        elif hasattr(kind, "isoformat"):
            k = k.isoformat()
        elif kind.__module__ in ("decimal", "fractions", "uuid"):
            k = str(k)
        elif hasattr(kind, "item"):  # a scalar of numpy
            return self.key(k.item())
        if not isinstance(k, str):
            self.fail("a key of type %s can't be JSON" % kind.__name__)
        return k


def ordered(values):
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=repr)


def encode(value, notes, limit=MAX_RESULT):
    return Encoder(limit, notes).text(value)


class Sources:
    """The toolset's own files as code. A process that waits for a call has
    compiled what the last call loaded, and runs nothing of it before the call;
    what is in the cache was compiled for this very text. Both are held against
    the file when it is imported, so that what runs is what is there."""

    MOST, WHOLE = 1 << 20, 4 << 20  # of one file, and of all that is compiled beforehand

    def __init__(self, root, cache):
        self.root, self.cache, self.ready, self.left = root, cache, {}, self.WHOLE

    def find(self):
        """Let modules of the toolset be found, after Python's own."""
        at = len(sys.path)
        for n, path in enumerate(sys.path):
            if path.endswith(("site-packages", "dist-packages")):
                at = n
                break
        sys.path[at:at] = [self.root, os.path.join(self.root, "tools")]
        import _frozen_importlib_external as machinery
        import _imp

        sources = self

        class Loader(machinery.SourceFileLoader):
            def get_code(self, fullname):
                return sources.code(self.path) or super().get_code(fullname)

        kinds = (
            (machinery.ExtensionFileLoader, _imp.extension_suffixes()),
            (Loader, machinery.SOURCE_SUFFIXES),
            (machinery.SourcelessFileLoader, machinery.BYTECODE_SUFFIXES),
        )

        def hook(path):
            if path != self.root and not path.startswith(self.root + os.sep) or not os.path.isdir(path):
                raise ImportError("not of the toolset", path=path)
            return machinery.FileFinder(path, *kinds)

        sys.path_hooks.insert(0, hook)

    def prepare(self, name):
        """Compile a file, by its name below the root."""
        from _frozen_importlib_external import PathFinder

        path = os.path.join(self.root, *name.split("/"))
        try:
            PathFinder.find_spec(name.removesuffix(".py").split("/")[0])  # which lists the folders
            with open(path, "rb") as f:
                st, text = os.fstat(f.fileno()), f.read(self.MOST + 1)
            self.left -= len(text)
            if len(text) <= self.MOST and self.left >= 0:
                self.ready[path] = stamp(st), self.cached(path, text) or compile(text, path, "exec", dont_inherit=True)
        except Exception:
            pass  # the call will hear of it

    def code(self, path):
        """The code of a file that is to be run; None is that it has to be
        compiled."""
        known = self.ready.get(path)
        if known and stamp(os.stat(path)) == known[0]:
            return known[1]
        if not self.cache:
            return None
        with open(path, "rb") as f:
            return self.cached(path, f.read())

    def cached(self, path, text):
        if not self.cache:
            return None
        try:
            with open(os.path.join(self.cache, path[len(self.root) + 1:] + "c"), "rb") as f:
                data = f.read()
        except OSError:
            return None
        import _imp
        import marshal
        from _frozen_importlib_external import MAGIC_NUMBER

        if data[:8] != MAGIC_NUMBER + b"\3\0\0\0" or data[8:16] != _imp.source_hash(int.from_bytes(MAGIC_NUMBER, "little"), text):
            return None
        try:
            code = marshal.loads(memoryview(data)[16:])
            _imp._fix_co_filename(code, path)
        except (EOFError, TypeError, ValueError):
            return None
        return code


def stamp(st):
    return st.st_mtime_ns, st.st_size, st.st_ino


class Call:
    """What one request asks for."""

    def __init__(self, channel):
        self.channel = channel
        self.key, self.last, self.text = channel.request()
        self.root, self.notes = os.devnull, []
        self.known = set(sys.modules)

    def load(self):
        """Import the module, which has to be the toolset's own file."""
        self.request, self.text = parse(self.text), None
        self.root = self.request["root"]
        sys.argv = [self.request["file"]]
        name = self.request["module"]
        if name.startswith("tools."):
            self.package()
        __import__(name)
        module = sys.modules[name]
        file = getattr(module, "__file__", None) or "built in"
        if file != self.request["file"] and os.path.realpath(file) != os.path.realpath(self.request["file"]):
            raise ImportError("%s is another module's name: %s" % (name, shorten(file, self.root)))
        function = getattr(module, self.request["function"], None)
        if not callable(function):
            has = [n for n, f in vars(module).items() if callable(f) and getattr(f, "__module__", "") == name and n[:1] != "_"]
            raise AttributeError("%s has no function %s%s" % (
                self.request["name"], self.request["function"], " (it has: %s)" % ", ".join(has[:5]) if has else ""))
        return function

    def package(self):
        """Make tools the folder of that name where a file tools.py would be taken for it:
        that file is the module tools.tools."""
        folder = os.path.join(self.root, "tools")
        if "tools" in sys.modules or os.path.exists(os.path.join(folder, "__init__.py")):
            return
        if any(os.path.exists(os.path.join(place, "tools.py")) for place in (self.root, folder)):
            package = type(sys)("tools")
            package.__path__ = [folder]
            sys.modules["tools"] = package

    def begin(self, function):
        """Call the function in the form that it is written in."""
        from pathlib import Path

        request, args = self.request, self.request["args"]
        workspace = Path(request["workspace"] or os.getcwd())
        if request.get("parser"):
            return function(args["text"])
        code = code_of(function)
        names = code.co_varnames[:code.co_argcount] if code else ()
        context = dict(request.get("context") or {})  # of the client; what is known here comes first
        context.update(chat_id=request["chat_id"], workspace=workspace, page=request["page"] or None, tab=request["tab"] or None)
        if names == ("params", "db", "user_id", "context") and not code.co_kwonlyargcount and not code.co_flags & 0x0C:
            return function(args, None, 0, context)
        if code and "context" not in args and "context" in code.co_varnames[code.co_posonlyargcount:code.co_argcount + code.co_kwonlyargcount]:
            args = dict(args, context=context)
        lacks = code and "workspace" not in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        if names and (code.co_posonlyargcount or lacks) and names[0] not in ("self", "cls") and names[0] not in args:
            if len(getattr(function, "__defaults__", None) or ()) < len(names):  # the first one has no default
                return function(workspace, **args)
        if lacks and not code.co_flags & 0x08:  # as document 003 writes its tools
            return function(**args)
        return function(workspace=workspace, **args)

    def progress(self, value):
        stage = message = ""
        part = data = None
        if is_a(value, "ToolProgress", "message"):
            stage, message = getattr(value, "stage", ""), value.message
            part, data = getattr(value, "progress", None), getattr(value, "data", None)
        elif isinstance(value, str):
            message = value
        else:
            data = value
        try:
            data = encode(data, self.notes, MAX_PROGRESS)
        except Exception as e:
            self.notes.append("progress %s: its data was left out: %s" % (str(stage)[:50], e))
            data = "null"
        try:
            part = float(part) if part is not None else None
            part = repr(min(max(part, 0.0), 1.0)) if part is not None and part - part == 0 else "null"
        except (TypeError, ValueError):
            part = "null"
        self.channel.send(self.key, '{"t":"progress","stage":%s,"message":%s,"progress":%s,"data":%s}' % (
            quote(str(stage or "")[:MAX_TEXT]), quote(str(message or "")[:MAX_TEXT]), part, data))

    def settle(self, value):
        """Follow what the function gave to its last value."""
        for _ in range(4):  # an async function may give a generator, and so on
            kind = type(value)
            if hasattr(kind, "__anext__") and hasattr(kind, "__aiter__"):
                value = self.run_async(self.follow_async(value))
            elif hasattr(kind, "__await__"):
                value = self.run_async(value)
            elif hasattr(kind, "__next__"):
                value = self.follow(value)
            else:
                break
        return value

    def follow(self, steps):
        kept, last = False, None
        try:
            while True:
                kept, last = self.keep(next(steps), kept, last)
        except StopIteration as end:
            if end.value is None:
                return last
            if kept:
                self.progress(last)
            return end.value

    async def follow_async(self, steps):
        kept, last = False, None
        async for value in steps:
            kept, last = self.keep(value, kept, last)
        return last

    def keep(self, value, kept, last):
        """A ToolProgress is sent at once. Anything else is the result, unless
        another value follows: then it was an update."""
        if is_a(value, "ToolProgress", "message"):
            self.progress(value)
            return kept, last
        if kept:
            self.progress(last)
        return True, value

    def run_async(self, awaitable):
        import asyncio

        async def main():
            return await awaitable

        return asyncio.run(main())

    def result(self, value):
        if is_a(value, "ToolResult", "text"):
            parts = [("kind", '"result"')]
            if value.text is not None:
                parts.append(("text", quote(str(value.text))))
            for name in ("data", "workspace_payload", "payload"):
                part = getattr(value, name, None)
                if part is None:
                    continue
                if name != "data" and not isinstance(part, dict):
                    raise Unfit("%s is %s, and has to be a dict" % (name, type(part).__name__))
                parts.append((name, encode(part, self.notes)))
        elif isinstance(value, str):
            parts = [("kind", '"str"'), ("text", quote(str.__str__(value)))]
        elif isinstance(value, dict) or hasattr(type(value), "__dataclass_fields__"):
            parts = [("kind", '"dict"'), ("data", encode(value, self.notes))]
        else:
            raise Unfit("%s gave %s; a tool gives a dict, a str or a ToolResult" % (
                self.request["function"], "nothing" if value is None else type(value).__name__))
        parts.append(("notes", encode(self.notes, [])))
        parts += [("modules", self.modules()), ("own", self.own())]
        text = '{"t":"result",' + ",".join('"%s":%s' % p for p in parts) + "}"
        if len(text) > MAX_RESULT >> 2 and len(text.encode("utf-8")) > MAX_RESULT:
            raise Unfit("the result has more than %d MiB; write it to a file in the workspace" % (MAX_RESULT >> 20))
        return text

    def modules(self):
        """Modules of Python's own that this call imported: a process that waits
        for the next call has them ready."""
        own = getattr(sys, "stdlib_module_names", None)
        names = [m for m in list(sys.modules) if m not in self.known and (own is None or m.partition(".")[0] in own)]
        return "[" + ",".join(quote(n) for n in names[:300]) + "]"

    def own(self):
        """The toolset's files that this call loaded, below its root."""
        start, names = self.root + os.sep, []
        for name, module in list(sys.modules.items()):
            file = None if name in self.known else getattr(module, "__file__", None)
            if isinstance(file, str) and file.startswith(start):
                names.append(file[len(start):].replace(os.sep, "/"))
        return "[" + ",".join(quote(n) for n in names[:100]) + "]"

    def error(self, kind, e):
        try:
            text = failure(kind, e, self)
        except BaseException:  # out of memory, most likely: say the least
            e.__traceback__ = e.__context__ = e.__cause__ = None
            text = '{"t":"error","kind":"%s","type":%s,"message":"","traceback":""}' % (kind, quote(type(e).__name__))
        self.channel.send(self.last, text)


def is_a(value, name, attribute):
    """By name: a toolset may bring a registry of its own, as document 000 has."""
    return any(c.__name__ == name for c in type(value).__mro__) and hasattr(value, attribute)


def code_of(function):
    for _ in range(20):
        inner = getattr(function, "__wrapped__", None)
        if inner is None:
            break
        function = inner
    return getattr(getattr(function, "__func__", function), "__code__", None)


def words(e):
    try:
        return str(e)
    except BaseException as other:
        return "its text can't be had: " + type(other).__name__


def failure(kind, e, call):
    name, text = type(e).__name__, words(e)
    if isinstance(e, SystemExit):
        text = "the tool called sys.exit(%s) instead of giving a result" % ("" if e.code is None else repr(e.code))
    if isinstance(e, Unfit):
        name, trace = "TypeError", ""
    else:
        trace = traceback(e, call)
    if isinstance(e, ModuleNotFoundError) and e.name and kind == "load":
        text += "; a package that the tool needs is named under requirements in toolset.yaml"
    return '{"t":"error","kind":%s,"type":%s,"message":%s,"traceback":%s,"modules":%s}' % (
        quote(kind), quote(name), quote(text[:MAX_TEXT]), quote(trace), call.modules())


def shorten(path, root):
    """A path as the tool's author knows it."""
    lib = os.path.dirname(os.__file__)
    for base, start in ((root, ""), (os.path.join(lib, "site-packages"), ""), (lib, "")):
        if path.startswith(base + os.sep):
            return start + path[len(base) + 1:].replace(os.sep, "/")
    _, found, rest = path.rpartition("site-packages" + os.sep)
    return rest.replace(os.sep, "/") if found else path


def traceback(e, call):
    parts, seen = [], set()
    while e is not None and id(e) not in seen and len(parts) < 5:
        seen.add(id(e))
        parts.append(one_traceback(e, call))
        if e.__cause__ is not None:
            e, link = e.__cause__, "That was the cause of:"
        elif e.__context__ is not None and not e.__suppress_context__:
            e, link = e.__context__, "While that was handled:"
        else:
            break
        parts.append(link)
    if len(parts) % 2 == 0:
        parts.pop()
    return "\n\n".join(reversed(parts))[:32 << 10]


def one_traceback(e, call):
    frames, tb, files = [], e.__traceback__, {}
    while tb is not None:
        code = tb.tb_frame.f_code
        if not code.co_filename.startswith(("<frozen", "<fettle")):
            frames.append((code.co_filename, tb.tb_lineno, code.co_name))
        tb = tb.tb_next
    if isinstance(e, SyntaxError) and e.filename:
        frames.append((e.filename, e.lineno, ""))
    cut = len(frames) - 30
    if cut > 0:
        frames[10:10 + cut] = [("", cut, "")]
    lines = ["Traceback (most recent call last):"] if frames else []
    for file, line, name in frames:
        if not file:
            lines.append("  [%d frames left out]" % line)
            continue
        lines.append('  File "%s", line %s%s' % (shorten(file, call.root), line, ", in " + name if name else ""))
        text = source_line(file, line, files)
        if text:
            lines.append("    " + text)
    text = words(e)[:MAX_TEXT]
    if isinstance(e, SyntaxError) and e.msg:
        text = e.msg
    lines.append(type(e).__name__ + (": " + text if text else ""))
    return "\n".join(lines)


def source_line(file, line, files):
    if file not in files:
        try:
            with open(file, "rb") as f:
                files[file] = f.read(4 << 20).splitlines()
        except (OSError, ValueError):
            files[file] = []
    if not line or line > len(files[file]):
        return ""
    return files[file][line - 1].decode("utf-8", "replace").strip()[:200]


class Finder:
    """Makes the module fettle importable, and in its name the modules that
    documents 000 and 001 have ToolResult and ToolProgress in, where the toolset
    has none of that name itself."""

    names = ("backend", "backend.tools", "backend.tools.registry", "tools.registry", "registry")

    def __init__(self, own):
        self.own = own

    def find_spec(self, name, path=None, target=None):
        if name == "fettle" if self.own else name in self.names:
            from _frozen_importlib import ModuleSpec

            return ModuleSpec(name, self, is_package=name in ("backend", "backend.tools"))

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        if name == "fettle":
            import marshal

            with open(os.path.join(os.path.dirname(__file__), "fettle.pyc"), "rb") as f:
                exec(marshal.loads(f.read()[16:]), module.__dict__)
            return
        import fettle

        if name in ("backend", "backend.tools"):
            module.__dict__.update((k, v) for k, v in vars(fettle).items() if k[:1] != "_")
        else:
            sys.modules[name] = fettle


def perform(call):
    """Do what is asked for, and tell whether there may be more after it."""
    kind = "load"
    try:
        call.channel.send(call.key, '{"t":"start"}')
        function = call.load()
        kind = "raised"
        value = call.settle(call.begin(function))
        kind = "result"
        text = call.result(value)
        flush()
        call.channel.send(call.last, text)
    except BaseException as e:
        flush()
        call.error("cancelled" if isinstance(e, KeyboardInterrupt) else kind, e)
        return not isinstance(e, KeyboardInterrupt)
    return True


def warm(sources, names):
    """Do while nobody waits what the call would do first."""
    for name in names:
        sources.prepare(name)
    encode({"a": ["b", 1, 0.5, None, True]}, [])
    parse('{"a": ["b", 1, 0.5, null, true]}')
    import gc

    gc.collect()
    gc.freeze()  # what is here stays for the one call


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass  # the tool closed or replaced it


def main():
    channel = Channel(os.environ.pop("FETTLE_SERVICE", "") != "")
    import builtins

    builtins.exit = builtins.quit = sys.exit  # as site would have them
    wanted = sys.argv[1:]
    for name in wanted:
        try:
            if name[:1] != "=":
                __import__(name)
        except BaseException:
            pass  # the tool will hear of it, should it need that
    sys.meta_path.insert(0, Finder(True))
    sys.meta_path.append(Finder(False))
    sources = Sources(os.environ["FETTLE_TOOLSET_DIR"], os.environ.pop("FETTLE_BYTECODE", ""))
    sources.find()
    if wanted:
        warm(sources, [name[1:] for name in wanted if name[:1] == "="])
    try:
        while perform(Call(channel)) and channel.stays:
            pass  # what the tool began goes on meanwhile
    finally:
        os._exit(0)  # threads and exit handlers of the tool's end with its call


if __name__ == "__main__":
    main()

# What runs one call of a Python tool. It is started with nothing but this file,
# reads one request, answers with frames, and ends. Everything that costs time
# to import is imported where it is needed: a cold call waits for this file.
import os
import sys

# The channel is taken before any code of a tool can run. What tools print,
# by whatever way, goes where standard error goes, which is kept; what they read
# is at its end.
_in, _out = os.dup(0), os.dup(1)
_null = os.open(os.devnull, os.O_RDONLY)
os.dup2(_null, 0)
os.close(_null)
os.dup2(2, 1)
_pid = os.getpid()
_name = "<fettle>"  # what the compiled file is called

MAX_RESULT = 4 << 20  # bytes of a result's JSON
MAX_PROGRESS = 64 << 10
MAX_DEPTH = 200
MAX_TEXT = 1 << 20


class ToolProgress:
    """Document 000's: an update of a tool that streams."""

    def __init__(self, stage="", message="", data=None, progress=None):
        self.stage, self.message, self.data, self.progress = stage, message, data, progress


class ToolResult:
    """Documents 000's and 001's: text for the model, and what pages show."""

    def __init__(self, text="", data=None, workspace_payload=None, payload=None):
        self.text, self.data, self.workspace_payload, self.payload = text, data, workspace_payload, payload


class ToolConfig:
    """Document 000's. A toolset's manifest says what its tools are, so this
    only lets code that was written for the document be loaded."""

    def __init__(self, name="", description="", input_schema=None, executor=None, output_schema=None, category="general", streaming=False, **more):
        self.name, self.description, self.input_schema, self.executor = name, description, input_schema, executor
        self.output_schema, self.category, self.streaming = output_schema, category, streaming


class BadResult(Exception):
    """A result that can't be told."""


def report(stage="", message="", data=None, progress=None):
    """Tell how far a tool is that doesn't stream."""
    _send_progress(ToolProgress(stage, message, data, progress))


def _module(name, **members):
    module = type(sys)(name)
    for member, value in members.items():
        if isinstance(value, type):
            value.__module__ = name
        setattr(module, member, value)
    return module


sys.modules["fettle"] = _module("fettle", ToolProgress=ToolProgress, ToolResult=ToolResult, ToolConfig=ToolConfig, report=report, register_tool=lambda tool: tool)

try:
    from _json import encode_basestring_ascii as _quote, make_scanner as _make_scanner
except ImportError:  # another Python than CPython
    _make_scanner = None


def _decode(text):
    if _make_scanner is not None:
        try:
            value, _ = _make_scanner(_Reading())(text, 0)
            return value
        except TypeError:  # one whose scanner wants something else
            pass
    import json

    return json.loads(text)


class _Reading:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    memo = {}

    @staticmethod
    def parse_constant(name):
        raise ValueError(name)


if _make_scanner is None:

    def _quote(text):
        import json

        return json.dumps(text)


def _send(parts):
    if os.getpid() != _pid:  # a child of the tool's has nothing to say here
        return
    data = memoryview(("{" + ",".join(parts) + "}\n").encode("ascii"))
    while data:
        data = data[os.write(_out, data) :]


_key = '""'


def _frame(kind, *fields):
    _send(['"key":' + _key, '"type":"' + kind + '"', *(_quote(name) + ":" + value for name, value in fields if value is not None)])


def _text(value):
    """A text as JSON. What is no text of Unicode is replaced."""
    if not isinstance(value, str):
        value = str(value)
    if len(value) > MAX_TEXT:
        value = value[:MAX_TEXT] + "…"
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        value = value.encode("utf-8", "replace").decode("utf-8")
    return _quote(value)


class _Encoder:
    """JSON of what tools return. It knows where it is, so that what can't be
    told is named."""

    def __init__(self, limit):
        self.limit, self.size, self.notes, self.path, self.inside = limit, 0, [], [], set()

    def at(self):
        return "$" + "".join("[%d]" % p if isinstance(p, int) else "." + p for p in self.path)

    def note(self, what):
        if len(self.notes) < 20:
            self.notes.append(self.at() + ": " + what)

    def out(self, text):
        self.size += len(text)
        if self.size > self.limit:
            raise BadResult("the result has more than %d bytes of JSON; write it to a file of the workspace and return the name" % self.limit)
        return text

    def encode(self, value):
        if value is None:
            return self.out("null")
        if value is True:
            return self.out("true")
        if value is False:
            return self.out("false")
        if isinstance(value, str):
            return self.out(self.string(value))
        if isinstance(value, int):
            number = int(value)
            if -(1 << 53) < number < 1 << 53:
                return self.out(int.__repr__(number))
            if number.bit_length() > 10_000:
                raise BadResult(self.at() + ": the number has more than 3,000 digits")
            self.note("a number past 2^53 became a text")
            return self.out('"' + int.__repr__(number) + '"')
        if isinstance(value, float):
            number = float(value)
            if number != number or number in (float("inf"), float("-inf")):
                self.note(float.__repr__(number) + " became null")
                return self.out("null")
            return self.out(float.__repr__(number))
        return self.container(value)

    def string(self, value):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            self.note("what is no Unicode was replaced")
            value = value.encode("utf-8", "replace").decode("utf-8")
        return _quote(value)

    def container(self, value):
        if id(value) in self.inside:
            raise BadResult(self.at() + ": it holds itself")
        if len(self.path) >= MAX_DEPTH:
            raise BadResult(self.at()[:60] + "…: nested more than %d deep" % MAX_DEPTH)
        self.inside.add(id(value))
        try:
            if isinstance(value, dict):
                return self.mapping(value)
            if isinstance(value, (list, tuple)):
                return self.sequence(value)
            if isinstance(value, (set, frozenset)):
                return self.sequence(sorted(value, key=repr))
            return self.other(value)
        finally:
            self.inside.discard(id(value))

    def mapping(self, value):
        parts, seen = [], set()
        for key, item in list(value.items()):
            name = key if isinstance(key, str) else ("true" if key is True else "false" if key is False else "null" if key is None else str(key))
            if name in seen:
                raise BadResult("%s: two keys both become %r" % (self.at(), name))
            seen.add(name)
            self.path.append(name)
            parts.append(self.out(self.string(name)) + ":" + self.encode(item))
            self.path.pop()
        return "{" + ",".join(parts) + "}"

    def sequence(self, value):
        parts = []
        for i, item in enumerate(value):
            self.path.append(i)
            parts.append(self.encode(item))
            self.out(",")
            self.path.pop()
        return "[" + ",".join(parts) + "]"

    def other(self, value):
        if isinstance(value, os.PathLike):
            return self.encode(os.fspath(value))
        if isinstance(value, (bytes, bytearray, memoryview)):
            raise BadResult("%s: bytes are no JSON; decode them, or write them to a file of the workspace" % self.at())
        enum = sys.modules.get("enum")
        if enum is not None and isinstance(value, enum.Enum):
            return self.encode(value.value)
        for name in ("isoformat", "tolist", "item"):  # dates, and arrays and numbers of numpy
            method = getattr(value, name, None)
            if callable(method) and not isinstance(value, type):
                return self.encode(method())
        if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
            return self.mapping({name: getattr(value, name) for name in value.__dataclass_fields__})
        if type(value).__name__ in ("Decimal", "UUID", "Fraction"):
            return self.encode(str(value))
        raise BadResult("%s: %s is no JSON" % (self.at(), type(value).__name__))


def _encoded(value, limit, notes=None):
    if value is None:
        return None
    encoder = _Encoder(limit)
    text = encoder.encode(value)
    if notes is not None:
        notes.extend(encoder.notes)
    return text


def _like(value, kind):
    """Tells whether a value is one of ours, or what a bundle made in its likeness."""
    return isinstance(value, kind) or type(value).__name__ == kind.__name__ and hasattr(value, "text" if kind is ToolResult else "stage")


def _send_progress(p):
    progress = getattr(p, "progress", None)
    part = float(progress) if isinstance(progress, (int, float)) and progress == progress else None
    try:
        data = _encoded(getattr(p, "data", None), MAX_PROGRESS)
    except BadResult:
        data = None  # an update that is too large is one without its data
    _frame("progress", ("stage", _text(getattr(p, "stage", ""))), ("message", _text(getattr(p, "message", ""))), ("progress", None if part is None else repr(min(max(part, 0.0), 1.0))), ("data", data))


def _yielded(value):
    """Takes what a generator gave: an update, or what may be the result."""
    if _like(value, ToolProgress):
        _send_progress(value)
        return False
    if isinstance(value, str):
        _send_progress(ToolProgress(message=value))
        return False
    return True


def _drain(generator):
    last = None
    while True:
        try:
            value = next(generator)
        except StopIteration as stop:
            return last if stop.value is None else stop.value
        if _yielded(value):
            last = value


async def _drain_async(generator):
    last = None
    async for value in generator:
        if _yielded(value):
            last = value
    return last


def _settle(value):
    """Runs what a call gave to its end."""
    if hasattr(value, "__next__") and hasattr(value, "send"):
        return _drain(value)
    if hasattr(value, "__anext__"):
        import asyncio

        return asyncio.run(_drain_async(value))
    if hasattr(value, "__await__"):
        import asyncio

        async def wait():
            return await value

        return asyncio.run(wait())
    return value


def _result(value):
    notes = []
    if _like(value, ToolResult):
        text = getattr(value, "text", "")
        fields = [("text", _text("" if text is None else text))]
        for name in ("data", "workspace_payload", "payload"):
            fields.append((name, _encoded(getattr(value, name, None), MAX_RESULT, notes)))
    elif isinstance(value, str):
        if len(value) > MAX_RESULT:
            raise BadResult("the text has %d characters; write it to a file of the workspace and return the name" % len(value))
        fields = [("text", _text(value))]
    elif isinstance(value, dict):
        fields = [("data", _encoded(value, MAX_RESULT, notes))]
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        fields = [("data", _encoded(value, MAX_RESULT, notes))]
    else:
        raise BadResult("the tool returned %s; it returns a dict, a str or a ToolResult" % type(value).__name__)
    if notes:
        fields.append(("notes", "[" + ",".join(_quote(n) for n in notes) + "]"))
    _frame("result", *fields)


def _is_ours(filename):
    return filename == _name or filename.startswith("<frozen")


def _short(filename, root):
    return filename[len(root) + 1 :].replace(os.sep, "/") if filename.startswith(root + os.sep) else filename


def _line(filename, number):
    try:
        with open(filename, encoding="utf-8", errors="replace") as f:
            for n, line in enumerate(f, 1):
                if n == number:
                    return line.strip()[:200]
    except OSError:
        pass
    return ""


def _trace(error, root):
    """The frames of the tool's own code, the last twenty."""
    lines, tb = [], error.__traceback__
    while tb is not None:
        code = tb.tb_frame.f_code
        if not _is_ours(code.co_filename):
            where = _short(code.co_filename, root)
            lines.append("%s:%d in %s" % (where, tb.tb_lineno, code.co_name))
            text = _line(code.co_filename, tb.tb_lineno)
            if text and where != code.co_filename:
                lines.append("    " + text)
        tb = tb.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        lines.append("%s:%d" % (_short(error.filename, root), error.lineno or 0))
        if error.text:
            lines.append("    " + error.text.strip()[:200])
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and len(lines) < 40:
        lines.append("caused by " + _words(cause))
    return "\n".join(lines[-40:])


def _words(error):
    try:
        text = str(error)
    except BaseException as again:  # whatever a tool's exception does
        text = "(its text failed: %s)" % type(again).__name__
    return (type(error).__name__ + (": " + text if text else ""))[:4000]


def _fail(kind, error, root):
    _frame("error", ("kind", _quote(kind)), ("message", _text(_words(error))), ("traceback", _text(_trace(error, root))))


def _load(request):
    root = request["root"]
    venv = request.get("packages")
    sys.path.extend([root, os.path.join(root, "tools")] + ([venv] if venv else []))
    sys.dont_write_bytecode = True
    if not os.path.exists(os.path.join(root, "tools", "registry.py")):
        # where document 000 has them
        sys.modules["tools.registry"] = sys.modules["fettle"]
    module = __import__(request["module"], fromlist=["x"])
    file = getattr(module, "__file__", None)
    real = os.path.realpath(root) + os.sep
    if not file or not os.path.realpath(file).startswith(real):
        raise ImportError("%s is not in the toolset, but %s" % (request["module"], file))
    function = getattr(module, request["function"], None)
    if function is None:
        raise AttributeError("%s has no function %s" % (_short(file, root), request["function"]))
    if not callable(function):
        raise TypeError("%s of %s is no function" % (request["function"], _short(file, root)))
    return function


def _parameters(function):
    """The names of a function's parameters: all, those without a default, and
    whether it takes any other; None where it doesn't tell."""
    seen = 0
    while hasattr(function, "__wrapped__") and seen < 100:
        function, seen = function.__wrapped__, seen + 1
    bound = 1 if getattr(function, "__self__", None) is not None else 0
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    names = code.co_varnames[bound : code.co_argcount]
    only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    defaults = len(getattr(function, "__defaults__", None) or ())
    needed = list(names[: len(names) - defaults] if defaults else names)
    needed += [n for n in only if n not in (getattr(function, "__kwdefaults__", None) or {})]
    return list(names), list(names) + list(only), needed, bool(code.co_flags & 8)


def _call(function, request):
    import pathlib

    args, workspace = request["args"], pathlib.Path(request["workspace"])
    known = _parameters(function)
    if known is not None and known[0] == ["params", "db", "user_id", "context"]:
        context = dict(request["context"], workspace=workspace)
        return function(args, None, None, context)
    if known is not None:
        _, every, needed, more = known
        lacking = [n for n in needed if n != "workspace" and n not in args]
        extra = [] if more else [n for n in args if n not in every]
        if lacking or extra:
            says = (["it needs " + ", ".join(lacking)] if lacking else []) + (["it takes no " + ", ".join(extra)] if extra else [])
            raise TypeError("%s() doesn't fit its input_schema: %s" % (request["function"], "; ".join(says)))
        if "workspace" not in every and not more:
            return function(**args)
    return function(workspace=workspace, **args)


def _run(request):
    root = request["root"]
    try:
        function = _load(request)
    except BaseException as error:
        return _fail("load", error, root)
    try:
        value = _settle(_call(function, request))
    except SystemExit as error:
        return _fail("exit", error, root)
    except KeyboardInterrupt as error:
        return _fail("stopped", error, root)
    except BaseException as error:
        return _fail("raised", error, root)
    try:
        _result(value)
    except BaseException as error:
        _fail("result", BadResult(str(error)) if isinstance(error, BadResult) else error, root)


def _request():
    pieces = []
    while True:
        piece = os.read(_in, 1 << 16)
        if not piece:
            os._exit(3)  # nobody asks any more
        pieces.append(piece)
        if piece.endswith(b"\n"):
            return _decode(b"".join(pieces).decode("utf-8"))


def _main():
    global _key
    if sys.argv[1:] == ["spare"]:  # there is time before the call comes
        import contextlib, dataclasses, inspect, json, pathlib, traceback, typing  # noqa: F401,E401
    request = _request()
    _key = _quote(request["key"])
    if not request["workspace"]:  # it works in a folder of its own
        request["workspace"] = os.getcwd()
    os.chdir(request["workspace"])
    try:
        import faulthandler

        faulthandler.enable(file=2)
    except Exception:  # it is a help alone
        pass
    _run(request)


try:
    _main()
finally:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        pass
    os._exit(0)  # without waiting for a tool's threads

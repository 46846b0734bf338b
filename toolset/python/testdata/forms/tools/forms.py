import datetime
import decimal
import enum
import uuid
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fettle import ToolProgress, ToolResult, assets_dir


def gives_dict(workspace: Path, name: str, times: int = 1) -> dict:
    (workspace / "out.txt").write_text(name * times)
    return {"name": name, "here": workspace == Path.cwd(), "absolute": workspace.is_absolute()}


def any_kwargs(workspace, **kwargs):
    return {"kwargs": kwargs, "type": isinstance(workspace, Path)}


def other_name(folder, *, n):
    return {"folder": folder.is_dir(), "n": n}


def positional(workspace, /, n):
    return {"folder": workspace.is_dir(), "n": n}


def document_000(params, db, user_id, context):
    return ToolResult(
        text="called as document 000 has it",
        data={"params": params, "db": db, "user_id": user_id, "chat": context["chat_id"], "page": context["page"],
              "tab": context["tab"], "keys": sorted(context), "workspace": context["workspace"].is_dir()},
        workspace_payload={"type": "review_analysis", "title": "T", "content": "", "data": {}},
        payload={"type": "pubmed_article", "data": {"pmid": "1"}},
    )


def nearly_000(params, db, user_id, context, more=1, **kwargs):
    return {"workspace": kwargs.get("workspace") is not None or params is not None}


def gives_str(workspace):
    return "grüße, 世界"


def text_alone(workspace):
    return ToolResult(text="only text")


def data_alone(workspace):
    return ToolResult(data={"b": 1, "a": 2})


async def asynchronous(workspace, n):
    import asyncio

    await asyncio.sleep(0)
    return {"n": n}


def stream(params, db, user_id, context):
    yield ToolProgress(stage="one", message="begun", data={"phase": 1})
    yield ToolProgress(stage="two", message="half", progress=0.5)
    return ToolResult(text="done")


def stream_last_value(workspace):
    yield "reading"
    yield ToolProgress("s", "m", progress=7)
    yield {"rows": 1}
    yield {"rows": 2}


async def async_stream(workspace):
    yield ToolProgress("a", "b")
    yield {"last": True}


async def async_then_stream(workspace):
    return stream_last_value(workspace)


def stream_alone(workspace):
    yield ToolProgress("a", "b")


class Colour(enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


@dataclass
class Point:
    x: int
    y: float


Pair = namedtuple("Pair", "a b")


class Array:
    def tolist(self):
        return [1.5, [2]]


class Scalar(float):
    pass


def odd_values(workspace):
    return OrderedDict(
        nan=float("nan"), inf=float("-inf"), big=2**60, small=-(2**53) + 1, tuple=(1, 2), set={3, 1, 2}, mixed={1, "a"},
        frozen=frozenset(["x"]), path=Path("a") / "b", posix=PurePosixPath("/c"), date=datetime.date(2026, 1, 2),
        time=datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), delta=datetime.timedelta(minutes=2),
        decimal=decimal.Decimal("1.10"), uuid=uuid.UUID(int=1), enum=Colour.RED, intenum=Number.ONE, point=Point(1, 2.5),
        pair=Pair(1, "b"), array=Array(), scalar=Scalar(0.1), range=range(3), surrogate="a\ud800b", control="\x00\x1f\u2028\x7f",
        keys={1: "int", 2.5: "float", None: "none", True and "t": "str", datetime.date(2026, 1, 1): "date", Colour.RED: "enum"},
        nested=[[[[]]], {}], empty="", true=True, none=None, html="<b>&</b>",
    )


def bytes_value(workspace):
    return {"a": [{"b": b"x"}]}


def object_value(workspace):
    return {"a": object()}


def circle(workspace):
    a = []
    a.append(a)
    return {"a": a}


def deep(workspace):
    a = []
    for _ in range(5000):
        a = [a]
    return {"a": a}


def same_keys(workspace):
    return {1: "a", "1": "b"}


def too_large(workspace):
    return {"a": ["x" * 1000] * 6000}


def nearly_too_large(workspace):
    return {"a": "é" * (2 << 20)}


def huge_int(workspace):
    return {"a": 10**6000}


def gives_none(workspace):
    pass


def gives_list(workspace):
    return [1]


def bad_payload(workspace):
    return ToolResult(text="x", payload=[1])


def asset(workspace):
    from pathlib import Path as P

    beside = P(__file__).resolve().parent.parent / "assets" / "hello.txt"
    return {"beside": beside.read_text(), "by_name": (assets_dir() / "hello.txt").read_text()}


def siblings(workspace):
    import helper
    from tools import helper as again
    from tools.sub import deeper
    import shared

    return {"helper": helper.NAME, "again": again.NAME, "deeper": deeper.NAME, "shared": shared.NAME}


def registries(workspace):
    import fettle
    from backend.tools import ToolResult as a
    from backend.tools.registry import ToolConfig, register_tool
    from backend.tools.registry import ToolResult as b
    from tools.registry import ToolResult as c

    register_tool(ToolConfig(name="x", description="y", input_schema={}, executor=None))
    return {"same": a is b is c is fettle.ToolResult, "tools": len(fettle.get_all_tools()), "repr": repr(fettle.ToolProgress("s", "m"))}


def prints(workspace):
    import os
    import subprocess
    import sys

    print("by print")
    sys.stdout.write("by write\n")
    os.write(1, b"by descriptor\n")
    print("to stderr", file=sys.stderr)
    subprocess.run([sys.executable, "-I", "-S", "-c", "print('by a child')"], check=True)
    try:
        input()
    except EOFError:
        print("input is at its end")
    return {"ok": True}


def arguments(workspace, a, b=2):
    return {"a": a, "b": b}


def big_argument(workspace, text):
    return {"length": len(text)}


def json_names(workspace):
    import json
    import statistics

    return {"json": json.loads("[1]"), "own": statistics.__file__ is not None and "forms" not in statistics.__file__}

"""The forms that a tool may have, a function each."""

import asyncio
import datetime
import enum
import functools
import pathlib
import uuid
from dataclasses import dataclass
from decimal import Decimal

from fettle import ToolProgress, ToolResult, report
from tools.registry import ToolProgress as Same

from tools import helper


def plain(workspace, **kwargs):
    return {"args": kwargs, "there": sorted(p.name for p in workspace.iterdir()), "type": type(workspace).__name__ != ""}


def named(workspace: pathlib.Path, path: str, times: int = 2) -> dict:
    return {"path": path, "times": times}


def without_workspace(a, b=1):
    return {"sum": a + b}


def keyword_only(*, workspace, a):
    return {"a": a}


def text(workspace):
    return "just words"


def result(workspace):
    return ToolResult(text="for the model", data={"rows": 2}, workspace_payload={"type": "table", "title": "T", "content": "", "data": []}, payload={"type": "x", "data": {}})


def result_without_text(workspace):
    return ToolResult(data={"rows": 2})


def old_form(params, db, user_id, context):
    return {"params": params, "db": db, "user": user_id, "chat": context["chat_id"], "page": context["page"], "tab": context["tab"], "folder": context["workspace"].is_dir()}


def streams(params, db, user_id, context):
    yield ToolProgress(stage="one", message="first", data={"n": 1})
    yield Same(stage="two", message="second", progress=0.5)
    yield "a text"
    return ToolResult(text="done", data={"seen": 3})


def yields_its_result(workspace):
    yield ToolProgress(stage="s", message="m", progress=7)
    yield {"last": True}


async def waits(workspace):
    await asyncio.sleep(0)
    return {"async": True}


async def streams_async(workspace):
    yield ToolProgress(stage="a", message="b")
    await asyncio.sleep(0)
    yield {"async": "generator"}


def reports(workspace):
    report("stage", "message", {"k": 1}, 0.25)
    return {}


def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@decorated
def wrapped(params, db, user_id, context):
    return {"wrapped": params}


class Tool:
    def __call__(self, workspace, a):
        return {"called": a}

    def method(self, workspace, a):
        return {"method": a}


instance = Tool()
method = Tool().method


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Row:
    name: str
    size: int


def values(workspace):
    return {
        "set": {"b", "a"}, "tuple": (1, 2), "path": workspace / "x" == None, "pure": pathlib.PurePosixPath("a/b"),
        "date": datetime.date(2026, 1, 2), "time": datetime.datetime(2026, 1, 2, 3, 4, 5), "enum": Colour.RED, "row": Row("n", 1),
        "decimal": Decimal("1.10"), "uuid": uuid.UUID(int=1), "true": True, "none": None, "float": 0.1, "int": 9007199254740991,
        "text": "é\u2028\n\"</script>", 1: "number key", None: "none key", "empty": [{}, []], "nested": {"a": [{"b": 1.5}]},
    }


def odd_numbers(workspace):
    return {"nan": float("nan"), "inf": [float("-inf")], "big": 2**60, "lone": "\ud800"}


def rows(workspace):
    return [Row("n", 1)]


def data_class(workspace):
    return Row("n", 1)


def uses_helper(workspace):
    return {"helper": helper.VALUE, "asset": helper.asset()}


def prints(workspace):
    import os
    import subprocess
    import sys

    print("out")
    print("err", file=sys.stderr)
    os.write(1, b"raw\n")
    subprocess.run(["echo", "child"], check=True)
    return {"read": sys.stdin.read()}


def writes(workspace, name, content):
    (workspace / name).write_text(content)
    return {"written": name}

"""Makes the calls that stand on stdin, one JSON object a line, and answers each
with one. It knows how a toolset's functions are called and what they may
return, and nothing of sandboxes, time limits or hostile tools.

Where no module called fettle is installed, the two classes that toolsets
import from it are made here."""

import dataclasses
import importlib
import inspect
import io
import json
import pathlib
import sys
import types

try:
    import fettle
except ImportError:
    fettle = types.ModuleType("fettle")

    @dataclasses.dataclass
    class ToolProgress:
        stage: str
        message: str
        data: dict = None
        progress: float = None

    @dataclasses.dataclass
    class ToolResult:
        text: str = ""
        data: dict = None
        workspace_payload: dict = None
        payload: dict = None

    fettle.ToolProgress, fettle.ToolResult = ToolProgress, ToolResult
    sys.modules["fettle"] = fettle

CONTEXT = ["params", "db", "user_id", "context"]


def call(request):
    module = importlib.import_module(request["module"])
    function = getattr(module, request["function"])
    if "input" in request:  # a payload's parser
        return {"data": function(request["input"])}
    workspace = pathlib.Path(request["workspace"])
    if list(inspect.signature(function).parameters) == CONTEXT:
        context = {"chat_id": "test", "workspace": workspace, "page": None, "tab": None}
        value = function(request["args"], None, 0, context)
    else:
        value = function(workspace, **request["args"])
    progress = []
    if inspect.isgenerator(value):
        value = drain(value, progress)
    out = {"progress": progress}
    if isinstance(value, fettle.ToolResult):
        out.update(text=value.text, data=value.data, workspace_payload=value.workspace_payload, payload=value.payload)
    elif isinstance(value, str):
        out.update(text=value, data={"text": value})
    elif isinstance(value, dict):
        out.update(data=value)
    else:
        raise TypeError(f"a tool returned {type(value).__name__}")
    return out


def drain(steps, progress):
    """The ToolResult that a generator returns, or yields last."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        if isinstance(step, fettle.ToolResult):
            return step
        progress.append({"stage": step.stage, "message": step.message, "data": step.data, "progress": step.progress})


def main():
    sys.dont_write_bytecode = True
    root = sys.argv[1]
    sys.path[:0] = [root, root + "/tools"]
    answers, sys.stdout = sys.stdout, io.StringIO()  # what a tool prints is no answer
    for line in sys.stdin:
        try:
            out = call(json.loads(line))
        except Exception as e:
            out = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(out, allow_nan=False), file=answers, flush=True)


main()

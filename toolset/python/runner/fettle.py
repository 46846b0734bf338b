"""What a tool of a fettle toolset may import: ``from fettle import ToolProgress,
ToolResult``. The same names can be had from ``backend.tools.registry`` and
``tools.registry``, unless the toolset has such a module itself.
"""

__all__ = ["ToolConfig", "ToolProgress", "ToolResult", "assets_dir", "get_all_tools", "register_tool", "toolset_dir"]


class _Record:
    __slots__ = ()

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join("%s=%r" % (n, getattr(self, n)) for n in self._names))

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, n) == getattr(other, n) for n in self._names)

    __hash__ = None


class ToolProgress(_Record):
    """An update while a tool runs. ``progress`` is from 0 to 1."""

    _names = ("stage", "message", "data", "progress")

    def __init__(self, stage="", message="", data=None, progress=None):
        self.stage, self.message, self.data, self.progress = stage, message, data, progress


class ToolResult(_Record):
    """What a tool gives: ``text`` for the model, ``data`` for renderers,
    ``workspace_payload`` for the workspace panel, and ``payload``, which is
    ``{"type": ..., "data": ...}``. Without a text the model gets the data."""

    _names = ("text", "data", "workspace_payload", "payload")

    def __init__(self, text=None, data=None, workspace_payload=None, payload=None):
        self.text, self.data, self.workspace_payload, self.payload = text, data, workspace_payload, payload


class ToolConfig(_Record):
    """A tool as a program of its own would register it. fettle goes by
    toolset.yaml; this is here so that such a module can be imported."""

    _names = ("name", "description", "input_schema", "executor", "output_schema", "category", "streaming")

    def __init__(self, name, description="", input_schema=None, executor=None, output_schema=None, category="general", streaming=False):
        self.name, self.description, self.input_schema, self.executor = name, description, input_schema, executor
        self.output_schema, self.category, self.streaming = output_schema, category, streaming


_tools = []


def register_tool(tool):
    """Keep a ToolConfig for get_all_tools. What fettle offers to a model is
    what toolset.yaml declares."""
    _tools.append(tool)
    return tool


def get_all_tools():
    """The configs that were registered in this process."""
    return list(_tools)


def toolset_dir():
    """The folder of the toolset's files; read-only."""
    import os
    from pathlib import Path

    return Path(os.environ["FETTLE_TOOLSET_DIR"])


def assets_dir():
    """The toolset's folder ``assets``."""
    return toolset_dir() / "assets"

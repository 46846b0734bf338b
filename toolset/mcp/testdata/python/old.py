"""An MCP server of 2024-11-05, with the standard library alone: it writes a byte order
mark, logs and broken lines to its standard output, lists its tools in another order each
time, a page at a time, with other white space, and says in between that they changed."""

import json
import random
import sys

NAMES = ["add", "broken", "count", "echo"]


def write(text):
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


def reply(message, **fields):
    # each message with a mark of its own, as a careless encoder writes it
    write("\ufeff" + json.dumps({"jsonrpc": "2.0", "id": message["id"], **fields}) + "\r\n")


def tool(name):
    space = " " * random.randint(1, 8)
    required = ["a", "b"]
    random.shuffle(required)
    keys = {
        "name": name, "description": "Does" + space + name + ".\n" + space + "Always.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}, "text": {"type": "string"}}},
        "_meta": {"listed": random.random()},
    }
    if name == "add":
        keys["inputSchema"]["required"] = required
    items = list(keys.items())
    random.shuffle(items)
    return dict(items)


def listed(message):
    cursor = message.get("params", {}).get("cursor")
    if not cursor:
        random.shuffle(NAMES)
        reply(message, result={"tools": [tool(name) for name in NAMES[:2]], "nextCursor": "2"})
    else:
        reply(message, result={"tools": [tool(name) for name in NAMES[2:]]})


def called(message):
    name, args = message["params"]["name"], message["params"].get("arguments", {})
    write('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n')
    write("INFO called " + name + "\n")
    if name == "broken":
        reply(message, result={"content": [
            {"type": "text", "text": "before"}, {"type": "hologram", "data": "x"},
            {"type": "image", "mimeType": "image/png", "data": "not base64!"}, {"type": "text", "text": "after"},
        ]})
        return
    text = str(args["a"] + args["b"]) if name == "add" else name + " " + args.get("text", "")
    reply(message, result={"content": [{"type": "text", "text": text}]})


write("\ufeffStarting the server\n{\"level\":\"info\",\"msg\":\"a log in JSON\"}\n{broken\n[1, 2\n\n")
for line in sys.stdin.buffer:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message:
        continue
    if method == "initialize":
        reply(message, result={"protocolVersion": "2024-11-05", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "old.py", "version": "1"}})
    elif method == "tools/list":
        listed(message)
    elif method == "tools/call":
        called(message)
    else:
        reply(message, error={"code": -32601, "message": "what?"})

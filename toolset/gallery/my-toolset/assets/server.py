"""A small MCP server: JSON-RPC messages, one a line, on standard input and output."""

import json
import sys
from datetime import datetime, timezone

TOOLS = [
    {
        "name": "now",
        "description": "The time now, in UTC.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    }
]


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "clock", "version": "0.1.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params.get("name") == "now":
        text = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return {"content": [{"type": "text", "text": text}]}
    return None


def main():
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError:
            reply = {"id": None, "error": {"code": -32700, "message": "this is not JSON"}}
        else:
            if "id" not in message:  # a notification, which nobody waits for
                continue
            result = answer(message.get("method"), message.get("params") or {})
            reply = {"id": message["id"]}
            if result is None:
                reply["error"] = {"code": -32601, "message": "there is no such method or tool"}
            else:
                reply["result"] = result
        print(json.dumps({"jsonrpc": "2.0", **reply}), flush=True)


if __name__ == "__main__":
    main()

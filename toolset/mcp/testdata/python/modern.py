"""An MCP server of the modern era, 2026-07-28, with the standard library alone."""

import json
import sys

TOOLS = [
    {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "where", "description": "Names the interpreter's prefix.", "inputSchema": {"type": "object"}},
]


def call(params):
    if params["name"] == "where":
        return {"content": [{"type": "text", "text": sys.prefix}]}
    return {"content": [{"type": "text", "text": "echo " + params.get("arguments", {}).get("text", "")}]}


def answer(method, params):
    if method == "server/discover":
        return {
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "modern.py", "version": "1"}},
        }
    if method == "tools/list":
        return {"resultType": "complete", "tools": TOOLS}
    if method == "tools/call":
        return {"resultType": "complete", **call(params)}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = answer(message["method"], message.get("params", {}))
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "there is no method " + message["method"]}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)

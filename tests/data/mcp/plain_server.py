"""A server of tools without any library, that does what it should not: prints noise, hangs, dies, lists tools
with names that no function may have. What it is told goes to the file of its first argument, line by line."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ANY = {"type": "object"}
TOOLS = [
    {"name": "say it", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
    {"name": "say/it", "description": "The same. Under another name.", "inputSchema": ANY},
    {"name": "environment", "description": "Its environment", "inputSchema": ANY},
    {"name": "die", "description": "Die in the middle of it", "inputSchema": ANY},
    {"name": "", "inputSchema": ANY},
]


def answer(id: Any, result: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)


def called(name: str, arguments: dict[str, Any]) -> str:
    if name == "die":
        sys.stderr.write("no more\n")
        sys.stderr.flush()
        os._exit(1)
    if name == "environment":
        return " ".join(sorted(os.environ))
    return f"{name}: {arguments.get('text')}"


def main() -> None:
    print("this is no message")
    with Path(sys.argv[1]).open("a", encoding="utf-8") as told:
        for line in sys.stdin:
            told.write(line)
            told.flush()
            message = json.loads(line)
            match message.get("method"):
                case "initialize":
                    info = {"name": "plain", "version": "1"}
                    version = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
                    answer(message["id"], {**version, "serverInfo": info})
                case "tools/list":
                    answer(message["id"], {"tools": TOOLS})
                case "tools/call":
                    params = message["params"]
                    text = called(params["name"], params.get("arguments", {}))
                    answer(message["id"], {"content": [{"type": "text", "text": text}]})
                case _ if "id" in message:
                    error = {"code": -32601, "message": "no such method"}
                    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
    if "--stay" in sys.argv:  # a server that does not care that nobody talks to it any more
        time.sleep(1_000)


main()

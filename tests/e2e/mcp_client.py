#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mcp_client.py raw|auto|legacy COMMAND...: drives a server of the Model Context Protocol over the captures in this
directory. raw: by messages of its own, good and bad; else by the package mcp, in that mode. TAP without a plan."""
import asyncio
import json
import os
import select
import subprocess
import sys
import time

MODE, COMMAND = sys.argv[1], sys.argv[2:]
TOOLS = ["summary", "findings", "table", "query", "lines", "source", "diff", "try"]
VERSION = "io.modelcontextprotocol/protocolVersion"
META = {VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
BOUND = 256 << 10

# 10,000 rows; rows without end
ROWS = "WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10000) SELECT x FROM n"
ENDLESS = "WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n"
PATIENCE = 600  # seconds after which a server hangs

# Arguments of good calls, and what is true of the answer.
CALLS = [
    ("summary", {"capture": "run.pillion"}, lambda a: a["rows"][0]["table"] == "run"),
    ("findings", {"capture": "run.pillion"}, lambda a: a["verdict"] == "found" and a["rows"][0]["Advice"]),
    ("findings", {"capture": "run.pillion", "rule": "gpu_idle"}, lambda a: a["rows"][0]["Rule"] == "gpu_idle"),
    ("table", {"capture": "run.pillion", "report": "osrt_sum"}, lambda a: a["rows"][0]["Name"] == "waitpid"),
    ("table", {"capture": "run.pillion", "report": "osrt_sum", "by": "process"}, lambda a: a["rows"][0]["PID"] == 100),
    ("table", {"capture": "run.pillion", "report": "osrt_sum", "top": 1},
     lambda a: a["truncated"] == {"shown": 1, "of": 3}),
    ("table", {"capture": "large.pillion", "report": "nvtx_pushpop_trace"}, lambda a: a["truncated"]["shown"] == 50),
    ("table", {"capture": "large.pillion", "report": "nvtx_pushpop_trace", "top": 1000},
     lambda a: a["truncated"]["shown"] < 1000 < a["truncated"]["of"]),
    ("query", {"capture": "run.pillion", "sql": "SELECT COUNT(*) AS n FROM osrt_sum"},
     lambda a: a["rows"][0]["n"] == 3),
    ("query", {"capture": "run.pillion", "sql": "--a comment\nSELECT 1 AS n"}, lambda a: a["rows"][0]["n"] == 1),
    ("query", {"capture": "run.pillion", "sql": ".tables"}, lambda a: any("osrt_sum" in r["Text"] for r in a["rows"])),
    ("lines", {"capture": "run.pillion"}, lambda a: a["rows"][0]["table"] == "lines"),
    ("source", {"capture": "before.pillion", "file": "train.py", "top": 200},
     lambda a: a["rows"][69]["Source"] == "layer() # 70" and a["rows"][69]["GPU Time (ns)"]),
    ("source", {"capture": "run.pillion", "file": "nosuch.py"},
     lambda a: a["verdict"] == "could_not_check" and "nosuch.py" in a["reason"]),
    ("diff", {"before": ["before.pillion"], "after": ["after.pillion"]}, lambda a: a["verdict"] == "clean"),
    ("diff", {"before": ["before.pillion"], "after": ["slower.pillion"], "over": "step", "by": "kernel", "gate": "3%"},
     lambda a: a["verdict"] == "found" and "train.py:70" in a["reason"]),
    ("try", {"a": "sleep 0.5", "b": "true", "runs": "3"},
     lambda a: a["verdict"] == "clean" and a["rows"][1]["Ratio"] < 1),
    ("table", {"capture": "hostile.pillion", "report": "processes"}, lambda a: "<img" in json.dumps(a["rows"])),
]

# Arguments of calls that fail, and a part of the error.
BAD_CALLS = [
    ("summary", {}, "'capture' is missing"),
    ("summary", {"capture": "nosuch.pillion"}, "No such file"),
    ("summary", {"capture": 7}, "'capture' must be a text"),
    ("summary", {"capture": "--help"}, "No such file"),
    ("findings", {"capture": "run.pillion", "rule": "nosuch"}, "unknown rule"),
    ("table", {"capture": "run.pillion", "report": "nosuch"}, "unknown report"),
    ("table", {"capture": "run.pillion", "report": "osrt_sum", "top": 0}, "top must be"),
    ("table", {"capture": "run.pillion", "report": "osrt_sum", "top": "all"}, "top must be"),
    ("table", {"capture": "run.pillion", "report": "osrt_sum", "by": "nothing"}, "--by takes"),
    ("query", {"capture": "run.pillion", "sql": "DROP TABLE osrt_sum"}, "only read"),
    ("query", {"capture": "run.pillion", "sql": "SELECT absent"}, "no such column"),
    ("query", {"capture": "run.pillion", "sql": "SELECT hex(zeroblob(400000)) AS x"}, "ask for less"),
    ("query", {"capture": "run.pillion", "sql": "SELECT hex(zeroblob(200000000)) AS x"}, "too big"),
    ("query", {"capture": "run.pillion", "sql": f"SELECT hex(zeroblob(1000000)) FROM ({ROWS})"}, "too big"),
    ("query", {"capture": "run.pillion", "sql": f"SELECT 1 FROM ({ROWS}) ORDER BY randomblob(1000000)"},
     "out of memory"),
    ("query", {"capture": "run.pillion", "sql": "SELECT fts3_tokenizer('simple')"}, "fts3_tokenizer"),
    ("query", {"capture": "run.pillion", "sql": "SELECT load_extension('x')"}, "load_extension"),
    ("query", {"capture": "run.pillion", "sql": "SELECT '' LIKE hex(zeroblob(5000))"}, "too complex"),
    ("diff", {"before": [], "after": ["after.pillion"]}, "'before' must be"),
    ("try", {"a": "true", "b": "exit 3"}, "B ended with status 3"),
    ("try", {"a": "true"}, "'b' is missing"),
    ("diff", {"before": ["before.pillion"], "after": [1]}, "'after' must be"),
    ("diff", {"before": ["before.pillion"], "after": ["--json"]}, "No such file"),
]


def check(text, fact, got=None):
    print(f"{'ok' if fact else 'not ok'} - {MODE}: {text}")
    if not fact and got is not None:
        print(f"# got {got!r}"[:2000])


def check_call(name, arguments, wanted, failed, text):
    answer = json.loads(text)
    words = f"{name} {json.dumps(arguments)}"
    if isinstance(wanted, str):
        check(f"fails: {words}", failed and wanted in answer["error"] and answer["hint"], text)
    else:
        check(words, not failed and wanted(answer) and len(text) < BOUND, text)


# ---- without a library ----

def exchange(lines):
    """The answers to these lines, by id."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    result = subprocess.run(COMMAND, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def request(method, params=None, number=1):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def error_of(line):
    answer, = exchange([line])
    return answer["id"], answer["error"]["code"]


def run_deep():
    """Around the depth from which Python cannot write a value that it has read, which depends on its version."""
    depths = [*range(900, 1010), 5000, 100000]
    messages = [request("ping", {"_meta": {VERSION: "DEEP"}}), request("tools/call", {"name": "DEEP"}), "DEEP"]
    text = "".join(json.dumps(message).replace('"DEEP"', "[" * depth + "]" * depth) + "\n"
                   for depth in depths for message in messages)
    result = subprocess.run(COMMAND, input=text, stdout=subprocess.PIPE, text=True, check=False)
    codes = [json.loads(line)["error"]["code"] for line in result.stdout.splitlines()]
    check("deep nesting", result.returncode == 0 and len(codes) == len(depths) * len(messages) and
          set(codes) <= {-32600, -32602}, (result.returncode, len(codes), set(codes)))


def run_raw():
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    answers = exchange([request("initialize", hello, "first"),
                        {"jsonrpc": "2.0", "method": "notifications/initialized"}, request("ping", None, 2),
                        request("tools/list", None, 3)])
    check("a notification has no answer", [a["id"] for a in answers] == ["first", 2, 3], answers)
    check("initialize", answers[0]["result"]["protocolVersion"] == "2025-11-25", answers[0])
    check("ping", answers[1]["result"] == {}, answers[1])
    check("tools/list", [t["name"] for t in answers[2]["result"]["tools"]] == TOOLS, answers[2])
    answer, = exchange([request("initialize", {**hello, "protocolVersion": "2020-01-01"})])
    check("an unknown revision gets the latest", answer["result"]["protocolVersion"] == "2025-11-25", answer)
    answer, = exchange([request("server/discover", {"_meta": META})])
    check("server/discover", "2026-07-28" in answer["result"]["supportedVersions"] and
          answer["result"]["resultType"] == "complete", answer)
    answer, = exchange([request("tools/list", {"_meta": {**META, VERSION: "2030"}})])
    check("a revision that is not served", answer["error"]["code"] == -32022 and
          answer["error"]["data"]["requested"] == "2030", answer)
    lacking = {"_meta": {VERSION: "2026-07-28"}}
    check("without capabilities", error_of(request("tools/list", lacking)) == (1, -32602))
    check("not JSON", error_of("{") == (None, -32700))
    check("a long message", error_of(json.dumps(request("ping", {"x": "y" * (1 << 20)}))) == (None, -32700))
    check("a batch", error_of([request("ping")]) == (None, -32600))
    check("another protocol", error_of({"id": 1, "method": "ping"}) == (1, -32600))
    check("an id that is an object", error_of({"jsonrpc": "2.0", "id": {}, "method": "ping"}) == (None, -32600))
    check("no method", error_of({"jsonrpc": "2.0", "id": 5}) == (5, -32600))
    check("an unknown method", error_of(request("tools/nosuch")) == (1, -32601))
    check("an unknown tool", error_of(request("tools/call", {"name": "nosuch"})) == (1, -32602))
    check("arguments that are a list", error_of(
        request("tools/call", {"name": "summary", "arguments": ["run.pillion"]})) == (1, -32602))
    check("a version that is no text", error_of(request("ping", {"_meta": {**META, VERSION: 1}})) == (1, -32602))
    answer, = exchange([request("tools/call", {"name": ["summary"]})])
    check("a tool whose name is a list", answer["error"] == {"code": -32602, "message": "name must be a text"}, answer)
    run_deep()
    for name, arguments, wanted in CALLS + BAD_CALLS:
        answer, = exchange([request("tools/call", {"name": name, "arguments": arguments})])
        result = answer["result"]
        check_call(name, arguments, wanted, result["isError"], result["content"][0]["text"])


# ---- calls that take long ----

class Server:
    """A server that goes on running."""

    def __init__(self, *options):
        self.process = subprocess.Popen([*COMMAND, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rest = b""

    def send(self, *messages):
        self.process.stdin.write("".join(json.dumps(m) + "\n" for m in messages).encode())
        self.process.stdin.flush()

    def call(self, number, sql):
        self.send(request("tools/call", {"name": "query", "arguments": {"capture": "run.pillion", "sql": sql}}, number))

    def cancel(self, number):
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    def answer(self):
        """The next answer, None: there is none."""
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
            more = self.process.stdout.read1() if ready else b""
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="utf-8") as file:
            return file.read().split()

    def end(self):
        """The exit status after the end of its input."""
        self.process.stdin.close()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


def run_long():
    server = Server()
    server.call(7, ENDLESS)
    server.send(request("ping", None, 8))
    check("ping during a call", server.answer()["id"] == 8)
    server.call("9", "SELECT 9")
    check("another call during a call", server.answer()["id"] == "9")
    server.cancel(7)
    server.cancel("7")
    server.send(request("ping", None, 10))
    check("a call that was cancelled has no answer", server.answer()["id"] == 10)
    check("and no process", server.children() == [], server.children())
    for number in range(20, 30):
        server.call(number, ENDLESS)
    server.call(30, "SELECT 30")
    server.send(request("ping", None, 31))
    check("ping during many calls", server.answer()["id"] == 31)
    check("of which few are executed", len(server.children()) <= 4, server.children())
    for number in range(20, 30):
        server.cancel(number)
    check("one that waited is executed in the end", server.answer()["id"] == 30)
    server.call(40, ENDLESS)
    check("the server ends after its input, though a call runs", server.end() == 0)
    answer = server.answer()
    check("which fails", answer["id"] == 40 and answer["result"]["isError"], answer)

    server = Server("--time-limit=1")
    server.call(1, ENDLESS)
    answer = server.answer()
    check("the time of a call is limited", answer["id"] == 1 and "--time-limit" in str(answer["result"]), answer)
    server.process.stdout.close()
    server.call(2, ENDLESS)
    check("the server ends if nobody reads", server.end() == 0)
    run_tries()


def run_tries():
    """The commands of try end with their call: at its time limit, when it is cancelled, when the server ends."""
    for text, end in [("limit", lambda server: server.answer()), ("cancelled", lambda server: server.cancel(1)),
                      ("SIGTERM", lambda server: server.process.terminate())]:
        server = Server(f"--time-limit={1 if text == 'limit' else PATIENCE}")
        command = f"sleep {PATIENCE} & echo $! >sleeping_{text}.part; mv sleeping_{text}.part sleeping_{text}; wait"
        server.send(request("tools/call", {"name": "try", "arguments": {"a": command, "b": "true"}}))
        check(f"try begins ({text})", eventually(lambda: os.path.exists(f"sleeping_{text}")))
        end(server)
        with open(f"sleeping_{text}", encoding="utf-8") as file:
            sleeping = int(file.read())
        check(f"a command of try ends ({text})", eventually(lambda: not is_running(sleeping)))
        server.end()


def eventually(fact):
    for _ in range(10 * PATIENCE):
        if fact():
            return True
        time.sleep(0.1)
    return False


def is_running(pid):
    """Not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ---- by the package mcp ----

async def run_client():
    import mcp
    from mcp.client.stdio import StdioServerParameters

    if not hasattr(mcp, "Client"):
        print("# the package mcp is older than 2")
        return
    server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    async with mcp.Client(server, mode=MODE) as client:
        tools = (await client.list_tools()).tools
        check("initialise and list", [t.name for t in tools] == TOOLS, tools)
        for name, arguments, wanted in CALLS + BAD_CALLS:
            result = await client.call_tool(name, arguments)
            check_call(name, arguments, wanted, result.is_error, result.content[0].text)
        try:
            await client.call_tool("nosuch", {})
            check("an unknown tool", False)
        except mcp.MCPError as error:
            check("an unknown tool", "unknown tool" in str(error), error)


def main():
    if MODE == "raw":
        run_raw()
        run_long()
    else:
        asyncio.run(run_client())


try:
    main()
except BaseException as error:
    check("every check has run", False, error)
    raise

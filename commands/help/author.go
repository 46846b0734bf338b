package help

import "strings"

// exampleService is a toolset that is a service, by file: the page below shows it
// as it stands.
func exampleService() map[string]string {
	return map[string]string{
		"toolset.yaml": `manifest_version: "1"
id: notepad
name: Notepad
version: 1.0.0
description: A page with words.
tools:
  - id: write
    name: Write
    description: Puts a word on the page.
    entrypoint: tools.notepad:write
    service: true
    renderer: {type: frame, url: "http://localhost:$return.port/"}
    input_schema:
      type: object
      properties: {word: {type: string}}
      required: [word]
`,
		"tools/notepad.py": `import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

server, words = None, []

class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(", ".join(words).encode())

def write(workspace, word):
    global server
    words.append(word)
    if server is None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"port": server.server_port}
`,
	}
}

// servicesPage is the page about tools that live on.
func servicesPage() string {
	var b strings.Builder
	b.WriteString(`Tools that live on: a small program with a page of its own, in the chat.

A Python tool with service: true is a process that goes on after its call. The
next call of the tool in the same chat reaches it, with all that it has in
memory. What it serves on this machine's loopback is shown by fettle serve
where its renderer is a frame: the call returns the port, and the address of
the frame names it. The page has an origin of its own, and WebSockets work. The
sandbox is that of any call of the tool.
`)
	for _, name := range []string{"toolset.yaml", "tools/notepad.py"} {
		b.WriteString("\n" + name + "\n")
		for line := range strings.Lines(exampleService()[name]) {
			b.WriteString(strings.TrimRight("  "+line, " \n") + "\n")
		}
	}
	b.WriteString(`
What it can count on:
  one process a tool and chat, and its calls one after the other
  a network of its own on Linux; where there is none, as on macOS and Windows,
  its port is the machine's, and the call's result says so
  what it writes between calls is in the chat's next state, as a change of
  somebody else
It ends with its chat, when its toolset changes, before undo, restore or a
switch of branches writes into its folder, and after half an hour in which
nobody called it or looked at it; fettle ask and fettle tool call end it with
themselves. A call after that starts another, with nothing in memory: what is
to last goes into the workspace. At most 4 live in a chat, 12 in all.

  fettle tool services              lists those that run, with their ports
  fettle tool stop notepad:write    ends one
  fettle toolset validate notepad   finds a frame whose tool isn't a service
`)
	return b.String()
}

// authorShapes are the JSON of the commands of who makes toolsets.
func authorShapes() []shape {
	version := field{"schema_version", "1"}
	return []shape{
		{"fettle toolset validate -o json", []field{
			version,
			{"ok, strict", "whether nothing counts against it; with --strict warnings count too"},
			{"errors, warnings, notes", "how many there are in all bundles"},
			{"bundles", "in the order in which they were named, each a bundle as below"},
		}},
		{"a bundle that was judged", []field{
			{"bundle, ok", "the path as it was given, and whether nothing counts against it"},
			{"id, name, version, kind", "what it says of itself, where that can be read; kind is toolset, mcpb or skill"},
			{"hash", "the digest of its files, however they are packed"},
			{"files, bytes", "what is in it"},
			{"errors, warnings, notes", "how many findings there are"},
			{"findings", "the manifest's first, then by file and place, each a finding as below"},
		}},
		{"a finding", []field{
			{"level, code, message", "error, warning or note; the stable name of its kind; what it is, on one line"},
			{"file, line, column", "the place in the bundle, counted from 1; left out where the whole is meant"},
			{"path", "the file from the repository's root, where it is a file of the disk"},
			{"pointer", "the JSON pointer of the manifest's value"},
			{"help", "what the kind is about"},
		}},
		{"fettle toolset test -o json", []field{
			version,
			{"ok", "whether all tests passed"},
			{"bundle, id, version", "the path as it was given, and what the toolset is"},
			{"passed, failed, broken", "how many; broken ones could not be run"},
			{"tests", "in the manifest's order, each a test as below"},
		}},
		{"a test", []field{
			{"index, name, tool", "its place in the manifest from 0, its name, the tool's id"},
			{"status", "passed, failed or broken"},
			{"mismatches", "what came out otherwise, each with what (return/PATH, error, output_schema, file PATH), message, want, got"},
			{"reason", "why it could not be run"},
			{"traceback", "the tool's own, where it failed and should not have"},
			{"duration_ms", "how long it took"},
		}},
		{"fettle toolset pack -o json", []field{
			version,
			{"path, id, version", "the file that was written, and what the toolset is"},
			{"sha256, size", "of the ZIP"},
			{"content_hash", "the digest of its files, however they are packed"},
			{"files, warnings", "how many files are in it, and warnings there were"},
			{"unchanged", "true where the same file was there already"},
		}},
	}
}

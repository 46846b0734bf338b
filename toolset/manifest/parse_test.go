package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

// example reads a manifest of the toolsets that lie beside the tests of the
// whole program.
func example(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "toolsets", name, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestDocumentsExamples(t *testing.T) {
	t.Parallel()
	d := Parse(FileName, example(t, "app-builder"), Options{})
	if len(d.Problems) > 0 || d.Err() != nil {
		t.Fatalf("the App Builder has problems: %v", d.Problems)
	}
	m := d.Manifest
	if m.ID != "app-builder" || len(m.Tools) != 3 || m.Tools[2].Renderer.Content != "$return.output" || !m.Tools[2].RequiresConfirmation {
		t.Errorf("read %+v", m)
	}
	records := m.ToolRecords()
	if records[0].ID != "app-builder:write_file" || records[0].ToolsetID != "app-builder" || !records[0].Enabled ||
		records[0].Annotations != toolset.UnknownAnnotations() || records[0].Entrypoint != "tools.files:write_file" {
		t.Errorf("the record is %+v", records[0])
	}

	d = Parse(FileName, example(t, "my-toolset"), Options{})
	if d.Err() != nil {
		t.Fatal(d.Err())
	}
	if len(d.Problems) != 1 || d.Problems[0].Code != CodeUnpinned || d.Problems[0].Line != 52 {
		t.Errorf("want one warning of the server without a version, got %v", d.Problems)
	}
	for _, ref := range d.Manifest.Files() {
		found := slices.ContainsFunc(ref.Paths, func(p string) bool {
			_, err := os.Stat(filepath.Join("..", "..", "testdata", "toolsets", "my-toolset", filepath.FromSlash(p)))
			return err == nil
		})
		if !found {
			t.Errorf("%s: none of %v is there", ref.Pointer, ref.Paths)
		}
	}
}

// everything is a manifest with each field that there is.
const everything = `manifest_version: "1"
id: all-of_it1
name: All of it
version: 1.2.3-rc.1+build.5
description: |
  Several lines,
    one of them indented.
requirements: [requests==2.32.3, "idna==3.10 --hash=sha256:12f65c9b470abda6dc35cf8e63cc574b1c52b11df2c86030af0ac09b01b13ea9", "pandas >= 2, < 3 ; python_version >= '3.9'", "httpx[http2]"]
permissions:
  network: [api.example.com, "*.example.org", "api.example.com:8443"]
  env: [REGION]
  read: [~/data, /usr/share/zoneinfo]
tools:
  - id: analyze
    name: Analyze
    description: Analyze a file
    entrypoint: analyze.main:run
    category: data work
    input_schema:
      type: object
      properties:
        filename: {type: string, pattern: '^[a-z]+\.csv$'}
        limit: {type: integer, minimum: 1, maximum: 9007199254740993, default: 1e3}
        nested: {type: object, properties: {deep: {type: array, items: {$ref: '#/$defs/thing'}}}}
      required: [filename]
      $defs: {thing: {type: object, properties: {name: {type: string}}}}
    output_schema: {type: object, properties: {port: {type: integer}, stats: {type: object}}}
    requires_confirmation: true
    streaming: true
    service: true
    timeout: 1m30s
    annotations: {read_only: true, destructive: false}
    renderer: {type: html, artifact: ./artifacts/a.html, data: {all: $return, one: [$args.nested.deep.0.name, 5, null, true]}}
  - id: show
    description: Show
    entrypoint: tools.show:run
    input_schema: {type: object}
    renderer: {type: frame, url: 'http://localhost:$return.port'}
  - {id: doc, description: Doc, entrypoint: 'doc:run', input_schema: {type: object}, renderer: {type: document, content: $return.text, editable: true}}
mcp_servers:
  - {id: local, command: npx, args: [-y, some-server@1.2.3, "--key=${KEY_OF_IT}"], env: {MODE: fast, API_KEY: "${MY_KEY}"}, auto_enabled: false}
  - {id: remote, name: Remote, description: Elsewhere, url: 'https://mcp.example.com/mcp', headers: {Authorization: 'Bearer ${MCP_TOKEN}'}}
agents:
  - {id: first, name: First, purpose: Begins, prompt: Begin., tools: [analyze, read_file, "other:*"], handoffs: [second], history: turn, answers: true}
  - {id: second, purpose: Ends, prompt: End., model: ollama/qwen3, handoffs: [first]}
payloads:
  - type: proposal
    parse_marker: "PROPOSAL:"
    llm_instructions: Say PROPOSAL and JSON.
    schema: {type: object, properties: {title: {type: string}}}
    parser: tools.parse:proposal
    relevant_tabs: [semantic, retrieval]
    renderer: {type: code, content: $return.title, language: json}
    render_options: {panelWidth: 550px, headerTitle: Proposal, headerIcon: pen}
    style: {icon: pen, colour: "#0af", label: Proposal, editable: true}
    on_accept: {action: accept}
    on_reject: {tool: doc}
pages:
  - id: edit_stream
    name: Edit
    context: You are on the page of $context.stream.name.
    payloads: [proposal]
    client_actions: [{action: accept, label: Accept, description: Takes it, input_schema: {type: object}}]
workflows:
  - id: find
    name: Find
    description: Finds it
    input_schema: {type: object, properties: {name: {type: string}}}
    steps:
      - {id: one, name: One, tool: analyze, args: {filename: $args.name, limit: 3}, checkpoint: true}
      - {id: two, agent: second, prompt: Go on with $steps.one.stats}
      - {id: three, tool: "all-of_it1:doc", args: {all: [$steps.two.text, $steps.one]}}
tests:
  - name: it counts
    tool: analyze
    args: {filename: a.csv, limit: 3}
    files: {a.csv: "x\n1\n", sub/b.txt: ""}
    expect:
      return: {stats: {rows: 1}}
      files: {output.json: "{}"}
      absent: [tmp.txt]
  - {tool: show, expect: {error: no port}}
`

func TestEveryField(t *testing.T) {
	t.Parallel()
	d := Parse(FileName, []byte(everything), Options{Builtins: []string{"read_file"}})
	if len(d.Problems) > 0 {
		t.Fatalf("problems: %v", d.Problems)
	}
	m := d.Manifest
	if m.Tools[0].Timeout != toolset.Duration(90*time.Second) || !m.Tools[0].Annotations.ReadOnly || !m.Tools[0].Annotations.OpenWorld {
		t.Errorf("read the first tool as %+v", m.Tools[0])
	}
	if !strings.Contains(string(m.Tools[0].InputSchema), `"maximum":9007199254740993,"default":1e3`) {
		t.Errorf("numbers were changed: %s", m.Tools[0].InputSchema)
	}
	if want := "Several lines,\n  one of them indented.\n"; m.Description != want {
		t.Errorf("the description is %q", m.Description)
	}
}

// TestProblems holds each kind of mistake to its code, place and words. %s in
// a text is where the problem must be.
func TestProblems(t *testing.T) {
	t.Parallel()
	tool := func(more string) string {
		return "tools:\n  - id: t\n    description: d\n    entrypoint: tools.t:run\n    input_schema: {type: object, properties: {filename: {type: string}}}\n" + more
	}
	server := func(more string) string { return "mcp_servers:\n  - id: s\n" + more }
	for _, tt := range []struct{ name, text, code, msg string }{
		{"unknown field", minimal("%stoolz: []"), CodeUnknownField, `unknown field "toolz"; did you mean tools?`},
		{"unknown field far from all", minimal("%szzz: 1"), CodeUnknownField, "known are manifest_version, id"},
		{"field of another renderer", minimal(tool("    renderer: {type: frame, url: 'http://x', %seditable: true}")), CodeUnknownField, `"editable"`},
		{"missing field", "%sid: demo\nname: D\nversion: 1.0.0\ndescription: d", CodeMissingField, "the field manifest_version is missing"},
		{"version of the manifest", strings.Replace(minimal(""), `"1"`, `%s"2"`, 1), CodeWrongValue, "expected 1 (in quotes)"},
		{"version as a number", strings.Replace(minimal(""), `"1"`, `%s1`, 1), CodeWrongType, `found the number 1; quote it: "1"`},
		{"no semantic version", minimal("version: %sv1.0"), CodeWrongValue, "semantic version"},
		{"leading zero in a version", minimal("version: %s1.02.0"), CodeWrongValue, "semantic version"},
		{"id with capitals", strings.Replace(minimal(""), "id: demo", "id: %sDemo", 1), CodeWrongValue, "an id of a-z"},
		{"id of a device", strings.Replace(minimal(""), "id: demo", "id: %scom1", 1), CodeReservedID, "device"},
		{"id of clients' tools", strings.Replace(minimal(""), "id: demo", "id: %sclient", 1), CodeReservedID, "a client of fettle runs itself"},
		{"id of ours", strings.Replace(minimal(""), "id: demo", "id: %sbuiltin", 1), CodeReservedID, "fettle's own"},
		{"nothing where a list is due", minimal("tools:%s"), CodeWrongType, "expected a list, found nothing"},
		{"text where a list is due", minimal("tools: %sall"), CodeWrongType, `expected a list, found "all"`},
		{"yes is no boolean", minimal(tool("    streaming: %syes")), CodeWrongType, `expected true or false, found "yes"`},
		{"local tag", minimal("requirements: %s!x [a]"), CodeTag, "tag"},
		{"core tag", minimal("requirements: [%s!!str a]"), CodeTag, "tag"},
		{"lone tag", minimal("requirements: [%s! a]"), CodeTag, `"!"`},
		{"lone tag on a list", minimal("requirements: %s! [a]"), CodeTag, `"!"`},
		{"tag written out", minimal("requirements: [%s!<tag:yaml.org,2002:str> a]"), CodeTag, "!!str"},
		{"tag of a key", minimal("? %s!!str requirements\n: [a]"), CodeTag, "!!str"},
		{"version of YAML", "# first\n\n%s%YAML 1.1\n---\n" + minimal(""), CodeTag, "directive"},
		{"handle of tags", "%s%TAG !e! tag:example.com,2000:\n---\n" + minimal(""), CodeTag, "directive"},
		{"old Mac's line end", minimal("requirements: %s[a]\r- b"), CodeYAML, "carriage return"},
		{"next line", minimal("requirements: %s[a\u0085]"), CodeYAML, "U+0085"},
		{"line separator", minimal("requirements: %s[a\u2028]"), CodeYAML, "U+2028"},
		{"alias as a value", minimal("requirements: &r [a]\npermissions: {env: %s*r}"), CodeAlias, "*r"},
		{"unknown alias", minimal("requirements: %s*nowhere"), CodeAlias, ""},
		{"number as a key", minimal("permissions: {%s1: a}"), CodeKey, "a key is text"},
		{"null as a key", minimal("permissions: {%s~: a}"), CodeKey, "a key is text"},
		{"duplicate deep in data", minimal(tool("    renderer: {type: html, artifact: a.html, data: {x: 1, %sx: 2}}")), CodeDuplicateKey, "first in line"},
		{"binary number", minimal(tool("    renderer: {type: html, artifact: a.html, data: %s0b11}")), CodeNumber, "differ"},
		{"leading zero", minimal(tool("    renderer: {type: html, artifact: a.html, data: %s0123}")), CodeNumber, "differ"},
		{"underscores", minimal(tool("    renderer: {type: html, artifact: a.html, data: %s1_000}")), CodeNumber, "differ"},
		{"infinity", minimal(tool("    renderer: {type: html, artifact: a.html, data: %s-.inf}")), CodeNumber, "JSON"},
		{"out of a float's range", minimal(tool("    renderer: {type: html, artifact: a.html, data: %s1e999}")), CodeNumber, "range"},
		{"no digit before the point", minimal(tool("    renderer: {type: html, artifact: a.html, data: %s.5}")), CodeNumber, "differ"},
		{"two documents", minimal("") + "%s--- \nid: x", CodeYAML, "second document"},
		{"tab", "id: x\n%s\tname: y", CodeYAML, ""},
		{"open quote", minimal("requirements: [%s\"a"), CodeYAML, "never closed"},
		{"control character", minimal("# %s\x01"), CodeYAML, "U+0001"},
		{"entrypoint with a path", minimal(strings.Replace(tool(""), "tools.t:run", "%stools/t.py:run", 1)), CodeWrongValue, "module:function"},
		{"entrypoint of a hidden function", minimal(strings.Replace(tool(""), "tools.t:run", "%stools.t:_run", 1)), CodeWrongValue, "no part begins with _"},
		{"entrypoint of a hidden module", minimal(strings.Replace(tool(""), "tools.t:run", "%stools._t:run", 1)), CodeWrongValue, "module:function"},
		{"entrypoint in Python's own", minimal(strings.Replace(tool(""), "tools.t:run", "%ssubprocess:run", 1)), CodeEntrypoint, "Python's own"},
		{"module that shadows one of Python's", minimal(strings.Replace(tool(""), "tools.t:run", "%stools.json:run", 1)), CodeEntrypoint, "may mean itself"},
		{"name of a provider's tool", minimal(strings.Replace(tool(""), "id: t", "id: %sBash", 1)), CodeReservedID, "provider"},
		{"ids that differ in case", minimal("payloads: [{type: a}, {type: %sA}]"), CodeDuplicateID, "only in case"},
		{"input called workspace", minimal("tools: [{id: t, description: d, entrypoint: 'a:b', input_schema: {type: object, properties: {workspace: %s{}}}}]"), CodeSchema, "workspace"},
		{"schema of another type", minimal("tools: [{id: t, description: d, entrypoint: 'a:b', input_schema: {type: %sarray}}]"), CodeWrongValue, "expected type: object"},
		{"schema with a misspelt type", minimal("tools: [{id: t, description: d, entrypoint: 'a:b', input_schema: {type: object, properties: {a: {type: %stext}}}}]"), CodeSchema, "/properties/a/type"},
		{"look-behind in a name's pattern", minimal("tools: [{id: t, description: d, entrypoint: 'a:b', input_schema: {type: object, patternProperties: {'(?<=a)b': %s{}}}}]"), CodeSchema, "RE2"},
		{"property called pattern is none", minimal("tools: [{id: t, description: d, entrypoint: 'a:b', input_schema: {type: object, properties: {pattern: {type: string, pattern: %s'(?!a)'}}}}]"), CodeSchema, "look-around"},
		{"argument that isn't there", minimal(tool("    renderer: {type: code, file: %s$args.file}")), CodeReference, `"$args.file" is not in input_schema`},
		{"argument nearly right", minimal(tool("    renderer: {type: code, file: %s'out/$args.filenam'}")), CodeReference, "did you mean filename?"},
		{"part of a text", minimal(tool("    renderer: {type: code, file: %s$args.filename.x}")), CodeReference, "filename of input_schema"},
		{"return that isn't there", minimal(tool("    output_schema: {type: object, properties: {a: {type: object, properties: {b: {}}}}}\n    renderer: {type: html, artifact: a.html, data: {x: [%s$return.a.c]}}")), CodeReference, "a of output_schema"},
		{"unknown interpolation", minimal(tool("    renderer: {type: code, content: %s$retrun.x}")), CodeReference, "did you mean $return?"},
		{"both file and content", minimal(tool("    renderer: {type: code, file: a, %scontent: b}")), CodeFieldChoice, "file or content, found both"},
		{"neither file nor content", minimal(tool("    renderer: %s{type: document}")), CodeFieldChoice, "expected file or content"},
		{"unknown renderer", minimal(tool("    renderer: {type: %shmtl}")), CodeWrongValue, "did you mean html?"},
		{"absolute artifact", minimal(tool("    renderer: {type: html, artifact: %s/etc/x.html}")), CodePath, "inside the bundle"},
		{"Windows artifact", minimal(tool("    renderer: {type: html, artifact: %s'C:x.html'}")), CodePath, "inside the bundle"},
		{"artifact that climbs", minimal(tool("    renderer: {type: html, artifact: %sa/../../x.html}")), CodePath, "inside the bundle"},
		{"artifact that is code", minimal(tool("    renderer: {type: html, artifact: %stools/t.py}")), CodePath, "HTML"},
		{"timeout too long", minimal(tool("    timeout: %s11m")), CodeValueRange, "to 10m"},
		{"timeout that overflows", minimal(tool("    timeout: %s99999999999999999999h")), CodeValueRange, "to 10m"},
		{"timeout without a unit", minimal(tool("    timeout: %s90")), CodeWrongType, "a duration"},
		{"command with a path", minimal(server("    command: %s../run")), CodeWrongValue, "one program"},
		{"command with arguments", minimal(server("    command: %spython3 -m x")), CodeWrongValue, "one program"},
		{"command and url", minimal(server("    command: npx\n    %surl: https://a.example.com")), CodeFieldChoice, "command or url"},
		{"headers for a command", minimal(server("    command: x\n    %sheaders: {A: b}")), CodeFieldChoice, "headers goes with url"},
		{"shell by another name", minimal(server("    command: %sbash.exe\n    args: [-c, ls]")), CodeShell, "a shell"},
		{"code in an argument", minimal(server("    command: python3.12\n    args: %s[-c, 'import os']")), CodeShell, "in an argument"},
		{"tag instead of a version", minimal(server("    command: uvx\n    args: [--from, %s'x@next', y]")), CodeUnpinned, "no exact version"},
		{"image without a digest", minimal(server("    command: docker\n    args: [run, --rm, %sghcr.io/x/y:1]")), CodeUnpinned, "no exact version"},
		{"loader's variable", minimal(server("    command: x\n    env: {LD_PRELOAD: %sassets/x.so}")), CodeVariable, "load code"},
		{"shell's default value", minimal(server("    command: x\n    env: {A: %s'${A:-b}'}")), CodeVariable, "expected ${NAME}"},
		{"the user's key", minimal(server("    command: x\n    args: [%s'${GITHUB_TOKEN}']")), CodeSecretName, "GITHUB_TOKEN"},
		{"secret by its name", minimal(server("    command: x\n    env: {API_TOKEN: %sabc}")), CodeSecret, "${API_TOKEN}"},
		{"secret by its look", minimal(server("    command: x\n    args: [%sghp_EXAMPLEnotrealEXAMPLEnotreal1234]")), CodeSecret, "key of a service"},
		{"loopback", minimal(server("    url: %shttps://127.1/mcp")), CodeURL, "number"},
		{"mapped loopback", minimal(server("    url: %s'https://[::ffff:127.0.0.1]/mcp'")), CodeURL, "private"},
		{"name of a private network", minimal(server("    url: %shttps://printer.local/mcp")), CodeURL, "private network"},
		{"host that is a variable", minimal(server("    url: %s'https://${HOST}/mcp'")), CodeURL, ""},
		{"plain http", minimal(server("    url: %shttp://mcp.example.com/")), CodeURL, "https"},
		{"private host in permissions", minimal("permissions: {network: [%s10.0.0.1]}"), CodeHost, "private"},
		{"host that is an address", minimal("permissions: {network: [%s'https://a.example.com/']}"), CodeWrongValue, "a host"},
		{"every host", minimal("permissions: {network: [%s'*']}"), CodeWrongValue, "a host"},
		{"relative path to read", minimal("permissions: {read: [%s../x]}"), CodePath, "begins with / or ~/"},
		{"the home folder", minimal("permissions: {read: [%s~/]}"), CodePath, "begins with / or ~/"},
		{"the key in permissions", minimal("permissions: {env: [%sOPENAI_API_KEY]}"), CodeSecretName, "holds a key"},
		{"keys to read", minimal("permissions: {read: [%s~/.ssh/config]}"), CodeSecretName, "keys and passwords"},
		{"a folder above the keys", minimal("permissions: {read: [%s/home]}"), CodeSecretName, "keys and passwords"},
		{"broken glob", minimal("agents: [{id: a, purpose: p, prompt: p, tools: [%s'read_[a']}]"), CodeUnknownName, "left open"},
		{"requirement by address", minimal("requirements: [%s'x @ git+https://example.com/x']"), CodeWrongValue, "no address"},
		{"requirement that is an option", minimal("requirements: [%s'--index-url=https://x']"), CodeWrongValue, "no address"},
		{"handoff to nobody", minimal("agents: [{id: a, purpose: p, prompt: p, handoffs: [%sb]}]"), CodeUnknownName, `no agent "b"`},
		{"handoff to itself", minimal("agents: [{id: a, purpose: p, prompt: p, handoffs: [%sa]}]"), CodeUnknownName, "itself"},
		{"tool of ours that isn't there", minimal("agents: [{id: a, purpose: p, prompt: p, tools: [%s'demo:x']}]"), CodeUnknownName, "no tool"},
		{"builtin that isn't there", minimal("agents: [{id: a, purpose: p, prompt: p, tools: [%sread_fil]}]"), CodeUnknownName, "did you mean read_file?"},
		{"page with an unknown payload", minimal("payloads: [{type: proposal}]\npages: [{id: p, payloads: [%sproposals]}]"), CodeUnknownName, "did you mean proposal?"},
		{"marker without instructions", minimal("payloads: [{type: a, %sparse_marker: 'A:'}]"), CodeFieldChoice, "goes with llm_instructions"},
		{"workflow without steps", minimal("workflows: [{id: w, steps: %s[]}]"), CodeWrongValue, "1 entry at least"},
		{"step with tool and agent", minimal("workflows: [{id: w, steps: [{id: s, tool: a, %sagent: b}]}]"), CodeFieldChoice, "tool or agent"},
		{"input that a workflow lacks", minimal(tool("") + "workflows: [{id: w, input_schema: {type: object, properties: {name: {type: string}}}, steps: [{id: s, tool: t, args: {filename: %s$args.nmae}}]}]"), CodeReference, "did you mean name?"},
		{"return in a workflow", minimal(tool("") + "workflows: [{id: w, steps: [{id: s, tool: t, args: {filename: %s$return.a}}]}]"), CodeReference, "no interpolation"},
		{"step that comes later", minimal(tool("") + "workflows: [{id: w, steps: [{id: s, tool: t, args: {filename: [%s$steps.s.a]}}]}]"), CodeUnknownName, `no earlier step "s"`},
		{"step that returns something else", minimal("agents: [{id: a, purpose: p, prompt: p}]\nworkflows: [{id: w, steps: [{id: s, agent: a}, {id: u, agent: a, prompt: %s$steps.s.txt}]}]"), CodeReference, "did you mean text?"},
		{"page that means something else", minimal("pages: [{id: p, context: %sOn $contxt.name}]"), CodeReference, "did you mean $context?"},
		{"a marker that JSON holds", minimal("payloads: [{type: a, parse_marker: %s'PLAN{', llm_instructions: x}]"), CodeMarker, "none of { }"},
		{"a marker in bold", minimal("payloads: [{type: a, parse_marker: %s'**A:**', llm_instructions: x}]"), CodeMarker, "none of { }"},
		{"a marker without a letter", minimal("payloads: [{type: a, parse_marker: %s'>>>', llm_instructions: x}]"), CodeMarker, "a letter"},
		{"a short marker", minimal("payloads: [{type: a, parse_marker: %s'A:', llm_instructions: x}]"), CodeMarker, "3 to 100"},
		{"a payload of fettle's own", minimal("payloads: [{type: %ssuggested_values}]"), CodeReservedID, "fettle's own"},
		{"payload accepted by no page", minimal("payloads: [{type: a, on_accept: {action: %sx}}]"), CodeUnknownName, "no page offers"},
		{"payload accepted by an action of another page", minimal("payloads: [{type: a, on_accept: {action: %sx}}]\npages: [{id: p, payloads: [a], client_actions: [{action: y, description: d}]}, {id: q, client_actions: [{action: x, description: d}]}]"), CodeUnknownName, `page "p"`},
		{"payload rejected by no tool", minimal(tool("") + "payloads: [{type: a, on_reject: {tool: %su}}]"), CodeUnknownName, `no tool "u"`},
		{"payload accepted by two", minimal(tool("") + "payloads: [{type: a, on_accept: {action: x, %stool: t}}]"), CodeFieldChoice, "action or tool"},
		{"test of an unknown tool", minimal(tool("") + "tests: [{tool: %su}]"), CodeUnknownName, `no tool "u"`},
		{"test with wrong arguments", minimal(tool("") + "tests: [{tool: t, args: {filename: %s5}}]"), CodeTest, "/filename"},
		{"test with a file outside", minimal(tool("") + "tests: [{tool: t, files: {../x: %sa}}]"), CodePath, "inside the workspace"},
		{"nothing in it", "%s" + minimal(""), CodeEmptyManifest, "no tools"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before, after, ok := strings.Cut(tt.text, "%s")
			if !ok {
				t.Fatal("the text doesn't say where")
			}
			line := strings.Count(before, "\n") + 1
			column := len([]rune(before[strings.LastIndexByte(before, '\n')+1:])) + 1
			d := Parse("x.yaml", []byte(before+after), Options{Builtins: []string{"read_file", "write_file"}})
			if tt.code == CodeYAML || tt.msg == "expected a list, found nothing" || tt.name == "unknown alias" {
				column = 0 // the parser's own mark is near enough
			}
			for _, p := range d.Problems {
				if p.Code == tt.code && strings.Contains(p.Message, tt.msg) && p.Line == line && (column == 0 || p.Column == column) {
					return
				}
			}
			t.Errorf("want %s %q at %d:%d, got\n%s", tt.code, tt.msg, line, column, joined(d.Problems))
		})
	}
}

func joined(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "  %s [%s] %s\n", p, p.Code, p.Pointer)
	}
	return b.String()
}

func TestAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	d := Parse(FileName, []byte(minimal(`tools:
  - id: one
    entrypoint: os:system
    input_schema: {type: object, properties: {a: {type: wrong}}}
    renderer: {type: code, file: $args.b}
  - {id: one, description: d, entrypoint: 'a:b', input_schema: {type: object}, tiemout: 3s}
agents: [{id: a, purpose: p, prompt: p, handoffs: [z]}]`)), Options{})
	var codes []string
	for _, p := range d.Problems {
		codes = append(codes, p.Code)
	}
	want := []string{
		CodeMissingField, CodeEntrypoint, CodeSchema, CodeReference, CodeDuplicateID, CodeUnknownField, CodeUnknownName,
	}
	if !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v:\n%s", codes, want, joined(d.Problems))
	}
	if err := d.Err(); err == nil || !strings.Contains(err.Error(), "toolset.yaml:7:5: ") || !strings.Contains(err.Error(), "(and 6 more)") {
		t.Errorf("the error is %v", err)
	}
}

func TestBoundOfProblems(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 500 {
		fmt.Fprintf(&lines, "x%d: 1\n", i)
	}
	d := Parse(FileName, []byte(minimal(lines.String())), Options{})
	if len(d.Problems) != maxProblems+1 || !strings.Contains(d.Problems[maxProblems].Message, "and 400 more") || d.Manifest != nil {
		t.Errorf("%d problems, the last: %v", len(d.Problems), d.Problems[len(d.Problems)-1])
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"bytes":   minimal("# " + strings.Repeat("x", MaxSize)),
		"values":  minimal("requirements: [" + strings.Repeat("a,", maxMarks+1) + "]"),
		"entries": minimal("requirements: [" + strings.Repeat("a,", maxNodes) + "]"),
		"depth":   minimal("requirements: " + strings.Repeat("[", 100) + strings.Repeat("]", 100)),
		"braces":  minimal("requirements: " + strings.Repeat("{a: ", 100)),
		"dashes":  "- " + strings.Repeat("- ", 200),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := Parse(FileName, []byte(text), Options{})
			if d.Manifest != nil || len(d.Problems) == 0 || d.Problems[0].Code != CodeTooLarge && d.Problems[len(d.Problems)-1].Code != CodeTooLarge {
				t.Errorf("got %s", joined(d.Problems))
			}
		})
	}
}

func TestEntrypointFiles(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"tools.analyze:run":    {"tools/analyze.py", "tools/analyze/__init__.py", "tools/tools/analyze.py", "tools/tools/analyze/__init__.py"},
		"analyze:run":          {"tools/analyze.py", "tools/analyze/__init__.py"},
		"data.clean.rows:fill": {"tools/data/clean/rows.py", "tools/data/clean/rows/__init__.py"},
		"tools:run":            {"tools/tools.py", "tools/tools/__init__.py"},
	} {
		e, err := ParseEntrypoint(in)
		if err != nil || !slices.Equal(e.Files(), want) || e.String() != in {
			t.Errorf("%s: %v %v", in, e.Files(), err)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	ascending := []string{
		"nothing", "0.0.1", "0.9.9", "0.10.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
		"1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "2.0.0", "10.0.0",
	}
	for i, a := range ascending {
		for k, b := range ascending {
			got := CompareVersions(a, b)
			if got < 0 != (i < k) || got > 0 != (i > k) {
				t.Errorf("CompareVersions(%s, %s) = %d", a, b, got)
			}
		}
	}
	if CompareVersions("1.0.0+a", "1.0.0+b") != 0 {
		t.Error("build metadata counts")
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	d := Parse(FileName, example(t, "app-builder"), Options{})
	for pointer, want := range map[string][2]int{
		"/tools/1/entrypoint":  {33, 17},
		"/tools/1/no/such":     {30, 5},
		"":                     {1, 1},
		"/tools/0/renderer":    {25, 7},
		"/tools/99/entrypoint": {9, 3},
	} {
		if l, c := d.At(pointer); l != want[0] || c != want[1] {
			t.Errorf("%s is at %d:%d, want %v", pointer, l, c, want)
		}
	}
	if p := d.Problem("/tools/1/entrypoint", LevelError, "x", "no\x1b[2J"); p.String() != "toolset.yaml:33:17: error: no\ufffd[2J" {
		t.Errorf("got %q", p)
	}
}

func TestVariablesAndSecrets(t *testing.T) {
	t.Parallel()
	d := Parse(FileName, []byte(minimal(`permissions: {env: [REGION, MCP_TOKEN]}
mcp_servers:
  - {id: one, command: x, args: ["--key=${ONE_KEY}", "${MCP_TOKEN}"], env: {MODE: fast, API_KEY: plain-text, OTHER: "${ONE_KEY}", MAY: "${MAYBE:-}", KEY: "${ONE_KEY:-}"}}
  - {id: two, url: "https://mcp.example.com/?k=${TWO}", headers: {X-Maybe: "${MAYBE:-}", X-Api-Key: abc, Accept: text/plain, Authorization: "Bearer ${MCP_TOKEN}"}}`)), Options{})
	if d.Manifest == nil {
		t.Fatal(d.Err())
	}
	got := fmt.Sprint(d.Manifest.Variables())
	if want := "[{MAYBE [one two] false true} {MCP_TOKEN [one two] true false} {ONE_KEY [one] false false} {REGION [] true false} {TWO [two] false false}]"; got != want {
		t.Errorf("the variables are %s, want %s", got, want)
	}
	clean, hidden := d.Manifest.WithoutSecrets()
	if fmt.Sprint(hidden) != "[API_KEY X_API_KEY]" || clean.MCPServers[0].Env["API_KEY"] != "${API_KEY}" || clean.MCPServers[0].Env["MODE"] != "fast" ||
		clean.MCPServers[1].Headers["X-Api-Key"] != "${X_API_KEY}" || clean.MCPServers[1].Headers["Authorization"] != "Bearer ${MCP_TOKEN}" {
		t.Errorf("hid %v: %+v", hidden, clean.MCPServers)
	}
	if d.Manifest.MCPServers[0].Env["API_KEY"] != "plain-text" {
		t.Error("the manifest itself was changed")
	}
	d.Manifest.MCPServers[0].Args = []string{"--token=ghp_EXAMPLEnotrealEXAMPLEnotreal1234"}
	if clean, hidden := d.Manifest.WithoutSecrets(); clean.MCPServers[0].Args[0] != "--token=${ONE_SECRET}" || !slices.Contains(hidden, "ONE_SECRET") {
		t.Errorf("the argument became %q: %v", clean.MCPServers[0].Args[0], hidden)
	}
}

// A secret in an address is none that is shown or handed on.
func TestWithoutSecretsOfAnAddress(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://x.example/mcp":                         "https://x.example/mcp",
		"https://x.example/mcp?lang=en#top":             "https://x.example/mcp?lang=en#top",
		"https://x.example/mcp?a=1&api_key=abc&b=2#top": "https://x.example/mcp?a=1&api_key=${API_KEY}&b=2#top",
		"https://x.example/mcp?api_key=${MINE}":         "https://x.example/mcp?api_key=${MINE}",
		"https://x.example/mcp?token=&x":                "https://x.example/mcp?token=&x",
	} {
		m := &Manifest{MCPServers: []MCPServer{{ID: "x", URL: url}}}
		clean, hidden := m.WithoutSecrets()
		if got := clean.MCPServers[0].URL; got != want || (len(hidden) > 0) != (url != want) {
			t.Errorf("%s: %s, %q; want %s", url, got, hidden, want)
		}
	}
}

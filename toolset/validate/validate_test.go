package validate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset/bundle"
	"github.com/fettle-cli/fettle/toolset/manifest"
)

// folder writes files and gives the folder that they are in.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// head begins a manifest.
const head = "manifest_version: \"1\"\nid: demo\nname: Demo\nversion: \"1.0.0\"\ndescription: A demo.\n"

// tool is a manifest of one tool, with its input schema and more lines.
func tool(entry, schema string, more ...string) string {
	text := head + "tools:\n  - id: one\n    description: Does it.\n    entrypoint: " + entry + "\n    input_schema: {type: object" + schema + "}\n"
	for _, line := range more {
		text += "    " + line + "\n"
	}
	return text
}

// good is a module that goes with tool("tools.a:run", "").
const good = "def run(workspace):\n    return {}\n"

// lines are the findings of a report, as one line each.
func lines(r *Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, fmt.Sprintf("%s:%d:%d %s %s: %s", f.File, f.Line, f.Column, f.Level, f.Code, f.Message))
	}
	return out
}

func judge(t *testing.T, files map[string]string) *Report {
	t.Helper()
	if _, ok := files["README.md"]; !ok {
		files["README.md"] = "# Demo\n"
	}
	r, err := Open(t.Context(), folder(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func want(t *testing.T, r *Report, want ...string) {
	t.Helper()
	got := lines(r)
	if !slices.EqualFunc(got, want, func(g, w string) bool { return strings.HasPrefix(g, w) }) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestEntrypoints(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry, source string
		want          []string
	}{
		"a function":                      {"tools.a:run", good, nil},
		"relative to tools":               {"a:run", good, nil},
		"async and decorated":             {"tools.a:run", "@wraps\nasync def run(workspace): pass\n", nil},
		"a function that another defines": {"tools.a:run", "from .b import go as run\n", nil},
		"by its module's own name":        {"tools.a:run", "from tools.b import go as run\n", nil},
		"a module that isn't there":       {"tools.aa:run", good, []string{"toolset.yaml:9:17 error missing-file: entrypoint tools.aa:run: there is no tools/aa.py (did you mean tools/a.py?)"}},
		"a function that isn't there":     {"tools.a:rnu", good, []string{"toolset.yaml:9:17 error function: entrypoint tools.a:rnu: tools/a.py has no function rnu (did you mean run?)"}},
		"nothing near it":                 {"tools.a:analyze", good, []string{"toolset.yaml:9:17 error function: entrypoint tools.a:analyze: tools/a.py has no function analyze (it has: run)"}},
		"only inside another function":    {"tools.a:run", "def other(workspace):\n    def run(workspace): pass\n", []string{"toolset.yaml:9:17 error function: entrypoint tools.a:run: tools/a.py has no function run (it has: other)"}},
		"in a text":                       {"tools.a:run", "'''\ndef run(workspace): pass\n'''\n", []string{"toolset.yaml:9:17 error function: entrypoint tools.a:run: tools/a.py has no function run"}},
		"a class":                         {"tools.a:run", "class run: pass\n", []string{"toolset.yaml:9:17 error function: entrypoint tools.a:run: run of tools/a.py is a class; a tool is a function"}},
		"a module":                        {"tools.a:run", "import json as run\n", []string{"toolset.yaml:9:17 error function: entrypoint tools.a:run: run of tools/a.py is a module; a tool is a function"}},
		"made by an assignment":           {"tools.a:run", "run = make()\n", []string{"toolset.yaml:9:17 note unchecked: entrypoint tools.a:run: run of tools/a.py is made by an assignment"}},
		"made by the module":              {"tools.a:run", "def __getattr__(name): pass\n", []string{"toolset.yaml:9:17 note unchecked: entrypoint tools.a:run: whether tools/a.py has run can't be seen"}},
		"from elsewhere":                  {"tools.a:run", "from json import dumps as run\n", []string{"toolset.yaml:9:17 note unchecked: entrypoint tools.a:run: tools/a.py imports run from elsewhere"}},
		"from itself for ever":            {"tools.a:run", "from .a import run\n", []string{"toolset.yaml:9:17 note unchecked: entrypoint tools.a:run: it is imported from module to module"}},
		"no Python":                       {"tools.a:run", "def run(workspace:\n", []string{"tools/a.py:1:8 error python-syntax: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(t, map[string]string{"toolset.yaml": tool(tt.entry, ""), "tools/a.py": tt.source, "tools/b.py": "def go(workspace):\n    import a\n"})
			r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Code == CodeUnused })
			want(t, r, tt.want...)
		})
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	const schema = ", properties: {file: {type: string}, limit: {type: integer}}, required: [file]"
	for name, tt := range map[string]struct {
		def, schema string
		want        []string
	}{
		"as the schema":             {"def run(workspace, file, limit=1)", schema, nil},
		"all of them":               {"def run(workspace, **kwargs)", schema, nil},
		"workspace among them":      {"def run(**kwargs)", schema, nil},
		"only keywords":             {"def run(*, workspace, file, limit=1)", schema, nil},
		"some and the rest":         {"def run(workspace, file, **rest)", schema, nil},
		"document 000's four":       {"def run(params, db, user_id, context)", schema, nil},
		"one of them is missing":    {"def run(params, db, user_id)", "", []string{"9:17 error parameters: run (tools/a.py:1): it needs db", "9:17 error parameters: run (tools/a.py:1): it needs user_id", "9:17 warning parameters: run (tools/a.py:1): it is called with workspace=…, and has no parameter of that name; call its first one workspace instead of params"}},
		"no workspace":              {"def run(file, limit=1)", schema, nil},
		"under another name":        {"def run(ws, file, limit=1)", schema, []string{"9:17 warning parameters: run (tools/a.py:1): it is called with workspace=…, and has no parameter of that name; call its first one workspace instead of ws"}},
		"workspace by position":     {"def run(workspace, /, file, limit=1)", schema, []string{"9:17 error parameters: run (tools/a.py:1): it is called with workspace=…, which the / behind its parameters forbids"}},
		"another name":              {"def run(workspace, filename, limit=1)", schema, []string{"9:17 error parameters: run (tools/a.py:1): it needs filename, which input_schema doesn't have", "10:53 error parameters: run (tools/a.py:1): it has no parameter file, which input_schema has"}},
		"a slip":                    {"def run(workspace, fiel, limit=1)", schema, []string{"9:17 error parameters: run (tools/a.py:1): it needs fiel, which input_schema doesn't have (did you mean file?)", "10:53 error parameters: run (tools/a.py:1): it has no parameter file, which input_schema has (did you mean fiel?)"}},
		"no default":                {"def run(workspace, file, limit)", schema, []string{"10:76 error parameters: run (tools/a.py:1): input_schema doesn't require limit, and the function has no default for it"}},
		"never given":               {"def run(workspace, file, limit=1, more=2)", schema, []string{"9:17 note parameters: run (tools/a.py:1): no call gives its parameter more"}},
		"by position alone":         {"def run(file, /, workspace, limit=1)", schema, []string{"10:53 error parameters: run (tools/a.py:1): file can't be given as a keyword"}},
		"no name for Python":        {"def run(workspace)", `, properties: {"file-name": {}, class: {}}`, []string{"10:60 error parameters: run (tools/a.py:1): file-name is no name that a parameter of Python can have", "10:71 error parameters: run (tools/a.py:1): class is no name"}},
		"a schema that is joined":   {"def run(workspace, other)", ", allOf: [{properties: {other: {}}}]", nil},
		"behind a decorator":        {"@wraps\ndef run(workspace, other)", "", []string{"9:17 warning parameters: run (tools/a.py:2): it needs other"}},
		"perhaps":                   {"if True:\n  def run(workspace, other)", "", []string{"9:17 warning parameters: run (tools/a.py:2): it needs other"}},
		"an input called workspace": {"def run(workspace)", ", properties: {workspace: {}}", []string{"10:58 error schema: an input can't be called workspace"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(t, map[string]string{"toolset.yaml": tool("tools.a:run", tt.schema), "tools/a.py": tt.def + ": pass\n"})
			var all []string
			for _, w := range tt.want {
				all = append(all, "toolset.yaml:"+w)
			}
			want(t, r, all...)
		})
	}
}

func TestParsers(t *testing.T) {
	t.Parallel()
	for def, bad := range map[string]bool{
		"def run(text)": false, "def run(text, strict=True)": false, "def run(*args)": false, "def run()": true, "def run(a, b)": true, "def run(text, *, b)": true,
	} {
		r := judge(t, map[string]string{
			"toolset.yaml": head + "payloads:\n  - {type: note, parse_marker: 'NOTE:', llm_instructions: write, parser: 'tools.a:run'}\n", "tools/a.py": def + ": pass\n",
		})
		if bad {
			want(t, r, "toolset.yaml:7:74 error parameters: run (tools/a.py:1): a parser is called with one argument, the text")
		} else {
			want(t, r)
		}
	}
}

func TestImportsAndPermissions(t *testing.T) {
	t.Parallel()
	const top = "tools/a.py:1:"
	for name, tt := range map[string]struct {
		source, more string
		want         []string
	}{
		"Python's own":           {"import os, json.decoder", "", nil},
		"fettle's own":           {"from fettle import ToolResult; from backend.tools.registry import ToolProgress; from tools.registry import ToolConfig", "", nil},
		"of the bundle":          {"from .lib import helper; import lib.helper; from tools.lib.helper import x; from . import b", "", nil},
		"a relative one":         {"from .libs import x", "", []string{top + "1 error python-import: it imports .libs, which the bundle doesn't have"}},
		"a near one":             {"from tools.lib.helpr import x", "", []string{top + "1 error python-import: it imports tools.lib.helpr, which the bundle doesn't have (did you mean tools/lib/helper.py?)"}},
		"a package":              {"import pandas as pd", "", []string{top + "8 warning requirement: it imports pandas, which is neither in the bundle, nor in Python, nor among requirements"}},
		"a required one":         {"import pandas as pd", "requirements: [pandas==2.3.0]", nil},
		"of another name":        {"import yaml, PIL.Image", "requirements: ['PyYAML>=6', Pillow]", nil},
		"perhaps of another":     {"import surprise", "requirements: [scikit-surprise]", nil},
		"one that may fail":      {"try: import pandas\nexcept ImportError: pandas = None", "", nil},
		"inside a function":      {"def f():\n  import pandas", "", []string{"tools/a.py:2:10 warning requirement: "}},
		"the network":            {"import urllib.request", "", []string{top + "8 warning network: it imports urllib.request, and permissions.network is empty"}},
		"from the network":       {"from urllib import request, parse", "", []string{top + "1 warning network: "}},
		"the network, permitted": {"import urllib.request, requests", "requirements: [requests]\npermissions: {network: [api.example.com]}", nil},
		"requests, unpermitted":  {"import requests", "requirements: [requests]", []string{top + "8 warning network: it imports requests"}},
		"a variable":             {"import os; os.environ['MY_NAME']", "", []string{top + "23 warning environment: it reads the variable MY_NAME, which permissions.env doesn't name: it will not be there"}},
		"a permitted one":        {"import os; os.environ['MY_NAME'], os.getenv('HOME')", "permissions: {env: [MY_NAME]}", nil},
		"a near variable":        {"import os; os.getenv('MY_NAMES')", "permissions: {env: [MY_NAME]}", []string{top + "22 warning environment: it reads the variable MY_NAMES, which permissions.env doesn't name (did you mean MY_NAME?)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := judge(t, map[string]string{
				"toolset.yaml": tool("tools.a:run", "") + tt.more + "\n", "tools/a.py": tt.source + "\n" + good,
				"tools/lib/helper.py": "x = 1  # a\n", "tools/b.py": "import lib.helper\n",
			})
			r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Code == CodeUnused })
			want(t, r, tt.want...)
		})
	}
}

func TestRenderers(t *testing.T) {
	t.Parallel()
	for renderer, expect := range map[string]string{
		"{type: frame, url: 'http://localhost:$return.port'}":          "toolset.yaml:11:15 warning renderer: the frame shows what the tool serves, and the tool's process ends with its call",
		"{type: frame, url: 'http://127.0.0.1:$return.port/x'}":        "toolset.yaml:11:15 warning renderer: the frame shows what the tool serves",
		"{type: frame, url: 'http://localhost.example.com'}":           "toolset.yaml:11:34 error renderer: a frame shows what this machine serves",
		"{type: frame, url: '$return.url'}":                            "toolset.yaml:11:34 error renderer: a frame shows what this machine serves",
		"{type: code, file: $args.path}":                               "toolset.yaml:11:34 warning reference: ",
		"{type: code, file: ../x}":                                     "toolset.yaml:11:34 error renderer: expected a path in the workspace, such as $args.path, found ../x",
		"{type: code, file: out.txt}":                                  "",
		"{type: html, artifact: artifacts/pgae.html}":                  "toolset.yaml:11:38 error missing-file: there is no artifacts/pgae.html (did you mean artifacts/page.html?)",
		"{type: html, artifact: ./artifacts/page.html}":                "",
		"{type: html, artifact: artifacts/page.html, data: '$return'}": "artifacts/page.html:0:0 warning html-data: ",
		"{type: html, artifact: artifacts/data.html, data: '$return'}": "",
		"{type: html, artifact: assets/other.html}":                    "assets/other.html:1:1 error html-outside: ",
	} {
		r := judge(t, map[string]string{
			"toolset.yaml": tool("tools.a:run", ", additionalProperties: false", "renderer: "+renderer),
			"tools/a.py":   good, "artifacts/page.html": "<p>data</p>", "artifacts/data.html": "<script>__TOOL_DATA__</script><p>page</p>",
			"assets/other.html": "<img src=//example.com/x.png>",
		})
		r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Code == CodeUnused })
		if expect == "" {
			want(t, r)
		} else {
			want(t, r, expect)
		}
	}
}

func TestFramesOfServices(t *testing.T) {
	t.Parallel()
	for url, expect := range map[string]string{
		"http://localhost:$return.port":          "",
		"http://localhost:$return.port/$args.id": "",
		"https://localhost:$return.port":         "toolset.yaml:12:34 error renderer: a service is reached by http",
		"http://localhost:8000":                  "toolset.yaml:12:34 warning renderer: only a port that the tool's result names",
	} {
		r := judge(t, map[string]string{
			"toolset.yaml": tool("tools.a:run", ", additionalProperties: false", "service: true", "renderer: {type: frame, url: '"+url+"'}"), "tools/a.py": good,
		})
		r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Code == CodeUnused || f.Level == Note || f.Code == "reference" })
		if expect == "" {
			want(t, r)
		} else {
			want(t, r, expect)
		}
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for html, expect := range map[string]string{
		`<style>a { background: url(data:image/png;base64,AA) }</style><img src="data:image/png;base64,AA"><svg xmlns="http://www.w3.org/2000/svg"><use href="#a"/></svg>`: "",
		`<script>const ns = "http://www.w3.org/2000/svg"; // see https://example.com/fetch("https://x.example")</script>`:                                                  "",
		`<script type="application/json">{"fetch": "https://example.com"}</script>`:                                                                                        "",
		`<a href="#top">top</a><form><input></form>`:                             "",
		`<script src="https://cdn.example.com/x.js"></script>`:                   "1:1 error html-outside: <script src> loads https://cdn.example.com/x.js",
		"<p>\n<script\n src='//cdn.example.com/x.js'></script>":                  "2:1 error html-outside: ",
		`<link rel=stylesheet href=https://fonts.example.com/css>`:               "1:1 error html-outside: ",
		`<link rel=stylesheet href=style.css>`:                                   "1:1 error html-separate: <link href> loads style.css",
		`<script src="data:text/javascript,1"></script>`:                         "1:1 warning html-separate: ",
		`<img srcset="a.png 1x, https://example.com/b.png 2x">`:                  "1:1 error html-separate: <img srcset> loads a.png|1:1 error html-outside: <img srcset> loads https://example.com/b.png",
		`<img src="h&#116;tps://example.com/b.png">`:                             "1:1 error html-outside: ",
		"<img src=\"ht\ntps://example.com/b.png\">":                              "1:1 error html-outside: ",
		`<img src="\\example.com\b.png">`:                                        "1:1 error html-outside: ",
		`<video poster="https://example.com/b.png"></video>`:                     "1:1 error html-outside: ",
		`<svg><image xlink:href="https://example.com/b.png"/></svg>`:             "1:6 error html-outside: ",
		`<meta http-equiv="Refresh" content="0; URL=https://example.com">`:       "1:1 error html-outside: <meta http-equiv=refresh>",
		`<base href="https://example.com/">`:                                     "1:1 error html-outside: <base",
		`<iframe src="other.html"></iframe>`:                                     "1:1 error html-outside: <iframe> shows another page",
		`<object data="x.svg"></object>`:                                         "1:1 error html-outside: ",
		`<form action="https://example.com"></form>`:                             "1:1 error html-outside: ",
		`<a href="https://example.com">x</a>`:                                    "1:1 note html-blocked: ",
		`<style>@import "https://example.com/x.css";</style>`:                    "1:8 error html-outside: CSS @import",
		"<style>\n a { background: URL( 'https://example.com/x.png' ) }</style>": "2:18 error html-outside: CSS url",
		`<p style="background: url(https://example.com/x.png)">`:                 "1:1 error html-outside: CSS url",
		`<script>fetch("https://example.com/data")</script>`:                     "1:9 error html-outside: a script reaches for https://example.com/data",
		"<script>\n\n  import x from 'https://example.com/x.js'\n</script>":      "3:12 error html-outside: a script imports",
		`<script>new WebSocket('wss://example.com')</script>`:                    "1:13 error html-outside: ",
		`<script>x.open("GET", "https://example.com")</script>`:                  "1:11 error html-outside: ",
		`<script>img.src = "https://example.com/?" + data</script>`:              "1:12 error html-outside: ",
		`<p onclick="location = 'https://example.com'">`:                         "1:1 error html-outside: ",
		`<script>fetch(url)</script>`:                                            "1:9 warning html-blocked: a script uses the network (fetch)",
		`<script>localStorage.x = 1</script>`:                                    "1:9 warning html-blocked: a script keeps something",
		`<script>eval("1")</script>`:                                             "1:9 warning html-blocked: a script makes code",
		`<script> alert(1)</script>`:                                             "1:10 warning html-blocked: a script opens a window or a dialog (alert)",
		"<p>\xff":                                                                "0:0 error html: a page has to be UTF-8",
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			r := judge(t, map[string]string{
				"toolset.yaml": tool("tools.a:run", "", "renderer: {type: html, artifact: artifacts/page.html}"), "tools/a.py": good, "artifacts/page.html": html,
			})
			var all []string
			for w := range strings.SplitSeq(expect, "|") {
				if w != "" {
					all = append(all, "artifacts/page.html:"+w)
				}
			}
			if want(t, r, all...); t.Failed() {
				t.Log(html)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	for text, expect := range map[string]string{
		"key = 'sk-ant-api03-EXAMPLEnotrealEXAMPLEnotreal'":        "1:8 error secret: this looks like a key of a service",
		"a\n  ghp_EXAMPLEnotrealEXAMPLEnotreal":                    "2:3 error secret: ",
		"AKIAEXAMPLENOTREAL00":                                     "1:1 error secret: ",
		"é -----BEGIN PRIVATE KEY-----":                            "1:3 error secret: ",
		"Authorization: Bearer EXAMnotreal3EXAMnotreal":            "1:23 warning secret: this looks like a token",
		"https://ann:n0t-real-at-all@db.corp.internal/":            "1:13 warning secret: this address holds a password",
		"https://api.corp.internal/?api_key=n0treal000n0treal000":  "1:36 warning secret: this address holds a key",
		"API_KEY = \"a8f5f167f44f4964e6c998dee827110c\"":           "1:12 warning secret: this looks like a key",
		"password: 'n0t-real-at-all-n0t'":                          "1:12 warning secret: this looks like a password",
		"the secret of good tea is 12 minutes, and the key = time": "",
		"API_KEY = os.environ['API_KEY']":                          "",
		"api_key: \"${API_KEY_OF_MY_OWN_1}\"":                      "",
		"token = \"your-token-here-12345\"":                        "",
		"hash: sk-short":                                           "",
	} {
		r := judge(t, map[string]string{"toolset.yaml": tool("tools.a:run", ""), "tools/a.py": good, "README.md": text})
		if expect == "" {
			want(t, r)
		} else {
			want(t, r, "README.md:"+expect)
		}
	}
}

func TestSecretsOfTheManifestAreToldOnce(t *testing.T) {
	t.Parallel()
	text := tool("tools.a:run", "") + "# ghp_EXAMPLEnotrealEXAMPLEnotreal\npermissions: {env: [sk-ant-api03-EXAMPLEnotrealEXAMPLEnotreal]}\n"
	r := judge(t, map[string]string{"toolset.yaml": text, "tools/a.py": good})
	n := 0
	for _, f := range r.Findings {
		if f.Code == CodeSecret {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d secrets: %s", n, strings.Join(lines(r), "\n"))
	}
}

func TestUnusedFilesAndTheReadme(t *testing.T) {
	t.Parallel()
	r, err := Open(t.Context(), folder(t, map[string]string{
		"toolset.yaml": tool("tools.a:run", ""), "tools/a.py": "from .pkg import used\n\ndef run(workspace):\n    return (ASSETS / 'templates' / name).read_text() + 'named.txt'\n",
		"tools/pkg/__init__.py": "", "tools/pkg/used.py": "x = 1\n", "tools/forgotten.py": "x = 1\n",
		"assets/templates/one.json": "{}", "assets/named.txt": "", "assets/left.bin": "\x00", "artifacts/old.html": "<p>", "Makefile": "all:\n", ".env": "A=1\n",
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, r, "Makefile:0:0 note left-out: left out: at the top", "artifacts/old.html:0:0 note unused: nothing mentions this file",
		"assets/left.bin:0:0 note unused: ", "tools/forgotten.py:0:0 note unused: ", ":0:0 note no-readme: there is no README.md")
	if r.Counts(true) != 0 {
		t.Errorf("%d findings count", r.Counts(true))
	}
}

func TestTestsOfUnknownTools(t *testing.T) {
	t.Parallel()
	r := judge(t, map[string]string{"toolset.yaml": tool("tools.a:run", "") + "tests:\n  - {tool: two}\n", "tools/a.py": good})
	want(t, r, "toolset.yaml:12:12 error unknown-name: there is no tool \"two\"")
}

func TestOtherFormats(t *testing.T) {
	t.Parallel()
	r, err := Open(t.Context(), folder(t, map[string]string{"SKILL.md": "---\nname: pdf-forms\ndescription: Fills in forms.\n---\nFill them in.\n"}), Options{})
	if err != nil || r.Kind != "skill" || r.ID != "pdf-forms" || r.Errors > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Open(t.Context(), folder(t, map[string]string{"manifest.json": `{"manifest_version": "0.3", "name": "x"}`}), Options{})
	if err != nil || r.Kind != "mcpb" || r.Errors == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"toolset.yaml": head, "tools/a.py": "\xff"})
	r, err := Open(t.Context(), dir, Options{})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Code != "bundle-toplevel" || r.Findings[0].File != "tools/a.py" || !r.Findings[0].FromBundle() || r.Findings[0].Help == "" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), Options{}); err == nil || Refused(err) != nil {
		t.Errorf("a path that isn't there: %v", err)
	}
}

func TestFindingsAreBoundedAndPrintable(t *testing.T) {
	t.Parallel()
	files := map[string]string{"toolset.yaml": tool("tools.a:run", ""), "tools/a.py": good}
	for i := range 300 {
		files[fmt.Sprintf("artifacts/p%03d.html", i)] = "<script src='https://example.com/\x1b[31m\u202e'></script>"
	}
	r := judge(t, files)
	if len(r.Findings) != MaxFindings+1 || r.Errors != 300 || r.Findings[MaxFindings].Code != CodeMore {
		t.Errorf("%d findings, %d errors, the last %+v", len(r.Findings), r.Errors, r.Findings[len(r.Findings)-1])
	}
	for _, f := range r.Findings {
		if strings.ContainsAny(f.Message, "\x1b\u202e\n") {
			t.Fatalf("%q", f.Message)
		}
	}
}

// TestEveryCodeOfBundlesIsExplained holds the help against package bundle.
func TestEveryCodeOfBundlesIsExplained(t *testing.T) {
	t.Parallel()
	for _, c := range []bundle.Code{
		bundle.Path, bundle.Name, bundle.Depth, bundle.Type, bundle.Duplicate, bundle.Mismatch, bundle.Checksum, bundle.Size, bundle.Bomb, bundle.Count,
		bundle.Encrypted, bundle.Method, bundle.Format, bundle.TopLevel, bundle.Manifest, bundle.Address,
	} {
		if help(bundlePrefix+string(c)) == "" {
			t.Errorf("%s has no help", c)
		}
	}
	seen := map[string]bool{}
	for _, c := range Codes() {
		if seen[c.Name] || c.Help == "" {
			t.Errorf("%s is there twice, or has no help", c.Name)
		}
		seen[c.Name] = true
	}
}

// Python imports a package in the place of a module of its name, and a module in the place
// of a folder without a file of its own: such an entry can't be imported.
func TestEntriesThatAnotherFileHides(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entry string
		files map[string]string
		want  []string
	}{
		"tools.py":           {"tools.tools:run", map[string]string{"tools/tools.py": good}, nil},
		"tools.py, shorter":  {"tools:run", map[string]string{"tools/tools.py": good}, nil},
		"a folder of a name": {"tools.a.b:run", map[string]string{"tools/a/b.py": good}, nil},
		"a package": {"tools.a:run", map[string]string{"tools/a.py": good, "tools/a/__init__.py": ""},
			[]string{"toolset.yaml:9:17 error " + string(manifest.CodeEntrypoint) + ": entrypoint tools.a:run: Python finds tools/a/__init__.py in the place of tools/a.py"}},
		"a module above": {"tools.a.b:run", map[string]string{"tools/a.py": "", "tools/a/b.py": good},
			[]string{"toolset.yaml:9:17 error " + string(manifest.CodeEntrypoint) + ": entrypoint tools.a.b:run: Python finds tools/a.py in the place of tools/a/b.py"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.files["toolset.yaml"] = tool(tt.entry, "")
			r := judge(t, tt.files)
			r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Code == CodeUnused })
			want(t, r, tt.want...)
		})
	}
}

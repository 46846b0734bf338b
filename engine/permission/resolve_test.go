package permission

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
	"github.com/fettle-cli/fettle/toolset/wspath"
)

// folder opens a workspace with some files in it, and links.
func folder(t *testing.T, files []string, links map[string]string) *toolset.Workspace {
	t.Helper()
	ws, err := toolset.OpenManaged(filepath.Join(t.TempDir(), "ws"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	for _, name := range files {
		full := filepath.Join(ws.Path, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(ws.Path, filepath.FromSlash(name))); err != nil {
			t.Skip("links can't be made here: " + err.Error())
		}
	}
	return ws
}

func argsOf(t *testing.T, args map[string]any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// spellingsOf are ways to write the path of src/secret.txt of the test's folder; each of
// them begins where a rule for notes/** would match by the spelling, where that is possible.
func spellingsOf(ws *toolset.Workspace) []string {
	return []string{
		"src/secret.txt", "./src/secret.txt", "notes/../src/secret.txt", "notes/./../src//secret.txt", "notes/link", "notes/dir/secret.txt",
		"notes/x\n/../../src/secret.txt", `"src/secret.txt"`, `"src/\x73ecret.txt"`, filepath.Join(ws.Path, "src", "secret.txt"),
		ws.Path + "/notes/../src/secret.txt",
	}
}

// Every builtin tool with a path, and tools of MCP servers and toolsets that have one under
// other names, or several.
func TestRulesMeanFilesForEveryTool(t *testing.T) {
	t.Parallel()
	ws := folder(t, []string{"src/secret.txt", "notes/a.md"}, map[string]string{"notes/link": "../src/secret.txt", "notes/dir": "../src"})
	type target struct {
		tool toolset.Tool
		arg  string
		list bool
	}
	var targets []target
	for _, e := range builtin.Entries(builtin.Options{}) {
		if _, ok := schemaOf(e.Tool).Properties["path"]; ok {
			targets = append(targets, target{tool: e.Tool, arg: "path"})
		}
	}
	if len(targets) != 5 {
		t.Fatalf("%d builtin tools have a path; the test expects 5", len(targets))
	}
	for _, arg := range []string{"path", "file_path", "destination", "input"} {
		targets = append(targets, target{tool: toolset.Tool{ID: "fs:change", ToolsetID: "fs", InputSchema: json.RawMessage(`{"type":"object"}`)}, arg: arg})
	}
	targets = append(targets, target{tool: toolset.Tool{ID: "fs:read_many", ToolsetID: "fs"}, arg: "paths", list: true})
	for _, to := range targets {
		id := to.tool.ID
		for _, spelled := range spellingsOf(ws) {
			value := any(spelled)
			if to.list {
				value = []string{"notes/a.md", spelled}
			}
			call := func() *Call { return Resolve(to.tool, argsOf(t, map[string]any{to.arg: value}), ws) }
			deny := Policy{Deny: []string{id + "(" + to.arg + "=src/secret.txt)"}, AllowAll: true}
			if v, _ := deny.Decide(call()); v != Refuse {
				t.Errorf("%s: deny of the file gives %v for %q", id, v, spelled)
			}
			if to.tool.ToolsetID == "" || !to.list {
				wants := Policy{Ask: []string{id + "(" + to.arg + "=src/**)"}}
				if v, _ := wants.Decide(call()); v != Ask {
					t.Errorf("%s: ask about the folder gives %v for %q", id, v, spelled)
				}
			}
			confirmed := to.tool
			confirmed.RequiresConfirmation = true
			allow := Policy{Allow: []string{id + "(" + to.arg + "=notes/**)"}}
			if v, _ := allow.Decide(Resolve(confirmed, argsOf(t, map[string]any{to.arg: value}), ws)); v != Ask {
				t.Errorf("%s: allow of another folder gives %v for %q", id, v, spelled)
			}
		}
		if !to.list {
			confirmed := to.tool
			confirmed.RequiresConfirmation = true
			allow := Policy{Allow: []string{id + "(" + to.arg + "=notes/**)"}}
			if v, why := allow.Decide(Resolve(confirmed, argsOf(t, map[string]any{to.arg: "notes/a.md"}), ws)); v != Run {
				t.Errorf("%s: allow of the folder gives %v (%s)", id, v, why)
			}
		}
	}
}

// The samples of the rules' documentation.
func TestRulesOfPaths(t *testing.T) {
	t.Parallel()
	ws := folder(t, []string{".env", "notes/a.md", "src/main.go"}, nil)
	write := toolset.Tool{ID: "write_file", InputSchema: json.RawMessage(`{"required":["path","content"]}`), RequiresConfirmation: true}
	search := toolset.Tool{ID: "search", InputSchema: json.RawMessage(`{"properties":{"path":{"type":"string","default":"."}}}`)}
	home, _ := os.UserHomeDir()
	for name, c := range map[string]struct {
		policy Policy
		tool   toolset.Tool
		args   map[string]any
		want   Verdict
	}{
		"a file by another spelling":        {Policy{Deny: []string{"write_file(path=.env)"}}, write, map[string]any{"path": "./.env"}, Refuse},
		"a rule with a dot in front":        {Policy{Deny: []string{"write_file(path=./.env)"}}, write, map[string]any{"path": ".env"}, Refuse},
		"a rule with an absolute path":      {Policy{Deny: []string{"write_file(path=" + filepath.ToSlash(ws.Path) + "/**)"}}, write, map[string]any{"path": ".env"}, Refuse},
		"a rule with ~":                     {Policy{Deny: []string{"write_file(path=~/.ssh/**)"}}, write, map[string]any{"path": home + "/x/../.ssh/id"}, Refuse},
		"a value with ~":                    {Policy{Deny: []string{"write_file(path=" + filepath.ToSlash(home) + "/.ssh/**)"}}, write, map[string]any{"path": "~/.ssh/id"}, Refuse},
		"a folder with a slash at the end":  {Policy{Allow: []string{"write_file(path=notes/)"}}, write, map[string]any{"path": "notes/"}, Run},
		"up and out of the allowed folder":  {Policy{Allow: []string{"write_file(path=notes/**)"}}, write, map[string]any{"path": "notes/../src/main.go"}, Ask},
		"the default of the schema":         {Policy{Deny: []string{"search(path=.)"}}, search, map[string]any{}, Refuse},
		"a path in an object":               {Policy{Deny: []string{"write_file(edits=.env)"}}, write, map[string]any{"edits": []any{map[string]any{"to": "./.env"}}}, Refuse},
		"an argument with too many strings": {Policy{Deny: []string{"write_file(paths=.env)"}}, write, map[string]any{"paths": make([]string, maxStrings+1)}, Refuse},
		"a list isn't allowed":              {Policy{Allow: []string{"write_file(paths=notes/**)"}}, write, map[string]any{"paths": []string{"notes/a.md"}}, Ask},
		"the rule of this very file":        {Policy{Allow: []string{"write_file(src/main.go)"}}, write, map[string]any{"path": "notes/../src/main.go"}, Run},
		"a text that is no path":            {Policy{Allow: []string{"write_file(path=notes/*, content=a text)"}}, write, map[string]any{"path": "notes/a.md", "content": "a text"}, Run},
	} {
		if v, why := c.policy.Decide(Resolve(c.tool, argsOf(t, c.args), ws)); v != c.want {
			t.Errorf("%s: verdict %v (%s), want %v", name, v, why, c.want)
		}
	}
}

func TestRememberedRulesHaveTheResolvedForm(t *testing.T) {
	t.Parallel()
	ws := folder(t, []string{"src/main.go", "src/deep/x", "notes/a.md"}, map[string]string{"notes/link": "../src/main.go", "notes/dir": "../src/deep"})
	write := toolset.Tool{ID: "write_file", InputSchema: json.RawMessage(`{"required":["path"]}`)}
	run := toolset.Tool{ID: "set:run", ToolsetID: "set", InputSchema: json.RawMessage(`{"required":["input"]}`)}
	fetch := toolset.Tool{ID: "web_fetch", InputSchema: json.RawMessage(`{"required":["url"]}`)}
	for _, c := range []struct {
		tool      toolset.Tool
		arg       string
		value     string
		wantOfAll string
	}{
		{write, "path", "notes/../src/main.go", "write_file(src/main.go)"},
		{write, "path", "notes/link", "write_file(src/main.go)"},
		{write, "path", filepath.Join(ws.Path, "src", "main.go"), "write_file(src/main.go)"},
		{write, "path", "notes/dir/../main.go", "write_file({notes/main.go,src/main.go})"}, // dots first, links first
		{run, "input", "a text, more", `set:run(a text\, more)`},
		{run, "input", "notes/link", "set:run({notes/link,src/main.go})"},
		{run, "input", "notes/a.md", "set:run(notes/a.md)"},
		{fetch, "url", "HTTPS://Example.COM.:443/a/b", "web_fetch(https://example.com/a/b)"},
		{fetch, "url", "https://example.com", "web_fetch(https://example.com/)"},
	} {
		if got := Resolve(c.tool, argsOf(t, map[string]any{c.arg: c.value}), ws).Rule(); got != c.wantOfAll {
			t.Errorf("%q is remembered as %s, want %s", c.value, got, c.wantOfAll)
		}
	}
}

// A rule that was made of a path allows the same spelling only as long as it leads to the
// same files.
func TestARememberedRuleIsOfTheFile(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"path", "input"} {
		for _, value := range []string{"notes/dir/../main.go", "notes/dir/x", "alias"} {
			ws := folder(t, []string{"src/main.go", "src/deep/x", "notes/a.md", "other/deep/x", "other/main.go"},
				map[string]string{"notes/dir": "../src/deep", "alias": "src/main.go"})
			tool := toolset.Tool{ID: "set:change", ToolsetID: "set", RequiresConfirmation: true, InputSchema: json.RawMessage(`{"required":["` + arg + `"]}`)}
			call := func() *Call { return Resolve(tool, argsOf(t, map[string]any{arg: value}), ws) }
			p := Policy{Allow: []string{call().Rule()}}
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			if v, why := p.Decide(call()); v != Run {
				t.Errorf("%s=%s: the rule %s gives %v (%s)", arg, value, call().Rule(), v, why)
			}
			for name, target := range map[string]string{"notes/dir": "../other/deep", "alias": "other/main.go"} {
				link := filepath.Join(ws.Path, filepath.FromSlash(name))
				if err := errors.Join(os.Remove(link), os.Symlink(target, link)); err != nil {
					t.Fatal(err)
				}
			}
			if v, _ := p.Decide(call()); v != Ask {
				t.Errorf("%s=%s: the rule %q gives %v once links lead elsewhere", arg, value, p.Allow, v)
			}
		}
	}
}

// Where the file system ignores case, rules that deny compare as the most forgiving ones
// do, and rules that allow compare exactly.
func TestRulesWhereCaseIsIgnored(t *testing.T) {
	t.Parallel()
	write := toolset.Tool{ID: "write_file", InputSchema: json.RawMessage(`{"required":["path"]}`), RequiresConfirmation: true}
	for _, c := range []struct{ rule, means string }{
		{".env", ".ENV"}, {".ENV", ".env"}, {"Secret/**", "sECRET/key"}, {"\u00e9t\u00e9", "E\u0301TE\u0301"}, {"stra\u00dfe", "STRASSE"},
		{"secret", "\u017fecret"}, {".env", ".e\u200dnv"}, {".env", ".env. ."}, {"a/*.key", "A/x.KEY"}, {"k", "\u212a"},
	} {
		for _, fold := range []bool{true, false} {
			call := func() *Call {
				c2 := Resolve(write, argsOf(t, map[string]any{"path": "x"}), nil)
				c2.means["x"] = wspath.Meaning{Readings: [][]string{{c.means}}, Fold: fold}
				return c2
			}
			deny := Policy{Deny: []string{"write_file(" + c.rule + ")"}}
			if v, _ := deny.Decide(call()); (v == Refuse) != (fold || c.rule == c.means) {
				t.Errorf("fold %v: deny of %q gives %v for %q", fold, c.rule, v, c.means)
			}
			allow := Policy{Allow: []string{"write_file({x," + c.rule + "})"}}
			if v, _ := allow.Decide(call()); (v == Run) != (c.rule == c.means) {
				t.Errorf("fold %v: allow of %q gives %v for %q", fold, c.rule, v, c.means)
			}
		}
	}
}

func TestRulesOfAddresses(t *testing.T) {
	t.Parallel()
	fetch := toolset.Tool{ID: "web_fetch", InputSchema: json.RawMessage(`{"required":["url"]}`), RequiresConfirmation: true}
	for _, c := range []struct {
		rule, url string
		want      bool // for allow: whether it runs; for deny: whether it is refused
		deny      bool
	}{
		{rule: "https://*.example.com/**", url: "https://a.example.com/x/y?z=1", want: true},
		{rule: "https://*.example.com/**", url: "https://evil.com#.example.com/", want: false},
		{rule: "https://*.example.com/**", url: "https://evil.com?.example.com/", want: false},
		{rule: "https://*.example.com/**", url: `https://evil.com\.example.com/`, want: false},
		{rule: "https://*.example.com/**", url: "https://user@a.example.com/", want: false},
		{rule: "https://*.example.com/**", url: "https://a.example.com@evil.com/", want: false},
		{rule: "https://*.example.com/**", url: "http://a.example.com/", want: false},
		{rule: "https://*.example.com/**", url: "https://a.example.com:8443/", want: false},
		{rule: "https://*.example.com:8443/**", url: "https://a.example.com:8443/", want: true},
		{rule: "https://example.com/**", url: "https://EXAMPLE.com.:443/x", want: true},
		{rule: "https://example.com/docs/**", url: "https://example.com/docs/../private", want: false},
		{rule: "https://example.com/docs/**", url: "https://example.com/docs/%2e%2e/private", want: false},
		{rule: "https://example.com/docs/**", url: "https://example.com/docs/a?b=/../../c", want: true},
		{rule: "**example.com**", url: "https://evil.com/?example.com", want: false},
		{rule: "https://**", url: "https://any.org/a/b", want: true},
		{rule: "**", url: "https://any.org/a/b", want: true},
		{rule: "https://example.com", url: "https://example.com/", want: true},
		{rule: "https://example.com", url: "https://example.com/x", want: false},
		{deny: true, rule: "https://evil.com/**", url: "https://EVIL.com./x", want: true},
		{deny: true, rule: "https://evil.com", url: "https://evil.com/any/page?x", want: true},
		{deny: true, rule: "evil.com", url: "http://evil.com:8080/x", want: true},
		{deny: true, rule: "*.evil.com", url: "https://a.evil.com/", want: true},
		{deny: true, rule: "https://evil.com/**", url: "https://u:p@evil.com/x", want: true},
		{deny: true, rule: "https://bücher.example/**", url: "https://xn--bcher-kva.example/x", want: true},
		{deny: true, rule: "https://example.com/private/**", url: "https://example.com/docs/../private/x", want: true},
		{deny: true, rule: "https://example.com/private/**", url: "https://example.com/%70rivate/x", want: true},
		{deny: true, rule: "https://evil.com/**", url: "https://good.com/", want: false},
	} {
		text := "web_fetch(url=" + c.rule + ")"
		p, wanted := Policy{Allow: []string{text}}, Run
		if c.deny {
			p, wanted = Policy{Deny: []string{text}, AllowAll: true}, Refuse
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		v, _ := p.Decide(Resolve(fetch, argsOf(t, map[string]any{"url": c.url}), nil))
		if (v == wanted) != c.want {
			t.Errorf("%s (deny %v) gives %v for %s", c.rule, c.deny, v, c.url)
		}
	}
}

func TestUnclearCommandLines(t *testing.T) {
	t.Parallel()
	tool := toolset.Tool{ID: "run_command", Category: "shell", RequiresConfirmation: true, InputSchema: json.RawMessage(`{"required":["command"]}`)}
	const line = "$(echo rm) -rf x"
	exact := Resolve(tool, argsOf(t, map[string]any{"command": line}), nil).Rule()
	for name, c := range map[string]struct {
		policy Policy
		want   Verdict
	}{
		"no rule about commands":             {Policy{AllowAll: true}, Run},
		"a rule about another tool":          {Policy{Deny: []string{"write_file(path=x)"}, AllowAll: true}, Run},
		"a deny rule, with --yes":            {Policy{Deny: []string{"run_command(rm *)"}, AllowAll: true}, Refuse},
		"a deny rule":                        {Policy{Deny: []string{"run_command(rm *)"}}, Ask},
		"a deny rule, the tool allowed":      {Policy{Deny: []string{"run_command(rm *)"}, Allow: []string{"run_command"}}, Ask},
		"an ask rule, with --yes":            {Policy{Ask: []string{"run_*(command=git push*)"}, AllowAll: true}, Refuse},
		"a deny rule, this very line":        {Policy{Deny: []string{"run_command(rm *)"}, Allow: []string{exact}}, Run},
		"an allow rule":                      {Policy{Allow: []string{"run_command(git *)"}}, Ask},
		"an allow rule, and the tool itself": {Policy{Allow: []string{"run_command(git *)", "run_command"}}, Run},
	} {
		if v, why := c.policy.Decide(Resolve(tool, argsOf(t, map[string]any{"command": line}), nil)); v != c.want {
			t.Errorf("%s: verdict %v (%s), want %v", name, v, why, c.want)
		}
	}
}

// A file that is swapped for a link between the decision and the start.
func TestMovedPaths(t *testing.T) {
	t.Parallel()
	ws := folder(t, []string{"notes/a.md", "src/main.go"}, nil)
	write := toolset.Tool{ID: "write_file", InputSchema: json.RawMessage(`{"required":["path"]}`)}
	args := argsOf(t, map[string]any{"path": "notes/a.md", "content": "x"})
	judged := Resolve(write, args, ws).Look()
	if _, _, _, moved := Resolve(write, args, ws).Moved(judged); moved {
		t.Error("an unchanged folder moved a path")
	}
	if err := os.Remove(filepath.Join(ws.Path, "notes", "a.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../src/main.go", filepath.Join(ws.Path, "notes", "a.md")); err != nil {
		t.Skip("links can't be made here: " + err.Error())
	}
	value, from, to, moved := Resolve(write, args, ws).Moved(judged)
	if !moved || value != "notes/a.md" || from != "notes/a.md" || to != "src/main.go" {
		t.Errorf("moved %v: %q from %q to %q", moved, value, from, to)
	}
}

// What a tool reaches by walking is held to the rules that deny its paths.
func TestDeniedPathsOfATool(t *testing.T) {
	t.Parallel()
	search := toolset.Tool{ID: "search_files", InputSchema: json.RawMessage(`{"required":["query"]}`)}
	read := toolset.Tool{ID: "read_file", InputSchema: json.RawMessage(`{"required":["path"]}`)}
	p := Policy{Deny: []string{"*_files(path=secret/**)", "read_file(.env)", "search_files(query=x)"}}
	for _, c := range []struct {
		tool toolset.Tool
		name string
		fold bool
		want bool
	}{
		{search, "secret/a", false, true}, {search, "secret", false, true}, {search, "Secret/a", false, false}, {search, "Secret/a", true, true},
		{search, "x", false, false}, {read, ".env", false, true}, {read, "secret/a", false, false},
	} {
		rules, err := p.Compile()
		if err != nil {
			t.Fatal(err)
		}
		denied := rules.Denied(c.tool)
		if rule, yes := denied(c.name, c.fold); yes != c.want || yes && !strings.HasPrefix(rule, "deny ") {
			t.Errorf("%s of %s: %v (%s)", c.tool.ID, c.name, yes, rule)
		}
	}
	if rules, _ := p.Compile(); rules.Denied(toolset.Tool{ID: "run_command"}) != nil {
		t.Error("a tool without a rule for paths has a check")
	}
}

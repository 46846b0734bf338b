package prompts

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func parsed(t testing.TB, text string) *Prompt {
	t.Helper()
	p := &Prompt{Name: "it", Source: User, Path: "it.md"}
	if err := parse(p, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return p
}

// Each file of testdata/wrong is wrong; the golden file beside it says how.
func TestProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wrong/*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("testdata/wrong has %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			err = parse(&Prompt{Source: Project, Path: filepath.Base(file)}, data)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("parse gave %v", err)
			}
			var got strings.Builder
			for _, p := range e.Problems {
				got.WriteString(p.String() + "\n")
			}
			path := strings.TrimSuffix(file, ".md") + ".golden"
			if *update {
				if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		})
	}
}

func TestFrontMatter(t *testing.T) {
	t.Parallel()
	p := parsed(t, "\ufeff---\r\n"+`description: Reviews a diff
model: ollama/Qwen2.5-Coder:7B
system: |
  You review.
tools: [read_file, "list_*"]
schema: schemas/review.json
variables:
  lang: {description: which language}
  tone: {default: kind, description: how}
  extra: {required: false}
  short: "a default"
  bare:
---

Review this {{lang}}, {{tone}}{{extra}}{{short}}{{bare}}.
`)
	want := &Prompt{
		Description: "Reviews a diff", Model: "ollama/Qwen2.5-Coder:7B", System: "You review.\n",
		Tools: &Tools{Enabled: true, Globs: []string{"read_file", "list_*"}}, Schema: "schemas/review.json",
		Variables: []Variable{
			{Name: "lang", Description: "which language", Required: true},
			{Name: "tone", Description: "how", Default: "kind"},
			{Name: "extra"},
			{Name: "short", Default: "a default"},
			{Name: "bare", Required: true},
		},
	}
	got := *p
	got.Name, got.Source, got.Path, got.Text, got.body, got.declared = "", "", "", "", nil, false
	for i := range got.Variables {
		got.Variables[i].line, got.Variables[i].column = 0, 0
	}
	if diff := cmp.Diff(want, &got, cmp.AllowUnexported(Prompt{}, Variable{})); diff != "" {
		t.Errorf("prompt (-want +got):\n%s", diff)
	}
	for text, enabled := range map[string]bool{"on": true, "false": false, "[]": false} {
		if got := parsed(t, "---\ntools: "+text+"\n---\nHi.").Tools; got == nil || got.Enabled != enabled {
			t.Errorf("tools: %s gave %+v", text, got)
		}
	}
	if p := parsed(t, "---\n---\nHi."); p.Tools != nil || len(p.Variables) != 0 {
		t.Errorf("empty front matter gave %+v", p)
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		values     Values
		want       string
		err        string
	}{
		{name: "a plain text", text: "Hello.\n\n", want: "Hello."},
		{name: "variables, with and without spaces", text: "{{a}}-{{ b-2 }}{{_}}", values: Values{Vars: map[string]string{"a": "1", "b-2": "2", "_": "3"}}, want: "1-23"},
		{name: "values are text", text: "{{a}}", values: Values{Vars: map[string]string{"a": "{{b}} \\{{c}}"}}, want: "{{b}} \\{{c}}"},
		{name: "an escape", text: `Write \{{name}} for {{name}}.`, values: Values{Vars: map[string]string{"name": "X"}}, want: "Write {{name}} for X."},
		{name: "a backslash before a variable", text: `C:\\{{a}} \\\{{a}} \n }} { {`, values: Values{Vars: map[string]string{"a": "X"}}, want: `C:\X \{{a}} \n }} { {`},
		{name: "the input where it stands", text: "Look:\n{{input}}\nWell?", values: Values{Input: "it", Tail: "never"}, want: "Look:\nit\nWell?"},
		{name: "the input at the end", text: "Look.\n", values: Values{Input: "never", Tail: "at it"}, want: "Look.\n\nat it"},
		{name: "a default", text: "---\nvariables: {a: {default: kind}}\n---\n{{a}}", want: "kind"},
		{name: "a value over a default", text: "---\nvariables: {a: {default: kind}}\n---\n{{a}}", values: Values{Vars: map[string]string{"a": ""}}, want: ""},
		{name: "an input with a default", text: "---\nvariables: {input: {default: everything}}\n---\nReview {{input}}.", want: "Review everything."},
		{name: "an input beside declared variables", text: "---\nvariables: {a: x}\n---\n{{a}}{{input}}", values: Values{Input: "y"}, want: "xy"},
		{name: "no input where files are shown", text: "Review {{input}}.", values: Values{Shown: true}, want: "Review ."},
		{name: "no input", text: "Review {{input}}.", err: "prompt it needs something to work on"},
		{name: "missing values", text: "{{b}}{{a}}{{b}}", err: "prompt it needs a value for b, a"},
		{name: "a name that is near", text: "{{lang}}", values: Values{Vars: map[string]string{"lnag": "go"}}, err: `prompt it has no variable "lnag" (did you mean lang?)`},
		{name: "a name that is far", text: "{{lang}} {{tone}}", values: Values{Vars: map[string]string{"x": "go"}}, err: `prompt it has no variable "x"; it has lang, tone`},
		{name: "a name for a text without any", text: "Hi.", values: Values{Vars: map[string]string{"x\x1b": "go"}}, err: "prompt it has no variable \"x\ufffd\"; it has none"},
		{name: "the input isn't set by name", text: "{{input}}", values: Values{Vars: map[string]string{"input": "go"}}, err: `prompt it has no variable "input"; it has none`},
		{name: "a bomb", text: strings.Repeat("{{a}}", maxUses), values: Values{Vars: map[string]string{"a": strings.Repeat("x", MaxFilled/maxUses+1)}}, err: "prompt it would be longer than 64 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parsed(t, c.text).Fill(c.values)
			if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("Fill gave %q, %v; want %q, %s", got, err, c.want, c.err)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"uses":      strings.Repeat("{{a}}", maxUses+1),
		"front":     "---\nsystem: " + strings.Repeat("x", maxFront) + "\n---\nHi.",
		"value":     "---\ndescription: " + strings.Repeat("x", maxValue+1) + "\n---\nHi.",
		"variables": "---\nvariables: {" + strings.Repeat("a: b, ", maxVariables+1) + "}\n---\nHi.",
		"tools":     "---\ntools: [" + strings.Repeat("a, ", maxTools+1) + "]\n---\nHi.",
		"used":      manyVariables(maxVariables + 1),
		"problems":  strings.Repeat("{{ }}", 10*maxProblems),
	} {
		err := parse(&Prompt{}, []byte(text))
		var e *Error
		if !errors.As(err, &e) || len(e.Problems) > maxProblems {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func manyVariables(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("{{v" + strings.Repeat("x", i%60) + string(rune('a'+i/60)) + "}}")
	}
	return b.String()
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"review": true, "R2.d-2_x": true, "9": true, strings.Repeat("a", maxName): true,
		"": false, ".": false, "..": false, "../x": false, "a/b": false, `a\b`: false, "a:b": false, "-x": false, ".x": false,
		"x.": false, "a b": false, "a\x00": false, "é": false, "con": false, "NUL.x": false, "com1": false, "com": true,
		"console": true, strings.Repeat("a", maxName+1): false,
	} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("CheckName(%q) = %v", name, err)
		}
	}
}

// shelf is a library with files in both places.
func shelf(t testing.TB, files map[string]string) *Library {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return New(Places{Config: filepath.Join(root, "config"), Project: filepath.Join(root, "project")})
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	l := shelf(t, map[string]string{
		"config/prompts/review.md": "Mine.", "config/prompts/own.md": "Own.", "config/prompts/notes.txt": "no",
		"config/prompts/.hidden.md": "no", "config/prompts/answer.json": `{"type":"object"}`,
		"config/prompts/json.md":            "---\nschema: answer.json\n---\nJSON.",
		"project/.fettle/prompts/review.md": "Theirs.", "project/.fettle/prompts/bad.md": "{{",
		"project/.fettle/prompts/sub/x.md": "no",
	})
	p, err := l.Load("review")
	if err != nil || p.Source != Project || p.Hides == "" || p.Text != "Theirs." {
		t.Errorf("review: %+v, %v", p, err)
	}
	if p, err := l.LoadFrom(User, "review"); err != nil || p.Source != User || p.Hides != "" {
		t.Errorf("my review: %+v, %v", p, err)
	}
	var missing *NotFoundError
	if _, err := l.Load("reveiw"); !errors.As(err, &missing) || missing.Near != "review" {
		t.Errorf("a slip: %v", err)
	}
	for _, name := range []string{"../prompts/own", "sub/x", "", "own.md/../own"} {
		if _, err := l.Load(name); !errors.As(err, &missing) {
			t.Errorf("Load(%q): %v", name, err)
		}
	}
	var bad *Error
	if _, err := l.Load("bad"); !errors.As(err, &bad) {
		t.Errorf("bad: %v", err)
	}
	if got := strings.Join(l.Names(), " "); got != "bad json own review" {
		t.Errorf("names %s", got)
	}
	entries, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		line := e.Name + " " + string(e.Source)
		if e.Hidden {
			line += " hidden"
		}
		if e.Err != nil {
			line += " bad"
		}
		got = append(got, line)
	}
	want := []string{"bad project bad", "json user", "own user", "review project", "review user hidden"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	p, err = l.Load("json")
	if err != nil {
		t.Fatal(err)
	}
	if data, err := l.Schema(p); err != nil || string(data) != `{"type":"object"}` {
		t.Errorf("schema %s, %v", data, err)
	}
}

func TestLibraryWithoutFolders(t *testing.T) {
	t.Parallel()
	l := New(Places{Config: filepath.Join(t.TempDir(), "none")})
	if entries, err := l.List(); err != nil || len(entries) != 0 {
		t.Errorf("entries %v, %v", entries, err)
	}
	if _, err := l.Create(Project, "x", "Hi."); err == nil {
		t.Error("a project that isn't there got a prompt")
	}
	path, err := l.Create(User, "x", "Hi.")
	if err != nil {
		t.Fatal(err)
	}
	if p, err := l.Load("x"); err != nil || p.Path != path {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := l.Create(User, "x", "Bye."); !errors.Is(err, os.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if _, err := l.Create(User, "../x", "Bye."); err == nil {
		t.Error("a path was taken for a name")
	}
	if err := l.Remove(User, "x"); err != nil {
		t.Error(err)
	}
	if err := l.Remove(User, "x"); err == nil {
		t.Error("removed twice")
	}
}

// What a project puts there is read, written and removed within the project
// alone.
func TestAProjectsLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights on windows")
	}
	l := shelf(t, map[string]string{"secret.md": "Secret.", "project/.fettle/prompts/x": "", "out/o.md": "Out."})
	root := filepath.Dir(l.project)
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(root, "secret.md"), "project/.fettle/prompts/abs.md")
	link("../../../secret.md", "project/.fettle/prompts/rel.md")
	link(filepath.Join(root, "secret.md"), "project/.fettle/prompts/schema.json")
	for _, name := range []string{"abs", "rel"} {
		if p, err := l.Load(name); err == nil {
			t.Errorf("%s leads to %q", name, p.Text)
		}
	}
	if data, err := l.Schema(&Prompt{Source: Project, Schema: "schema.json"}); err == nil {
		t.Errorf("the schema leads to %q", data)
	}

	other := New(Places{Config: filepath.Join(root, "none"), Project: filepath.Join(root, "other")})
	if err := os.MkdirAll(filepath.Join(root, "other/.fettle"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(root, "out"), "other/.fettle/prompts")
	if p, err := other.Load("o"); err == nil {
		t.Errorf("the folder leads to %q", p.Text)
	}
	if names := other.Names(); len(names) != 0 {
		t.Errorf("the folder leads to %v", names)
	}
	if _, err := other.Create(Project, "new", "Hi."); err == nil {
		t.Error("a prompt was made outside of the project")
	}
	if err := other.Remove(Project, "o"); err == nil {
		t.Error("a file was removed outside of the project")
	}
}

func TestAUsersLinksAreFollowed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights on windows")
	}
	l := shelf(t, map[string]string{"dotfiles/a.md": "Linked.", "config/prompts/x": ""})
	for from, to := range map[string]string{"a.md": "../../dotfiles/a.md", "gone.md": "nowhere.md"} {
		if err := os.Symlink(to, filepath.Join(l.user, from)); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := l.Load("a"); err != nil || p.Text != "Linked." {
		t.Errorf("%+v, %v", p, err)
	}
	entries, err := l.List()
	if err != nil || len(entries) != 2 || entries[1].Err == nil {
		t.Errorf("entries %+v, %v", entries, err)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	l := shelf(t, map[string]string{
		"config/prompts/large.md": strings.Repeat("x", MaxFile+1), "config/prompts/folder.md/x": "",
	})
	makeFIFO(t, filepath.Join(l.user, "fifo.md"))
	for name, want := range map[string]string{"large": "larger than 256 KB", "folder": "a folder", "fifo": "not a regular file"} {
		if _, err := l.Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/wrong/*.md")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("---\nvariables: {a: x}\n---\n{{a}} \\{{b}} {{input}}")
	f.Add(`\\\{{x}}\\{{y}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > MaxFile {
			t.Skip()
		}
		p := &Prompt{Name: "it", Source: Project, Path: "it.md"}
		if err := parse(p, []byte(text)); err != nil {
			var e *Error
			if !errors.As(err, &e) || len(e.Problems) == 0 || len(e.Problems) > maxProblems {
				t.Fatalf("parse failed with %v", err)
			}
			for _, problem := range e.Problems {
				if strings.ContainsFunc(problem.String(), func(r rune) bool { return r < ' ' || r == 0x7f }) || problem.Line < 1 {
					t.Errorf("problem %q", problem.String())
				}
			}
			return
		}
		checkFilled(t, p)
	})
}

// checkFilled holds a filled prompt against its pieces.
func checkFilled(t *testing.T, p *Prompt) {
	t.Helper()
	const mark = "\x00"
	v := Values{Vars: map[string]string{}, Input: mark, Tail: mark}
	for _, name := range p.names() {
		v.Vars[name] = mark
	}
	got, err := p.Fill(v)
	if err != nil {
		t.Fatalf("fill: %v", err)
	}
	marks := 0
	for _, b := range p.body {
		if b.name != "" {
			marks++
		}
	}
	if !p.TakesInput() {
		marks++
	}
	if n := strings.Count(got, mark); n != marks {
		t.Errorf("%q has %d values, want %d", got, n, marks)
	}
}

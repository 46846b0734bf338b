package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/google/go-cmp/cmp"
)

// The grammar of dotted paths.
func TestKeyPaths(t *testing.T) {
	t.Parallel()
	f := OpenUserFile(userFile(t, `
providers:
  my.own: {base_url: http://h/v1, models: {a.b: {tools: true}, a: {tools: true}}}
  my: {base_url: http://h/v1}
models: {local/a.tools: {tools: true}, ollama/qwen3: {tools: true}}
profiles: {work: {models: {x/y.images: {tools: true}}}}
`))
	for path, want := range map[string]string{
		"model":            "model",
		"limits.max_steps": "limits|max_steps",
		"limits":           "limits*",
		"providers":        "providers*",
		"models.ollama/Qwen2.5-Coder:7B.context_length":   "models|ollama/Qwen2.5-Coder:7B|context_length",
		"models.ollama/qwen3.tools":                       "models|ollama/qwen3|tools",
		"models.ollama/qwen3":                             "models|ollama/qwen3*",
		"models.local/a.tools":                            "models|local/a.tools*", // a name that is there wins
		"models.local/a.tools.tools":                      "models|local/a.tools|tools",
		`models."local/a".tools`:                          "models|local/a|tools",
		`models."local/a.tools".tools`:                    "models|local/a.tools|tools",
		"models.x/y.images":                               "models|x/y|images",
		"profiles.work.models.x/y.images":                 "profiles|work|models|x/y.images*",
		"profiles.work.limits.timeout":                    "profiles|work|limits|timeout",
		"profiles.new.model":                              "profiles|new|model",
		"profiles.work":                                   "profiles|work*",
		"providers.my.base_url":                           "providers|my|base_url",
		"providers.my.own.base_url":                       "providers|my.own|base_url",
		"providers.my.own":                                "providers|my.own*",
		"providers.my.other.key_env":                      "providers|my.other|key_env",
		"providers.a.b.c.headers.X-Y.Z":                   "providers|a.b.c|headers|X-Y.Z",
		"providers.new.headers.key":                       "providers|new|headers|key",
		"providers.my.own.models.a.b.tools":               "providers|my.own|models|a.b|tools",
		"providers.my.own.models.a.b":                     "providers|my.own|models|a.b*",
		"providers.my.own.models.c.d:1.5b.context_length": "providers|my.own|models|c.d:1.5b|context_length",
		"providers.my.own.headers":                        "providers|my.own|headers*",
		"prices.openai/gpt-4.1.input":                     "prices|openai/gpt-4.1|input",
	} {
		k, err := f.Key(path)
		got := strings.Join(k.Path, "|")
		if k.Section {
			got += "*"
		}
		if err != nil || got != want {
			t.Errorf("Key(%s) = %s, %v; want %s", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"modle":                         "there is no key modle (did you mean model?)",
		"num_ctx":                       "there is no key num_ctx (did you mean ollama.num_ctx?)",
		"limits.max-steps":              "there is no key limits.max-steps (did you mean limits.max_steps?)",
		"models.a/b.context":            "there is no key models.a/b.context",
		"models.a/b.tols":               "there is no key models.a/b.tols (did you mean models.a/b.tools?)",
		"providers.x.api_key":           "there is no key providers.x.api_key",
		"providers.x.bas_url":           "there is no key providers.x.bas_url (did you mean providers.x.base_url?)",
		"profiles.work.profile":         "there is no key profiles.work.profile",
		"profiles.work.profiles.x":      "there is no key profiles.work.profiles.x",
		"profiles.a b.model":            "there is no key profiles.a…", // what follows a space may be a secret,
		`models."a/b.tools`:             `"models.\"a/b.tools": a quote is never closed, or no dot follows it`,
		"temperature":                   "there is no key temperature",
		"":                              "there is no key without a name",
		"model.x":                       "there is no key model.x (did you mean model?)",
		"sk-EXAMPLEnotrealEXAMPLEnot99": "there is no key ·····························",
	} {
		_, err := f.Key(path)
		var flt *fault.Fault
		if !errors.As(err, &flt) || flt.Code != fault.Usage || strings.ReplaceAll(flt.Msg, `\"`, `"`) != strings.ReplaceAll(want, `\"`, `"`) {
			t.Errorf("Key(%s): %v, want %s", path, err, want)
		}
	}
}

const edited = `# mine
model: ollama/a   # for now
fallback: [a/b]   # then
limits:
  max_steps: 3

  # not yet
  # timeout: 1m
`

func TestChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, old, key string
		values         []string
		do             func(UserFile, context.Context, Key, []string) error
		want, err      string
	}{
		{"a value", edited, "model", []string{"b/c"}, UserFile.Set, strings.Replace(edited, "ollama/a", "b/c", 1), ""},
		{"a number", edited, "retries", []string{"5"}, UserFile.Set, edited + "retries: 5\n", ""},
		{"a text that looks like a number", "", "system", []string{"5"}, UserFile.Set, "system: \"5\"\n", ""},
		{"a duration", "", "limits.timeout", []string{"10m"}, UserFile.Set, "limits:\n  timeout: 10m\n", ""},
		{"a size in bytes", "", "limits.file_bytes", []string{"4096"}, UserFile.Set, "limits:\n  file_bytes: 4096\n", ""},
		{"yes is true", "", "models.o/Q.5:7B.tools", []string{"Yes"}, UserFile.Set, "models:\n  o/Q.5:7B:\n    tools: true\n", ""},
		{"a list", edited, "fallback", []string{"x/y", "z/w"}, UserFile.Set, strings.Replace(edited, "[a/b]", "[x/y, z/w]", 1), ""},
		{"an empty list", edited, "deny", nil, UserFile.Set, edited + "deny: []\n", ""},
		{"tools off", "", "tools", []string{"OFF"}, UserFile.Set, "tools: off\n", ""},
		{"an amount", "", "prices.a/b.input", []string{"1.5"}, UserFile.Set, "prices:\n  a/b:\n    input: 1.5\n", ""},
		{"a key's command", "providers: {p: {base_url: http://h/v1}}\n", "providers.p.key", []string{"!op read x"}, UserFile.Set,
			"providers: {p: {base_url: http://h/v1, key: \"!op read x\"}}\n", ""},
		{"add", edited, "fallback", []string{"a/b", "c/d"}, UserFile.Add, strings.Replace(edited, "[a/b]", "[a/b, c/d]", 1), ""},
		{"add what is there", edited, "fallback", []string{"a/b"}, UserFile.Add, edited, ""},
		{"add to nothing", edited, "allow", []string{"f(x, y)"}, UserFile.Add, edited + "allow: [\"f(x, y)\"]\n", ""},
		{"add to tools that are on", "tools: on\n", "tools", []string{"a"}, UserFile.Add, "", "tools is no list in FILE yet"},
		{"add to tools that are a list", "tools: [b]\n", "tools", []string{"a"}, UserFile.Add, "tools: [b, a]\n", ""},
		{"add to a number", edited, "retries", []string{"1"}, UserFile.Add, "", "retries is no list, which --add is for"},
		{"remove the last", edited, "fallback", []string{"a/b"}, UserFile.Drop, strings.Replace(edited, "fallback: [a/b]   # then\n", "", 1), ""},
		{"remove what isn't there", edited, "fallback", []string{"x"}, UserFile.Drop, "", `fallback in FILE doesn't have "x"`},
		{"unset", edited, "limits.max_steps", nil, unset, strings.Replace(edited, "  max_steps: 3\n", "", 1), ""},
		{"unset what isn't set", edited, "retries", nil, unset, "", "retries is not set in FILE"},
		{"unset an address that is needed", "providers: {p: {base_url: http://h/v1, key_env: K}}\n", "providers.p.base_url", nil, unset,
			"", "FILE:1:13: providers.p has no base_url"},
		{"a value that is wrong", edited, "retries", []string{"many"}, UserFile.Set, "",
			`retries: expected a whole number from 0 to 20, found "many"`},
		{"a secret that is wrong", edited, "providers.p.key", []string{"hunter 2"}, UserFile.Set, "",
			`providers.p.key: expected a key of printable ASCII characters without spaces`},
		{"a model without a provider", edited, "models.qwen.tools", []string{"true"}, UserFile.Set, "",
			"FILE:10:3: models.qwen: expected provider/model, such as ollama/qwen3"},
		{"a section", edited, "limits", []string{"3"}, UserFile.Set, "", "limits holds other keys; set one of them"},
		{"several values", edited, "model", []string{"a/b", "c/d"}, UserFile.Set, "", "model has one value, not 2; put one with spaces in quotes"},
		{"a profile that isn't there", edited, "profile", []string{"wrok"}, UserFile.Set, "",
			`FILE:9:1: there is no profile "wrok", and no other: profiles.wrok would hold its settings`},
		{"a file that is broken elsewhere", "modle: x\n", "retries", []string{"1"}, UserFile.Set, "",
			"FILE:1:1: unknown key modle; did you mean model?"},
		{"a file that is broken there", "retries: many\n", "retries", []string{"1"}, UserFile.Set, "retries: 1\n", ""},
		{"a file that is no YAML", "a: [\n", "retries", []string{"1"}, UserFile.Set, "", "FILE:2:1: not YAML"},
		{"a file that is a list", "- a\n", "retries", []string{"1"}, UserFile.Set, "", "FILE:1:1: expected keys and values"},
		{"an anchor", "fallback: &x [a/b]\n", "fallback", []string{"c/d"}, UserFile.Set, "",
			"fallback can't be changed in place in FILE: line 1: the value of fallback is shared through an anchor"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := userFile(t, tt.old)
			f := OpenUserFile(path)
			k, err := f.Key(tt.key)
			if err != nil {
				t.Fatal(err)
			}
			err = tt.do(f, t.Context(), k, tt.values)
			got, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if tt.err == "" {
				if err != nil || cmp.Diff(tt.want, string(got)) != "" {
					t.Errorf("%v, file (-want +got):\n%s", err, cmp.Diff(tt.want, string(got)))
				}
				mustLoad(t, Options{File: path})
				return
			}
			if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), path, "FILE"), tt.err) {
				t.Errorf("error %v, want %s", err, tt.err)
			}
			if string(got) != tt.old {
				t.Errorf("a refused change was written: %q", got)
			}
		})
	}
}

func unset(f UserFile, ctx context.Context, k Key, _ []string) error { return f.Unset(ctx, k) }

func TestUnknownKeysCanBeTakenOut(t *testing.T) {
	t.Parallel()
	path := userFile(t, "modle: x # typo\nretries: 1\n")
	f := OpenUserFile(path)
	if _, err := f.Key("modle"); err == nil {
		t.Error("modle is a key")
	}
	k, ok := f.UnknownKey("modle")
	if !ok {
		t.Fatal("modle stands in the file and isn't found")
	}
	if err := f.Unset(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if text, _ := f.Text(); text != "retries: 1\n" {
		t.Errorf("the file is %q", text)
	}
	if _, ok := f.UnknownKey("modle"); ok {
		t.Error("what isn't there is found")
	}
}

func TestNewFileAndReplace(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "config.yaml")
	f := OpenUserFile(path)
	k, err := f.Key("retries")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set(t.Context(), k, []string{"1"}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a new file has mode %v, %v", info.Mode(), err)
	}
	if err := f.Replace(t.Context(), "retries: 2\n", "retries: 3\n"); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that was changed was replaced: %v", err)
	}
	if err := f.Replace(t.Context(), "retries: 1\n", "retries: many\n"); err == nil {
		t.Error("a text that can't be loaded was written")
	}
	if err := f.Replace(t.Context(), "retries: 1\n", "retries: 3\n"); err != nil {
		t.Error(err)
	}
	if text, err := f.Text(); text != "retries: 3\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
}

// Several processes that change the file lose nothing.
func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	path := userFile(t, "allow: []\n")
	var wg sync.WaitGroup
	elems := strings.Split("abcdefghij", "")
	for _, e := range elems {
		wg.Go(func() {
			f := OpenUserFile(path)
			k, err := f.Key("allow")
			if err == nil {
				err = f.Add(t.Context(), k, []string{e})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if c := mustLoad(t, Options{File: path}); len(c.Allow) != len(elems) {
		t.Errorf("allow is %v", c.Allow)
	}
}

func TestSplitList(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a/b,c/d":         "a/b|c/d",
		" a , b ":         "a|b",
		"f(x, y), g":      "f(x, y)|g",
		`run("a,b", c),d`: `run("a,b", c)|d`,
		"it's, one":       "it's, one",
		",,":              "",
		"a)b,c":           "a)b|c",
	} {
		if got := strings.Join(SplitList([]string{in}), "|"); got != want {
			t.Errorf("SplitList(%s) = %s, want %s", in, got, want)
		}
	}
}

// The template, with every # taken away, is a configuration.
func TestTemplate(t *testing.T) {
	t.Parallel()
	text := Template()
	mustLoad(t, Options{File: userFile(t, text)})
	var lines []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") || strings.HasPrefix(line, "#  ") {
			lines = append(lines, rest)
		}
	}
	c := mustLoad(t, Options{File: userFile(t, strings.Join(lines, ""))})
	for _, s := range table() {
		if c.Origin(s.Key) == "" || c.Origin(s.Key) == "default" {
			t.Errorf("the template lacks %s", s.Key)
		}
	}
	if c.Profile != "fast" || len(c.Prices) != 1 || len(c.Models) != 1 || c.Providers["local"].BaseURL == "" {
		t.Errorf("the template's maps were not read: %+v", c)
	}
}

package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Options{File: filepath.Join(t.TempDir(), "none.yaml"), WorkDir: t.TempDir()})
	want := &Config{
		Color:  "auto",
		Ollama: Ollama{Host: "http://127.0.0.1:11434"},
		Providers: map[string]Provider{"openai": {
			Name: "openai", Type: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY",
		}},
		Models: map[string]Model{},
		Tools:  Tools{Enabled: true},
		Limits: Limits{
			MaxTurns: 50, FirstByte: 10 * time.Minute, BetweenChunks: 2 * time.Minute,
			StdinBytes: 16 << 20, FileBytes: 16 << 20,
		},
		Retries: 3,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	for _, key := range got.Keys() {
		if got.Origin(key) != "default" {
			t.Errorf("%s comes from %q, want the default", key, got.Origin(key))
		}
	}
	if got.Origin("model") != "" {
		t.Errorf("model has the origin %q without having a value", got.Origin("model"))
	}
}

const everything = `
model: local/Qwen2.5-Coder:7B
fallback:
  - ollama/qwen3
  - openai/gpt-4.1
system: |
  Be brief.
  Say what you don't know.
color: never
ollama:
  host: box.lan
  num_ctx: 8192
  max_num_ctx: 65536
tools: [read_file, "list_*"]
allow: [read_file]
deny: ["run_command(rm *)"]
ask: ["write_*"]
limits:
  max_turns: 7
  timeout: 1h30m
  first_byte: 30s
  between_chunks: 5s
  stdin_bytes: 64MiB
  file_bytes: 500kB
retries: 0
providers:
  local:
    type: openai
    base_url: http://127.0.0.1:8000/v1/
    key_env: LOCAL_KEY
    key: file-key
    headers: {X-Org: acme, X-Count: 5}
    models:
      Qwen2.5-Coder:7B: {context_length: 32768, tools: true, images: false}
  Other.One_2-x:
    base_url: https://models.example/v1
models:
  local/Qwen2.5-Coder:7B: {tools: no, thinking: yes}
  openrouter/meta-llama/Llama-3.1:free: {schema: off}
  123/456: {context_length: 10}
`

func TestEverything(t *testing.T) {
	t.Parallel()
	file := userFile(t, everything)
	got := mustLoad(t, Options{File: file})
	want := &Config{
		Model:    "local/Qwen2.5-Coder:7B",
		Fallback: []string{"ollama/qwen3", "openai/gpt-4.1"},
		System:   "Be brief.\nSay what you don't know.\n",
		Color:    "never",
		Ollama:   Ollama{Host: "http://box.lan:11434", NumCtx: 8192, MaxNumCtx: 65536},
		Tools:    Tools{Enabled: true, Globs: []string{"read_file", "list_*"}},
		Allow:    []string{"read_file"}, Deny: []string{"run_command(rm *)"}, Ask: []string{"write_*"},
		Limits: Limits{
			MaxTurns: 7, Timeout: 90 * time.Minute, FirstByte: 30 * time.Second, BetweenChunks: 5 * time.Second,
			StdinBytes: 64 << 20, FileBytes: 500_000,
		},
		Providers: map[string]Provider{
			"openai": {Name: "openai", Type: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: "OPENAI_API_KEY"},
			"local": {
				Name: "local", Type: "openai", BaseURL: "http://127.0.0.1:8000/v1", KeyEnv: "LOCAL_KEY",
				Key:     NewSecret("file-key"),
				Headers: map[string]Secret{"X-Org": NewSecret("acme"), "X-Count": NewSecret("5")},
				Models:  map[string]Model{"Qwen2.5-Coder:7B": {ContextLength: 32768, Tools: provider.Yes, Images: provider.No}},
			},
			"Other.One_2-x": {Name: "Other.One_2-x", Type: "openai", BaseURL: "https://models.example/v1"},
		},
		Models: map[string]Model{
			"local/Qwen2.5-Coder:7B":               {Tools: provider.No, Thinking: provider.Yes},
			"openrouter/meta-llama/Llama-3.1:free": {Schema: provider.No},
			"123/456":                              {ContextLength: 10},
		},
		Files: []string{file},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the file's configuration (-want +got):\n%s", diff)
	}
	merged := Model{ContextLength: 32768, Tools: provider.No, Images: provider.No, Thinking: provider.Yes}
	if m := got.ModelSettings("local", "Qwen2.5-Coder:7B"); m != merged {
		t.Errorf("ModelSettings = %+v, want %+v", m, merged)
	}
	if m := got.ModelSettings("nobody", "x"); m != (Model{}) {
		t.Errorf("ModelSettings of an unknown model = %+v", m)
	}
	for key, want := range map[string]string{
		"model": ":2:1", "ollama.num_ctx": ":12:3", "limits.file_bytes": ":24:3",
		"providers.local.key": ":31:5", "providers.local.headers.X-Org": ":32:15",
		"providers.local.models.Qwen2.5-Coder:7B.tools": ":34:49", "models.local/Qwen2.5-Coder:7B.thinking": ":38:39",
	} {
		if got.Origin(key) != file+want {
			t.Errorf("Origin(%q) = %q, want %q", key, got.Origin(key), file+want)
		}
	}
}

// What viper does to keys must not happen here: lower case, and a split at
// dots, colons and slashes.
func TestNamesSurvive(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Qwen2.5-Coder:7B", "a::b", "hf.co/Bartowski/Llama-3.2.GGUF:Q4_K_M", "MiXeD", "1.5", "true", "ollama.num_ctx", "ünïcode", "with space",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "providers: {P.Q-r: {base_url: http://h/v1, headers: {X-CaSe: v}, models: {\"" + name + "\": {tools: true}}}}\n" +
				"models: {\"P.Q-r/" + name + "\": {context_length: 5}, p.q-r/other: {tools: false}}\nmodel: \"P.Q-r/" + name + "\"\n"
			c := mustLoad(t, Options{File: userFile(t, text)})
			if got, want := c.ModelSettings("P.Q-r", name), (Model{ContextLength: 5, Tools: provider.Yes}); got != want {
				t.Errorf("settings of %q = %+v, want %+v", name, got, want)
			}
			if c.Model != "P.Q-r/"+name {
				t.Errorf("model = %q", c.Model)
			}
			if _, ok := c.Providers["P.Q-r"].Headers["X-CaSe"]; !ok || len(c.Models) != 2 {
				t.Errorf("headers %v and models %v lost a name", c.Providers["P.Q-r"].Headers, c.Models)
			}
		})
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	user := write(t, filepath.Join(home, ".config/fettle/config.yaml"), "model: u/user\nretries: 1\nlimits: {max_turns: 1, timeout: 1s}\nollama: {num_ctx: 1}\n")
	work := filepath.Join(home, "src/repo/deep/er")
	project := write(t, filepath.Join(home, "src/repo/.fettle/config.yaml"), "model: p/project\nretries: 2\nlimits: {max_turns: 2}\n")
	write(t, filepath.Join(work, "x"), "")
	o := Options{
		File: user, WorkDir: work, Home: home,
		Env: env("FETTLE_MODEL", "e/env", "FETTLE_LIMITS_MAX_TURNS", " 3 ", "OLLAMA_CONTEXT_LENGTH", "4096",
			"FETTLE_RETRIES", "", "FETTLE_FALLBACK", "a/b, c/d,", "OLLAMA_HOST", "'far:1'", "FETTLE_SYSTEM", ` "as is" `),
		Flags: map[string]Flag{"model": {"--model", []string{"f/flag"}}},
	}
	c := mustLoad(t, o)
	for _, tt := range []struct {
		key       string
		got, want any
		origin    string
	}{
		{"model", c.Model, "f/flag", "--model"},
		{"limits.max_turns", c.Limits.MaxTurns, 3, "FETTLE_LIMITS_MAX_TURNS"},
		{"retries", c.Retries, 2, project + ":2:1"},
		{"limits.timeout", c.Limits.Timeout, time.Second, user + ":3:24"},
		{"ollama.num_ctx", c.Ollama.NumCtx, 4096, "OLLAMA_CONTEXT_LENGTH"},
		{"ollama.host", c.Ollama.Host, "http://far:1", "OLLAMA_HOST"},
		{"color", c.Color, "auto", "default"},
		{"fallback", strings.Join(c.Fallback, " "), "a/b c/d", "FETTLE_FALLBACK"},
		{"system", c.System, ` "as is" `, "FETTLE_SYSTEM"},
	} {
		if tt.got != tt.want || c.Origin(tt.key) != tt.origin {
			t.Errorf("%s = %v from %q, want %v from %q", tt.key, tt.got, c.Origin(tt.key), tt.want, tt.origin)
		}
	}
	if want := []string{user, project}; !cmp.Equal(c.Files, want) {
		t.Errorf("Files = %v, want %v", c.Files, want)
	}
	o.Env = env("FETTLE_OLLAMA_NUM_CTX", "7", "OLLAMA_CONTEXT_LENGTH", "4096")
	if c := mustLoad(t, o); c.Ollama.NumCtx != 7 || c.Origin("ollama.num_ctx") != "FETTLE_OLLAMA_NUM_CTX" {
		t.Errorf("num_ctx = %d from %q: fettle's own variable must win", c.Ollama.NumCtx, c.Origin("ollama.num_ctx"))
	}
	o.Env = env("OLLAMA_CONTEXT_LENGTH", "0")
	if c := mustLoad(t, o); c.Ollama.NumCtx != 1 {
		t.Errorf("num_ctx = %d: Ollama's 0 means not set", c.Ollama.NumCtx)
	}
}

func TestRulesAddUp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	user := write(t, filepath.Join(home, "config.yaml"), "allow: [a]\ndeny: [d1]\n")
	project := write(t, filepath.Join(home, "w/.fettle/config.yaml"), "deny: [d2, d1]\nask: [q]\n")
	c := mustLoad(t, Options{
		File: user, WorkDir: filepath.Join(home, "w"), Home: home,
		Flags: map[string]Flag{"allow": {"--allow", []string{"f(x, y)", "a"}}},
	})
	if diff := cmp.Diff([][]string{{"f(x, y)", "a"}, {"d2", "d1"}, {"q"}}, [][]string{c.Allow, c.Deny, c.Ask}); diff != "" {
		t.Errorf("allow, deny, ask (-want +got):\n%s", diff)
	}
	if got, want := c.Origin("allow"), "--allow, "+user+":1:1"; got != want {
		t.Errorf("Origin(allow) = %q, want %q", got, want)
	}
	if got, want := c.Origin("deny"), project+":1:1, "+user+":2:1"; got != want {
		t.Errorf("Origin(deny) = %q, want %q", got, want)
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, user, project, env string
		flag                     []string
		want                     Tools
		origin                   string // a part of it
		warned                   bool
	}{
		{name: "on by default", want: Tools{Enabled: true}, origin: "default"},
		{name: "false", user: "false", want: Tools{}, origin: "user.yaml"},
		{name: "off", user: "off", want: Tools{}, origin: "user.yaml"},
		{name: "an empty list is off", user: "[]", want: Tools{Globs: []string{}}, origin: "user.yaml"},
		{name: "a variable with globs", user: "off", env: "read_*, list_*", want: Tools{Enabled: true, Globs: []string{"read_*", "list_*"}}, origin: "FETTLE_TOOLS"},
		{name: "a variable that is off", env: "OFF", want: Tools{}, origin: "FETTLE_TOOLS"},
		{name: "--no-tools", env: "on", flag: []string{"off"}, want: Tools{}, origin: "--tool"},
		{name: "--tool twice", flag: []string{"a", "b"}, want: Tools{Enabled: true, Globs: []string{"a", "b"}}, origin: "--tool"},
		{name: "a project narrows the default", project: "[a]", want: Tools{Enabled: true, Globs: []string{"a"}}, origin: ".fettle"},
		{name: "a project switches off", user: "[a]", project: "off", want: Tools{}, origin: ".fettle"},
		{name: "a project can't switch on", user: "off", project: "on", want: Tools{}, origin: "user.yaml", warned: true},
		{name: "a project can't add", user: "[a]", project: "[b]", want: Tools{Enabled: true, Globs: []string{"a"}}, origin: "user.yaml", warned: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := Options{WorkDir: dir, Env: env("FETTLE_TOOLS", tt.env)}
			if tt.user != "" {
				o.File = write(t, filepath.Join(dir, "user.yaml"), "tools: "+tt.user)
			}
			if tt.project != "" {
				write(t, filepath.Join(dir, ".fettle/config.yaml"), "tools: "+tt.project)
			}
			if tt.flag != nil {
				o.Flags = map[string]Flag{"tools": {"--tool", tt.flag}}
			}
			c := mustLoad(t, o)
			if diff := cmp.Diff(tt.want, c.Tools); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if !strings.Contains(c.Origin("tools"), tt.origin) {
				t.Errorf("origin %q, want one with %q", c.Origin("tools"), tt.origin)
			}
			if got := len(c.Warnings) > 0; got != tt.warned {
				t.Errorf("warnings %v, want any: %v", c.Warnings, tt.warned)
			}
		})
	}
}

func TestNoColor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, variable, flag, want, origin string }{
		{"", "1", "", "never", "NO_COLOR"},
		{"", "", "", "auto", "default"},
		{"auto", "1", "", "never", "NO_COLOR"},
		{"always", "1", "", "always", "config.yaml:1:1"},
		{"always", "1", "auto", "never", "NO_COLOR"},
		{"", "1", "always", "always", "--color"},
	} {
		o := Options{Env: env("NO_COLOR", tt.variable)}
		if tt.file != "" {
			o.File = userFile(t, "color: "+tt.file)
		}
		if tt.flag != "" {
			o.Flags = map[string]Flag{"color": {"--color", []string{tt.flag}}}
		}
		c := mustLoad(t, o)
		if c.Color != tt.want || !strings.HasSuffix(c.Origin("color"), tt.origin) {
			t.Errorf("%+v: color %q from %q", tt, c.Color, c.Origin("color"))
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	text := "providers:\n  openai: {key: from-file}\n  p: {base_url: https://h/v1, key_env: P_KEY}\n  q: {base_url: https://h/v1, key_env: Q_KEY, key: q-file}\n"
	c := mustLoad(t, Options{File: userFile(t, text), Env: env(
		"OPENAI_API_KEY", "from-env\n", "OPENAI_BASE_URL", "https://gateway.example/v1/", "P_KEY", `"quoted"`)})
	for _, tt := range []struct{ name, key, keyEnv, origin string }{
		{"openai", "from-env", "OPENAI_API_KEY", "OPENAI_API_KEY"},
		{"p", "quoted", "P_KEY", "P_KEY"},
		{"q", "q-file", "Q_KEY", "config.yaml:4:47"},
	} {
		p := c.Providers[tt.name]
		if p.Key.Reveal() != tt.key || p.KeyEnv != tt.keyEnv || !strings.HasSuffix(c.Origin("providers."+tt.name+".key"), tt.origin) {
			t.Errorf("%s: key %q, variable %q, origin %q; want %+v", tt.name, p.Key.Reveal(), p.KeyEnv, c.Origin("providers."+tt.name+".key"), tt)
		}
	}
	if p := c.Providers["openai"]; p.BaseURL != "https://gateway.example/v1" || c.Origin("providers.openai.base_url") != "OPENAI_BASE_URL" {
		t.Errorf("openai's address %q from %q", p.BaseURL, c.Origin("providers.openai.base_url"))
	}
}

func TestProjectSearch(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	for _, f := range []string{
		"home/.fettle/config.yaml", "home/repo/.git/HEAD", "home/repo/.fettle/config.yaml", "home/repo/sub/x",
		"home/repo/mod/.git", "home/repo/mod/deep/x", "home/loose/a/b/x", "home/loose/.fettle/config.yaml",
		"tmp/.fettle/config.yaml", "tmp/job/x", "tmp/own/.fettle/config.yaml", "srv/repo/.git/HEAD", "srv/repo/a/b/x", "srv/repo/.fettle/config.yaml",
	} {
		write(t, filepath.Join(root, f), "")
	}
	for _, tt := range []struct{ name, work, want string }{
		{"in the root of a repository", "home/repo", "home/repo"},
		{"below it", "home/repo/sub", "home/repo"},
		{"a repository inside ends the search", "home/repo/mod/deep", ""},
		{"without a repository, up to below the home", "home/loose/a/b", "home/loose"},
		{"the home is no project for what is below", "home/loose/..", "home"},
		{"nor for a folder in it", "home", "home"},
		{"outside of home and repository nothing above counts", "tmp/job", ""},
		{"but the working directory's own does", "tmp/own", "tmp/own"},
		{"a repository outside of home", "srv/repo/a/b", "srv/repo"},
		{"nowhere", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want, work := "", ""
			if tt.want != "" {
				want = filepath.Join(root, tt.want, ".fettle", "config.yaml")
			}
			if tt.work != "" {
				work = filepath.Join(root, tt.work)
			}
			if got := findProject(work, home); got != want {
				t.Errorf("findProject(%q) = %q, want %q", work, got, want)
			}
		})
	}
}

func TestProjectInASharedFolderIsNotRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("windows has no mode bits")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".fettle/config.yaml"), "model: evil/model")
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, Options{WorkDir: dir})
	if c.Model != "" || len(c.Warnings) != 1 || len(c.Files) != 0 {
		t.Errorf("model %q, warnings %v, files %v: a file that anyone may have put there was read", c.Model, c.Warnings, c.Files)
	}
}

func TestUserFileIsNotAlsoTheProjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, ".fettle/config.yaml"), "allow: [a]")
	if c := mustLoad(t, Options{File: file, WorkDir: dir}); len(c.Files) != 1 || len(c.Allow) != 1 {
		t.Errorf("files %v, allow %v", c.Files, c.Allow)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	t.Run("a secret that others can read", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS == "windows" {
			t.Skip("windows has no mode bits")
		}
		for mode, want := range map[os.FileMode]int{0o600: 0, 0o640: 1, 0o604: 1, 0o700: 0} {
			for text, secret := range map[string]bool{
				"providers: {p: {base_url: https://h, key: k}}":          true,
				"providers: {p: {base_url: https://h, headers: {X: y}}}": true,
				"providers: {p: {base_url: https://h, key_env: K}}":      false,
			} {
				file := userFile(t, text)
				if err := os.Chmod(file, mode); err != nil {
					t.Fatal(err)
				}
				c := mustLoad(t, Options{File: file})
				if n := want; !secret && len(c.Warnings) != 0 || secret && len(c.Warnings) != n {
					t.Errorf("mode %o, %s: warnings %v", mode, text, c.Warnings)
				}
				for _, w := range c.Warnings {
					if w.Line != 1 || w.Hint != "chmod 600 "+file {
						t.Errorf("warning %+v", w)
					}
				}
			}
		}
	})
	t.Run("a key without encryption", func(t *testing.T) {
		t.Parallel()
		for host, want := range map[string]int{
			"http://127.0.0.1:1/v1": 0, "http://box/v1": 0, "http://box.lan": 0, "http://10.1.2.3": 0, "http://[::1]:80": 0,
			"https://models.example": 0, "http://models.example/v1": 1, "http://203.0.113.5": 1,
		} {
			c := mustLoad(t, Options{File: userFile(t, "providers: {p: {base_url: '"+host+"', key: sk-secret}}")})
			if len(c.Warnings) != want {
				t.Errorf("%s: warnings %v, want %d", host, c.Warnings, want)
			}
		}
	})
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	big := write(t, filepath.Join(dir, "big.yaml"), "#"+strings.Repeat("x", maxFile))
	full := write(t, filepath.Join(dir, "full.yaml"), "#"+strings.Repeat("x", maxFile-1))
	link := filepath.Join(dir, "link.yaml")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"too large", Options{File: big}, "big.yaml: the file is larger than 1MiB, the limit"},
		{"a folder", Options{File: dir}, "this is a folder, not a file"},
		{"a link to nowhere", Options{File: link}, "link.yaml: this link leads to no file"},
		{"a file that was named is missing", Options{File: filepath.Join(dir, "no.yaml"), Named: true}, "no.yaml: there is no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, _ := mustFail(t, tt.o)
			if f.Code != fault.Config || !strings.Contains(f.Msg, tt.want) {
				t.Errorf("%s: %s, want %q", f.Code, f.Msg, tt.want)
			}
		})
	}
	mustLoad(t, Options{File: full})
}

func TestFlagsAndVariablesThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		o    Options
		code fault.Code
		want []string
	}{
		{"a flag", Options{Flags: map[string]Flag{"model": {"--model", []string{"qwen3"}}}}, fault.Usage,
			[]string{`--model: expected provider/model, such as ollama/qwen3, found "qwen3"`}},
		{"flags, all at once", Options{Flags: map[string]Flag{
			"limits.timeout": {"--timeout", []string{"120"}}, "limits.max_turns": {"--max-turns", []string{"0"}},
			"color": {"--color", []string{"blue"}}, "allow": {"--allow", []string{""}}, "system": {"--system", nil},
		}}, fault.Usage, []string{
			"--system: expected one value, found 0",
			`--color: expected one of auto, always, never, found "blue"`,
			`--allow: expected text on one line, without spaces around it, found ""`,
			`--max-turns: expected a whole number from 1 to 10000, found "0"`,
			`--timeout: expected a duration such as 120s or 10m, from 0 to 168h, found "120"`,
		}},
		{"a variable", Options{Env: env("FETTLE_RETRIES", "many", "OLLAMA_HOST", "gopher://x")}, fault.Config, []string{
			`OLLAMA_HOST: expected an address such as 127.0.0.1:11434 or https://models.example, found "gopher://x"`,
			`FETTLE_RETRIES: expected a whole number from 0 to 20, found "many"`,
		}},
		{"a key with a line break is not shown", Options{Env: env("OPENAI_API_KEY", "sk-1\nsk-2", "OPENAI_BASE_URL", "https://u:hunter2@h/v1")}, fault.Config, []string{
			"OPENAI_BASE_URL: an address holds no user name or password; use key or headers",
			"OPENAI_API_KEY: expected a key of printable ASCII characters without spaces",
		}},
		{"escape codes are not sent on", Options{Flags: map[string]Flag{"model": {"--model", []string{"a\x1b]0;x\a\u202e"}}}}, fault.Usage,
			[]string{"--model: expected provider/model, such as ollama/qwen3, found \"a\ufffd]0;x\ufffd\ufffd\""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, ps := mustFail(t, tt.o)
			var got []string
			for _, p := range ps {
				got = append(got, p.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || f.Code != tt.code {
				t.Errorf("%s (-want +got):\n%s", f.Code, diff)
			}
		})
	}
}

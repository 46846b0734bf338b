package config

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func defaultProviders() map[string]Provider {
	return map[string]Provider{
		"openai":    {Name: "openai", Type: "openai", BaseURL: "https://api.openai.com/v1", Default: true, KeyEnv: "OPENAI_API_KEY"},
		"anthropic": {Name: "anthropic", Type: "anthropic", BaseURL: "https://api.anthropic.com", Default: true, KeyEnv: "ANTHROPIC_API_KEY"},
		"mistral":   {Name: "mistral", Type: "mistral", BaseURL: "https://api.mistral.ai/v1", Default: true, KeyEnv: "MISTRAL_API_KEY"},
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	got := mustLoad(t, Options{File: filepath.Join(t.TempDir(), "none.yaml"), WorkDir: t.TempDir()})
	want := &Config{
		Color:      "auto",
		Ollama:     Ollama{Host: "http://127.0.0.1:11434"},
		Providers:  defaultProviders(),
		Models:     map[string]Model{},
		Tools:      Tools{Enabled: true},
		Approvals:  "calls",
		RunCommand: RunCommand{Sandbox: "reduced", Git: "read", Timeout: 2 * time.Minute},
		Search:     Search{Provider: "searxng"},
		Limits: Limits{
			MaxSteps: 50, MaxHandoffs: 16, MaxRepeats: 5, MaxFailures: 12, FirstByte: 10 * time.Minute, BetweenChunks: 2 * time.Minute,
			StdinBytes: 16 << 20, FileBytes: 16 << 20, KeptFile: 256 << 20, ChatFiles: 8 << 30, AllFiles: 32 << 30,
		},
		Compact: Compact{Percent: 100},
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
  max_steps: 7
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
run_command:
  sandbox: full
  network: [proxy.golang.org, "*.example.com:8080"]
  env: [GOFLAGS]
  readable: [/opt/data/]
  git: write
  timeout: 5m
search:
  provider: brave
  address: http://127.0.0.1:8888/
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
		RunCommand: RunCommand{
			Sandbox: "full", Network: Network{Hosts: []string{"proxy.golang.org", "*.example.com:8080"}}, Env: []string{"GOFLAGS"},
			Readable: []string{"/opt/data"}, Git: "write", Timeout: 5 * time.Minute,
		},
		Search: Search{Provider: "brave", Address: "http://127.0.0.1:8888"},
		Allow:  []string{"read_file"}, Deny: []string{"run_command(rm *)"}, Ask: []string{"write_*"},
		Approvals: "calls",
		Limits: Limits{
			MaxSteps: 7, MaxHandoffs: 16, MaxRepeats: 5, MaxFailures: 12, Timeout: 90 * time.Minute, FirstByte: 30 * time.Second, BetweenChunks: 5 * time.Second,
			StdinBytes: 64 << 20, FileBytes: 500_000, KeptFile: 256 << 20, ChatFiles: 8 << 30, AllFiles: 32 << 30,
		},
		Providers: map[string]Provider{
			"openai": defaultProviders()["openai"], "anthropic": defaultProviders()["anthropic"], "mistral": defaultProviders()["mistral"],
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
		Compact: Compact{Percent: 100},
		Files:   []string{file},
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
	user := write(t, filepath.Join(home, ".config/fettle/config.yaml"), "model: u/user\nretries: 1\nlimits: {max_steps: 1, timeout: 1s}\nollama: {num_ctx: 1}\n")
	work := filepath.Join(home, "src/repo/deep/er")
	project := write(t, filepath.Join(home, "src/repo/.fettle/config.yaml"), "model: p/project\nretries: 2\nlimits: {max_steps: 2}\n")
	write(t, filepath.Join(work, "x"), "")
	o := Options{
		File: user, WorkDir: work, Home: home,
		Env: env("FETTLE_MODEL", "e/env", "FETTLE_LIMITS_MAX_STEPS", " 3 ", "OLLAMA_CONTEXT_LENGTH", "4096",
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
		{"limits.max_steps", c.Limits.MaxSteps, 3, "FETTLE_LIMITS_MAX_STEPS"},
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

// What is added to requests is kept as it is sent: text for headers and query, JSON for body.
func TestAdditionsToRequests(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, Options{File: userFile(t, `providers:
  lab:
    base_url: http://lab.example/v1
    headers: {X-Org: acme}
    query: {api-version: "2024-10-21", n: 5}
    body: {service_tier: flex, seed: 7, temp: 0.5, on: true, provider: {order: [a, b]}, stream_options: "null", id: "08"}
`)})
	p := c.Providers["lab"]
	got := map[string]string{}
	for field, values := range p.Additions() {
		for name, v := range values {
			got[field+"."+name] = v.Reveal()
		}
	}
	want := map[string]string{
		"headers.X-Org": "acme", "query.api-version": "2024-10-21", "query.n": "5",
		"body.service_tier": `"flex"`, "body.seed": "7", "body.temp": "0.5", "body.on": "true",
		"body.provider": `{"order":["a","b"]}`, "body.stream_options": "null", "body.id": `"08"`,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

package config

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/google/go-cmp/cmp"
)

const withProfiles = `
model: ollama/a
retries: 1
allow: [base]
limits: {max_steps: 5, timeout: 1m}
providers:
  local: {base_url: http://127.0.0.1:1/v1, key: file-key, headers: {X-A: "1"}, models: {m: {tools: true}}}
models:
  local/m: {context_length: 10}
profiles:
  work:
    model: local/m
    allow: [work]
    limits: {timeout: 2m}
    providers:
      local: {key: "!pass work", headers: {X-B: "2"}, models: {m: {images: true}}}
      extra: {base_url: http://127.0.0.1:2/v1}
    models:
      local/m: {tools: false}
  other:
    retries: 9
`

func TestAProfileOverlaysTheRest(t *testing.T) {
	t.Parallel()
	file := userFile(t, withProfiles)
	c := mustLoad(t, Options{File: file, Flags: map[string]Flag{"profile": {"--profile", []string{"work"}}}})
	p := c.Providers["local"]
	if c.Profile != "work" || c.Model != "local/m" || c.Retries != 1 || c.Limits.MaxSteps != 5 || c.Limits.Timeout != 2*time.Minute {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff([]string{"work", "base"}, c.Allow); diff != "" {
		t.Errorf("allow (-want +got):\n%s", diff)
	}
	if p.BaseURL != "http://127.0.0.1:1/v1" || p.KeyCommand != "pass work" || !p.Key.Empty() || len(p.Headers) != 2 ||
		p.Models["m"] != (Model{Tools: provider.Yes, Images: provider.Yes}) || c.Providers["extra"].BaseURL == "" {
		t.Errorf("provider %+v", p)
	}
	if got, want := c.ModelSettings("local", "m"), (Model{ContextLength: 10, Tools: provider.No, Images: provider.Yes}); got != want {
		t.Errorf("model %+v, want %+v", got, want)
	}
	for key, want := range map[string]string{
		"model": ":12:5 (profile work)", "retries": ":3:1", "limits.timeout": ":14:14 (profile work)",
		"providers.local.base_url": ":7:11", "providers.local.key": ":16:15 (profile work)", "models.local/m.tools": ":19:17 (profile work)",
	} {
		if got := c.Origin(key); got != file+want {
			t.Errorf("Origin(%s) = %s, want %s", key, strings.TrimPrefix(got, file), want)
		}
	}
	if got, want := c.Origin("allow"), file+":13:5 (profile work), "+file+":4:1"; got != want {
		t.Errorf("Origin(allow) = %s, want %s", got, want)
	}
	if c := mustLoad(t, Options{File: file}); c.Profile != "" || c.Model != "ollama/a" || c.Retries != 1 || len(c.Providers) != 4 {
		t.Errorf("without a profile: %+v", c)
	}
}

func TestWhoChoosesTheProfile(t *testing.T) {
	t.Parallel()
	const text = "profile: a\nprofiles: {a: {retries: 1}, b: {retries: 2}, c: {retries: 3}}\n"
	for _, tt := range []struct {
		name, text, env string
		flag            []string
		want            string
		retries         int
	}{
		{"the file", text, "", nil, "a", 1},
		{"the variable over the file", text, "b", nil, "b", 2},
		{"the flag over both", text, "b", []string{"c"}, "c", 3},
		{"an empty flag takes none", text, "b", []string{""}, "", 3},
		{"nobody", strings.TrimPrefix(text, "profile: a\n"), "", nil, "", 3},
		{"an empty name in the file", strings.Replace(text, "profile: a", "profile: ''", 1), "", nil, "", 3},
	} {
		o := Options{File: userFile(t, tt.text), Env: env("FETTLE_PROFILE", tt.env)}
		if tt.flag != nil {
			o.Flags = map[string]Flag{"profile": {"--profile", tt.flag}}
		}
		if c := mustLoad(t, o); c.Profile != tt.want || c.Retries != tt.retries {
			t.Errorf("%s: profile %q, retries %d; want %q, %d", tt.name, c.Profile, c.Retries, tt.want, tt.retries)
		}
	}
}

// The environment and flags are stronger than a profile, the project's data is
// weaker, and its profiles come over the user's.
func TestProfilesAmongTheSources(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	user := write(t, filepath.Join(home, "config.yaml"),
		"profiles: {p: {model: u/profile, retries: 1, system: mine, tools: [a]}}\nprofile: p\n")
	write(t, filepath.Join(home, "w/.fettle/config.yaml"),
		"model: p/project\nretries: 2\nsystem: theirs\nprofiles: {p: {system: both, tools: on}, q: {}}\n")
	trusted := func(string, string) bool { return true }
	c := mustLoad(t, Options{File: user, WorkDir: filepath.Join(home, "w"), Home: home, Env: env("FETTLE_RETRIES", "3"), Trusted: trusted})
	if c.Model != "u/profile" || c.Retries != 3 || c.System != "both" || strings.Join(c.Tools.Globs, " ") != "a" {
		t.Errorf("model %s, retries %d, system %s, tools %v", c.Model, c.Retries, c.System, c.Tools)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Msg, "a project can't widen what "+user+":1:60 (profile p) says") {
		t.Errorf("warnings %v", c.Warnings)
	}
}

func TestProfileErrors(t *testing.T) {
	t.Parallel()
	f, _ := mustFail(t, Options{File: userFile(t, "profiles: {a: {}}"), Flags: map[string]Flag{"profile": {"--profile", []string{"b"}}}})
	if f.Code != fault.Usage || f.Msg != `--profile: there is no profile "b"; there are a` {
		t.Errorf("%s: %s", f.Code, f.Msg)
	}
	f, _ = mustFail(t, Options{Env: env("FETTLE_PROFILE", "b/c")})
	if f.Code != fault.Config || !strings.HasPrefix(f.Msg, "FETTLE_PROFILE: expected a profile's name") {
		t.Errorf("%s: %s", f.Code, f.Msg)
	}
}

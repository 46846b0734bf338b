package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const wanting = `
model: owned/m
fallback: [ollama/a, script/turn.yaml]
ollama: {host: far.example, num_ctx: 4096}
allow: &rules
  - run_command(go test *)
  - "\x72ead_*"
ask: *rules
providers:
  owned:
    base_url: https://models.example/v1
    key: "!op read x"
    headers: {Authorization: hunter2hunter2}
  openai:
    key_env: AWS_SECRET
profiles:
  p: {allow: ["*"], providers: {owned: {key: hunter3hunter3}}}
profile: p
`

func project(t *testing.T, text string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	return dir, write(t, filepath.Join(dir, ".fettle/config.yaml"), text)
}

// Without trust none of it counts, and one warning tells.
func TestAProjectThatIsNotTrusted(t *testing.T) {
	t.Parallel()
	dir, file := project(t, wanting)
	c := mustLoad(t, Options{WorkDir: dir, Trusted: func(f, sum string) bool {
		if f != file || len(sum) != 64 {
			t.Errorf("asked for %q, %q", f, sum)
		}
		return false
	}})
	if c.Model != "owned/m" || len(c.Fallback) != 0 || c.Ollama.Host != "http://127.0.0.1:11434" || c.Ollama.NumCtx != 4096 ||
		len(c.Allow) != 0 || strings.Join(c.Ask, " ") != "run_command(go test *) read_*" || len(c.Providers) != 3 || c.Profile != "" ||
		c.Providers["openai"].KeyEnv != "OPENAI_API_KEY" {
		t.Errorf("%+v", c)
	}
	want := file + ":3:1: not read until you trust this file: fallback, ollama.host, allow, providers.owned and 4 more; fettle trust shows what it wants, and asks"
	if len(c.Warnings) != 1 || c.Warnings[0].String() != want || c.Project == nil || c.Project.Trusted {
		t.Errorf("warnings %v, project %+v", c.Warnings, c.Project)
	}
}

// With it all of it does, and each origin is the project's.
func TestAProjectThatIsTrusted(t *testing.T) {
	t.Parallel()
	dir, file := project(t, wanting)
	c := mustLoad(t, Options{WorkDir: dir, Trusted: func(string, string) bool { return true }, Env: env("AWS_SECRET", "an-aws-key")})
	p := c.Providers["owned"]
	if len(c.Warnings) != 0 || !c.Project.Trusted || c.Profile != "p" || strings.Join(c.Fallback, " ") != "ollama/a script/turn.yaml" ||
		c.Ollama.Host != "http://far.example:11434" || strings.Join(c.Allow, " ") != "* run_command(go test *) read_*" ||
		p.BaseURL != "https://models.example/v1" || p.Key.Reveal() != "hunter3hunter3" || p.KeyCommand != "" ||
		p.Headers["Authorization"].Reveal() != "hunter2hunter2" || c.Providers["openai"].Key.Reveal() != "an-aws-key" {
		t.Errorf("%+v", c)
	}
	for _, key := range []string{"allow", "ollama.host", "providers.owned.base_url", "providers.owned.headers.Authorization"} {
		if o := c.Origins(key); len(o) == 0 || o[0].Kind != FromProject || o[0].File != file {
			t.Errorf("%s comes from %+v", key, o)
		}
	}
}

// What is shown is what counts, in the file's own lines where they show it,
// and never a secret.
func TestWhatAProjectWants(t *testing.T) {
	t.Parallel()
	_, file := project(t, wanting)
	p, problems := ReadProject(file, nil)
	if p == nil {
		t.Fatal(problems)
	}
	var got []string
	for _, g := range p.Grants {
		got = append(got, g.Does+"|"+strings.Join(g.Lines, "⏎"))
	}
	want := []string{
		grantsCommand + `|    key: "!op read x"`,
		grantsCalls + `|allow: [run_command(go test *), read_*]`, // not the escape, which hides it
		grantsCalls + `|profiles.p.allow: [*]`,                   // a secret stands in that line
		grantsSending + `|ollama: {host: far.example, num_ctx: 4096}`,
		grantsSending + `|    base_url: https://models.example/v1`,
		grantsKeyEnv + `|    key_env: AWS_SECRET`,
		grantsHeader + `|providers.owned.headers.Authorization: [redacted]`,
		grantsKey + `|profiles.p.providers.owned.key: [redacted]`,
		grantsProfile + `|profile: p`,
		grantsRecording + `|fallback: [ollama/a, script/turn.yaml]`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if p.Grants[0].Command != "op read x" {
		t.Errorf("command %q", p.Grants[0].Command)
	}
}

// A value that goes on in further lines is shown with them.
func TestGrantsOfSeveralLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"allow: [a,\n  # why\n  b]\n\n# next\nretries: 1\n": "allow: [a,⏎  # why⏎  b]",
		"ollama:\n  host: far\n# more\n":                    "  host: far",
		"allow: [run(a\n  b)]\n":                            "allow: [run(a b)]", // folded: the lines don't show it
		"allow: &x ['*']\ndeny: *x\n":                       "allow: &x ['*']",
		"allow: ['\\x2a'] # *\n":                            "allow: ['\\x2a'] # *",
		"allow: [\"\\x2a\"] # *\n":                          "allow: [*]",
		"deny: &x ['*']\nallow: *x\n":                       "allow: [*]", // an alias doesn't show it
	} {
		_, file := project(t, text)
		p, problems := ReadProject(file, nil)
		if p == nil || len(p.Grants) != 1 {
			t.Errorf("%q: %+v, %v", text, p, problems)
			continue
		}
		if got := strings.Join(p.Grants[0].Lines, "⏎"); got != want {
			t.Errorf("%q shows %q, want %q", text, got, want)
		}
	}
}

// A trusted project's provider may rest on the user's, and must have an
// address somewhere.
func TestAddressesOfProjects(t *testing.T) {
	t.Parallel()
	dir, _ := project(t, "providers: {mine: {key_env: K}}")
	all := func(string, string) bool { return true }
	user := userFile(t, "providers: {mine: {base_url: http://127.0.0.1:1/v1, key: mine-key}}")
	if p := mustLoad(t, Options{File: user, WorkDir: dir, Trusted: all}).Providers["mine"]; p.BaseURL == "" || p.KeyEnv != "K" || p.Key.Reveal() != "mine-key" {
		t.Errorf("%+v", p)
	}
	if f, _ := mustFail(t, Options{WorkDir: dir, Trusted: all}); !strings.HasSuffix(f.Msg, "providers.mine has no base_url") {
		t.Errorf("%s", f.Msg)
	}
}

// Problems of what isn't trusted are problems all the same, and a problem ends
// the trust's question.
func TestAWrongProject(t *testing.T) {
	t.Parallel()
	dir, file := project(t, "allow: [[]]\ncolor: always\nprices: {a/b: {input: 1, output: 1}}")
	if _, ps := mustFail(t, Options{WorkDir: dir}); len(ps) != 3 {
		t.Errorf("problems %v", ps)
	}
	if _, ps := ReadProject(file, nil); len(ps) != 3 {
		t.Errorf("problems %v", ps)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if p, ps := ReadProject(file, nil); p != nil || len(ps) != 0 {
		t.Errorf("a file that is gone: %+v, %v", p, ps)
	}
}

func TestCheckTellsAll(t *testing.T) {
	t.Parallel()
	dir, file := project(t, "allow: [a]\nretries: many\n")
	user := userFile(t, "modle: x\n")
	problems, files := Check(Options{File: user, WorkDir: dir, Env: env("FETTLE_RETRIES", "x")})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	if len(problems) != 4 || len(files) != 2 || files[1] != file || !problems[3].Warning {
		t.Errorf("problems\n%s\nfiles %v", strings.Join(got, "\n"), files)
	}
}

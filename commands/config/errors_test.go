package config

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// Each file of testdata/errors is wrong; the golden file beside it is what
// people see of it.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("testdata/errors has %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			f, ps := mustFail(t, Options{File: file})
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", filepath.ToSlash(render(f)))
			for _, p := range ps {
				if p.File == "" || p.Msg == "" || strings.Contains(p.String(), "\n") || p.Warning {
					t.Errorf("problem %+v", p)
				}
				if strings.Count(p.Excerpt, "\n") > 1 {
					t.Errorf("excerpt %q", p.Excerpt)
				}
			}
		})
	}
}

// A project's file may not do what the user's may.
func TestProjectErrorTexts(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/project.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".fettle/config.yaml"), string(data))
	f, _ := mustFail(t, Options{File: "/home/ann/.config/fettle/config.yaml", WorkDir: dir})
	golden(t, "testdata/project.golden", filepath.ToSlash(strings.ReplaceAll(render(f), dir, "DIR")))
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	f, ps := mustFail(t, Options{File: "testdata/errors/many.yaml"})
	if len(ps) != maxProblems || len(f.Detail) > 3*maxShown+1 || !strings.HasPrefix(f.Detail[len(f.Detail)-1], "and 80 more") {
		t.Errorf("%d problems, %d lines of detail, the last %q", len(ps), len(f.Detail), f.Detail[len(f.Detail)-1])
	}
}

// The fixtures of the security data are hostile in YAML's own ways; none is a
// configuration, so all but the empty one must fail, soon and with a place.
func TestHostileYAML(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(needtest.Shared(t, "security", "yaml"), "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) == 0 {
				mustLoad(t, Options{File: userFile(t, "")})
				return
			}
			begin := time.Now()
			f, _ := mustFail(t, Options{File: userFile(t, string(data))})
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			checkPrintable(t, render(f))
		})
	}
}

func checkPrintable(t *testing.T, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if sanitize.Mask(line) != line {
			t.Errorf("a message holds what can drive a terminal: %q", line)
		}
	}
}

var secretPiece = regexp.MustCompile(`[zqxj]{4,}`)

const withSecrets = `model: ollama/a
limits: {max_steps: 3}
providers:
  local:
    base_url: http://127.0.0.1:8000/v1
    key: zqxjqzxjqzjxqzxj
    headers:
      X-Team: xqzjxqzjzqjx
      Authorization: "Bearer jqzxjqzxjqxz"
    key_env: LOCAL
  other: {base_url: "https://qzjx:xjqz@h.example/v1", key: 'qjzxqjzxqjzx'}
`

// However a file with secrets is broken, no message shows them: each byte is
// left out once, and each of a few characters is put before it once.
func TestNoMessageShowsASecret(t *testing.T) {
	t.Parallel()
	seen, made := 0, 0
	check := func(text string) {
		if made++; raceEnabled && made%8 != 0 {
			return
		}
		l := loader{}
		decodeText(&l, "config.yaml", text, false)
		err := l.sink.err()
		if err == nil {
			return
		}
		seen++
		if leak := secretPiece.FindString(render(err)); leak != "" {
			t.Errorf("%q is shown for\n%s\n%s", leak, text, render(err))
		}
	}
	for i := range withSecrets {
		check(withSecrets[:i] + withSecrets[i+1:])
		for _, s := range []string{":", ": ", "\"", "'", "[", "}", "\t", "\n", " ", "#", "-", "\x00", "\xff", "&a ", "*a ", "!t "} {
			check(withSecrets[:i] + s + withSecrets[i:])
		}
	}
	for cut := range withSecrets {
		check(withSecrets[:cut])
	}
	if seen < made/10 {
		t.Errorf("only %d of the broken files were errors", seen)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(everything), []byte(""))
	f.Add([]byte(withSecrets), []byte("tools: off"))
	files, _ := filepath.Glob("testdata/errors/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 10_000 {
			f.Add(data, data)
		}
	}
	f.Fuzz(func(t *testing.T, user, project []byte) {
		l := loader{}
		mine, theirs := decodeText(&l, "user.yaml", string(user), false), decodeText(&l, "project.yaml", string(project), true)
		theirs.showLines()
		c := l.combine([]*fileParts{mine, theirs}, nil)
		if err := l.sink.err(); err != nil {
			checkPrintable(t, render(err))
			return
		}
		// What was accepted is within its bounds and can be asked for.
		if c.Limits.MaxSteps < 1 || c.Limits.FirstByte < minSilence || c.Limits.StdinBytes < 1 || c.Retries < 0 ||
			!plain(c.Model) || c.Ollama.Host == "" {
			t.Errorf("accepted: %+v", c)
		}
		for _, key := range c.Keys() {
			if c.Origin(key) == "" {
				t.Errorf("%q has no origin", key)
			}
		}
		for _, p := range c.Providers {
			if p.BaseURL == "" || !bytes.HasPrefix([]byte(p.BaseURL), []byte("http")) {
				t.Errorf("provider %+v has no address", p)
			}
		}
		// A project that isn't trusted adds no provider, no address, no permission.
		for _, lay := range l.layers {
			for _, e := range lay.settings {
				if e.origin.Kind == FromProject && playsRecording(e.value) {
					t.Errorf("the project's file plays a recording: %+v", e)
				}
			}
			for key, o := range lay.origins {
				if o.Kind == FromProject && strings.HasPrefix(key, "providers") {
					t.Errorf("the project's file set %s", key)
				}
			}
			for _, key := range []string{"allow", "ollama.host", "profile", "color"} {
				if e, ok := lay.settings[key]; ok && e.origin.Kind == FromProject {
					t.Errorf("the project's file set %s", key)
				}
			}
		}
		for _, g := range theirs.grants {
			if len(g.Lines) == 0 || g.Does == "" || g.Key == "" {
				t.Errorf("a grant shows nothing: %+v", g)
			}
			checkPrintable(t, g.Text+"\n"+strings.Join(g.Lines, "\n"))
		}
	})
}

// A file of the greatest size that is made to be slow is read in bounded time
// and memory; the figures are printed, the test is that it ends with an error.
func TestSlowFiles(t *testing.T) {
	t.Parallel()
	size := maxFile
	if raceEnabled {
		size /= 16
	}
	fill := func(head, unit, tail string) string {
		return head + strings.Repeat(unit, (size-len(head)-len(tail))/len(unit)) + tail
	}
	for name, text := range map[string]string{
		"lists":                   fill("fallback: [", "[],", "[]]"),
		"one long line of keys":   fill("{", "a: 1,", "b: 2}"),
		"one long key":            fill("? \"", "k", "\"\n: 1"),
		"one long line of models": fill("models: {", "M: {tools: 5},", "b: 2}"),
		"lines":                   fill("limits:\n", " x: 1\n", ""),
		"anchors and aliases":     fill("a: &a [1]\nmodels: {", "a/b: *a,", "}"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			f, _ := mustFail(t, Options{File: userFile(t, text)})
			t.Logf("%v, %d bytes of text", time.Since(begin), len(render(f)))
			if n := len(render(f)); n > 64<<10 {
				t.Errorf("the message has %d bytes", n)
			}
		})
	}
}

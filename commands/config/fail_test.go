package config

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/google/go-cmp/cmp"
)

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
	t.Run("a variable that holds no key", func(t *testing.T) {
		t.Parallel()
		c := mustLoad(t, Options{Env: env("OPENAI_API_KEY", "your key here")})
		if !c.Providers["openai"].Key.Empty() || len(c.Warnings) != 1 || c.Warnings[0].String() !=
			"OPENAI_API_KEY: not used as the key of openai: expected a key of printable ASCII characters without spaces" {
			t.Errorf("key %q, warnings %v", c.Providers["openai"].Key.Reveal(), c.Warnings)
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
		{"a flag", Options{Flags: map[string]Flag{"model": {"--model", []string{"qwen 3"}}}}, fault.Usage,
			[]string{`--model: expected a model, such as ollama/qwen3 or gpt-5, found "qwen 3"`}},
		{"flags, all at once", Options{Flags: map[string]Flag{
			"limits.timeout": {"--timeout", []string{"120"}}, "limits.max_steps": {"--max-steps", []string{"0"}},
			"color": {"--color", []string{"blue"}}, "allow": {"--allow", []string{""}}, "system": {"--system", nil},
		}}, fault.Usage, []string{
			"--system: expected one value, found 0",
			`--color: expected one of auto, always, never, found "blue"`,
			`--allow: expected text on one line, without spaces around it, found ""`,
			`--max-steps: expected a whole number from 1 to 10000, found "0"`,
			`--timeout: expected a duration such as 120s or 10m, from 0 to 168h, found "120"`,
		}},
		{"a variable", Options{Env: env("FETTLE_RETRIES", "many", "OLLAMA_HOST", "gopher://x")}, fault.Config, []string{
			`OLLAMA_HOST: expected an address such as 127.0.0.1:11434 or https://models.example, found "gopher://x"`,
			`FETTLE_RETRIES: expected a whole number from 0 to 20, found "many"`,
		}},
		{"an address with a password is not shown", Options{Env: env("OPENAI_BASE_URL", "https://u:hunter2@h/v1")}, fault.Config, []string{
			"OPENAI_BASE_URL: an address holds no user name or password; use key or headers",
		}},
		{"escape codes are not sent on", Options{Flags: map[string]Flag{"model": {"--model", []string{"a\x1b]0;x\a\u202e"}}}}, fault.Usage,
			[]string{"--model: expected a model, such as ollama/qwen3 or gpt-5, found \"a\ufffd]0;x\ufffd\ufffd\""}},
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

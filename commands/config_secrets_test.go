package commands_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// secretCases are the fixtures of the shared data: values that must not be
// seen anywhere.
func secretCases(t *testing.T) map[string]string {
	t.Helper()
	shared := os.Getenv("FETTLE_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	data, err := os.ReadFile(filepath.Join(shared, "data", "security", "secrets", "cases.json"))
	if err != nil {
		if os.Getenv("FETTLE_TEST_REQUIRE") == "all" {
			t.Fatalf("the shared data isn't there: set FETTLE_SHARED: %v", err)
		}
		t.Skip("the shared data isn't there: set FETTLE_SHARED")
	}
	var cases struct{ Values map[string]string }
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	return cases.Values
}

// pieces are the parts of a secret of which none may be seen, as it is and as
// JSON and YAML may write it.
func pieces(value string) []string {
	const telling = 9 // longer than what a list shows of a key's end
	var out []string
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \n:/@?=-_.", r) }) {
		if len(word) >= telling {
			out = append(out, word)
		}
	}
	if len(out) == 0 {
		out = append(out, value)
	}
	return out
}

// Each fixture is a key, a header, a variable, an address, a command and a
// profile's key, in files that are right and in files that are broken; nothing
// that config, keys and trust print holds a part of it.
func TestNoCommandShowsASecret(t *testing.T) {
	t.Parallel()
	for name, value := range secretCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "responses: [{text: x}]")
			// What is no secret, and stands in every message about one.
			public := []string{"Authorization", "example", "providers", "description"}
			parts := slices.DeleteFunc(pieces(value), func(p string) bool { return slices.Contains(public, p) })
			quoted := strconv.Quote(value)
			if strings.Contains(value, `\u`) {
				quoted = `"` + value + `"` // an escape of YAML, as of JSON
			}
			for i, text := range secretFiles(quoted, value) {
				put(t, filepath.Join(w.dir, "config", "config.yaml"), text)
				w.tellAll(t, fmt.Sprintf("file %d", i), parts)
			}
			put(t, filepath.Join(w.dir, "config", "config.yaml"), "")
			put(t, filepath.Join(w.dir, ".fettle", "config.yaml"),
				"providers: {x: {base_url: http://127.0.0.1:1, key: "+quoted+", headers: {X-Y: "+quoted+"}}}\n")
			w.tellAll(t, "a project", parts)
			for i, text := range []string{"x: " + quoted + "\n", quoted + "\n", "x: [" + quoted + "]\n", "x: " + value} {
				put(t, filepath.Join(w.dir, "config", "keys.yaml"), text)
				w.tellAll(t, fmt.Sprintf("keys %d", i), parts)
			}
			if err := os.Remove(filepath.Join(w.dir, "config", "keys.yaml")); err != nil {
				t.Fatal(err)
			}
			w.giveSecret(t, value, parts)
			w.env = append(w.env, "OPENAI_API_KEY="+value, "FETTLE_RETRIES="+value, "FETTLE_PROFILE="+value, "OPENAI_BASE_URL="+value)
			w.tellAll(t, "variables", parts)
		})
	}
}

// secretFiles are configurations that hold a secret, right ones first.
func secretFiles(quoted, raw string) []string {
	const head = "providers:\n  x:\n    base_url: http://127.0.0.1:1/v1\n"
	return []string{
		head + "    key: " + quoted + "\n",
		head + "    headers: {Authorization: " + quoted + "}\n",
		head + "    key: '!echo " + strings.ReplaceAll(strings.ReplaceAll(raw, "\n", " "), "'", "") + "'\n",
		head + "profiles: {p: {providers: {x: {key: " + quoted + "}}}}\nprofile: p\n",
		head + "    key_env: " + quoted + "\n",
		head + "    key: [" + quoted + "]\n",
		head + "    api_key: " + quoted + "\n",
		head + "    key: " + raw + " \n  y: z\n",
		"providers:\n  x:\n    base_url: " + quoted + "\n",
		"providers:\n  " + quoted + ": {}\n",
		quoted + ": 1\n",
		"retries: " + quoted + "\n",
		head + "    key:" + raw + "\n",
	}
}

// tellAll runs what prints something about the configuration, the keys and the
// trust, in both forms, and looks for the parts of a secret.
func (w *world) tellAll(t *testing.T, where string, parts []string) {
	t.Helper()
	for _, args := range [][]string{
		{"config", "list"}, {"config", "list", "-o", "json"}, {"config", "get", "providers.x.key"},
		{"config", "get", "providers.x.headers.Authorization", "-o", "json"}, {"config", "check"}, {"config", "check", "-o", "json"},
		{"config", "set", "retries", "1", "-o", "json"}, {"keys", "list"}, {"keys", "list", "-o", "json"}, {"keys", "rm", "nobody"},
		{"trust"}, {"trust", "-o", "json"}, {"trust", "--key", "x"}, {"trust", "--list"},
	} {
		cmd := w.command(args...)
		out, _ := cmd.CombinedOutput() // the status is not what this is about
		w.search(t, where+": fettle "+strings.Join(args, " "), string(out), parts)
	}
}

func (w *world) search(t *testing.T, where, out string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if i := strings.Index(out, part); i >= 0 {
			t.Errorf("%s: %q is shown: …%s", where, part, out[max(0, i-80):min(len(out), i+40)])
		}
	}
}

// giveSecret hands the secret to the commands that take one, and to those that
// should not get one.
func (w *world) giveSecret(t *testing.T, value string, parts []string) {
	t.Helper()
	for _, args := range [][]string{
		{"keys", "set", "openai"}, {"keys", "set", "openai", "-o", "json"}, {"config", "set", "providers.openai.key", "-"},
		{"config", "set", "providers.openai.headers.X-Api-Key", "-"}, {"config", "set", "retries", "-"},
		{"keys", "set", "openai", value}, {"keys", "set", value}, {"keys", "rm", value},
		{"config", "set", "providers.openai.key", value}, {"config", "set", "providers.openai.headers.Authorization", value},
		{"config", "get", value}, {"config", "set", value, "x"}, {"config", "set", "retries", value}, {"config", "unset", value},
		{"trust", "--key", value}, {"trust", "--sha256", value},
	} {
		cmd := w.command(args...)
		cmd.Stdin = strings.NewReader(value)
		out, _ := cmd.CombinedOutput()
		w.search(t, "fettle "+strings.Join(args[:2], " "), string(out), parts)
	}
	w.tellAll(t, "after it was given", parts)
	if runtime.GOOS == "windows" {
		return // it has no mode bits
	}
	for _, file := range []string{"config.yaml", "keys.yaml"} {
		path := filepath.Join(w.dir, "config", file)
		if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
}

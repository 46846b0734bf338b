package commands_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/commands/commandtest"
	"github.com/fettle-cli/fettle/internal/needtest"
)

// secretCases are the fixtures of the shared data: values that must not be
// seen anywhere.
func secretCases(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(needtest.Shared(t, "security", "secrets", "cases.json"))
	if err != nil {
		t.Fatal(err)
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

// secret is a fixture: the value, the value as YAML has it in quotes, and the
// parts of it that nothing may show.
type secret struct {
	value, quoted string
	parts         []string
}

func secrets(t *testing.T) []secret {
	t.Helper()
	var out []secret
	cases := secretCases(t)
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		if name == "split" {
			continue // it tells how streams are cut, and is no value
		}
		value := cases[name]
		s := secret{value: value, quoted: strconv.Quote(value), parts: pieces(value)}
		if strings.Contains(value, `\u`) {
			s.quoted = `"` + value + `"` // an escape of YAML, as of JSON
		}
		// What stands in every message about such a value.
		s.parts = slices.DeleteFunc(s.parts, func(p string) bool { return p == "Authorization" })
		out = append(out, s)
	}
	return out
}

// The fixtures are keys, headers, variables' names, addresses, commands, and
// what stands by mistake where a name or a number should, in files that are
// right and in files that are broken; nothing that config, keys and trust print
// holds a part of them.
func TestNoCommandShowsASecretOfAFile(t *testing.T) {
	t.Parallel()
	all := secrets(t)
	var parts []string
	for _, s := range all {
		parts = append(parts, s.parts...)
	}
	for name, text := range secretFiles(all) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "responses: [{text: x}]")
			w.Plain()
			commandtest.Put(t, filepath.Join(w.Dir, "config", "config.yaml"), text)
			if right := []string{"keys", "commands", "keys in profiles"}; slices.Contains(right, name) {
				if out, _ := w.Run(0, "config", "list"); strings.Count(out, "\nproviders.x") < len(all) && name != "keys in profiles" {
					t.Errorf("the list lacks some of the fixtures:\n%s", out)
				}
			}
			w.tellAll(t, parts)
		})
	}
	t.Run("a project", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "responses: [{text: x}]")
		text := "providers:\n"
		for i, s := range all {
			text += fmt.Sprintf("  x%d: {base_url: http://127.0.0.1:1, key: %s, headers: {X-Y: %s}}\n", i, asKey(s), s.quoted)
		}
		commandtest.Put(t, filepath.Join(w.Dir, ".fettle", "config.yaml"), text)
		w.tellAll(t, parts)
	})
	t.Run("the file of keys", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, "responses: [{text: x}]")
		right := ""
		for i, s := range all {
			right += fmt.Sprintf("x%d: %s\n", i, asKey(s))
			for _, text := range []string{"x: [" + s.quoted + "]\n", s.quoted + "\n", "x: " + s.value} {
				commandtest.Put(t, filepath.Join(w.Dir, "config", "keys.yaml"), text)
				w.tell(t, parts, "keys", "list")
			}
		}
		commandtest.Put(t, filepath.Join(w.Dir, "config", "keys.yaml"), right)
		if out, _ := w.Run(0, "keys", "list"); strings.Count(out, "\n") != len(all) {
			t.Errorf("the list lacks some of the fixtures:\n%s", out)
		}
		w.tellAll(t, parts)
	})
}

// asKey is a fixture in quotes if it can be a key, else one that can.
func asKey(s secret) string {
	if strings.ContainsAny(s.value, " \n") {
		return "fine"
	}
	return s.quoted
}

// secretFiles are configurations that hold all fixtures, each in one way; the
// first are right.
func secretFiles(all []secret) map[string]string {
	files := map[string]string{}
	add := func(name, head, format string, args func(secret) []any) {
		text := head
		for i, s := range all {
			text += strings.ReplaceAll(fmt.Sprintf(format, args(s)...), "#", strconv.Itoa(i))
		}
		files[name] = text
	}
	one := func(s secret) []any { return []any{s.quoted} }
	raw := func(s secret) []any { return []any{s.value} }
	const head = "providers:\n"
	const x = "  x#: {base_url: http://127.0.0.1:1/v1, "
	add("keys", head, x+"key: %s, headers: {Authorization: %s}}\n", func(s secret) []any { return []any{asKey(s), strings.ReplaceAll(s.quoted, `\n`, " ")} })
	add("commands", head, x+"key: \"!echo %s\"}\n", func(s secret) []any { return []any{strings.NewReplacer("\n", " ", `\`, "").Replace(s.value)} })
	add("keys in profiles", "profiles:\n", "  p#: {providers: {x: {base_url: http://127.0.0.1:1/v1, key: %s}}}\n", func(s secret) []any { return []any{asKey(s)} })
	add("names of variables", head, x+"key_env: %s}\n", one)
	add("lists", head, x+"key: [%s], headers: %[1]s}\n", one)
	add("unknown keys", head, x+"api_key: %s, %[1]s: 1}\n", one)
	add("addresses", head, "  x#: {base_url: %s}\n", one)
	add("names of providers", head, "  %s: {}\n", one)
	add("keys of the top", "", "%s: 1\n", one)
	add("numbers", "profiles:\n", "  p#: {retries: %s}\n", one)
	add("names of models", "models:\n", "  %s: {tools: 1}\n", one)
	add("without a space", head, "  x#:\n    base_url: http://127.0.0.1:1/v1\n    key:%s\n", raw)
	add("without quotes", head, "  x#:\n    key: %s\n    url: y: z\n", raw)
	return files
}

// tellAll runs what prints something about the configuration, the keys and the
// trust, in both forms, and looks for the parts of a secret.
func (w *world) tellAll(t *testing.T, parts []string) {
	t.Helper()
	for _, args := range [][]string{
		{"config", "list"}, {"config", "list", "-o", "json"}, {"config", "get", "providers.x1.key"},
		{"config", "get", "providers.x1.headers.Authorization", "-o", "json"}, {"config", "check"}, {"config", "check", "-o", "json"},
		{"config", "set", "retries", "1", "-o", "json"}, {"keys", "list"}, {"keys", "list", "-o", "json"}, {"keys", "rm", "nobody"},
		{"trust"}, {"trust", "-o", "json"}, {"trust", "--key", "x1"}, {"trust", "--list"},
	} {
		w.tell(t, parts, args...)
	}
}

func (w *world) tell(t *testing.T, parts []string, args ...string) {
	t.Helper()
	out, _ := w.Command(args...).CombinedOutput() // the status is not what this is about
	w.search(t, "fettle "+strings.Join(args, " "), string(out), parts)
}

func (w *world) search(t *testing.T, where, out string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if i := strings.Index(out, part); i >= 0 {
			t.Errorf("%s: %q is shown: …%s", where, part, out[max(0, i-80):min(len(out), i+40)])
		}
	}
}

// The fixtures are given to the commands that take a secret, to those that
// should not get one, and as variables.
func TestNoCommandShowsASecretThatItIsGiven(t *testing.T) {
	t.Parallel()
	for i, s := range secrets(t) {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "responses: [{text: x}]")
			w.Plain()
			for _, args := range [][]string{
				{"keys", "set", "openai"}, {"keys", "set", "openai", "-o", "json"}, {"config", "set", "providers.openai.key", "-"},
				{"config", "set", "providers.openai.headers.X-Api-Key", "-"}, {"config", "set", "retries", "-"},
				{"keys", "set", "--", "openai", s.value}, {"keys", "set", "--", s.value}, {"keys", "rm", "--", s.value},
				{"config", "set", "--", "providers.openai.key", s.value}, {"config", "set", "--", "providers.openai.headers.Authorization", s.value},
				{"config", "get", "--", s.value}, {"config", "set", "--", s.value, "x"}, {"config", "set", "--", "retries", s.value},
				{"config", "unset", "--", s.value}, {"trust", "--key=" + s.value}, {"trust", "--sha256=" + s.value},
				{"config", "list"}, {"keys", "list", "-o", "json"},
			} {
				cmd := w.Command(args...)
				cmd.Stdin = strings.NewReader(s.value)
				out, _ := cmd.CombinedOutput()
				w.search(t, "fettle "+args[0]+" "+args[1], string(out), s.parts)
			}
			for _, file := range []string{"config.yaml", "keys.yaml"} {
				path := filepath.Join(w.Dir, "config", file)
				if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %v", file, info.Mode())
				}
			}
			w.Env = append(w.Env, "OPENAI_API_KEY="+s.value)
			w.tell(t, s.parts, "config", "list")
			w.tell(t, s.parts, "keys", "list", "-o", "json")
			w.Env = append(w.Env, "FETTLE_RETRIES="+s.value, "FETTLE_PROFILE="+s.value, "OPENAI_BASE_URL="+s.value)
			w.tell(t, s.parts, "config", "check")
			w.tell(t, s.parts, "keys", "list", "-o", "json")
		})
	}
}

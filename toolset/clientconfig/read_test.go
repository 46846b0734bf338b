package clientconfig

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// extensionDir is the folder that the table uses as the folder of its files.
const extensionDir = "/opt/ext"

// shown writes a result as the golden files have it.
func shown(r *Result) []byte {
	var b bytes.Buffer
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "file note: %s\n", note)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Skipped)) {
		fmt.Fprintf(&b, "skipped %s: %s\n", name, r.Skipped[name])
	}
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, s := range r.Servers {
		b.WriteString("\n")
		_ = enc.Encode(s.Config) // texts and maps of texts can always be encoded
		if text, _ := json.Marshal(s.Settings); string(text) != "{}" {
			fmt.Fprintf(&b, "settings %s\n", text)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(&b, "note: %s\n", note)
		}
	}
	return b.Bytes()
}

// TestFilesOfOtherPrograms reads a file of each program, in the shape that it writes.
func TestFilesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	files := tableFiles(t)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Read(raw, Options{Name: filepath.Base(name), Dir: extensionDir})
			if err != nil {
				t.Fatal(err)
			}
			got, golden := shown(r), name+".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))), string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// tableFiles returns the files of the table.
func tableFiles(t testing.TB) []string {
	files, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	files = slices.DeleteFunc(files, func(name string) bool { return filepath.Ext(name) == ".golden" })
	if err != nil || len(files) != 12 {
		t.Fatalf("%d files, %v: %v", len(files), err, files)
	}
	return files
}

// mentions reports whether a result has a key in its servers or in its notes.
func (r *Result) mentions(key string) bool { return strings.Contains(string(shown(r)), key) }

// TestNothingIsDroppedSilently adds a key to every object of every file in the table:
// each has to be in a server or in a note then.
func TestNothingIsDroppedSilently(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var top any
		if err := json.Unmarshal(withoutComments(raw), &top); err != nil {
			t.Fatal(err)
		}
		places := 0
		eachObject(top, "", func(at string, o map[string]any) {
			for _, added := range []any{"zzvalue", 5, true, []any{"zzvalue"}, map[string]any{"zzinner": "zzvalue"}} {
				o["zzadded"] = added
				changed, err := json.Marshal(top)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Read(changed, Options{Name: filepath.Base(name), Dir: extensionDir})
				if err != nil {
					t.Fatalf("%s, at %s: %v", name, at, err)
				}
				if !r.mentions("zz") && !accounted(r, at) {
					t.Errorf("%s: %v at %s is dropped silently", name, added, at)
				}
				places++
			}
			delete(o, "zzadded")
		})
		if places == 0 {
			t.Errorf("%s has no objects", name)
		}
	}
}

// accounted reports whether a place is within a server that is skipped as a whole, or
// below a key of the file or a project that is noted as a whole.
func accounted(r *Result, at string) bool {
	for name := range r.Skipped {
		if strings.Contains(at+"/", "/"+name+"/") {
			return true
		}
	}
	for _, note := range r.Notes {
		_, keys, _ := strings.Cut(note, "were left out: ")
		for key := range strings.SplitSeq(keys, ", ") {
			if key != "" && strings.Contains(at+"/", "/"+key+"/") {
				return true
			}
		}
	}
	return false
}

// eachObject calls do with each object of decoded JSON and its path.
func eachObject(v any, at string, do func(at string, o map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			eachObject(v[key], at+"/"+key, do)
		}
		do(at, v)
	case []any:
		for i, e := range v {
			eachObject(e, fmt.Sprintf("%s/%d", at, i), do)
		}
	}
}

// TestRefusedFiles checks that errors name the problem of a file, and its place.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, text, err string }{
		"no JSON":            {"x.json", "{\n\"mcpServers\": {\n", "invalid JSON in line 2"},
		"text behind":        {"x.json", `{"mcpServers": {"a": {"command": "x"}}} {}`, "text after the end"},
		"a list":             {"x.json", `[]`, "expected an object"},
		"no servers":         {"x.json", `{"theme": "dark"}`, "no MCP servers"},
		"none of them":       {"x.json", `{"mcpServers": {}}`, "no MCP servers"},
		"no YAML":            {"x.yaml", "a: [", "invalid YAML"},
		"no TOML":            {"x.toml", "a = [", "invalid TOML"},
		"deep nesting":       {"x.json", strings.Repeat("[", 100), "levels of nesting"},
		"aliases growing":    {"x.yml", bomb(), "more than"},
		"an alias of itself": {"x.yml", "a: &a [*a]", "levels of nesting"},
	} {
		if r, err := Read([]byte(tt.text), Options{Name: tt.file}); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: read %+v, error %v", name, r, err)
		}
	}
}

// bomb is YAML whose aliases multiply.
func bomb() string {
	text := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	return text
}

func TestServersWithoutAListAroundThem(t *testing.T) {
	t.Parallel()
	r, err := Read([]byte(`{"db": {"command": "${CLAUDE_PLUGIN_ROOT}/bin/db"}}`), Options{Name: ".mcp.json", Dir: extensionDir})
	if err != nil || len(r.Servers) != 1 || r.Servers[0].Config.Command != extensionDir+"/bin/db" || !slices.Equal(r.Servers[0].Settings.Read, []string{extensionDir}) {
		t.Errorf("read %+v, %v", r, err)
	}
}

// TestKeysThatOccurTwice checks that the last one is kept, with a note.
func TestKeysThatOccurTwice(t *testing.T) {
	t.Parallel()
	r, err := Read([]byte(`{"mcpServers": {"a": {"command": "x", "command": "y"}}}`), Options{})
	if err != nil || r.Servers[0].Config.Command != "y" || !r.mentions(`"command" occurs twice`) {
		t.Errorf("read %+v, %v", r, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range tableFiles(f) {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, filepath.Ext(name))
	}
	for _, seed := range []string{`{"a":"\"//",}`, `/*`, `{"mcpServers":{"":{"command":{"path":"x"}}}}`, `{"mcp": null, "projects": 5, "inputs": [1]}`} {
		f.Add([]byte(seed), ".json")
	}
	f.Fuzz(func(t *testing.T, raw []byte, ext string) {
		r, err := Read(raw, Options{Name: "x" + ext, Dir: extensionDir})
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, s := range r.Servers {
			if s.Config.ID == "" || ids[s.Config.ID] || (s.Config.Command == "") == (s.Config.URL == "") {
				t.Errorf("%+v", s)
			}
			ids[s.Config.ID] = true
		}
	})
}

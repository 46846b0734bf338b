package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

func listed[T any](t *testing.T, kind string) (dir string, cases []T) {
	t.Helper()
	dir = needtest.Shared(t, "security")
	raw, err := os.ReadFile(filepath.Join(dir, kind, "MANIFEST.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 10 {
		t.Fatalf("only %d cases of %s", len(cases), kind)
	}
	return dir, cases
}

// inOurWords turns a fixture's vocabulary, which is older than document 004's,
// into the document's. What is hostile in it stays byte for byte.
func inOurWords(file string, raw []byte) []byte {
	if strings.Contains(file, "utf16") {
		return raw
	}
	text := strings.NewReplacer(
		"  - name: ", "  - id: ", "    entry: ", "    entrypoint: ", "    parameters: ", "    input_schema: ",
		"\ntimeout_s: ", "\n    timeout: ", "\nx-common: &c {a: 1}", "\n    annotations: &c {read_only: true}",
		"\npermisions: {network: none}", "\npermisions: {network: []}",
		"\nx: \"a\\0b\"", "\n    category: \"a\\0b\"",
		"\nartifacts:\n  - {name: a, file: ../../etc/passwd}", "\n    renderer: {type: html, artifact: ../../etc/passwd}",
		"name: demo", "manifest_version: \"1\"\nid: demo\nname: demo",
	).Replace(string(raw))
	return []byte(text)
}

// wantCodes is the kind of refusal that each hostile fixture must end in.
func wantCodes() map[string]string {
	return map[string]string{
		"01-billion-laughs": CodeAlias, "02-quadratic": CodeAlias, "03-merge-bomb": CodeAlias,
		"05-dup-key": CodeDuplicateKey, "06-dup-nested": CodeDuplicateKey, "07-merge-override": CodeAlias,
		"09-tag-binary": CodeTag, "10-tag-local": CodeTag, "11-multi-doc": CodeYAML, "13-version-float": CodeWrongType,
		"14-bom-utf16": CodeYAML, "16-invalid-utf8": CodeYAML, "18-deep": CodeTooLarge, "19-deep-map": CodeTooLarge,
		"20-nul": CodeControl, "24-name-homoglyph": CodeWrongValue, "25-name-builtin": CodeReservedID,
		"26-name-dup-tools": CodeDuplicateID, "29-unknown-key": CodeUnknownField,
		"28-entry-0": CodeEntrypoint, "28-entry-1": CodeWrongValue, "28-entry-2": CodeWrongValue, "28-entry-4": CodeWrongValue,
		"28-entry-5": CodeWrongValue, "28-entry-6": CodeWrongValue, "28-entry-8": CodeEntrypoint, "28-entry-9": CodeWrongValue,
		"35-mcp-rel-cmd": CodeWrongValue, "36-mcp-url-internal": CodeURL, "37-mcp-url-creds": CodeURL, "39-mcp-cmd-expand": CodeWrongValue,
		"41-desc-huge": CodeWrongValue, "42-int-overflow": CodeNumber, "44-nan": CodeNumber, "45-hex-octal": CodeNumber,
		"46-empty": CodeEmptyManifest, "48-list": CodeWrongType, "49-path-artifact": CodePath, "50-complex-key": CodeKey,
		"31-mcp-shell": CodeShell, "32-mcp-npx-latest": CodeUnpinned, "33-mcp-env-exfil": CodeSecretName,
		"21-ansi-desc": CodeControl, "22-bidi-desc": CodeControl, "40-desc-injection": CodeInjection,
	}
}

func TestYAMLFixtures(t *testing.T) {
	t.Parallel()
	dir, cases := listed[struct{ File, Expect, Why string }](t, "yaml")
	for _, tt := range cases {
		name := strings.TrimSuffix(filepath.Base(tt.File), ".yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(tt.File)))
			if err != nil {
				t.Fatal(err)
			}
			d := Parse("toolset.yaml", inOurWords(tt.File, raw), Options{})
			if accepted := d.Manifest != nil; accepted != (tt.Expect != "reject") {
				t.Fatalf("accepted %v, want %s (%s):\n%v", accepted, tt.Expect, tt.Why, d.Problems)
			}
			want := wantCodes()[name]
			if want == "" && len(d.Problems) > 0 {
				t.Errorf("a control has problems: %v", d.Problems)
			}
			if want != "" && !slices.ContainsFunc(d.Problems, func(p Problem) bool { return p.Code == want }) {
				t.Errorf("no problem is %s:\n%v", want, d.Problems)
			}
			for _, p := range d.Problems {
				if strings.ContainsFunc(p.Message, func(r rune) bool { return r < ' ' || r == '\u202e' }) {
					t.Errorf("a message holds control characters: %q", p.Message)
				}
			}
		})
	}
}

func TestVersionFloatSaysQuoteIt(t *testing.T) {
	t.Parallel()
	d := Parse("toolset.yaml", []byte(minimal("version: 1.10")), Options{})
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, `quote it: "1.10"`) {
		t.Errorf("got %v", d.Problems)
	}
}

// TestSchemaFixtures puts each fixture into a manifest as the schema of a
// tool's arguments, as it is: JSON is YAML.
func TestSchemaFixtures(t *testing.T) {
	t.Parallel()
	dir, cases := listed[struct {
		File, Expect, Why string
		Instance          json.RawMessage
	}](t, "schema")
	for _, tt := range cases {
		t.Run(filepath.Base(tt.File), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(tt.File)))
			if err != nil {
				t.Fatal(err)
			}
			text := minimal("tools: [{id: t, description: d, entrypoint: 'tools.t:run', input_schema: " + strings.TrimSpace(string(raw)) + "}]")
			d := Parse("toolset.yaml", []byte(text), Options{})
			if accepted := d.Manifest != nil; accepted != (tt.Expect == "accept") {
				t.Errorf("accepted %v, want %s (%s): %v", accepted, tt.Expect, tt.Why, d.Problems)
			}
		})
	}
}

// minimal is a manifest with all that is required, and some lines more; a
// version among them replaces its own.
func minimal(lines string) string {
	head := "manifest_version: \"1\"\nid: demo\nname: Demo\ndescription: A demo.\n"
	if !strings.Contains("\n"+lines, "\nversion:") {
		head += "version: \"1.0.0\"\n"
	}
	return head + lines + "\n"
}

package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
)

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestSuite runs the required tests of the JSON-Schema-Test-Suite. A group may
// be refused only if its schema, or the metaschema it names, lies elsewhere;
// each such group is accounted for here.
func TestSuite(t *testing.T) {
	t.Parallel()
	suite := needtest.Shared(t, "protocols", "json-schema-test-suite", "tests")
	for _, draft := range []struct {
		name, uri string
		remote    []string
	}{
		{"draft2020-12", "", remote2020},
		{"draft7", "http://json-schema.org/draft-07/schema#", remote7},
	} {
		t.Run(draft.name, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(suite, draft.name, "*.json"))
			if err != nil || len(files) < 30 {
				t.Fatalf("found %d files of the suite: %v", len(files), err)
			}
			ran, refused := 0, map[string]bool{}
			for _, file := range files {
				raw, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var groups []suiteGroup
				if err := json.Unmarshal(raw, &groups); err != nil {
					t.Fatal(err)
				}
				for _, g := range groups {
					name := filepath.Base(file) + ": " + g.Description
					s, err := Compile(withDraft(t, g.Schema, draft.uri))
					if err != nil {
						if !strings.Contains(err.Error(), "leads out of the schema") {
							t.Errorf("%s: %v", name, err)
						}
						refused[name] = true
						continue
					}
					for _, tt := range g.Tests {
						ran++
						problems := s.Validate(tt.Data)
						if (len(problems) == 0) != tt.Valid {
							t.Errorf("%s: %s: want valid %v, got %s", name, tt.Description, tt.Valid, Explain(problems))
						}
					}
				}
			}
			for name := range refused {
				if !slices.Contains(draft.remote, name) {
					t.Errorf("refused, though not listed as remote: %s", name)
				}
			}
			for _, name := range draft.remote {
				if !refused[name] {
					t.Errorf("listed as remote, though not refused: %s", name)
				}
			}
			t.Logf("%d tests passed, %d groups refused as remote", ran, len(refused))
		})
	}
}

// withDraft names the draft, as the suite means by a file's folder.
func withDraft(t *testing.T, raw json.RawMessage, uri string) []byte {
	t.Helper()
	var obj map[string]json.RawMessage
	if uri == "" || json.Unmarshal(raw, &obj) != nil || obj["$schema"] != nil {
		return raw
	}
	obj["$schema"], _ = json.Marshal(uri)
	out, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// remote2020 are the groups of draft 2020-12 that need a document of the suite's
// server on localhost:1234: as the target of a $ref, or as a custom metaschema
// (all of vocabulary.json).
var remote2020 = []string{
	"dynamicRef.json: $ref and $dynamicAnchor are independent of order - $defs first",
	"dynamicRef.json: $ref and $dynamicAnchor are independent of order - $ref first",
	"dynamicRef.json: $ref to $dynamicRef finds detached $dynamicAnchor",
	"dynamicRef.json: strict-tree schema, guards against misspelled properties",
	"dynamicRef.json: tests for implementation dynamic anchor and reference link",
	"refRemote.json: $ref to $ref finds detached $anchor",
	"refRemote.json: Location-independent identifier in remote ref",
	"refRemote.json: anchor within remote ref",
	"refRemote.json: base URI change",
	"refRemote.json: base URI change - change folder",
	"refRemote.json: base URI change - change folder in subschema",
	"refRemote.json: fragment within remote ref",
	"refRemote.json: ref within remote ref",
	"refRemote.json: remote HTTP ref with different $id",
	"refRemote.json: remote HTTP ref with different URN $id",
	"refRemote.json: remote HTTP ref with nested absolute ref",
	"refRemote.json: remote ref",
	"refRemote.json: remote ref with ref to defs",
	"refRemote.json: retrieved nested refs resolve relative to their URI not $id",
	"refRemote.json: root ref in remote ref",
	"vocabulary.json: ignore unrecognized optional vocabulary",
	"vocabulary.json: schema that uses custom metaschema with with no validation vocabulary",
}

// remote7 are the groups of draft-07 that need a document of the suite's server.
var remote7 = []string{
	"refRemote.json: $ref to $ref finds location-independent $id",
	"refRemote.json: Location-independent identifier in remote ref",
	"refRemote.json: base URI change",
	"refRemote.json: base URI change - change folder",
	"refRemote.json: base URI change - change folder in subschema",
	"refRemote.json: fragment within remote ref",
	"refRemote.json: ref within remote ref",
	"refRemote.json: remote ref",
	"refRemote.json: remote ref with ref to definitions",
	"refRemote.json: retrieved nested refs resolve relative to their URI not $id",
	"refRemote.json: root ref in remote ref",
}

package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func entry(id string) Entry {
	toolset, _, scoped := strings.Cut(id, ":")
	if !scoped {
		toolset = ""
	}
	return Entry{
		Tool: Tool{ID: id, ToolsetID: toolset, InputSchema: json.RawMessage(`{"type":"object"}`), Enabled: true},
		Runner: RunnerFunc(func(context.Context, Call) (Result, error) {
			return Result{Text: id}, nil
		}),
	}
}

func newSet(t *testing.T, ids ...string) *Set {
	t.Helper()
	var entries []Entry
	for _, id := range ids {
		entries = append(entries, entry(id))
	}
	s, err := NewSet(entries...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ids(s *Set) []string {
	var out []string
	for e := range s.All() {
		out = append(out, e.Tool.ID)
	}
	return out
}

func TestNewSetRefuses(t *testing.T) {
	t.Parallel()
	without := entry("a")
	without.Runner = nil
	noSchema := entry("a")
	noSchema.Tool.InputSchema = json.RawMessage(`[]`)
	null := entry("a")
	null.Tool.InputSchema = json.RawMessage(`null`)
	stranger := entry("x:a")
	stranger.Tool.ToolsetID = "y"
	for _, tt := range []struct {
		name    string
		entries []Entry
		want    string
	}{
		{"a duplicate", []Entry{entry("x:a"), entry("x:a")}, `add tool "x:a": the id is taken`},
		{"a missing runner", []Entry{without}, `add tool "a": it has no runner`},
		{"a schema that is no object", []Entry{noSchema}, `add tool "a": its input_schema is not a JSON object`},
		{"a schema that is null", []Entry{null}, `add tool "a": its input_schema is not a JSON object`},
		{"a toolset that isn't the id's", []Entry{stranger}, `add tool "x:a": its toolset_id is "y" and should be "x"`},
		{"an empty id", []Entry{entry("")}, `add tool "": the id is empty`},
		{"an empty toolset", []Entry{entry(":a")}, `add tool ":a": the toolset is empty`},
		{"an empty bare id", []Entry{entry("a:")}, `add tool "a:": the part after the colon is empty`},
		{"two colons", []Entry{entry("a:b:c")}, `add tool "a:b:c": the part after the colon may hold letters, digits, _ - . and /, and begins with a letter, a digit or _`},
		{"a space", []Entry{entry("a b")}, `add tool "a b": the id may hold letters, digits, _ - . and /, and begins with a letter, a digit or _`},
		{"a dot in front", []Entry{entry(".a")}, `add tool ".a": the id may hold letters, digits, _ - . and /, and begins with a letter, a digit or _`},
		{"a long id", []Entry{entry(strings.Repeat("a", 129))}, `add tool "` + strings.Repeat("a", 129) + `": the id has 129 characters; 128 are allowed`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := NewSet(tt.entries...)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
	if _, err := NewSet(entry("a"), entry("a")); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a duplicate isn't ErrDuplicate: %v", err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s := newSet(t, "read_file", "x:read_file", "x:run", "y:run")
	if e, ok := s.Get("x:run"); !ok || e.Tool.ID != "x:run" {
		t.Errorf("got %v, %v", e.Tool.ID, ok)
	}
	if _, ok := s.Get("run"); ok {
		t.Error("a bare id was taken for a tool id")
	}
	var bare []string
	for _, e := range s.ByBareID("run") {
		bare = append(bare, e.Tool.ID)
	}
	if !slices.Equal(bare, []string{"x:run", "y:run"}) {
		t.Errorf("got %v", bare)
	}
	larger, err := s.With(entry("z:new"))
	if err != nil || larger.Len() != 5 || s.Len() != 4 {
		t.Errorf("With: %v, %d and %d tools", err, larger.Len(), s.Len())
	}
	if _, err := s.With(entry("x:run")); !errors.Is(err, ErrDuplicate) {
		t.Errorf("With took a duplicate: %v", err)
	}
	off := entry("off")
	off.Tool.Enabled = false
	if s, err := NewSet(entry("on"), off); err != nil || !slices.Equal(ids(s.Offered()), []string{"on"}) {
		t.Errorf("Offered: %v, %v", ids(s.Offered()), err)
	}
}

func TestNilSetIsEmpty(t *testing.T) {
	t.Parallel()
	var s *Set
	if s.Len() != 0 || ids(s) != nil || s.ByBareID("a") != nil {
		t.Error("it isn't empty")
	}
	if _, ok := s.Get("a"); ok {
		t.Error("it has a tool")
	}
	if sub, err := s.Select(); err != nil || sub.Len() != 0 {
		t.Errorf("Select: %v", err)
	}
	if _, ok := s.Names().Lookup("a"); ok || s.Names().Nearest("a") != "" || s.Names().Name("a") != "" {
		t.Error("Names knows a tool")
	}
	if more, err := s.With(entry("a")); err != nil || more.Len() != 1 {
		t.Errorf("With: %v", err)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, id string
		want        bool
	}{
		{"read_file", "read_file", true},
		{"read_file", "x:read_file", false},
		{"read_*", "read_file", true},
		{"read_*", "read_x:wipe", false},
		{"*_file", "read_x:wipe_file", false},
		{"*", "read_file", true},
		{"*", "x:read_file", true},
		{"**", "x:read_file", true},
		{"**", "read_file", true},
		{"*:*", "read_file", false},
		{"*:*", "x:read_file", true},
		{"x:*", "x:a/b.c", true},
		{"x:a*", "x:a/b", true},
		{"x:a/?", "x:a/b", true},
		{"?ead_file", "read_file", true},
		{"a?b", "a:b", false},
		{"{read,write}_file", "write_file", true},
		{"[rw]*", "write_file", true},
		{"[!a-q]*", "a:b", false},
		{`read\_file`, "read_file", true},
		{"READ_file", "read_file", false},
		{"{a,b}{c,d}{e,f}", "bde", true},
		{"{a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z}", "z", true},
		{"{read_{file,dir},write_file}", "read_dir", true},
	} {
		if got, err := Match(tt.pattern, tt.id); err != nil || got != tt.want {
			t.Errorf("Match(%q, %q) = %v, %v", tt.pattern, tt.id, got, err)
		}
	}
	for _, broken := range []string{"", "[a", "{a", `a\`, "\x97", strings.Repeat("{a,b}", 9), strings.Repeat("{a[}],b}", 9), strings.Repeat("a", 1001)} {
		if _, err := Match(broken, "a"); err == nil {
			t.Errorf("%q is taken for a pattern", broken)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	s := newSet(t, "read_file", "write_file", "csv:analyze", "csv:read", "git:read", "git:log")
	for _, tt := range []struct {
		name     string
		patterns string
		want     string // ids, or the error after a !
	}{
		{"nothing", "", ""},
		{"one id", "read_file", "read_file"},
		{"the order is the set's", "git:log read_file", "read_file git:log"},
		{"builtins by glob", "*_file", "read_file write_file"},
		{"one toolset", "csv:*", "csv:analyze csv:read"},
		{"all toolsets", "*:*", "csv:analyze csv:read git:read git:log"},
		{"everything", "*", "read_file write_file csv:analyze csv:read git:read git:log"},
		{"a bare id that one tool has", "analyze", "csv:analyze"},
		{"less one", "* !git:*", "read_file write_file csv:analyze csv:read"},
		{"only less", "!*_file", "csv:analyze csv:read git:read git:log"},
		{"taken away and given back", "* !git:* git:log", "read_file write_file csv:analyze csv:read git:log"},
		{"less a bare id", "* !analyze", "read_file write_file csv:read git:read git:log"},
		{"a bare id that two tools have", "read", `!select tools "read": several toolsets have it; it could be csv:read or git:read`},
		{"a slip", "raed_file", `!select tools "raed_file": no tool matches it; did you mean read_file?`},
		{"a slip in a bare id", "anlyze", `!select tools "anlyze": no tool matches it; did you mean csv:analyze?`},
		{"a slip in what is taken away", "* !raed_file", `!select tools "raed_file": no tool matches it; did you mean read_file?`},
		{"a glob that meets nothing", "zzz*", `!select tools "zzz*": no tool matches it`},
		{"a broken glob", "[a", `!select tools "[a": a bracket or brace is left open`},
		{"an empty pattern", "* !", `!select tools "": it is empty`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sub, err := s.Select(strings.Fields(tt.patterns)...)
			if want, fails := strings.CutPrefix(tt.want, "!"); fails {
				var se *SelectError
				if !errors.As(err, &se) || err.Error() != want {
					t.Fatalf("got %v\nwant %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(ids(sub), " "); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	s := newSet(t, "read_file", "x:read_file", "csv:analyze", "a:b", "c:b")
	n := s.Names()
	for id, want := range map[string]string{
		"read_file": "read_file", "x:read_file": "x:read_file", "csv:analyze": "analyze", "a:b": "a:b", "c:b": "c:b", "zzz": "",
	} {
		if got := n.Name(id); got != want {
			t.Errorf("%s goes by %q, want %q", id, got, want)
		}
		if want == "" {
			continue
		}
		if e, ok := n.Lookup(want); !ok || e.Tool.ID != id {
			t.Errorf("%s leads to %q, %v", want, e.Tool.ID, ok)
		}
	}
	if e, ok := n.Lookup("csv:analyze"); !ok || e.Tool.ID != "csv:analyze" {
		t.Errorf("a tool id leads to %q, %v", e.Tool.ID, ok)
	}
	if _, ok := n.Lookup("b"); ok {
		t.Error("a shared bare id leads somewhere")
	}
	if got := n.Nearest("analyse"); got != "analyze" {
		t.Errorf("nearest is %q", got)
	}
}

// FuzzMatch: a pattern without wildcards means its own id alone, whatever the
// characters, and no `*` short of the lone one reaches over the colon.
func FuzzMatch(f *testing.F) {
	f.Add("read_*", "x:read_file")
	f.Add("**", "a/b")
	f.Add("a{b,c/d}:e", "ac/d:e")
	f.Fuzz(func(t *testing.T, pattern, id string) {
		ok, err := Match(pattern, id)
		if err != nil || !ok {
			return
		}
		if literal(pattern) && pattern != id {
			t.Fatalf("%q matches %q", pattern, id)
		}
		if !strings.ContainsAny(pattern, ":[{") && !strings.Contains(pattern, "**") && pattern != "*" && strings.Contains(id, ":") {
			t.Fatalf("%q reaches over the colon of %q", pattern, id)
		}
	})
}

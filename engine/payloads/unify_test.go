package payloads

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func TestUnify(t *testing.T) {
	t.Parallel()
	const ws = `{"content":"","data":{"a":1},"title":"T","type":"review_analysis"}`
	tool := func(workspace, payload string) any {
		return ToolOutput{Tool: "t", Set: "s", WorkspacePayload: raw(workspace), Payload: raw(payload)}
	}
	model := func(kind, data string) any { return Found{Type: kind, Data: raw(data)} }
	tests := map[string]struct {
		steps                      []any
		custom, workspace, actions string
		shown                      string
	}{
		"nothing":              {},
		"the model's last":     {[]any{model("a", `1`), model("b", `2`)}, `b 2`, `{"type":"b","title":"","content":"","data":2}`, "", "model a, model b"},
		"the last tool's wins": {[]any{tool("", `{"type":"a","data":1}`), tool("", `{"type":"b","data":2}`), model("c", `3`)}, `b 2`, `{"type":"b","title":"","content":"","data":2}`, "", "tool a, tool b, model c"},
		"each has its place":   {[]any{tool(ws, `{"type":"a","data":1}`)}, `a 1`, ws, "", "tool a"},
		"a later tool without": {[]any{tool(ws, ""), tool("null", "null"), tool("", `{"type":"a"}`)}, `a null`, ws, "", "tool a"},
		"001's form shown": {[]any{tool("", `{"type":"pubmed_article","data":{"pmid":"1","title":"T"}}`)}, `pubmed_article {"pmid":"1","title":"T"}`,
			`{"type":"pubmed_article","title":"PubMed Article","content":"","data":{"pmid":"1","title":"T"}}`, "", "tool pubmed_article"},
		"the type's own field": {[]any{tool(`{"type":"table","title":"T","content":"C","table_data":{"rows":[]},"x":1}`, "")}, "",
			`{"content":"C","data":{"rows":[]},"table_data":{"rows":[]},"title":"T","type":"table","x":1}`, "", ""},
		"a title is made": {[]any{tool(`{"type":"draft"}`, "")}, "", `{"content":"","title":"Draft","type":"draft"}`, "", ""},
		"suggestions": {[]any{model("suggested_actions", `[{"label":"L","type":"go","metadata":{"id":7}}]`), model("a", `1`)}, "a 1", `{"type":"a","title":"","content":"","data":1}`,
			`{"label":"L","type":"go","metadata":{"id":7}}`, "model a"},
		"suggestions beside a payload": {[]any{tool("", `{"type":"a","data":1,"suggested_actions":[{"label":"L","type":"go"}]}`)}, "a 1",
			`{"type":"a","title":"","content":"","data":1}`, `{"label":"L","type":"go"}`, "tool a"},
		"suggestions as a payload": {[]any{tool("", `{"type":"suggested_actions","data":[{"label":"L","type":"go"}]}`)}, "", "", `{"label":"L","type":"go"}`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg, _ := New()
			c := NewCollector(reg)
			var shownNow []string
			for _, s := range tt.steps {
				var p *event.Payload
				switch s := s.(type) {
				case ToolOutput:
					var notes []string
					took := c.Tool(s)
					if p, notes = took.Shown, took.Notes; len(notes) > 0 {
						t.Error(notes)
					}
				case Found:
					p = c.Model(s)
				}
				if p != nil {
					shownNow = append(shownNow, p.Source+" "+p.Kind)
				}
			}
			u := c.Result()
			custom := ""
			if u.Custom != nil {
				custom = u.Custom.Type + " " + string(u.Custom.Data)
			}
			actions := ""
			for _, a := range u.SuggestedActions {
				actions += string(a)
			}
			if custom != tt.custom || string(u.Workspace) != tt.workspace || actions != tt.actions || strings.Join(shownNow, ", ") != tt.shown {
				t.Errorf("got  %s\n     %s\n     %s\n     %v", custom, u.Workspace, actions, shownNow)
			}
		})
	}
}

func TestWrongPayloadsOfToolsAreLeftOut(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ workspace, payload, want string }{
		"no JSON":               {"", `{`, "the payload of t was left out: line 1"},
		"no object":             {"", `[1]`, "the payload of t was left out: it is no JSON object"},
		"no type":               {"", `{"data":1}`, "the payload of t was left out: it has no type"},
		"a type that is none":   {"", `{"type":"a b"}`, "the payload of t was left out: a type is an id"},
		"against the schema":    {"", `{"type":"pubmed_article","data":{"pmid":1,"title":"x"}}`, "the payload of t was left out: pubmed_article: /pmid: expected string"},
		"a title that is none":  {`{"type":"draft","title":7}`, "", "the workspace payload of t was left out: its title is no text"},
		"data of its own field": {`{"type":"table","table_data":{"rows":1}}`, "", "the workspace payload of t was left out: table: /rows: expected array"},
		"too large":             {"", `{"type":"a","data":"` + strings.Repeat("a", defaultMaxBytes) + `"}`, "the payload of t was left out: it is longer than 1024 KB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg, _ := New()
			c := NewCollector(reg)
			took := c.Tool(ToolOutput{Tool: "t", WorkspacePayload: raw(tt.workspace), Payload: raw(tt.payload)})
			p, notes := took.Shown, took.Notes
			if p != nil || len(notes) != 1 || !strings.HasPrefix(notes[0], tt.want) {
				t.Errorf("got %v, %q, want %q", p, notes, tt.want)
			}
			if u := c.Result(); u.Custom != nil || u.Workspace != nil {
				t.Errorf("it is kept: %+v", u)
			}
		})
	}
	reg, _ := New()
	c := NewCollector(reg)
	took := c.Tool(ToolOutput{Tool: "t", Payload: raw(`{"type":"a","data":1,"suggested_values":["x"]}`)})
	p, notes := took.Shown, took.Notes
	if p == nil || len(notes) != 1 || !strings.HasPrefix(notes[0], "the list suggested_values of t was left out: /0: expected object") {
		t.Errorf("wrong suggestions take the payload with them: %v, %q", p, notes)
	}
}

func TestSuggestionsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	reg, _ := New()
	values, err := json.Marshal([]SuggestedValue{{Value: "yes"}, {Label: "No", Value: "no"}})
	if err != nil {
		t.Fatal(err)
	}
	actions, err := json.Marshal([]SuggestedAction{{Label: "Go", Type: "go"}, {Label: "Stay", Type: "stay", Metadata: raw(`{"a":1}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for kind, data := range map[string]json.RawMessage{SuggestedValues: values, SuggestedActions: actions} {
		if err := reg.Check(kind, "", data); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if !json.Valid(SuggestionSchema(kind)) {
			t.Errorf("%s has no schema", kind)
		}
	}
	if SuggestionSchema("draft") != nil {
		t.Error("draft is no suggestion")
	}
	for _, bad := range []string{`[]`, `[{"label":"L"}]`, `[{"label":"L","type":"a b"}]`, `[{"label":"L","type":"a","metadata":1}]`, `[{"label":"L","type":"a","x":1}]`} {
		if reg.Check(SuggestedActions, "", raw(bad)) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestSuggestionsOfTheLastCount(t *testing.T) {
	t.Parallel()
	reg, _ := New()
	c := NewCollector(reg)
	c.Model(Found{Type: SuggestedValues, Data: raw(`[{"value":"a"}]`)})
	c.Model(Found{Type: SuggestedValues, Data: raw(`[{"value":"b"},{"value":"c"}]`)})
	var got []string
	for _, v := range c.Result().SuggestedValues {
		got = append(got, string(v))
	}
	if want := []string{`{"value":"b"}`, `{"value":"c"}`}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatTheModelIsToldAfterwards(t *testing.T) {
	t.Parallel()
	reg, _ := New()
	told := reg.Retell("schema_proposal", "", raw(`{ "a": 1 }`))
	if want := `SCHEMA_PROPOSAL: {"a":1}`; told != want {
		t.Errorf("got %s, want %s", told, want)
	}
	offer := mustOffer(t, "schema_proposal")
	if got := parseIn(offer.Parser(ParserOptions{}), told); len(got) != 1 || got[0] != `[schema_proposal {"a":1}]` {
		t.Errorf("what is retold is read as %q", got)
	}
	if got, want := reg.Retell("pubmed_article", "", raw(`{}`)), "[a card of type pubmed_article: {}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := Decided("quick_setup", true, ""), "[the person accepted the quick_setup]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := Decided("quick_setup", false, " too\nmany "), "[the person rejected the quick_setup and says: too many]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func mustOffer(t *testing.T, kinds ...string) *Offer {
	t.Helper()
	reg, problems := New(Set{Name: "s", Pages: []Page{{ID: "p", Payloads: kinds}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return reg.Offer(Where{Page: "p"})
}

func FuzzToolPayload(f *testing.F) {
	f.Add([]byte(`{"type":"table","table_data":{"rows":[]}}`), []byte(`{"type":"a","data":1,"suggested_values":[{"value":"x"}]}`))
	f.Add([]byte(`null`), []byte(`{"type":"suggested_actions","data":[{"label":"L","type":"go"}]}`))
	reg, _ := New()
	f.Fuzz(func(t *testing.T, workspace, payload []byte) {
		c := NewCollector(reg)
		took := c.Tool(ToolOutput{Tool: "t", WorkspacePayload: workspace, Payload: payload})
		p, notes := took.Shown, took.Notes
		if p != nil && (!json.Valid(p.Data) || checkType(p.Kind) != nil) {
			t.Fatalf("shows %+v", p)
		}
		for _, n := range notes {
			if strings.ContainsFunc(n, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("the note %q holds a control character", n)
			}
		}
		if u := c.Result(); u.Workspace != nil && !json.Valid(u.Workspace) {
			t.Fatalf("the workspace payload is no JSON: %s", u.Workspace)
		}
	})
}

package payloads

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/schema"
)

func types(configs []Config) []string {
	out := []string{}
	for _, c := range configs {
		out = append(out, c.Type)
	}
	return out
}

func TestBuiltinTypesAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	reg, problems := New()
	if len(problems) > 0 {
		t.Error(problems)
	}
	want := strings.Fields(`draft summary data code agent_create agent_update table research research_result workflow_graph
		review_collection review_analysis entity_verification tool_history pubmed_article pubmed_search_results schema_proposal
		validation_results presentation_categories stream_template stream_suggestions portfolio_insights quick_setup
		suggested_values suggested_actions`)
	slices.Sort(want)
	if got := reg.Types(); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	for _, c := range Builtin() {
		if err := c.check(); err != nil {
			t.Errorf("%s: %v", c.Type, err)
		}
		if _, err := schema.Compile(c.Schema); err != nil {
			t.Errorf("%s: its schema: %v", c.Type, err)
		}
		if c.Style == nil || c.Style.Label == "" {
			t.Errorf("%s has no label", c.Type)
		}
	}
}

// What a model is told to write has to be what the parser and schema take.
func TestBuiltinInstructionsShowAPayloadThatIsOne(t *testing.T) {
	t.Parallel()
	for _, c := range Builtin() {
		if c.ParseMarker == "" {
			continue
		}
		reg, _ := New(Set{Name: "s", Pages: []Page{{ID: "p", Payloads: []string{c.Type}}}})
		got := parseIn(reg.Offer(Where{Page: "p", Suggestions: true}).Parser(ParserOptions{}), c.LLMInstructions)
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "["+c.Type+" ") }) {
			t.Errorf("%s: its own example isn't found: %q", c.Type, got)
		}
	}
}

func TestChecksOfConfigs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		c    Config
		want string
	}{
		"no type":              {Config{}, "a type is an id"},
		"a type with spaces":   {Config{Type: "a b"}, "a type is an id"},
		"a marker alone":       {Config{Type: "a", ParseMarker: "AAA:"}, "go together"},
		"a parser alone":       {Config{Type: "a", Parser: "m:f"}, "needs a parse_marker"},
		"a schema of no JSON":  {Config{Type: "a", Schema: json.RawMessage("{")}, "schema is no JSON"},
		"a marker like JSON":   {Config{Type: "a", ParseMarker: `"a":`, LLMInstructions: "x"}, "holds none of"},
		"a short marker":       {Config{Type: "a", ParseMarker: "A:", LLMInstructions: "x"}, "3 to 100"},
		"a marker of spaces":   {Config{Type: "a", ParseMarker: "AAA: ", LLMInstructions: "x"}, "begins nor ends"},
		"a marker of signs":    {Config{Type: "a", ParseMarker: "---", LLMInstructions: "x"}, "holds a letter"},
		"a marker of controls": {Config{Type: "a", ParseMarker: "A\x1b[A", LLMInstructions: "x"}, "holds none of"},
		"a marker on lines":    {Config{Type: "a", ParseMarker: "AA\nA", LLMInstructions: "x"}, "one line"},
		"a type of fettle's":   {Config{Type: "suggested_actions"}, "fettle's own"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg, problems := New(Set{Name: "s", Payloads: []Config{tt.c}})
			if len(problems) != 1 || !strings.Contains(problems[0].Message, tt.want) {
				t.Errorf("got %v, want a problem with %q", problems, tt.want)
			}
			if len(reg.sets[0].entries) > 0 {
				t.Error("it is kept")
			}
		})
	}
}

func TestDefinitionsOfOneType(t *testing.T) {
	t.Parallel()
	own := func(text string) []Config {
		return []Config{{Type: "report", ParseMarker: "REPORT:", LLMInstructions: text}, {Type: "schema_proposal", RelevantTabs: []string{text}}}
	}
	reg, problems := New(
		Set{Name: "zeta", Payloads: own("z"), Pages: []Page{{ID: "both", Payloads: []string{"report"}}, {ID: "z", Payloads: []string{"report", "gone"}}}},
		Set{Name: "alpha", Payloads: own("a"), Pages: []Page{{ID: "both", Payloads: []string{"report"}}}},
	)
	var told []string
	for _, p := range problems {
		told = append(told, p.String())
	}
	want := []string{
		"zeta: payload report: alpha defines it too; each toolset's tools and pages get its own",
		"zeta: payload schema_proposal: alpha defines it too; each toolset's tools and pages get its own",
		"zeta: page z: payload gone: nobody defines it",
	}
	if !slices.Equal(told, want) {
		t.Errorf("got problems %q\nwant %q", told, want)
	}
	for set, want := range map[string]string{"zeta": "z", "alpha": "a", "": "a", "other": "a"} {
		if c, _ := reg.Lookup("report", set); c.LLMInstructions != want {
			t.Errorf("report for %q: got %q, want %q", set, c.LLMInstructions, want)
		}
	}
	if c, _ := reg.Lookup("schema_proposal", "zeta"); c.ParseMarker != "SCHEMA_PROPOSAL:" || len(c.Schema) == 0 || c.RelevantTabs[0] != "z" {
		t.Errorf("zeta's schema_proposal lacks what the built-in one has: %+v", c)
	}
	if c, _ := reg.Lookup("schema_proposal", "other"); len(c.RelevantTabs) > 0 {
		t.Errorf("a toolset changed the built-in schema_proposal: %+v", c)
	}
	offer := reg.Offer(Where{Page: "both"})
	if got := offer.Payloads(); got[0].LLMInstructions != "a" || len(offer.Problems) == 0 {
		t.Errorf("on a page of both: got %+v, problems %v", got, offer.Problems)
	}
}

func pagesRegistry(t *testing.T) *Registry {
	t.Helper()
	reg, problems := New(Set{
		Name: "streams",
		Payloads: []Config{
			{Type: "schema_proposal", RelevantTabs: []string{"schema"}},
			{Type: "validation_results"},
			{Type: "anywhere", ParseMarker: "ANYWHERE:", LLMInstructions: "Everywhere.\n\nANYWHERE: {}"},
			{Type: "from_tools_alone"},
		},
		Pages: []Page{{
			ID: "edit_research_stream", Context: "Stream $context.stream.name", Payloads: []string{"schema_proposal", "validation_results", "from_tools_alone"},
			ClientActions: []Action{{Action: "open_tab", Description: "Opens a\ntab.", InputSchema: json.RawMessage(`{ "type": "object" }`)}},
		}, {ID: "reports", Payloads: []string{"quick_setup"}}},
	}, Set{Name: "zz", Pages: []Page{{ID: "reports", Context: "More.", ClientActions: []Action{{Action: "open_tab", Description: "x"}}}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return reg
}

func TestOffersByPageAndTab(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		where Where
		want  string
	}{
		"no page":                 {Where{}, "anywhere"},
		"no page but suggestions": {Where{Suggestions: true}, "anywhere suggested_values suggested_actions"},
		"an unknown page":         {Where{Page: "x"}, "anywhere"},
		"a page without a tab":    {Where{Page: "edit_research_stream"}, "schema_proposal validation_results anywhere suggested_values suggested_actions"},
		"its tab":                 {Where{Page: "edit_research_stream", Tab: "schema"}, "schema_proposal validation_results anywhere suggested_values suggested_actions"},
		"another tab":             {Where{Page: "edit_research_stream", Tab: "other"}, "validation_results anywhere suggested_values suggested_actions"},
		"a built-in type":         {Where{Page: "reports"}, "quick_setup anywhere suggested_values suggested_actions"},
	}
	reg := pagesRegistry(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(types(reg.Offer(tt.where).Payloads()), " "); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	reg := pagesRegistry(t)
	got := reg.Instructions("edit_research_stream", "other")
	for _, want := range []string{
		preface, "\n\n## validation_results\nUse when", "VALIDATION_RESULTS: {", "## anywhere\nEverywhere.", "SUGGESTED_ACTIONS: [",
		"\n- open_tab: Opens a tab. Its metadata has this JSON Schema: {\"type\":\"object\"}",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the instructions lack %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "SCHEMA_PROPOSAL") {
		t.Errorf("a payload of another tab is told:\n%s", got)
	}
	empty, _ := New()
	if got := empty.Instructions("", ""); got != "" {
		t.Errorf("with nothing to offer: %q", got)
	}
}

func TestContextOfAPage(t *testing.T) {
	t.Parallel()
	reg := pagesRegistry(t)
	got, err := reg.Offer(Where{Page: "edit_research_stream"}).Context(json.RawMessage(`{"stream":{"name":"SCHEMA_PROPOSAL: {}"}}`))
	if want := `Stream "\u0053CHEMA_PROPOSAL: {}"`; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if got, err := reg.Offer(Where{Page: "reports"}).Context(nil); got != "More." || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := reg.Offer(Where{}).Context(json.RawMessage("{")); got != "" || err != nil {
		t.Errorf("without a template the context is not read: %q, %v", got, err)
	}
}

func TestMarkersOfTwoToolsets(t *testing.T) {
	t.Parallel()
	reg, _ := New(
		Set{Name: "b", Payloads: []Config{{Type: "two", ParseMarker: "SAME:", LLMInstructions: "b"}}},
		Set{Name: "a", Payloads: []Config{{Type: "one", ParseMarker: "SAME:", LLMInstructions: "a"}}},
	)
	o := reg.Offer(Where{})
	if got := types(o.Payloads()); !slices.Equal(got, []string{"one"}) {
		t.Errorf("offered: %v", got)
	}
	want := "[b: payload two: the payload one of a has the same type or marker, and is offered instead]"
	if got := fmt.Sprint(o.Problems); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestCheckOfData(t *testing.T) {
	t.Parallel()
	reg, _ := New(Set{Name: "s", Payloads: []Config{{Type: "odd", Schema: json.RawMessage(`{"$ref":"https://example.com/x"}`)}}})
	tests := map[string]struct{ kind, data, want string }{
		"of the schema":       {"pubmed_article", `{"pmid":"12345","title":"T","journal":"J"}`, ""},
		"against the schema":  {"pubmed_article", `{"pmid":12345,"title":"T"}`, "/pmid: expected string"},
		"two problems":        {"pubmed_article", `{}`, "(and 1 more)"},
		"an unknown type":     {"whatever", `[1]`, ""},
		"no JSON":             {"whatever", `[1`, "not valid JSON"},
		"a schema not usable": {"odd", `1`, "its schema can't be used"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := reg.Check(tt.kind, "s", json.RawMessage(tt.data))
			if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

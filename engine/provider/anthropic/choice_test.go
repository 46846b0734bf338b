package anthropic

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// A response is made to call a tool where tools go along, and the address takes it;
// else the request goes without, and a footnote says so.
func TestAToolThatHasToBeCalled(t *testing.T) {
	t.Parallel()
	tools := []provider.ToolSpec{{Name: "my:tool"}, {Name: "other"}}
	for name, c := range map[string]struct {
		must    string
		tools   []provider.ToolSpec
		refuses bool
		want    string // in what is sent; empty is no choice at all
		notes   []string
	}{
		"any":            {provider.AnyTool, tools, false, `"tool_choice":{"type":"any"}`, nil},
		"one":            {"my:tool", tools, false, `"tool_choice":{"type":"tool","name":"my_tool"}`, nil},
		"one that isn't": {"gone", tools, false, "", nil},
		"without tools":  {provider.AnyTool, nil, false, "", nil},
		"left alone":     {"", tools, false, "", nil},
		"refused":        {provider.AnyTool, tools, true, "", []string{"tool_choice was taken as auto: m can't be made to call a tool"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, bodies := serve(t, Options{}, func(w http.ResponseWriter, body string) {
				if c.refuses && strings.Contains(body, `"tool_choice"`) {
					refuse(w, 400, "invalid_request_error", "tool_choice: not supported for this model")
					return
				}
				fmt.Fprint(w, says("hi"))
			})
			req := short("m")
			req.Tools, req.MustCall = c.tools, c.must
			for range 2 { // the second time a refusal is known
				h := listen(t.Context(), p, req)
				if h.err != nil || h.text != "hi" || len(h.notes) != len(c.notes) || len(c.notes) > 0 && !strings.HasPrefix(h.notes[0], c.notes[0]) {
					t.Fatalf("it answered %+v", h.notes)
				}
			}
			all := bodies()
			requests := 2
			if c.refuses {
				requests = 3
			}
			last := all[len(all)-1]
			if len(all) != requests || !strings.Contains(last, c.want) || c.want == "" && strings.Contains(last, "tool_choice") {
				t.Errorf("it sent %d requests:\n%s", len(all), strings.Join(all, ""))
			}
		})
	}
}

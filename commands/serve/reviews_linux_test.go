package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
)

const reviewScript = `
responses:
  - {when: hello, text: Hello.}
  - {when: go, step: 0, calls: [{name: run_command, args: {command: "echo new > made; rm old; echo printed"}}]}
  - {when: go, text: Done.}
`

// reviewWorld is a world with a project, whose chat 1 works in it in the mode changes.
func reviewWorld(t *testing.T) (w *world, project string) {
	t.Helper()
	w = newWorld(t, reviewScript)
	w.Configure("approvals: changes\n")
	project = realDir(t)
	if err := os.WriteFile(filepath.Join(project, "old"), []byte("was\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Run(0, "ask", "-w", project, "hello")
	return w, project
}

// checkReview looks at what landed.
func checkReview(t *testing.T, project string, made, old bool) {
	t.Helper()
	for name, want := range map[string]bool{"made": made, "old": old} {
		if _, err := os.Stat(filepath.Join(project, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}

// reviewing skips a test where commands get no overlay, by the reason of a question.
func reviewing(t *testing.T, asked string) {
	t.Helper()
	if strings.Contains(asked, "kept apart from the folder: ") {
		needtest.Lacking(t, "overlays in user namespaces: "+asked)
	}
}

// A client over HTTP applies a part. A plain yes, as a client without reviews gives, is
// refused with the fields that an answer needs, and applies nothing.
func TestAReviewOverHTTP(t *testing.T) {
	t.Parallel()
	w, project := reviewWorld(t)
	s := w.serve("--log", "off")
	post := func(path, body string) (int, string) {
		return s.heard(s.client.Post(s.url+"/t/"+s.token+path, "application/json", strings.NewReader(body)))
	}
	_, begun := post("/api/turns", `{"message":"go","conversation_id":1,"confirm":true,"reviews":true}`)
	var turn struct {
		ID string `json:"turn_id"`
	}
	if err := json.Unmarshal([]byte(begun), &turn); err != nil || turn.ID == "" {
		t.Fatalf("%s %v", begun, err)
	}
	asked := s.line("/api/turns/"+turn.ID+"/events", `"type":"approval"`)
	reviewing(t, asked)
	var ask struct {
		ToolUseID string `json:"tool_use_id"`
		Nonce     string
		Review    struct {
			Files  []struct{ Path, Kind, Diff string }
			Output string
		}
	}
	if err := json.Unmarshal([]byte(asked), &ask); err != nil {
		t.Fatal(err)
	}
	if f := ask.Review.Files; len(f) != 2 || f[0].Path != "old" || f[0].Kind != "removed" || f[1].Path != "made" || !strings.Contains(f[1].Diff, "+new") {
		t.Errorf("the review has %+v", ask.Review)
	}
	checkReview(t, project, false, true)
	answer := func(fields string) (int, string) {
		return post("/api/turns/"+turn.ID+"/confirm", fmt.Sprintf(`{"tool_use_id":%q,"nonce":%q,%s}`, ask.ToolUseID, ask.Nonce, fields))
	}
	for _, plain := range []string{`"decision":"allow"`, `"decision":"allow_chat","all":true`, `"decision":"allow","only":["other"]`} {
		if status, said := answer(plain); status != 400 {
			t.Errorf("%s: %d %s", plain, status, said)
		}
	}
	if _, said := answer(`"decision":"allow"`); !strings.Contains(said, "allow needs either all, or only") {
		t.Errorf("a plain yes is told %s", said)
	}
	if status, said := answer(`"decision":"allow","only":["made"],"reason":"keep old"`); status != 204 {
		t.Errorf("%d %s", status, said)
	}
	if end := s.line("/api/turns/"+turn.ID+"/events", `"type":"tool_complete"`); !strings.Contains(end, "keep old") {
		t.Errorf("the call ends with %s", end)
	}
	checkReview(t, project, true, true)
}

// An editor gets the diff with the permission request, and applies all, all but one file, the
// files that further requests choose, or nothing.
func TestAReviewInAnEditor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		chosen    []string // options: of the first request, and of those about each file
		made, old bool     // the files afterwards
	}{
		"all":             {[]string{"allow"}, true, false},
		"none":            {[]string{"reject"}, false, true},
		"all but old":     {[]string{"without:0"}, true, true},
		"file by file":    {[]string{"each", "allow", "reject"}, false, false},
		"the rest":        {[]string{"each", "allow_rest"}, true, false},
		"none of them":    {[]string{"each", "reject_rest"}, false, true},
		"no such option":  {[]string{"without:7"}, false, true},
		"no answer later": {[]string{"each", "allow", ""}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, project := reviewWorld(t)
			e := w.edit(project, "")
			e.ask(3, "go")
			for i, option := range c.chosen {
				asked := e.hear("session/request_permission")
				reviewing(t, asked)
				var ask struct {
					ID     json.RawMessage
					Params struct {
						ToolCall struct {
							Title   string
							Content []struct{ Type, Path, NewText string }
						}
						Options []struct{ OptionID, Name string }
					}
				}
				if err := json.Unmarshal([]byte(asked), &ask); err != nil {
					t.Fatal(err)
				}
				var shown []string
				for _, c := range ask.Params.ToolCall.Content {
					if c.Type == "diff" {
						shown = append(shown, filepath.Base(c.Path)+"="+c.NewText)
					}
				}
				for _, o := range ask.Params.Options {
					shown = append(shown, o.Name)
				}
				want := []string{"old=", "made=new\n", "Apply the changes", "Apply all but old", "Apply all but made", "Choose file by file", "Discard them"}
				if i > 0 {
					want = append([]string{[]string{"old=", "made=new\n"}[i-1]}, "Apply", "Leave out", "Apply this and all that follow", "Leave out this and all that follow")
				}
				if !slices.Equal(shown, want) || i > 0 && ask.Params.ToolCall.Title != []string{"1 of 2: removed old", "2 of 2: added made"}[i-1] {
					t.Errorf("the editor is asked %s", asked)
				}
				checkReview(t, project, false, true)
				outcome := fmt.Sprintf(`{"outcome":"selected","optionId":%q}`, option)
				if option == "" {
					outcome = `{"outcome":"cancelled"}`
				}
				e.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":%s}}`, ask.ID, outcome))
			}
			e.hear(`"stopReason"`)
			checkReview(t, project, c.made, c.old)
		})
	}
}

// A client of the MCP server is asked by a form, and its reason gets to the model. A client
// without forms is denied.
func TestAReviewByAFormOfMCP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		capabilities, content string
		applied               bool
		told                  string
	}{
		"applied":   {`{"elicitation":{}}`, `{"decision":"allow"}`, true, "printed"},
		"discarded": {`{"elicitation":{}}`, `{"decision":"deny","reason":"keep old"}`, false, "keep old"},
		"no forms":  {`{}`, "", false, "nobody can be asked here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, project := reviewWorld(t)
			_, say, hear := w.speak("mcp", "serve", "-m", "script/"+filepath.Join(w.Dir, "m.yaml"), "-w", project, "--toolset", "builtin")
			say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":` + c.capabilities + `,"clientInfo":{"name":"tester","version":"1"}}}`)
			hear(`"id":1`)
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_command","arguments":{"command":"echo new > made; rm old; echo printed"}}}`)
			if c.content != "" {
				asked := hear("elicitation/create")
				reviewing(t, asked)
				if !strings.Contains(asked, `removed old`) || !strings.Contains(asked, "+new") {
					t.Errorf("it asks %s", asked)
				}
				checkReview(t, project, false, true)
				id := regexp.MustCompile(`"id":("[^"]*"|\d+)`).FindStringSubmatch(asked)[1]
				say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":` + c.content + `}}`)
			}
			if end := hear(`"id":2`); !strings.Contains(end, c.told) {
				t.Errorf("the call ends with %s", end)
			}
			checkReview(t, project, c.applied, !c.applied)
		})
	}
}

// Where nobody can be asked, a call is denied before it runs, and the error has the next step.
func TestAReviewInAPipeIsDenied(t *testing.T) {
	t.Parallel()
	w, project := reviewWorld(t)
	got := w.with("", "ask", "-c", "--tool", "run_command", "go")
	checkReview(t, project, false, true)
	if got.status != 8 || !strings.Contains(got.err, `fettle ask --chat 1 --allow run_command "go on"`) {
		t.Errorf("it ends with %+v", got)
	}
	got = w.with("", "ask", "-c", "--approvals", "ask-all", "--tool", "run_command", "go")
	if got.status != 8 || !strings.Contains(got.err, `fettle ask --chat 1 --approvals calls --allow run_command "go on"`) {
		t.Errorf("it ends with %+v", got)
	}
	w.with("", "ask", "-c", "--yes", "--tool", "run_command", "go")
	checkReview(t, project, true, false)
}

// line returns the first event of a stream that has a text.
func (s *serving) line(path, part string) string {
	s.w.T.Helper()
	ctx, cancel := context.WithTimeout(s.w.T.Context(), 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/t/"+s.token+path, nil)
	if err != nil {
		s.w.T.Fatal(err)
	}
	res, err := s.client.Do(req)
	if err != nil {
		s.w.T.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.w.T.Fatalf("no event has %s: %v", part, err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, part) {
			return data
		}
	}
}

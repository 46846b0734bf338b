package server

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/server/dialect"
)

// Texts and images of a question reach the engine in the order in which the client sent
// them, in every dialect that has an order.
func TestTextsAndImagesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	data := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))
	address := "data:image/png;base64," + data
	openAI := func(text, image string) string {
		return fmt.Sprintf(`[{"type":%q,"text":"one"},%s,{"type":%[1]q,"text":"two"},{"type":%[1]q,"text":"more"},%[2]s]`, text, image)
	}
	for n, body := range map[dialect.Name]string{
		dialect.OpenAI:    `{"model":"m","messages":[{"role":"user","content":` + openAI("text", `{"type":"image_url","image_url":{"url":"`+address+`"}}`) + `}]}`,
		dialect.Responses: `{"model":"m","input":[{"role":"user","content":` + openAI("input_text", `{"type":"input_image","image_url":"`+address+`"}`) + `}]}`,
		dialect.Anthropic: `{"model":"m","messages":[{"role":"user","content":` + openAI("text", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+data+`"}}`) + `}]}`,
		dialect.AISDK:     `{"id":"a","messages":[{"id":"1","role":"user","parts":` + openAI("text", `{"type":"file","mediaType":"image/png","url":"`+address+`"}`) + `}]}`,
		dialect.AGUI:      `{"threadId":"t","runId":"r","state":{},"tools":[],"context":[],"messages":[{"id":"1","role":"user","content":` + openAI("text", `{"type":"image","source":{"type":"data","mimeType":"image/png","value":"`+data+`"}}`) + `}]}`,
	} {
		in, bad := dialect.Decode(n, []byte(body))
		if bad != nil {
			t.Errorf("%s: %v", n, bad)
			continue
		}
		req, err := wireRequest(in)
		if err != nil {
			t.Errorf("%s: %v", n, err)
			continue
		}
		var got []string
		for _, p := range req.Parts {
			got = append(got, string(p.Kind)+" "+strings.ReplaceAll(p.Text, "\n", "|"))
		}
		if fmt.Sprintf("%q", got) != `["text one" "image " "text two||more" "image "]` || req.Title != "one\n\ntwo\n\nmore" {
			t.Errorf("%s: %q, title %q", n, got, req.Title)
		}
	}
}

// Instructions at the beginning are the system prompt, later ones stay where they are, and
// instructions alone are a question.
func TestInstructionsKeepTheirPlace(t *testing.T) {
	t.Parallel()
	message := func(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }
	for name, c := range map[string]struct {
		messages                  []string
		system, history, question string
	}{
		"at the beginning": {[]string{message("system", "A"), message("developer", "B"), message("user", "q")}, "A|B", "", "q"},
		"after a question": {[]string{message("user", "q"), message("system", "A")}, "", "", "q|<system>|A|</system>"},
		"in between": {
			[]string{message("system", "A"), message("user", "q"), message("system", "B"), message("assistant", "a"), message("system", "C"), message("user", "r")},
			"A", "user q + user <system>|B|</system> / assistant a / user <system>|C|</system>", "r",
		},
		"after a result": {
			[]string{message("user", "q"), `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"c","content":"found"}`, message("system", "A")},
			"", "user q / assistant ", "found|<system>|A|</system>",
		},
		"alone": {[]string{message("system", "A"), message("system", "B")}, "A", "", "B"},
	} {
		in, bad := dialect.Decode(dialect.OpenAI, []byte(`{"model":"m","messages":[`+strings.Join(c.messages, ",")+`]}`))
		if bad != nil {
			t.Fatal(bad)
		}
		req, err := wireRequest(in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		plain := strings.NewReplacer("\n\n", "|", "\n", "|")
		var history []string
		for _, m := range historyOf(in) {
			var parts []string
			for _, p := range m.Parts {
				parts = append(parts, string(m.Role)+" "+plain.Replace(p.Text))
			}
			history = append(history, strings.Join(parts, " + "))
		}
		if got := plain.Replace(systemOf(in)); got != c.system {
			t.Errorf("%s: the system prompt is %q, want %q", name, got, c.system)
		}
		if got := strings.Join(history, " / "); got != c.history {
			t.Errorf("%s: the history is %q, want %q", name, got, c.history)
		}
		question := req.Parts[0].Text
		if r := req.Parts[0].Result; r != nil {
			question = r.Text
		}
		if got := plain.Replace(question); got != c.question || len(req.Parts) != 1 {
			t.Errorf("%s: the question is %q, want %q", name, got, c.question)
		}
	}
}

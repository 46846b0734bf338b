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

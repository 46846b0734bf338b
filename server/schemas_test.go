package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/schema"
	"github.com/fettle-cli/fettle/internal/sse"
)

// published are the formats' schemas, each compiled when it is first needed.
type published struct {
	t    testing.TB
	dir  string
	made map[string]*schema.Schema
	defs map[string]json.RawMessage // of OpenAI
}

// judge holds what clients were answered against the schemas.
func (f *front) judge(t *testing.T) {
	t.Helper()
	p := &published{t: t, dir: needtest.Shared(t, "protocols"), made: map[string]*schema.Schema{}}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.answered {
		switch {
		case strings.HasPrefix(one.kind, "text/event-stream"):
			p.stream(one)
		case one.status == 200 && one.path == "POST /v1/chat/completions":
			p.check(one, "openai CreateChatCompletionResponse", one.body.Bytes())
		case strings.Contains(one.path, " /v1/messages") || one.anthropic:
			// no schema is published; the SDK has read it
		case one.status == 200 && one.path == "GET /v1/models":
			p.check(one, "openai ListModelsResponse", one.body.Bytes())
		case one.status == 200 && (strings.HasSuffix(one.path, "/input_items") || strings.HasPrefix(one.path, "DELETE ")):
			// published with the SDK alone, which has read it
		case one.status == 200 && (one.path == "POST /v1/responses" || strings.HasPrefix(one.path, "GET /v1/responses/")):
			p.check(one, "openai Response", one.body.Bytes())
		case one.status >= 400 && strings.Contains(one.path, " /v1/"):
			p.check(one, "openai ErrorResponse", one.body.Bytes())
		}
	}
	if len(f.answered) == 0 {
		t.Error("nothing was answered")
	}
}

// stream checks each event of a stream.
func (p *published) stream(one *tape) {
	p.t.Helper()
	in := sse.NewReader(bytes.NewReader(one.body.Bytes()), sse.Options{})
	for n := 0; ; n++ {
		e, err := in.Next()
		if err != nil {
			if n == 0 && one.whole {
				p.t.Errorf("%s: an empty stream", one.path)
			}
			return // a client that went away has half an event
		}
		switch {
		case string(e.Data) == "[DONE]":
		case one.path == "POST /v1/chat/completions" && bytes.HasPrefix(e.Data, []byte(`{"error"`)):
			p.check(one, "openai ErrorResponse", e.Data)
		case one.path == "POST /v1/chat/completions":
			p.check(one, "openai CreateChatCompletionStreamResponse", e.Data)
		case one.path == "POST /v1/responses", strings.HasPrefix(one.path, "GET /v1/responses/"):
			p.check(one, "event", e.Data)
		case strings.Contains(one.path, " /aisdk"):
			p.check(one, "ai-sdk", e.Data)
		case one.path == "POST /agui":
			p.check(one, "ag-ui", e.Data)
		}
	}
}

// check holds a document against a schema. Where a check takes too long because
// the machine is busy, it is tried again.
func (p *published) check(one *tape, name string, raw []byte) {
	p.t.Helper()
	if name == "event" {
		var e struct{ Type string }
		must(p.t, json.Unmarshal(raw, &e))
		name = "event " + e.Type
	}
	var problems []schema.Problem
	for range 5 {
		problems = p.schema(name).Validate(raw)
		if len(problems) == 0 || !strings.Contains(problems[0].Message, "takes longer than") {
			break
		}
	}
	if len(problems) > 0 {
		p.t.Errorf("%s is no %s:\n%s\n%s", one.path, name, schema.Explain(problems), raw)
	}
}

func (p *published) schema(name string) *schema.Schema {
	p.t.Helper()
	if s := p.made[name]; s != nil {
		return s
	}
	var raw []byte
	switch kind, def, _ := strings.Cut(name, " "); kind {
	case "ai-sdk":
		raw = p.file("ai-sdk", "ui-message-chunk.ai-7.0.173.generated.schema.json")
	case "ag-ui":
		raw = p.file("ag-ui", "core-1.0.0-event.generated.schema.json")
	case "event":
		// The response in an event is the one of the object, which is checked by
		// itself: compiling it for each kind of event takes its time.
		raw = p.definition(p.eventDef(def), "Response", "OutputItem")
	default:
		raw = p.definition(def)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	p.made[name] = s
	return s
}

func (p *published) file(parts ...string) []byte {
	p.t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{p.dir}, parts...)...))
	must(p.t, err)
	return raw
}

func (p *published) openAI() map[string]json.RawMessage {
	p.t.Helper()
	if p.defs == nil {
		var doc struct {
			Defs map[string]json.RawMessage `json:"$defs"`
		}
		must(p.t, json.Unmarshal(p.file("openai", "openai-chat-responses-models.schema.json"), &doc))
		p.defs = doc.Defs
	}
	return p.defs
}

// eventDef is the definition of a kind of event.
func (p *published) eventDef(kind string) string {
	p.t.Helper()
	for name, raw := range p.openAI() {
		var d struct {
			Properties struct {
				Type struct{ Enum []string }
			}
		}
		if strings.HasSuffix(name, "Event") && json.Unmarshal(raw, &d) == nil && len(d.Properties.Type.Enum) == 1 && d.Properties.Type.Enum[0] == kind {
			return name
		}
	}
	p.t.Fatalf("OpenAI has no event %q", kind)
	return ""
}

// definition is a schema of one of OpenAI's definitions with all that it refers
// to; those that are named as open take anything.
func (p *published) definition(name string, opened ...string) []byte {
	p.t.Helper()
	needed := map[string]json.RawMessage{}
	for _, o := range opened {
		needed[o] = json.RawMessage("true")
	}
	p.reach(needed, name)
	raw, err := json.Marshal(map[string]any{"$ref": "#/$defs/" + name, "$defs": needed})
	must(p.t, err)
	return raw
}

func (p *published) reach(into map[string]json.RawMessage, name string) {
	if into[name] != nil {
		return
	}
	into[name] = p.openAI()[name]
	for _, m := range regexp.MustCompile(`"#/\$defs/([^"]+)"`).FindAllSubmatch(into[name], -1) {
		p.reach(into, string(m[1]))
	}
}

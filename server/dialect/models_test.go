package dialect

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/internal/needtest"
	"github.com/fettle-cli/fettle/internal/schema"
)

func someModels() []Model {
	return []Model{
		{ID: "ollama/qwen3", Owner: "ollama", Modified: time.Unix(1795816640, 0), Size: 5 << 30, Family: "qwen3", Details: "8.2B", Context: 40960, Tools: true, Images: true, Thinking: true},
		{ID: "fettle/triage"},
	}
}

func TestModelLists(t *testing.T) {
	t.Parallel()
	list := schemaOfFile(t, needtest.Shared(t, "protocols", "openai", "openai-chat-responses-models.schema.json"), "ListModelsResponse")
	for name, body := range map[string][]byte{"ours": OpenAIModels(someModels()), "none": OpenAIModels(nil), "the sample": readFile(t, needtest.Shared(t, "protocols", "wire", "openai-models.json"))} {
		if problems := validate(list, body); len(problems) > 0 {
			t.Errorf("%s: %s\n%s", name, schema.Explain(problems), body)
		}
	}
	golden(t, "models.txt", string(OpenAIModels(someModels()))+string(OllamaTags(someModels()))+
		string(OllamaShow(someModels()[0]))+string(OllamaShow(someModels()[1]))+string(OllamaVersionBody()))
	for _, body := range [][]byte{OllamaTags(nil), OllamaShow(Model{}), OllamaVersionBody()} {
		if !json.Valid(body) {
			t.Errorf("no JSON: %s", body)
		}
	}
}

func TestShowRequests(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{`{"model":"a"}`: "a", `{"name":"a","verbose":true}`: "a", `{}`: "", `{"model":3}`: "", `{"model":"a\nb"}`: ""} {
		got, err := ShowRequest([]byte(body))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v", body, got, err)
		}
	}
}

// FuzzShowRequest reads anything as the question what a model is: it names one, or
// is refused with the field that is wrong.
func FuzzShowRequest(f *testing.F) {
	for _, seed := range []string{`{"model":"a/b"}`, `{"name":"a:latest","verbose":true}`, `{"model":1}`, `[]`, ``, `{"model":"` + strings.Repeat("x", 3000) + `"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		name, bad := ShowRequest(raw)
		if bad == nil && name == "" || bad != nil && bad.Error() == "" {
			t.Errorf("%q and %v", name, bad)
		}
	})
}

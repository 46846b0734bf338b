package dialect

import (
	"encoding/json"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

// Model is what the lists of models tell of one.
type Model struct {
	ID       string    // as clients name it in requests
	Owner    string    // who answers: a provider's name, or fettle for an agent
	Modified time.Time // when it was made or released; zero is unknown
	// Since is when the server began to offer the model, for APIs without an unknown time.
	Since    time.Time
	Size     int64  // in bytes; 0 is unknown
	Family   string // such as qwen3
	Details  string // parameter size, such as 8.2B
	Context  int    // tokens; 0 is unknown
	Tools    bool
	Images   bool
	Thinking bool
}

// OllamaVersion is the API that the ollama dialect speaks. Editors compare it
// with the least version that they take, as numbers.
const OllamaVersion = "0.17.4"

// OpenAIModels is the body of GET /v1/models.
func OpenAIModels(models []Model) []byte {
	return open(nil).str("object", "list").
		list("data", len(models), func(dst []byte, i int) []byte { return OpenAIModel(dst, models[i]) }).line()
}

// dated returns the time of a model for APIs that have no unknown time.
func (m Model) dated() time.Time {
	if m.Modified.IsZero() {
		return m.Since
	}
	return m.Modified
}

// OpenAIModel appends the body of GET /v1/models/{model}.
func OpenAIModel(dst []byte, m Model) []byte {
	owner := m.Owner
	if owner == "" {
		owner = "fettle"
	}
	return open(dst).str("id", m.ID).str("object", "model").int("created", unix(m.dated())).str("owned_by", owner).close()
}

// AnthropicModels is the body of GET /v1/models for a client of Anthropic's API.
func AnthropicModels(models []Model) []byte {
	o := open(nil).list("data", len(models), func(dst []byte, i int) []byte { return AnthropicModel(dst, models[i]) }).
		bool("has_more", false)
	if len(models) == 0 {
		o.lit("first_id", "null").lit("last_id", "null")
	} else {
		o.str("first_id", models[0].ID).str("last_id", models[len(models)-1].ID)
	}
	return o.line()
}

// AnthropicModel appends a model as Anthropic's API describes one. A time of release that
// is not known is the epoch, as the API's documentation has it.
func AnthropicModel(dst []byte, m Model) []byte {
	return open(dst).str("type", "model").str("id", m.ID).str("display_name", m.ID).
		str("created_at", time.Unix(unix(m.Modified), 0).UTC().Format(time.RFC3339)).close()
}

// AnthropicCount is the body of POST /v1/messages/count_tokens.
func AnthropicCount(tokens int) []byte {
	return append(open(nil).int("input_tokens", int64(tokens)).close(), '\n')
}

// OllamaTags is the body of GET /api/tags.
func OllamaTags(models []Model) []byte {
	return open(nil).list("models", len(models), func(dst []byte, i int) []byte {
		m := models[i]
		return open(dst).str("name", m.ID).str("model", m.ID).str("modified_at", stamp(m.dated())).int("size", m.Size).
			str("digest", "").obj("details", m.details).close()
	}).line()
}

// details are never null: clients read fields of it without looking.
func (m Model) details(o *object) {
	o.str("parent_model", "").str("format", "").str("family", m.Family).val("families", families(m.Family)).
		str("parameter_size", m.Details).str("quantization_level", "")
}

func families(family string) []string {
	if family == "" {
		return []string{}
	}
	return []string{family}
}

// OllamaShow is the body of POST /api/show. Editors take a model for their
// agents only if its capabilities have "tools", and read its context length
// from model_info, by the key that the architecture makes.
func OllamaShow(m Model) []byte {
	family := m.Family
	if family == "" {
		family = "fettle"
	}
	info := map[string]any{"general.architecture": family, "general.basename": m.ID}
	if m.Context > 0 {
		info[family+".context_length"] = m.Context
	}
	able := []string{"completion"}
	for _, c := range []struct {
		name string
		has  bool
	}{{"tools", m.Tools}, {"vision", m.Images}, {"thinking", m.Thinking}} {
		if c.has {
			able = append(able, c.name)
		}
	}
	return append(open(nil).str("modelfile", "").str("parameters", "").str("template", "").
		str("modified_at", stamp(m.dated())).obj("details", m.details).val("model_info", info).
		val("capabilities", able).close(), '\n')
}

// OllamaLoaded is the answer to a request without messages, or without a prompt, by which
// clients have a model loaded.
func OllamaLoaded(o Options, at time.Time) []byte {
	out := open(nil).str("model", o.Model).str("created_at", stamp(at))
	o.ollamaText(out, "", "", nil)
	return out.str("done_reason", "load").bool("done", true).line()
}

// OllamaVersionBody is the body of GET /api/version.
func OllamaVersionBody() []byte {
	return append(open(nil).str("version", OllamaVersion).close(), '\n')
}

// RunningModel is a model in memory.
type RunningModel struct {
	Name, Digest string
	Size, VRAM   int64 // bytes
	Context      int   // tokens
	Expires      time.Time
}

// OllamaPs is the body of GET /api/ps.
func OllamaPs(list []RunningModel) []byte {
	return open(nil).list("models", len(list), func(dst []byte, i int) []byte {
		m := list[i]
		return open(dst).str("name", m.Name).str("model", m.Name).int("size", m.Size).str("digest", m.Digest).
			obj("details", Model{ID: m.Name}.details).str("expires_at", stamp(m.Expires)).int("size_vram", m.VRAM).
			int("context_length", int64(m.Context)).close()
	}).line()
}

// OllamaProgress is a line of the answer of POST /api/pull.
func OllamaProgress(stage string, done, total int64) []byte {
	o := open(nil).str("status", stage)
	if total > 0 {
		o.int("total", total).int("completed", done)
	}
	return o.line()
}

// OllamaError is the line of a stream that has failed.
func OllamaError(msg string) []byte { return open(nil).str("error", msg).line() }

// ModelRequest reads the body of a request about one model, with whether the answer is to be
// a stream.
func ModelRequest(body []byte) (name string, stream bool, bad *fault.Fault) {
	name, bad = ShowRequest(body)
	if bad != nil {
		return "", false, bad
	}
	var in struct {
		Stream *bool `json:"stream"`
	}
	if err := read("", json.RawMessage(body), &in); err != nil {
		return "", false, refusal(err)
	}
	return name, in.Stream == nil || *in.Stream, nil
}

// ShowRequest reads the model's name out of the body of POST /api/show, which
// older clients call name.
func ShowRequest(body []byte) (string, *fault.Fault) {
	var in struct {
		Model string `json:"model"`
		Name  string `json:"name"`
	}
	if len(body) > maxArgs {
		return "", refusal(wrong("", "the body is too long"))
	}
	if err := read("", json.RawMessage(body), &in); err != nil {
		return "", refusal(err)
	}
	name := in.Model
	if name == "" {
		name = in.Name
	}
	switch problem := badName(name); {
	case name == "":
		return "", refusal(wrong("model", isMissing))
	case problem != "":
		return "", refusal(wrong("model", problem))
	}
	return name, nil
}

package config

// The protocols that a provider's `type` names.
const (
	TypeOpenAI    = "openai"    // chat completions and the Responses API, as OpenAI and many others have them
	TypeAnthropic = "anthropic" // the Messages API
	TypeMistral   = "mistral"   // chat completions, as Mistral has them
)

// The APIs of TypeOpenAI that a provider's `api` names. Without it, the provider chooses one by
// address and model.
const (
	APIChat      = "chat"      // chat completions
	APIResponses = "responses" // the Responses API
)

// ollamaKeyEnv is the variable that Ollama's own programs read.
const ollamaKeyEnv = "OLLAMA_API_KEY"

// builtin is a provider that is there without any configuration.
type builtin struct {
	name, kind, address string
	keyEnv, urlEnv      string // the variables of its own programs; urlEnv may be ""
}

func builtins() []builtin {
	return []builtin{
		{"openai", TypeOpenAI, "https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"},
		{"anthropic", TypeAnthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"},
		{"mistral", TypeMistral, "https://api.mistral.ai/v1", "MISTRAL_API_KEY", ""},
	}
}

// builtinOf is the builtin of a name. One whose type was changed is no builtin
// any more: its address would be wrong.
func builtinOf(name, kind string) (builtin, bool) {
	for _, b := range builtins() {
		if b.name == name && (kind == "" || kind == b.kind) {
			return b, true
		}
	}
	return builtin{}, false
}

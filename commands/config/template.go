package config

import (
	"fmt"
	"strings"
)

// Template is what a new configuration file begins with: the settings of the
// table and an example of each map, as comments.
func Template() string {
	var b strings.Builder
	b.WriteString("# The configuration of fettle. A line counts once its # is taken away;\n" +
		"# fettle config check tells what is wrong, fettle help environment what there is.\n")
	section := ""
	for _, s := range table() {
		head, name, nested := strings.Cut(s.Key, ".")
		if !nested {
			fmt.Fprintf(&b, "\n# %s\n#%s: %s\n", s.Meaning, s.Key, exampleOf(s))
			continue
		}
		if head != section {
			fmt.Fprintf(&b, "\n#%s:\n", head)
			section = head
		}
		fmt.Fprintf(&b, "  # %s\n#  %s: %s\n", s.Meaning, name, exampleOf(s))
	}
	b.WriteString(`
# servers that speak OpenAI's protocol, Anthropic's or Mistral's
#providers:
#  local:
#    base_url: http://127.0.0.1:8000/v1
#    key_env: LOCAL_KEY

# what you know better than a provider about a model
#models:
#  ollama/qwen3:
#    context_length: 32768

# agents, which fettle ask --agent reviewer enters by
#agents:
#  reviewer:
#    purpose: Reads a change and says what is wrong with it.
#    prompt: You review changes. Be brief, and name the line.
#    tools: [read_file, list_files]

# what a million tokens cost, for fettle usage
#prices:
#  openai/gpt-5: {input: 1.25, output: 10}

# settings that come over the others with --profile fast
#profiles:
#  fast:
#    model: ollama/qwen3
`)
	return b.String()
}

// exampleOf is a value that a setting could have.
func exampleOf(s setting) string {
	switch {
	case s.Default != "":
		return s.Default
	case s.Key == "profile":
		return "fast"
	case s.Key == "agent":
		return "none"
	case s.Key == "embedding":
		return "ollama/nomic-embed-text"
	case s.Key == "system":
		return "Be brief."
	case s.Key == "fallback":
		return "[ollama/qwen3, openai/gpt-5]"
	case s.Key == "run_command.env":
		return "[GOFLAGS]"
	case s.Key == "run_command.readable":
		return "[/opt/data]"
	case s.Key == "search.address":
		return "http://127.0.0.1:8888"
	case s.Key == "server":
		return "https://fettle.example.com"
	case s.kind.list:
		return "[read_file, list_*]"
	}
	return "ollama/qwen3"
}

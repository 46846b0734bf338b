package provider

import "testing"

// A closing marker ends the reasoning that a server left in the text, unless the answer is
// about the marker.
func TestCutThought(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, answer, end string }{
		"closing tag":              {"maybe:\n```sh\nrm -rf x\n```\nno.\n</think>\n\n```sh\nls\n```\n", "```sh\nls\n```\n", "</think>"},
		"at the end of a line":     {"I think so.</think>yes", "yes", "</think>"},
		"an open code block":       {"```sh\nrm -rf x\n</think>\nls", "ls", "</think>"},
		"thinking":                 {"hm</thinking>\nyes", "yes", "</thinking>"},
		"both tags":                {"\n<think>hm</think>yes", "yes", "</think>"},
		"Kimi":                     {"hm ◁/think▷ yes", "yes", "◁/think▷"},
		"Kimi with its beginning":  {"◁think▷hm◁/think▷yes", "yes", "◁/think▷"},
		"Magistral":                {"hm[/THINK]yes", "yes", "[/THINK]"},
		"Seed":                     {"hm</seed:think>yes", "yes", "</seed:think>"},
		"gpt-oss":                  {"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes<|return|>", "yes", "<|channel|>final<|message|>"},
		"Command":                  {"<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>yes<|END_RESPONSE|>", "yes", "<|END_THINKING|>"},
		"nothing":                  {"yes", "yes", ""},
		"in backticks":             {"The tag is `</think>`, as I said.", "The tag is `</think>`, as I said.", ""},
		"in quotes":                {`The tag is "</think>".`, `The tag is "</think>".`, ""},
		"in a code block":          {"```html\n<p></think></p>\n```", "```html\n<p></think></p>\n```", ""},
		"with its own beginning":   {"Write <think>so</think>.", "Write <think>so</think>.", ""},
		"in backticks with others": {"Use `a </think> b` here.", "Use `a </think> b` here.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, answer, end := CutThought(c.text); answer != c.answer || end != c.end {
				t.Errorf("the answer is %q after %q, want %q after %q", answer, end, c.answer, c.end)
			}
		})
	}
}

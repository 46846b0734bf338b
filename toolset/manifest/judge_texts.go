package manifest

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// texts looks at every text of the file, wherever it stands.
func (j *judge) texts(n *yaml.Node, pointer string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			at := under(pointer, n.Content[i].Value)
			j.hidden(n.Content[i], at)
			j.texts(n.Content[i+1], at)
		}
	case yaml.SequenceNode:
		for i, e := range n.Content {
			j.texts(e, item(pointer, i))
		}
	case yaml.ScalarNode:
		if n.ShortTag() == tagText && !j.bad[n] {
			j.hidden(n, pointer)
			if secretPattern().MatchString(n.Value) {
				j.fail(pointer, CodeSecret, "this looks like a key of a service; whoever gets the bundle gets it: use ${NAME}, and make the key invalid")
			}
		}
	}
}

// hidden finds characters that act on a terminal or hide what a text says.
func (j *judge) hidden(n *yaml.Node, pointer string) {
	for _, r := range n.Value {
		switch {
		case r == 0:
			j.fail(pointer, CodeControl, "a text can't hold the NUL character")
			j.bad[n] = true
			return
		case r != '\r' && sanitize.Removes(r):
			j.warn(pointer, CodeControl, fmt.Sprintf("the text holds %U, which people don't see; it is taken out where it is shown", r))
			return
		}
	}
}

// injection finds descriptions that speak past the tool to the model. It is a
// hint for people, not a defence: what a description can bring about is
// bounded by approvals and the sandbox.
var injection = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)</?\s*(important|system|instructions?|secret|hidden)\b[^>]*>` +
		`|ignore (all |any )?(the )?(previous|prior|above|other) (instructions|prompts|rules)` +
		`|do not (tell|mention|reveal|inform|show)\b.{0,40}\buser` +
		`|(~|\$HOME)/\.(ssh|aws|gnupg|config|netrc|kube)\b|\bid_(rsa|ed25519)\b` +
		`|before (using|calling|you use|you call|use).{0,60}\b(read|send|pass|include)\b`)
})

// secretPattern knows the keys of services by how they begin.
var secretPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(sk-(ant-|proj-|or-)?[A-Za-z0-9_-]{20,}|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}` +
		`|glpat-[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}|xox[abpr]-[A-Za-z0-9-]{10,}` +
		`|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})` +
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----`)
})

// keyVariable tells whether a variable is known to hold a key, by its name.
func keyVariable(name string) bool {
	name = strings.ToUpper(name)
	for _, provider := range []string{
		"ANTHROPIC", "OPENAI", "MISTRAL", "GEMINI", "GOOGLE", "AWS", "AZURE", "GITHUB", "GH", "GITLAB", "NPM", "PYPI",
		"HF", "HUGGING", "OPENROUTER", "GROQ", "DEEPSEEK", "XAI", "COHERE", "TOGETHER", "REPLICATE", "STRIPE", "SLACK", "DOCKER", "SSH",
	} {
		if strings.HasPrefix(name, provider+"_") && secretName(name) {
			return true
		}
	}
	return name == "SSH_AUTH_SOCK"
}

// secretName tells whether a variable or header is likely to hold a secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTHORIZATION", "COOKIE", "PRIVATE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// keyPath tells whether keys are known to lie at or below a path, or the path
// at or above where they do.
func keyPath(p string) bool {
	for _, known := range []string{
		"~/.ssh", "~/.aws", "~/.gnupg", "~/.config", "~/.kube", "~/.docker", "~/.netrc", "~/.git-credentials", "~/.npmrc", "~/.pypirc",
		"~/.mozilla", "~/.local/share", "~/Library", "/etc", "/proc", "/root", "/home", "/Users", "/var", "/run",
	} {
		if p == known || strings.HasPrefix(p, known+"/") || strings.HasPrefix(known, p+"/") {
			return true
		}
	}
	return false
}

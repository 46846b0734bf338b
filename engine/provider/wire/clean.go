package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// maxMessage bounds an error message in bytes.
const maxMessage = 500

// Clean makes a server's words fit to be shown: one line, without what package sanitize removes,
// without the secrets and anything else that looks like a key, and at most 500 bytes long. A
// control character ends a word, since servers send colours and NUL between words.
func Clean(s string, secrets ...string) string {
	if len(s) > maxRefusal {
		s = s[:maxRefusal]
	}
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, hidden)
		}
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	for i, w := range words {
		w = sanitize.Line(w)
		if i > 0 && strings.EqualFold(words[i-1], "bearer") && len(w) >= minSecret {
			w = hidden
		}
		words[i] = hideTokens(w, secrets)
	}
	return shorten(strings.Join(words, " "), maxMessage)
}

// hidden stands where a key was.
const hidden = "[key]"

// minSecret is how much of a key gives it away.
const minSecret = 8

// hideTokens replaces what looks like a key in one word.
func hideTokens(w string, secrets []string) string {
	var b strings.Builder
	for w != "" {
		n := strings.IndexFunc(w, isToken)
		if n < 0 {
			break
		}
		b.WriteString(w[:n])
		w = w[n:]
		end := strings.IndexFunc(w, func(r rune) bool { return !isToken(r) })
		if end < 0 {
			end = len(w)
		}
		if isSecret(w[:end], secrets) {
			b.WriteString(hidden)
		} else {
			b.WriteString(w[:end])
		}
		w = w[end:]
	}
	b.WriteString(w)
	return b.String()
}

func isToken(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_*.", r)
}

// keyPrefixes are how keys of providers in use begin.
const keyPrefixes = "sk- sk_ pk- rk- gsk_ xai- AIza hf_ fw_ nvapi- ghp_ gho_ github_pat_ tgp_ csk- AKIA eyJ"

// isSecret tells whether a token looks like a key, whole or with its middle
// starred out, or is a good part of one that we know.
func isSecret(token string, secrets []string) bool {
	if len(token) < minSecret {
		return false
	}
	for prefix := range strings.FieldsSeq(keyPrefixes) {
		if strings.HasPrefix(token, prefix) {
			return true
		}
	}
	for _, s := range secrets {
		if len(s) >= minSecret && (strings.Contains(token, s[:minSecret]) || strings.Contains(token, s[len(s)-minSecret:])) {
			return true
		}
	}
	return false
}

// shorten cuts s to at most n bytes at a character, marking the cut.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	s = s[:n-len(mark)]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + mark
}

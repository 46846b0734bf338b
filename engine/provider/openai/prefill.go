package openai

import (
	"net/url"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
)

// prefillOf returns how an address is asked, as its documentation says. The addresses of
// OpenAI, Azure, Google and xAI take such a message, and answer it with another one.
func prefillOf(u *url.URL) chatcompletions.Prefill {
	host := u.Hostname()
	under := func(domains ...string) bool {
		for _, d := range domains {
			if host == d || strings.HasSuffix(host, "."+d) {
				return true
			}
		}
		return false
	}
	switch {
	case under("openai.com", "googleapis.com", "x.ai"), azure(u):
		return chatcompletions.PrefillNone
	case under("openrouter.ai", "groq.com"):
		return chatcompletions.PrefillPlain
	case under("mistral.ai"):
		return chatcompletions.PrefillRepeated
	case under("deepseek.com"):
		if strings.Contains(u.Path, "beta") { // the only address that has it
			return chatcompletions.PrefillPrefix
		}
		return chatcompletions.PrefillNone
	case under("moonshot.ai", "moonshot.cn", "aliyuncs.com"):
		return chatcompletions.PrefillPartial
	}
	return chatcompletions.PrefillFinal
}

package openai

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// learnShape takes a lesson about the shape of the history from a refusal: about reasoning,
// members that only the provider understands, and the order of roles. text is the message
// in lower case. Templates that cannot render a history fail with status 500, or within the
// stream.
func learnShape(e *provider.Error, text string, s sent, q *quirks, now *adaption) lesson {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return nothing
	}
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	missing := says("must be passed", "must be provided", "must be included", "missing", "required", "is needed", "must have", "must contain")
	switch field := reasoningField(text); {
	case says("thought_signature", "thought signature", "thoughtsignature"):
		return learnSignatures(missing, s, q, now)
	case field == fieldDetails && missing: // nothing can be made up for them
		return nothing
	case field != "" && missing && s.calls:
		if q.needs == field && !q.noReasoning {
			return nothing
		}
		q.needs, q.noReasoning = field, false
	case field != "" && !missing && s.reasoning && !q.noReasoning:
		q.needs, q.noReasoning = "", true
	case s.system && !q.noSystem && refusesSystem(says):
		q.noSystem = true
	case s.media && !q.mediaInTool && says("role 'user' after role 'tool'", `role "user" after role "tool"`, "must be followed by assistant", "after tool"):
		q.mediaInTool = true
	case !q.alternate && says("alternate", "alternating", "consecutive", "same role", "roles must"):
		q.alternate, q.mediaInTool = true, s.media || q.mediaInTool
	default:
		return learnFields(e, s, q)
	}
	return ofModel
}

// refusesSystem reports whether a refusal is about the role of the system prompt.
func refusesSystem(says func(...string) bool) bool {
	if says("only user and assistant roles", "developer instruction is not enabled", "system instruction is not enabled") {
		return true
	}
	return says("system role", "role 'system'", `role "system"`, "role: system", "`system`", "support 'system'") &&
		says("support", "allowed", "unknown variant", "invalid", "unexpected", "must be one of")
}

// learnSignatures takes a lesson about the signatures of calls.
func learnSignatures(missing bool, s sent, q *quirks, now *adaption) lesson {
	switch {
	case missing && s.calls && !q.signed:
		q.signed = true
		return ofModel
	case s.signatures && !now.dummies: // they are of another key, or of another server
		q.signed, now.dummies = true, true
		return ofThis
	}
	return nothing
}

// learnFields has the members left out that a refusal names.
func learnFields(e *provider.Error, s sent, q *quirks) lesson {
	name := wire.RefusedField(e, s.fields, q.without)
	if name == "" {
		return nothing
	}
	q.without = append(slices.Clone(q.without), name)
	return ofModel
}

// reasoningField returns the field of a message with reasoning that a refusal names; "" if
// it names none. The word reasoning alone has to be quoted, since models are said not to
// support it.
func reasoningField(text string) string {
	m := reasoningWords().FindStringSubmatch(text)
	switch {
	case m == nil:
		return ""
	case m[1] != "":
		return m[1]
	}
	return fieldReasoning
}

var reasoningWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\b(reasoning_content|reasoning_details)\\b|['\"`.]reasoning['\"`]")
})

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

// learnItems takes a lesson about the items of a history, and about what the request asks the
// Responses API for in addition to the answer.
func learnItems(e *provider.Error, text string, s sent, q *quirks, now *adaption) lesson {
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusTooManyRequests {
		return nothing
	}
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	encrypted := says("encrypted content", "encrypted_content")
	switch {
	case encrypted && !says("could not", "invalid", "decrypt", "verif") && (s.encrypted || s.reasoning) && !q.noEncrypted:
		q.noEncrypted = true
	case s.reasoning && !now.noItems && (encrypted || says("required following item", "required 'reasoning' item", "items are not persisted", "of type 'reasoning'")):
		now.noItems = true // they are of another account or server
		return ofThis
	case s.encrypted && !q.noEncrypted && says("'include'", "include[", "`include`", "field include"):
		q.noEncrypted = true
	case s.summary && !q.noSummary && says("reasoning.summary", "reasoning summar", "'summary'", "parameter: 'reasoning'"):
		q.noSummary = true
	case s.store && !q.noStore && says("'store'", "`store`", "field store", "parameter store"):
		q.noStore = true
	case !q.itemIDs && (missingID().MatchString(text) || says("invalid responses api request")):
		q.itemIDs = true
	case s.media && !q.mediaApart && refusedOutput().MatchString(text):
		q.mediaApart = true
	default:
		return learnFields(e, s, q)
	}
	return ofModel
}

// missingID matches refusals of items without ids, in OpenAI's form and in pydantic's.
var missingID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(missing|required)[^.]{0,40}\binput(\[\d+\]|\.\d+)\S{0,60}\.id\b|\binput(\[\d+\]|\.\d+)\S{0,60}\.id\b[^a-z]{0,9}(field required|is required|missing)`)
})

// refusedOutput matches refusals of a result that is not a plain text.
var refusedOutput = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\boutput\b.{0,60}(string|text)|(string|input text).{0,60}\boutput\b`)
})

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

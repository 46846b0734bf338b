package openai

import (
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// learnShape takes a lesson about the shape of the history from a refusal: about reasoning,
// members that only the provider understands, and the order of roles. text is the message
// in lower case. Templates that cannot render a history fail with status 500, or within the
// stream.
func learnShape(e *provider.Error, text string, s chatcompletions.Sent, q *chatcompletions.Quirks, now *chatcompletions.Adaption) chatcompletions.Lesson {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return chatcompletions.Nothing
	}
	says := wire.Mentions(text)
	missing := says("must be passed", "must be provided", "must be included", "missing", "required", "is needed", "must have", "must contain")
	switch field := reasoningField(text); {
	case says("thought_signature", "thought signature", "thoughtsignature"):
		return learnSignatures(missing, s, q, now)
	case field == chatcompletions.FieldDetails && missing: // chatcompletions.Nothing can be made up for them
		return chatcompletions.Nothing
	case field != "" && missing && s.Calls:
		if q.Needs == field && !q.NoReasoning {
			return chatcompletions.Nothing
		}
		q.Needs, q.NoReasoning = field, false
	case field != "" && !missing && s.Reasoning && !q.NoReasoning:
		q.Needs, q.NoReasoning = "", true
	case s.System && !q.NoSystem && refusesSystem(says):
		q.NoSystem = true
	case s.Media && !q.MediaInTool && says("role 'user' after role 'tool'", `role "user" after role "tool"`, "must be followed by assistant", "after tool"):
		q.MediaInTool = true
	case !q.Alternate && says("alternate", "alternating", "consecutive", "same role", "roles must"):
		q.Alternate, q.MediaInTool = true, s.Media || q.MediaInTool
	default:
		return learnFields(e, s, q)
	}
	return chatcompletions.OfModel
}

// learnItems takes a lesson about the items of a history, and about what the request asks the
// Responses API for in addition to the answer.
func learnItems(e *provider.Error, text string, s chatcompletions.Sent, q *chatcompletions.Quirks, now *chatcompletions.Adaption) chatcompletions.Lesson {
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusTooManyRequests {
		return chatcompletions.Nothing
	}
	says := wire.Mentions(text)
	encrypted := says("encrypted content", "encrypted_content")
	switch {
	case encrypted && !says("could not", "invalid", "decrypt", "verif") && (s.Encrypted || s.Reasoning) && !q.NoEncrypted:
		q.NoEncrypted = true
	case s.Reasoning && !now.NoItems && (encrypted || says("required following item", "required 'reasoning' item", "items are not persisted", "of type 'reasoning'")):
		now.NoItems = true // they are of another account or server
		return chatcompletions.OfThis
	case s.Encrypted && !q.NoEncrypted && says("'include'", "include[", "`include`", "field include"):
		q.NoEncrypted = true
	case s.Summary && !q.NoSummary && says("reasoning.summary", "reasoning summar", "'summary'", "parameter: 'reasoning'"):
		q.NoSummary = true
	case s.Store && !q.NoStore && says("'store'", "`store`", "field store", "parameter store"):
		q.NoStore = true
	case !q.ItemIDs && (missingID().MatchString(text) || says("invalid responses api request")):
		q.ItemIDs = true
	case s.Media && !q.MediaApart && refusedOutput().MatchString(text):
		q.MediaApart = true
	default:
		return learnFields(e, s, q)
	}
	return chatcompletions.OfModel
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
func learnSignatures(missing bool, s chatcompletions.Sent, q *chatcompletions.Quirks, now *chatcompletions.Adaption) chatcompletions.Lesson {
	switch {
	case missing && s.Calls && !q.Signed:
		q.Signed = true
		return chatcompletions.OfModel
	case s.Signatures && !now.Dummies: // they are of another key, or of another server
		q.Signed, now.Dummies = true, true
		return chatcompletions.OfThis
	}
	return chatcompletions.Nothing
}

// learnFields has the members left out that a refusal names.
func learnFields(e *provider.Error, s chatcompletions.Sent, q *chatcompletions.Quirks) chatcompletions.Lesson {
	name := wire.RefusedField(e, s.Fields, q.Without)
	if name == "" {
		return chatcompletions.Nothing
	}
	q.Without = append(slices.Clone(q.Without), name)
	return chatcompletions.OfModel
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
	return chatcompletions.FieldReasoning
}

var reasoningWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\\b(reasoning_content|reasoning_details)\\b|['\"`.]reasoning['\"`]")
})

package openai

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var _ provider.Learner = (*Provider)(nil)

// The lessons that another process is told.
const (
	lessonNoReasoning = "no-reasoning"
	lessonNeeds       = "needs:" // and the field
	lessonSigned      = "signed-calls"
	lessonAlternate   = "alternate-roles"
	lessonNoSystem    = "no-system-role"
	lessonMediaInTool = "media-in-tool-messages"

	lessonAPI         = "api:"      // and the API
	lessonOnlyAPI     = "only-api:" // and the API
	lessonNoEncrypted = "no-encrypted-reasoning"
	lessonNoSummary   = "no-reasoning-summary"
	lessonNoStore     = "no-store"
	lessonNoStream    = "no-stream"
	lessonItemIDs     = "item-ids"
	lessonMediaApart  = "media-beside-results"
	lessonNoPrefill   = "no-continuation"
)

// Lessons returns what refusals have taught about the shape of a model's history.
func (p *Provider) Lessons(model string) []string {
	q := p.quirks(model)
	var out []string
	for _, l := range []struct {
		holds bool
		name  string
	}{
		{q.noReasoning, lessonNoReasoning}, {q.needs != "", lessonNeeds + q.needs}, {q.signed, lessonSigned},
		{q.alternate, lessonAlternate}, {q.noSystem, lessonNoSystem}, {q.mediaInTool, lessonMediaInTool},
		{q.api != "" && !q.onlyAPI, lessonAPI + q.api}, {q.api != "" && q.onlyAPI, lessonOnlyAPI + q.api},
		{q.noEncrypted, lessonNoEncrypted}, {q.noSummary, lessonNoSummary}, {q.noStore, lessonNoStore}, {q.itemIDs, lessonItemIDs},
		{q.mediaApart, lessonMediaApart}, {q.noStream, lessonNoStream},
		{q.prefill == prefillNone && prefillOf(p.base) != prefillNone, lessonNoPrefill},
	} {
		if l.holds {
			out = append(out, l.name)
		}
	}
	return append(out, wire.WithoutLessons(q.without)...)
}

// Recall takes the lessons that another process has learnt of a model.
func (p *Provider) Recall(model string, lessons []string) {
	if len(lessons) == 0 {
		return
	}
	q := p.quirks(model)
	q.without = wire.WithoutRecalled(q.without, lessons)
	for _, l := range lessons {
		field, needs := strings.CutPrefix(l, lessonNeeds)
		switch {
		case needs && (field == fieldReasoning || field == fieldReasoningContent) && !q.noReasoning:
			q.needs = field
		case l == lessonNoReasoning && q.needs == "":
			q.noReasoning = true
		case l == lessonSigned:
			q.signed = true
		case l == lessonAlternate:
			q.alternate = true
		case l == lessonNoSystem:
			q.noSystem = true
		case l == lessonMediaInTool:
			q.mediaInTool = true
		case l == lessonNoPrefill:
			q.prefill = prefillNone
		default:
			q.recallAPI(l)
		}
	}
	p.learn(model, q)
}

// recallAPI takes a lesson about the API, or about the Responses API.
func (q *quirks) recallAPI(lesson string) {
	kind, api, _ := strings.Cut(lesson, ":")
	switch {
	case (kind+":" == lessonAPI || kind+":" == lessonOnlyAPI) && (api == APIChat || api == APIResponses):
		q.api, q.onlyAPI = api, kind+":" == lessonOnlyAPI
	case lesson == lessonNoEncrypted:
		q.noEncrypted = true
	case lesson == lessonNoSummary:
		q.noSummary = true
	case lesson == lessonNoStore:
		q.noStore = true
	case lesson == lessonNoStream:
		q.noStream = true
	case lesson == lessonItemIDs:
		q.itemIDs = true
	case lesson == lessonMediaApart:
		q.mediaApart = true
	}
}

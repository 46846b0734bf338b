package openai

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
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
	q := p.Quirks(model)
	var out []string
	for _, l := range []struct {
		holds bool
		name  string
	}{
		{q.NoReasoning, lessonNoReasoning}, {q.Needs != "", lessonNeeds + q.Needs}, {q.Signed, lessonSigned},
		{q.Alternate, lessonAlternate}, {q.NoSystem, lessonNoSystem}, {q.MediaInTool, lessonMediaInTool},
		{q.API != "" && !q.OnlyAPI, lessonAPI + q.API}, {q.API != "" && q.OnlyAPI, lessonOnlyAPI + q.API},
		{q.NoEncrypted, lessonNoEncrypted}, {q.NoSummary, lessonNoSummary}, {q.NoStore, lessonNoStore}, {q.ItemIDs, lessonItemIDs},
		{q.MediaApart, lessonMediaApart}, {q.NoStream, lessonNoStream},
		{q.Prefill == chatcompletions.PrefillNone && prefillOf(p.Base()) != chatcompletions.PrefillNone, lessonNoPrefill},
	} {
		if l.holds {
			out = append(out, l.name)
		}
	}
	return append(out, wire.WithoutLessons(q.Without)...)
}

// Recall takes the lessons that another process has learnt of a model.
func (p *Provider) Recall(model string, lessons []string) {
	if len(lessons) == 0 {
		return
	}
	q := p.Quirks(model)
	q.Without = wire.WithoutRecalled(q.Without, lessons)
	for _, l := range lessons {
		field, needs := strings.CutPrefix(l, lessonNeeds)
		switch {
		case needs && (field == chatcompletions.FieldReasoning || field == chatcompletions.FieldReasoningContent) && !q.NoReasoning:
			q.Needs = field
		case l == lessonNoReasoning && q.Needs == "":
			q.NoReasoning = true
		case l == lessonSigned:
			q.Signed = true
		case l == lessonAlternate:
			q.Alternate = true
		case l == lessonNoSystem:
			q.NoSystem = true
		case l == lessonMediaInTool:
			q.MediaInTool = true
		case l == lessonNoPrefill:
			q.Prefill = chatcompletions.PrefillNone
		default:
			recallAPI(&q, l)
		}
	}
	p.Learn(model, q)
}

// recallAPI takes a lesson about the API, or about the Responses API.
func recallAPI(q *chatcompletions.Quirks, lesson string) {
	kind, api, _ := strings.Cut(lesson, ":")
	switch {
	case (kind+":" == lessonAPI || kind+":" == lessonOnlyAPI) && (api == APIChat || api == APIResponses):
		q.API, q.OnlyAPI = api, kind+":" == lessonOnlyAPI
	case lesson == lessonNoEncrypted:
		q.NoEncrypted = true
	case lesson == lessonNoSummary:
		q.NoSummary = true
	case lesson == lessonNoStore:
		q.NoStore = true
	case lesson == lessonNoStream:
		q.NoStream = true
	case lesson == lessonItemIDs:
		q.ItemIDs = true
	case lesson == lessonMediaApart:
		q.MediaApart = true
	}
}

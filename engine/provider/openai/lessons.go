package openai

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var _ provider.Learner = (*Provider)(nil)

// The lessons that are more than a flag.
const (
	lessonNoReasoning = "no-reasoning"
	lessonNeeds       = "needs"    // a colon and the field follow
	lessonAPI         = "api"      // a colon and the API follow
	lessonOnlyAPI     = "only-api" // a colon and the API follow
	lessonNoPrefill   = "no-continuation"
)

// lesson is one that holds or does not.
type lesson struct {
	name  string
	holds *bool
}

func flags(q *chatcompletions.Quirks) []lesson {
	return []lesson{
		{lessonNoReasoning, &q.NoReasoning}, {"signed-calls", &q.Signed}, {"alternate-roles", &q.Alternate},
		{"no-system-role", &q.NoSystem}, {"media-in-tool-messages", &q.MediaInTool},
		{"no-encrypted-reasoning", &q.NoEncrypted}, {"no-reasoning-summary", &q.NoSummary}, {"no-store", &q.NoStore},
		{"item-ids", &q.ItemIDs}, {"media-beside-results", &q.MediaApart}, {"no-stream", &q.NoStream},
	}
}

// Lessons returns what refusals have taught about the shape of a model's history.
func (p *Provider) Lessons(model string) []string {
	q := p.Quirks(model)
	var out []string
	if q.Needs != "" {
		out = append(out, lessonNeeds+":"+q.Needs)
	}
	for _, f := range flags(&q) {
		if *f.holds {
			out = append(out, f.name)
		}
	}
	switch {
	case q.API != "" && q.OnlyAPI:
		out = append(out, lessonOnlyAPI+":"+q.API)
	case q.API != "":
		out = append(out, lessonAPI+":"+q.API)
	}
	if q.Prefill == chatcompletions.PrefillNone && prefillOf(p.Base) != chatcompletions.PrefillNone {
		out = append(out, lessonNoPrefill)
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
		kind, value, _ := strings.Cut(l, ":")
		field := value == chatcompletions.FieldReasoning || value == chatcompletions.FieldReasoningContent
		switch {
		case kind == lessonNeeds && field && !q.NoReasoning:
			q.Needs = value
		case (kind == lessonAPI || kind == lessonOnlyAPI) && (value == APIChat || value == APIResponses):
			q.API, q.OnlyAPI = value, kind == lessonOnlyAPI
		case l == lessonNoReasoning && q.Needs != "": // they exclude each other
		case l == lessonNoPrefill:
			q.Prefill = chatcompletions.PrefillNone
		default:
			for _, f := range flags(&q) {
				*f.holds = *f.holds || l == f.name
			}
		}
	}
	p.Learn(model, q)
}

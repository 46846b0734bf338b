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
		}
	}
	p.learn(model, q)
}

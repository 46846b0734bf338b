package anthropic

import (
	"cmp"
	"slices"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	// minBudget is the least that thinking may be given, and usualBudget what
	// it is given where the answer is long enough.
	minBudget   = 1024
	lowBudget   = 4096
	usualBudget = 16_000
	highBudget  = 32_000
	// summarized has a model show what it thinks; the newer ones else show
	// nothing of it.
	summarized = "summarized"
)

// thinking asks for thinking, or for none, as the model takes it.
func (e *encoder) thinking() {
	want, prefilled := e.req.Think, e.prefilled()
	defer func() {
		t := e.out.Thinking
		e.built.used.mayThink = e.f.think == thinkAlways || t != nil && (t.Type == "adaptive" || t.Type == "enabled")
	}()
	switch {
	case e.now.noThinking:
	case prefilled:
		if want != nil && *want {
			e.noteParam(provider.EffortParam, "reasoning was not asked for: %s can't think and continue an answer", e.req.Model)
		}
	case want == nil && e.f.think >= thinkDefault:
		e.think("adaptive") // as it does anyway, but shown
	case want == nil:
	case *want:
		e.thinkMore()
		e.effort()
	default:
		e.thinkLess()
	}
}

// effort asks for the level of reasoning where the model decides itself how long it
// thinks. For other models the level decides the budget; see budget.
func (e *encoder) effort() {
	if e.req.Effort == "" || e.out.Thinking == nil || e.out.Thinking.Type != "adaptive" {
		return
	}
	if e.q.noEffort {
		e.noteParam(provider.EffortParam, "effort %s was left out: %s takes none", e.req.Effort, e.req.Model)
		return
	}
	level := e.req.Effort.Within(cmp.Or(e.q.levels, effortLevels()))
	e.built.notes = wire.EffortNote(e.built.notes, e.req.Effort, level, e.req.Model)
	e.askEffort(level)
}

// effortLevels are those of output_config.effort.
func effortLevels() provider.Levels {
	return provider.LevelsOf(
		provider.EffortLow, provider.EffortMedium, provider.EffortHigh, provider.EffortXHigh, provider.EffortMax,
	)
}

func (e *encoder) askEffort(level provider.Effort) {
	if e.out.Output == nil {
		e.out.Output = &outputConfig{}
	}
	e.out.Output.Effort = string(level)
	e.built.used.effort, e.built.used.level = true, level
}

// budget is how many tokens a model without levels may think.
func (e *encoder) budget() int {
	if e.req.ThinkTokens > 0 {
		return e.req.ThinkTokens
	}
	switch e.req.Effort {
	case provider.EffortMinimal, provider.EffortLow:
		return lowBudget
	case provider.EffortHigh:
		return highBudget
	case provider.EffortXHigh, provider.EffortMax:
		return e.out.MaxTokens
	}
	return usualBudget
}

func (e *encoder) thinkMore() {
	switch e.f.think {
	case thinkNever:
		e.noteParam(provider.EffortParam, "reasoning was not asked for: %s can't be told to", e.req.Model)
	case thinkBudget, thinkUnknown:
		e.thinkWithin()
	default:
		e.think("adaptive")
	}
}

// thinkWithin asks for thinking with a budget, which must be less than
// max_tokens. A turn that was begun without thinking has to end without it.
func (e *encoder) thinkWithin() {
	budget := min(e.budget(), e.out.MaxTokens/2)
	if e.req.ThinkTokens > 0 {
		budget = min(e.req.ThinkTokens, e.out.MaxTokens-1)
	}
	switch {
	case e.built.used.forced:
		e.noteParam(provider.EffortParam, "reasoning was not asked for: %s can't be made to answer by a schema and think", e.req.Model)
	case e.out.MaxTokens <= minBudget:
		e.noteParam(provider.EffortParam, "reasoning was not asked for: it takes more than the %d tokens that the answer may have", e.out.MaxTokens)
	case e.f.think == thinkBudget && e.resumesUnthought():
	default:
		e.think("enabled")
		e.out.Thinking.Budget = max(budget, minBudget)
	}
}

// resumesUnthought tells whether the request goes on with a turn that was begun
// without thinking, by another model say: its first answer has calls and no
// thoughts.
func (e *encoder) resumesUnthought() bool {
	var first *message
	for i := range e.out.Messages {
		m := &e.out.Messages[i]
		switch {
		case m.Role == roleUser && m.asks():
			first = nil
		case m.Role == roleAssistant && first == nil:
			first = m
		}
	}
	if first == nil || first.Content[0].isThought() {
		return false
	}
	return slices.ContainsFunc(first.Content, func(b block) bool { return b.Type == typeToolUse })
}

// asks tells whether a message is more than the results of tools.
func (m *message) asks() bool {
	return slices.ContainsFunc(m.Content, func(b block) bool { return b.Type != typeToolResult })
}

func (e *encoder) thinkLess() {
	switch e.f.think {
	case thinkUnknown, thinkDefault:
		e.out.Thinking = &thinkConfig{Type: "disabled"}
	case thinkBetween:
		e.out.Thinking = &thinkConfig{Type: "between_tools"}
	case thinkAlways:
		if e.q.noEffort {
			e.noteParam(provider.EffortParam, "reasoning can't be switched off: %s always thinks", e.req.Model)
			break
		}
		e.askEffort(provider.EffortLow)
		e.noteParam(provider.EffortParam, "reasoning can't be switched off: %s was asked for as little as it can", e.req.Model)
	}
	if e.out.Thinking != nil {
		e.built.used.think = e.out.Thinking.Type
	}
}

// think sets the type.
func (e *encoder) think(kind string) {
	e.out.Thinking = &thinkConfig{Type: kind}
	e.built.used.think = kind
	if kind == "adaptive" && !e.q.noDisplay {
		e.out.Thinking.Display = summarized
		e.built.used.display = true
	}
}

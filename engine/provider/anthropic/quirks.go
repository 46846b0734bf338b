package anthropic

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	// maxAdaptions is how often one request is changed and sent again. There
	// are about that many things that an address may refuse.
	maxAdaptions = 12
	// minTokens is the least that max_tokens is lowered to; an answer of fewer
	// is none.
	minTokens = 256
)

// quirks are what was learnt of one model at one address. The zero value is
// what the table of families says.
type quirks struct {
	noCache       bool            // cache_control is refused
	noDisplay     bool            // thinking.display is refused
	noEffort      bool            // output_config.effort is refused
	levels        provider.Levels // those of output_config.effort, where a refusal named them
	noTemperature bool
	noFormat      bool     // output_config.format is refused
	noForced      bool     // naming a tool is refused
	declare       bool     // calls in the history need their tools declared
	without       []string // members of calls that are refused
	refused       []string // names of parameters that are refused
	thinks        bool     // think overrides the table
	think         thinking
	tried         int // ways of thinking that were refused, a bit each
	tokens        int // what max_tokens may be at most, where it was too much
}

// correct changes what is known of a model's family by what was learnt.
func (q quirks) correct(f *family) {
	if q.noTemperature {
		f.takes &^= warm
	}
	if q.noFormat {
		f.takes &^= native
	}
	if q.noForced {
		f.takes &^= forced
	}
	if q.thinks {
		f.think = q.think
	}
	if q.tokens > 0 {
		f.tokens = min(f.tokens, q.tokens)
	}
}

// adaption is how one request differs from others of its model.
type adaption struct {
	noThoughts    bool // blocks of thinking are left out
	noThinking    bool
	schemaRefused bool              // this schema is too much for output_config.format
	tokens        int               // max_tokens that fits beside the question
	refused       map[string]string // tools, with the reason
}

// lesson is what a refusal teaches.
type lesson int

const (
	nothing lesson = iota
	ofModel        // holds for all requests
	ofThis         // holds for this request
)

// learn takes a lesson from a refusal of a request.
func learn(err error, b *built, q *quirks, now *adaption) lesson {
	var e *provider.Error
	if !errors.As(err, &e) || e.Status != 400 && e.Status != 422 {
		return nothing
	}
	text := strings.ToLower(e.Message)
	says := wire.Mentions(text)
	if name := wire.RefusedField(e, b.used.fields, q.without); name != "" {
		q.without = append(slices.Clone(q.without), name)
		return ofModel
	}
	refused := wire.RefusedTool(e.Message, b.tools, b.names, now.refused)
	switch {
	case b.used.think != "" && says("must start with a thinking block"):
		now.noThinking = true
		return ofThis
	case b.used.thoughts && says("signature", "cannot be modified", "thinking block", "redacted_thinking"):
		now.noThoughts = true
		return ofThis
	case b.used.ownTokens > 0 && says("max_tokens"):
		return lowerTokens(e.Message, b.used.ownTokens, q, now)
	case b.used.cache && says("cache_control"):
		q.noCache = true
	case b.used.display && says("display"):
		q.noDisplay = true
	case b.used.temperature && says("temperature"):
		q.noTemperature = true
	case b.used.forced && says("tool_choice"):
		q.noForced = true
	case b.used.effort && says("effort"):
		q.levels = provider.LevelsNamed(e.Message, b.used.level)
		q.noEffort = q.levels == 0
	case b.used.undeclared && says("tools"):
		q.declare = true
	case refused != nil:
		now.refused = refused
		return ofThis
	case b.used.format && says("output_config", "output_format", "schema", "grammar", "structured output"):
		return schemaLesson(says, q, now)
	case b.used.think != "" && says("thinking", "reasoning"):
		return thinkLesson(b.used.think, q)
	default:
		refused := wire.RefusedParam(e.Message, b.given, onWire)
		if refused == "" {
			return nothing
		}
		q.refused = append(slices.Clone(q.refused), refused)
	}
	return ofModel
}

// schemaLesson tells a schema that is too much from a model that takes none.
func schemaLesson(says func(...string) bool, q *quirks, now *adaption) lesson {
	if says("extra inputs", "not support", "unsupported parameter", "unknown", "unrecognized") && !says("too complex", "too many") {
		q.noFormat = true
		return ofModel
	}
	now.schemaRefused = true
	return ofThis
}

// thinkLesson finds another way to ask for thinking, or for none, than the one
// that was refused. Each is tried once.
func thinkLesson(used string, q *quirks) lesson {
	next := thinkNever
	switch used {
	case "adaptive":
		next = thinkBudget
	case "enabled":
		next = thinkAsked
	case "disabled", "between_tools":
		next = thinkAlways
	}
	q.tried |= 1 << kindBit(used)
	if next == thinkBudget && q.tried&(1<<kindBit("enabled")) != 0 || next == thinkAsked && q.tried&(1<<kindBit("adaptive")) != 0 {
		next = thinkNever
	}
	q.thinks, q.think = true, next
	return ofModel
}

func kindBit(kind string) int {
	if kind == "adaptive" {
		return 1
	}
	if kind == "enabled" {
		return 2
	}
	return 3
}

// lowerTokens lowers max_tokens to what the refusal allows.
func lowerTokens(message string, sent int, q *quirks, now *adaption) lesson {
	if strings.Contains(message, "context limit") { // of question and answer together
		n := numbers(message) // question, answer, and what fits
		if len(n) < 3 || n[2]-n[0] < minTokens || n[2]-n[0] >= sent {
			return nothing
		}
		now.tokens = n[2] - n[0]
		return ofThis
	}
	limit := 0
	for _, n := range numbers(message) {
		if n < sent && n > limit {
			limit = n
		}
	}
	if limit < minTokens {
		return nothing
	}
	q.tokens = limit
	return ofModel
}

// numbers gives the numbers in a text that could be counts of tokens.
func numbers(text string) []int {
	var out []int
	for _, s := range regexp.MustCompile(`\d+`).FindAllString(strings.ReplaceAll(text, ",", ""), -1) {
		if n, err := strconv.Atoi(s); err == nil {
			out = append(out, n)
		}
	}
	return out
}

var _ provider.Learner = (*Provider)(nil)

// Lessons returns which members of calls a model's server has refused.
func (p *Provider) Lessons(model string) []string {
	return wire.WithoutLessons(p.quirks(model).without)
}

// Recall takes the lessons that another process has learnt of a model.
func (p *Provider) Recall(model string, lessons []string) {
	if len(lessons) == 0 {
		return
	}
	q := p.quirks(model)
	q.without = wire.WithoutRecalled(q.without, lessons)
	p.learn(model, q)
}

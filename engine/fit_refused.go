package engine

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
)

// refused learns from a refusal that says that the request is too long, and
// tells whether a smaller one is worth a try.
func (t *turn) refused(err error) bool {
	var pe *provider.Error
	if t.eng.o.Compact.Off || !errors.As(err, &pe) || pe.Kind != provider.ContextFull || t.asked == 0 {
		return false
	}
	t.fit.said = pe.Message
	limit := t.model.contextLimit()
	if named := contextNamed(pe.Message); named > 0 && (limit <= 0 || named < limit) {
		t.fit.told, limit = named, named
		t.model.learnt.Context = named
	}
	t.model.ratios.Refused(t.model.ref, t.asked, limit)
	// Whatever that has taught, the next request is smaller.
	if most := t.asked - t.asked/10; t.fit.most == 0 || most < t.fit.most {
		t.fit.most = most
	}
	return true
}

// contextWords are how providers name a model's context in a refusal, the surest
// first.
var contextWords = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`> ([\d,]{3,12})\b`),
		regexp.MustCompile(`(?i)(?:tokens allowed|prompt length|token limit|limit of|must be <=|must have less than|length should be \[\d+,)\D{0,12}?([\d,]{3,12})\b`),
		regexp.MustCompile(`(?i)(?:maximum context length|context limit|context length|context size|context window)\D{0,24}?([\d,]{3,12})\b`),
		regexp.MustCompile(`(?i)\b([\d,]{3,12}) maximum context`),
	}
})

// contextNamed is the context that a refusal names, in tokens; 0 where it names
// none.
func contextNamed(message string) int {
	for _, words := range contextWords() {
		for _, m := range words.FindAllStringSubmatch(message, 4) {
			n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
			if err == nil && n >= leastContext && n <= mostContext {
				return n
			}
		}
	}
	return 0
}

// A number outside of these is no context of a model.
const (
	leastContext = 512
	mostContext  = 1 << 24
)

// longRequest is the estimate from which on the length of a request may be the
// reason of a refusal that has none: the shortest contexts in use are not much
// longer.
const longRequest = 1000

// shortenBlindly prepares a shorter form of a long conversation that was refused
// without a usable reason, and reports whether there is one to try. It does so
// once a turn: some servers refuse a request that is too long so.
func (t *turn) shortenBlindly(err error) bool {
	if t.eng.o.Compact.Off || !t.refusedBlindly(err) || t.fit.blindAt > 0 || t.asked < longRequest ||
		len(t.path) == t.fit.begin && t.red.Step == 0 {
		return false
	}
	t.fit.blind, t.fit.blindAt, t.fit.most = err, t.asked, t.asked/2
	return true
}

// refusedBlindly reports whether an error is a refusal without a usable reason.
func (t *turn) refusedBlindly(err error) bool {
	var pe *provider.Error
	if !errors.As(err, &pe) || !pe.NoReason || pe.Kind != provider.Rejected && pe.Kind != provider.Overloaded {
		return false
	}
	switch pe.Status {
	case 400, 413, 422, 500:
		return true
	}
	return false
}

// shortest accepts the least length that a conversation can be brought down to,
// where that is noticeably shorter than the request that was refused.
func (t *turn) shortest(tokens int) bool {
	if t.fit.blind == nil || tokens <= t.fit.most || tokens > t.fit.blindAt-t.fit.blindAt/10 {
		return false
	}
	t.fit.most = tokens
	return true
}

// refusedTwice is the end of a turn whose request was refused without a reason
// also in its shorter form.
func (t *turn) refusedTwice(err error) error {
	if t.fit.blind == nil || !t.refusedBlindly(err) {
		return err
	}
	f := fault.New(fault.Context, t.model.ref+" refused the conversation without a reason, also after older messages were summed up",
		fault.Try(fault.OtherModel).That("with another model"), fault.Try(fault.NewChat).That("begins a new chat"))
	f.Err, f.Detail = err, []string{fault.FirstLine(err)}
	return f
}

package script

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// moment is what a request says about its place in a conversation.
type moment struct {
	question string // the text of the last user message
	step     int    // the assistant messages after it
	answers  int    // the assistant messages in all
	req      *provider.Request
}

// said is all that the request says: what every message of it has, in order.
func (m moment) said() string {
	texts := make([]string, len(m.req.Messages))
	for i := range m.req.Messages {
		texts[i] = textOf(&m.req.Messages[i])
	}
	return strings.Join(texts, "\n")
}

// told is a hash of who was asked, by the system prompt, and given one of all
// that the request says. Agents that answer together ask with one question and
// with as many answers; these tell them apart.
func (m moment) told() string  { return hashOf(m.req.System) }
func (m moment) given() string { return hashOf(m.said()) }

func momentOf(req *provider.Request) moment {
	m := moment{req: req}
	for i := range req.Messages {
		switch msg := &req.Messages[i]; msg.Role {
		case provider.Assistant:
			m.answers++
			m.step++
		case provider.User:
			m.step = 0
			m.question = textOf(msg)
		}
	}
	return m
}

// textOf is the text of a message, results of tools included.
func textOf(m *provider.Message) string {
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Kind == provider.TextPart:
			texts = append(texts, p.Text)
		case p.Kind == provider.ToolResultPart && p.Result != nil:
			texts = append(texts, p.Result.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// hashOf is what a recording keeps of a question: enough to tell the questions
// of one file apart, and too little to tell what was asked.
func hashOf(question string) string {
	sum := sha256.Sum256([]byte(question))
	return hex.EncodeToString(sum[:4])
}

// choose finds the response to a request, as the package's page says; nil
// where there is none.
func (s *script) choose(m moment) *response {
	if r := s.replayed(m); r != nil {
		return r
	}
	for _, r := range s.written {
		if r.holds(m) {
			return r
		}
	}
	return nil
}

// replayed is the recorded response that fits a request best, the last of
// those that fit as well.
func (s *script) replayed(m moment) *response {
	if len(s.recorded) == 0 {
		return nil
	}
	asked, told, given := hashOf(m.question), m.told(), m.given()
	var best *response
	most := -1
	for _, r := range slices.Backward(s.recorded) {
		if r.at != m.answers {
			continue
		}
		fits := 0
		for i, same := range []bool{r.asked == asked, r.told == told, r.told == told && r.given == given} {
			if same {
				fits += 1 << i
			}
		}
		if fits > most {
			best, most = r, fits
		}
	}
	return best
}

// holds tells whether the condition of a written response holds.
func (r *response) holds(m moment) bool {
	if r.order != noPlace {
		return r.order == m.answers
	}
	return (r.step == anyStep || r.step == m.step) &&
		(r.when == nil || r.when.MatchString(m.question)) &&
		(r.system == nil || r.system.MatchString(m.req.System)) &&
		(r.seen == nil || r.seen.MatchString(m.said()))
}

// missing says which response was asked for where there is none.
func (s *script) missing(m moment) string {
	msg := fmt.Sprintf("%s has no response for step %d of the question %s (the request has %s so far)",
		clean(s.file), m.step, shown(m.question), answers(m.answers))
	if n := len(s.recorded); n > 0 {
		highest := 0
		for _, r := range s.recorded {
			highest = max(highest, r.at)
		}
		msg += fmt.Sprintf("; its last recorded one answers a request with %d", highest)
	}
	return msg
}

func answers(n int) string {
	if n == 1 {
		return "1 answer"
	}
	return fmt.Sprintf("%d answers", n)
}

// expectation is what a response expects of the request that it answers, so
// that a script is a test of what was asked.
type expectation struct {
	system []string // parts of the system prompt
	last   []string // parts of the last message's text
	tools  []string // parts of the name of some tool
	must   string   // the tool that has to be called; empty expects nothing
	params provider.Params
	// further are the other parameters, by their names in [provider.Sampling] and
	// [provider.Hints].
	further map[string]json.RawMessage
}

// unmet says what a request lacks, "" where it lacks nothing.
func (e *expectation) unmet(req *provider.Request) string {
	var lacks []string
	for _, part := range e.system {
		if !strings.Contains(req.System, part) {
			lacks = append(lacks, "the system prompt doesn't contain "+shown(part))
		}
	}
	last := ""
	if n := len(req.Messages); n > 0 {
		last = textOf(&req.Messages[n-1])
	}
	for _, part := range e.last {
		if !strings.Contains(last, part) {
			lacks = append(lacks, "the last message doesn't contain "+shown(part)+", it begins "+shown(last))
		}
	}
	for _, part := range e.tools {
		if !offers(req, part) {
			lacks = append(lacks, "no tool's name contains "+shown(part))
		}
	}
	asked := provider.Params{Effort: req.Effort, Temperature: req.Temperature, MaxTokens: req.MaxTokens}
	for _, name := range provider.ParamNames() {
		if want, got := e.params.Text(name), asked.Text(name); want != "" && got != want {
			lacks = append(lacks, name+" is "+shown(got)+", not "+want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.further)) {
		if got := furtherOf(req)[name]; !sameJSON(got, e.further[name]) {
			lacks = append(lacks, name+" is "+cmp.Or(shorten(string(got), maxShown), "not given")+", not "+shorten(string(e.further[name]), maxShown))
		}
	}
	if e.must != "" && req.MustCall != e.must {
		lacks = append(lacks, "the tool that has to be called is "+shown(req.MustCall)+", not "+shown(e.must))
	}
	return strings.Join(lacks, "; ")
}

func offers(req *provider.Request, part string) bool {
	for _, tool := range req.Tools {
		if strings.Contains(tool.Name, part) {
			return true
		}
	}
	return false
}

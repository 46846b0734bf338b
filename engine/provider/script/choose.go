package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
)

// moment is what a request says about its place in a conversation.
type moment struct {
	question string // the text of the last user message
	step     int    // the assistant messages after it
	answers  int    // the assistant messages in all
}

func momentOf(req *provider.Request) moment {
	var m moment
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
	var last *response
	hash := ""
	if len(s.recorded) > 0 {
		hash = hashOf(m.question)
	}
	for i := len(s.recorded) - 1; i >= 0; i-- {
		r := s.recorded[i]
		if r.at != m.answers {
			continue
		}
		if r.asked == hash {
			return r
		}
		if last == nil {
			last = r
		}
	}
	if last != nil {
		return last
	}
	for _, r := range s.written {
		if r.holds(m) {
			return r
		}
	}
	return nil
}

// holds tells whether the condition of a written response holds.
func (r *response) holds(m moment) bool {
	if r.order != noPlace {
		return r.order == m.answers
	}
	return (r.step == anyStep || r.step == m.step) && (r.when == nil || r.when.MatchString(m.question))
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

package asking

import (
	"crypto/subtle"
	"encoding/json"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// MaxReason bounds what a user tells the model with an answer, in bytes.
	MaxReason = 8 << 10
	// maxRule is the longest rule, in bytes, that a choice shows whole.
	maxRule = 1000
)

// Rule returns the rule that an answer can make, as its choice shows it. It is empty where
// no rule can be made: for a call that is not shown whole, and for a rule that is too long.
func Rule(rule string, whole bool) string {
	if rule = consent.Line(rule); !whole || len(rule) > maxRule {
		return ""
	}
	return rule
}

// Deny returns the answer that denies a call, or declines a form. reason is for the model.
func Deny(useID, reason string) engine.Confirmation {
	return engine.Confirmation{ToolUseID: useID, Decision: event.Deny, Reason: reason}
}

// Only returns the answer that applies the named files of a review and discards the others.
func Only(useID string, paths []string) engine.Confirmation {
	if len(paths) == 0 {
		return Deny(useID, "")
	}
	return engine.Confirmation{ToolUseID: useID, Decision: event.Allow, Only: paths}
}

// Filled returns the answer that fills in a form. It declines with a reason where the content
// does not fit: the client has shown another form.
func Filled(ask *event.ConfirmRequest, content json.RawMessage, reason string) engine.Confirmation {
	if _, problems := ask.Form.Fill(content); len(problems) > 0 {
		return Deny(ask.ToolUseID, reason)
	}
	return engine.Confirmation{ToolUseID: ask.ToolUseID, Decision: event.Allow, Content: content}
}

// FormHead returns what a form asks, in the name of its server.
func FormHead(f *event.Form) string {
	return "The MCP server " + consent.Line(f.Server) + " asks: " + consent.Text(f.Message)
}

// PromptLines returns what a model is to be asked for a server, part by part.
func PromptLines(p *event.FormPrompt) []string {
	lines := []string{"Model: " + consent.Line(p.Model)}
	if p.System != "" {
		lines = append(lines, "System: "+consent.Text(p.System))
	}
	for _, m := range p.Messages {
		lines = append(lines, consent.Line(m.Role)+": "+consent.Text(m.Text))
	}
	return lines
}

// Answer is a client's answer to a question that Put keeps.
type Answer struct {
	engine.Confirmation
	// Nonce has to be the question's where Shown is set: the client's format has a place
	// for it.
	Nonce string
	Shown bool
}

// Take takes the answers of one request, all or none. The first answer to a question counts;
// for a later one the error reports the first. by is who answers, and version the revision
// that a tool has now. last is the last event that asked. The caller delivers the answers.
func (q *Questions) Take(by string, answers []Answer, version func(toolID string) string) (last event.Seq, err error) {
	asked, versions := make([]*Question, len(answers)), make([]string, len(answers))
	for i, a := range answers {
		asked[i] = q.question(a.ToolUseID)
		if asked[i] == nil {
			return 0, Unknown(q.o.Turn)
		}
	}
	for i, a := range answers {
		if _, err := a.Fit(&asked[i].Ask); err != nil {
			return 0, err // and the question stays
		}
		if a.Decision.Allows() {
			versions[i] = version(asked[i].Ask.ToolID) // outside of the lock: it reads the store
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, a := range answers {
		asked[i] = q.all[a.ToolUseID] // End may have replaced it
		if err := asked[i].accepts(a, versions[i]); err != nil {
			return 0, err
		}
	}
	for i, a := range answers {
		q.settle(asked[i], a.Decision, by)
		last = max(last, asked[i].Seq)
	}
	return last, nil
}

func (q *Questions) question(useID string) *Question {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.all[useID]
}

// Unknown is the error of an answer to what a turn has not asked.
func Unknown(turn store.TurnID) error {
	return fault.New(fault.NotFound, "turn "+string(turn)+" asks about no such call")
}

// accepts returns why an answer can't be taken. version is the tool's now.
func (a *Question) accepts(answer Answer, version string) error {
	switch {
	case answer.Shown && subtle.ConstantTimeCompare([]byte(a.Nonce), []byte(answer.Nonce)) != 1:
		return fault.New(fault.Usage, "the nonce is not that of this call")
	case a.settled != nil:
		return a.late()
	case answer.Decision.Allows() && version != a.Version:
		return fault.New(fault.Busy, "the toolset was changed since the call was shown; it can only be denied")
	}
	return nil
}

// late is the error of an answer that comes after another one.
func (a *Question) late() error {
	done := "denied"
	if a.settled.decision.Allows() {
		done = "allowed"
	}
	f := fault.New(fault.Busy, "the call of "+sanitize.Line(a.Ask.Tool)+" was "+done+" already, by "+a.settled.by)
	f.Detail = []string{
		"decision " + string(a.settled.decision), "by " + a.settled.by, "at " + a.settled.at.UTC().Format(time.RFC3339),
	}
	return f
}

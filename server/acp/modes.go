package acp

import (
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// The modes of a session are those of approvals, and plan mode. They are an option, too:
// an editor that supports options shows no modes.
const approvalsOption = "approvals"

// planMode is the id of plan mode, in which calls can only read.
const planMode = "plan"

// allModes are the modes in the order in which editors list them.
func allModes() []mode {
	return []mode{
		{string(permission.Calls), "Ask", "Ask before each call that no rule allows"},
		{string(permission.Edits), "Accept edits", "Let the builtin tools change files of the folder, and ask about other calls"},
		{planMode, "Plan", "Only read, and answer with a plan; any other mode leaves plan mode"},
		{string(permission.Changes), "Review changes", "Run contained commands first, and ask about the changes that they made"},
		{string(permission.AskAll), "Ask about every call", "Ask before every call, also where a rule allows it"},
	}
}

// modes are those of approvals, with the one that the next prompt has.
func (a *agent) modes(s *session) *modeState {
	c := s.choice()
	out := &modeState{Current: planMode, Available: allModes()}
	if !c.plan {
		out.Current = string(a.eng.Mode(chat.Chat{Approvals: c.approvals}))
	}
	return out
}

// modeOption is the modes as an option.
func (a *agent) modeOption(s *session) configOption {
	modes := a.modes(s)
	out := configOption{ID: approvalsOption, Name: "Approvals", Category: "mode", Type: "select", Current: modes.Current}
	for _, m := range modes.Available {
		out.Options = append(out.Options, configChoice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	return out
}

// chooseMode takes a mode for the prompts that follow, which the chat keeps. Plan mode leaves
// the mode of approvals as it is, so that it holds again after the plan.
func (a *agent) chooseMode(s *session, id string) error {
	var ids []string
	for _, m := range allModes() {
		if m.ID == id {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.modeChosen, s.plan = true, id == planMode
			if id != planMode {
				s.approvals = permission.Mode(id)
			}
			return nil
		}
		ids = append(ids, m.ID)
	}
	if id == "" {
		return lacks("modeId")
	}
	return &rpcError{Code: codeParams, Message: "there is no mode " + sanitize.Cut(sanitize.Line(id), maxShownName) + "; there are " + strings.Join(ids, ", ")}
}

// putMode gives a turn the mode of its session.
func (c choice) putMode(req *engine.TurnRequest) {
	if c.modeChosen {
		req.Policy.Approvals, req.Plan, req.KeepMode = c.approvals, &c.plan, true
	}
}

// modeCommand shows or chooses the mode.
func (a *agent) modeCommand(r *request, s *session, args string) (string, error) {
	if args != "" {
		if err := a.chooseMode(s, args); err != nil {
			return a.reply(r, s, err.Error()+".")
		}
		a.sayMode(s)
	}
	modes := a.modes(s)
	text := "The mode of approvals is " + modes.Current + "."
	if args == "" {
		for _, m := range modes.Available {
			text += "\n- `/approvals " + m.ID + "`  " + m.Description
		}
	}
	return a.reply(r, s, text)
}

// sayMode tells the editor of a mode that it has not chosen itself.
func (a *agent) sayMode(s *session) {
	a.update(s, update{Kind: "current_mode_update", ModeID: a.modes(s).Current})
	a.sayOptions(s)
}

// acceptCommand leaves plan mode and has the model carry its plan out, in the mode before.
func (a *agent) acceptCommand(r *request, s *session, args string) (string, error) {
	s.mu.Lock()
	planned := s.plan
	if planned {
		s.plan, s.modeChosen = false, true
	}
	s.mu.Unlock()
	if !planned {
		return a.reply(r, s, "Plan mode is off, so there is no plan to accept. `/approvals plan` begins it.")
	}
	a.sayMode(s)
	return a.ask(r, s, []contentBlock{textBlock(strings.TrimSpace(engine.AcceptPlan + " " + args))})
}

package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/suggest"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// planMode is what the status line and the cycle of Shift-Tab call plan mode.
const planMode = "plan"

// modeCycle returns the modes in the order in which Shift-Tab goes through them.
func modeCycle() []string {
	return []string{string(permission.Calls), string(permission.Edits), planMode, string(permission.Changes), string(permission.AskAll)}
}

// modeState is how calls of the next turn are decided.
type modeState struct {
	approvals permission.Mode
	plan      bool
}

// name is what the mode is called.
func (m modeState) name() string {
	if m.plan {
		return planMode
	}
	return string(m.approvals)
}

// with returns the mode after a choice.
func (m modeState) with(c store.ModeChange) modeState {
	if c.Approvals != nil {
		m.approvals = *c.Approvals
	}
	if c.Plan != nil {
		m.plan = *c.Plan
	}
	return m
}

// modeOf returns the choice of a mode by its name. Plan mode leaves the approvals as they
// are, so that they hold again after it.
func modeOf(name string) store.ModeChange {
	plan := name == planMode
	if plan {
		return store.ModeChange{Plan: &plan}
	}
	mode := permission.Mode(name)
	return store.ModeChange{Approvals: &mode, Plan: &plan}
}

// heldMode is the mode without what the user has chosen since the last turn.
func (t *talk) heldMode() modeState {
	m := modeState{cmp.Or(t.ask.Approvals, t.eng.Mode(t.chat)), t.chat.Plan}
	if t.ask.Plan != nil {
		m.plan = *t.ask.Plan
	}
	return m
}

// modeNow is the mode of the next turn.
func (t *talk) modeNow() modeState { return t.heldMode().with(t.chosenMode()) }

// chosenMode is what the user has chosen and no turn was begun with.
func (t *talk) chosenMode() store.ModeChange {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chosen
}

// chooseMode sets what the next turn is begun with, and the chat keeps.
func (t *talk) chooseMode(c store.ModeChange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chosen = c
}

// nextMode is Shift-Tab: the choice of the mode that follows the one that is shown.
func (p *page) nextMode() {
	all := modeCycle()
	at := slices.Index(all, p.held.with(p.chosenMode()).name())
	p.chooseMode(modeOf(all[(at+1)%len(all)]))
}

// modeLabel returns the text that shows the mode of the next turn, given the mode without
// what was chosen since the last one. It is empty for the usual mode, unless that was chosen.
func (t *talk) modeLabel(held modeState) string {
	chosen := t.chosenMode()
	m := held.with(chosen)
	switch {
	case m.plan:
		return "plan mode"
	case m.approvals != permission.Calls || chosen != (store.ModeChange{}):
		return "approvals: " + string(m.approvals)
	}
	return ""
}

// putMode gives a turn what the user has chosen, and reports what that is.
func (t *talk) putMode(req *engine.TurnRequest) store.ModeChange {
	c := t.chosenMode()
	if c == (store.ModeChange{}) {
		return c
	}
	if req.KeepMode, req.KeepPlan = c.Approvals != nil, c.Plan != nil; req.KeepMode {
		req.Policy.Approvals = *c.Approvals // else it is that of a flag, which is not kept
	}
	if c.Plan != nil {
		req.Plan = c.Plan
	}
	return c
}

// modeKept notes that the chat has what was chosen, which takes the place of the flags.
func (t *talk) modeKept(c store.ModeChange) {
	if c.Approvals != nil {
		t.ask.Approvals = ""
	}
	if c.Plan != nil {
		t.ask.Plan = nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.chosen == c { // else the user has chosen again meanwhile
		t.chosen = store.ModeChange{}
	}
}

// saveMode stores the chosen mode with the chat. Before a chat's first turn there is no chat,
// and that turn stores it.
func (t *talk) saveMode(ctx context.Context) error {
	c := t.chosenMode()
	if t.chat.ID == "" || c == (store.ModeChange{}) {
		return nil
	}
	chat, err := t.eng.SetMode(ctx, store.ChatRef{ID: t.chat.ID}, c)
	if err != nil {
		return err
	}
	t.chat.Approvals, t.chat.Plan = chat.Approvals, chat.Plan
	t.modeKept(c)
	return nil
}

// saveAtEnd bounds how long leaving waits until a choice is stored: another command may have
// the store.
const saveAtEnd = 5 * time.Second

// saveModeAtEnd is saveMode for a page that closes, also after a signal.
func (p *page) saveModeAtEnd() error {
	ctx, cancel := context.WithTimeout(context.Background(), saveAtEnd)
	defer cancel()
	return p.saveMode(ctx)
}

// modeAbout describes a mode in a line.
func modeAbout(m permission.Mode) string {
	switch m {
	case permission.Changes:
		return "run contained commands first, and ask about their changes"
	case permission.Edits:
		return "let the builtin tools change files of the workspace, and ask about the rest"
	case permission.AskAll:
		return "ask before every call"
	}
	return "ask before each call that no rule allows"
}

// defaultMode is the name of the mode that the configuration sets.
const defaultMode = "default"

func (t *talk) doApprovals(ctx context.Context, arg string) error {
	if arg == "" {
		now := t.modeNow()
		for _, m := range permission.Modes() {
			mark := "  "
			if m == now.approvals {
				mark = "* "
			}
			t.in.Streams.Out.Printf("%s%-8s  %s\n", mark, m, t.in.Streams.Out.Style().Dim(modeAbout(m)))
		}
		if now.plan {
			t.say("plan mode is on; /plan off leaves it")
		}
		return nil
	}
	off := false
	c := store.ModeChange{Plan: &off}
	if arg == defaultMode {
		c.Approvals = new(permission.Mode)
	} else {
		mode, err := permission.ParseMode(arg)
		if err != nil {
			return cmdline.Usagef("/approvals", "%s, or %s", err.Error(), defaultMode)
		}
		c.Approvals = &mode
	}
	if err := t.setMode(ctx, c); err != nil {
		return err
	}
	m := t.modeNow().approvals
	t.say(fmt.Sprintf("approvals: %s: %s", m, modeAbout(m)))
	return nil
}

// setMode chooses a mode, and stores it with the chat if there is one.
func (t *talk) setMode(ctx context.Context, c store.ModeChange) error {
	if c.Approvals != nil && *c.Approvals == "" && t.chat.ID == "" {
		t.ask.Approvals, c.Approvals = "", nil // the chat that begins has none of its own
	}
	t.chooseMode(c)
	return t.saveMode(ctx)
}

func (t *talk) doPlan(ctx context.Context, arg string) error {
	verb, words, _ := strings.Cut(arg, " ")
	switch on := verb == ""; {
	case verb == "accept":
		return t.acceptPlan(ctx, strings.TrimSpace(words))
	case on, verb == "off" && words == "":
		if err := t.setMode(ctx, store.ModeChange{Plan: &on}); err != nil {
			return err
		}
		if on {
			t.say("plan mode: the model can only read, and answers with a plan; /plan accept carries it out, /plan off leaves plan mode")
			return nil
		}
		t.say("plan mode is off; approvals: " + string(t.modeNow().approvals))
		return nil
	}
	return cmdline.Usagef("/plan", "/plan begins plan mode, /plan accept [WORDS] carries the plan out, and /plan off leaves plan mode")
}

// acceptPlan leaves plan mode and has the model carry its plan out, in the mode before.
func (t *talk) acceptPlan(ctx context.Context, words string) error {
	if !t.modeNow().plan {
		return cmdline.Usagef("/plan", "plan mode is off, so there is no plan to accept")
	}
	off := false
	t.chooseMode(store.ModeChange{Plan: &off})
	text := strings.TrimSpace(engine.AcceptPlan + " " + term.CleanText(words))
	t.asked = text
	return t.runTurn(ctx, running{parts: []provider.Part{{Kind: provider.TextPart, Text: text}}, title: text})
}

// modesToName are the modes, for the menu.
func modesToName() (out []suggest.Value) {
	for _, m := range permission.Modes() {
		out = append(out, suggest.Value{Text: string(m), About: modeAbout(m)})
	}
	return append(out, suggest.Value{Text: defaultMode, About: "the configured mode"})
}

package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/question"
	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/live"
	"github.com/fettle-cli/fettle/commands/usage"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// talk is one run of `fettle chat`: which chat it is, what its next turn is
// asked with, and what there is to look back on. The page and the plain mode
// both drive it.
//
// One job runs at a time, a turn or a command, in a goroutine of its own; what
// the job writes goes to the streams of in. All fields but those under mu belong
// to whoever starts jobs, and to the job while one runs.
type talk struct {
	rt  *workbench.Runtime // with the terminal's own streams
	in  *workbench.Runtime // with the page's streams; in plain mode the same ones
	cfg *config.Config
	eng *engine.Engine
	o   chatOptions
	// program runs the program's other commands, for slash commands.
	program Program
	ask     question.Options // of the next turn

	chat  chat.Chat   // the zero value before its first turn
	at    int         // the place of the question that the next one replaces; 0 is none
	asked string      // what was asked last, for /edit
	log   *follow.Log // of the last turn
	// showing is that of the turn that runs; it is the job's.
	showing *follow.Log
	spent   spending
	leave   bool // a command wants to end the program
	choose  func(ctx context.Context, id store.TurnID, ask event.ConfirmRequest) error
	copied  func(text string) // puts a text into the clipboard; nil where nobody can
	lend    func(do func() error) error
	offers  workspace.Offers // of calls that were cut off
	fill    string           // what a command puts into the line to be edited

	mu     sync.Mutex
	turn   store.TurnID     // that runs
	chosen store.ModeChange // which the next turn is begun with, and the chat keeps
}

// spending sums up what this run of the program has used.
type spending struct {
	turns   int
	usage   *event.Usage
	cost    usage.Cost
	context int   // the model's, as the last response told
	last    int64 // tokens that the last request had
}

func newTalk(rt *workbench.Runtime, cfg *config.Config, eng *engine.Engine, o chatOptions) *talk {
	t := &talk{rt: rt, cfg: cfg, eng: eng, o: o, ask: o.ask, log: &follow.Log{}}
	t.in = t.within(rt.Streams)
	t.lend = func(do func() error) error { return do() }
	return t
}

// within is the runtime of turns and commands, which write to streams. They use
// the engine that there is.
func (t *talk) within(streams *term.Streams) *workbench.Runtime {
	in := *t.rt
	in.Streams, in.Lent = streams, t.eng
	in.Approve = func(ctx context.Context, id store.TurnID, ask event.ConfirmRequest) (bool, error) {
		if t.choose == nil {
			return false, nil
		}
		return true, t.choose(ctx, id, ask)
	}
	return &in
}

// resume finds the chat that goes on.
func (t *talk) resume(ctx context.Context) error {
	if t.ask.Chat == (store.ChatRef{}) {
		return nil
	}
	ref := t.ask.Chat
	if ref.Fork {
		chat, err := t.eng.ForkChat(ctx, store.ChatRef{Last: ref.Last, Number: ref.Number}, 0)
		if err != nil {
			return err
		}
		t.goOn(chat)
		return nil
	}
	chat, err := t.eng.FindChat(ctx, ref)
	if err != nil {
		return err
	}
	t.goOn(chat)
	return nil
}

// goOn makes the next turn one of this chat, with what it was given by flags.
func (t *talk) goOn(chat chat.Chat) {
	t.chat, t.at, t.asked, t.log = chat, 0, "", &follow.Log{}
	t.ask.Chat = store.ChatRef{ID: chat.ID}
	t.ask.HasSystem = t.ask.HasSystem && chat.ID == ""
	if chat.ID == "" {
		t.ask = t.o.ask
		t.ask.Chat = store.ChatRef{}
	}
}

// number is the chat's, or an error that says how there comes to be one.
func (t *talk) number() (string, error) {
	if t.chat.Number == 0 {
		return "", fault.New(fault.NotFound, "this chat has nothing in it yet; ask something first")
	}
	return fmt.Sprint(t.chat.Number), nil
}

// greet shows the chat that goes on: its last question and the answer to it.
func (t *talk) greet(ctx context.Context) error {
	out := t.in.Streams.Out
	style := out.Style()
	if t.chat.ID == "" {
		if out.IsTerminal() {
			show.ShowLabel(out, "fettle chat · "+t.modelName()+" · /help lists the commands")
		}
		return nil
	}
	conv, err := t.eng.Chat(ctx, store.ChatRef{ID: t.chat.ID})
	if err != nil {
		return err
	}
	decided := map[string]chat.PayloadDecision{}
	for _, d := range conv.Decisions {
		decided[d.PayloadID] = d
	}
	title := term.Clean(conv.Chat.Title)
	if w := out.Width(); w > 0 {
		title = term.CutEnd(title, w-1)
	}
	out.Printf("%s\n", style.Bold(title))
	show.ShowLabel(out, fmt.Sprintf("chat %d · %s · %s", t.chat.Number, t.modelName(), term.Count(len(conv.Messages), "message", "messages")))
	from := len(conv.Messages)
	for from > 0 {
		from--
		if conv.Messages[from].Role == provider.User {
			break
		}
	}
	if from > 0 {
		show.ShowLabel(out, fmt.Sprintf("… fettle chats show %d has what was said before", t.chat.Number))
	}
	for _, m := range conv.Messages[from:] {
		out.WriteString("\n")
		if m.Role == provider.User {
			t.asked = textOf(m.Parts)
			t.showAsked(t.asked)
			continue
		}
		t.log.Answer.WriteString(textOf(m.Parts))
		show.ShowMessage(out, m, decided)
	}
	return nil
}

// textOf is what a message says in words.
func textOf(parts []provider.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Kind == provider.TextPart {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// modelName is the model that the next turn asks.
func (t *talk) modelName() string {
	for _, name := range []string{t.ask.Model, t.chat.Model, t.cfg.Model} {
		if name != "" {
			return term.Clean(name)
		}
	}
	return "the first model that is there"
}

// showAsked prints a message of the person's.
func (t *talk) showAsked(text string) {
	out := t.in.Streams.Out
	width := out.Width()
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		rows := []string{line}
		if width > 0 {
			rows = term.Wrap(term.Clean(line), width-3)
		}
		for j, row := range rows {
			mark := "  "
			if i == 0 && j == 0 {
				mark = "› "
			}
			out.Printf("%s%s\n", out.Style().Cyan(mark), out.Style().Bold(row))
		}
	}
}

// running is what a turn is asked with.
type running struct {
	parts []provider.Part
	retry bool
	calls []engine.DirectCall
	title string
}

// runTurn asks and shows the answer. What goes wrong is shown, too; the error
// is only for plain mode's exit status.
func (t *talk) runTurn(ctx context.Context, r running) error {
	silent := *t.in
	silent.Quiet = true // warnings were said when the chat began
	cfg, err := silent.Config(t.ask.Flags())
	if err != nil {
		return err
	}
	t.ask.Prompt = r.title
	req, err := t.ask.Request(t.in, cfg)
	if err != nil {
		return err
	}
	req.Parts, req.Calls = r.parts, r.calls
	if r.retry {
		req.Chat.At = -1
	}
	if t.at != 0 && r.calls == nil {
		req.Chat.At = t.at
	}
	if r.calls != nil {
		req.CanConfirm = true
	}
	req.CanAnswer, req.CanReview = req.CanConfirm, req.CanConfirm
	mode := t.putMode(&req)
	planned := t.modeNow().plan && r.calls == nil
	if err := t.offerCut(ctx, t.in); err != nil {
		return err
	}
	view := follow.NewText(t.in, t.ask.View, t.rt.Prices(cfg))
	view.Log = &follow.Log{Direct: r.calls != nil, Plan: t.planBelow, Diff: t.diffBelow}
	t.showing = view.Log
	view.Status("asking " + t.modelName())
	id, err := t.eng.Start(ctx, req)
	if err != nil {
		view.Clear()
		return err
	}
	t.mu.Lock()
	t.turn = id
	t.mu.Unlock()
	t.modeKept(mode)
	chat, _ := t.eng.TurnChat(id)
	err = follow.Turn(ctx, t.in, t.eng, id, view)
	t.mu.Lock()
	t.turn = ""
	t.mu.Unlock()
	t.log = view.Log
	if r.calls == nil {
		t.at = 0
	}
	if view.Number() > 0 || t.chat.ID != "" || r.calls != nil {
		chat.Model = view.Model()
		t.chat = chat
		t.ask.Chat = store.ChatRef{ID: chat.ID}
		t.ask.System, t.ask.HasSystem, t.ask.Workspace = "", false, ""
	}
	t.spent.add(view, t.rt.Prices(cfg))
	if planned && err == nil {
		t.say("plan mode: /plan accept carries the plan out; what you send else changes it")
	}
	return err
}

// offerCut asks on a terminal what to do with the files of calls that were cut off in the
// chat or in its folder. on has the streams to ask on.
func (t *talk) offerCut(ctx context.Context, on *workbench.Runtime) error {
	if s := t.rt.Streams; !s.In.IsTerminal() || !s.Out.IsTerminal() {
		return nil
	}
	chat := t.now()
	if chat.ID == "" {
		chat.Workspace = t.ask.Workspace
	}
	return t.offers.Ask(ctx, on, t.eng, chat)
}

// stop cancels the turn at once, for a person who doesn't want to wait.
func (t *talk) stop(ctx context.Context) {
	t.mu.Lock()
	id := t.turn
	t.mu.Unlock()
	if id != "" {
		_ = t.eng.Cancel(ctx, id) // one that has ended needs none
	}
}

// add adds what a turn took.
func (s *spending) add(v *follow.Text, prices usage.Prices) {
	s.turns++
	s.usage = s.usage.Add(v.Used)
	if v.Log.Context > 0 {
		s.context = v.Log.Context
	}
	if v.Log.Asked > 0 {
		s.last = v.Log.Asked
	}
	if v.Used != nil {
		s.cost.Add(store.Spent{Model: v.Model(), Turns: 1, Tokens: *v.Used}, prices)
	}
}

// sayFault shows what went wrong with a turn or a command; that somebody
// stopped it is said already.
func (t *talk) sayFault(err error) {
	var said workbench.ExitError
	var f *fault.Fault
	switch {
	case err == nil || errors.As(err, &said) || errors.Is(err, context.Canceled) || errors.Is(err, workbench.ErrSignal):
	case errors.As(err, &f):
		workbench.PrintFault(t.in, hereFault(f))
	default:
		workbench.PrintFault(t.in, &fault.Fault{Code: fault.Failed, Msg: err.Error()})
	}
}

// hereFault leaves out hints that lead back to where one is.
func hereFault(f *fault.Fault) *fault.Fault {
	own := *f
	own.Remedies = slices.DeleteFunc(slices.Clone(f.Remedies), func(r fault.Remedy) bool {
		return strings.HasPrefix(remedy.Line(r), "fettle ask")
	})
	return &own
}

// canDraw tells whether both streams are a terminal that takes a line back.
func (t *talk) canDraw() bool {
	s := t.rt.Streams
	return s.In.IsTerminal() && s.Out.IsTerminal() && s.Err.IsTerminal() && s.Status().Shows() && s.In.File() != nil && live.Here
}

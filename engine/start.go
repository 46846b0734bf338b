package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/internal/schema"
)

// Start begins a turn. It returns once the person's message is accepted, that
// is, durable in the turn's journal; by then the model has been asked. An
// error means that nothing was kept. ctx bounds the start alone: the turn
// lives until it ends, is cancelled, or the Engine is closed.
//
// A chat has one live turn at a time; Start waits for it and says so through
// OnWait.
func (e *Engine) Start(ctx context.Context, req TurnRequest) (store.TurnID, error) {
	ctx, leave, err := e.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	t, conv, err := e.prepare(ctx, req)
	if err == nil {
		err = t.begin(ctx, conv)
		conv.LetOrigin()
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), store.ErrClosed) {
			err = fault.Wrap(fault.Interrupted, "start turn", store.ErrClosed)
		}
		return "", err
	}
	return t.id, nil
}

// begin accepts the turn and lets it run, or takes back what was done for it.
func (t *turn) begin(ctx context.Context, conv *store.OpenChat) error {
	t.beginSpan(ctx)
	err := t.moveFolder(ctx, conv)
	if err == nil {
		err = t.upload(ctx)
	}
	if err == nil {
		err = t.attachDocs(ctx)
	}
	if err == nil {
		t.accept.ManifestID, t.accept.LeftManifestID = workspace.ManifestID(t.states.at), t.states.left
		t.accept.StateUnknown = t.states.suspect
		err = t.eng.accept(ctx, t)
	}
	if err == nil {
		return nil
	}
	// A turn that ran for a moment has done both already.
	err = errors.Join(err, t.moveFolderBack(ctx), t.takeBack(), t.unbindWorkflow(ctx))
	t.unlock()
	t.span.End(failureOf(err))
	return err
}

// prepare checks the request and gathers what the turn needs; it holds the
// chat's lock when it returns without an error.
func (e *Engine) prepare(ctx context.Context, req TurnRequest) (*turn, *store.OpenChat, error) {
	t := &turn{
		eng: e, req: req, useIDs: map[string]bool{}, asking: map[string]*waiting{},
		abandon: make(chan struct{}), since: e.o.Now(),
	}
	t.warnings = e.CheckCutOff(ctx) // before anything runs in a folder again
	for _, w := range t.warnings {
		e.o.Notice(w) // also if the turn does not begin
	}
	index, err := e.ToolsetIndex(ctx)
	if err != nil {
		return nil, nil, err
	}
	t.req.enterByDefault(index)
	if t.box, err = e.ToolboxFor(ctx, index, needOf(&t.req)); err != nil {
		return nil, nil, err
	}
	if err := t.sessionTools(ctx); err != nil {
		return nil, nil, err
	}
	if err := t.checkRequest(ctx); err != nil {
		return nil, nil, err
	}
	conv, err := e.converse(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	t.unlock = conv.Unlock
	if err := t.prepareWith(ctx, conv); err != nil {
		conv.Unlock()
		conv.LetOrigin()
		return nil, nil, err
	}
	return t, conv, nil
}

// prepareWith gathers what the turn needs of its chat.
func (t *turn) prepareWith(ctx context.Context, conv *store.OpenChat) error {
	told := len(t.req.History) > 0
	err := t.giveHistory(conv)
	if err == nil {
		err = t.chooseAgent(ctx, conv)
	}
	if err == nil {
		err = t.keepUnasked(ctx, conv, t.chooseModel(ctx, conv))
	}
	if err != nil {
		return err
	}
	if err := t.checkPrefill(); err != nil {
		return err
	}
	t.path = conv.Path
	if told { // what a chat has kept without a model comes from an answer that was cut off
		t.ownParts(t.path)
	}
	if conv.Summed != nil {
		t.fit.summary = conv.Summed.Summary
	}
	if conv.Again != nil {
		t.req.Parts = conv.Again.Parts
		t.req.InteractionType, t.req.ActionMetadata = conv.Again.InteractionType, conv.Again.ActionMetadata
	}
	t.policy = t.policy.With(t.eng.Granted(conv.Chat.ID))
	t.chooseMode(conv.Chat)
	_ = t.compileRules() // one of them that was stored and cannot be parsed matches nothing
	t.accept = t.acceptanceOf(conv)
	t.id = store.TurnID(t.accept.TurnID)
	if err := t.remember(ctx, conv); err != nil {
		return err
	}
	t.red = chat.NewReducer(t.accept)
	for _, m := range t.path {
		t.reserveIDs(m)
	}
	if err := t.bindWorkflow(ctx); err != nil {
		return err
	}
	t.inherit(conv)
	if dir := t.accept.Chat.Workspace; !conv.IsNew || dir != "" {
		for _, w := range t.eng.CutWarnings(ctx, t.accept.Chat.ID, dir) {
			t.eng.o.Notice(w)
			t.warnings = append(t.warnings, w)
		}
	}
	return nil
}

func (t *turn) checkRequest(ctx context.Context) error {
	if len(t.req.Calls) > 0 && len(t.req.Parts) == 0 {
		t.req.Parts = directParts(t.req.Calls)
	}
	if len(t.req.Parts) == 0 && !t.req.Chat.Beside() {
		return fault.New(fault.Usage, "there is nothing to ask", `fettle ask "why is the sky blue?"`)
	}
	if n := len(t.req.System); n > chat.MaxSystem {
		return fault.New(fault.Usage, fmt.Sprintf("the system prompt has %d bytes; %d are allowed", n, chat.MaxSystem),
			"give the model long texts as files: fettle ask -f FILE …")
	}
	if err := errors.Join(t.checkChat(), t.checkHistory()); err != nil {
		return err
	}
	if err := t.checkMode(); err != nil {
		return err
	}
	t.policy = t.eng.o.Policy.With(t.req.Policy)
	err := t.compileRules()
	if err != nil {
		return fault.Wrap(fault.Usage, "read the rules", err, `fettle ask --allow 'write_file(path=notes/**)' …`)
	}
	if t.req.Schema != nil {
		s, err := schema.Compile(t.req.Schema)
		if err != nil {
			return fault.Wrap(fault.Usage, "--schema", err, `fettle ask --schema '{"type":"object"}' …`)
		}
		t.schema = s
	}
	if err := t.deal(); err != nil {
		return err
	}
	if err = t.chooseTools(); err == nil {
		return nil
	}
	// The message is to name what was meant among all tools.
	if wider, werr := t.widen(ctx); werr != nil || !wider {
		return errors.Join(err, werr)
	}
	return t.chooseTools()
}

// checkChat refuses what no chat can be meant by, and a folder that a new chat
// could not work in: the model would be asked in vain.
func (t *turn) checkChat() error {
	r, ws := t.req.Chat, t.req.Workspace
	switch {
	case r.Last && (r.Number != 0 || r.ID != ""), r.Number != 0 && r.ID != "", r.Number < 0:
		return fault.New(fault.Usage, "the request names more than one chat, or none that can be", "fettle chats list")
	case r.New != "" && !r.IsNew():
		return fault.New(fault.Usage, "the request names a chat and begins another", "fettle chats list")
	case r.IsNew() && (r.Fork || r.Parent != "" || r.Beside()):
		return fault.New(fault.Usage, "a fork or a message to go on from needs the chat it is in", "fettle ask -c --fork …")
	case r.Beside() && (r.Fork || r.Parent != ""), r.Instead != "" && r.At != 0, r.At < -1:
		return fault.New(fault.Usage, "a question that takes the place of another goes on from where that was asked", "fettle ask -c --at 3 …")
	case ws == "" || !r.IsNew() && !r.Fork:
		return nil
	case !filepath.IsAbs(ws):
		return fault.New(fault.Usage, "the workspace "+ws+" is no absolute path", "fettle ask -w DIR …")
	}
	if err := t.eng.CheckWorkspace(ws); err != nil {
		return fault.Wrap(fault.Usage, "-w", err, "fettle ask -w DIR …, with a folder of a project")
	}
	return nil
}

// reserveIDs keeps new calls from taking the id of one in the history.
func (t *turn) reserveIDs(m chat.Message) {
	for _, p := range m.Parts {
		if p.Call != nil {
			t.useIDs[p.Call.ID] = true
		}
	}
}

// acceptanceOf returns the record that begins the turn, and notes when the chat was last used.
func (t *turn) acceptanceOf(conv *store.OpenChat) *chat.Acceptance {
	now := t.eng.o.Now()
	c := conv.Chat
	t.usedBefore = c.UpdatedAt
	c.Model, c.UpdatedAt = cmp.Or(t.base, t.model.ref), now
	if t.req.Agent != "" {
		c.Agent = ""
	}
	if t.entry != nil {
		c.Agent = t.entry.ID
	}
	if t.req.AgentMode != nil {
		c.AgentMode = t.req.AgentMode
	}
	if t.req.System != "" {
		c.System = t.req.System
	}
	if t.req.KeepMode || t.req.KeepPlan {
		t.modeChange().Apply(&c, now)
	}
	if conv.IsNew {
		c.CreatedAt, c.Title = now, chat.FirstTitle(t.req.Title, t.req.Parts)
	}
	a := &chat.Acceptance{
		Version: chat.JournalVersion, TurnID: t.eng.NewID(), Chat: c, NewChat: conv.IsNew, ParentID: conv.Parent,
		UserMessageID: t.eng.NewID(), MessageID: t.eng.NewID(), Parts: t.req.Parts, Model: t.model.ref,
		InteractionType: t.req.InteractionType, ActionMetadata: t.req.ActionMetadata,
		Plan: t.plan, KeepMode: t.req.KeepMode || t.req.KeepPlan, Time: now, PID: os.Getpid(),
	}
	if t.req.app != nil {
		a.Version, a.App, a.MessageID, a.UserMessageID, a.Parts = chat.AppVersion, t.req.app.of.ID, t.req.app.of.MessageID, "", nil
	}
	if conv.Again != nil {
		a.UserMessageID, a.Again = conv.Again.ID, true
	}
	if !conv.IsNew && conv.Parent != c.ActiveLeaf {
		a.Leaf = c.ActiveLeaf
	}
	return a
}

// accept makes the turn durable while the model is asked. Once the turn runs,
// what it holds is let go by its end.
func (e *Engine) accept(ctx context.Context, t *turn) error {
	if err := t.openLog(ctx); err != nil {
		return err
	}
	e.Pause("start:created")
	t.ctx, t.cancel = context.WithCancelCause(e.base)
	e.remember(t)
	published := make(chan error, 1)
	t.syncSoon(func() error {
		err := t.log.Publish()
		if err != nil {
			err = &notAccepted{err}
		}
		published <- err
		return err
	})
	followed := make(chan struct{})
	go func() { // retire, at its end, tells Close
		defer e.retire(t)
		defer close(followed)
		t.run()
	}()
	if err := <-published; err != nil {
		t.cancel(err)
		<-followed
		e.forget(t)
		return fault.Wrap(fault.Store, "keep the question", err, store.RoomHint)
	}
	e.Minted.Drop(t.accept.Chat.ID)
	return nil
}

// notAccepted is the error of a turn whose question could not be kept: it
// leaves nothing behind, however far the model has come meanwhile.
type notAccepted struct{ error }

func (n *notAccepted) Unwrap() error { return n.error }

// openLog gives the turn its numbers and its journal.
func (t *turn) openLog(ctx context.Context) error {
	if t.req.Ephemeral {
		t.log, t.feed = noLog{}, newFeed(feedAll)
		return nil
	}
	n, syncNumbers, err := t.eng.Counter.Next(ctx, t.accept.NewChat)
	if err != nil {
		return store.WaitFault(ctx, "give the chat a number", err)
	}
	t.eng.Pause("start:numbered")
	t.nameLast(n.Turn)
	t.accept.Order, t.accept.Chat.LastTurn = n.Turn, n.Turn
	if t.accept.NewChat {
		t.accept.Chat.Number = n.Chat
	}
	w, err := t.eng.Journals.Create(ctx, string(t.id), t.accept)
	var big *journal.TooBigError
	switch {
	case errors.As(err, &big):
		return errors.Join(fault.New(fault.Usage,
			fmt.Sprintf("the question has %d MB with its files; %d MB can be kept", big.Size>>20, journal.MaxLine>>20),
			"fettle ask --ephemeral …   keeps nothing"), syncNumbers())
	case err != nil:
		return errors.Join(store.WaitFault(ctx, "keep the question", err), syncNumbers())
	}
	t.log, t.feed = &numbered{Writer: w, numbers: sync.OnceValue(syncNumbers)}, newFeed(feedWindow)
	return nil
}

// nameLast adds a warning with the chat that the turn continues, if the request asks for the
// last one and a question that was asked after it is not kept. turn is the turn's number.
func (t *turn) nameLast(turn int64) {
	if c := t.accept.Chat; t.req.Chat.Last && turn > c.LastTurn+1 {
		t.warnings = append(t.warnings, fmt.Sprintf("this continues chat %d (%s): a question that was asked after it is not kept",
			c.Number, sanitize.Shorten(sanitize.Line(c.Title), chat.TitleLength)))
	}
}

// numbered is a journal whose numbers are made durable together with it.
type numbered struct {
	*journal.Writer
	numbers func() error // may be called again
}

// Publish syncs both at once: they are different files, and a disk does two
// syncs in little more than the time of one.
func (n *numbered) Publish() error {
	counted := make(chan error, 1)
	go func() { counted <- n.numbers() }()
	err := n.Writer.Publish()
	return errors.Join(err, <-counted)
}

// noLog keeps nothing: an ephemeral turn's events live in memory alone.
type noLog struct{}

func (noLog) Publish() error              { return nil }
func (noLog) Append(...event.Event) error { return nil }
func (noLog) Sync() error                 { return nil }
func (noLog) SyncTime() time.Duration     { return 0 }
func (noLog) Close() error                { return nil }
func (noLog) Discard() error              { return nil }

// Cancel stops a live turn. The first cancel closes the model's stream and
// gives running tools a moment to end; a second one waits for nothing. The
// turn's stream ends with its cancelled event. A turn that has ended is left
// as it is.
func (e *Engine) Cancel(ctx context.Context, id store.TurnID) error {
	t := e.turn(id)
	if t == nil {
		return e.NotMine(ctx, id)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancels++
	t.cancel(errCancelled)
	if t.cancels == 2 {
		close(t.abandon)
	}
	return nil
}

// SyncTime is how long a turn of this process has spent in file syncs.
func (e *Engine) SyncTime(id store.TurnID) time.Duration {
	if t := e.turn(id); t != nil {
		return t.log.SyncTime()
	}
	return 0
}

// TurnChat is the chat that a turn of this process belongs to, as it was when
// the turn was accepted; it has no number where the turn keeps nothing. UpdatedAt is when
// the chat was used last before the turn; a chat that the turn begins has its own time.
func (e *Engine) TurnChat(id store.TurnID) (chat.Chat, bool) {
	if t := e.turn(id); t != nil {
		chat := t.accept.Chat
		if !t.accept.NewChat {
			chat.UpdatedAt = t.usedBefore
		}
		return chat, true
	}
	return chat.Chat{}, false
}

// TurnBegins is the message after which the answer of a turn of this process stands,
// or its question where that is a new one; empty where it begins its chat.
func (e *Engine) TurnBegins(id store.TurnID) (string, bool) {
	switch t := e.turn(id); {
	case t == nil:
		return "", false
	case t.accept.Again:
		return t.accept.UserMessageID, true
	default:
		return t.accept.ParentID, true
	}
}

// TurnQuestion is what a live turn of this process was asked, which its chat has when
// the turn has ended; false where it asks again what is there.
func (e *Engine) TurnQuestion(id store.TurnID) (chat.Message, bool) {
	t := e.turn(id)
	if t == nil || t.accept.Again || t.gone.Load() {
		return chat.Message{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.accept.Question(), t.accept.Parts != nil
}

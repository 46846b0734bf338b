package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/gitguard"
)

// A call whose process ends with it, and that runs in the full sandbox, is a transaction:
// the process sees the folder through an overlay, and what it writes is collected in a layer.
// After the end the layer lands in the folder. The file tools write to such a layer
// themselves, and need no overlay. The state after the call is the last known one with the
// changes of the layer, so no call reads the folder, and what another program changes
// meanwhile is not taken for the call's. Where no layer can be had, the state is taken
// before and after the call instead.

// callLayer is the layer of a call on its way.
type callLayer struct {
	dir    string
	upper  *toolset.Layer
	unlock func() // lets other processes take it for one that was left
	once   sync.Once
}

// drop removes the layer, after the call's processes have ended.
func (l *callLayer) drop() (err error) {
	l.once.Do(func() {
		err = cas.DropLayer(l.dir)
		l.unlock()
	})
	return err
}

// leave keeps the layer for the user to decide about.
func (l *callLayer) leave() { l.once.Do(l.unlock) }

// layered reports whether a group of calls is one that gets a layer in the folder.
func (t *turn) layered(calls []*call, ws *toolset.Workspace) bool {
	if len(calls) != 1 || calls[0].readOnly() || !t.keepsStates() || !t.states.known() {
		return false
	}
	c := calls[0]
	switch {
	case c.entry.OwnLayer:
		return ws.Editor == nil && t.eng.noLanding(t.ctx, ws) == ""
	case c.entry.OwnProcess:
		return !t.inTerminal(c) && t.eng.noLayers(t.ctx, ws) == "" && !t.eng.runsDirectly(t.accept.Chat.ID, c)
	}
	return false
}

// noLayers returns why processes of calls in a folder get no layers; "" means that they do.
func (e *Engine) noLayers(ctx context.Context, ws *toolset.Workspace) string {
	if e.o.Layers == nil {
		return "there are no sandboxes here"
	}
	if why := e.noLanding(ctx, ws); why != "" {
		return why
	}
	why, err := e.o.Layers(ctx, ws.Path, e.LayersDir())
	if err != nil {
		return fault.FirstLine(err)
	}
	return why
}

// noLanding returns why no layer can land in a folder; "" means that it can.
func (e *Engine) noLanding(ctx context.Context, ws *toolset.Workspace) string {
	if runtime.GOOS != "linux" {
		return "layers need Linux"
	}
	if err := os.MkdirAll(e.LayersDir(), 0o700); err != nil {
		return fault.FirstLine(err)
	}
	other, err := e.Snapshots.Foreign(ctx, workspace.CASWorkspace(ws))
	switch {
	case err != nil:
		return fault.FirstLine(err)
	case other != "":
		return cas.EscapePath(other) + " belongs to another user or group"
	}
	return ""
}

// giveLayer makes the layer of a call. Where that fails the call is to run in the folder
// itself, whose state is taken for that.
func (t *turn) giveLayer(c *call, ws *toolset.Workspace) error {
	l, err := t.eng.newLayer(t.ctx, c.id, t.accept.Chat.ID, ws)
	if err != nil {
		t.eng.o.Notice(sanitize.Line(err.Error()))
		return t.beforeDirect(ws)
	}
	c.layer = l
	t.eng.Pause("layer:made")
	return nil
}

func (e *Engine) newLayer(ctx context.Context, call, chat string, ws *toolset.Workspace) (*callLayer, error) {
	unlock, err := e.Lock(ctx, store.LayerLock(call), nil)
	if err != nil {
		return nil, err
	}
	l := &callLayer{dir: filepath.Join(e.LayersDir(), call), unlock: unlock}
	if _, err := cas.NewLayer(l.dir, workspace.CASWorkspace(ws), cas.LayerMeta{ChatID: chat, CallID: call}); err != nil {
		unlock()
		return nil, err
	}
	l.upper = &toolset.Layer{Upper: filepath.Join(l.dir, "upper"), Work: filepath.Join(l.dir, "work")}
	if info, err := ws.Root.Stat("."); err == nil {
		_ = os.Chmod(l.upper.Upper, info.Mode().Perm()|0o700) // the call sees it as that of the folder
	}
	return l, nil
}

// withoutLayer prepares a call to run in the folder itself, since its overlay could not be
// mounted: nothing has run. It is called by the call's own goroutine.
func (q *caller) withoutLayer(ws *toolset.Workspace) error {
	err := errWithdrawn
	q.run.inTurn(func() {
		t, l := q.t, q.c.layer
		q.c.layer = nil
		if q.c.after != "" {
			t.eng.directNext(t.accept.Chat.ID, q.c)
			err = errors.Join(toolset.Errorf("%s", unlayered), l.drop())
			return
		}
		err = errors.Join(l.drop(), t.beforeDirect(ws))
	})
	return err
}

// beforeDirect prepares the folder for a call that was to have a layer, and has none.
func (t *turn) beforeDirect(ws *toolset.Workspace) error {
	if err := t.stateBefore(ws); err != nil || !ws.Bound || t.guard != nil {
		return err
	}
	return t.enterGuard(t.eng.GuardOf(ws.Path), ws)
}

// afterCall bounds what is done after a call, also in a turn that is cancelled then: a second
// cancel waits for nothing.
func (t *turn) afterCall() (context.Context, func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), workspace.StateTime)
	stop := context.AfterFunc(t.ctx, func() {
		select {
		case <-t.abandon:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() { stop(); cancel() }
}

// landed is the result of a landing.
type landed struct {
	*cas.Landing
	changes  []event.Change
	unlanded []cas.Left
}

// land brings what a call has written into the folder. only selects paths; nil is all of
// them.
func (t *turn) land(ctx context.Context, c *call, ws *toolset.Workspace, only []string) (*landed, error) {
	done, err := t.eng.landLayer(ctx, landing{
		dir: c.layer.dir, ws: ws, at: t.states.at, only: only,
		about: cas.About{ChatID: t.accept.Chat.ID, Source: cas.ToolRun, SourceRef: c.id},
		check: func(p *cas.LandingPlan) error { return t.guardLanding(p, ws) },
	})
	if err != nil {
		return nil, err
	}
	t.states.at = done.After
	return done, c.layer.drop()
}

// landing is a layer that lands.
type landing struct {
	dir   string
	ws    *toolset.Workspace
	at    *cas.Manifest
	only  []string // the paths that land; nil is all
	about cas.About
	check func(*cas.LandingPlan) error // is called before anything lands; it may be nil
}

// doingLanding names the operation in the report of one that was cut short.
const doingLanding = "applying what a call wrote"

func (e *Engine) landLayer(ctx context.Context, l landing) (*landed, error) {
	defer e.o.Services.HoldServices(ctx, func(s toolset.Service) bool { return s.Workspace == l.ws.Path })()
	ws := workspace.CASWorkspace(l.ws)
	plan, err := e.Snapshots.ReadLayer(ctx, ws, l.dir, cas.LayerOptions{ChatID: l.about.ChatID, Parent: l.at, Limits: e.o.States})
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	e.Pause("layer:read")
	if l.check != nil {
		if err := l.check(plan); err != nil {
			return nil, err
		}
	}
	done, err := e.Snapshots.Land(ctx, ws, plan, cas.LandOptions{About: l.about, Parent: l.at, Only: l.only, Doing: doingLanding})
	if err == nil {
		err = cas.DisownLayer(l.dir) // it is not to be offered if we are killed now
	}
	if err != nil {
		return nil, err
	}
	e.Pause("layer:landed")
	out := &landed{Landing: done, unlanded: plan.Unlanded}
	if done.After != done.Before {
		out.changes, err = e.Changes(ctx, done.Before, done.After)
	}
	return out, err
}

// conflicts are those of the landing as events have them.
func (l *landed) conflicts() []event.Conflict {
	var out []event.Conflict
	for _, c := range l.Conflicts[:min(len(l.Conflicts), workspace.MaxChanges)] {
		out = append(out, event.Conflict{Path: cas.EscapePath(c.Path), Kind: string(c.Kind), Reason: c.Reason})
	}
	return out
}

// notes are the remarks on a landing for the model and the user.
func (l *landed) notes() (notes []string) {
	var paths, special, kept []string
	for _, c := range l.Conflicts {
		paths = append(paths, cas.EscapePath(c.Path))
	}
	for _, u := range l.unlanded {
		special = append(special, cas.EscapePath(u.Path)+" ("+u.Reason+")")
	}
	for _, f := range l.Left {
		kept = append(kept, cas.EscapePath(f.Path)+" ("+f.Reason+")")
	}
	if len(paths) > 0 {
		notes = append(notes, "not applied, since the user or another program changed the same meanwhile: "+store.SomeOf(paths)+
			"; the folder has their version, and the call's is kept in its history")
	}
	if len(special) > 0 {
		notes = append(notes, "not brought into the folder: "+store.SomeOf(special))
	}
	if len(kept) > 0 {
		notes = append(notes, "left as they are: "+store.SomeOf(kept))
	}
	return notes
}

// guardLanding searches the user's folder if what is going to land could make a repository,
// change one, or change the exclusion rules: then the folder is checked after the landing as
// it is after a call without a layer.
func (t *turn) guardLanding(p *cas.LandingPlan, ws *toolset.Workspace) error {
	if !ws.Bound || t.guard != nil {
		return nil
	}
	rules := false
	for folder, names := range p.Folders() {
		rules = rules || folder == "" && slices.Contains(names, workspace.IgnoreFile)
	}
	if !rules && !gitguard.ReachesBare(ws.Root, p.Folders()) {
		return nil
	}
	g := t.eng.GuardOf(ws.Path)
	g.Unseal()
	return t.enterGuard(g, ws)
}

// asideInLayer gives other names to the repositories that a call has added, before they land:
// git never finds them in the user's folder.
func (t *turn) asideInLayer(ctx context.Context, c *call, ws *toolset.Workspace) ([]string, error) {
	if !ws.Bound || t.commandsWriteGit(c) {
		return nil, nil
	}
	return asideIn(ctx, c.layer.dir, ws)
}

// asideIn gives other names to the repositories in a layer, and removes the empty folder that
// keeps a call from making one, which a killed sandbox leaves.
func asideIn(ctx context.Context, layer string, ws *toolset.Workspace) ([]string, error) {
	upper, err := os.OpenRoot(filepath.Join(layer, "upper"))
	if err != nil {
		return nil, fmt.Errorf("look for repositories in what the call wrote: %w", err)
	}
	defer upper.Close()
	moved, err := new(gitguard.Found).SetAside(ctx, upper, gitguard.Options{Under: ws.Root})
	if info, lstatErr := upper.Lstat(".git"); lstatErr == nil && info.IsDir() {
		_ = upper.Remove(".git") // one with something in it was moved
	}
	if len(moved) == 0 {
		return nil, err
	}
	return []string{workspace.AsideNote(moved)}, err
}

// checkLanded checks the user's folder after what a call wrote has landed there. If something
// had to be changed, the state is taken once more.
func (t *turn) checkLanded(end ended, ws *toolset.Workspace, done *landed) (ended, error) {
	if t.guard == nil {
		return end, nil
	}
	text := end.result.Text
	end = t.checked(end, ws)
	if end.result.Text == text {
		return end, nil
	}
	changes, err := t.stateAfterFrom(end.call, ws, done.Before)
	if err == nil {
		done.changes = changes
	}
	return end, err
}

// disown keeps the layer of an abandoned call from being offered: the call was cancelled.
// The layer itself is removed when the call has ended.
func (l *callLayer) disown() error { return cas.DisownLayer(l.dir) }

// drainLeft waits until the abandoned calls have ended, and removes their layers.
func (r *running) drainLeft(e *Engine, left int) {
	for range left {
		if l := (<-r.ends).call.layer; l != nil {
			if err := l.drop(); err != nil {
				e.o.Notice(sanitize.Line(err.Error()))
			}
		}
	}
}

// directly is a call that runs once without a layer, since it failed in one.
func directly(chat string, c *call) string {
	return chat + "\x00" + c.toolID() + "\x00" + string(c.use.Args)
}

// directNext has the same call run without a layer the next time.
func (e *Engine) directNext(chat string, c *call) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.direct == nil || len(e.direct) >= maxDirect {
		e.direct = map[string]bool{}
	}
	e.direct[directly(chat, c)] = true
}

// maxDirect bounds what is remembered of calls that failed in a layer; most are made once
// more at once, or never.
const maxDirect = 1000

// runsDirectly reports whether a call is to run without a layer, this once.
func (e *Engine) runsDirectly(chat string, c *call) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := directly(chat, c)
	direct := e.direct[key]
	delete(e.direct, key)
	return direct
}

// isDirect is runsDirectly for a call that does not start yet.
func (e *Engine) isDirect(chat string, c *call) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.direct[directly(chat, c)]
}

// exitCode is the status in the data of a command; 0 in that of other tools.
func exitCode(data json.RawMessage) int {
	var d struct {
		ExitCode int `json:"exit_code"`
	}
	_ = json.Unmarshal(data, &d)
	return d.ExitCode
}

// crossing are what programs print where an overlay keeps them from what they do: renaming a
// folder that it shows from below, and changing a file of another user.
func crossing() []string {
	return []string{
		"invalid cross-device link", "cross-device link not permitted", "exdev", "os error 18", "errno 18",
		"value too large for defined data type", "eoverflow", "os error 75", "errno 75",
	}
}

// crossed returns a sentence about a call that failed since it ran in an overlay; "" if it
// did not.
func (c *call) crossed(end ended) string {
	text := ""
	switch {
	case end.err != nil:
		text = end.err.Error()
	case exitCode(end.result.Data) != 0:
		text = end.result.Text
	}
	text = strings.ToLower(text)
	for _, words := range crossing() {
		if strings.Contains(text, words) {
			return "this call ran on a copy-on-write view of the folder, in which a folder that existed before can't be renamed in one step, " +
				"nor a file of another user changed; the same call once more runs directly in the folder"
		}
	}
	return ""
}

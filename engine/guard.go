package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/internal/sanitize"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/gitguard"
)

// guardTime bounds one check of a folder: as long as the snapshot of it may take.
const guardTime = stateTime

// guard checks what tools do to one folder of the user's: it sets repositories aside that
// they add, and restores the exclusion rules. It has users as long as a call runs that may
// write to the folder, or a process lives that may and that outlived its call. Meanwhile a
// record in the data directory contains the state to compare with, so that another
// process makes the check if this one is killed.
type guard struct {
	e     *Workspaces
	path  string
	index gitguard.Index

	mu sync.Mutex
	// calls and processes are the users.
	calls, processes int
	before           *gitguard.Found // as of the last call's begin, without what was set aside
	known            *gitguard.Found // of the last search in this process
	rules            *ignoreRules    // of the calls that run; nil if none may change them
	unsealed         bool            // a call was not kept from all repositories that exist
	end              func()          // removes the record
	record           string          // its name
	// found are the warnings since the last call, which the next one shows.
	found []string
}

// guardOf returns the guard of a folder, by its real path.
func (w *Workspaces) guardOf(path string) *guard {
	w.guardsMu.Lock()
	defer w.guardsMu.Unlock()
	g := w.guards[path]
	if g == nil {
		for _, other := range w.guards { // an index may take megabytes
			other.index.Reset()
		}
		g = &guard{e: w, path: path}
		w.guards[path] = g
	}
	return g
}

// enter adds a call as a user, and returns the repositories that exist. If a process still
// runs that outlived its call, what was added since is set aside first; warnings say so.
func (g *guard) enter(ctx context.Context, ws *toolset.Workspace) (warnings []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	rules := readIgnoreRules(ws.Root)
	if g.calls+g.processes > 0 {
		// Changes of existing repositories count as the user's: git itself makes such.
		warnings, err = g.setAside(ctx, ws.Root, gitguard.Options{})
		if err != nil {
			return warnings, err
		}
	}
	found, err := g.index.Scan(ctx, ws.Root)
	if err != nil {
		return warnings, err
	}
	g.before, g.known, g.rules = found, found, rules
	g.calls++
	if err := g.note(ctx); err != nil {
		g.leaveNow(&g.calls)
		return warnings, err
	}
	ws.Repositories, ws.BareParts = found.Repositories(), found.BareParts()
	return warnings, nil
}

// check sets aside what was added since enter and restores the rules. It is called after
// each call, and may be called at any time.
func (g *guard) check(ctx context.Context, root *os.Root) (warnings []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.checkNow(ctx, root)
}

func (g *guard) checkNow(ctx context.Context, root *os.Root) (warnings []string, err error) {
	if g.before == nil {
		return nil, nil
	}
	return g.checkWith(ctx, root, gitguard.Options{Restore: g.restores(ctx)})
}

// restores reports whether changes of existing repositories are reverted: those of a call
// where no sandbox prevents them. Between calls they may be the user's.
func (g *guard) restores(ctx context.Context) bool {
	return g.calls > 0 && (g.unsealed || !g.e.seals(ctx))
}

// unseal notes that the call which enters next could write to repositories that exist.
func (g *guard) unseal() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unsealed = true
}

// checkWith is check with the options that hold for the processes that ran.
func (g *guard) checkWith(ctx context.Context, root *os.Root, o gitguard.Options) (warnings []string, err error) {
	warnings, err = g.setAside(ctx, root, o)
	if g.rules == nil {
		return warnings, err
	}
	note, rulesErr := g.rules.restore(root)
	if rulesErr != nil {
		note = "a call changed the exclusion rules in " + ignoreFile + ", and those from before could not be restored: " + rulesErr.Error()
	}
	if note != "" {
		warnings = append(warnings, note)
	}
	return warnings, err
}

func (g *guard) setAside(ctx context.Context, root *os.Root, o gitguard.Options) ([]string, error) {
	o.Index = &g.index
	moved, err := g.before.SetAside(ctx, root, o)
	if len(moved) == 0 {
		return nil, err
	}
	return []string{asideNote(moved)}, err
}

// accept takes the repositories that a call has added for the user's.
func (g *guard) accept(ctx context.Context, root *os.Root) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, err := g.index.Scan(ctx, root)
	if err != nil {
		return err
	}
	g.before, g.known = found, found
	return g.note(ctx)
}

// seal sets the repositories that a call with a layer can't write to: those of the last
// search, as far as they exist. It reports false if there was none, or while a process runs
// that outlived its call. What such a call writes is checked before it lands, so no search is
// needed for a repository that the user has made since then.
func (g *guard) seal(ws *toolset.Workspace) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || g.calls+g.processes > 0 {
		return false
	}
	gone := func(name string) bool {
		_, err := ws.Root.Lstat(filepath.FromSlash(name))
		return err != nil
	}
	ws.Repositories = slices.DeleteFunc(g.known.Repositories(), gone)
	ws.BareParts = slices.DeleteFunc(g.known.BareParts(), gone)
	return true
}

// leave removes a call as a user. With the last user the record is removed.
func (g *guard) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaveNow(&g.calls)
}

func (g *guard) leaveNow(users *int) {
	*users--
	if g.calls == 0 {
		g.rules, g.unsealed = nil, false // the user may change the rules
	}
	if g.calls+g.processes > 0 {
		if err := g.note(context.Background()); err != nil { // the one from before serves, too
			g.e.Options.Notice(sanitize.Line(err.Error()))
		}
		return
	}
	g.before = nil
	if g.end != nil {
		g.end()
		g.end = nil
	}
}

// checkAlone opens the folder and checks it, for what ended without a turn that waits for
// it. Warnings become notices.
func (g *guard) checkAlone() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.checkAloneNow()
}

func (g *guard) checkAloneNow() {
	ctx, cancel := context.WithTimeout(context.Background(), guardTime)
	defer cancel()
	var warnings []string
	root, err := os.OpenRoot(g.path)
	if err == nil {
		defer root.Close()
		warnings, err = g.checkNow(ctx, root)
	}
	for i := range warnings {
		warnings[i] = g.path + ": " + warnings[i]
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		warnings = append(warnings, unchecked(g.path, err))
	}
	for _, w := range warnings {
		g.e.Options.Notice(w)
	}
	g.found = append(g.found, warnings...)
}

// take returns the warnings since the last call. Each was a notice already.
func (g *guard) take() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	found := g.found
	g.found = nil
	return found
}

// outlive is [toolset.Workspace.Outlive] of a folder: it adds a process as a user and
// returns the repositories to seal for it. When the process has ended, the folder is
// checked.
func (w *Workspaces) outlive(path string) func(context.Context) (repositories, bareParts []string, ended func(), err error) {
	return func(ctx context.Context) ([]string, []string, func(), error) {
		g := w.guardOf(path)
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.calls+g.processes == 0 {
			root, err := os.OpenRoot(path)
			if err != nil {
				return nil, nil, nil, err
			}
			defer root.Close()
			found, err := g.index.Scan(ctx, root)
			if err != nil {
				return nil, nil, nil, err
			}
			g.before = found
		}
		g.processes++
		if err := g.note(ctx); err != nil {
			g.leaveNow(&g.processes)
			return nil, nil, nil, err
		}
		ended := sync.OnceFunc(func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.checkAloneNow()
			g.leaveNow(&g.processes)
		})
		return g.before.Repositories(), g.before.BareParts(), ended, nil
	}
}

// CheckFolders checks the folders of the user's in which calls were left running. It is
// for the end of the program, after every process of a tool has ended.
func (w *Workspaces) CheckFolders() {
	w.guardsMu.Lock()
	var open []*guard
	for _, g := range w.guards {
		open = append(open, g)
	}
	w.guardsMu.Unlock()
	for _, g := range open {
		g.mu.Lock()
		if g.calls+g.processes > 0 {
			g.checkAloneNow()
			g.calls, g.processes = 1, 0
			g.leaveNow(&g.calls)
		}
		g.mu.Unlock()
	}
}

// unchecked is the warning about a folder that could not be checked.
func unchecked(path string, err error) string {
	return "a repository that a tool added may be in " + cas.EscapePath(path) + "; look for one before you run git there: " + err.Error()
}

// guardRepositories finds the repositories of the user's folder before calls that may
// write to it: sandboxes seal these, and what is added to them is set aside after the
// call. Calls that only read add none, and run at the same time.
func (t *turn) guardRepositories(calls []*call, ws *toolset.Workspace, layered bool) error {
	if !ws.Bound || !slices.ContainsFunc(calls, func(c *call) bool { return !c.readOnly() }) {
		return nil
	}
	g := t.eng.guardOf(ws.Path)
	t.showWarnings(g.take())
	if layered && !t.commandsWriteGit(calls[0]) && g.seal(ws) {
		return nil
	}
	return t.enterGuard(g, ws)
}

// enterGuard searches the user's folder for repositories, and has it checked after the call.
func (t *turn) enterGuard(g *guard, ws *toolset.Workspace) error {
	warnings, err := g.enter(t.ctx, ws)
	t.warn(warnings)
	if err == nil {
		t.guard = g
	}
	return err
}

// commandsWriteGit reports whether a call may write to repositories.
func (t *turn) commandsWriteGit(c *call) bool {
	return t.eng.o.CommandsWriteGit && c.entry.Tool.ID == commandTool
}

// checked checks the folder after a call, and adds what was done to the call's end, for
// the model and the user. Commands may add repositories where the user allows that.
func (t *turn) checked(end ended, ws *toolset.Workspace) ended {
	if t.guard == nil || end.call.readOnly() {
		return end
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), guardTime)
	defer cancel()
	if t.commandsWriteGit(end.call) {
		if err := t.guard.accept(ctx, ws.Root); err != nil {
			t.warn([]string{unchecked(ws.Path, err)})
		}
	}
	warnings, err := t.guard.check(ctx, ws.Root)
	t.showWarnings(t.guard.take()) // of a process that ended during the call
	for _, w := range warnings {
		end.result.Text = addNote(end.result.Text, w)
	}
	if err != nil {
		warnings = append(warnings, unchecked(ws.Path, err))
	}
	t.warn(warnings)
	return end
}

// checkLeft checks the folder when calls are left running, and once more when each of them
// has ended; the last one is not waited for when the program ends.
func (t *turn) checkLeft(run *running, left int, ws *toolset.Workspace) {
	g := t.guard
	if g == nil {
		go run.drainLeft(t.eng, left) // ends with the calls, as their own goroutines do
		return
	}
	t.guard = nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), guardTime)
	defer cancel()
	warnings, err := g.check(ctx, ws.Root)
	if err != nil {
		warnings = append(warnings, unchecked(ws.Path, err))
	}
	t.showWarnings(g.take())
	t.warn(warnings)
	go func() { // ends with the calls, as their own goroutines do
		run.drainLeft(t.eng, left)
		g.checkAlone()
		g.leave()
	}()
}

// unguard ends the turn's use of the guard, after calls that have all ended.
func (t *turn) unguard() {
	if t.guard != nil {
		t.guard.leave()
		t.guard = nil
	}
}

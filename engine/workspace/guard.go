package workspace

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

// GuardTime bounds one check of a folder: as long as the snapshot of it may take.
const GuardTime = StateTime

// Guard checks what tools do to one folder of the user's: it sets repositories aside that
// they add, and restores the exclusion rules. It has users as long as a call runs that may
// write to the folder, or a process lives that may and that outlived its call. Meanwhile a
// record in the data directory contains the state to compare with, so that another
// process makes the check if this one is killed.
type Guard struct {
	e     *Folders
	path  string
	index gitguard.Index

	Mu sync.Mutex
	// calls and processes are the users.
	calls, processes int
	before           *gitguard.Found // as of the last call's begin, without what was set aside
	Known            *gitguard.Found // of the last search in this process
	rules            *ignoreRules    // of the calls that run; nil if none may change them
	unsealed         bool            // a call was not kept from all repositories that exist
	end              func()          // removes the record
	record           string          // its name
	// found are the warnings since the last call, which the next one shows.
	found []string
}

// GuardOf returns the guard of a folder, by its real path.
func (w *Folders) GuardOf(path string) *Guard {
	w.guardsMu.Lock()
	defer w.guardsMu.Unlock()
	g := w.guards[path]
	if g == nil {
		for _, other := range w.guards { // an index may take megabytes
			other.index.Reset()
		}
		g = &Guard{e: w, path: path}
		w.guards[path] = g
	}
	return g
}

// Enter adds a call as a user, and returns the repositories that exist. If a process still
// runs that outlived its call, what was added since is set aside first; warnings say so.
func (g *Guard) Enter(ctx context.Context, ws *toolset.Workspace) (warnings []string, err error) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
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
	g.before, g.Known, g.rules = found, found, rules
	g.calls++
	if err := g.note(ctx); err != nil {
		g.leaveNow(&g.calls)
		return warnings, err
	}
	ws.Repositories, ws.BareParts = found.Repositories(), found.BareParts()
	return warnings, nil
}

// Check sets aside what was added since enter and restores the rules. It is called after
// each call, and may be called at any time.
func (g *Guard) Check(ctx context.Context, root *os.Root) (warnings []string, err error) {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	return g.checkNow(ctx, root)
}

func (g *Guard) checkNow(ctx context.Context, root *os.Root) (warnings []string, err error) {
	if g.before == nil {
		return nil, nil
	}
	return g.checkWith(ctx, root, gitguard.Options{Restore: g.restores(ctx)})
}

// restores reports whether changes of existing repositories are reverted: those of a call
// where no sandbox prevents them. Between calls they may be the user's.
func (g *Guard) restores(ctx context.Context) bool {
	return g.calls > 0 && (g.unsealed || !g.e.Seals(ctx))
}

// Unseal notes that the call which enters next could write to repositories that exist.
func (g *Guard) Unseal() {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	g.unsealed = true
}

// checkWith is check with the options that hold for the processes that ran.
func (g *Guard) checkWith(ctx context.Context, root *os.Root, o gitguard.Options) (warnings []string, err error) {
	warnings, err = g.setAside(ctx, root, o)
	if g.rules == nil {
		return warnings, err
	}
	note, rulesErr := g.rules.restore(root)
	if rulesErr != nil {
		note = "a call changed the exclusion rules in " + IgnoreFile + ", and those from before could not be restored: " + rulesErr.Error()
	}
	if note != "" {
		warnings = append(warnings, note)
	}
	return warnings, err
}

func (g *Guard) setAside(ctx context.Context, root *os.Root, o gitguard.Options) ([]string, error) {
	o.Index = &g.index
	moved, err := g.before.SetAside(ctx, root, o)
	if len(moved) == 0 {
		return nil, err
	}
	return []string{AsideNote(moved)}, err
}

// Accept takes the repositories that a call has added for the user's.
func (g *Guard) Accept(ctx context.Context, root *os.Root) error {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	found, err := g.index.Scan(ctx, root)
	if err != nil {
		return err
	}
	g.before, g.Known = found, found
	return g.note(ctx)
}

// Seal sets the repositories that a call with a layer can't write to: those of the last
// search, as far as they exist. It reports false if there was none, or while a process runs
// that outlived its call. What such a call writes is checked before it lands, so no search is
// needed for a repository that the user has made since then.
func (g *Guard) Seal(ws *toolset.Workspace) bool {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	if g.Known == nil || g.calls+g.processes > 0 {
		return false
	}
	gone := func(name string) bool {
		_, err := ws.Root.Lstat(filepath.FromSlash(name))
		return err != nil
	}
	ws.Repositories = slices.DeleteFunc(g.Known.Repositories(), gone)
	ws.BareParts = slices.DeleteFunc(g.Known.BareParts(), gone)
	return true
}

// Leave removes a call as a user. With the last user the record is removed.
func (g *Guard) Leave() {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	g.leaveNow(&g.calls)
}

func (g *Guard) leaveNow(users *int) {
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

// CheckAlone opens the folder and checks it, for what ended without a turn that waits for
// it. Warnings become notices.
func (g *Guard) CheckAlone() {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	g.checkAloneNow()
}

func (g *Guard) checkAloneNow() {
	ctx, cancel := context.WithTimeout(context.Background(), GuardTime)
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
		warnings = append(warnings, Unchecked(g.path, err))
	}
	for _, w := range warnings {
		g.e.Options.Notice(w)
	}
	g.found = append(g.found, warnings...)
}

// Take returns the warnings since the last call. Each was a notice already.
func (g *Guard) Take() []string {
	g.Mu.Lock()
	defer g.Mu.Unlock()
	found := g.found
	g.found = nil
	return found
}

// outlive is [toolset.Workspace.Outlive] of a folder: it adds a process as a user and
// returns the repositories to seal for it. When the process has ended, the folder is
// checked.
func (w *Folders) outlive(path string) func(context.Context) (repositories, bareParts []string, ended func(), err error) {
	return func(ctx context.Context) ([]string, []string, func(), error) {
		g := w.GuardOf(path)
		g.Mu.Lock()
		defer g.Mu.Unlock()
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
			g.Mu.Lock()
			defer g.Mu.Unlock()
			g.checkAloneNow()
			g.leaveNow(&g.processes)
		})
		return g.before.Repositories(), g.before.BareParts(), ended, nil
	}
}

// CheckFolders checks the folders of the user's in which calls were left running. It is
// for the end of the program, after every process of a tool has ended.
func (w *Folders) CheckFolders() {
	w.guardsMu.Lock()
	var open []*Guard
	for _, g := range w.guards {
		open = append(open, g)
	}
	w.guardsMu.Unlock()
	for _, g := range open {
		g.Mu.Lock()
		if g.calls+g.processes > 0 {
			g.checkAloneNow()
			g.calls, g.processes = 1, 0
			g.leaveNow(&g.calls)
		}
		g.Mu.Unlock()
	}
}

// Unchecked is the warning about a folder that could not be checked.
func Unchecked(path string, err error) string {
	return "a repository that a tool added may be in " + cas.EscapePath(path) + "; look for one before you run git there: " + err.Error()
}

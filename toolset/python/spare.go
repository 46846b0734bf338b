package python

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/pystdlib"
	"github.com/fettle-cli/fettle/toolset"
)

// spare is a process that waits for a call.
type spare struct {
	proc    toolset.Process // nil while it is being started
	folders []os.FileInfo   // as the process sees them
	since   time.Time
	taken   bool
	release context.CancelFunc // ends the wait of who minds it
}

// take gives a process that waits for such a call; nil is none.
func (r *Runtime) take(p *plan) toolset.Process {
	r.mu.Lock()
	s := r.spares[p.key]
	if s == nil || s.proc == nil {
		r.mu.Unlock()
		return nil
	}
	delete(r.spares, p.key)
	fit := s.fits(p)
	s.taken = fit
	r.mu.Unlock()
	s.release() // if it isn't taken, it is ended now
	if !fit {
		return nil
	}
	s.proc.Begin()
	return s.proc
}

// fits tells whether the process is alive and sees the folders that there are.
func (s *spare) fits(p *plan) bool {
	now, err := p.look()
	if err != nil || !slices.EqualFunc(now, s.folders, os.SameFile) {
		return false
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = s.proc.Wait(ended)
	return err != nil
}

// loaded is what a call imported: modules of Python's own, and files of the
// toolset. Both come from a process that ran a tool's code.
type loaded struct{ modules, files []string }

// finish notes the end of a call, and has another process wait for the next
// one, unless there is more to do just now.
func (r *Runtime) finish(p *plan, dir string, used loaded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p == nil || p.policy.Layer != nil || r.o.NoSpares || r.closed || r.busy > 0 || r.spares[p.key] != nil {
		return
	}
	if used.modules != nil {
		was := r.warm[dir]
		r.warm[dir] = loaded{preloadable(append(was.modules, used.modules...)), preparable(append(used.files, was.files...))}
	}
	if len(r.spares) >= MaxSpares && !r.evict() {
		return
	}
	s, preload := &spare{since: time.Now()}, r.preload(dir)
	r.spares[p.key] = s
	r.work.Add(1)
	go func() {
		defer r.work.Done()
		r.mind(s, p, preload)
	}()
}

// evict ends the spare that has waited longest.
func (r *Runtime) evict() bool {
	oldest := ""
	for key, s := range r.spares {
		if s.proc != nil && (oldest == "" || s.since.Before(r.spares[oldest].since)) {
			oldest = key
		}
	}
	if oldest == "" {
		return false
	}
	r.spares[oldest].release()
	delete(r.spares, oldest)
	return true
}

// preload are the modules that a spare of a toolset imports, and, marked as
// files, what it compiles.
func (r *Runtime) preload(dir string) []string {
	was := r.warm[dir]
	out := slices.Clone(was.modules)
	if len(out) == 0 {
		out = []string{"pathlib"}
	}
	for _, file := range was.files {
		out = append(out, "="+file)
	}
	return out
}

// preparable keeps the names of files that a toolset could have. The spare
// looks for them below the toolset's folder, in the same sandbox as the call.
func preparable(files []string) []string {
	const most, longest = 60, 200
	var out []string
	for _, file := range files {
		plain := strings.IndexFunc(file, func(c rune) bool { return c < ' ' }) < 0
		if plain && len(file) <= longest && filepath.IsLocal(filepath.FromSlash(file)) && strings.HasSuffix(file, ".py") && !slices.Contains(out, file) && len(out) < most {
			out = append(out, file)
		}
	}
	return out
}

// mind starts a spare, waits until it is taken, and ends it when it isn't.
func (r *Runtime) mind(s *spare, p *plan, modules []string) {
	folders, err := p.look()
	var proc toolset.Process
	if err == nil {
		c := p.command
		c.Args, c.Spare = slices.Concat(c.Args, modules), true
		proc, err = r.o.Launcher.Start(r.life, p.policy, c)
	}
	ctx, cancel := context.WithTimeout(r.life, r.o.SpareIdle)
	defer cancel()
	r.mu.Lock()
	if err != nil {
		delete(r.spares, p.key) // the next call starts its own, and says what is wrong
		r.mu.Unlock()
		return
	}
	s.proc, s.folders, s.release = proc, folders, cancel
	r.mu.Unlock()
	r.work.Go(func() { r.compile(r.life, p) }) // for processes that nobody had time to start before
	proc.Wait(ctx)
	r.mu.Lock()
	taken := s.taken
	if r.spares[p.key] == s {
		delete(r.spares, p.key)
	}
	r.mu.Unlock()
	if !taken {
		proc.Kill()
		proc.Stdin().Close()
		proc.Stdout().Close()
	}
}

// preloadable keeps the names of Python's own modules that can be imported for
// nothing. The names come from a process that ran a tool's code.
func preloadable(names []string) []string {
	const most, longest = 300, 60
	out := []string{"pathlib"}
	for _, name := range names {
		top, _, _ := strings.Cut(name, ".")
		switch top {
		case "antigravity", "this", "idlelib", "turtle", "turtledemo", "tkinter", "site", "pydoc", "rlcompleter", "readline":
			continue // these do something when they are imported, or take long
		}
		if len(name) > longest || !pystdlib.Standard(top) || len(out) >= most {
			continue
		}
		if strings.IndexFunc(name, func(c rune) bool {
			return c != '_' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
		}) < 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

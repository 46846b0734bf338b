package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/doctor/machine"
	"github.com/fettle-cli/fettle/commands/remedy"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// onlineLimit bounds what an address on the network may take to answer.
const onlineLimit = 20 * time.Second

// checks are all checks, in the order in which they are shown.
func (v *visit) checks() []machine.Check {
	programs := machine.Programs{Env: os.Environ()}
	one := func(id, title string, look func(context.Context) machine.Result) machine.Check {
		return machine.Check{ID: id, Title: title, Look: func(ctx context.Context) []machine.Result {
			return []machine.Result{look(ctx)}
		}}
	}
	checks := []machine.Check{
		one("config", "configuration", func(context.Context) machine.Result { return v.configuration() }),
		{ID: "data", Title: "data directory", Look: v.dataDirectory},
		one("model", "model", v.model),
		one("ollama", "Ollama", v.ollama),
	}
	for _, name := range slices.Sorted(maps.Keys(v.cfg.Providers)) {
		p := v.cfg.Providers[name]
		checks = append(checks, one("provider."+name, name, func(ctx context.Context) machine.Result { return v.provider(ctx, p) }))
	}
	checks = append(checks,
		one("python", "Python", programs.Python),
		one("sandbox", "sandbox", v.sandbox),
		one("git", "git", programs.Git),
		one("clock", "clock", func(context.Context) machine.Result { return v.clock() }),
		one("terminal", "terminal", func(context.Context) machine.Result { return v.terminal() }),
	)
	for i := range checks {
		if v.online {
			checks[i].Limit = onlineLimit
		}
	}
	return checks
}

// configuration says what was read, and all that is wrong with it.
func (v *visit) configuration() machine.Result {
	r := machine.Result{ID: "config", Title: "configuration", Status: machine.OK}
	var broken *config.Error
	if errors.As(v.broken, &broken) {
		r.Status, r.Detail = machine.Error, term.Count(len(broken.Problems), "problem", "problems")
		for _, p := range broken.Problems {
			r.More = append(r.More, p.String())
			r.Try(p.Hint)
		}
		r.Try("fettle config check   shows the lines")
		r.More = append(r.More, "what follows is without the configuration's files")
		return r
	}
	if v.broken != nil {
		return failedResult(r, v.broken)
	}
	r.Detail = "none, which is fine: every setting has a default"
	if len(v.cfg.Files) > 0 {
		r.Detail = strings.Join(v.cfg.Files, ", ")
	}
	if v.cfg.Profile != "" {
		r.Detail += ", profile " + v.cfg.Profile
	}
	for _, w := range v.cfg.Warnings {
		r.Status = machine.Warning
		r.More = append(r.More, w.String())
		r.Try(w.Hint)
	}
	return r
}

// failedResult makes an error of a result.
func failedResult(r machine.Result, err error) machine.Result {
	r.Status, r.Detail = machine.Error, err.Error()
	var f *fault.Fault
	if errors.As(err, &f) {
		r.More = f.Detail
		r.Try(remedy.Lines(f)...)
	}
	return r
}

// lowSpace is how many bytes free on the disk are worth a warning: what a
// longer chat with files may well take.
const lowSpace = 1 << 30

func (v *visit) dataDirectory(ctx context.Context) []machine.Result {
	data := machine.Result{ID: "data", Title: "data directory", Status: machine.OK}
	dirs, err := v.rt.Dirs()
	if err != nil {
		return []machine.Result{failedResult(data, err)}
	}
	eng := store.New(store.Options{DataDir: dirs.Data})
	h := eng.Health(ctx)
	left, err := eng.Leftovers(ctx)
	if err := errors.Join(h.Err, err, eng.Close()); err != nil {
		return []machine.Result{failedResult(data, err)}
	}
	data.Detail = h.Dir
	base := h.Dir
	if !h.Exists {
		data.Detail += ", not made yet"
		base = nearestFolder(h.Dir)
	}
	if h.Free > 0 {
		data.Detail += ", " + term.Size(h.Free) + " free"
	}
	switch {
	case !machine.Writable(base):
		data.Status = machine.Error
		data.Try("FETTLE_DATA=DIR fettle …   keeps the data elsewhere")
		data.Detail += ", and " + base + " can't be written to"
	case h.Free > 0 && h.Free < h.Need:
		data.Status = machine.Error
		data.Try(fmt.Sprintf("free %s on the disk: nothing can be kept before", term.Size(h.Need)))
	case h.Free > 0 && h.Free < lowSpace:
		data.Status = machine.Warning
		data.Try("free some space on the disk")
	}
	if !h.Exists {
		return []machine.Result{data}
	}
	return []machine.Result{data, storeResult(h.Store), journalResult(h), lockResult(h), v.leftovers(left)}
}

// nearestFolder is the first folder on the way up that is there.
func nearestFolder(dir string) string {
	for {
		parent := filepath.Dir(dir)
		_, err := os.Stat(dir)
		if err == nil || parent == dir || !errors.Is(err, fs.ErrNotExist) {
			return dir
		}
		dir = parent
	}
}

func storeResult(s store.StoreHealth) machine.Result {
	r := machine.Result{ID: "store", Title: "store", Status: machine.OK}
	switch {
	case s.Err != nil:
		return failedResult(r, s.Err)
	case !s.Exists:
		r.Detail = "none yet: the first chat that is looked at makes it"
	case s.Owner != "":
		r.Detail = s.Owner + " is using it, so it wasn't opened"
	case !s.Clean:
		r.Status, r.Detail = machine.Warning, "it was not closed in order, as after a crash; the next command that opens it mends it"
		r.Try("fettle chats list")
	case s.Opened && s.Schema > 0:
		r.Detail = fmt.Sprintf("whole, version %d", s.Schema)
	default:
		r.Detail = "whole"
	}
	return r
}

func journalResult(h store.Health) machine.Result {
	r := machine.Result{ID: "journals", Title: "journals", Status: machine.OK, Detail: "none waiting"}
	if h.Waiting > 0 {
		r.Detail = term.Count(h.Waiting, "turn waits", "turns wait") + " to be moved into the store, which the next list of chats does"
	}
	if len(h.Live) > 0 {
		r.Detail += "; " + term.Count(len(h.Live), "turn runs", "turns run") + ", of " + strings.Join(h.Live, ", ")
	}
	if len(h.Damaged) > 0 {
		r.Status = machine.Warning
		r.Detail += "; " + term.Count(len(h.Damaged), "damaged one was", "damaged ones were") + " set aside"
		r.More = h.Damaged
		r.Try("look at them: each is a question and what came of its answer, in lines of JSON; then remove them")
	}
	return r
}

func lockResult(h store.Health) machine.Result {
	r := machine.Result{ID: "locks", Title: "locks", Status: machine.OK, Detail: "none held"}
	if len(h.Locks) == 0 {
		return r
	}
	r.Detail = term.Count(len(h.Locks), "is held", "are held")
	for _, l := range h.Locks {
		r.More = append(r.More, l.Name+" by "+l.Owner)
	}
	return r
}

// leftovers lists what killed commands have left, with the command that removes it.
func (v *visit) leftovers(left []store.Leftover) machine.Result {
	r := machine.Result{ID: "leftovers", Title: "leftovers", Status: machine.OK, Detail: "none"}
	private, err := v.rt.PrivateLeftovers()
	if err != nil {
		return failedResult(r, err)
	}
	for _, path := range private {
		if info, err := os.Lstat(path); err == nil {
			left = append(left, store.Leftover{Path: path, Kind: store.LeftTemporary, Bytes: info.Size()})
		}
	}
	if len(left) == 0 {
		return r
	}
	var total int64
	for _, l := range left {
		total += l.Bytes
		r.More = append(r.More, l.Path+", "+term.Size(l.Bytes))
	}
	if n := len(r.More); n > shownLeftovers {
		r.More = append(r.More[:shownLeftovers], "and "+term.Count(n-shownLeftovers, "more", "more"))
	}
	r.Detail = term.Count(len(left), "file or folder", "files and folders") + " of killed commands, " + term.Size(total)
	r.Try("fettle store tidy")
	return r
}

// shownLeftovers is how many leftovers are listed; the command lists all.
const shownLeftovers = 10

func (v *visit) clock() machine.Result {
	c := machine.Clock{Now: time.Now(), Built: workbench.BuiltAt()}
	if dirs, err := v.rt.Dirs(); err == nil {
		if info, err := os.Stat(filepath.Join(dirs.Data, "counter.json")); err == nil {
			c.Written = info.ModTime()
		}
	}
	return c.Check()
}

func (v *visit) terminal() machine.Result {
	out := v.rt.Streams.Out
	t := machine.Terminal{
		IsTerminal: out.IsTerminal(), Width: out.Width(), Term: v.rt.Streams.Getenv("TERM"),
		Windows: goruntime.GOOS == "windows",
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if t.Locale = v.rt.Streams.Getenv(name); t.Locale != "" {
			break
		}
	}
	switch out.Depth() {
	case term.Colours16:
		t.Colours = "16 colours"
	case term.Colours256:
		t.Colours = "256 colours"
	case term.TrueColour:
		t.Colours = "true colour"
	}
	return t.Check()
}

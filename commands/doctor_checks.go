package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/doctor"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
)

// onlineLimit bounds what an address on the network may take to answer.
const onlineLimit = 20 * time.Second

// checks are all checks, in the order in which they are shown.
func (v *visit) checks() []doctor.Check {
	programs := doctor.Programs{Env: os.Environ()}
	one := func(id, title string, look func(context.Context) doctor.Result) doctor.Check {
		return doctor.Check{ID: id, Title: title, Look: func(ctx context.Context) []doctor.Result {
			return []doctor.Result{look(ctx)}
		}}
	}
	checks := []doctor.Check{
		one("config", "configuration", func(context.Context) doctor.Result { return v.configuration() }),
		{ID: "data", Title: "data directory", Look: v.dataDirectory},
		one("model", "model", v.model),
		one("ollama", "Ollama", v.ollama),
	}
	for _, name := range slices.Sorted(maps.Keys(v.cfg.Providers)) {
		p := v.cfg.Providers[name]
		checks = append(checks, one("provider."+name, name, func(ctx context.Context) doctor.Result { return v.provider(ctx, p) }))
	}
	checks = append(checks,
		one("python", "Python", programs.Python),
		one("sandbox", "sandbox", v.sandbox),
		one("git", "git", programs.Git),
		one("clock", "clock", func(context.Context) doctor.Result { return v.clock() }),
		one("terminal", "terminal", func(context.Context) doctor.Result { return v.terminal() }),
	)
	for i := range checks {
		if v.online {
			checks[i].Limit = onlineLimit
		}
	}
	return checks
}

// configuration says what was read, and all that is wrong with it.
func (v *visit) configuration() doctor.Result {
	r := doctor.Result{ID: "config", Title: "configuration", Status: doctor.OK}
	var broken *config.Error
	if errors.As(v.broken, &broken) {
		r.Status, r.Detail = doctor.Error, term.Count(len(broken.Problems), "problem", "problems")
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
		r.Status = doctor.Warning
		r.More = append(r.More, w.String())
		r.Try(w.Hint)
	}
	return r
}

// failedResult makes an error of a result.
func failedResult(r doctor.Result, err error) doctor.Result {
	r.Status, r.Detail = doctor.Error, err.Error()
	var f *fault.Fault
	if errors.As(err, &f) {
		r.More = f.Detail
		r.Try(f.Hints...)
	}
	return r
}

// lowSpace is how many bytes free on the disk are worth a warning: what a
// longer chat with files may well take.
const lowSpace = 1 << 30

func (v *visit) dataDirectory(ctx context.Context) []doctor.Result {
	data := doctor.Result{ID: "data", Title: "data directory", Status: doctor.OK}
	dirs, err := v.rt.Dirs()
	if err != nil {
		return []doctor.Result{failedResult(data, err)}
	}
	eng := engine.New(engine.Options{DataDir: dirs.Data})
	h := eng.Health(ctx)
	if err := errors.Join(h.Err, eng.Close()); err != nil {
		return []doctor.Result{failedResult(data, err)}
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
	case !doctor.Writable(base):
		data.Status = doctor.Error
		data.Try("FETTLE_DATA=DIR fettle …   keeps the data elsewhere")
		data.Detail += ", and " + base + " can't be written to"
	case h.Free > 0 && h.Free < h.Need:
		data.Status = doctor.Error
		data.Try(fmt.Sprintf("free %s on the disk: nothing can be kept before", term.Size(h.Need)))
	case h.Free > 0 && h.Free < lowSpace:
		data.Status = doctor.Warning
		data.Try("free some space on the disk")
	}
	if !h.Exists {
		return []doctor.Result{data}
	}
	return []doctor.Result{data, storeResult(h.Store), journalResult(h), lockResult(h)}
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

func storeResult(s engine.StoreHealth) doctor.Result {
	r := doctor.Result{ID: "store", Title: "store", Status: doctor.OK}
	switch {
	case s.Err != nil:
		return failedResult(r, s.Err)
	case !s.Exists:
		r.Detail = "none yet: the first chat that is looked at makes it"
	case s.Owner != "":
		r.Detail = s.Owner + " is using it, so it wasn't opened"
	case !s.Clean:
		r.Status, r.Detail = doctor.Warning, "it was not closed in order, as after a crash; the next command that opens it mends it"
		r.Try("fettle chats list")
	case s.Opened && s.Schema > 0:
		r.Detail = fmt.Sprintf("whole, version %d", s.Schema)
	default:
		r.Detail = "whole"
	}
	return r
}

func journalResult(h engine.Health) doctor.Result {
	r := doctor.Result{ID: "journals", Title: "journals", Status: doctor.OK, Detail: "none waiting"}
	if h.Waiting > 0 {
		r.Detail = term.Count(h.Waiting, "turn waits", "turns wait") + " to be moved into the store, which the next list of chats does"
	}
	if len(h.Live) > 0 {
		r.Detail += "; " + term.Count(len(h.Live), "turn runs", "turns run") + ", of " + strings.Join(h.Live, ", ")
	}
	if len(h.Damaged) > 0 {
		r.Status = doctor.Warning
		r.Detail += "; " + term.Count(len(h.Damaged), "damaged one was", "damaged ones were") + " set aside"
		r.More = h.Damaged
		r.Try("look at them: each is a question and what came of its answer, in lines of JSON; then remove them")
	}
	return r
}

func lockResult(h engine.Health) doctor.Result {
	r := doctor.Result{ID: "locks", Title: "locks", Status: doctor.OK, Detail: "none held"}
	if len(h.Locks) == 0 {
		return r
	}
	r.Detail = term.Count(len(h.Locks), "is held", "are held")
	for _, l := range h.Locks {
		r.More = append(r.More, l.Name+" by "+l.Owner)
	}
	return r
}

func (v *visit) clock() doctor.Result {
	c := doctor.Clock{Now: time.Now(), Built: builtAt()}
	if dirs, err := v.rt.Dirs(); err == nil {
		if info, err := os.Stat(filepath.Join(dirs.Data, "counter.json")); err == nil {
			c.Written = info.ModTime()
		}
	}
	return c.Check()
}

// builtAt is when the commit was made that this program was built of; zero
// where the go command didn't know.
func builtAt() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			at, _ := time.Parse(time.RFC3339, s.Value) // zero if it is none
			return at
		}
	}
	return time.Time{}
}

func (v *visit) terminal() doctor.Result {
	out := v.rt.Streams.Out
	t := doctor.Terminal{
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

package workbench

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// workEvery is how often a bar is drawn anew: as often as a person can read it.
const workEvery = 250 * time.Millisecond

// Work shows how far something is that a person waits for, told by whatever
// goroutines do it. All its functions may be called by any of them until stop.
type Work struct {
	rt          *Runtime
	bar         *term.Progress
	done, total atomic.Int64 // bytes; without a total they are counted alone
	files       atomic.Int64
	doing       atomic.Value // string: what the files are
	quit, gone  chan struct{}
}

// Work begins to show something, such as "undo". The caller stops it before it
// prints anything.
func (rt *Runtime) Work(what string) *Work {
	w := &Work{rt: rt, bar: rt.Streams.Progress(what), quit: make(chan struct{}), gone: make(chan struct{})}
	w.doing.Store("")
	go func() {
		defer close(w.gone)
		tick := time.NewTicker(workEvery)
		defer tick.Stop()
		for {
			select {
			case <-w.quit:
				w.bar.Clear()
				return
			case <-tick.C:
				w.draw()
			}
		}
	}()
	return w
}

func (w *Work) draw() {
	done, total, files := w.done.Load(), w.total.Load(), w.files.Load()
	switch doing, _ := w.doing.Load().(string); {
	case total > 0:
		w.bar.Part(doing)
		w.bar.Bytes(done, total)
	case files > 0:
		w.bar.Stage(doing + " " + term.Count(int(files), "file", "files") + ", " + term.Size(done))
	case done > 0:
		w.bar.Stage(doing + " " + term.Size(done))
	case doing != "":
		w.bar.Stage(doing)
	}
}

// Stop takes the bar off. It may be called again.
func (w *Work) Stop() {
	select {
	case <-w.quit:
	default:
		close(w.quit)
	}
	<-w.gone
}

// Stage begins another part, with the bytes that it is about; 0 where they
// aren't known.
func (w *Work) Stage(doing string, total int64) {
	w.done.Store(0)
	w.files.Store(0)
	w.total.Store(total)
	w.doing.Store(doing)
}

// Moved adds to what was done.
func (w *Work) Moved(files int, bytes int64) {
	w.files.Add(int64(files))
	w.done.Add(bytes)
}

// moving counts the bytes that go through it.
type moving struct {
	w    *Work
	move func([]byte) (int, error)
}

func (m moving) do(p []byte) (int, error) {
	n, err := m.move(p)
	m.w.Moved(0, int64(n))
	return n, err
}

// Read reads and counts.
func (m moving) Read(p []byte) (int, error) { return m.do(p) }

// Write writes and counts.
func (m moving) Write(p []byte) (int, error) { return m.do(p) }

// Reading gives r with what is read of it counted as done.
func (w *Work) Reading(r io.Reader) io.Reader { return moving{w, r.Read} }

// Writing gives out with what is written to it counted as done.
func (w *Work) Writing(out io.Writer) io.Writer { return moving{w, out.Write} }

// begin is told what a snapshot has to read. A large first one is announced.
func (w *Work) begin(e cas.Estimate) error {
	w.Stage("reading", e.Bytes)
	if engine.IsMuch(e) {
		w.rt.Notice(fmt.Sprintf("keeping the first state of the folder: %s, %s", term.Count(e.Files, "file", "files"), term.Size(e.Bytes)))
	}
	return nil
}

// writing is told what is about to be brought back. It may be that files only go.
func (w *Work) writing(files int, bytes int64) {
	if files == 0 {
		w.Stage("changing files", 0)
		return
	}
	w.Stage("writing", bytes)
}

// written is told of files that were brought back.
func (w *Work) written(files int, bytes int64) {
	if doing, _ := w.doing.Load().(string); doing != "writing" {
		w.Stage("writing", 0)
	}
	w.Moved(files, bytes)
}

// Watch lets a request tell how far it is.
func (w *Work) Watch(req *workspace.RestoreRequest) {
	req.Begin, req.Progress = w.begin, w.Moved
	req.Writing, req.Written = w.writing, w.written
}

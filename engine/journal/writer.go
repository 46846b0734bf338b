package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/record"
)

// MaxLine bounds one line with its end. A reader takes a longer one for
// damage, so a writer refuses it.
const MaxLine = 128 << 20

// TooBigError means that an acceptance or an event is longer than a line may be.
type TooBigError struct{ Size int }

func (e *TooBigError) Error() string {
	return fmt.Sprintf("write journal: a line of %d MB, and %d MB are the limit", e.Size>>20, MaxLine>>20)
}

// Writer appends to the journal of one live turn.
type Writer struct {
	dir     *Dir
	turn    string
	release func()

	mu        sync.Mutex // Publish may run beside Append
	f         *os.File
	published bool

	size      int64 // bytes that are whole lines
	broken    error // set when a torn write could not be taken back
	buf       []byte
	syncNanos atomic.Int64
}

// Create makes a journal under its temporary name, locks it, and writes the
// acceptance. Nobody else sees it before Publish. The turn's id is new, so the
// lock can only be held for a moment, by somebody's Sweep.
func (d *Dir) Create(ctx context.Context, turn string, accept any) (*Writer, error) {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return nil, fmt.Errorf("make journal folder: %w", err)
	}
	line, err := d.encode(accept)
	if err != nil {
		return nil, err
	}
	release, err := d.wait(ctx, d.lock(turn), lookTime)
	if err != nil {
		return nil, fmt.Errorf("lock journal: %w", err)
	}
	d.pause("create:locked")
	f, err := os.OpenFile(d.temp(turn), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		release()
		return nil, fmt.Errorf("make journal: %w", err)
	}
	w := &Writer{dir: d, turn: turn, f: f, release: release}
	d.pause("create:made")
	if err := w.write(line); err != nil {
		return nil, errors.Join(err, w.Discard())
	}
	return w, nil
}

// encode returns the line of an acceptance.
func (d *Dir) encode(accept any) ([]byte, error) {
	line, err := record.Marshal(accept)
	if err != nil {
		return nil, fmt.Errorf("encode acceptance: %w", err)
	}
	line = append(line, '\n')
	if len(line) > d.maxLine {
		return nil, &TooBigError{Size: len(line)}
	}
	return line, nil
}

// Publish makes the journal durable and visible. After it the turn is
// accepted: it survives the loss of power.
func (w *Writer) Publish() error {
	if err := w.Sync(); err != nil {
		return err
	}
	w.dir.pause("publish:synced")
	if err := w.rename(); err != nil {
		return err
	}
	w.dir.pause("publish:renamed")
	start := time.Now()
	err := atomicfile.SyncDir(w.dir.path)
	w.syncNanos.Add(int64(time.Since(start)))
	if err != nil {
		return fmt.Errorf("sync journal folder: %w", err)
	}
	return nil
}

func (w *Writer) rename() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := renameOpen(w.f, w.dir.temp(w.turn), w.dir.file(w.turn))
	if err != nil {
		return fmt.Errorf("publish journal: %w", err)
	}
	w.f, w.published = f, true
	return nil
}

// file is the open file, which Windows changes at the rename.
func (w *Writer) file() *os.File {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.f
}

// Append writes the events, one a line, in one write. When it fails, nothing
// of it stays in the journal, or the Writer refuses every further Append.
func (w *Writer) Append(events ...event.Event) error {
	if w.broken != nil {
		return w.broken
	}
	buf := w.buf[:0]
	for _, e := range events {
		var err error
		start := len(buf)
		if buf, err = e.Append(buf); err != nil {
			return err
		}
		buf = append(buf, '\n')
		if n := len(buf) - start; n > w.dir.maxLine {
			return &TooBigError{Size: n}
		}
	}
	w.buf = keep(buf)
	return w.write(buf)
}

// keep bounds the scratch memory between writes.
func keep(buf []byte) []byte {
	const most = 1 << 20 // a batch of one network read is far smaller
	if cap(buf) > most {
		return nil
	}
	return buf
}

func (w *Writer) write(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.dir.writeAt(w.f, line, w.size); err != nil {
		// The count cannot be used: it is 0 if the first part was written and the
		// second failed.
		err = errors.Join(err, w.takeBack())
		return fmt.Errorf("write journal of turn %s: %w", w.turn, err)
	}
	w.size += int64(len(line))
	return nil
}

// takeBack removes what a failed write has left after the last whole line, so that
// no reader takes it for a line and no later write is joined to it.
func (w *Writer) takeBack() error {
	if err := w.f.Truncate(w.size); err != nil {
		w.broken = fmt.Errorf("journal has a torn line: %w", err)
		return w.broken
	}
	return nil
}

// Sync is a sync point: what was appended before it survives power loss.
func (w *Writer) Sync() error {
	start := time.Now()
	err := w.file().Sync()
	w.syncNanos.Add(int64(time.Since(start)))
	if err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	return nil
}

// SyncTime is the time spent in file syncs so far, for the figures.
func (w *Writer) SyncTime() time.Duration { return time.Duration(w.syncNanos.Load()) }

// Close lets go of the journal, which stays for a fold. One that was never
// published is removed: nobody was told of it.
func (w *Writer) Close() error {
	if !w.published {
		return w.Discard()
	}
	err := w.f.Close()
	w.dir.pause("close:closed")
	w.release()
	return err
}

// Discard removes the journal and lets go of it: for turns that were never
// accepted and for ephemeral ones.
func (w *Writer) Discard() error {
	name := w.dir.temp(w.turn)
	if w.published {
		name = w.dir.file(w.turn)
	}
	err := errors.Join(w.f.Close(), atomicfile.Remove(name))
	w.release()
	return err
}

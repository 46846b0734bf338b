package journal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// ErrNoJournal says that the turn has no journal: it was never accepted, or
// has been folded.
var ErrNoJournal = errors.New("no journal of this turn")

// ErrDamaged says that a journal holds something else than an acceptance and
// the turn's events 1, 2, 3 and so on, each a whole line, before its last line.
// What was read up to there is as it was written.
var ErrDamaged = errors.New("journal is damaged")

// Claimed is a finished or abandoned journal whose lock is held.
type Claimed struct {
	Turn    string
	dir     *Dir
	release func()
}

// Claim takes a turn's journal for folding. ok is false where its owner is
// alive, where somebody else folds it, and where it is gone.
func (d *Dir) Claim(ctx context.Context, turn string) (c *Claimed, ok bool, err error) {
	var release func()
	free, err := d.look(ctx, turn, func(r func()) { release = r })
	if err != nil || !free {
		return nil, false, err
	}
	d.pause("claim:locked")
	if _, err := os.Lstat(d.file(turn)); err != nil {
		release()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("claim journal: %w", err)
	}
	return &Claimed{Turn: turn, dir: d, release: release}, true, nil
}

// Read opens the claimed journal.
func (c *Claimed) Read() (*Reader, error) { return c.dir.Read(c.Turn) }

// Remove unlinks the journal, whose content is durable elsewhere by now, and
// lets go.
func (c *Claimed) Remove() error {
	defer c.release()
	c.dir.pause("remove")
	if err := atomicfile.Remove(c.dir.file(c.Turn)); err != nil {
		return fmt.Errorf("remove folded journal: %w", err)
	}
	return nil
}

// SetAside renames a journal that can't be read or stored, so that it is kept for the
// user and is not read again. It returns the new name.
func (c *Claimed) SetAside() (string, error) {
	defer c.release()
	name := c.dir.turnSetAside(c.Turn)
	if err := atomicfile.Rename(c.dir.file(c.Turn), name); err != nil {
		return "", fmt.Errorf("set damaged journal aside: %w", err)
	}
	return name, nil
}

// turnSetAside returns a free name for a journal that is set aside, so that an earlier
// one is kept.
func (d *Dir) turnSetAside(turn string) string {
	first := filepath.Join(d.path, turn+damagedSuffix)
	name := first
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s.%d", first, n)
	}
}

// Release lets go without removing anything.
func (c *Claimed) Release() { c.release() }

// readAhead is how much of a journal is read at once. A thousand clients of a
// server may read at the same time, each with a buffer of its own.
const readAhead = 16 << 10

// Reader reads one journal from its start. The journal may be live: the reader
// then ends at the last whole line so far and can go on later.
type Reader struct {
	turn   string
	f      *os.File
	r      *bufio.Reader
	accept json.RawMessage
	part   []byte    // a line whose end was not there yet
	last   event.Seq // of the event read last
	ended  bool      // that one ended the turn
	// Torn is set when Events has ended and bytes without a line end remain.
	Torn bool
}

// Read opens a journal and reads its acceptance. The caller closes the Reader.
func (d *Dir) Read(turn string) (*Reader, error) {
	f, err := atomicfile.Open(d.file(turn))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("turn %s: %w", turn, ErrNoJournal)
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	r := &Reader{turn: turn, f: f, r: bufio.NewReaderSize(f, readAhead)}
	line, err := r.line()
	if err == nil && !json.Valid(line) {
		err = ErrDamaged
	}
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: it has no acceptance", ErrDamaged)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read journal %s: %w", turn, err)
	}
	r.accept = bytes.Clone(line)
	return r, nil
}

// Accept decodes the acceptance.
func (r *Reader) Accept(into any) error {
	if err := json.Unmarshal(r.accept, into); err != nil {
		return fmt.Errorf("read journal: decode acceptance: %w", err)
	}
	return nil
}

// Events yields the events that are whole so far. It may be called again for
// those that were appended meanwhile. The bytes are the event's line without
// its end, valid until the next.
func (r *Reader) Events() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for {
			line, err := r.line()
			if errors.Is(err, io.EOF) {
				r.Torn = len(r.part) > 0
				return
			}
			if err != nil {
				yield(Line{}, fmt.Errorf("read journal: %w", err))
				return
			}
			e, err := r.decode(line)
			if err != nil {
				yield(Line{}, fmt.Errorf("read journal %s: %w: %w", r.turn, ErrDamaged, err))
				return
			}
			if !yield(Line{Event: e, Raw: line}, nil) {
				return
			}
		}
	}
}

// decode reads an event and checks that it is the next one. After a loss of
// power whole lines may be missing, or hold what was there before.
func (r *Reader) decode(line []byte) (event.Event, error) {
	var e event.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return e, err
	}
	switch {
	case r.ended:
		return e, errors.New("an event behind the turn's end")
	case e.TurnID != r.turn:
		return e, errors.New("an event of another turn")
	case e.Seq != r.last+1:
		return e, fmt.Errorf("event %d follows event %d", e.Seq, r.last)
	}
	r.last, r.ended = e.Seq, e.Ends()
	return e, nil
}

// Line is one event with the bytes it was read from.
type Line struct {
	Event event.Event
	Raw   []byte
}

// line gives the next whole line without its end, or io.EOF.
func (r *Reader) line() ([]byte, error) {
	for {
		chunk, err := r.r.ReadSlice('\n')
		if len(r.part)+len(chunk) > MaxLine {
			return nil, fmt.Errorf("%w: a line has more than %d bytes", ErrDamaged, MaxLine)
		}
		switch {
		case err == nil && len(r.part) == 0:
			return chunk[:len(chunk)-1], nil
		case err == nil:
			whole := append(r.part, chunk[:len(chunk)-1]...)
			r.part = nil
			return whole, nil
		}
		r.part = append(r.part, chunk...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// Close closes the file.
func (r *Reader) Close() error { return r.f.Close() }

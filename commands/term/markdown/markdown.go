package markdown

import (
	"errors"
	"io"

	"github.com/fettle-cli/fettle/commands/term"
)

const (
	defaultWidth = 80
	minWidth     = 40
	maxWidth     = 300
)

// Options says how an answer is shown.
type Options struct {
	// Width is the terminal's, 80 where 0; it is held to 40–300 columns.
	Width int
	// Style tells whether escape codes may be written.
	Style term.Style
	// Highlight colours code of known languages, which then appears line by
	// line.
	Highlight bool
}

// Writer renders one answer.
type Writer struct {
	w      io.Writer
	clean  *term.Cleaner
	blocks *blocks
	lay    *layout
	err    error
	closed bool
}

var errClosed = errors.New("write Markdown: the writer is closed")

// New gives a Writer that renders to w.
func New(w io.Writer, o Options) *Writer {
	lay := &layout{on: o.Style.Enabled()}
	m := &Writer{w: w, lay: lay, blocks: newBlocks(lay)}
	m.blocks.highlight = o.Highlight && o.Style.Enabled()
	m.Resize(o.Width)
	m.clean = term.NewCleaner(feeder{m.blocks}, term.ToTerminal)
	return m
}

// Resize takes the terminal's new width; what is written already stays as it
// is. A table that was begun keeps its columns.
func (m *Writer) Resize(width int) {
	if width == 0 {
		width = defaultWidth
	}
	m.lay.width = min(max(width, minWidth), maxWidth)
}

// feeder hands clean text to the blocks.
type feeder struct{ b *blocks }

func (f feeder) Write(p []byte) (int, error) {
	f.b.feed(p)
	return len(p), nil
}

// Write takes the next chunk and writes what can be shown by now, in one write
// or none. The first error stays.
func (m *Writer) Write(p []byte) (int, error) {
	if m.closed {
		return 0, errClosed
	}
	if m.err != nil {
		return 0, m.err
	}
	_, _ = m.clean.Write(p) // feeder never fails
	if err := m.emit(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close shows what was held back and ends the last line. It doesn't close the
// underlying writer, and may be called again.
func (m *Writer) Close() error {
	if m.closed || m.err != nil {
		m.closed = true
		return m.err
	}
	m.closed = true
	_ = m.clean.Flush() // feeder never fails
	m.blocks.close()
	return m.emit()
}

func (m *Writer) emit() error {
	if len(m.lay.out) == 0 {
		return nil
	}
	_, m.err = m.w.Write(m.lay.out)
	m.lay.out = m.lay.out[:0]
	return m.err
}

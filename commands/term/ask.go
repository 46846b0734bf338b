package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxTries is how often a question is put before it counts as not answered: a
// person who hits the wrong key thrice isn't reading, and a stuck key ends.
const maxTries = 3

// ErrNoTerminal says that nobody can be asked: there is no terminal, or this
// process is in its background.
var ErrNoTerminal = errors.New("no terminal to ask on")

// ErrNoAnswer says that the question was put and not answered.
var ErrNoAnswer = errors.New("the question was not answered")

// errResumed says that the program was stopped and is in the foreground again:
// the question is no longer on the screen's last line.
var errResumed = errors.New("resumed in the middle of a question")

// Choice is one answer.
type Choice struct {
	Key   rune   // what is typed
	Label string // what it means: "yes", "always: go test *"
	// Commits marks an answer that lets something happen. Such an answer is
	// never the default.
	Commits bool
}

// Question is what a person is asked.
type Question struct {
	// Text is the question. It may be empty, where what is asked has just
	// been printed, and may have several lines. It is cleaned.
	Text    string
	Choices []Choice
	// Default is the key that Enter stands for; 0 where Enter is no answer.
	Default rune
	// Words wants answers typed out and ended with Enter; else one key does.
	Words bool
}

// console is the person's terminal during one question.
type console interface {
	io.Writer
	// read gives what was typed in one go: a key or a paste, or a line where
	// the question wants words. It returns the cause as soon as ctx is done,
	// and errResumed where the question has to be put anew.
	read(ctx context.Context) ([]byte, error)
	columns() int
	// restore puts the terminal's modes back and drops what was typed since.
	// It may be called again, and from another goroutine than read.
	restore()
	close() error
}

// asker puts one question at a time.
type asker struct {
	host func(ctx context.Context, q Question) (rune, error)      // asks instead; see [Host]
	line func(ctx context.Context, prompt string) (string, error) // the same for a line
	open func(words bool) (console, error)
	can  func() bool

	turn chan struct{} // holds one value while a question is asked
	mu   sync.Mutex
	now  console // the one that is being used
}

func newAsker(open func(words bool) (console, error), can func() bool) *asker {
	return &asker{open: open, can: can, turn: make(chan struct{}, 1)}
}

// CanAsk tells whether a person can be asked: there is a terminal, and this
// process is in its foreground.
func (s *Streams) CanAsk() bool { return s.asker.can() }

// Ask puts a question on the person's terminal, which need not be any of the
// streams, and gives the key of the choice. Wrong answers repeat it, three
// times in all; then the error is [ErrNoAnswer]. Where nobody can be asked it
// is [ErrNoTerminal]. A ctx that is done ends it at once with its cause. What
// was typed before the question appeared is dropped, so that it can't answer.
func (s *Streams) Ask(ctx context.Context, q Question) (rune, error) {
	if err := q.check(); err != nil {
		return 0, err
	}
	if s.asker.host != nil {
		return s.asker.host(ctx, q)
	}
	con, done, err := s.take(ctx, q)
	if err != nil {
		return 0, err
	}
	defer done()
	return q.put(ctx, con, s.promptStyle())
}

// take waits until nothing else is asked and gives the terminal to ask on, until done.
func (s *Streams) take(ctx context.Context, q Question) (con console, done func(), err error) {
	select {
	case s.asker.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	if ctx.Err() != nil {
		<-s.asker.turn
		return nil, nil, context.Cause(ctx)
	}
	if con, err = s.asker.open(q.Words); err != nil {
		<-s.asker.turn
		return nil, nil, q.failed(err)
	}
	s.asker.using(con)
	back := s.giveWay(con)
	return con, func() {
		back()
		s.asker.using(nil)
		con.restore()
		_ = con.close() // nothing to lose: the answer is read
		<-s.asker.turn
	}, nil
}

// promptStyle is that of the stream which shares the prompt's terminal.
func (s *Streams) promptStyle() Style {
	for _, o := range []*Output{s.Err, s.Out} {
		if o.tty {
			return o.Style()
		}
	}
	return Style{}
}

func (a *asker) using(c console) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now = c
}

func (a *asker) restore() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.now != nil {
		a.now.restore()
	}
}

// giveWay takes the status line off, ends an unfinished line and keeps the
// status line away until the question is over.
func (s *Streams) giveWay(con io.Writer) (done func()) {
	st, sc := s.status, s.Err.screen
	if !s.Err.tty {
		st, sc = nil, s.Out.screen
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	switch {
	case st.hide():
		_, _ = io.WriteString(con, st.erase())
	case sc.owner != nil:
		_, _ = io.WriteString(con, "\n")
	}
	sc.owner = &Output{} // nobody's: whoever writes now begins a new line
	if st != nil {
		st.mute++
	}
	return func() {
		sc.mu.Lock()
		defer sc.mu.Unlock()
		sc.owner = nil // the answer's line is ended
		if st != nil {
			st.mute--
			st.draw()
		}
	}
}

// check finds what would make the question unanswerable or a trap.
func (q Question) check() error {
	seen := map[rune]bool{}
	for _, c := range q.Choices {
		if c.Key <= ' ' || !unicode.IsPrint(c.Key) || c.Label == "" || seen[c.Key] {
			return q.failed(fmt.Errorf("choice %q has no key or label of its own", c.Key))
		}
		seen[c.Key] = true
		if c.Commits && c.Key == q.Default {
			return q.failed(fmt.Errorf("the default %q would let something happen by a stray Enter", c.Key))
		}
	}
	if len(seen) == 0 || q.Default != 0 && !seen[q.Default] {
		return q.failed(errors.New("no choices, or a default that is none of them"))
	}
	return nil
}

// failed says which question an error is about.
func (q Question) failed(err error) error {
	if q.Text == "" {
		return fmt.Errorf("ask: %w", err)
	}
	return fmt.Errorf("ask %q: %w", Clean(q.Text), err)
}

func (q Question) put(ctx context.Context, con console, style Style) (rune, error) {
	for tries := 0; tries < maxTries; tries++ {
		if _, err := io.WriteString(con, q.line(con.columns(), style)); err != nil {
			return 0, q.failed(err)
		}
		in, err := con.read(ctx)
		if errors.Is(err, errResumed) {
			tries--
			continue
		}
		if err != nil {
			_, _ = io.WriteString(con, "\n") // the shell's prompt begins a line
			if errors.Is(err, io.EOF) {
				err = ErrNoAnswer
			}
			return 0, err
		}
		key := q.match(in)
		_, _ = io.WriteString(con, q.echo(in, key))
		if key != 0 {
			return key, nil
		}
		if len(in) > 0 && in[0] == endOfInput {
			return 0, ErrNoAnswer
		}
		_, _ = io.WriteString(con, style.Dim("answer "+q.keys())+"\n")
	}
	return 0, ErrNoAnswer
}

// endOfInput is Ctrl-D where the terminal doesn't act on it.
const endOfInput = 4

// echo shows a single key's answer, which the terminal didn't echo.
func (q Question) echo(in []byte, key rune) string {
	switch {
	case q.Words:
		return "" // typed and ended by the person
	case key != 0:
		return string(key) + "\n"
	}
	return CutEnd(Clean(strings.TrimSpace(string(in))), 20) + "\n"
}

// match gives the key that was meant, or 0. What came in one go must be the
// key or its word alone: a paste that happens to begin with a y is no yes.
func (q Question) match(in []byte) rune {
	s := strings.TrimSpace(string(in))
	if s == "" {
		if len(in) > 0 && (in[0] == '\r' || in[0] == '\n') {
			return q.Default
		}
		return 0
	}
	for _, c := range q.Choices {
		if s == string(c.Key) {
			return c.Key
		}
	}
	var found rune
	for _, c := range q.Choices {
		if strings.EqualFold(s, string(c.Key)) || strings.EqualFold(s, firstWord(c.Label)) {
			if found != 0 {
				return 0
			}
			found = c.Key
		}
	}
	return found
}

func firstWord(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		return s[:i]
	}
	return s
}

// keys lists the answers for the hint: "y, c or n".
func (q Question) keys() string {
	var b strings.Builder
	for i, c := range q.Choices {
		switch {
		case i > 0 && i == len(q.Choices)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteRune(c.Key)
	}
	return b.String()
}

// line draws the question: "Allow this?  [y]es  [n]o  ", wrapped between
// choices where the terminal is narrow.
func (q Question) line(columns int, style Style) string {
	short := true
	for _, c := range q.Choices {
		short = short && strings.HasPrefix(c.Label, string(c.Key))
	}
	var b strings.Builder
	text := CleanText(q.Text)
	b.WriteString(style.Bold(text))
	col := Cells(text[strings.LastIndexByte(text, '\n')+1:])
	if columns > 0 {
		col %= columns
	}
	for _, c := range q.Choices {
		label := q.label(c, short)
		if w := Cells(label) + 2; col+w > columns-2 && columns > 0 && col > 2 {
			b.WriteString("\n")
			col = 0
		}
		b.WriteString("  ")
		b.WriteString(label)
		col += Cells(label) + 2
	}
	b.WriteString("  ")
	return b.String()
}

// label draws a choice; the default's key is a capital.
func (q Question) label(c Choice, short bool) string {
	key := c.Key
	if key == q.Default {
		key = unicode.ToUpper(key)
	}
	label := Clean(c.Label)
	if short {
		return "[" + string(key) + "]" + label[utf8.RuneLen(c.Key):]
	}
	return "[" + string(key) + "] " + label
}

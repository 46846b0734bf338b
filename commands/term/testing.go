package term

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// TestOptions says what the streams of a test are.
type TestOptions struct {
	// Stdin is what can be read; nil is InputNone.
	Stdin io.Reader
	// StdinKind is InputPipe unless set otherwise.
	StdinKind InputKind
	// OutTerminal and ErrTerminal make a terminal of the streams, of one
	// screen where both are.
	OutTerminal, ErrTerminal bool
	// Width is a terminal's, 80 unless set.
	Width int
	// Env is the whole environment. TERM is xterm unless set.
	Env map[string]string
	// Answers is what a person types at prompts, one string for each time
	// the terminal is read; at their end the person is gone. With nil there
	// is no terminal to ask on.
	Answers []string
}

// TestStreams are streams with what was written to them.
type TestStreams struct {
	*Streams
	Stdout, Stderr *Buffer
	Tty            *Buffer // what prompts wrote
}

// Buffer is a bytes.Buffer that several goroutines may use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String gives what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Bytes gives a copy of what was written so far.
func (b *Buffer) Bytes() []byte { return []byte(b.String()) }

// Reset forgets it.
func (b *Buffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b.Reset()
}

// Test gives streams that write to buffers. All else is what [System] gives.
func Test(o TestOptions) *TestStreams {
	set := &settings{getenv: func(key string) string {
		if v, ok := o.Env[key]; ok || key != "TERM" {
			return v
		}
		return "xterm"
	}}
	t := &TestStreams{Streams: &Streams{set: set}, Stdout: &Buffer{}, Stderr: &Buffer{}, Tty: &Buffer{}}
	t.In = testInput(o)
	output := func(b *Buffer, tty bool, sc *screen) *Output {
		size := func() int { return o.width() }
		return &Output{w: b, set: set, screen: sc, tty: tty, size: size}
	}
	sc := &screen{}
	t.Err = output(t.Stderr, o.ErrTerminal, sc)
	if !o.OutTerminal || !o.ErrTerminal {
		sc = &screen{}
	}
	t.Out = output(t.Stdout, o.OutTerminal, sc)
	t.status = newStatus(t.Err)
	person := &testPerson{answers: o.Answers, tty: t.Tty, width: o.width()}
	t.asker = newAsker(func(bool) (console, error) {
		if o.Answers == nil {
			return nil, ErrNoTerminal
		}
		return person, nil
	}, func() bool { return o.Answers != nil })
	return t
}

func (o TestOptions) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return o.Width
}

func testInput(o TestOptions) *Input {
	switch {
	case o.Stdin == nil:
		return &Input{r: bytes.NewReader(nil), kind: o.StdinKind}
	case o.StdinKind == InputNone:
		return &Input{r: o.Stdin, kind: InputPipe}
	}
	return &Input{r: o.Stdin, kind: o.StdinKind}
}

// testPerson answers prompts.
type testPerson struct {
	tty   *Buffer
	width int

	mu      sync.Mutex
	answers []string
}

func (p *testPerson) Write(b []byte) (int, error) { return p.tty.Write(b) }

func (p *testPerson) read(ctx context.Context) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) == 0 {
		return nil, io.EOF
	}
	in := p.answers[0]
	p.answers = p.answers[1:]
	return []byte(in), nil
}

func (p *testPerson) columns() int { return p.width }
func (p *testPerson) restore()     {}
func (p *testPerson) close() error { return nil }

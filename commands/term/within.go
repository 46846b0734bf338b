package term

import (
	"context"
	"io"
)

// Host is a page of a terminal that draws what streams are given, such as that
// of package live.
type Host struct {
	// Out takes what is written to both streams.
	Out io.Writer
	// Width gives the columns.
	Width func() int
	// Status takes the status line's text; "" is none.
	Status func(text string)
	// Ask puts a question, as [Streams.Ask] does.
	Ask func(ctx context.Context, q Question) (rune, error)
	// Line asks for a line, as [Streams.AskLine] does.
	Line func(ctx context.Context, prompt string) (string, error)
}

// Within gives streams that are written on another's page: a terminal whose
// status line and questions are that page's. Standard input has nothing, since
// the page reads it.
func (s *Streams) Within(h Host) *Streams {
	sc := &screen{}
	output := func() *Output {
		return &Output{w: h.Out, set: s.set, screen: sc, tty: true, size: h.Width, prepare: s.Out.prepare}
	}
	in := &Streams{In: &Input{kind: InputNone, r: noInput{}}, Out: output(), Err: output(), set: s.set}
	in.status = &Status{out: in.Err, host: h.Status}
	in.asker = &asker{host: h.Ask, line: h.Line, can: func() bool { return true }}
	return in
}

// Hosted tells whether another's page shows what is written and asked.
func (s *Streams) Hosted() bool { return s.asker.host != nil }

// noInput is at its end.
type noInput struct{}

func (noInput) Read([]byte) (int, error) { return 0, io.EOF }

package acp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/models"
)

// Models lists what models there are.
type Models interface {
	// List asks the providers of a query, each with a deadline of its own.
	List(context.Context, models.Query) ([]models.List, error)
}

// Prompts are the user's named prompts, as a folder sees them.
type Prompts interface {
	// Prompts lists those that can be used in a folder.
	Prompts(dir string) []Prompt
	// Fill returns the text of one, filled with what was written after its name. The message
	// of an error names what is missing and how to write it: hints are not shown.
	Fill(dir, name, input string) (string, error)
}

// Prompt is a named prompt.
type Prompt struct{ Name, Description string }

// Options say whom an editor talks to, and how.
type Options struct {
	Engine *engine.Engine
	// Models lists the models to choose from, and Prompts the user's prompts; nil
	// lists none.
	Models  Models
	Prompts Prompts
	// Prepare fills in what the configuration says of a turn. It may be nil.
	Prepare func(*engine.TurnRequest)
	// Model and Agent are what sessions begin with; without a Model fettle chooses
	// one, and without an Agent there is none.
	Model, Agent string
	Version      string
	// In and Out are the editor's stream. One that is an io.Closer is closed when
	// Run ends before the stream does.
	In  io.Reader
	Out io.Writer
	Log *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// page is how many sessions a list has; 0 is pageSessions. Tests set it.
	page int
}

const (
	// stopTime bounds the wait for turns when the editor has gone: a cancelled
	// one ends within 3.5 s, and its last snapshot takes moments.
	stopTime = 10 * time.Second
	// readerTime bounds the wait for the reader, which may hang in a read that
	// nothing interrupts.
	readerTime = 100 * time.Millisecond
	// maxInFlight bounds the requests that wait for an answer; an editor has a
	// few at most.
	maxInFlight = 256
)

var errStopping = errors.New("fettle acp ends")

// Run answers an editor until its stream ends, it can't be written to, or ctx
// ends. Turns that run then are cancelled and have ended when Run returns. An
// error says that the stream could not be read or written.
func Run(ctx context.Context, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Prepare == nil {
		o.Prepare = func(*engine.TurnRequest) {}
	}
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	a := &agent{
		o: o, eng: o.Engine, log: o.Log, conn: newConn(o.Out, o.Log), base: base,
		queue: make(chan *request, maxInFlight), inFlight: map[string]*request{}, sessions: map[string]*session{},
	}
	a.background.Go(a.work)
	err := a.read(ctx)
	a.conn.hangUp()
	stop(errStopping)
	close(a.queue)
	a.wait()
	return err
}

// wait waits for all that was started.
func (a *agent) wait() {
	ended := make(chan struct{})
	go func() {
		a.background.Wait()
		close(ended)
	}()
	t := time.NewTimer(stopTime)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
		a.log.Error("turns did not end in time; they are interrupted")
	}
}

// agent is one editor's.
type agent struct {
	o    Options
	eng  *engine.Engine
	log  *slog.Logger
	conn *conn
	base context.Context // of requests

	queue      chan *request // for work, in order
	background sync.WaitGroup

	// client is what the editor said of itself; nil before initialize. work
	// alone writes it, before anything else is carried out.
	client *clientCapabilities

	mu       sync.Mutex
	inFlight map[string]*request
	sessions map[string]*session

	models modelChoices
}

// line is what the reader has read.
type line struct {
	text []byte
	err  error
}

// read takes the editor's messages until there are no more.
func (a *agent) read(ctx context.Context) error {
	lines, gone, ended := make(chan line), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		in := newLineReader(a.o.In, maxLine)
		for {
			text, err := in.next()
			select {
			case lines <- line{text, err}:
			case <-gone:
				return
			}
			if err != nil && !errors.Is(err, errLongLine) {
				return
			}
		}
	}()
	defer func() {
		close(gone)
		if c, ok := a.o.In.(io.Closer); ok {
			_ = c.Close() // nobody reads any more
		}
		t := time.NewTimer(readerTime)
		defer t.Stop()
		select {
		case <-ended:
		case <-t.C:
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.conn.broken:
			return a.conn.err
		case l := <-lines:
			switch {
			case errors.Is(l.err, errLongLine):
				a.conn.respond([]byte("null"), nil, &rpcError{Code: codeRequest, Message: "the message is too long"})
			case errors.Is(l.err, io.EOF):
				return nil
			case l.err != nil:
				return l.err
			default:
				a.take(l.text)
			}
		}
	}
}

package engine

import (
	"context"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// Models finds models by name; [models.Catalog] is the usual one.
type Models interface {
	// Resolve returns the provider and the model of a name, which may be an alias or a
	// short name. It asks at most providers on this machine.
	Resolve(ctx context.Context, ref string) (provider.Provider, string, error)
	// Default chooses a model where none was named; it may ask addresses.
	Default(ctx context.Context) (ref string, err error)
	// Describe tells what is known of the model, the configuration's word
	// before the provider's.
	Describe(ctx context.Context, p provider.Provider, model string) (provider.Model, error)
}

var _ Models = (*models.Catalog)(nil)

// Options make an Engine.
type Options struct {
	// StoreOptions are those of the data directory.
	store.Options
	// Sources are the tools and agents of turns.
	catalog.Sources
	Models Models
	// CommandsWriteGit lets commands add and change repositories in the user's folders.
	CommandsWriteGit bool
	// SealsRepositories reports whether sandboxes keep tools from changing the
	// repositories that exist in the user's folders; nil means that they do not.
	SealsRepositories func(context.Context) bool
	// Layers reports why the processes of a workspace's calls can't write to a layer in
	// dir instead of the workspace; "" means that they can. Nil means that they can't.
	Layers func(ctx context.Context, workspace, dir string) (why string, err error)
	// Policy holds for every turn.
	Policy permission.Policy
	// StoredModel is called with the model that a chat's record names, before it is asked;
	// own reports that the request is a command of the user's (TurnRequest.Own). Nil does
	// nothing.
	StoredModel func(ref string, own bool)
	// FoldersFromOutside counts what tools read in the user's own folders as content from
	// outside: see taint.go.
	FoldersFromOutside bool
	// Embedding is the model of texts that are embedded without naming one; empty is none.
	Embedding string
	// Retry is how often and how long a failed request is tried again.
	Retry provider.RetryOptions
	// Compact is how requests are made to fit.
	Compact Compaction
	// Tracer is told what turns spend their time with; nil tells nobody.
	Tracer Tracer
	// CutAdvice returns a clause that says how to apply or discard what a call wrote that was
	// cut off; warnings about it end with the clause. nil leaves it out.
	CutAdvice func(call string) string
}

// Engine runs turns on one data directory. Make it with New.
type Engine struct {
	*store.Store
	*workspace.Folders
	*catalog.Catalog
	o     Options
	grace time.Duration // toolGrace, but in tests

	upkeepEvery time.Duration // the constant, but in tests

	mu     sync.Mutex
	turns  map[store.TurnID]*turn // live ones, and the last few that ended
	ended  []store.TurnID
	closed bool
	// direct are the calls that run without a layer the next time; see directly.
	direct map[string]bool
	wg     sync.WaitGroup // of starts and live turns
	// keeping is set once the goroutine runs that looks after the store, and
	// collecting stops what it is at; nil where it is at nothing.
	keeping    bool
	minding    bool // the goroutine runs that looks after services
	collecting context.CancelFunc
	base       context.Context
	stop       context.CancelCauseFunc
}

// DefaultMaxSteps bounds the responses of a turn that names no bound: enough
// for long work, and an end for a model that goes round in circles.
const DefaultMaxSteps = 25

// keptTurns is how many ended turns stay in memory, for followers that are a
// little late; older ones are read from the journal or the store.
const keptTurns = 64

// New makes an Engine. It touches no file and starts nothing.
func New(o Options) *Engine {
	if o.Tracer == nil {
		o.Tracer = noTracer{}
	}
	e := &Engine{
		o:           o,
		turns:       map[store.TurnID]*turn{},
		grace:       toolGrace,
		upkeepEvery: upkeepEvery,
	}
	e.Store = store.NewFrom(&e.o.Options)
	e.Folders = workspace.New(e.Store)
	e.Catalog = catalog.New(e.Store, &e.o.Sources, e.hold)
	e.Writes = e.writesJournal
	e.CutAdvice = func(call string) string {
		if e.o.CutAdvice == nil {
			return ""
		}
		return e.o.CutAdvice(call)
	}
	e.Seals = func(ctx context.Context) bool { return e.o.SealsRepositories != nil && e.o.SealsRepositories(ctx) }
	e.Services, e.Builtins = e.o.Services, e.BuiltinIDs
	e.base, e.stop = context.WithCancelCause(context.Background())
	return e
}

// Close cancels live turns and starts, waits for them and lets go of the store.
// A tool that was left behind (see the package's documentation) is not waited
// for.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop(store.ErrClosed)
	e.wg.Wait()
	return e.Store.Close()
}

// enter counts a start, which Close cancels and waits for.
func (e *Engine) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	ctx, leave, err = e.hold(ctx)
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.beginUpkeep()
	}
	return ctx, leave, err
}

// hold keeps the store open until release is called. Close cancels ctx and waits.
func (e *Engine) hold(ctx context.Context) (_ context.Context, release func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, nil, fault.Wrap(fault.Interrupted, "start turn", store.ErrClosed)
	}
	e.wg.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.base, func() { cancel(store.ErrClosed) })
	return ctx, func() { stop(); cancel(nil); e.wg.Done() }, nil
}

// remember takes a turn in that is about to run. Its start is still counted,
// so Close waits for it.
func (e *Engine) remember(t *turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turns[t.id] = t
	e.wg.Add(1)
}

// retire keeps an ended turn for late followers and forgets the oldest.
func (e *Engine) retire(t *turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = append(e.ended, t.id)
	if len(e.ended) > keptTurns {
		delete(e.turns, e.ended[0])
		e.ended = e.ended[1:]
	}
	e.wg.Done()
}

func (e *Engine) forget(t *turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.turns, t.id)
}

func (e *Engine) turn(id store.TurnID) *turn {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.turns[id]
}

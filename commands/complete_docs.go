package commands

import (
	"context"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
)

// documents are those that are stored, or those that were removed.
func (c *completer) documents(removed bool) suggestions {
	return c.fromStore(func(ctx context.Context, eng *engine.Engine) (out suggestions, err error) {
		docs, err := eng.Documents(ctx, removed)
		for _, d := range docs {
			out.add(d.Name, d.MIME+", "+term.Size(d.Size))
		}
		return out, err
	})
}

// fromStore looks into the store for suggestions; what isn't there in time is
// left out.
func (c *completer) fromStore(find func(context.Context, *engine.Engine) (suggestions, error)) suggestions {
	dirs, err := c.rt.dirs()
	if err != nil {
		return suggestions{}
	}
	ctx, cancel := context.WithTimeout(c.ctx, glanceTime)
	defer cancel()
	found := make(chan suggestions, 1)
	go func() { // is left behind where it is late
		eng := engine.New(engine.Options{DataDir: dirs.Data})
		out, err := find(ctx, eng)
		if eng.Close() != nil || err != nil {
			out = suggestions{}
		}
		found <- out
	}()
	select {
	case <-ctx.Done():
		return suggestions{}
	case out := <-found:
		return out
	}
}

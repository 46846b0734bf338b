package suggest

import (
	"context"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/store"
)

// documents are those that are stored, or those that were removed.
func (c *completer) documents(removed bool) List {
	return c.fromStore(func(ctx context.Context, eng *store.Store) (out List, err error) {
		f := store.DocumentFilter{Removed: removed, Limit: Most + 1}
		docs, err := eng.ListDocuments(ctx, f)
		if err == nil && len(docs) > Most {
			f.Prefix = c.typed
			docs, err = eng.ListDocuments(ctx, f)
		}
		for _, d := range docs {
			out.add(d.Name, d.MIME+", "+term.Size(d.Size))
		}
		return out, err
	})
}

// ownAgents are the agents that the user made.
func (c *completer) ownAgents() List {
	return c.fromStore(func(ctx context.Context, eng *store.Store) (out List, err error) {
		own, err := eng.OwnAgents(ctx)
		for _, a := range own {
			out.addAgent(a.ID, a.Purpose)
		}
		return out, err
	})
}

// agentChange suggests the next argument of a change to an agent: the agent, a field, a value.
func (c *completer) agentChange(args []string) (out List) {
	switch len(args) {
	case 0:
		return c.ownAgents()
	case 1:
		for _, name := range catalog.AgentFieldNames() {
			out.add(name, "")
		}
		return out
	}
	switch args[1] {
	case "tools":
		return c.tools()
	case "handoffs":
		return c.agents()
	case "model":
		return c.models("")
	}
	return out
}

// addAgent adds an agent with the first line of its purpose.
func (s *List) addAgent(id, purpose string) {
	about, _, _ := strings.Cut(purpose, "\n")
	s.add(id, about)
}

// fromStore looks into the store for suggestions. The look may take its time, on
// a slow disk say, and is not waited for then: what isn't there in time is left
// out, and the program ends, which the store is made for.
func (c *completer) fromStore(find func(context.Context, *store.Store) (List, error)) List {
	dirs, err := c.rt.Dirs()
	if err != nil {
		return List{}
	}
	ctx, cancel := context.WithTimeout(c.ctx, glanceTime)
	defer cancel()
	found := make(chan List, 1)
	taken := c.rt.StoreTaken(dirs)
	go func() { // is left behind where it is late
		eng := store.New(store.Options{DataDir: dirs.Data, StoreTaken: taken})
		out, err := find(ctx, eng)
		if eng.Close() != nil || err != nil {
			out = List{}
		}
		found <- out
	}()
	select {
	case <-ctx.Done():
		return List{}
	case out := <-found:
		return out
	}
}

// workflows are what the arguments of the group workflows can be.
func (c *completer) workflows(name string) List {
	var out List
	if strings.Contains(name, "WORKFLOW") {
		for _, set := range c.mirror().Toolsets {
			for _, w := range set.Workflows {
				out.add(set.ID+":"+w.ID, w.Name)
			}
		}
	}
	if name == "ACTION" {
		out.add(store.ActContinue, "continue after a checkpoint")
		out.add(store.ActRetry, "do the step again")
	}
	if !strings.Contains(name, "INSTANCE") {
		return out
	}
	out.add(store.LastWorkflow, "the one that was begun last")
	found := c.fromStore(func(ctx context.Context, eng *store.Store) (out List, err error) {
		all, err := eng.GlanceWorkflows(ctx, mostChats)
		for _, i := range all {
			out.add(i.ID, i.Workflow.ID+", "+string(i.State))
		}
		return out, err
	})
	out.Values = append(out.Values, found.Values...)
	return out
}

package engine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

var _ catalog.MCP = (*mcp.Manager)(nil)

const (
	// offerTime bounds how long a turn waits for the servers of its session.
	offerTime = 20 * time.Second
	// maxSessionServers bounds how many a session may have: fewer than there can be
	// connections, so that they don't end each other's.
	maxSessionServers = mcp.MaxConnections * 3 / 4
)

// sessionTools adds the tools of a session's own servers to the turn's toolbox.
// One that can't be reached is named, and the others are there.
func (t *turn) sessionTools(ctx context.Context) error {
	if len(t.req.MCP) == 0 {
		return nil
	}
	if t.eng.o.MCP == nil {
		return fault.New(fault.Usage, "MCP servers can't be reached here")
	}
	if n := len(t.req.MCP); n > maxSessionServers {
		return fault.New(fault.Usage, fmt.Sprintf("the request names %d MCP servers; %d are allowed", n, maxSessionServers))
	}
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	servers := catalog.SessionServers(t.req.MCP, t.box)
	found := make([][]toolset.Tool, len(servers))
	errs := make([]error, len(servers))
	var wg sync.WaitGroup
	folder := t.sessionFolder()
	for i, s := range servers {
		wg.Go(func() { found[i], errs[i] = t.eng.o.MCP.Offer(ctx, s, folder) })
	}
	wg.Wait()
	var entries []toolset.Entry
	for i, s := range servers {
		if errs[i] != nil {
			t.notes = append(t.notes, "the MCP server "+s.ID+" can't be used: "+fault.FirstLine(errs[i]))
			continue
		}
		for _, tool := range found[i] {
			entries = append(entries, toolset.Entry{Tool: tool, Runner: t.eng.o.MCP.Runner(s, tool)})
		}
	}
	tools, err := t.box.Tools.With(entries...)
	if err != nil {
		return fault.Wrap(fault.Failed, "gather the tools of the session", err)
	}
	box := *t.box // the engine's own is shared with other turns
	box.Tools, box.Remote, box.Session = tools, map[string]bool{}, map[string]bool{}
	maps.Copy(box.Remote, t.box.Remote)
	for _, entry := range entries {
		box.Remote[entry.Tool.ID], box.Session[entry.Tool.ID] = true, true
	}
	t.box = &box
	return nil
}

// sessionFolder is where a session's servers are started to be asked for their
// tools: the folder that the turn names, so that the same process serves its
// calls.
func (t *turn) sessionFolder() *toolset.Workspace {
	if t.req.Workspace == "" {
		return nil
	}
	path, err := filepath.EvalSymlinks(t.req.Workspace)
	if err != nil || toolset.CheckBound(path, t.eng.Places()) != nil {
		return nil // checkChat says what is wrong with it
	}
	ws := &toolset.Workspace{Path: path, Bound: true}
	t.eng.Equip(ws)
	return ws
}

package mistral

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
)

const (
	// maxAgents bounds the agents of a turn; nobody describes as many.
	maxAgents = 64
	// maxAgentFile bounds the file of ids.
	maxAgentFile = 1 << 20
	// agentFileVersion is the form of that file.
	agentFileVersion = 1
)

// agentBody is an agent as the API is sent it, and as it gives it.
type agentBody struct {
	ID           string                 `json:"id,omitempty"`
	Model        string                 `json:"model"`
	Name         string                 `json:"name"`
	Description  string                 `json:"description"`
	Instructions string                 `json:"instructions"`
	Tools        []chatcompletions.Tool `json:"tools"`
	Handoffs     []string               `json:"handoffs"`
}

// agentFile is what is kept of agents between programs.
type agentFile struct {
	Version int `json:"version"`
	// Address is where they were made.
	Address string            `json:"address"`
	Agents  map[string]string `json:"agents"` // Mistral's ids, by ours
}

// castIDs are agents as they were made or found to be, so that one process looks
// at them once.
type castIDs struct {
	agents []provider.NativeAgent
	ids    map[string]string
}

// enlist gives the ids of agents at Mistral: kept ones are looked at, missing
// ones made, and what differs is brought up to date, handoffs last, since they
// may go round.
func (p *Provider) enlist(ctx context.Context, req *provider.Request) (map[string]string, error) {
	src, agents := p.Source(req.Model, wire.Asked(req)...), req.Native.Agents
	p.mu.Lock()
	known := p.cast
	p.mu.Unlock()
	if reflect.DeepEqual(known.agents, agents) {
		return known.ids, nil
	}
	if len(agents) > maxAgents {
		return nil, src.Error(provider.Rejected, fmt.Sprintf("there are %d agents; %d can be made", len(agents), maxAgents), nil)
	}
	if err := os.MkdirAll(filepath.Dir(p.o.AgentFile), 0o700); err != nil {
		return nil, src.Error(provider.Rejected, "make the folder of agents: "+err.Error(), err)
	}
	release, err := lockfile.Wait(ctx, p.o.AgentFile+".lock", lockfile.Patience{Bound: agentsWait, Quiet: lockfile.Soon, OnWait: p.o.OnWait})
	if err != nil {
		return nil, src.Error(provider.Rejected, "wait for the file of agents: "+err.Error(), err)
	}
	defer release()
	ids, err := p.enlistLocked(ctx, src, agents)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cast = castIDs{slices.Clone(agents), ids}
	return ids, nil
}

// agentsWait bounds the wait for another process that makes agents, each of which is a
// request.
const agentsWait = time.Minute

func (p *Provider) enlistLocked(ctx context.Context, src wire.Source, agents []provider.NativeAgent) (map[string]string, error) {
	kept := p.readAgents()
	ids, have := map[string]string{}, map[string]agentBody{}
	for _, a := range agents {
		want, err := agentOf(a)
		if err != nil {
			return nil, src.Error(provider.Rejected, err.Error(), err)
		}
		body, found, err := p.lookUp(ctx, src, kept[a.ID])
		if err != nil {
			return nil, err
		}
		if !found {
			if body, err = p.agentCall(ctx, src, http.MethodPost, "agents", want); err != nil {
				return nil, err
			}
			kept[a.ID] = body.ID
			if err := p.keepAgents(src, kept); err != nil { // each at once, so that none is made twice
				return nil, err
			}
		}
		ids[a.ID], have[a.ID] = body.ID, body
	}
	for _, a := range agents {
		want, err := agentOf(a)
		if err != nil {
			return nil, src.Error(provider.Rejected, err.Error(), err)
		}
		for _, tool := range slices.Sorted(maps.Keys(a.Handoffs)) {
			want.Handoffs = append(want.Handoffs, ids[a.Handoffs[tool]])
		}
		if sameAgent(want, have[a.ID]) {
			continue
		}
		if _, err := p.agentCall(ctx, src, http.MethodPatch, "agents/"+url.PathEscape(ids[a.ID]), want); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// agentOf is an agent as the API wants it, without its handoffs.
func agentOf(a provider.NativeAgent) (agentBody, error) {
	out := agentBody{
		Model: a.Model, Name: a.ID, Description: strings.TrimSpace(a.Purpose), Instructions: a.Prompt, Tools: []chatcompletions.Tool{}, Handoffs: []string{},
	}
	names := wire.Names(&provider.Request{Tools: a.Tools})
	for _, t := range a.Tools {
		fn, err := chatcompletions.Function(t, names)
		if err != nil {
			return out, fmt.Errorf("the tool %s of the agent %s can't be offered: %w", t.Name, a.ID, err)
		}
		out.Tools = append(out.Tools, chatcompletions.Tool{Type: "function", Function: fn})
	}
	return out, nil
}

// sameAgent tells whether an agent is as it should be. What the API adds to a
// tool doesn't count.
func sameAgent(want, have agentBody) bool {
	if want.Model != have.Model || want.Name != have.Name || want.Description != have.Description ||
		want.Instructions != have.Instructions || !slices.Equal(want.Handoffs, have.Handoffs) || len(want.Tools) != len(have.Tools) {
		return false
	}
	for i, t := range want.Tools {
		f, g := t.Function, have.Tools[i].Function
		if f.Name != g.Name || f.Description != g.Description || !sameJSON(f.Parameters, g.Parameters) {
			return false
		}
	}
	return true
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// lookUp asks for an agent by its id; found is false where there is none.
func (p *Provider) lookUp(ctx context.Context, src wire.Source, id string) (body agentBody, found bool, err error) {
	if id == "" {
		return body, false, nil
	}
	body, err = p.agentCall(ctx, src, http.MethodGet, "agents/"+url.PathEscape(id), nil)
	var e *provider.Error
	if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusUnprocessableEntity) {
		return body, false, nil
	}
	return body, err == nil, err
}

// agentCall asks the API about one agent.
func (p *Provider) agentCall(ctx context.Context, src wire.Source, method, path string, send any) (out agentBody, err error) {
	var body []byte
	if send != nil {
		if body, err = wire.Marshal(send); err != nil {
			return out, src.Error(provider.Rejected, err.Error(), err)
		}
	}
	x, err := p.Exchange(ctx, method, path, body, src)
	if err != nil {
		return out, err
	}
	err = x.Ask(ctx, func(answer []byte) error {
		if !wire.Lenient(answer, &out) || out.ID == "" {
			return errors.New("it is no agent")
		}
		return nil
	})
	return out, err
}

// readAgents reads the kept ids. A file that can't be read, or is of another
// address, has none: then agents are made.
func (p *Provider) readAgents() map[string]string {
	none := map[string]string{}
	info, err := os.Stat(p.o.AgentFile)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxAgentFile {
		return none
	}
	data, err := atomicfile.ReadFile(p.o.AgentFile)
	var f agentFile
	if err != nil || json.Unmarshal(data, &f) != nil || f.Version != agentFileVersion || f.Address != p.Base.String() || f.Agents == nil {
		return none
	}
	return f.Agents
}

// keepAgents replaces the file of ids.
func (p *Provider) keepAgents(src wire.Source, ids map[string]string) error {
	data, err := json.MarshalIndent(agentFile{agentFileVersion, p.Base.String(), ids}, "", "  ")
	if err != nil {
		return src.Error(provider.Rejected, "keep the ids of agents: "+err.Error(), err)
	}
	if err := atomicfile.Write(p.o.AgentFile, append(data, '\n'), atomicfile.Synced); err != nil {
		return src.Error(provider.Rejected, "keep the ids of agents: "+err.Error(), err)
	}
	return nil
}

package mistral

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// listEntry is a model in a list.
type listEntry struct {
	ID               wire.String   `json:"id"`
	Created          wire.Int      `json:"created"`
	MaxContextLength wire.Int      `json:"max_context_length"`
	Capabilities     *capabilities `json:"capabilities"`
	Deprecation      wire.String   `json:"deprecation"`
	Replacement      wire.String   `json:"deprecation_replacement_model"`
}

type capabilities struct {
	Chat      *bool `json:"completion_chat"`
	Tools     *bool `json:"function_calling"`
	Vision    *bool `json:"vision"`
	Reasoning *bool `json:"reasoning"`
}

// UnmarshalJSON ignores capabilities of other forms.
func (c *capabilities) UnmarshalJSON(b []byte) error {
	type plain capabilities
	var v plain
	if wire.Lenient(b, &v) {
		*c = capabilities(v)
	}
	return nil
}

// chats tells whether a model can be asked; others are for embeddings, speech
// and the like.
func (e listEntry) chats() bool {
	return e.ID != "" && (e.Capabilities == nil || e.Capabilities.Chat == nil || *e.Capabilities.Chat)
}

// model is what the entry tells.
func (e listEntry) model(prov string) provider.Model {
	m := provider.Model{Provider: prov, Name: string(e.ID), ContextLength: int(e.MaxContextLength.N), Created: provider.UnixTime(e.Created.N)}
	if c := e.Capabilities; c != nil {
		m.Tools, m.Images, m.Thinking = known(c.Tools), known(c.Vision), known(c.Reasoning)
	}
	if day, _, _ := strings.Cut(string(e.Deprecation), "T"); day != "" {
		m.Details = "retires " + day
		if e.Replacement != "" {
			m.Details += ", then " + string(e.Replacement)
		}
	}
	return m
}

func known(b *bool) provider.Known {
	switch {
	case b == nil:
		return provider.Unknown
	case *b:
		return provider.Yes
	}
	return provider.No
}

// Models lists the models that can be asked, in the address's own order.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	src := wire.Source{Provider: p.o.Name, Address: p.Address()}
	hr, src, err := p.request(ctx, http.MethodGet, "models", nil, src)
	if err != nil {
		return nil, err
	}
	x := wire.Exchange{Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: listLimit, Between: listLimit}}
	body, err := x.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := readList(body)
	if err != nil {
		return nil, src.Undecodable(&wire.FormatError{Chunk: body, Err: err})
	}
	models := make([]provider.Model, 0, len(entries))
	seen := map[string]bool{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		if m := e.model(p.o.Name); e.chats() && !seen[m.Name] {
			seen[m.Name] = true
			models = append(models, m)
			p.listed[m.Name] = m
		}
	}
	return models, nil
}

// readList reads `{"data": […]}` or a bare list.
func readList(body []byte) ([]listEntry, error) {
	var bare []listEntry
	if json.Unmarshal(body, &bare) == nil {
		return bare, nil
	}
	var list struct {
		Data []listEntry `json:"data"`
	}
	err := json.Unmarshal(body, &list)
	return list.Data, err
}

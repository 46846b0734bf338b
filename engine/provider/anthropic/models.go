package anthropic

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

const (
	// pageSize is the most that the API gives at once.
	pageSize = 1000
	// maxPages bounds a list whose pages never end.
	maxPages = 20
)

// listPage is one page of a list.
type listPage struct {
	Data    []listEntry `json:"data"`
	HasMore bool        `json:"has_more"`
	LastID  wire.String `json:"last_id"`
}

// listEntry is a model in a list.
type listEntry struct {
	ID             wire.String   `json:"id"`
	DisplayName    wire.String   `json:"display_name"`
	CreatedAt      wire.String   `json:"created_at"`
	MaxInputTokens wire.Int      `json:"max_input_tokens"`
	Capabilities   *capabilities `json:"capabilities"`
}

type capabilities struct {
	ImageInput        *support `json:"image_input"`
	StructuredOutputs *support `json:"structured_outputs"`
	Thinking          *support `json:"thinking"`
}

// UnmarshalJSON ignores capabilities of other forms; addresses that only speak
// this API have their own.
func (c *capabilities) UnmarshalJSON(b []byte) error {
	type plain capabilities
	var v plain
	if wire.Lenient(b, &v) {
		*c = capabilities(v)
	}
	return nil
}

type support struct {
	Supported bool `json:"supported"`
}

func (s *support) known(or provider.Known) provider.Known {
	switch {
	case s == nil:
		return or
	case s.Supported:
		return provider.Yes
	}
	return provider.No
}

// model is what the entry tells, and else what is known of the family.
func (e listEntry) model(prov string) provider.Model {
	m := describe(prov, string(e.ID))
	m.Details = string(e.DisplayName)
	if at, err := time.Parse(time.RFC3339, string(e.CreatedAt)); err == nil {
		m.Created = provider.UnixTime(at.Unix()) // the API has the epoch for an unknown time
	}
	if e.MaxInputTokens.N > 0 {
		m.ContextLength = int(e.MaxInputTokens.N)
	}
	if c := e.Capabilities; c != nil {
		m.Images = c.ImageInput.known(m.Images)
		m.Thinking = c.Thinking.known(m.Thinking)
		if m.Schema != provider.Yes { // else a forced call does it
			m.Schema = c.StructuredOutputs.known(m.Schema)
		}
	}
	return m
}

// Models lists the models, the latest first.
func (p *Provider) Models(ctx context.Context) ([]provider.Model, error) {
	var models []provider.Model
	after := ""
	for range maxPages {
		page, err := p.page(ctx, after)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Data {
			if m := e.model(p.Name()); m.Name != "" {
				models = append(models, m)
			}
		}
		if !page.HasMore || page.LastID == "" || string(page.LastID) == after || len(page.Data) == 0 {
			break
		}
		after = string(page.LastID)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range models {
		p.listed[m.Name] = m
	}
	return models, nil
}

// page gets the page of a list behind a model.
func (p *Provider) page(ctx context.Context, after string) (*listPage, error) {
	x, err := p.Exchange(ctx, http.MethodGet, "models", nil, p.Source(""))
	if err != nil {
		return nil, err
	}
	q := x.Request.URL.Query()
	for name, value := range map[string]string{"limit": strconv.Itoa(pageSize), "after_id": after} {
		if value != "" && !q.Has(name) { // else the address came with it
			q.Set(name, value)
		}
	}
	x.Request.URL.RawQuery = q.Encode()
	var page listPage
	if err := x.Ask(ctx, func(body []byte) error { return json.Unmarshal(body, &page) }); err != nil {
		return nil, err
	}
	return &page, nil
}

package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var _ provider.Counter = (*Provider)(nil)

// CountTokens asks the address how many tokens a request has. What the endpoint doesn't
// take, since it says only how an answer is made, is left out of the request.
func (p *Provider) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	b, err := encode(req, p.quirks(req.Model), adaption{refused: p.refused.Of(req)})
	src := p.source(req)
	if err != nil {
		return 0, src.Error(provider.Rejected, err.Error(), err)
	}
	none := json.RawMessage("null")
	body, err := wire.WithMembers(b.body, map[string]json.RawMessage{
		"max_tokens": none, "stream": none, "temperature": none, "top_p": none, "top_k": none, "stop_sequences": none,
		"metadata": none, "service_tier": none,
	})
	if err != nil {
		return 0, src.Error(provider.Rejected, err.Error(), err)
	}
	hr, src, err := p.request(ctx, http.MethodPost, p.base.JoinPath("messages", "count_tokens"), body, src)
	if err != nil {
		return 0, err
	}
	hr.Header.Set("Accept", "application/json")
	x := wire.Exchange{
		Client: p.client, Request: hr, Source: src, Limits: wire.Limits{First: listLimit, Between: listLimit},
		Refuse: func(resp *http.Response, body []byte) *provider.Error { return refused(src, resp, body) },
	}
	answer, err := x.Fetch(ctx)
	if err != nil {
		return 0, err
	}
	var count struct {
		InputTokens *int `json:"input_tokens"`
	}
	err = json.Unmarshal(answer, &count)
	if err == nil && count.InputTokens == nil {
		err = errors.New("it has no input_tokens")
	}
	if err != nil {
		return 0, src.Undecodable(&wire.FormatError{Chunk: answer, Err: err})
	}
	return *count.InputTokens, nil
}

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
	src := p.Source(req.Model, wire.Asked(req)...)
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
	x, err := p.Exchange(ctx, http.MethodPost, "messages/count_tokens", body, src)
	if err != nil {
		return 0, err
	}
	var count struct {
		InputTokens *int `json:"input_tokens"`
	}
	err = x.Ask(ctx, func(answer []byte) error {
		if err := json.Unmarshal(answer, &count); err != nil {
			return err
		}
		if count.InputTokens == nil {
			return errors.New("it has no input_tokens")
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return *count.InputTokens, nil
}

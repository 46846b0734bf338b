package openai

import (
	"fmt"
	"io"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// DefaultBaseURL is OpenAI's own address.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options are the address of a Provider, and how it is asked. BaseURL ends where
// /chat/completions begins. An address without a path gets /v1, and one of Azure the path of
// its v1 API.
type Options struct {
	wire.Options
	// API is the API that models are asked by, APIChat or APIResponses. If it is empty, the
	// provider chooses one by address and model; see the package's comment.
	API string
}

// Provider is one address that serves chat completions, the Responses API or both. It is safe
// for concurrent use.
type Provider struct {
	*chatcompletions.Provider
	configured string // Options.API
}

var _ provider.Provider = (*Provider)(nil)

// New makes a Provider. It sends nothing yet.
func New(o Options) (*Provider, error) {
	p := &Provider{configured: o.API}
	responses := &chatcompletions.Form{
		Path: "responses", Takes: responsesTakes, Encode: encodeResponse, Patient: true,
		Decode: func(body io.Reader, o chatcompletions.DecoderOptions) wire.Decoder {
			return newResponseDecoder(body, o)
		},
	}
	var err error
	p.Provider, err = chatcompletions.New(o.Options, chatcompletions.Dialect{
		Adapter: wire.Adapter{Name: "openai", BaseURL: DefaultBaseURL, Base: azureBase, SetKey: setKey},
		Quirks:  quirksOf, Learn: p.adapt, Explain: p.explain,
		Takes: chatTakes, Completions: "completions", CompletionTakes: completionTakes,
		Form: func(model string, q chatcompletions.Quirks) *chatcompletions.Form {
			if p.api(model, q) == APIResponses {
				return responses
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if u := p.Base; o.API == APIResponses && deployment(u) {
		return nil, fmt.Errorf("set up provider %s: %s: %w", p.Name(), wire.Address(u), ErrDeployment)
	}
	return p, nil
}

// adapt takes a lesson from a refusal, about the API or about what the request contains.
func (p *Provider) adapt(err error, req *provider.Request, b *chatcompletions.Built, q *chatcompletions.Quirks, now *chatcompletions.Adaption) chatcompletions.Lesson {
	if p.learnAPI(err, b.Form, q) {
		now.Moved = true
		return chatcompletions.OfModel
	}
	if l := learn(err, req, b, q, now); l != chatcompletions.Nothing {
		return l
	}
	if now.Moved && b.Form != nil && useless(err) {
		q.API, q.OnlyAPI = APIChat, true
		return chatcompletions.OfModel
	}
	return chatcompletions.Nothing
}

package mistral

import (
	"context"
	"iter"
	"net/url"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/chatcompletions"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

// DefaultBaseURL is Mistral's own address.
const DefaultBaseURL = "https://api.mistral.ai/v1"

// Options are the address of a Provider, and how it is asked. BaseURL ends where
// /chat/completions begins. An address without a path gets /v1.
type Options struct {
	wire.Options
	// AgentFile is the file that the ids of agents are kept in, which are made at
	// Mistral then and answer in one conversation there; "" leaves agents to the
	// caller. Its folder is made.
	AgentFile string
	// OnWait is called with the owner of that file's lock, if the wait for it takes more
	// than a second. It may be nil.
	OnWait func(owner string)
}

// Provider is one address that serves chat completions as Mistral does. It is
// safe for concurrent use.
type Provider struct {
	*chatcompletions.Provider
	o Options

	mu   sync.Mutex
	cast castIDs // the agents that were looked at last
}

var _ provider.Provider = (*Provider)(nil)

// New makes a Provider. It sends nothing yet.
func New(o Options) (*Provider, error) {
	core, err := chatcompletions.New(o.Options, chatcompletions.Dialect{
		Adapter: wire.Adapter{Name: "mistral", BaseURL: DefaultBaseURL, Refuse: refused},
		Quirks:  quirksOf, Learn: learn, Takes: takes, Think: think,
		Completions: "fim/completions", CompletionTakes: fimTakes, EmbedBody: embedBody,
		Described: true, InStream: inStream, NewID: newID,
	})
	if err != nil {
		return nil, err
	}
	return &Provider{Provider: core, o: o}, nil
}

// quirksOf returns the quirks of a model of which nothing was learnt.
func quirksOf(*url.URL, string) chatcompletions.Quirks {
	return chatcompletions.Quirks{
		Chunks: true, Turns: true, AnyStrict: true, AnyTool: "any", RandomSeed: true,
		NineID: true, MediaInTool: true, NoReasoning: true, NoStreamOptions: true,
		Prefill: chatcompletions.PrefillRepeated,
	}
}

// Stream sends the request; see provider.Provider.
func (p *Provider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	if req.Completion == nil && p.talks(req) {
		return p.converse(ctx, req)
	}
	return p.Provider.Stream(ctx, req)
}

// talks reports whether agents that the provider keeps answer the request.
func (p *Provider) talks(req *provider.Request) bool {
	n := req.Native
	return p.o.AgentFile != "" && n != nil && n.Provider == p.Name() && req.Schema == nil
}

// embedBody writes a request for vectors, whose length has a name of Mistral's own.
func embedBody(req *provider.EmbedRequest) ([]byte, error) {
	return wire.Marshal(struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"output_dimension,omitempty"`
	}{req.Model, req.Texts, req.Dimensions})
}

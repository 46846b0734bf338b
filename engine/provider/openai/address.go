package openai

import "github.com/fettle-cli/fettle/engine/provider/wire"

// Address is the scheme, host and port of the server.
func (p *Provider) Address() string { return wire.Address(p.base) }

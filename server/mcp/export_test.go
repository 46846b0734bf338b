package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// Extend has a host offer more than there is of fettle's.
func (o *Options) Extend(f func(*sdk.ServerOptions) func(*sdk.Server)) { o.extend = f }

// WireName is the name of a tool for clients.
var WireName = wireName

package chat

import (
	"strings"
)

// IsClientTool reports whether a tool id is of a tool that the client runs.
func IsClientTool(id string) bool { return strings.HasPrefix(id, ClientToolset+":") }

// ClientToolset is the toolset of the tools that clients run. No other may have
// that id.
const ClientToolset = "client"

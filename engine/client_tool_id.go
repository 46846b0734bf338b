package engine

import (
	"strings"
)

func isClientTool(id string) bool { return strings.HasPrefix(id, ClientToolset+":") }

// ClientToolset is the toolset of the tools that clients run. No other may have
// that id.
const ClientToolset = "client"

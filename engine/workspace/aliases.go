package workspace

import (
	"github.com/fettle-cli/fettle/cas"
)

// Manifest is a state of a workspace.
type Manifest = cas.Manifest

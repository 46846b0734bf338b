package engine

import "github.com/fettle-cli/fettle/engine/store"

// leafOnly is the last message alone.
var leafOnly = store.Reach{Least: 1, Most: 1}

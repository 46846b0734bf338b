package engine

import "github.com/fettle-cli/fettle/engine/store"

// leafOnly is the last message alone.
func leafOnly() store.Reach { return store.Reach{Least: 1, Most: 1} }

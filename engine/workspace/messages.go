package workspace

import "github.com/fettle-cli/fettle/engine/store"

// LeafOnly is the last message alone.
func LeafOnly() store.Reach { return store.Reach{Least: 1, Most: 1} }

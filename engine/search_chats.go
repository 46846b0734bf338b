package engine

import (
	"github.com/bmatcuk/doublestar/v4"
	"github.com/fettle-cli/fettle/engine/store"
)

// CheckModelPattern tells what is wrong with a pattern for SearchChats.Model.
func CheckModelPattern(pattern string) error {
	if !doublestar.ValidatePattern(store.WholeName(pattern)) {
		return doublestar.ErrBadPattern
	}
	return nil
}

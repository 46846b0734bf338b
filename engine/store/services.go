package store

import (
	"github.com/fettle-cli/fettle/toolset"
)

// EndServices ends those of a chat, or of a toolset.
func (s *Store) EndServices(why string, match func(toolset.Service) bool) {
	s.Services.EndServices(why, match)
}

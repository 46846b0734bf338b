package server

import "github.com/fettle-cli/fettle/engine/store"

// ReplaceRuns replaces the answer to whether a turn runs; f gets the engine's.
func (s *Server) ReplaceRuns(f func(live func(store.TurnID) bool) func(store.TurnID) bool) {
	s.runs = f(s.runs)
}

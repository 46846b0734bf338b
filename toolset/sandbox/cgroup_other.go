//go:build !linux

package sandbox

import "github.com/fettle-cli/fettle/toolset"

// cgroups are Linux's; elsewhere there are none.
type cgroups struct{ dir string }

type group struct{}

func (*cgroups) add(int, toolset.Limits) group { return group{} }

func (group) ended() bool { return false }

func (group) remove() {}

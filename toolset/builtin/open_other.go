//go:build !unix

package builtin

// Named pipes and devices have no names below a folder here.
const (
	openFlags     = 0
	openDirectory = 0
)

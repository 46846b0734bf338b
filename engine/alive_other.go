//go:build !unix

package engine

// alive tells whether there is a process with this number, or nobody can tell.
func alive(int) bool { return true }

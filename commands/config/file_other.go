//go:build !unix

package config

import (
	"io/fs"
	"os"
)

func openNonblock(path string) (*os.File, error) { return os.Open(path) }

// openToAll and readableByOthers are about mode bits, which Windows doesn't
// have: there a user's folders are closed to other users by their ACLs.
func openToAll(string) bool { return false }

func readableByOthers(fs.FileInfo) bool { return false }

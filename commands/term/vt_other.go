//go:build !windows

package term

import "os"

// enableEscapes: terminals of Unix need no permission.
func enableEscapes(*os.File) bool { return true }

// sameTerminal tells whether two terminals are one, so that a line which one
// stream began can be told from a line of another window.
func sameTerminal(a, b *os.File) bool {
	ai, err := a.Stat()
	if err != nil {
		return false
	}
	bi, err := b.Stat()
	return err == nil && os.SameFile(ai, bi)
}

func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

//go:build !unix

package machine

import "os"

// Writable tells whether files can be made in a folder, without making one;
// here, where rights are lists, only whether it is a folder at all.
func Writable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

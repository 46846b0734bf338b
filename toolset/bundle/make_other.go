//go:build !linux

package bundle

import (
	"os"
	"path/filepath"
)

// folderIn opens a folder below a root.
func folderIn(root *os.Root, name string) (*os.Root, error) { return root.OpenRoot(name) }

// openFolder is a folder that files are made in.
type openFolder = *os.Root

// madeFile is a file that was just made.
type madeFile struct{ *os.File }

// makeIn makes a file in an open folder, which must not have one of that name;
// name has no slash.
func makeIn(dir *os.Root, name string) (madeFile, error) {
	f, err := dir.OpenFile(filepath.Base(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	return madeFile{f}, err
}

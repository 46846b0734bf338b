//go:build !linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// casDisk gives a folder beneath dir: only on Linux is one made apart.
func casDisk(dir string) (disk, about string, release func() error, err error) {
	disk = filepath.Join(dir, "disk")
	return disk, "the file system of TMPDIR", func() error { return nil }, os.Mkdir(disk, 0o755)
}

// blocksOf adds up the files of a folder.
func blocksOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return err
	})
	return total, err
}

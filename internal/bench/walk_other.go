//go:build !unix

package main

import (
	"os"
	"path/filepath"
)

// statAll lists a folder with the stat of each name; it gives the folders in it.
func statAll(path string, _ []byte) (subs []string, files int, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		if _, err := e.Info(); err != nil {
			return nil, 0, err
		}
		if e.IsDir() {
			subs = append(subs, filepath.Join(path, e.Name()))
			continue
		}
		files++
	}
	return subs, files, nil
}

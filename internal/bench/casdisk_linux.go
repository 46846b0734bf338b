package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// casDisk gives a folder on a journalled file system of its own, an ext4 in a
// file, where this user may mount one, else dir; and what it is.
func casDisk(dir string) (disk, about string, release func() error, err error) {
	nothing := func() error { return nil }
	image, at := filepath.Join(dir, "disk.img"), filepath.Join(dir, "disk")
	if err := os.Mkdir(at, 0o755); err != nil {
		return "", "", nil, err
	}
	if os.Getuid() == 0 && os.WriteFile(image, nil, 0o600) == nil {
		const size = 32 << 30 // sparse
		err := os.Truncate(image, size)
		for _, args := range [][]string{{"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, at}} {
			if err == nil {
				err = exec.Command(args[0], args[1:]...).Run()
			}
		}
		if err == nil {
			return at, "an ext4 with a journal, in a file", func() error {
				return errors.Join(exec.Command("umount", at).Run(), os.Remove(image))
			}, nil
		}
		_ = os.Remove(image)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(at, &st); err != nil {
		return "", "", nil, err
	}
	return at, fmt.Sprintf("the file system of TMPDIR, type %#x; none of its own could be made", uint32(st.Type)), nothing, nil
}

// blocksOf is what the files of a folder take on the disk.
func blocksOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		total += st.Blocks * 512
		return nil
	})
	return total, err
}

package sandbox

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// freeSpace is what a user may still write on a folder's disk; -1 is unknown.
func freeSpace(dir string) int64 {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return -1
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(path, &free, nil, nil) != nil {
		return -1
	}
	return int64(free)
}

// freeFiles is unknown here.
func freeFiles(string) int64 { return -1 }

// allocated is what a file takes on the disk, nearly.
func allocated(info fs.FileInfo) int64 { return info.Size() }

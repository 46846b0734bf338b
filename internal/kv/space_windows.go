package kv

import (
	"math"

	win "golang.org/x/sys/windows"
)

const windows = true

// freeSpace is how many bytes this user may still write where dir is.
func freeSpace(dir string) (int64, error) {
	path, err := win.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := win.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(min(free, math.MaxInt64)), nil
}

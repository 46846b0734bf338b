package main

import (
	"os"
	"syscall"
)

// peakMemory is the largest resident size of an ended process, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss << 10 // Linux counts in KiB
	}
	return 0
}

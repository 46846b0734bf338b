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

// written returns how many bytes an ended process has caused to be written to disks.
func written(s *os.ProcessState) int64 {
	const block = 512
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Oublock * block
	}
	return 0
}

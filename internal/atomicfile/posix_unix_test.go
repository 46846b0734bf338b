//go:build unix

package atomicfile_test

import "testing"

func needPosixRename(*testing.T) {}

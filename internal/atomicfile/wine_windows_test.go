package atomicfile_test

import (
	"testing"

	"golang.org/x/sys/windows"
)

// needPosixRename skips a test where no file can be replaced that another process
// reads: Wine does not support renames with POSIX semantics.
func needPosixRename(t *testing.T) {
	t.Helper()
	if windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil {
		t.Skip("Wine has no renames with POSIX semantics")
	}
}

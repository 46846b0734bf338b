package sandbox

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// windowsDir is where the system is.
func windowsDir() string {
	dir, err := windows.GetSystemWindowsDirectory()
	if err != nil {
		return `C:\Windows`
	}
	return dir
}

// standardPath is where programs are looked for.
func standardPath() []string {
	system := filepath.Join(windowsDir(), "System32")
	return []string{system, windowsDir(), filepath.Join(system, "WindowsPowerShell", "v1.0")}
}

// platformEnv are the variables that programs of this system need beyond those
// that all need: without SYSTEMROOT not even sockets work.
func platformEnv(scratch string) []string {
	dir := windowsDir()
	return []string{
		"SYSTEMROOT=" + dir, "WINDIR=" + dir, "COMSPEC=" + filepath.Join(dir, "System32", "cmd.exe"),
		"PATHEXT=.COM;.EXE;.BAT;.CMD", "TEMP=" + scratch, "TMP=" + scratch,
	}
}

//go:build unix

package keystore

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

// shell is a command as the shell runs it. Where there is a terminal it stays
// in this process's group, since what asks for a password there has to be in
// the foreground; elsewhere it has a group of its own, so that its children end
// with it.
func shell(ctx context.Context, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-c", text)
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0); err == nil {
		_ = tty.Close()
		return cmd
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

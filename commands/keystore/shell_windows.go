package keystore

import (
	"context"
	"os/exec"
	"syscall"
)

// shell is a command as cmd.exe runs it, which reads the line itself.
func shell(ctx context.Context, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + text + `"`}
	return cmd
}

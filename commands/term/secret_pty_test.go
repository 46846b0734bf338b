//go:build linux || darwin

package term

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestSecretChild is the program that asks; TestSecretOnATerminal starts it.
func TestSecretChild(t *testing.T) {
	if os.Getenv(childRole) != "secret" {
		t.Skip("the other half of a terminal test, which starts it")
	}
	s := System()
	got, err := s.ReadSecret(context.Background(), "the key: ")
	fmt.Printf("length=%d err=%v echo=%v\n", len(got), err, echoes(os.Stderr))
	os.Exit(0)
}

// What is typed doesn't show, and the terminal is as it was afterwards.
func TestSecretOnATerminal(t *testing.T) {
	t.Parallel()
	c := startChild(t, "secret", pty.Winsize{Rows: 24, Cols: 80}, func(cmd *exec.Cmd) {
		cmd.Args[1] = "-test.run=^TestSecretChild$"
	})
	c.until("the key: ")
	c.typed("sk-hidden\r")
	c.until("length=9 err=<nil> echo=true")
	if shown := c.until("echo="); strings.Contains(shown, "hidden") {
		t.Errorf("the terminal shows the secret: %q", shown)
	}
}

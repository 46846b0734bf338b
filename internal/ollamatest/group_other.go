//go:build !unix

package ollamatest

import "os/exec"

func ownGroup(*exec.Cmd) {}

// terminate kills at once: there is no gentler signal here, and Ollama's
// runners end when their server is gone.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func kill(*exec.Cmd) {}

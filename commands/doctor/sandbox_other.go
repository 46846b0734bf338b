//go:build !linux

package doctor

import (
	"context"
	"runtime"
)

// Sandbox tells what a sandbox for tools could rest on.
func (p Programs) Sandbox(context.Context) Result {
	return Result{
		ID: "sandbox", Title: "sandbox", Status: Warning,
		Detail: levelNone + ": fettle has no sandbox for " + runtime.GOOS + " yet",
		More:   []string{"imported tools couldn't be contained here"},
	}
}

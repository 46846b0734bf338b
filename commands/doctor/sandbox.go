package doctor

import (
	"context"
	"os"

	"github.com/fettle-cli/fettle/commands/doctor/machine"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// sandbox tells how well tools can be contained here. A sandbox is built for
// it, since what the kernel's settings say is only a part of what decides.
func (v *visit) sandbox(ctx context.Context) machine.Result {
	launcher := sandbox.New(sandbox.Options{})
	report, err := launcher.Report(ctx)
	overlays := ""
	if err == nil {
		overlays = v.overlays(ctx, launcher)
	}
	if closing := launcher.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return failedResult(machine.Result{ID: "sandbox", Title: "sandbox"}, err)
	}
	r := sandboxResult(report)
	if overlays != "" {
		r.More = append([]string{overlays}, r.More...)
	}
	return r
}

// overlays reports whether the calls of tools are transactions, as far as the data directory
// decides about that; "" if there is none.
func (v *visit) overlays(ctx context.Context, launcher *sandbox.Launcher) string {
	dirs, err := v.rt.Dirs()
	if err != nil {
		return ""
	}
	if _, err := os.Stat(dirs.Data); err != nil {
		return ""
	}
	why, err := launcher.Layers(ctx, dirs.Data, dirs.Data)
	switch {
	case err != nil:
		return ""
	case why != "":
		return "calls of tools are not transactions, and what you save while one runs counts as the call's: " + why
	}
	return "calls of commands and Python tools are transactions: what they write is applied when they have ended"
}

func sandboxResult(report sandbox.Report) machine.Result {
	r := machine.Result{
		ID: "sandbox", Title: "sandbox", Status: machine.Warning,
		Detail: report.String(), More: report.Gaps,
	}
	r.Try(report.Fix)
	if report.Level == toolset.LevelFull {
		r.Status = machine.OK
	}
	return r
}

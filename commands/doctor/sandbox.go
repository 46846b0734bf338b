package doctor

import (
	"context"

	"github.com/fettle-cli/fettle/commands/doctor/machine"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// sandbox tells how well tools can be contained here. A sandbox is built for
// it, since what the kernel's settings say is only a part of what decides.
func (v *visit) sandbox(ctx context.Context) machine.Result {
	launcher := sandbox.New(sandbox.Options{})
	report, err := launcher.Report(ctx)
	if closing := launcher.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return failedResult(machine.Result{ID: "sandbox", Title: "sandbox"}, err)
	}
	return sandboxResult(report)
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

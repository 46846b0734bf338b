package workspace

import (
	"context"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/toolset"
)

// endServicesIn ends those that work in a folder, which is about to get other files:
// what they have read and opened would not be what is there.
func (w *Folders) endServicesIn(ws *toolset.Workspace, why string) {
	w.Services.EndServices(why, func(service toolset.Service) bool { return service.Workspace == ws.Path })
}

// TakeState takes a state of a folder. The services that work in it write nothing
// meanwhile, so that no file of the state is half of one.
func (w *Folders) TakeState(ctx context.Context, ws *toolset.Workspace, o cas.SnapshotOptions) (*cas.Snapshot, error) {
	defer w.Services.HoldServices(ctx, func(service toolset.Service) bool { return service.Workspace == ws.Path })()
	return w.Snapshots.Snapshot(ctx, CASWorkspace(ws), o)
}

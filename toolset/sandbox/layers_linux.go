package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/mounts"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// devices are the file systems of a workspace and of the folder that has its layers.
type devices struct{ lower, upper uint64 }

// Layers reports why the calls of a workspace can't have layers in dir, a folder on which
// the user has all rights; "" means that they can. The workspace is not searched for entries
// of other users. Overlays are tried once for each pair of file systems, which takes some
// tens of milliseconds, and never in the workspace itself. An error is ctx's, or says nothing
// about the machine.
func (l *Launcher) Layers(ctx context.Context, workspace, dir string) (why string, err error) {
	if level := l.best(toolset.LevelFull); level < toolset.LevelFull {
		return "tools run at level " + level.String(), nil
	}
	var ws, base unix.Stat_t
	if err := errors.Join(unix.Stat(workspace, &ws), unix.Stat(dir, &base)); err != nil {
		return "", fmt.Errorf("look at %s: %w", workspace, err)
	}
	if int(ws.Uid) != os.Geteuid() || int(ws.Gid) != os.Getegid() {
		return "it belongs to another user or group", nil
	}
	if at := mounts.Below(workspace); len(at) > 0 {
		return at[0].At + " is mounted inside of it", nil
	}
	key := devices{ws.Dev, base.Dev} //nolint:unconvert
	l.probe.Lock()
	defer l.probe.Unlock()
	if why, known := l.layers[key]; known {
		return why, nil
	}
	if l.triedBefore(key) {
		return "", nil
	}
	if why, err = l.tryLayer(ctx, dir); err != nil {
		return "", err
	}
	if l.layers[key] = why; why == "" {
		l.noteTried()
	}
	return why, nil
}

// tried is the content of the file [Options.Tried]: where overlays were mounted since the
// system was started.
type tried struct {
	Boot  string      `json:"boot"`
	Pairs [][2]uint64 `json:"pairs"`
}

// triedBefore reports whether an earlier launcher has mounted overlays there since the system
// was started. A file that can't be read costs another try.
func (l *Launcher) triedBefore(key devices) bool {
	text, err := os.ReadFile(l.o.Tried)
	var t tried
	if err != nil || json.Unmarshal(text, &t) != nil || t.Boot == "" || t.Boot != bootID() {
		return false
	}
	for _, pair := range t.Pairs {
		l.layers[devices{pair[0], pair[1]}] = ""
	}
	_, known := l.layers[key]
	return known
}

// noteTried keeps where overlays were mounted, if that can be kept.
func (l *Launcher) noteTried() {
	t := tried{Boot: bootID()}
	for key, why := range l.layers {
		if why == "" {
			t.Pairs = append(t.Pairs, [2]uint64{key.lower, key.upper})
		}
	}
	text, err := json.Marshal(t)
	if err != nil || l.o.Tried == "" || t.Boot == "" || os.MkdirAll(filepath.Dir(l.o.Tried), 0o700) != nil {
		return
	}
	_ = atomicfile.Write(l.o.Tried, text, atomicfile.Cached)
}

// bootID is what the kernel calls this run of the system.
func bootID() string {
	text, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text))
}

// tryLayer mounts an overlay whose layers are all in dir, and replaces a folder in it.
func (l *Launcher) tryLayer(ctx context.Context, dir string) (why string, err error) {
	base, remove, err := l.o.Temporaries.TempDir(dir, "probe-")
	if err != nil {
		return "", fmt.Errorf("try an overlay: %w", err)
	}
	defer remove()
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return "", fmt.Errorf("try an overlay: %w", err)
	}
	layer := &toolset.Layer{Upper: filepath.Join(base, "upper"), Work: filepath.Join(base, "work")}
	lower := filepath.Join(base, "lower")
	for _, dir := range []string{layer.Upper, layer.Work, filepath.Join(lower, supervisor.ProbeFolder)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("try an overlay: %w", err)
		}
	}
	plan, err := resolve(toolset.Policy{Workspace: lower, Layer: layer}, toolset.Command{Args: []string{"nothing"}, Spare: true}, nil)
	if err != nil {
		return "", err
	}
	plan.Probe = true
	proc, err := l.startAt(ctx, toolset.LevelFull, plan)
	var f *supervisor.Failure
	switch {
	case errors.As(err, &f) && f.Layer:
		return f.Text, nil
	case errors.As(err, &f) && f.Lack:
		l.remember(toolset.LevelFull, f)
		return "a sandbox at level full can't be had: " + f.Error(), nil
	case err != nil:
		return "", err
	}
	proc.Kill() // it has ended already, or is about to
	<-proc.buried
	mark := make([]byte, 8)
	n, err := unix.Lgetxattr(filepath.Join(layer.Upper, supervisor.ProbeFolder), "user.overlay.opaque", mark)
	if err != nil || string(mark[:max(n, 0)]) != "y" {
		return "its file system doesn't keep the marks of an overlay", nil
	}
	return "", nil
}

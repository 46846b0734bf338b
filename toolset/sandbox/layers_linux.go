package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/keeper"
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
	if at := mountBelow(workspace); at != "" {
		return at + " is mounted inside of it", nil
	}
	key := devices{ws.Dev, base.Dev} //nolint:unconvert
	l.probe.Lock()
	defer l.probe.Unlock()
	if why, known := l.layers[key]; known {
		return why, nil
	}
	if why, err = l.tryLayer(ctx, dir); err != nil {
		return "", err
	}
	l.layers[key] = why
	return why, nil
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
	for _, dir := range []string{layer.Upper, layer.Work, filepath.Join(lower, keeper.ProbeFolder)} {
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
	var f *keeper.Failure
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
	n, err := unix.Lgetxattr(filepath.Join(layer.Upper, keeper.ProbeFolder), "user.overlay.opaque", mark)
	if err != nil || string(mark[:max(n, 0)]) != "y" {
		return "its file system doesn't keep the marks of an overlay", nil
	}
	return "", nil
}

// mountBelow returns a mount point below a folder, or "".
func mountBelow(dir string) string {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(table) {
		fields := strings.Fields(string(line))
		if len(fields) < 5 {
			continue
		}
		if at := unescapeMount(fields[4]); strings.HasPrefix(at, dir+"/") {
			return at
		}
	}
	return ""
}

// unescapeMount reads a path of mountinfo, in which blanks and backslashes are octal numbers.
func unescapeMount(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

package cas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// childOverlay mounts an overlay over a workspace, in a mount namespace of its own, and
// runs a shell script in it.
func childOverlay(ctx context.Context, ws, layer, script string) error {
	at := filepath.Join(layer, "merged")
	if err := os.Mkdir(at, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	options := strings.Join([]string{
		"lowerdir=" + ws, "upperdir=" + filepath.Join(layer, layerUpper), "workdir=" + filepath.Join(layer, layerWork),
		"userxattr", "volatile", "xino=off", "index=off", "metacopy=off", "redirect_dir=nofollow",
	}, ",")
	if err := unix.Mount("overlay", at, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("%w: %w", errNoOverlay, err)
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-euc", script)
	cmd.Dir = at
	cmd.Stdin = os.Stdin
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

var errNoOverlay = errors.New("no overlay can be mounted")

// overlayCall is a call that runs over the workspace of a bench.
type overlayCall struct {
	b     *bench
	layer string
	in    interface{ Close() error }
	out   strings.Builder
	cmd   *exec.Cmd
	once  sync.Once
}

// call starts a script over the workspace. A line "read x" in it waits for resume.
func (b *bench) call(script string) *overlayCall {
	b.t.Helper()
	layer := filepath.Join(filepath.Dir(b.ws.Path), fmt.Sprintf("layer-%d", b.s.now().UnixNano()))
	about := LayerMeta{ChatID: "c", CallID: "call"}
	if m, err := b.s.Latest(b.t.Context(), "c"); err != nil {
		b.t.Fatal(err)
	} else if m != nil {
		about.ManifestID = m.ID
	}
	if _, err := NewLayer(layer, b.ws, about); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = DropLayer(layer) })
	c := &overlayCall{b: b, layer: layer, cmd: b.command("overlay", layer, script)}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	c.cmd.Stdout, c.cmd.Stderr = &c.out, &c.out
	return c
}

// run runs the script to its end.
func (c *overlayCall) run() *overlayCall {
	c.b.t.Helper()
	if err := c.cmd.Run(); err != nil {
		if strings.Contains(c.out.String(), errNoOverlay.Error()) {
			c.b.t.Skip(c.out.String())
		}
		c.b.t.Fatalf("%v: %s", err, c.out.String())
	}
	return c
}

// plan reads the layer.
func (c *overlayCall) plan() *LandingPlan {
	c.b.t.Helper()
	p, err := c.b.s.ReadLayer(c.b.t.Context(), c.b.ws, c.layer, LayerOptions{ChatID: "c", Limits: Limits{KeepFree: -1}})
	if err != nil {
		c.b.t.Fatal(err)
	}
	c.b.t.Cleanup(p.Close)
	return p
}

// land reads and lands the layer.
func (c *overlayCall) land(parent *Manifest) *Landing {
	c.b.t.Helper()
	got, err := c.b.s.Land(c.b.t.Context(), c.b.ws, c.plan(), landOptions(parent))
	if err != nil {
		c.b.t.Fatal(err)
	}
	return got
}

func landOptions(parent *Manifest) LandOptions {
	return LandOptions{About: About{ChatID: "c", Source: ToolRun, SourceRef: "call"}, Parent: parent, Doing: "call"}
}

// landingBench is a bench whose workspace is in a folder that has room for layers.
func landingBench(t testing.TB) *bench {
	t.Helper()
	b := memoryBench(t)
	ws := filepath.Join(b.ws.Path, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	b.ws = b.folder(ws)
	return b
}

func TestACallOverAnOverlayLands(t *testing.T) {
	t.Parallel()
	b := landingBench(t)
	b.write("keep", "1")
	b.write("edit", "1")
	b.write("gone", "1")
	b.write("dir/a", "1")
	b.write("dir/b", "1")
	b.settle()
	before := b.snap()
	was := b.look()
	c := b.call(`echo 2 > edit; rm gone; rm -r dir; mkdir -p new/sub; echo n > new/sub/n; ln -s edit link; : >> keep`).run()
	p := c.plan()
	var paths []string
	for _, ch := range p.Changes {
		paths = append(paths, ch.Path)
	}
	t.Log(paths, p.Conflicts, p.Unlanded)
	got := c.land(before)
	t.Logf("%+v", got)
	t.Log(b.look())
	if b.snapshot(SnapshotOptions{Parent: got.After}).New {
		t.Error("the folder isn't what the landing recorded", b.diffText(got.After.Root, b.snap().Root))
	}
	b.restore(got.Before, RestoreOptions{Active: got.After})
	if fmt.Sprint(was) != fmt.Sprint(b.look()) {
		t.Error("undone", b.look())
	}
}

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// layered is a policy whose workspace, with the given name, has a layer in another folder.
func layered(t *testing.T, name string) toolset.Policy {
	t.Helper()
	needLevel(t, toolset.LevelFull)
	base := tempDir(t)
	p := policy(t, toolset.LevelFull)
	p.Workspace = filepath.Join(base, name)
	call := filepath.Join(base, "layers of "+name)
	p.Layer = &toolset.Layer{Upper: filepath.Join(call, "upper"), Work: filepath.Join(call, "work")}
	for _, dir := range []string{p.Workspace, p.Layer.Upper, p.Layer.Work} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { removeLayer(t, call) })
	why, err := newLauncher(t, sandbox.Options{}).Layers(t.Context(), p.Workspace, call)
	if err != nil {
		t.Fatal(err)
	}
	need(t, why == "", "overlays in user namespaces: "+why)
	return p
}

// removeLayer removes a call's folder, in which the kernel makes folders of mode 000.
func removeLayer(t *testing.T, call string) {
	if err := atomicfile.RemoveAll(call); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// listed are the files below a folder with their texts; a removed one is marked by "-".
func listed(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name := strings.TrimPrefix(path, dir+"/")
		switch {
		case d.IsDir():
			name += "/"
		case d.Type()&os.ModeCharDevice != 0:
			name += " -"
		default:
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name += " " + strings.TrimSpace(string(text))
		}
		out = append(out, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantListed(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := listed(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q", filepath.Base(dir), got, want)
	}
}

func TestALayerCollectsWhatACallWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", `colon:comma,back\slash`, strings.Repeat("long", 60)} {
		t.Run(name[:5], func(t *testing.T) {
			t.Parallel()
			p := layered(t, name)
			for file, text := range map[string]string{"kept": "1", "changed": "1", "removed": "1", "folder/a": "1", "replaced/a": "1"} {
				write(t, filepath.Join(p.Workspace, file), text)
			}
			before := listed(t, p.Workspace)
			ran := run(t, newLauncher(t, sandbox.Options{}), p, shell(
				`echo 2 > changed; rm removed; echo 2 > new; rm -r replaced; mkdir replaced; echo 2 > replaced/b; rm -r folder; mkdir deep; mv new deep; pwd; cat kept`))
			wantOutput(t, ran, p.Workspace+"\n1")
			wantListed(t, p.Workspace, before...)
			wantListed(t, p.Layer.Upper, "changed 2", "deep/", "deep/new 2", "folder -", "removed -", "replaced/", "replaced/b 2")
			mark := make([]byte, 8)
			if n, err := unix.Lgetxattr(filepath.Join(p.Layer.Upper, "replaced"), "user.overlay.opaque", mark); err != nil || string(mark[:n]) != "y" {
				t.Errorf("the replaced folder is not marked: %q %v", mark, err)
			}
		})
	}
}

// A process reaches the layers by no path, and gets no capability by them.
func TestALayerIsHiddenFromTheProcess(t *testing.T) {
	t.Parallel()
	p := layered(t, "ws")
	write(t, filepath.Join(p.Workspace, "closed"), "secret")
	if err := os.Chmod(filepath.Join(p.Workspace, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	ran := run(t, newLauncher(t, sandbox.Options{}), p, shell(`
t() { if sh -c "$1" 2>/dev/null; then echo "did $1"; fi; }
echo 1 > new
t 'ls `+filepath.Dir(p.Layer.Upper)+`'
t 'ls /.old'
t 'ls /.lower'
t 'ls /.layer'
t 'cat closed'
t 'umount .'
t 'mknod whiteout c 0 0'
grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | sort -u | cut -f2 | sort -u
stat -f -c %T .`))
	wantOutput(t, ran, "0000000000000000\noverlayfs\n")
	wantListed(t, p.Layer.Upper, "new 1")
}

func TestWhatIsSealedStaysReadOnlyInALayer(t *testing.T) {
	t.Parallel()
	p := layered(t, "ws")
	write(t, filepath.Join(p.Workspace, ".git", "config"), "[core]")
	write(t, filepath.Join(p.Workspace, "sub", "file"), "1")
	p.Sealed = []string{filepath.Join(p.Workspace, ".git"), filepath.Join(p.Workspace, "sub", ".git")}
	ran := run(t, newLauncher(t, sandbox.Options{}), p, shell(`
t() { if sh -c "$1" 2>/dev/null; then echo "did $1"; fi; }
cat .git/config
t 'echo x > .git/hook'
t 'rm -r .git'
t 'mv .git moved'
t 'mkdir sub/.git'
t 'echo x > sub/.git/config'
t 'rm -r sub'
echo 2 > sub/file`))
	wantOutput(t, ran, "[core]")
	wantListed(t, p.Workspace, ".git/", ".git/config [core]", "sub/", "sub/file 1")
	wantListed(t, p.Layer.Upper, "sub/", "sub/file 2")
}

func TestWhatGoesThroughALayerIsWritten(t *testing.T) {
	t.Parallel()
	p := layered(t, "ws")
	write(t, filepath.Join(p.Workspace, "repo", ".git", "HEAD"), "1")
	write(t, filepath.Join(p.Workspace, "elsewhere", "x"), "1")
	if err := os.Symlink("elsewhere", filepath.Join(p.Workspace, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"repo/.git", "link", "missing/.git"} {
		p.Layer.Through = append(p.Layer.Through, filepath.Join(p.Workspace, name))
	}
	ran := run(t, newLauncher(t, sandbox.Options{}), p, shell(`echo 2 > repo/.git/HEAD; echo 2 > repo/file; echo 2 > link/x`))
	wantOutput(t, ran, "")
	wantListed(t, filepath.Join(p.Workspace, "repo"), ".git/", ".git/HEAD 2")
	wantListed(t, p.Layer.Upper, "elsewhere/", "elsewhere/x 2", "repo/", "repo/file 2")
}

// An overlay that can't be mounted keeps the process from starting, and never has it start
// with less containment.
func TestALayerThatCannotBeMounted(t *testing.T) {
	t.Parallel()
	full := layered(t, "ws")
	for _, c := range []struct {
		name   string
		change func(*testing.T, *toolset.Policy)
		want   string
	}{
		{"the work folder is missing", func(t *testing.T, p *toolset.Policy) {
			p.Layer.Work = filepath.Join(filepath.Dir(p.Layer.Upper), "none")
		}, "work"},
		{"the upper layer is on a file system that can't be one", func(t *testing.T, p *toolset.Policy) {
			p.Layer = &toolset.Layer{Upper: "/proc/1", Work: "/proc/2"}
		}, ""},
		{"no full sandbox", func(t *testing.T, p *toolset.Policy) { p.Least, p.Most = toolset.LevelNone, toolset.LevelReduced }, "level reduced"},
		{"the folder around it is granted", func(t *testing.T, p *toolset.Policy) { p.Writable = []string{filepath.Dir(p.Workspace)} }, "contains the workspace"},
		{"it is granted twice", func(t *testing.T, p *toolset.Policy) { p.Writable = []string{p.Workspace} }, "contains the workspace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := full
			layer := *full.Layer
			p.Layer = &layer
			c.change(t, &p)
			_, err := newLauncher(t, sandbox.Options{}).Run(t.Context(), p, shell("echo ran > f"))
			var refused *toolset.LayerError
			if !errors.As(err, &refused) || !strings.Contains(refused.Why, c.want) {
				t.Fatalf("%v", err)
			}
			wantListed(t, full.Workspace)
			p.Layer, p.Writable = nil, nil
			p.Limits = toolset.Limits{FreeDisk: toolset.NoLimit}
			if p.Most == toolset.LevelFull {
				ran := run(t, newLauncher(t, sandbox.Options{}), p, shell("true"))
				if ran.Level != toolset.LevelFull {
					t.Errorf("it ran at level %s", ran.Level)
				}
			}
		})
	}
}

func TestAMountInsideOfAWorkspaceHasNoLayer(t *testing.T) {
	t.Parallel()
	needLevel(t, toolset.LevelFull)
	why, err := newLauncher(t, sandbox.Options{}).Layers(t.Context(), "/dev", tempDir(t))
	if err != nil || os.Getuid() == 0 && why != "/dev/pts is mounted inside of it" && why != "/dev/shm is mounted inside of it" || why == "" {
		t.Errorf("%q %v", why, err)
	}
}

// A process that outlives its parent writes by a mapping until it is killed. Nothing changes
// a layer after Wait has returned.
func TestNothingWritesToALayerAfterTheEnd(t *testing.T) {
	t.Parallel()
	p := layered(t, "ws")
	write(t, filepath.Join(p.Workspace, "counter"), strings.Repeat("0", 4096))
	const daemon = `
import mmap, os, sys
f = open("counter", "r+b")
m = mmap.mmap(f.fileno(), 4096)
if os.fork(): 
    sys.stdin.read(1)
    os._exit(0)
os.setsid()
n = 0
while True:
    n += 1
    m[0:20] = b"%020d" % n
    open("new%d" % (n % 50), "w").close()
`
	l := newLauncher(t, sandbox.Options{})
	for range 5 {
		proc, err := l.Start(t.Context(), p, toolset.Command{Args: []string{python(t), "-c", daemon}})
		if err != nil {
			t.Fatal(err)
		}
		for len(listed(t, p.Layer.Upper)) < 2 { // until the daemon has begun
			if t.Context().Err() != nil {
				t.Fatal("the daemon wrote nothing")
			}
		}
		proc.Stdin().Close()
		if _, err := proc.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		proc.Stdout().Close()
		first := listed(t, p.Layer.Upper)
		for range 20 {
			if again := listed(t, p.Layer.Upper); !slices.Equal(first, again) {
				t.Fatal("the layer changed after the end")
			}
		}
		next := filepath.Join(filepath.Dir(p.Layer.Upper), "next"+first[0][8:28])
		layer := &toolset.Layer{Upper: filepath.Join(next, "upper"), Work: filepath.Join(next, "work")}
		if err := errors.Join(os.MkdirAll(layer.Upper, 0o700), os.MkdirAll(layer.Work, 0o700)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { removeLayer(t, next) })
		p.Layer = layer
	}
}

func TestGrowthOfALayer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		limits toolset.Limits
		script string
		cause  toolset.Cause
	}{
		{"by bytes", toolset.Limits{Grown: 10 << 20, FreeDisk: toolset.NoLimit}, `head -c 30M /dev/urandom > new; sleep 60`, toolset.WorkspaceBig},
		{"by files", toolset.Limits{GrownFiles: 100, FreeDisk: toolset.NoLimit}, `mkdir d; cd d; sleep 0.3; touch $(seq 300); sleep 60`, toolset.WorkspaceBig},
		{"until the disk is full", toolset.Limits{FreeDisk: 1 << 60}, `while :; do head -c 10M /dev/zero >> new; sync new; sleep 0.1; done`, toolset.DiskFull},
		{"a rewritten file is no growth", toolset.Limits{Grown: 10 << 20, FreeDisk: toolset.NoLimit}, `echo 1 >> big; sleep 0.7`, toolset.Exited},
		{"removed files are no growth", toolset.Limits{GrownFiles: 10, FreeDisk: toolset.NoLimit}, `rm many/*; sleep 0.7`, toolset.Exited},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := layered(t, "ws")
			p.Limits = c.limits
			write(t, filepath.Join(p.Workspace, "big"), strings.Repeat("x", 20<<20))
			for i := range 100 {
				write(t, filepath.Join(p.Workspace, "many", strconv.Itoa(i)), "")
			}
			if ran := run(t, newLauncher(t, sandbox.Options{}), p, shell(c.script)); ran.Exit.Cause != c.cause {
				t.Errorf("%+v", ran.Exit)
			}
		})
	}
}

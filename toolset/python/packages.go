package python

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/toolset"
)

const (
	// installTime bounds an installation: large packages over a slow line.
	installTime = 15 * time.Minute
	// installSpace bounds what an installation writes.
	installSpace = 8 << 30
	// packagesFolder is where packages lie in the folder of their hash.
	packagesFolder = "packages"
)

// packages gives the folder that holds the requirements, and installs them
// where they aren't there. A folder that is there is whole.
func (rt *Runtime) packages(ctx context.Context, py Interpreter, reqs []string, progress func(toolset.Progress)) (string, error) {
	reqs = slices.Clone(reqs)
	slices.Sort(reqs)
	for _, r := range reqs {
		if err := checkRequirement(r); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256([]byte(py.Path + "\n" + py.Version + "\n" + strings.Join(reqs, "\n")))
	name := hex.EncodeToString(sum[:12])
	dir := filepath.Join(rt.o.CacheDir, "python", name)
	if isDir(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", fmt.Errorf("make a folder for packages: %w", err)
	}
	release, err := lockfile.Acquire(ctx, dir+".lock", func(owner string) {
		progress(toolset.Progress{Stage: "install", Message: "another fettle installs them, " + owner})
	})
	if err != nil {
		return "", fmt.Errorf("wait for the installation of packages: %w", err)
	}
	defer release()
	if isDir(dir) { // somebody else has installed them meanwhile
		return dir, nil
	}
	if err := rt.install(ctx, py, reqs, installing{dir: dir, progress: progress}); err != nil {
		return "", err
	}
	return dir, nil
}

func isDir(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// checkRequirement refuses what pip would take for an option, an address or a
// path.
func checkRequirement(r string) error {
	if r == "" || strings.HasPrefix(r, "-") || strings.ContainsAny(r, "/\\@\n\r") || strings.Contains(r, "://") {
		return toolset.Errorf("the requirement %q is no name of a package with a version", r)
	}
	return nil
}

// installing is an installation on its way.
type installing struct {
	dir      string
	progress func(toolset.Progress)
}

// install installs into a folder beside, which takes its name at the end.
func (rt *Runtime) install(ctx context.Context, py Interpreter, reqs []string, in installing) error {
	beside, err := os.MkdirTemp(filepath.Dir(in.dir), ".new-*")
	if err != nil {
		return fmt.Errorf("make a folder for packages: %w", err)
	}
	defer os.RemoveAll(beside) // it isn't there any more where all went well
	if beside, err = filepath.EvalSymlinks(beside); err != nil {
		return fmt.Errorf("make a folder for packages: %w", err)
	}
	args, more, err := installer(py, filepath.Join(beside, packagesFolder), reqs)
	if err != nil {
		return err
	}
	in.progress(toolset.Progress{Stage: "install", Message: "installing " + strings.Join(reqs, ", ")})
	p := toolset.Policy{
		Workspace: beside, Readable: append(slices.Clone(py.Readable), more...), Network: toolset.NetworkAll,
		Least: toolset.LevelNone, // wheels are unpacked, nothing of theirs is run
		Limits: toolset.Limits{
			Time: installTime, FileSize: installSpace, Temp: installSpace, TempFiles: toolset.NoLimit,
			Grown: installSpace, GrownFiles: toolset.NoLimit, Memory: toolset.NoLimit,
		},
	}
	said, exit, err := rt.watch(ctx, p, toolset.Command{Args: args, Env: rt.indexEnv(), Joined: true}, in.progress)
	if err != nil {
		return err
	}
	if exit.Cause != toolset.Exited || exit.Code != 0 {
		return &toolset.ToolError{
			Message:   fmt.Sprintf("the packages it needs can't be installed (%s): %s", strings.Join(reqs, ", "), whyNot(said, exit)),
			Traceback: tail(said),
		}
	}
	if err := os.Rename(beside, in.dir); err != nil {
		return fmt.Errorf("keep the installed packages: %w", err)
	}
	return nil
}

// installer is the command that installs into a folder: uv where it is there,
// since it is much faster, else pip. more are files that it has to read.
func installer(py Interpreter, target string, reqs []string) (args, more []string, err error) {
	if uv, err := exec.LookPath("uv"); err == nil {
		if uv, err = filepath.EvalSymlinks(uv); err == nil && filepath.IsAbs(uv) {
			args = []string{uv, "pip", "install", "--no-config", "--python", py.Path, "--target", target, "--only-binary", ":all:", "--"}
			return append(args, reqs...), []string{uv}, nil
		}
	}
	if !py.Pip {
		return nil, nil, toolset.Errorf("the packages it needs (%s) can't be installed: %s has no pip, and there is no uv; install one of them",
			strings.Join(reqs, ", "), py.Path)
	}
	args = []string{
		py.Path, "-I", "-X", "utf8", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-cache-dir",
		"--progress-bar", "off", "--only-binary", ":all:", "--target", target, "--",
	}
	return append(args, reqs...), nil, nil
}

// indexEnv are the variables that say where packages come from.
func (rt *Runtime) indexEnv() []string {
	var env []string
	for _, name := range []string{
		"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT", "PIP_PROXY", "PIP_FIND_LINKS", "PIP_NO_INDEX",
		"UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX", "UV_INSECURE_HOST",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE",
	} {
		if v, ok := rt.o.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// watch runs a command and tells its lines as they come.
func (rt *Runtime) watch(ctx context.Context, p toolset.Policy, c toolset.Command, progress func(toolset.Progress)) (string, toolset.Exit, error) {
	proc, err := rt.o.Launcher.Start(ctx, p, c)
	if err != nil {
		return "", toolset.Exit{}, uncontained(err)
	}
	defer context.AfterFunc(ctx, proc.Kill)()
	_ = proc.Stdin().Close() // it has nothing to read
	var said strings.Builder
	r := bufio.NewReaderSize(proc.Stdout(), readAhead)
	for {
		line, err := r.ReadSlice('\n')
		if said.Len() < maxSaid {
			said.Write(line)
		}
		if text := strings.TrimSpace(string(line)); text != "" {
			progress(toolset.Progress{Stage: "install", Message: tail(text)})
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	waiting, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	exit, err := proc.Wait(waiting)
	if ctx.Err() != nil {
		return "", exit, context.Cause(ctx)
	}
	if err != nil {
		return "", exit, fmt.Errorf("wait for the installation: %w", err)
	}
	return said.String(), exit, nil
}

// maxSaid bounds what is kept of what an installer says.
const maxSaid = 1 << 20

// whyNot is the line that says why an installation failed.
func whyNot(said string, exit toolset.Exit) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for _, line := range slices.Backward(lines) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "ERROR: "); ok {
			return tail(text)
		}
	}
	if last := lastLine(said); last != "" {
		return last
	}
	return exit.String()
}

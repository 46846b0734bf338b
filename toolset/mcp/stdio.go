package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// quietEnd is what a process gets to end by itself once its input has
	// ended, which is how the protocol says that it is no longer needed.
	quietEnd = 500 * time.Millisecond
	// stopTime is what it gets after that, before force.
	stopTime = time.Second
	// stderrKept is how much is kept of what a server writes to its standard
	// error, and stderrShown how much of its end an error quotes.
	stderrKept  = 64 << 10
	stderrShown = 600
	// serverMemory and serverProcesses bound all processes of a server: one in
	// Node with a browser beside it needs more than a tool's call.
	serverMemory    = 4 << 30
	serverProcesses = 512
)

// child is the process of a server.
type child struct {
	proc    toolset.Process
	release func()
	// ended is closed once it is gone, with how in exit.
	ended chan struct{}
	exit  toolset.Exit
}

// spawn starts the process of a server whose variables are filled in.
func (m *Manager) spawn(ctx context.Context, s Server, ws *toolset.Workspace) (*child, error) {
	c := &child{ended: make(chan struct{})}
	ws, gone, err := ws.ForOutliving(ctx)
	if err != nil {
		return nil, err
	}
	c.release = gone
	policy, command, err := m.commandOf(s, ws)
	if err != nil {
		gone()
		return nil, err
	}
	if s.Hold != nil {
		dir, release, err := s.Hold()
		if err != nil {
			gone()
			return nil, err
		}
		command.Dir, c.release = dir, func() { release(); gone() }
		policy.Readable, policy.Lent = append(policy.Readable, dir), append(policy.Lent, dir)
	}
	if c.proc, err = m.o.Launcher.Start(ctx, policy, command); err != nil {
		c.release()
		return nil, err // it names the program
	}
	m.work.Go(func() {
		defer close(c.ended)
		defer c.release()
		c.exit, _ = c.proc.Wait(context.Background()) // no error but a context's
	})
	return c, nil
}

// commandOf is what is started, and what it may reach.
func (m *Manager) commandOf(s Server, ws *toolset.Workspace) (toolset.Policy, toolset.Command, error) {
	policy := s.Policy
	policy.Readable, policy.Writable = slices.Clone(policy.Readable), slices.Clone(policy.Writable)
	home, err := m.home(s.ID)
	if err != nil {
		return policy, toolset.Command{}, err
	}
	policy.Writable, policy.Lent = append(policy.Writable, home), []string{home}
	if ws != nil {
		policy = policy.On(ws)
	}
	policy.Limits = toolset.Limits{
		Time: toolset.NoLimit, Memory: serverMemory, Processes: serverProcesses, Output: stderrKept,
		FileSize: toolset.NoLimit, Grown: toolset.NoLimit, GrownFiles: toolset.NoLimit, OpenFiles: 4096,
	}
	// Spare, so that no call's clock runs: it lives for many calls
	program, dirs := m.program(s, ws)
	command := toolset.Command{Args: []string{program}, Path: dirs, Spare: true}
	for _, arg := range s.Args {
		command.Args = append(command.Args, seen(arg))
	}
	policy.Readable = append(policy.Readable, prefixes(program)...)
	policy.Links = append(slices.Clone(policy.Links), linksTo(program)...)
	for name, value := range s.Env {
		check := toolset.CheckEnvName
		if s.Own { // the user's own server gets the user's variables, without fettle's settings
			check = toolset.CheckOwnEnv
		}
		if err := check(name); err != nil {
			return policy, command, err
		}
		command.Env = append(command.Env, name+"="+value)
	}
	slices.Sort(command.Env)
	if s.Bare {
		if own, err := os.UserHomeDir(); err == nil {
			home = own
		}
		if path, ok, err := m.look("PATH"); ok && err == nil {
			command.Path = filepath.SplitList(path)
		}
	}
	command.Env = append([]string{"HOME=" + home}, command.Env...)
	return policy, command, nil
}

// shims are those of the user, for a server in a workspace. What the server's own
// configuration sets comes before the environment.
func (m *Manager) shims(s Server, ws *toolset.Workspace) shims {
	out := shims{value: func(name string) string {
		if value, ok := s.Env[name]; ok {
			return value
		}
		value, _, _ := m.look(name) // a variable that cannot be read is not set
		return value
	}}
	if ws != nil {
		out.folder = ws.Path
	}
	return out
}

// look gives a variable.
func (m *Manager) look(name string) (string, bool, error) {
	if m.o.Lookup == nil {
		return "", false, nil
	}
	return m.o.Lookup(m.life, name)
}

// home is a folder of the server's own, where runners such as npx and uvx keep
// what they fetched.
func (m *Manager) home(id string) (string, error) {
	dir := filepath.Join(m.o.Dir, "home", id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for the server: %w", err)
	}
	return filepath.EvalSymlinks(dir)
}

// program finds a program by the user's PATH, where sandboxes know only the
// system's. One that isn't found stays as it is, and the start says so.
func (m *Manager) program(s Server, ws *toolset.Workspace) (path string, dirs []string) {
	name, of := s.Command, m.shims(s, ws)
	if strings.ContainsRune(name, filepath.Separator) {
		return seen(of.program(name)), nil
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return name, nil
	}
	if abs, err := filepath.Abs(found); err == nil {
		found = seen(of.program(abs))
	}
	return found, []string{filepath.Dir(found)}
}

// seen is a path by which a sandbox knows it: what is granted is there by its
// real name, and a link on the way to it may not be. Its last part stays, since
// programs go by the name they are called.
func seen(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// prefixes are what a program needs beside itself: where it lies under a bin
// folder, as interpreters do, what that is in. Nothing that would grant a home
// directory or the whole disk.
func prefixes(program string) []string {
	if !filepath.IsAbs(program) {
		return nil
	}
	var out []string
	paths := []string{program}
	if real, err := filepath.EvalSymlinks(program); err == nil && real != program {
		paths = append(paths, real)
	}
	home, _ := os.UserHomeDir() // where there is none it protects nothing
	for i := 0; i < len(paths); i++ {
		path := paths[i]
		dir := filepath.Dir(path)
		if filepath.Base(dir) == "bin" {
			dir = filepath.Dir(dir)
		}
		if sibling := filepath.Join(filepath.Dir(path), "uv"); filepath.Base(path) == "uvx" { // starts it
			paths = append(paths, sibling)
		}
		// ~/.local, ~/go and the like hold more than programs.
		if dir == home || filepath.Dir(dir) == home || filepath.Dir(dir) == dir || home != "" && strings.HasPrefix(home, dir+string(filepath.Separator)) {
			dir = path // the file alone
		}
		if _, err := os.Stat(dir); err == nil && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// transport is the process's streams as the SDK wants them.
func (c *child) transport(g *guard, log func(...string)) sdk.Transport {
	return &sdk.IOTransport{Reader: newLines(c.proc.Stdout(), g, log), Writer: &heard{c.proc.Stdin(), g}, MaxLineLength: maxMessage}
}

// writeTime bounds the writing of one message to a server: what isn't taken within
// it, the largest one included, is not read at all.
const writeTime = 30 * time.Second

// deaf says that a server doesn't read what it is told.
type deaf struct{ patience time.Duration }

// Error says since when.
func (d deaf) Error() string { return fmt.Sprintf("it read nothing for %s", d.patience) }

// heard is the standard input of a server, which has to take each message in time:
// nothing else would end a write to one that doesn't.
type heard struct {
	io.WriteCloser
	guard *guard
}

// Write writes a message, or ends the connection.
func (h *heard) Write(p []byte) (int, error) {
	timer := time.AfterFunc(h.guard.patience, func() { _ = h.guard.broken(deaf{h.guard.patience}) })
	defer timer.Stop()
	return h.WriteCloser.Write(p)
}

// stop ends the process: its input ends, then it is asked, then forced. It
// returns when all its processes are gone.
func (c *child) stop() {
	c.proc.Stdin().Close()
	timer := time.NewTimer(quietEnd)
	defer timer.Stop()
	select {
	case <-c.ended:
	case <-timer.C:
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		c.proc.Stop(ctx)
		<-c.ended
	}
	c.proc.Stdout().Close()
}

// died says how a process ended, with the end of what it wrote to its standard
// error; nil where it hasn't.
func (c *child) died() error {
	select {
	case <-c.ended:
	default:
		return nil
	}
	text := "it ended: " + c.exit.String()
	if said := strings.TrimSpace(visible(c.exit.Stderr.String(), stderrKept)); said != "" {
		if len(said) > stderrShown {
			said = "…" + strings.ToValidUTF8(said[len(said)-stderrShown:], "")
		}
		text += "\n" + said
	}
	return errors.New(text)
}

var _ io.ReadCloser = (*lines)(nil)

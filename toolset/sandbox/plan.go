package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// plan is a policy and a command, resolved against the disk.
type plan struct {
	supervisor.Spec
	policy  toolset.Policy
	command toolset.Command
	limits  toolset.Limits
	// hides is a grant that contains fettle's own state, which level full hides; "" means
	// none.
	hides string
	// unlayered is a grant that has a workspace with a layer written directly; "" means none.
	unlayered string
}

// systemPaths are what programs of the system need: themselves, their
// libraries, and the settings without which they work differently. The user's
// own settings and secrets are elsewhere.
func systemPaths(network bool) []string {
	out := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store",
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
		"/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/mime.types", "/etc/terminfo",
	}
	if network {
		out = append(out, "/etc/services", "/etc/protocols", "/etc/gai.conf")
	}
	return append(out,
		"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/ca-certificates/extracted",
		"/etc/pki/tls/certs", "/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted", "/etc/crypto-policies",
	)
}

// resolve checks a policy and a command and makes the plan of them.
func resolve(p toolset.Policy, c toolset.Command, own toolset.OwnState) (*plan, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("check the sandbox's policy: %w", err)
	}
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, errors.New("start a sandbox: no program was named")
	}
	for _, s := range slices.Concat(c.Args, c.Env, c.Path) {
		if strings.ContainsRune(s, 0) {
			return nil, errors.New("start a sandbox: an argument or variable holds a NUL byte")
		}
	}
	if p.Workspace != "" {
		real, err := filepath.EvalSymlinks(p.Workspace)
		if err != nil {
			return nil, fmt.Errorf("grant the workspace: %w", err)
		}
		p.Workspace = real // by this name it is there in the sandbox
	}
	if p.Layer != nil { // the keeper follows no link of the machine's
		dir, err := filepath.EvalSymlinks(filepath.Dir(p.Layer.Upper))
		if err != nil {
			return nil, &toolset.LayerError{Why: err.Error()}
		}
		layer := *p.Layer
		layer.Upper, layer.Work = filepath.Join(dir, filepath.Base(layer.Upper)), filepath.Join(dir, filepath.Base(layer.Work))
		p.Layer = &layer
	}
	pl := &plan{policy: p, command: c, limits: p.Limits.Filled()}
	grants, err := pl.grantsOf(p, own)
	if err != nil {
		return nil, err
	}
	pl.Spec = supervisor.Spec{
		Args: c.Args, Path: slices.Concat(c.Path, standardPath()), Dir: c.Dir, Grants: grants,
		Harden: p.Most != toolset.LevelNone, Network: string(p.Network), Serves: p.Serves, UnixSockets: p.UnixSockets, Limits: keeperLimits(pl.limits),
	}
	if pl.Dir == "" {
		pl.Dir = p.Workspace
	}
	return pl, nil
}

// keeperLimits are those that the supervisor sees to.
func keeperLimits(l toolset.Limits) supervisor.Limits {
	return supervisor.Limits{
		Memory: l.Memory, Processes: l.Processes, FileSize: l.FileSize, OpenFiles: l.OpenFiles,
		Temp: l.Temp, TempFiles: l.TempFiles,
	}
}

// grantsOf lists what is granted, parents first, so that a folder that is
// inside of another is mounted over it.
func (pl *plan) grantsOf(p toolset.Policy, own toolset.OwnState) ([]supervisor.Grant, error) {
	var out []supervisor.Grant
	add := func(path string, write bool) error {
		if path == "" {
			return nil
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf("grant a path: %w", err)
		}
		if path != p.Workspace && !slices.Contains(p.Lent, path) {
			if err := own.Check(real); err != nil {
				return err
			}
		}
		out = append(out, supervisor.Grant{Path: real, Write: write})
		return nil
	}
	errs := []error{add(p.Workspace, !p.ReadOnly)}
	if p.Layer != nil && errs[0] == nil {
		out[0].Upper, out[0].Work = p.Layer.Upper, p.Layer.Work
	}
	for _, path := range p.Writable {
		errs = append(errs, add(path, true))
	}
	for _, path := range p.Readable {
		errs = append(errs, add(path, false))
	}
	through, err := throughLayer(p)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	if runtime.GOOS == "linux" {
		for _, path := range p.Links {
			out = append(out, supervisor.Grant{Path: path, System: true, Link: true})
		}
		for _, path := range systemPaths(p.Network == toolset.NetworkAll) {
			out = append(out, supervisor.Grant{Path: path, System: true})
		}
	}
	byPath := func(a, b supervisor.Grant) int { return strings.Compare(a.Path, b.Path) }
	slices.SortStableFunc(out, byPath)
	hidden, err := pl.hidden(own, out)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(out)
	out = slices.DeleteFunc(out, func(g supervisor.Grant) bool {
		return covered(g, slices.DeleteFunc(slices.Clone(all), func(other supervisor.Grant) bool { return apart(g, other, hidden) }))
	})
	for _, g := range all {
		if p.Layer != nil && g.Write && g.Upper == "" && strings.HasPrefix(p.Workspace+"/", g.Path+"/") {
			pl.unlayered = g.Path
		}
	}
	out = slices.Concat(out, through, sealed(p.Sealed, out), hidden)
	slices.SortStableFunc(out, byPath)
	return out, nil
}

// throughLayer returns the parts of a workspace with a layer that are written directly. A
// missing one needs no grant: the layer collects it.
func throughLayer(p toolset.Policy) ([]supervisor.Grant, error) {
	if p.Layer == nil {
		return nil, nil
	}
	var out []supervisor.Grant
	for _, path := range p.Layer.Through {
		real, err := filepath.EvalSymlinks(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("grant a path: %w", err)
		}
		if real != path || !strings.HasPrefix(path, p.Workspace+"/") {
			continue // a link is shown as one by the overlay
		}
		out = append(out, supervisor.Grant{Path: path, Write: true})
	}
	return out, nil
}

// hidden are the parts of grants that are fettle's own state. The folders on the way to
// one are separate mounts if a process may write there: it could rename them otherwise
// and put others in their place.
func (pl *plan) hidden(own toolset.OwnState, granted []supervisor.Grant) ([]supervisor.Grant, error) {
	var out []supervisor.Grant
	add := func(g supervisor.Grant) {
		if !slices.ContainsFunc(out, func(other supervisor.Grant) bool { return other.Path == g.Path }) {
			out = append(out, g)
		}
	}
	for _, g := range slices.Backward(granted) {
		in, linked := own.Inside(g.Path)
		if linked != "" && g.Write {
			return nil, fmt.Errorf("grant %s: %s, fettle's own state, is a link inside of it that a tool could replace; grant a folder without it", g.Path, linked)
		}
		for _, own := range in {
			if !own.Exists && !g.Write {
				continue
			}
			pl.hides = g.Path
			add(supervisor.Grant{Path: own.Path, Hidden: true, Write: g.Write})
			for _, dir := range own.Between {
				if g.Write {
					add(supervisor.Grant{Path: dir, Write: true, Made: true})
				}
			}
		}
	}
	return out, nil
}

// apart reports whether something hidden is between two grants, so that the upper one
// doesn't include the lower one.
func apart(g, upper supervisor.Grant, hidden []supervisor.Grant) bool {
	return slices.ContainsFunc(hidden, func(h supervisor.Grant) bool {
		return h.Hidden && strings.HasPrefix(g.Path, h.Path+"/") && strings.HasPrefix(h.Path, upper.Path+"/")
	})
}

// sealed returns the grants that make a part of another grant read-only again: each is
// mounted over the one that contains it. A placeholder takes the name of one that
// doesn't exist. Paths that are not inside of a writable grant need no seal.
func sealed(paths []string, granted []supervisor.Grant) []supervisor.Grant {
	writable := func(path string) bool {
		return slices.ContainsFunc(granted, func(g supervisor.Grant) bool { return g.Write && strings.HasPrefix(path, g.Path+"/") })
	}
	var out []supervisor.Grant
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			if writable(real) {
				out = append(out, supervisor.Grant{Path: real})
			}
			continue
		}
		_, err := os.Lstat(path)
		dir, dirErr := filepath.EvalSymlinks(filepath.Dir(path))
		if at := filepath.Join(dir, filepath.Base(path)); errors.Is(err, os.ErrNotExist) && dirErr == nil && writable(at) {
			out = append(out, supervisor.Grant{Path: at, Placeholder: true})
		}
	}
	return out
}

// covered tells whether another grant gives as much already. Of two that are
// equal the one that writes stays, else the first.
func covered(g supervisor.Grant, all []supervisor.Grant) bool {
	for _, other := range all {
		if other == g {
			continue
		}
		below := strings.HasPrefix(g.Path, other.Path+"/")
		same := g.Path == other.Path
		switch {
		case same && other.Write && !g.Write, same && g.System && !other.System:
			return true
		case below && !g.Write && (other.Write || !other.System):
			return true
		case below && !g.Write && !g.System && other.Path == "/usr":
			return true
		case below && g.Write && other.Write:
			return true
		}
	}
	return false
}

// at completes the plan for one level.
func (pl *plan) at(level toolset.Level, temp string) supervisor.Spec {
	s := pl.Spec
	s.Level, s.Temp = supervisor.Level(level), temp
	if level != toolset.LevelFull {
		s.Grants = slices.DeleteFunc(slices.Clone(s.Grants), func(g supervisor.Grant) bool { return g.Hidden || g.Placeholder })
	}
	scratch := "/tmp"
	if level != toolset.LevelFull {
		scratch = temp
	} else {
		s.Files = stubs(pl.policy)
	}
	if s.Dir == "" {
		s.Dir = scratch
	}
	home := pl.policy.Workspace
	if home == "" || pl.policy.ReadOnly {
		home = scratch
	}
	env := []string{
		"PATH=" + strings.Join(s.Path, string(os.PathListSeparator)), "LANG=C.UTF-8",
		"HOME=" + home, "TMPDIR=" + scratch, "PWD=" + s.Dir,
	}
	env = append(env, platformEnv(scratch)...)
	s.Env = lastWins(slices.Concat(env, pl.policy.Env, pl.command.Env))
	return s
}

// lastWins leaves one value of each variable.
func lastWins(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if i, ok := at[name]; ok {
			out[i] = v
			continue
		}
		at[name] = len(out)
		out = append(out, v)
	}
	return out
}

// maxStub bounds what is copied of a file of the machine's.
const maxStub = 64 << 10

// stubs are the small files in /etc. They name nobody but the user. With the
// machine's network its resolver's settings come along, as text, since they
// are often a link to somewhere else.
func stubs(p toolset.Policy) []supervisor.Stub {
	uid, gid := strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid())
	home := p.Workspace
	if home == "" {
		home = "/tmp"
	}
	user, passwd, group := "user", "", ""
	if uid == "0" {
		user = "root"
	} else {
		passwd, group = "root:x:0:0::/:/bin/sh\n", "root:x:0:\n"
	}
	out := []supervisor.Stub{
		{Path: "/etc/passwd", Text: passwd + user + ":x:" + uid + ":" + gid + "::" + home + ":/bin/sh\n"},
		{Path: "/etc/group", Text: group + user + ":x:" + gid + ":\n"},
		{Path: "/etc/nsswitch.conf", Text: "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n"},
	}
	if p.Network != toolset.NetworkAll {
		return append(out, supervisor.Stub{Path: "/etc/hosts", Text: "127.0.0.1 localhost\n::1 localhost\n"})
	}
	for _, path := range []string{"/etc/hosts", "/etc/resolv.conf"} {
		if data, err := os.ReadFile(path); err == nil && len(data) <= maxStub {
			out = append(out, supervisor.Stub{Path: path, Text: string(data)})
		}
	}
	return out
}

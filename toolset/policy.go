package toolset

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Policy says what a tool may reach. The file tools, commands, Python tools
// and MCP servers all obey one: a process by the sandbox that it is started
// in, a tool that runs in fettle itself by [Policy.Place]. What a policy
// doesn't grant is denied.
type Policy struct {
	// Workspace is the folder that a call works on: absolute, links resolved.
	// Empty is none; a process then works in its private /tmp.
	Workspace string `json:"workspace,omitempty"`
	// ReadOnly makes the workspace read-only.
	ReadOnly bool `json:"read_only,omitempty"`
	// Layer collects what the process writes to the workspace, which stays as it is; nil
	// has it written directly. Only [LevelFull] has layers: if one can't be mounted, the
	// process isn't started, and the error is a [*LayerError].
	Layer *Layer `json:"layer,omitempty"`
	// Readable are further folders and files that may be read: the toolset's
	// version, an interpreter's prefix, what a manifest asked for and the user
	// approved. One inside a writable folder adds nothing.
	Readable []string `json:"readable,omitempty"`
	// Links are symbolic links on the paths to grants, which can otherwise be reached by
	// their real names alone. If a level hides files, the links are shown as links. They
	// grant nothing.
	Links []string `json:"links,omitempty"`
	// Writable are further folders that may be written to, such as a cache.
	Writable []string `json:"writable,omitempty"`
	// Lent are those of Readable and Writable that fettle itself grants from its own
	// state, such as a toolset's version. Every other grant there is refused.
	Lent []string `json:"lent,omitempty"`
	// Sealed are files and folders inside of writable ones that stay as they
	// are, such as a repository's .git, from which git runs hooks outside of
	// any sandbox. One that doesn't exist can't be made either, if its folder exists. Only [LevelFull] can keep a
	// process from them; the file tools always do.
	Sealed []string `json:"sealed,omitempty"`
	// Env are variables, NAME=value, that a manifest named and the user gave
	// values. [CheckEnvName] says which names are refused.
	Env []string `json:"env,omitempty"`
	// Network is none unless it says more. Hosts are for [NetworkHosts]:
	// "api.example.com", "*.example.com", each with a port or without one.
	Network Network  `json:"network,omitempty"`
	Hosts   []string `json:"hosts,omitempty"`
	// Serves lets a process listen on the loopback of its network, and reach what
	// listens there. Where Network is all that is the machine's own, else one that
	// nobody else is in, which only [LevelFull] has; at [LevelNone] nothing keeps
	// the process from it in any case. [Reacher] has what listens there reached.
	Serves bool `json:"serves,omitempty"`
	// UnixSockets allows Unix sockets between processes of one sandbox, where
	// that can be done without opening those of the machine: always at full. A
	// pair of connected ones is always allowed.
	UnixSockets bool `json:"unix_sockets,omitempty"`
	// Least is the containment below which nothing is started. The zero value
	// asks for [LevelReduced], so that running without containment takes
	// somebody's explicit word.
	Least Level `json:"least,omitempty"`
	// Most is the most containment to use; the zero value is [LevelFull].
	Most   Level  `json:"most,omitempty"`
	Limits Limits `json:"limits"`
}

// Network says which network a tool gets.
type Network string

// The networks. With NetworkHosts the only way out is a proxy that fettle
// runs, which connects to the policy's hosts and to nothing else. With
// NetworkAll it is the machine's own, its loopback services included.
const (
	NetworkNone  Network = ""
	NetworkHosts Network = "hosts"
	NetworkAll   Network = "all"
)

// Level says how well a process is contained; more is better.
type Level int

// The levels. At LevelReduced a tool can see that files exist outside what it
// was granted, and change their permissions and times. At LevelNone nothing is
// contained; limits hold, and processes end with their call.
const (
	LevelUnset Level = iota
	LevelNone
	LevelReduced
	LevelFull
)

func (l Level) String() string {
	switch l {
	case LevelNone:
		return "none"
	case LevelReduced:
		return "reduced"
	case LevelFull:
		return "full"
	}
	return "unset"
}

// MarshalText writes the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a level's name.
func (l *Level) UnmarshalText(text []byte) error {
	for _, known := range []Level{LevelUnset, LevelNone, LevelReduced, LevelFull} {
		if string(text) == known.String() {
			*l = known
			return nil
		}
	}
	return fmt.Errorf("read sandbox level %q: want full, reduced or none", text)
}

// NoLimit switches one limit off.
const NoLimit = -1

// Limits bound what a call may use. Zero is the default of [DefaultLimits],
// and [NoLimit] is none.
type Limits struct {
	// Time is how long a call may take, from [Process.Begin] on; in JSON it is
	// in nanoseconds.
	Time time.Duration `json:"time,omitempty"`
	// Memory is in bytes: of the data of each process, and of what all of them
	// hold together.
	Memory int64 `json:"memory,omitempty"`
	// Processes counts threads, too.
	Processes int `json:"processes,omitempty"`
	// FileSize is that of one file, OpenFiles that of one process.
	FileSize  int64 `json:"file_size,omitempty"`
	OpenFiles int   `json:"open_files,omitempty"`
	// Temp and TempFiles bound the private /tmp, and /dev/shm once more.
	Temp      int64 `json:"temp,omitempty"`
	TempFiles int   `json:"temp_files,omitempty"`
	// Output is how many bytes are kept of each captured stream, half from its
	// beginning and half from its end.
	Output int64 `json:"output,omitempty"`
	// Grown and GrownFiles are by how much the workspace may grow.
	Grown      int64 `json:"grown,omitempty"`
	GrownFiles int   `json:"grown_files,omitempty"`
	// FreeDisk is what has to stay free on the workspace's disk.
	FreeDisk int64 `json:"free_disk,omitempty"`
}

// DefaultLimits are what a tool gets that says nothing of limits.
func DefaultLimits() Limits {
	return Limits{
		Time: time.Minute, Memory: 2 << 30, Processes: 128,
		FileSize: 256 << 20, OpenFiles: 1024,
		Temp: 256 << 20, TempFiles: 20_000, Output: 1 << 20,
		Grown: 1 << 30, GrownFiles: 20_000, FreeDisk: 500 << 20,
	}
}

// Filled gives the limits with the defaults for what is zero.
func (l Limits) Filled() Limits {
	d := DefaultLimits()
	fill(&l.Time, d.Time)
	fill(&l.Memory, d.Memory)
	fill(&l.Processes, d.Processes)
	fill(&l.FileSize, d.FileSize)
	fill(&l.OpenFiles, d.OpenFiles)
	fill(&l.Temp, d.Temp)
	fill(&l.TempFiles, d.TempFiles)
	fill(&l.Output, d.Output)
	fill(&l.Grown, d.Grown)
	fill(&l.GrownFiles, d.GrownFiles)
	fill(&l.FreeDisk, d.FreeDisk)
	return l
}

func fill[T ~int | ~int64](limit *T, standard T) {
	if *limit == 0 {
		*limit = standard
	}
}

// Place is where a path lies among what a policy grants.
type Place struct {
	Dir      string // the granted folder that it is in
	Rel      string // the way from there, "." for the folder itself
	Writable bool
}

// Place finds the grant that a path falls under; a relative one is meant from
// the workspace. It goes by names alone: whoever opens the file does it
// through an [os.Root] of Dir, which no link leads out of.
func (p Policy) Place(name string) (Place, bool) {
	if !filepath.IsAbs(name) {
		if p.Workspace == "" {
			return Place{}, false
		}
		name = filepath.Join(p.Workspace, name)
	}
	best, found := Place{}, false
	consider := func(dir string, writable bool) {
		rel, err := filepath.Rel(dir, name)
		if dir == "" || err != nil || !filepath.IsLocal(rel) {
			return
		}
		if !found || writable && !best.Writable || writable == best.Writable && len(dir) > len(best.Dir) {
			best, found = Place{Dir: dir, Rel: rel, Writable: writable}, true
		}
	}
	consider(p.Workspace, !p.ReadOnly)
	for _, dir := range p.Writable {
		consider(dir, true)
	}
	for _, dir := range p.Readable {
		consider(dir, false)
	}
	for _, dir := range p.Sealed {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			best.Writable = false
		}
	}
	return best, found
}

// Check tells what is wrong with a policy, apart from what the disk says.
func (p Policy) Check() error {
	var faults []error
	for _, dir := range slices.Concat([]string{p.Workspace}, p.Readable, p.Writable, p.Sealed) {
		if err := checkGrant(dir); err != nil {
			faults = append(faults, err)
		}
	}
	if p.Layer != nil {
		faults = append(faults, p.Layer.check(p))
	}
	for _, v := range p.Env {
		name, value, ok := strings.Cut(v, "=")
		switch err := CheckEnvName(name); {
		case !ok:
			faults = append(faults, fmt.Errorf("variable %q has no value", name))
		case err != nil:
			faults = append(faults, err)
		case strings.ContainsRune(value, 0):
			faults = append(faults, fmt.Errorf("variable %s holds a NUL byte", name))
		}
	}
	switch {
	case p.Network != NetworkNone && p.Network != NetworkHosts && p.Network != NetworkAll:
		faults = append(faults, fmt.Errorf("network %q: want hosts, all or nothing", p.Network))
	case p.Network == NetworkHosts && len(p.Hosts) == 0:
		faults = append(faults, errors.New("network hosts without a host"))
	case p.Network != NetworkHosts && len(p.Hosts) > 0:
		faults = append(faults, errors.New("hosts are named, but the network isn't hosts"))
	}
	for _, h := range p.Hosts {
		if err := CheckHost(h); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// checkGrant refuses what can't be granted: the whole file system, and the
// kernel's own folders, which a sandbox makes anew.
func checkGrant(dir string) error {
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) || filepath.Clean(dir) != dir {
		return fmt.Errorf("grant %q: want an absolute path that says . and .. nowhere", dir)
	}
	if filepath.Dir(dir) == dir {
		return fmt.Errorf("grant %s: the whole file system can't be granted", dir)
	}
	for _, own := range []string{"/proc", "/sys", "/dev"} {
		if dir == own || strings.HasPrefix(dir, own+"/") && !strings.HasPrefix(dir, "/dev/shm/") {
			return fmt.Errorf("grant %s: %s is the kernel's, and a sandbox has its own", dir, own)
		}
	}
	return nil
}

// CheckEnvName refuses variables that change which code a program loads, or
// which program is found: a manifest that could set one would run code of its
// own choice in somebody else's program.
func CheckEnvName(name string) error {
	if name == "" || strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) >= 0 || name[0] >= '0' && name[0] <= '9' {
		return fmt.Errorf("variable %q: want letters, digits and _", name)
	}
	if err := CheckOwnEnv(name); err != nil {
		return err
	}
	upper := strings.ToUpper(name)
	for _, prefix := range []string{"LD_", "DYLD_", "PYTHON", "GIT_", "BASH_FUNC", "PERL5", "RUBY", "NPM_CONFIG_"} {
		if strings.HasPrefix(upper, prefix) {
			return fmt.Errorf("variable %s: names that begin with %s choose what code is loaded", name, prefix)
		}
	}
	switch upper {
	case "PATH", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "NODE_OPTIONS", "NODE_PATH", "CLASSPATH",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "GCONV_PATH", "HOSTALIASES", "LOCPATH", "NLSPATH",
		"HOME", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "EDITOR", "VISUAL", "PAGER", "BROWSER", "SHELL":
		return fmt.Errorf("variable %s: it chooses what code is loaded, or whom a program trusts", name)
	}
	return nil
}

// ownEnv is the prefix of the variables that configure fettle.
const ownEnv = "FETTLE_"

// CheckOwnEnv refuses the variables that configure fettle, regardless of what requests
// them: they name the data directory, the configuration and keys, and a fettle that a
// tool starts would use them.
func CheckOwnEnv(name string) error {
	if strings.HasPrefix(strings.ToUpper(name), ownEnv) {
		return fmt.Errorf("variable %s: names that begin with %s configure fettle and are never passed to a tool; choose another name", name, ownEnv)
	}
	return nil
}

package supervisor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Patience is how long a supervisor may take to end everything, before its launcher
// ends the supervisor itself.
const Patience = 5 * time.Second

// Level says how well the process is to be contained; see the package sandbox.
type Level int

// The levels, as package toolset numbers them.
const (
	None Level = iota + 1
	Reduced
	Full
)

// The networks and the causes of an end, as package toolset names them. They
// stand here again since this package imports as little as it can.
const (
	NetworkNone  = ""
	NetworkHosts = "hosts"
	NetworkAll   = "all"

	MemoryOver  = "memory"
	ProcessOver = "processes"
	Lost        = "lost"
)

// Limits are what the kernel and the supervisor bound; a negative one is none.
type Limits struct {
	Memory    int64 `json:"memory"`
	Processes int   `json:"processes"`
	FileSize  int64 `json:"file_size"`
	OpenFiles int   `json:"open_files"`
	Temp      int64 `json:"temp"`
	TempFiles int   `json:"temp_files"`
}

// Spec is what a supervisor is told to start, all of it resolved: the supervisor looks
// nothing up and trusts no environment.
type Spec struct {
	Level Level `json:"level"`
	// Probe builds the sandbox and starts nothing. In an overlay it replaces ProbeFolder.
	Probe bool     `json:"probe,omitempty"`
	Args  []string `json:"args"`
	Path  []string `json:"path"` // folders to look for Args[0] in
	Dir   string   `json:"dir"`
	Env   []string `json:"env"`
	// Grants are what can be reached, parents before children.
	Grants []Grant `json:"grants,omitempty"`
	// Harden uses what there is at LevelNone, too.
	Harden bool `json:"harden,omitempty"`
	// Files are made in the new root.
	Files []Stub `json:"files,omitempty"`
	// Temp is the folder for temporary files where there is no private /tmp.
	Temp    string `json:"temp,omitempty"`
	Network string `json:"network,omitempty"`
	// Serves gives the process the loopback of its network, to listen on.
	Serves      bool   `json:"serves,omitempty"`
	UnixSockets bool   `json:"unix_sockets,omitempty"`
	Limits      Limits `json:"limits"`
}

// ProbeFolder is the folder in the lower layer that a probe of overlays replaces.
const ProbeFolder = "folder"

// Grant is a path that the process may reach.
type Grant struct {
	Path  string `json:"path"`
	Write bool   `json:"write,omitempty"`
	// System may be missing, and is given as a link where it is one.
	System bool `json:"system,omitempty"`
	// Link is a symbolic link, which is shown as one and grants nothing.
	Link bool `json:"link,omitempty"`
	// Hidden shows an empty folder, or a file that can't be opened, in place of the
	// machine's file or folder at Path. If a grant above it can be written to, a missing
	// one is created.
	Hidden bool `json:"hidden,omitempty"`
	// Made is a folder that is made where it doesn't exist.
	Made bool `json:"made,omitempty"`
	// Upper and Work are the folders, both in one folder, of an overlay over Path. Without
	// them Path itself is written.
	Upper string `json:"upper,omitempty"`
	Work  string `json:"work,omitempty"`
	// Placeholder is made as an empty folder that can't be written to, and is removed by
	// the launcher.
	Placeholder bool `json:"placeholder,omitempty"`
}

// Stub is a small file with a text of ours.
type Stub struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Order is what a launcher tells a supervisor after the spec. When it closes its
// side of the socket, it wants everything ended; a launcher that was killed
// says the same.
type Order struct {
	Signal string `json:"signal,omitempty"` // "INT" or "TERM", for the process and its group
	// Dial wants a connection to a port of the sandbox's own loopback.
	Dial *Dial `json:"dial,omitempty"`
	// Hold stops all processes until it is taken back; the answer is Held.
	Hold *bool `json:"hold,omitempty"`
}

// Dial is one connection that is wanted, and in a [Notice] what came of it: the
// socket comes with it, unless there is an error.
type Dial struct {
	ID    uint64 `json:"id"`
	Port  int    `json:"port"`
	Error string `json:"error,omitempty"`
	// Refused tells that nobody listens there, as yet.
	Refused bool `json:"refused,omitempty"`
}

// Notice is what a supervisor says.
type Notice struct {
	// Listening comes with the proxy's socket, before Started.
	Listening bool `json:"listening,omitempty"`
	Started   bool `json:"started,omitempty"`
	Group     int  `json:"group,omitempty"` // with Started: the process's, as the keeper numbers it
	Facts
	// Failed says why nothing was started.
	Failed *Failure `json:"failed,omitempty"`
	// Dialed answers a Dial, Held a Hold.
	Dialed *Dial   `json:"dialed,omitempty"`
	Held   bool    `json:"held,omitempty"`
	Ended  *Ending `json:"ended,omitempty"`
}

// Facts are what a supervisor found out about the machine.
type Facts struct {
	// SharedProc tells that /proc is the machine's: no new one was to be had.
	SharedProc bool `json:"shared_proc,omitempty"`
}

// Failure is a step that went wrong. Lack tells that the machine refuses it
// whatever the policy: the launcher steps down a level.
type Failure struct {
	Lack bool   `json:"lack,omitempty"`
	Step string `json:"step"`
	Text string `json:"text"`
	// NotFound tells that the program isn't there.
	NotFound bool `json:"not_found,omitempty"`
	// Layer reports that an overlay can't be mounted.
	Layer bool `json:"layer,omitempty"`
}

// Error says which step went wrong, and how.
func (f *Failure) Error() string { return f.Step + ": " + f.Text }

// IsLack tells whether an error is the machine's refusal.
func IsLack(err error) (*Failure, bool) {
	var f *Failure
	ok := errors.As(err, &f) && f.Lack
	return f, ok
}

// Ending is how the process ended.
type Ending struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	Cause  string `json:"cause,omitempty"` // a limit that the keeper watches
	Detail string `json:"detail,omitempty"`
	Left   int    `json:"left,omitempty"`
	// Alone tells that nothing is left but the supervisor itself, which is process 1
	// of its namespace: whoever loses a parent becomes its child, and it has
	// none. Its own end, with its namespaces', is nothing to wait for then.
	Alone bool  `json:"alone,omitempty"`
	CPU   int64 `json:"cpu,omitempty"` // nanoseconds
}

// maxFrame bounds one frame: a spec holds an environment and paths, whose size
// the system bounds at some megabytes.
const maxFrame = 4 << 20

var errFrame = errors.New("a frame is too long")

// Frames reads one value of JSON a line.
type Frames struct{ r *bufio.Reader }

// NewFrames reads from r.
func NewFrames(r io.Reader) Frames { return Frames{bufio.NewReader(r)} }

// Next reads one.
func (f Frames) Next(v any) error {
	var line []byte
	for {
		part, err := f.r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxFrame:
			return errFrame
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return err
		}
		if err := json.Unmarshal(line, v); err != nil {
			return fmt.Errorf("read frame: %w", err)
		}
		return nil
	}
}

func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err == nil && len(data) >= maxFrame {
		err = errFrame
	}
	return append(data, '\n'), err
}

// Send writes one frame in one write.
func Send(w io.Writer, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

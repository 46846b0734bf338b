package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fettle-cli/fettle/toolset"
)

// spec is what a keeper is told to start, all of it resolved: the keeper looks
// nothing up and trusts no environment.
type spec struct {
	Level toolset.Level `json:"level"`
	// Probe builds the sandbox and starts nothing.
	Probe bool     `json:"probe,omitempty"`
	Args  []string `json:"args"`
	Path  []string `json:"path"` // folders to look for Args[0] in
	Dir   string   `json:"dir"`
	Env   []string `json:"env"`
	// Grants are what can be reached, parents before children.
	Grants []grant `json:"grants,omitempty"`
	// Harden uses what there is at LevelNone, too.
	Harden bool `json:"harden,omitempty"`
	// Files are made in the new root.
	Files []stub `json:"files,omitempty"`
	// Temp is the folder for temporary files where there is no private /tmp.
	Temp        string          `json:"temp,omitempty"`
	Network     toolset.Network `json:"network,omitempty"`
	UnixSockets bool            `json:"unix_sockets,omitempty"`
	Limits      toolset.Limits  `json:"limits"`
}

// grant is a path that the process may reach.
type grant struct {
	Path  string `json:"path"`
	Write bool   `json:"write,omitempty"`
	// System may be missing, and is given as a link where it is one.
	System bool `json:"system,omitempty"`
}

// stub is a small file with a text of ours.
type stub struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// order is what a launcher tells a keeper after the spec. When it closes its
// side of the socket, it wants everything ended; a launcher that was killed
// says the same.
type order struct {
	Signal string `json:"signal,omitempty"` // "INT" or "TERM", for the process and its group
}

// notice is what a keeper says.
type notice struct {
	// Listening comes with the proxy's socket, before Started.
	Listening bool `json:"listening,omitempty"`
	Started   bool `json:"started,omitempty"`
	Group     int  `json:"group,omitempty"` // with Started: the process's, as the keeper numbers it
	facts
	// Failed says why nothing was started.
	Failed *failure `json:"failed,omitempty"`
	Ended  *ending  `json:"ended,omitempty"`
}

// facts are what a keeper found out about the machine.
type facts struct {
	// SharedProc tells that /proc is the machine's: no new one was to be had.
	SharedProc bool `json:"shared_proc,omitempty"`
}

// failure is a step that went wrong. Lack tells that the machine refuses it
// whatever the policy: the launcher steps down a level.
type failure struct {
	Lack bool   `json:"lack,omitempty"`
	Step string `json:"step"`
	Text string `json:"text"`
	// NotFound tells that the program isn't there.
	NotFound bool `json:"not_found,omitempty"`
}

func (f *failure) Error() string { return f.Step + ": " + f.Text }

// isLack tells whether an error is the machine's refusal.
func isLack(err error) (*failure, bool) {
	var f *failure
	ok := errors.As(err, &f) && f.Lack
	return f, ok
}

// ending is how the process ended.
type ending struct {
	Code   int           `json:"code"`
	Signal string        `json:"signal,omitempty"`
	Cause  toolset.Cause `json:"cause,omitempty"` // a limit that the keeper watches
	Detail string        `json:"detail,omitempty"`
	Left   int           `json:"left,omitempty"`
	CPU    int64         `json:"cpu,omitempty"` // nanoseconds
}

// maxFrame bounds one frame: a spec holds an environment and paths, whose size
// the system bounds at some megabytes.
const maxFrame = 4 << 20

var errFrame = errors.New("a frame is too long")

// frames reads one value of JSON a line.
type frames struct{ r *bufio.Reader }

func newFrames(r io.Reader) frames { return frames{bufio.NewReader(r)} }

func (f frames) next(v any) error {
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

func frame(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err == nil && len(data) >= maxFrame {
		err = errFrame
	}
	return append(data, '\n'), err
}

// send writes one frame in one write.
func send(w io.Writer, v any) error {
	data, err := frame(v)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

package input

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

// The limits where Options has none, and those that have no setting.
const (
	// DefaultBytes is what standard input or a file may hold: more than any
	// model reads today, little enough to hold in memory.
	DefaultBytes = 16 << 20
	// MaxImage is the most that providers accept for one image.
	MaxImage = 20 << 20
	// MaxTotal bounds all files of one question together, unless one of them
	// may be larger.
	MaxTotal = 64 << 20
	// MaxFiles bounds the number of files of one question. A folder with more
	// of them is a project, for which tools are the way.
	MaxFiles = 1000
)

// The waits after which a silent source is announced.
const (
	// firstSilence is for a source that has given nothing: one second is when
	// people begin to wonder.
	firstSilence = time.Second
	// laterSilence is for a source that has given something: it is alive, and
	// may have pauses.
	laterSilence = 10 * time.Second
)

// Options is what reading needs to know.
type Options struct {
	// In is standard input; nil is an empty one.
	In *os.File
	// Notice takes one line for people, such as that we wait; nil drops it.
	Notice func(string)
	// StdinBytes and FileBytes are limits; 0 is DefaultBytes.
	StdinBytes, FileBytes int64

	// silence replaces firstSilence and laterSilence in tests.
	silence [2]time.Duration
}

func (o Options) notice(format string, args ...any) {
	if o.Notice != nil {
		o.Notice(fmt.Sprintf(format, args...))
	}
}

func (o Options) stdinBytes() int64 {
	if o.StdinBytes > 0 {
		return o.StdinBytes
	}
	return DefaultBytes
}

func (o Options) fileBytes() int64 {
	if o.FileBytes > 0 {
		return o.FileBytes
	}
	return DefaultBytes
}

// stdinNames are the values of -f that mean standard input. The longer ones
// are among them since opening them anew fails where it is a socket.
func stdinNames() []string { return []string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"} }

// WantsStdin tells whether one of the names that -f got is standard input: then
// Files reads it, and Stdin must not be called too.
func WantsStdin(names []string) bool {
	return slices.ContainsFunc(names, isStdin)
}

func isStdin(name string) bool { return slices.Contains(stdinNames(), name) }

// Stdin reads standard input as text, to its end. It is nil where there is
// none: a terminal, a closed descriptor, nothing in it.
//
// A cancelled ctx ends it at once with an error that wraps ctx's cause; every
// other error is a fault of kind Usage.
func Stdin(ctx context.Context, o Options) ([]byte, error) {
	raw, class, err := readStdin(ctx, o)
	if err != nil || class == terminal || len(raw) == 0 {
		return nil, err
	}
	text, replaced, bad := mend(raw)
	if bad != nil {
		return nil, binaryFault("standard input", "", raw, bad)
	}
	o.noteMended("standard input", replaced)
	return text, nil
}

// StdinBytes is Stdin for what need not be text.
func StdinBytes(ctx context.Context, o Options) ([]byte, error) {
	raw, class, err := readStdin(ctx, o)
	if err != nil || class == terminal {
		return nil, err
	}
	return raw, nil
}

// readStdin reads what is there, unless it is a terminal.
func readStdin(ctx context.Context, o Options) ([]byte, class, error) {
	const name = "standard input"
	if o.In == nil {
		return nil, none, nil
	}
	class := classify(o.In)
	switch class {
	case none, terminal:
		return nil, class, nil
	case folder:
		return nil, class, fault.New(fault.Usage, "standard input is a folder", fault.Run("fettle ask -f DIR …   reads a folder's text files"))
	}
	s := source{
		name: name, limit: o.stdinBytes(), class: class, silence: o.silence,
		waiting: func(got int64) {
			if got == 0 {
				o.notice("waiting for standard input; --no-stdin skips it")
				return
			}
			o.notice("waiting for the end of standard input after %s; --no-stdin skips it", size(got))
		},
		tooLarge: func(known int64) error { return stdinTooLarge(known, o.stdinBytes()) },
	}
	raw, err := s.readAll(ctx, o.In)
	return raw, class, err
}

func stdinTooLarge(known, limit int64) error {
	msg, want := fmt.Sprintf("standard input is larger than %s, the limit", size(limit)), 4*limit
	if known > 0 {
		msg, want = fmt.Sprintf("standard input has %s; the limit is %s", size(known), size(limit)), known
	}
	return fault.New(fault.Usage, msg, fault.Run(raise("limits.stdin_bytes", "FETTLE_LIMITS_STDIN_BYTES", want)))
}

// raise is the hint that raises a limit to hold want bytes. The configuration
// allows up to 1 GiB.
func raise(key, variable string, want int64) string {
	const most = 1 << 30
	if want > most {
		return key + " can be raised to 1 GiB at most; a part of it may do"
	}
	mib := (want + 1<<20 - 1) >> 20
	return fmt.Sprintf("%s=%dMiB fettle ask …   raises the limit", variable, mib)
}

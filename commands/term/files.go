package term

import (
	"io"
	"os"
	"os/exec"
)

// Attach gives a program these streams, so that a person can use it as if it
// had been started by hand: an editor, say. Nothing else may use them before
// it has ended.
func (s *Streams) Attach(cmd *exec.Cmd) {
	s.status.Clear()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In.r, s.Out.w, s.Err.w
}

// File is the open file behind the input, for readers that wait for it with
// the system's means; nil where there is none, as in tests.
func (i *Input) File() *os.File {
	f, _ := i.r.(*os.File)
	return f
}

// Close ends the stream, so that a reader of it sees its end before the
// program's. Nothing may be written after it.
func (o *Output) Close() error {
	o.screen.mu.Lock()
	defer o.screen.mu.Unlock()
	if c, ok := o.w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// File is the open file behind the output; nil where there is none, as in tests.
func (o *Output) File() *os.File {
	f, _ := o.w.(*os.File)
	return f
}

//go:build unix

package sandbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/toolset/sandbox/supervisor"
)

// canHold tells whether processes can be stopped for a while.
const canHold = true

// control is the launcher's end of the socket to a supervisor.
type control struct {
	*net.UnixConn
	theirs *os.File
	got    *received
}

// received are descriptors that came along with what was read.
type received struct {
	mu    sync.Mutex
	files []*os.File
}

// newControl makes a socket and gives both ends.
func newControl() (control, error) {
	// ForkLock is held where the kernel can't mark descriptors as it makes them.
	fds, err := socketPair()
	if err != nil {
		return control{}, fmt.Errorf("make a socket: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	conn, err := net.FileConn(ours)
	ours.Close() // FileConn has its own
	if err != nil {
		theirs.Close()
		return control{}, fmt.Errorf("make a socket: %w", err)
	}
	return control{UnixConn: conn.(*net.UnixConn), theirs: theirs, got: &received{}}, nil
}

// closeTheirs lets go of the supervisor's end, which it has by now.
func (c control) closeTheirs() { c.theirs.Close() }

// maxRights bounds the descriptors of one message.
const maxRights = 4

// Read reads, and keeps descriptors that come along for file.
func (c control) Read(p []byte) (int, error) {
	oob := make([]byte, unix.CmsgSpace(maxRights*4))
	n, oobn, _, _, err := c.ReadMsgUnix(p, oob)
	if oobn > 0 {
		c.got.add(oob[:oobn])
	}
	if n == 0 && err == nil && len(p) > 0 {
		return 0, os.ErrClosed
	}
	return n, err
}

func (r *received) add(oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return // none came
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			r.files = append(r.files, os.NewFile(uintptr(fd), "received"))
		}
	}
}

// file gives the next descriptor that came, nil for none.
func (c control) file() *os.File {
	c.got.mu.Lock()
	defer c.got.mu.Unlock()
	if len(c.got.files) == 0 {
		return nil
	}
	f := c.got.files[0]
	c.got.files = c.got.files[1:]
	return f
}

// keeperProgram is how our own program is started again.
func keeperProgram() (*exec.Cmd, control, error) {
	path, err := ownPath()
	if err != nil {
		return nil, control{}, fmt.Errorf("find our own program: %w", err)
	}
	ctl, err := newControl()
	if err != nil {
		return nil, control{}, err
	}
	cmd := &exec.Cmd{Path: path, Args: []string{programName, supervisor.Arg}, ExtraFiles: []*os.File{ctl.theirs}, Dir: "/"}
	return cmd, ctl, nil
}

// killGroup ends a group of processes.
func killGroup(group int) { unix.Kill(-group, unix.SIGKILL) } // there may be none

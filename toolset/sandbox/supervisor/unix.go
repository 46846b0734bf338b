//go:build unix

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// ControlFD is where a supervisor finds the launcher's socket.
const ControlFD = 3

// calledByLauncher tells whether there is a launcher at the other end.
func calledByLauncher([]string) bool {
	kind, err := unix.GetsockoptInt(ControlFD, unix.SOL_SOCKET, unix.SO_TYPE)
	return err == nil && kind == unix.SOCK_STREAM
}

// supervisor is the process between fettle and the tool.
type supervisor struct {
	Spec
	Facts
	control *os.File
	orders  Frames
	pid     atomic.Int64 // of the process, which leads its group
	ended   chan Ending  // the process ended, or a limit was passed
	local                // what one system needs
}

// keep is the supervisor's whole life.
func keep([]string) int {
	keepOut()
	k := &supervisor{control: os.NewFile(ControlFD, "control"), ended: make(chan Ending, 4)}
	k.orders = NewFrames(k.control)
	err := k.orders.Next(&k.Spec)
	if err == nil {
		heedNoSignals()
		err = k.start()
	}
	if err != nil {
		var f *Failure
		if !errors.As(err, &f) {
			f = &Failure{Step: "start the process", Text: err.Error()}
		}
		Send(k.control, Notice{Failed: f}) // if nobody listens, the socket's end tells us below
		return supervisorFailed
	}
	if k.Temp != "" {
		defer os.RemoveAll(k.Temp) // the launcher may be gone by then
	}
	if Send(k.control, Notice{Started: true, Group: int(k.pid.Load()), Facts: k.Facts}) != nil || k.Probe {
		_, _ = k.endAll()
		return supervisorDone
	}
	silence()
	k.supervise()
	return supervisorDone
}

// heedNoSignals keeps the supervisor alive through what its process, or somebody
// at a terminal, sends to everybody: it goes when its launcher says so. The
// signals are caught rather than ignored, since a child inherits the latter.
func heedNoSignals() {
	dropped := make(chan os.Signal, 1) // nobody reads it
	signal.Notify(dropped, unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGPIPE,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU)
}

// silence gives up the process's streams, so that they end when it ends.
func silence() {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if err != nil {
			unix.Close(fd)
			continue
		}
		dup(null, fd)
	}
	if err == nil {
		unix.Close(null)
	}
}

// supervise waits for the end of the process, of the launcher, or of its
// patience, and ends everything then.
func (k *supervisor) supervise() {
	done := make(chan struct{})
	defer close(done)
	go k.reap()
	go k.watch(done)
	orders := make(chan Order)
	go k.listen(orders, done)
	for {
		select {
		case e := <-k.ended:
			k.sayEnded(e)
			return
		case o, ok := <-orders:
			if !ok {
				k.sayEnded(Ending{Code: -1})
				return
			}
			k.obey(o)
		}
	}
}

// sayEnded ends what is left and tells the launcher.
func (k *supervisor) sayEnded(e Ending) {
	e.Left, e.Alone = k.endAll()
	Send(k.control, Notice{Ended: &e}) // a launcher that is gone needs no word
}

// listen hands on what the launcher says; the channel ends with the launcher.
func (k *supervisor) listen(orders chan<- Order, done <-chan struct{}) {
	defer close(orders)
	for {
		var o Order
		if k.orders.Next(&o) != nil {
			return
		}
		select {
		case orders <- o:
		case <-done:
			return
		}
	}
}

// obey does what the launcher says.
func (k *supervisor) obey(o Order) {
	switch {
	case o.Dial != nil:
		k.dial(*o.Dial)
	case o.Hold != nil:
		k.hold(*o.Hold)
		Send(k.control, Notice{Held: true}) // a launcher that is gone needs no word
	default:
		k.signal(o.Signal)
	}
}

func (k *supervisor) signal(name string) {
	sig := unix.SIGTERM
	if name == "INT" {
		sig = unix.SIGINT
	}
	if pid := int(k.pid.Load()); pid > 0 {
		unix.Kill(-pid, sig) // it may have ended by now
	}
}

// reap waits for every child, ours and those that lost their parents, until
// the process itself has ended.
func (k *supervisor) reap() {
	for {
		var status unix.WaitStatus
		var used unix.Rusage
		pid, err := unix.Wait4(-1, &status, 0, &used)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			k.ended <- Ending{Code: -1, Cause: Lost, Detail: "the process is nowhere: " + err.Error()}
			return
		}
		if int64(pid) != k.pid.Load() {
			continue
		}
		e := Ending{Code: status.ExitStatus(), CPU: used.Utime.Nano() + used.Stime.Nano()}
		if status.Signaled() {
			e.Code, e.Signal = -1, unix.SignalName(status.Signal())
		}
		k.ended <- e
		return
	}
}

// launch starts the process as the leader of a group of its own.
func (k *supervisor) launch() error {
	path, err := k.find()
	if err != nil {
		return err
	}
	if info, err := os.Stat(k.Dir); err != nil || !info.IsDir() {
		return &Failure{Step: "start in " + k.Dir, Text: "no such folder in the sandbox"}
	}
	pid, err := syscall.ForkExec(path, k.Args, &syscall.ProcAttr{
		Dir: k.Dir, Env: k.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		text := err.Error()
		if errors.Is(err, unix.ENOENT) {
			text = "the program that its first line names, or its loader, isn't in the sandbox"
		}
		return &Failure{Step: "start " + k.Args[0], Text: text}
	}
	k.pid.Store(int64(pid))
	return nil
}

// find looks for the program where the process would.
func (k *supervisor) find() (string, error) {
	name := k.Args[0]
	candidates := []string{name}
	if !strings.Contains(name, "/") {
		candidates = nil
		for _, dir := range k.Path {
			candidates = append(candidates, filepath.Join(dir, name))
		}
	}
	why := error(fs.ErrNotExist)
	for _, path := range candidates {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil:
			return path, nil
		case err == nil:
			why = fs.ErrPermission
		}
	}
	f := &Failure{Step: "start " + name, Text: "no such program in the sandbox", NotFound: true}
	if errors.Is(why, fs.ErrPermission) {
		f.Text, f.NotFound = "it can't be run", false
	}
	return "", f
}

// Lack says that the machine refuses something.
func Lack(step string, err error) error {
	return &Failure{Lack: true, Step: step, Text: errText(err)}
}

func errText(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return fmt.Sprint(err)
}

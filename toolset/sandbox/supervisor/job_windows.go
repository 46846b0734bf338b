package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// calledByLauncher tells whether a launcher's pipes are named.
func calledByLauncher(args []string) bool {
	if len(args) != 2 {
		return false
	}
	for _, a := range args {
		h, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			return false
		}
		if kind, err := windows.GetFileType(windows.Handle(h)); err != nil || kind != windows.FILE_TYPE_PIPE {
			return false
		}
	}
	return true
}

// supervisor is the process between fettle and the tool.
type supervisor struct {
	Spec
	out    *os.File
	orders Frames
	cmd    *exec.Cmd
}

// keep is the supervisor's whole life. It is in a job that ends with it, so that
// everything ends when it does, however that comes about.
func keep(args []string) int {
	var pipes []*os.File
	for _, a := range args {
		h, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			return supervisorFailed
		}
		windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, 0) // Go lists what it hands on all the same
		pipes = append(pipes, os.NewFile(uintptr(h), "control"))
	}
	k := &supervisor{out: pipes[1], orders: NewFrames(pipes[0])}
	err := k.orders.Next(&k.Spec)
	if err == nil {
		err = k.start()
	}
	if err != nil {
		var f *Failure
		if !errors.As(err, &f) {
			f = &Failure{Step: "start the process", Text: err.Error()}
		}
		Send(k.out, Notice{Failed: f}) // if nobody listens, nobody waits
		return supervisorFailed
	}
	if Send(k.out, Notice{Started: true}) != nil || k.Probe {
		return supervisorDone
	}
	k.supervise()
	return supervisorDone
}

func (k *supervisor) start() error {
	if err := k.enterJob(); err != nil {
		return err
	}
	if k.Probe {
		return nil
	}
	path, err := k.find()
	if err != nil {
		return err
	}
	std := func(which uint32) (*os.File, error) {
		h, err := windows.GetStdHandle(which)
		return os.NewFile(uintptr(h), "stream"), err
	}
	in, err1 := std(windows.STD_INPUT_HANDLE)
	out, err2 := std(windows.STD_OUTPUT_HANDLE)
	errs, err3 := std(windows.STD_ERROR_HANDLE)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	k.cmd = &exec.Cmd{
		Path: path, Args: k.Args, Dir: k.Dir, Env: k.Env, Stdin: in, Stdout: out, Stderr: errs,
		SysProcAttr: &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	}
	if err := k.cmd.Start(); err != nil {
		return &Failure{Step: "start " + k.Args[0], Text: err.Error()}
	}
	// The streams end with the process.
	in.Close()
	out.Close()
	errs.Close()
	return nil
}

// enterJob puts the supervisor, and so all that it starts, into a job. Its handle
// is never closed: the system does that when the supervisor ends.
func (k *supervisor) enterJob() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("make a job: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	b := &info.BasicLimitInformation
	b.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	if n := k.Limits.Processes; n >= 0 {
		b.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		b.ActiveProcessLimit = uint32(n) + 1 // the keeper counts
	}
	if n := k.Limits.Memory; n >= 0 {
		b.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		info.JobMemoryLimit = uintptr(n)
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return fmt.Errorf("limit a job: %w", err)
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		return fmt.Errorf("enter a job: %w", err)
	}
	return nil
}

// find looks for the program where the process would.
func (k *supervisor) find() (string, error) {
	name := k.Args[0]
	var candidates []string
	for _, end := range []string{"", ".exe", ".com", ".bat", ".cmd"} {
		if filepath.Base(name) != name {
			candidates = append(candidates, name+end)
			continue
		}
		for _, dir := range k.Path {
			candidates = append(candidates, filepath.Join(dir, name+end))
		}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && filepath.Ext(path) != "" {
			return path, nil
		}
	}
	return "", &Failure{Step: "start " + name, Text: fs.ErrNotExist.Error(), NotFound: true}
}

// supervise waits for the process's end or the launcher's. The job does the
// rest when the supervisor returns.
func (k *supervisor) supervise() {
	ended := make(chan Ending, 1)
	go func() {
		err := k.cmd.Wait()
		e := Ending{Code: -1}
		if state := k.cmd.ProcessState; state != nil {
			e.Code, e.CPU = state.ExitCode(), int64(state.UserTime()+state.SystemTime())
		} else if err != nil {
			e.Detail = err.Error()
		}
		ended <- e
	}()
	left := make(chan struct{})
	go func() {
		defer close(left)
		for {
			var o Order
			if k.orders.Next(&o) != nil {
				return
			}
			// A program that shares our console may end by this; for others the
			// launcher's patience runs out.
			windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(k.cmd.Process.Pid))
		}
	}()
	select {
	case e := <-ended:
		Send(k.out, Notice{Ended: &e})
	case <-left:
	}
}

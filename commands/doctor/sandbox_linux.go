package doctor

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sandbox tells what a sandbox for tools could rest on: each layer is tried, as
// a sandbox would use it, since what the kernel's settings say is only a part
// of what decides.
func (p Programs) Sandbox(ctx context.Context) Result {
	l := layers{namespaces: p.tryNamespaces(ctx), landlock: landlockABI(), seccomp: hasSeccomp()}
	r := l.result()
	if l.namespaces != nil {
		r.Try(namespaceHint(os.ReadFile))
	}
	return r
}

// tryNamespaces starts a program in the namespaces that a sandbox is made of.
// Go mounts / anew for it, as private: where AppArmor or a container takes the
// rights out of a user namespace, that is what fails.
func (p Programs) tryNamespaces(ctx context.Context) error {
	path, err := p.find("true")
	if err != nil {
		return errors.New("no program to try them with")
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Env, cmd.WaitDelay = []string{}, waitDelay
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		Unshareflags: syscall.CLONE_NEWNS,
		UidMappings:  []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings:  []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
	}
	err = cmd.Run()
	var number syscall.Errno
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return errors.New("no answer in time")
	case errors.As(err, &number):
		return number
	}
	return err
}

// landlockABI asks the kernel for the version of Landlock that it has.
func landlockABI() int {
	const versionFlag = 1 // LANDLOCK_CREATE_RULESET_VERSION
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, versionFlag)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// hasSeccomp asks the kernel whether a filter could end a process.
func hasSeccomp() bool {
	action := uint32(unix.SECCOMP_RET_KILL_PROCESS)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// namespaceHint names the setting that forbids user namespaces.
func namespaceHint(read func(string) ([]byte, error)) string {
	for _, setting := range []struct{ path, forbids, hint string }{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
			"sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0   or an AppArmor profile for fettle that has: userns,"},
		{"/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=15000"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"},
	} {
		text, err := read(setting.path)
		if err == nil && strings.TrimSpace(string(text)) == setting.forbids {
			return setting.hint
		}
	}
	return "a container has to be started so that it allows them, as by docker run --security-opt seccomp=unconfined"
}

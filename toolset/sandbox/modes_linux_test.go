package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/sandbox"
)

// otherMode is what the test binary does when a test starts it as a program of
// its own: a fettle that is about to be killed, or one on a poorer machine.
func otherMode() (status int, done bool) {
	var do func(args []string) error
	switch os.Getenv(mode) {
	case "parent":
		do = beParent
	case "poor":
		do = onPoorMachine
	case "contained":
		do = inContainer
	case "without Landlock":
		do = withoutLandlock
	case "without seccomp":
		do = withoutSeccomp
	default:
		return 0, false
	}
	if err := do(os.Args[1:]); err != nil {
		fmt.Println("error:", err)
		return 1, true
	}
	return 0, true
}

// beParent starts a process at a level and waits to be killed.
func beParent(args []string) error {
	var level toolset.Level
	if err := level.UnmarshalText([]byte(args[0])); err != nil {
		return err
	}
	ctx := context.Background()
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
	p, err := l.Start(ctx, toolset.Policy{Least: level, Most: level}, toolset.Command{Args: args[1:]})
	if err != nil {
		return err
	}
	ready := make([]byte, 1)
	if _, err := p.Stdout().Read(ready); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = p.Wait(ctx)
	return err
}

// onPoorMachine allows no user namespaces from here on, and tells what a
// launcher makes of that. It runs in a namespace of its own.
func onPoorMachine([]string) error {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return err
	}
	ctx := context.Background()
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv(), Dial: new(net.Dialer).DialContext})
	defer l.Close()
	command := toolset.Command{Args: []string{"cat"}, Stdin: strings.NewReader("input")}
	ran, err := l.Run(ctx, toolset.Policy{}, command)
	fmt.Println("any:", ran.Level, ran.Exit, err, ran.Stdout)
	_, err = l.Run(ctx, toolset.Policy{Least: toolset.LevelFull}, command)
	fmt.Println("full:", err)
	_, err = l.Run(ctx, toolset.Policy{Network: toolset.NetworkHosts, Hosts: []string{"a.example"}}, command)
	fmt.Println("hosts:", err)
	r, err := l.Report(ctx)
	fmt.Println("report:", r, err)
	fmt.Println("gaps:", strings.Join(r.Gaps, "; "))
	fmt.Println("fix:", r.Fix)
	return nil
}

// inContainer hides a part of /proc, as container engines do, upon which the
// kernel gives nobody in here a new one, and tells what a launcher makes of it.
func inContainer(args []string) error {
	if err := unix.Mount("tmpfs", "/proc/irq", "tmpfs", 0, ""); err != nil {
		return err
	}
	ctx := context.Background()
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
	defer l.Close()
	r, err := l.Report(ctx)
	fmt.Println("report:", r, err)
	fmt.Println("gaps:", strings.Join(r.Gaps, "; "))
	ran, err := l.Run(ctx, toolset.Policy{Workspace: args[0]}, toolset.Command{Args: []string{"bash", "-c",
		`cat <(echo fine); : >> /proc/sys/kernel/core_pattern || echo kept; cat /proc/` + args[1] + `/environ || echo kept`}})
	fmt.Println("any:", ran.Level, ran.Exit, err, filepath.Base(ran.Stdout.String()))
	return nil
}

// without answers one system call of this program, and of all that it starts, as a kernel
// that does not have it.
func without(call uint32) error {
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// withoutSeccomp is as on a kernel that has none, and reports what a launcher does there.
func withoutSeccomp(args []string) error {
	if err := without(unix.SYS_SECCOMP); err != nil {
		return err
	}
	ctx := context.Background()
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
	defer l.Close()
	r, err := l.Report(ctx)
	fmt.Println("report:", r, err)
	fmt.Println("gaps:", strings.Join(r.Gaps, "; "))
	command := toolset.Command{Args: []string{"sh", "-c", "touch f; chmod 4755 f; echo ran"}}
	for _, least := range []toolset.Level{toolset.LevelUnset, toolset.LevelReduced, toolset.LevelFull} {
		ran, err := l.Run(ctx, toolset.Policy{Workspace: args[0], Least: least}, command)
		fmt.Println(least, "runs:", ran.Stdout, err)
	}
	return nil
}

// withoutLandlock is as on a kernel that has none, and runs a probe there.
func withoutLandlock(args []string) error {
	if err := without(unix.SYS_LANDLOCK_CREATE_RULESET); err != nil {
		return err
	}
	l := sandbox.New(sandbox.Options{KeeperEnv: keeperEnv()})
	defer l.Close()
	r, err := l.Report(context.Background())
	if err != nil || !strings.Contains(r.String(), "full: user namespaces, no Landlock, seccomp") {
		return fmt.Errorf("%s %w", r, err)
	}
	ran, err := l.Run(context.Background(), probePolicy(args[0], toolset.LevelFull), toolset.Command{Args: args[1:]})
	fmt.Printf("%s%s", ran.Stdout.Head, ran.Exit.Stderr)
	return err
}

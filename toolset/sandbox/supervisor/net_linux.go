package supervisor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// proxyBacklog is how many connections to the proxy may wait.
const proxyBacklog = 64

// openProxy listens on the loopback of this network namespace, which has
// nothing else, and hands the socket to the launcher: fettle accepts what
// comes, from outside. The process hears of it by the variables that HTTP
// clients read; one that doesn't reaches nothing.
func (k *supervisor) openProxy() error {
	if err := raiseLoopback(); err != nil {
		return Lack("start the loopback network", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return Lack("open the proxy", err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return Lack("open the proxy", err)
	}
	if err := unix.Listen(fd, proxyBacklog); err != nil {
		return Lack("open the proxy", err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		return Lack("open the proxy", err)
	}
	address := fmt.Sprintf("http://127.0.0.1:%d", at.(*unix.SockaddrInet4).Port)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		k.Env = append(k.Env, name+"="+address)
	}
	k.Env = append(k.Env, "NODE_USE_ENV_PROXY=1") // Node from 24 on reads the others only with it
	data, err := encode(Notice{Listening: true})
	if err != nil {
		return err
	}
	return unix.Sendmsg(ControlFD, data, unix.UnixRights(fd), nil, 0)
}

func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

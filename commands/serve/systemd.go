package serve

import (
	"net"
	"os"
	goruntime "runtime"
	"strconv"

	"github.com/fettle-cli/fettle/engine/fault"
)

// firstPassed is the first descriptor that systemd passes.
const firstPassed = 3

// passedListener is the listener that systemd has opened for this process
// (sd_listen_fds); nil where it has none.
func passedListener() (net.Listener, error) {
	if goruntime.GOOS == "windows" || os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil // none, or one that was meant for the process that began this one
	}
	if n := os.Getenv("LISTEN_FDS"); n != "1" {
		return nil, fault.New(fault.Usage, "fettle serve takes one socket of systemd's, and there are "+strconv.Quote(n),
			fault.Run("systemctl --user edit fettle.socket"))
	}
	f := os.NewFile(firstPassed, "LISTEN_FD")
	l, err := net.FileListener(f) // a copy, which no program that is started has
	_ = f.Close()
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "take the socket of systemd's", err, fault.Run("systemctl --user edit fettle.socket"))
	}
	if _, ok := l.(*net.TCPListener); !ok {
		_ = l.Close()
		return nil, fault.New(fault.Usage, "fettle serve takes a TCP socket of systemd's; a Unix socket it makes by itself",
			fault.Run("systemctl --user edit fettle.socket"))
	}
	return l, nil
}

// notifySystemd tells what has become of the service, where somebody wants to know
// (sd_notify).
func notifySystemd(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" || goruntime.GOOS == "windows" {
		return nil
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}

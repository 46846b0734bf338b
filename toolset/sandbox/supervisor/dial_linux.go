package supervisor

import (
	"errors"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// dialTime bounds one connection. A listener of the loopback answers at once;
	// one whose queue is full not at all.
	dialTime = time.Second
	// dialQueue is how many connections may be wanted at once: they are made one
	// after the other, since each thread of the supervisor counts among the tool's.
	dialQueue = 64
)

// dial has a connection to a port of this network's loopback made, and its socket
// handed to the launcher: so the launcher, outside, talks to what listens in here,
// and the network stays without any other way in or out.
func (k *supervisor) dial(d Dial) {
	if k.dials == nil {
		k.dials = make(chan Dial, dialQueue)
		go func() { // ends with the supervisor
			for d := range k.dials {
				k.answer(d)
			}
		}()
	}
	select {
	case k.dials <- d:
	default:
		d.Error = "too many connections are wanted at once"
		Send(k.control, Notice{Dialed: &d}) // a launcher that is gone needs no word
	}
}

// answer makes one connection and sends it, or says why there is none.
func (k *supervisor) answer(d Dial) {
	fd, err := dialLoopback(d.Port)
	if err != nil {
		d.Error, d.Refused = errText(err), errors.Is(err, unix.ECONNREFUSED)
		Send(k.control, Notice{Dialed: &d})
		return
	}
	defer unix.Close(fd)
	data, err := encode(Notice{Dialed: &d})
	if err == nil {
		_ = unix.Sendmsg(ControlFD, data, unix.UnixRights(fd), nil, 0) // the launcher may be gone
	}
}

// dialLoopback connects to a port, by IPv4 and then by IPv6.
func dialLoopback(port int) (int, error) {
	if port <= 0 || port > 65535 {
		return -1, unix.EINVAL
	}
	fd, err := connect(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		return fd, nil
	}
	if six, err := connect(unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}); err == nil {
		return six, nil
	}
	return -1, err
}

func connect(family int, to unix.Sockaddr) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	err = unix.Connect(fd, to)
	if errors.Is(err, unix.EINPROGRESS) {
		err = connected(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// connected waits for a connection that is being made.
func connected(fd int) error {
	for end := time.Now().Add(dialTime); ; {
		left := time.Until(end)
		if left <= 0 {
			return unix.ETIMEDOUT
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(left.Milliseconds())+1)
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		if err != nil {
			return err
		}
		number, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil {
			return err
		}
		if number != 0 {
			return unix.Errno(number)
		}
		return nil
	}
}

const (
	// holdTime bounds the wait until all have stopped: a process that is within a
	// system call stops at its end.
	holdTime  = 500 * time.Millisecond
	holdPause = time.Millisecond
)

// hold stops every process below the supervisor, and lets them go on. Nobody writes to
// the workspace meanwhile.
func (k *supervisor) hold(on bool) {
	sig := unix.SIGCONT
	if on {
		sig = unix.SIGSTOP
	}
	for end := time.Now().Add(holdTime); ; {
		running := 0
		for _, pid := range k.descendants() {
			if on && stopped(pid) {
				continue
			}
			running++
			unix.Kill(pid, sig) // it may have ended by now
		}
		if !on || running == 0 || time.Now().After(end) {
			return
		}
		unix.Nanosleep(&unix.Timespec{Nsec: int64(holdPause)}, nil)
	}
}

// stopped tells whether a process has stopped, with all its threads.
func stopped(pid int) bool {
	_, state := parentOf(strconv.Itoa(pid))
	return state == 'T' || state == 't'
}

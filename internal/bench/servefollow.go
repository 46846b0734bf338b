package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// delays counts times in classes that each reach a tenth further than the one
// before.
type delays [200]int64

const delayStep = 1.1

func (d *delays) add(t time.Duration) {
	class, bound := 0, float64(10*time.Microsecond)
	for ; class < len(d)-1 && float64(t) > bound; class++ {
		bound *= delayStep
	}
	d[class]++
}

func (d *delays) merge(o *delays) {
	for i, n := range o {
		d[i] += n
	}
}

// quantile is the bound below which a part of all lies.
func (d *delays) quantile(part float64) time.Duration {
	all := int64(0)
	for _, n := range d {
		all += n
	}
	bound, seen := float64(10*time.Microsecond), int64(0)
	for _, n := range d {
		if seen += n; float64(seen) >= part*float64(all) {
			break
		}
		bound *= delayStep
	}
	return time.Duration(bound)
}

// follower is one client of one stream.
type follower struct {
	host, path, token string
	events            int // the stream has
	// leaves has it go away after some events, again and again.
	leaves *rand.Rand
	stalls bool

	conn    net.Conn
	body    *bufio.Reader
	place   int    // the next unit
	last    string // the last id
	id      int
	ended   bool
	came    int // times that it came
	dropped bool
	delays  delays
}

// open connects, and reads the header: a server that is followed answers at once.
func (f *follower) open() (status int, err error) {
	if f.conn, err = net.Dial("tcp", f.host); err != nil {
		return 0, err
	}
	f.came++
	if f.stalls {
		if err := f.conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
			return 0, err
		}
	}
	ask := "GET " + f.path + " HTTP/1.1\r\nHost: " + f.host + "\r\nAuthorization: Bearer " + f.token + "\r\n"
	if f.last != "" {
		ask += "Last-Event-ID: " + f.last + "\r\n"
	}
	if _, err := io.WriteString(f.conn, ask+"\r\n"); err != nil {
		return 0, err
	}
	if f.stalls && f.came == 1 { // reads nothing at all
		return http.StatusOK, nil
	}
	return f.header()
}

func (f *follower) header() (status int, err error) {
	res, err := http.ReadResponse(bufio.NewReaderSize(f.conn, 4<<10), nil)
	if err != nil {
		return 0, err
	}
	f.body = bufio.NewReaderSize(res.Body, 4<<10)
	return res.StatusCode, nil
}

// follow reads to the end of the turn, coming back where it goes away. It has
// been opened.
func (f *follower) follow() error {
	defer func() { f.conn.Close() }()
	for {
		stay := -1
		if f.leaves != nil {
			stay = 1 + f.leaves.IntN(max(f.events/4, 1))
		}
		err := f.read(stay)
		f.conn.Close()
		if err != nil || f.ended {
			return err
		}
		status, err := f.open()
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("%s after %s: status %d", f.path, f.last, status)
		}
	}
}

// read reads frames until the turn's end, or some of them.
func (f *follower) read(most int) error {
	var line []byte
	id := ""
	for frames := 0; frames != most; {
		var err error
		if line, err = readLine(f.body, line[:0]); err != nil {
			return fmt.Errorf("%s after %q: %w", f.path, f.last, err)
		}
		switch {
		case bytes.HasPrefix(line, []byte("id: ")):
			id = string(line[4:])
		case bytes.HasPrefix(line, []byte("data: ")):
			if err := f.frame(line[6:], id); err != nil {
				return err
			}
			if f.ended {
				return nil
			}
			frames++
		}
	}
	return nil
}

// frame checks that nothing is missing, twice or out of order.
func (f *follower) frame(data []byte, id string) error {
	n, err := strconv.Atoi(id)
	if err != nil || n != f.id+1 {
		return fmt.Errorf("%s: %q follows %d", f.path, id, f.id)
	}
	f.id, f.last = n, id
	now := time.Now()
	if bytes.HasPrefix(data, []byte(`{"type":"complete"`)) {
		if f.ended = true; f.place != f.events {
			return fmt.Errorf("%s: %d of %d events came", f.path, f.place, f.events)
		}
		return nil // the whole text stands in it again
	}
	return units(data, func(place int, at time.Time) error {
		if place != f.place {
			return fmt.Errorf("%s: event %d came where %d belongs", f.path, place, f.place)
		}
		f.place++
		f.delays.add(now.Sub(at))
		return nil
	})
}

func readLine(r *bufio.Reader, dst []byte) ([]byte, error) {
	for {
		part, err := r.ReadSlice('\n')
		dst = append(dst, part...)
		if err == nil {
			return bytes.TrimRight(dst, "\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return dst, err
		}
	}
}

// stalled is what becomes of a client that read nothing: it takes what there is,
// and comes back for the rest. Half a frame at the cut counts for nothing.
func (f *follower) stalled() error {
	defer func() { f.conn.Close() }()
	f.conn.SetReadDeadline(time.Now().Add(serveWait))
	if _, err := f.header(); err != nil {
		return err
	}
	var err error
	if err = f.read(-1); err == nil {
		return nil // everything was in the buffers: it was not slow
	}
	f.dropped = strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "reset")
	if !f.dropped {
		return err
	}
	f.conn.Close()
	status, err := f.open()
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("%s: can't resume after %s: status %d, %v", f.path, f.last, status, err)
	}
	return f.follow()
}

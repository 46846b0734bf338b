package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// served1 is a server of streams as a process of its own. What it takes is read
// from /proc, so these figures are Linux's.
type served1 struct {
	src         *source
	cmd         *exec.Cmd
	host, token string
	begin       func() (paths []string, streams int, err error)
	drops       bool // clients that take nothing
	clean       func() error
}

func launch(cmd *exec.Cmd) (s *served1, line string, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	s = &served1{cmd: cmd, clean: func() error { return nil }}
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, "", errors.Join(err, s.stop())
	}
	return s, strings.TrimSpace(line), nil
}

// startFettle starts fettle serve on a new data directory.
func startFettle(l *lab, src *source, run int) (*served1, error) {
	dir := l.serveDir(run)
	cmd := exec.Command(l.fettle, "serve", "--print-url", "--listen", "127.0.0.1:0", "-m", "openai/m", "--log", "off", "--drain", "0s")
	cmd.Env = append(os.Environ(), l.env(fmt.Sprintf("serve-%d", run), src.base+"/v1")...)
	s, line, err := launch(cmd)
	if err != nil {
		return nil, err
	}
	address, token, _ := strings.Cut(strings.TrimPrefix(line, "http://"), "/#token=")
	s.src, s.host, s.token, s.drops = src, address, token, true
	s.begin = s.beginTurns
	s.clean = func() error { return os.RemoveAll(dir) }
	wait(context.Background(), time.Second) // what it does at its start is done
	return s, nil
}

// startProxy starts the reverse proxy in front of the source.
func startProxy(l *lab, src *source, _ int) (*served1, error) {
	s, line, err := launch(exec.Command(l.floor, "-proxy", src.base))
	if err != nil {
		return nil, err
	}
	s.src, s.host = src, strings.TrimPrefix(line, "http://")
	s.begin = func() (paths []string, streams int, err error) {
		for i := range serveTurns {
			paths = append(paths, fmt.Sprintf("/events/%d", i))
		}
		return paths, 0, nil
	}
	return s, nil
}

func (s *served1) stop() error {
	s.cmd.Process.Signal(os.Interrupt) // one that has ended is waited for all the same
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // the signal
		err = nil
	}
	return errors.Join(err, s.clean())
}

// beginTurns starts the turns; their model waits.
func (s *served1) beginTurns() (paths []string, streams int, err error) {
	for i := range serveTurns {
		raw, err := s.ask(http.MethodPost, "/api/turns", fmt.Sprintf(`{"message":"question %d","tools":[]}`, i))
		var turn struct{ Events string }
		if err == nil {
			err = json.Unmarshal(raw, &turn)
		}
		if err != nil {
			return nil, 0, err
		}
		paths = append(paths, turn.Events)
	}
	return paths, serveTurns, nil
}

func (s *served1) ask(method, path, body string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), serveWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+s.host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: status %d: %s", path, res.StatusCode, raw)
	}
	return raw, err
}

// metric reads one of the counters of fettle serve; -1 where there are none.
func (s *served1) metric(name string) int {
	if s.token == "" {
		return -1
	}
	raw, err := s.ask(http.MethodGet, "/metrics", "")
	if err != nil {
		return -1
	}
	for line := range bytes.Lines(raw) {
		if rest, ok := strings.CutPrefix(string(line), name+" "); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil {
				return n
			}
		}
	}
	return -1
}

func (s *served1) goroutines() int { return s.metric("fettle_goroutines") }

// quiet waits until nobody is followed any more.
func (s *served1) quiet() error {
	return until("followers are gone", func() bool { return s.metric("fettle_followers") == 0 })
}

// warm has one turn answered, so that what a server starts with its first one
// isn't taken for something that was left behind.
func (s *served1) warm() (goroutines int, err error) {
	if !s.drops {
		return 0, nil
	}
	s.src.next(servePlan{events: 1})
	if _, err := s.ask(http.MethodPost, "/api/turns", `{"message":"hi","tools":[]}`); err != nil {
		return 0, err
	}
	if err := s.src.open(1); err != nil {
		return 0, err
	}
	err = until("the first turn has ended", func() bool { return s.metric("fettle_turns_live") == 0 })
	return s.goroutines(), err
}

// settle waits until what the clients cost is given back.
func (s *served1) settle(before int) (left int, err error) {
	if !s.drops {
		return 0, nil
	}
	err = until("goroutines are gone", func() bool {
		left = s.goroutines()
		return left >= 0 && left <= before
	})
	if err != nil {
		err = fmt.Errorf("%w: %d of %d", err, left, before)
	}
	return left, err
}

func until(what string, is func() bool) error {
	for end := time.Now().Add(serveWait); !is(); wait(context.Background(), 50*time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("it never came: " + what)
		}
	}
	return nil
}

// watch gives the most anonymous memory that it saw.
func (s *served1) watch(ctx context.Context) (most int64) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if n, err := s.anonymous(); err == nil {
			most = max(most, n)
		}
		select {
		case <-ctx.Done():
			return most
		case <-tick.C:
		}
	}
}

// anonymous is the process's own memory: without what it maps of files.
func (s *served1) anonymous() (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "Anonymous:" {
			kb, err := strconv.ParseInt(f[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("smaps_rollup tells of no anonymous memory")
}

// cpu is what the process has taken so far.
func (s *served1) cpu() (time.Duration, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), ") ") // behind the name
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0, errors.New("/proc/PID/stat is shorter than it should be")
	}
	user, err := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	const tick = 10 * time.Millisecond // as Linux has it wherever Go runs
	return time.Duration(user+system) * tick, errors.Join(err, err2)
}

package python

import (
	"context"
	"io/fs"
	"os"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// spareTime is how long a process waits for a call. A person who goes on
	// does so within it, and 13 MB for longer than that are better spent.
	spareTime = time.Minute
	// startTime bounds the start of a spare, which nobody waits for.
	startTime = 30 * time.Second
)

// spare is a process that waits for its call.
type spare struct {
	process toolset.Process
	// folder is the workspace as it was when it started: a sandbox holds on to
	// the folder itself, whatever its name means later.
	folder fs.FileInfo
	timer  *time.Timer
}

// end ends a spare that isn't wanted.
func (s *spare) end() {
	s.timer.Stop()
	s.process.Kill()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	_, _ = s.process.Wait(ctx) // it was killed; how it ended says nothing
}

// process gives a process for the call: a spare, or a new one.
func (rt *Runtime) process(ctx context.Context, j *job) (toolset.Process, error) {
	if s := rt.take(j); s != nil {
		return s.process, nil
	}
	return rt.o.Launcher.Start(ctx, j.policy, j.cmd)
}

// take takes the spare that fits the call, if there is one that is alive.
func (rt *Runtime) take(j *job) *spare {
	key := j.key()
	rt.mu.Lock()
	s := rt.spares[key]
	delete(rt.spares, key)
	rt.mu.Unlock()
	if s == nil {
		return nil
	}
	s.timer.Stop()
	if j.policy.Workspace != "" {
		now, err := os.Stat(j.policy.Workspace)
		if err != nil || s.folder == nil || !os.SameFile(now, s.folder) {
			s.end()
			return nil
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.process.Wait(ended); err == nil { // it has ended already
		return nil
	}
	return s
}

// keepSpare starts a spare for the next call like this one, while nobody waits.
func (rt *Runtime) keepSpare(j *job) {
	key := j.key()
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if _, there := rt.spares[key]; rt.closed || there || key == "" || len(rt.spares) >= rt.o.Spares {
		return
	}
	rt.work.Add(1)
	go func() {
		defer rt.work.Done()
		rt.startSpare(key, j)
	}()
}

func (rt *Runtime) startSpare(key string, j *job) {
	ctx, cancel := context.WithTimeout(rt.base, startTime)
	defer cancel()
	var folder fs.FileInfo
	if j.policy.Workspace != "" {
		var err error
		if folder, err = os.Stat(j.policy.Workspace); err != nil {
			return
		}
	}
	cmd := j.cmd
	cmd.Spare = true
	cmd.Args = append(cmd.Args[:len(cmd.Args):len(cmd.Args)], "spare")
	p, err := rt.o.Launcher.Start(ctx, j.policy, cmd)
	if err != nil {
		return // the next call will hear of it
	}
	s := &spare{process: p, folder: folder}
	rt.mu.Lock()
	_, there := rt.spares[key]
	keep := !rt.closed && !there && len(rt.spares) < rt.o.Spares
	if keep {
		rt.spares[key] = s
	}
	s.timer = time.AfterFunc(spareTime, func() { rt.dismiss(key, s) })
	rt.mu.Unlock()
	if !keep {
		s.end()
	}
}

// dismiss ends a spare that has waited for too long.
func (rt *Runtime) dismiss(key string, s *spare) {
	rt.mu.Lock()
	mine := rt.spares[key] == s
	if mine {
		delete(rt.spares, key)
		rt.work.Add(1)
		defer rt.work.Done()
	}
	rt.mu.Unlock()
	if mine {
		s.end()
	}
}

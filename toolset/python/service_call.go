package python

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

// errTooLong is why a call of a service is ended by its own time limit.
var errTooLong = errors.New("the call took too long")

// runService does one call of a service: by the process that lives, or by one that
// is started and lives on.
func (t *tool) runService(ctx context.Context, call toolset.Call) (toolset.Result, error) {
	limit := t.spec.Policy.Limits.Filled().Time
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTooLong)
		defer cancel()
	}
	p, err := t.r.plan(ctx, t.spec, call.Workspace, call.Report)
	if err != nil {
		return toolset.Result{}, t.trouble(ctx, err)
	}
	defer func() { p.release() }() // of which a service that is started takes over
	s, new, note, err := t.serviceFor(ctx, call, p)
	if err != nil {
		return toolset.Result{}, t.trouble(ctx, err)
	}
	out := s.ask(ctx, t.requestOf(p, call), func(m message) { call.Report(updateOf(m)) })
	out.root = p.root
	good := out.final != nil && out.final.T == result
	if !good && (new || out.final == nil || ctx.Err() != nil) {
		t.r.because(s, "its call failed")
		s.end("its call failed")
		out.exit, _ = s.proc.Wait(context.Background()) // it has ended
	}
	if errors.Is(context.Cause(ctx), errTooLong) && !good {
		out.exit.Cause, out.exit.Detail = toolset.TimeOver, "it took longer than "+limit.String()
	}
	res, err := t.verdict(ctx, out)
	s.served(call.ID, res, err)
	if err == nil && note != "" {
		res.Text += "\n\n[" + note + "]"
	}
	return res, err
}

// requestOf is what a runner is told of a call.
func (t *tool) requestOf(p *plan, call toolset.Call) request {
	args := call.Args
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	return request{
		Root: p.root, File: p.file,
		Name: filepath.ToSlash(t.spec.Module), Module: p.module, Function: t.spec.Function, Args: args,
		Workspace: p.policy.Workspace, ChatID: call.ChatID, Page: call.Page, Tab: call.Tab, Context: call.Context, Parser: t.spec.Parser,
	}
}

// serviceFor gives the service that a call goes to, counted as called, whether it
// was started for it, and what the caller should know of that.
func (t *tool) serviceFor(ctx context.Context, call toolset.Call, p *plan) (s *service, new bool, note string, err error) {
	r, name := t.r, serviceName(call.ChatID, t.spec.ToolID)
	r.starting.Lock() // which takes as long as a process takes to start
	defer r.starting.Unlock()
	r.mu.Lock()
	was := r.services.live[name]
	if was != nil && was.ending == "" && was.plan == p.key {
		was.calls++
		r.mu.Unlock()
		return was, false, "", nil
	}
	r.mu.Unlock()
	if was != nil {
		was.end("its toolset, what that may reach, or its folder is another one now")
	}
	if err := r.room(call.ChatID); err != nil {
		return nil, false, "", err
	}
	s, err = t.startService(ctx, call, p)
	if err != nil {
		return nil, false, "", err
	}
	r.mu.Lock()
	note = r.noteOf(s)
	r.services.live[name] = s
	r.mu.Unlock()
	r.work.Go(func() { r.tend(s) })
	return s, true, note, nil
}

// noteOf is what whoever called should know of a service that was started. The
// caller has the mutex.
func (r *Runtime) noteOf(s *service) string {
	note := ""
	for _, old := range slices.Backward(r.services.ended) {
		if old.ChatID == s.info.ChatID && old.ToolID == s.info.ToolID {
			note = "The service had ended (" + old.Ended.Why + ") and was started again: what it kept in memory is gone."
			break
		}
	}
	if !s.info.Own {
		if note != "" {
			note += " "
		}
		note += "It has no network of its own here: other programs of this machine can reach its port."
	}
	return note
}

// ask has the process serve one call.
func (s *service) ask(ctx context.Context, q request, report func(message)) (out outcome) {
	select {
	case s.free <- struct{}{}:
	case <-s.done:
		return outcome{fault: ErrNoService}
	case <-ctx.Done():
		return outcome{fault: context.Cause(ctx), final: &message{T: raised, Type: "TimeoutError", Message: "the service is busy with another call"}}
	}
	defer func() { <-s.free }()
	rand.Read(s.ch.key[:]) // never fails
	rand.Read(s.ch.last[:])
	data, err := q.encode(s.ch.key, s.ch.last)
	if err != nil {
		return outcome{fault: err, final: &message{T: raised, Type: "ValueError", Message: err.Error()}}
	}
	asked := &session{proc: s.proc, ch: s.ch, over: make(chan struct{})}
	asked.work.Go(func() { s.proc.Stdin().Write(data) }) // it fails when the process ends, which is seen below
	asked.work.Go(func() { s.stopWith(ctx, asked.over) })
	out = asked.listen(report)
	if out.final == nil && out.fault == nil {
		waiting, cancel := context.WithTimeout(context.Background(), endTime)
		if _, err := s.proc.Wait(waiting); err != nil {
			out.fault = errors.New("it closed its channel to fettle before it gave a result")
		}
		cancel()
	}
	if out.final == nil || out.final.T == raised && ctx.Err() != nil { // the latter is the answer to an interrupt
		s.proc.Kill() // whatever it does now, nobody knows what for
	}
	close(asked.over)
	asked.work.Wait()
	return out
}

// stopWith stops the process in order when ctx ends before the call does: there is no
// way to end a call alone.
func (s *service) stopWith(ctx context.Context, over <-chan struct{}) {
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	why := "a call of it was cancelled"
	if errors.Is(context.Cause(ctx), errTooLong) {
		why = "a call of it took too long"
	}
	s.r.because(s, why)
	s.proc.Stop(context.Background()) // it bounds itself
}

// served notes the end of a call, and the port that its result named.
func (s *service) served(callID string, res toolset.Result, err error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.calls--
	s.info.Used = time.Now()
	if err != nil {
		return
	}
	port, _ := toolset.ServicePort(res.Data)
	s.info.Calls = slices.Insert(s.info.Calls, 0, toolset.ServiceCall{CallID: callID, Port: port})
	s.info.Calls = s.info.Calls[:min(len(s.info.Calls), keptCalls)]
	s.info.Ports = nil
	for _, c := range s.info.Calls {
		if c.Port > 0 && !slices.Contains(s.info.Ports, c.Port) {
			s.info.Ports = append(s.info.Ports, c.Port)
		}
	}
}

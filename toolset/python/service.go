package python

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// MaxServices is how many services live at once, and MaxChatServices how many
	// of one chat. Each may hold as much memory as a call; a chat that shows more
	// than a few is one that starts them without end.
	MaxServices     = 12
	MaxChatServices = 4
	// ServiceIdle is how long a service lives that nobody calls and nobody looks
	// at: long enough for a meal, and not for a night.
	ServiceIdle = 30 * time.Minute
	// keptCalls bounds the calls that are told of one service, keptServices the
	// services that are told of after their end.
	keptCalls, keptServices = 64, 64
	// listenTime is how long a connection waits for a service that said its port
	// before it listened there, listenPause how long between two tries.
	listenTime  = 5 * time.Second
	listenPause = 50 * time.Millisecond
)

// service is one process that lives on, and what its calls named.
type service struct {
	r     *Runtime
	name  string // of the tool in its chat
	plan  string // the key of what it was started with
	proc  toolset.Process
	ch    *channel
	free  chan struct{} // holds one token: calls follow each other
	done  chan struct{} // closed when the process is gone and that was noted
	holds func()        // lets go of what its files are kept by

	// The runtime's mutex guards what follows.
	info   toolset.Service
	open   int    // connections to its ports
	calls  int    // that run or wait
	ending string // why it is being ended; "" is that it isn't
}

// services are those of a runtime.
type services struct {
	live  map[string]*service // by name
	ended []toolset.Service   // the latest last
}

// serviceName is what a service goes by: a tool has one in each chat.
func serviceName(chatID, toolID string) string { return chatID + "\x00" + toolID }

// Services lists those that live, the oldest first.
func (r *Runtime) Services() []toolset.Service {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := []toolset.Service{}
	for _, s := range r.services.live {
		out = append(out, s.copy())
	}
	slices.SortFunc(out, func(a, b toolset.Service) int { return a.Since.Compare(b.Since) })
	return out
}

// copy is what is told of it. The caller has the runtime's mutex.
func (s *service) copy() toolset.Service {
	out := s.info
	out.Ports, out.Calls = slices.Clone(out.Ports), slices.Clone(out.Calls)
	if s.open > 0 || s.calls > 0 {
		out.Used = time.Now()
	}
	return out
}

// ServiceOf finds the service that served a call, and gives it as long as it lives
// and some time after.
func (r *Runtime) ServiceOf(callID string) (toolset.Service, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	served := func(c toolset.ServiceCall) bool { return c.CallID == callID }
	for _, s := range r.services.live {
		if slices.ContainsFunc(s.info.Calls, served) {
			return s.copy(), true
		}
	}
	for _, s := range slices.Backward(r.services.ended) {
		if slices.ContainsFunc(s.Calls, served) {
			return s, true
		}
	}
	return toolset.Service{}, false
}

// ErrNoService says that a service isn't there, or not any more.
var ErrNoService = errors.New("the service has ended")

// byID finds one that lives. The caller has the mutex.
func (r *Runtime) byID(id string) *service {
	for _, s := range r.services.live {
		if s.info.ID == id {
			return s
		}
	}
	return nil
}

// DialService connects to a port of a service that a result of its has named. As
// long as the connection is open the service isn't idle.
func (r *Runtime) DialService(ctx context.Context, id string, port int) (net.Conn, error) {
	r.mu.Lock()
	s := r.byID(id)
	if s == nil || s.ending != "" || !slices.Contains(s.info.Ports, port) {
		r.mu.Unlock()
		return nil, ErrNoService
	}
	s.open++
	r.mu.Unlock()
	conn, err := s.dial(ctx, port)
	if err != nil {
		s.closed()
		return nil, err
	}
	return &serviceConn{Conn: conn, s: s}, nil
}

func (s *service) dial(ctx context.Context, port int) (net.Conn, error) {
	in, ok := s.proc.(toolset.Reacher)
	if !ok {
		return nil, errors.New("connect to the service: its sandbox has no way in")
	}
	ctx, cancel := context.WithTimeout(ctx, listenTime)
	defer cancel()
	for {
		conn, err := in.DialPort(ctx, port)
		if !errors.Is(err, toolset.ErrNotListening) {
			return conn, err
		}
		select {
		case <-s.done:
			return nil, ErrNoService
		case <-ctx.Done():
			return nil, err
		case <-time.After(listenPause):
		}
	}
}

// closed notes that a connection is closed, or wasn't made.
func (s *service) closed() {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	s.open--
	s.info.Used = time.Now()
}

// EndServices ends the services that match, and returns when their processes are
// gone. why is a clause for people.
func (r *Runtime) EndServices(why string, match func(toolset.Service) bool) []toolset.Service {
	r.mu.Lock()
	var chosen []*service
	for _, s := range r.services.live {
		if match(s.info) {
			chosen = append(chosen, s)
		}
	}
	r.mu.Unlock()
	var out []toolset.Service
	for _, s := range chosen {
		s.end(why)
		r.mu.Lock()
		out = append(out, s.copy())
		r.mu.Unlock()
	}
	return out
}

// HoldServices stops the services that match for a moment, so that they write
// nothing meanwhile, until release is called.
func (r *Runtime) HoldServices(ctx context.Context, match func(toolset.Service) bool) (release func()) {
	r.mu.Lock()
	var chosen []toolset.Reacher
	for _, s := range r.services.live {
		if in, ok := s.proc.(toolset.Reacher); ok && match(s.info) {
			chosen = append(chosen, in)
		}
	}
	r.mu.Unlock()
	var releases []func()
	for _, in := range chosen {
		releases = append(releases, in.Hold(ctx))
	}
	return func() {
		for _, release := range releases {
			release()
		}
	}
}

// end ends the process and waits until that is noted. The first reason counts.
func (s *service) end(why string) {
	s.r.mu.Lock()
	if s.ending == "" {
		s.ending = why
	}
	s.r.mu.Unlock()
	s.proc.Kill()
	<-s.done
}

// startService starts a process for a service, in place of what the tool had in the
// chat. The caller has taken the name.
func (t *tool) startService(ctx context.Context, call toolset.Call, p *plan) (*service, error) {
	policy, command := p.policy, p.command
	policy.Serves, policy.Limits.Time = true, toolset.NoLimit // a call's time is the runtime's to watch
	command.Env = append(slices.Clone(command.Env), "FETTLE_SERVICE=1")
	// The policy seals the repositories already, as of this call.
	_, gone, err := call.Workspace.ForOutliving(ctx)
	if err != nil {
		return nil, err
	}
	proc, err := t.r.o.Launcher.Start(ctx, policy, command)
	if err != nil {
		gone()
		return nil, err
	}
	now := time.Now()
	in, _ := proc.(toolset.Reacher)
	s := &service{
		r: t.r, name: serviceName(call.ChatID, t.spec.ToolID), plan: p.key, proc: proc, ch: newChannel(proc.Stdout()),
		free: make(chan struct{}, 1), done: make(chan struct{}), calls: 1,
		info: toolset.Service{
			ID: rand.Text(), ChatID: call.ChatID, ToolID: t.spec.ToolID, ToolsetID: t.spec.ToolsetID, Revision: t.spec.Revision,
			Workspace: policy.Workspace, Since: now, Used: now, Own: in != nil && in.OwnNetwork(), Hosts: policy.Hosts,
		},
	}
	release, keep := p.release, t.spec.Keep
	p.release = func() {} // it is the service's now
	letGo := func() {}
	if keep != nil {
		letGo = keep()
	}
	s.holds = func() { release(); letGo(); gone() }
	return s, nil
}

// idleLooks is how often in the time that a service may be idle it is looked at.
const idleLooks = 20

// tend minds a service to its end, which it notes.
func (r *Runtime) tend(s *service) {
	gone := make(chan toolset.Exit, 1)
	go func() { // ends with the process
		exit, _ := s.proc.Wait(context.Background())
		gone <- exit
	}()
	look := time.NewTicker(max(r.o.ServiceIdle/idleLooks, time.Millisecond))
	defer look.Stop()
	life := r.life.Done()
	var exit toolset.Exit
	for over := false; !over; {
		select {
		case exit = <-gone:
			over = true
		case <-look.C:
			r.endIdle(s)
		case <-life:
			life = nil
			r.because(s, "fettle ended")
			s.proc.Kill()
		}
	}
	s.proc.Stdin().Close()
	s.proc.Stdout().Close()
	s.holds()
	r.note(s, exit)
}

// because notes why a service is being ended.
func (r *Runtime) because(s *service, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.ending == "" {
		s.ending = why
	}
}

// endIdle ends a service that nobody has used for long.
func (r *Runtime) endIdle(s *service) {
	r.mu.Lock()
	idle := s.calls == 0 && s.open == 0 && time.Since(s.info.Used) > r.o.ServiceIdle
	if idle && s.ending == "" {
		s.ending = "nobody used it for " + r.o.ServiceIdle.String()
	}
	r.mu.Unlock()
	if idle {
		s.proc.Kill()
	}
}

// note notes the end of a service.
func (r *Runtime) note(s *service, exit toolset.Exit) {
	r.mu.Lock()
	why := s.ending
	if why == "" {
		why = oneLine(exit.String())
	}
	s.info.Ended = &toolset.ServiceEnd{At: time.Now(), Why: why}
	if r.services.live[s.name] == s {
		delete(r.services.live, s.name)
	}
	end := s.copy() // others write to s.info until the mutex is released
	r.services.ended = append(r.services.ended, end)
	if more := len(r.services.ended) - keptServices; more > 0 {
		r.services.ended = slices.Delete(r.services.ended, 0, more)
	}
	r.mu.Unlock()
	close(s.done)
	if r.o.ServiceEnded != nil {
		r.o.ServiceEnded(end)
	}
}

// room makes room for one more service of a chat: the one that nobody has used for
// longest gives way, unless all are in use.
func (r *Runtime) room(chatID string) error {
	for {
		r.mu.Lock()
		all, own := len(r.services.live), 0
		var oldest *service
		for _, s := range r.services.live {
			own += count(s.info.ChatID == chatID)
		}
		for _, s := range r.services.live {
			fits := own < MaxChatServices || s.info.ChatID == chatID
			if fits && s.open == 0 && s.calls == 0 && (oldest == nil || s.info.Used.Before(oldest.info.Used)) {
				oldest = s
			}
		}
		r.mu.Unlock()
		if all < MaxServices && own < MaxChatServices {
			return nil
		}
		if oldest == nil {
			return fmt.Errorf("%d services of this chat run, and %d in all, as many as may, and all are in use; stop one first", own, all)
		}
		oldest.end("it made room for another service")
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

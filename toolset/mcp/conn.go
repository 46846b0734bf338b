//lint:file-ignore SA1019 the eras of MCP before 2026-07-28 have roots, sampling and logging, and fettle speaks both

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fettle-cli/fettle/toolset"
)

// conn is one live connection.
type conn struct {
	m       *Manager
	link    *link
	server  Server // filled in
	session *sdk.ClientSession
	child   *child // nil where there is no process
	guard   *guard
	idle    func() // closes unused HTTP connections
	born    time.Time

	life context.Context // ends with the connection
	end  context.CancelCauseFunc
	gone chan struct{} // closed when nothing of it is left
	up   chan struct{} // closed when it can be used: a server may speak before

	logs     string // the level that it is asked to log at; empty asks for nothing
	tokens   atomic.Int64
	mu       sync.Mutex
	list     []remote          // as it was last listed
	notes    []string          // what was left out of the list
	known    pins              // the tools that were approved
	held     map[string]string // why a tool is held back, by its id
	progress map[string]chan toolset.Progress
	calls    []*answering    // that run now, for what a server asks
	skipped  func(...string) // logs what the server sent that cannot be decoded
	greeted  atomic.Bool     // the handshake is done
	refused  atomic.Int32    // the HTTP status by which a server without a session refused a POST
	relist   bool            // a listing is under way
	again    bool            // and another one is needed
}

// errEnded is why a connection's context ends when it is no longer needed.
var errEnded = errors.New("it is no longer needed")

// connect starts a server and shakes hands with it, by the era that is known or
// by asking.
func (l *link) connect(life context.Context) (*conn, error) {
	m, s := l.m, l.server
	era := m.knownEra(s)
	c, err := l.connectAs(life, s, era)
	if err != nil && era != "" && life.Err() == nil {
		m.forgetEra(s)
		c, err = l.connectAs(life, s, "")
	}
	var refused *refusedError
	if errors.As(err, &refused) && life.Err() == nil {
		s.SSE = true // the transport of servers from before streamable HTTP
		if c, err = l.connectAs(life, s, legacy); err != nil {
			err = fmt.Errorf("%w, and the older HTTP+SSE transport failed: %w", refused, err)
		}
		s = l.server
	}
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(life, func() { c.end(ErrClosed) })() // Close waits for no list
	m.learnEra(s, c.session.InitializeResult().ProtocolVersion)
	c.askForLogs()
	c.hold(l.pins())
	if err := c.refresh(c.life); err != nil {
		c.close()
		return nil, err
	}
	c.tellChange()
	m.learn(s, c.tools())
	close(c.up)
	return c, nil
}

// connectAs makes one try to reach the link's server as s describes it.
func (l *link) connectAs(life context.Context, s Server, era string) (*conn, error) {
	m, ws := l.m, l.workspace
	filled, err := s.filled(life, m.o.Lookup)
	if err != nil {
		return nil, err
	}
	c := &conn{m: m, link: l, skipped: skipLog(func(text string) { m.log(s.ID, text) }), server: filled, idle: func() {}, born: m.o.Now(), gone: make(chan struct{}), up: make(chan struct{}), progress: map[string]chan toolset.Progress{}, logs: m.logLevel()}
	c.life, c.end = context.WithCancelCause(m.force)
	starting := context.AfterFunc(life, func() { c.end(ErrClosed) })
	defer starting() // what is ready is ended by whoever has it, with a moment to end by itself
	c.guard = newGuard(func() { c.end(c.guard.cause()) })
	c.guard.patience = m.o.Write
	bound := m.bound(startTime)
	timer := time.AfterFunc(bound, func() { c.end(fmt.Errorf("it was not ready within %s", bound)) })
	transport, err := c.open(ws)
	if err != nil {
		timer.Stop()
		c.end(errEnded)
		return nil, err
	}
	c.session, err = c.client(ws).Connect(c.life, transport, &sdk.ClientSessionOptions{ProtocolVersion: era})
	ready := timer.Stop()
	if err == nil && !ready {
		err = context.Cause(c.life)
	}
	if err != nil {
		return nil, c.abandon(err)
	}
	c.greeted.Store(true)
	m.work.Go(c.watch)
	return c, nil
}

// bound is a bound on a part of the start, with what a person takes to sign in,
// where one can: that happens within whichever request is refused first.
func (m *Manager) bound(d time.Duration) time.Duration {
	if m.o.SignIn != nil {
		return d + signInTime
	}
	return d
}

// open starts the process, or makes the client for the address.
func (c *conn) open(ws *toolset.Workspace) (sdk.Transport, error) {
	if c.server.URL != "" {
		client, idle := newHTTP(c.server, c.guard, c)
		c.idle = idle
		return c.m.httpTransport(c.server, client)
	}
	var err error
	if c.child, err = c.m.spawn(c.life, c.server, ws); err != nil {
		return nil, err
	}
	c.m.work.Go(func() { // a start that takes too long ends with its process
		select {
		case <-c.life.Done():
			c.child.proc.Kill()
		case <-c.child.ended:
		}
	})
	return c.child.transport(c.guard, c.skipped), nil
}

// abandon ends what was started for a connection that didn't come to be, and
// says why it didn't.
func (c *conn) abandon(err error) error {
	cause := context.Cause(c.life)
	if cause == nil {
		cause = versionProblem(err)
	}
	if cause == nil && c.child != nil { // its end explains more than a closed pipe does
		select {
		case <-c.child.ended:
		case <-time.After(quietEnd):
		}
	}
	if c.child != nil {
		if died := c.child.died(); cause == nil && died != nil {
			cause = died
		}
	}
	c.end(errEnded)
	if c.session != nil {
		c.session.Close() // what it says of its end changes nothing
	}
	if c.child != nil {
		c.child.stop()
	}
	c.idle()
	close(c.gone)
	switch status := c.refused.Load(); {
	case cause != nil:
		return cause
	case status != 0 && !c.server.SSE:
		return &refusedError{int(status)}
	}
	return explain(err)
}

// client makes the SDK's client of one connection. What it announces does not depend on
// the call, since servers list their tools by it: a listing without a folder or without a
// user to ask has the same tools as one for a call.
func (c *conn) client(ws *toolset.Workspace) *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { c.listChanged() },
		LoggingMessageHandler:       func(_ context.Context, r *sdk.LoggingMessageRequest) { c.m.log(c.server.ID, logText(r.Params)) },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { c.hear(r.Params) },
	}
	o.Capabilities.AddExtension(appsExtension, map[string]any{"mimeTypes": []string{appType + ";profile=" + appProfile}})
	if c.server.URL == "" { // a server elsewhere gets no folder of this machine
		o.Capabilities.RootsV2 = &sdk.RootCapabilities{}
	}
	if c.server.Sampling {
		o.Capabilities.Sampling = &sdk.SamplingCapabilities{}
		o.CreateMessageHandler = c.prompt
	}
	o.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
	o.ElicitationHandler = c.elicit
	client := sdk.NewClient(&sdk.Implementation{Name: "fettle", Title: "fettle", Version: c.m.o.Version}, o)
	if ws != nil {
		client.AddRoots(&sdk.Root{Name: filepath.Base(ws.Path), URI: fileURI(ws.Path)})
	}
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if err := c.guard.message(); err != nil {
				return nil, err
			}
			return next(ctx, method, r)
		}
	})
	client.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "server/discover" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.m.bound(c.m.o.Probe))
				defer cancel()
			}
			return next(ctx, method, r)
		}
	})
	return client
}

// fileURI is a folder as a file: address.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/Users
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// watch waits for the end of the connection, however it comes, and clears up.
func (c *conn) watch() {
	over := make(chan struct{})
	c.m.work.Go(func() {
		defer close(over)
		_ = c.session.Wait() // how it ended is told by the process, or by the call
	})
	var died <-chan struct{}
	if c.child != nil {
		died = c.child.ended
	}
	select {
	case <-over:
	case <-died:
	case <-c.life.Done():
	}
	if c.child != nil {
		c.child.stop()
	}
	c.session.Close() // as above
	<-over
	c.end(errEnded)
	c.idle()
	close(c.gone)
}

// close ends the connection, and returns when nothing of it is left. The process
// gets a moment to end by itself, which the end of life would not give it; a server
// at an address as long to hear of it.
func (c *conn) close() {
	if c.child != nil {
		c.child.stop()
	} else {
		timer := time.AfterFunc(quietEnd, func() { c.end(errEnded) })
		c.session.Close() // what it says of its end changes nothing
		timer.Stop()
	}
	c.end(errEnded)
	<-c.gone
}

// alive tells whether it can be used.
func (c *conn) alive() bool {
	select {
	case <-c.life.Done():
		return false
	case <-c.gone:
		return false
	default:
	}
	if c.child != nil {
		select {
		case <-c.child.ended:
			return false
		default:
		}
	}
	return true
}

func (c *conn) lived() time.Duration { return c.m.o.Now().Sub(c.born) }

// ended says why it is no longer there.
func (c *conn) ended() error {
	if err := c.guard.cause(); err != nil {
		return err
	}
	if c.child != nil {
		if err := c.child.died(); err != nil {
			return err
		}
	}
	if err := context.Cause(c.life); err != nil && !errors.Is(err, errEnded) {
		return err
	}
	return errors.New("it closed the connection")
}

// askForLogs tells a server of the legacy era once what it should log. One of the
// modern era is told with each request, see [conn.meta].
func (c *conn) askForLogs() {
	info := c.session.InitializeResult()
	if c.logs == "" || info.ProtocolVersion >= modern || info.Capabilities == nil || info.Capabilities.Logging == nil {
		return
	}
	ctx, cancel := context.WithTimeout(c.life, c.m.o.Probe) // some never answer what they don't know
	defer cancel()
	if err := c.session.SetLoggingLevel(ctx, &sdk.SetLoggingLevelParams{Level: sdk.LoggingLevel(c.logs)}); err != nil {
		c.m.log(c.server.ID, "it doesn't log as it was asked to: "+explain(err).Error())
	}
}

// meta is what a request to a server says besides itself.
func (c *conn) meta() sdk.Meta {
	if c.logs == "" || c.session.InitializeResult().ProtocolVersion < modern {
		return nil
	}
	return sdk.Meta{sdk.MetaKeyLogLevel: c.logs}
}

// logText is a log message as one line.
func logText(p *sdk.LoggingMessageParams) string {
	text, ok := p.Data.(string)
	if !ok {
		text = string(marshal(p.Data))
	}
	return string(p.Level) + ": " + text
}

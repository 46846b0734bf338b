package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionHeader names the session of a request over HTTP.
const sessionHeader = "Mcp-Session-Id"

// maxRefusal bounds what is read of a refusal to determine the reason.
const maxRefusal = 64 << 10

// attempt is one use of a connection. lost is set when the server refused a request of it
// because the HTTP session no longer exists.
type attempt struct{ lost atomic.Bool }

// attemptKey is the key of the attempt in the context of a request.
type attemptKey struct{}

// errSessionLost is why a connection ends whose session the server does not have any more.
var errSessionLost = errors.New("it has lost the session")

// refusedError means that a server does not take POST requests, as servers from before
// streamable HTTP do not.
type refusedError struct{ status int }

// Error names the status.
func (e *refusedError) Error() string {
	return fmt.Sprintf("it refused streamable HTTP (%d %s)", e.status, http.StatusText(e.status))
}

// noteRefusal checks an answer for a lost session, and for a server that does not support
// streamable HTTP.
func (b *bounded) noteRefusal(r *http.Request, resp *http.Response) {
	inSession := r.Header.Get(sessionHeader) != ""
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
	default:
		return
	}
	if r.Method != http.MethodPost && !(r.Method == http.MethodGet && inSession && resp.StatusCode == http.StatusNotFound) {
		return
	}
	body := &peeked{from: resp.Body}
	resp.Body = body
	refusal := body.refusal()
	switch {
	case inSession && sessionLost(resp.StatusCode, refusal):
		if try, ok := r.Context().Value(attemptKey{}).(*attempt); ok {
			try.lost.Store(true)
		}
		b.conn.end(errSessionLost)
	case !inSession && refusal == nil && !b.conn.greeted.Load() && isEndpoint(r, b.server.URL):
		b.conn.refused.Store(int32(resp.StatusCode))
	}
}

// isEndpoint reports whether a request is for the server's own address: the sign-in uses
// the same client for others.
func isEndpoint(r *http.Request, endpoint string) bool { return r.URL.String() == endpoint }

// sessionLost reports whether a refusal means that the session no longer exists: 404,
// as the protocol specifies, or 400 with a text about the session, as servers of the
// SDK for TypeScript answer after a restart.
func sessionLost(status int, refusal *jsonrpc.Error) bool {
	switch status {
	case http.StatusNotFound:
		return refusal == nil || refusal.Code != jsonrpc.CodeMethodNotFound
	case http.StatusBadRequest:
		return refusal != nil && strings.Contains(strings.ToLower(refusal.Message), "session")
	}
	return false
}

// peeked is a body whose beginning was read before its reader reads it.
type peeked struct {
	from io.ReadCloser
	head bytes.Reader
}

// refusal returns the JSON-RPC error in the body, or nil if there is none.
func (p *peeked) refusal() *jsonrpc.Error {
	head, err := io.ReadAll(io.LimitReader(p.from, maxRefusal))
	p.head.Reset(head)
	if err != nil {
		return nil // its reader gets the same error
	}
	m, err := jsonrpc.DecodeMessage(bytes.TrimPrefix(head, bom))
	if err != nil {
		return looseRefusal(head)
	}
	var wire *jsonrpc.Error
	if r, ok := m.(*jsonrpc.Response); ok {
		errors.As(r.Error, &wire)
	}
	return wire
}

// looseRefusal reads an error with the id null, which servers return if they do not read
// the message.
func looseRefusal(head []byte) *jsonrpc.Error {
	var m struct {
		Error *struct {
			Code    int64  `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(head, &m) != nil || m.Error == nil || m.Error.Code == 0 {
		return nil
	}
	return &jsonrpc.Error{Code: m.Error.Code, Message: m.Error.Message}
}

// Read reads the beginning, then the rest.
func (p *peeked) Read(b []byte) (int, error) {
	if p.head.Len() > 0 {
		return p.head.Read(b)
	}
	return p.from.Read(b)
}

// Close closes the body.
func (p *peeked) Close() error { return p.from.Close() }

// VersionError reports that a server and fettle have no revision of MCP in common.
type VersionError struct{ Theirs string }

// Error names the revisions of both sides and the next step.
func (e *VersionError) Error() string {
	ours := sdk.SupportedProtocolVersions()
	theirs := e.Theirs
	if theirs == "" {
		theirs = "another revision"
	}
	return fmt.Sprintf("it speaks MCP %s, and fettle speaks the revisions %s: use a version of the server that speaks one of these, or update fettle", theirs, strings.Join(ours, ", "))
}

// unsupported matches the SDK's error for a version that it does not support, which has
// no type that other packages can see.
var unsupported = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`unsupported protocol version: "([^"]*)"`) })

// versionProblem returns the [VersionError] that an error of the SDK or the server
// corresponds to, or nil if it is another error.
func versionProblem(err error) error {
	if err == nil {
		return nil
	}
	if m := unsupported().FindStringSubmatch(err.Error()); m != nil {
		return &VersionError{plain(m[1], maxTitle)}
	}
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != sdk.CodeUnsupportedProtocolVersion && !strings.Contains(strings.ToLower(wire.Message), "protocol version") {
		return nil
	}
	var data struct {
		Supported []string `json:"supported"`
	}
	_ = json.Unmarshal(wire.Data, &data) // without it the error does not name theirs
	return &VersionError{plain(strings.Join(data.Supported, ", "), maxTitle)}
}

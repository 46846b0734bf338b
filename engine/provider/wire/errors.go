package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Source says whose failures these are.
type Source struct {
	Provider string
	Model    string
	Address  string
	// Secrets are removed from messages.
	Secrets []string
	// Asked are the features that the request used: only of these a refusal
	// may say that they are not supported.
	Asked []provider.Feature
}

// Error makes an error of the source with a message made fit to be shown.
func (s Source) Error(kind provider.Kind, message string, err error) *provider.Error {
	return &provider.Error{
		Kind: kind, Provider: s.Provider, Model: s.Model, Address: s.Address,
		Message: Clean(message, s.Secrets...), Err: err,
	}
}

// Refused reads a response whose status is not 200.
func (s Source) Refused(resp *http.Response, body []byte) *provider.Error {
	p := readProblem(body)
	p.status = resp.StatusCode
	if p.message == "" {
		p.message = http.StatusText(resp.StatusCode)
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode < 400 {
		p.message += ", to " + to
	}
	return s.wait(s.judge(p), resp)
}

// wait adds to an error when its response asks to be asked again, and believes
// one that says never, as after a limit on what may be spent.
func (s Source) wait(e *provider.Error, resp *http.Response) *provider.Error {
	e.RetryAfter = RetryAfter(resp, time.Now())
	if e.Retryable() && strings.EqualFold(resp.Header.Get("X-Should-Retry"), "false") {
		e.Kind = provider.Rejected
	}
	return e
}

// InStream reads an error object that came where a chunk was due.
func (s Source) InStream(chunk []byte) *provider.Error {
	p := readProblem(chunk)
	if p.message == "" {
		p.message = "the provider reports an error without saying which"
	}
	return s.judge(p)
}

// InBody reads a body with status 200 that is neither an event stream nor an
// answer: a server's error. The same request mostly has the same answer, so it is
// an error that is worth a retry only by its status or code, or as a rate limit.
func (s Source) InBody(body []byte) *provider.Error {
	p := readProblem(body)
	if p.message == "" {
		p.message = "the answer is empty"
	}
	e := s.judge(p)
	coded := p.status != 0 || kindOf(0, strings.ToLower(p.code+" "+p.kind)) == e.Kind
	if e.Kind == provider.Broken || e.Kind == provider.Overloaded && !coded {
		e.Kind = provider.Rejected
	}
	return e
}

// Stopped is the error of an exchange that its own caller ended.
func (s Source) Stopped(cause error) *provider.Error {
	if cause == nil {
		cause = context.Canceled
	}
	return s.Error(provider.Broken, "", cause)
}

// Slow is the error of an exchange that a limit ended.
func (s Source) Slow(cause error) *provider.Error {
	return s.Error(provider.SlowStart, cause.Error(), cause)
}

// Undecodable is the error for a response that isn't what the protocol says.
func (s Source) Undecodable(f *FormatError) *provider.Error {
	const shown = 80 // enough to recognise a page of HTML or another protocol
	msg := "the answer can't be read"
	if f.Err != nil {
		msg += ": " + jsonWords(f.Err)
	}
	f.Chunk = bytes.Clone(f.Chunk[:min(len(f.Chunk), 4*shown)]) // the rest need not live as long as the error
	if chunk := Clean(string(f.Chunk), s.Secrets...); chunk != "" {
		msg += " in " + shorten(chunk, shown)
	}
	return s.Error(provider.Undecodable, msg, f)
}

// Broken is the error for a request that didn't get through and for a response
// that stopped early.
func (s Source) Broken(err error) *provider.Error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // without the address, which may hold a key in its query
	}
	var redirect *redirectError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var proxy *proxyError
	switch {
	case errors.As(err, &redirect):
		return s.Error(provider.Rejected, redirect.Error(), redirect)
	case errors.As(err, &proxy):
		return s.Error(provider.Unreachable, proxy.Error(), proxy)
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return s.Error(provider.Unreachable, "the proxy: "+dialWords(op), err)
	case errors.As(err, &op) && op.Op == "dial":
		return s.Error(provider.Unreachable, dialWords(op), err)
	case errors.As(err, &cert):
		return s.Error(provider.Unreachable, cert.Error(), err)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return s.Error(provider.Unreachable, "it doesn't answer by TLS; is the address an http one?", err)
	case noHTTP(err):
		return s.Error(provider.Undecodable, "it doesn't answer as HTTP says: "+err.Error(), err)
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return s.Error(provider.Broken, "", provider.ErrCut)
	}
	return s.Error(provider.Broken, "", fmt.Errorf("%w: %w", provider.ErrCut, err))
}

// noHTTP knows the errors of net/http, which have no types, for what speaks
// something else, or heads without end.
func noHTTP(err error) bool {
	text := err.Error()
	return hasAny(text, "malformed HTTP", "malformed MIME header", "response headers exceeded", "header list larger")
}

// dialWords says why nobody could be reached, without Go's repetition of the
// address, which stands beside the message anyway.
func dialWords(op *net.OpError) string {
	var dns *net.DNSError
	switch {
	case errors.As(op, &dns) && dns.IsNotFound:
		return "no host is called " + dns.Name
	case op.Timeout():
		return "nobody answers there"
	}
	inner := op.Err
	for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
		inner = next
	}
	return inner.Error()
}

// RefusedSaying is Refused with words that were read already.
func (s Source) RefusedSaying(resp *http.Response, message string) *provider.Error {
	return s.wait(s.Said(resp.StatusCode, message), resp)
}

// Said makes an error of a status and words that were read already.
func (s Source) Said(status int, message string) *provider.Error {
	if message == "" {
		message = http.StatusText(status)
	}
	return s.judge(problem{status: status, message: message})
}

package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sse"
)

const (
	// MaxBody bounds a response that is read whole.
	MaxBody = 16 << 20
	// maxRefusal bounds the body of a refusal; its message is cut far shorter.
	maxRefusal = 64 << 10
	// drainLimit is how long the end of an answered response is waited for, so
	// that its connection can be used again; the answer itself is out by then.
	drainLimit = 50 * time.Millisecond
)

// Read is what one network read brought.
type Read struct {
	Deltas []provider.Delta
	// Progress tells that a piece of the answer came, which for a tool call
	// in pieces is no delta yet.
	Progress bool
	// Finished reports that the finish reason has come, after which only the
	// usage and the mark of the end may follow.
	Finished bool
	// Done tells that the response ended as it should.
	Done bool
}

// Decoder reads one response. Read waits for the next network read and
// appends its deltas to dst. Apart from an *Error it may return io.EOF or any
// error of the body, which mean that the response was cut, or a *FormatError.
// Deltas that come with an error are handed on before it.
//
// End closes a response whose finish reason has come and whose end has not: it
// appends the calls and the meta delta. It is called once, after the last Read.
type Decoder interface {
	// Read waits for the next network read and appends its deltas to dst.
	Read(dst []provider.Delta) (Read, error)
	// End appends what a response still lacks, the calls and the meta delta.
	End(dst []provider.Delta) ([]provider.Delta, error)
}

// finish is what a Read came to, once the end of a finished response that did
// not come has been supplied. Only what the server itself reports as an error
// fails a response after its finish reason.
func finish(dec Decoder, got Read, err error) (Read, error) {
	var own *provider.Error
	if err == nil || !got.Finished || errors.As(err, &own) {
		return got, err
	}
	if u, ok := dec.(interface{ Unfinished() bool }); ok && u.Unfinished() {
		return got, err // the rest of a call's arguments was still to come
	}
	got.Deltas, err = dec.End(got.Deltas)
	got.Done = err == nil
	return got, err
}

// FormatError says that a response is not what the protocol says.
type FormatError struct {
	Chunk []byte // what could not be decoded, for a person to recognise
	Err   error
}

func (e *FormatError) Error() string { return fmt.Sprintf("decode chunk: %v", e.Err) }

// Unwrap gives the cause.
func (e *FormatError) Unwrap() error { return e.Err }

// Exchange is one request and its streamed response.
type Exchange struct {
	Client *http.Client
	Limits Limits
	Source Source
	// Request is sent with Run's context.
	Request *http.Request
	// Decode makes the reader of a response with a status of 200.
	Decode func(*http.Response) (Decoder, error)
	// Refuse reads the body of any other response, for a wire format that knows
	// more of it than Source.Refused does; nil is that.
	Refuse func(resp *http.Response, body []byte) *provider.Error
}

// refused is the error of a response whose status is not 200.
func (x *Exchange) refused(resp *http.Response, body []byte) *provider.Error {
	if x.Refuse != nil {
		return x.Refuse(resp, body)
	}
	return x.Source.Refused(resp, body)
}

// Run makes the exchange and hands each batch to yield, until the response
// ends or yield returns false. A batch is valid until yield returns. The error
// is nil or an *Error.
func (x *Exchange) Run(ctx context.Context, yield func([]provider.Delta) bool) error {
	f, err := x.send(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	if f.resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(f.resp.Body, maxRefusal))
		var format *FormatError
		switch {
		case errors.As(err, &format):
			body = []byte(format.Err.Error())
		case err != nil && len(body) == 0:
			return f.fail(err)
		}
		return x.refused(f.resp, body)
	}
	dec, err := x.Decode(f.resp)
	if err != nil {
		return f.fail(err)
	}
	return f.read(dec, yield)
}

// Fetch makes a request whose response is read whole: listings and facts about
// models. The error is nil or an *Error.
func (x *Exchange) Fetch(ctx context.Context) ([]byte, error) {
	f, err := x.send(ctx)
	if err != nil {
		return nil, err
	}
	defer f.close()
	body, err := io.ReadAll(io.LimitReader(f.resp.Body, MaxBody+1))
	switch {
	case err != nil:
		return nil, f.fail(err)
	case f.resp.StatusCode != http.StatusOK:
		return nil, x.refused(f.resp, body[:min(len(body), maxRefusal)])
	case len(body) > MaxBody:
		return nil, x.Source.Undecodable(&FormatError{Err: errors.New("it is longer than 16 MiB")})
	}
	return body, nil
}

// flight is an exchange under way.
type flight struct {
	source Source
	outer  context.Context // the caller's
	ctx    context.Context // ends with it, or when a limit is reached
	watch  *watch
	resp   *http.Response
}

// send sends the request and waits for the head of the response.
func (x *Exchange) send(ctx context.Context) (*flight, error) {
	f := &flight{source: x.Source, outer: ctx}
	f.ctx, f.watch = watched(ctx, x.Limits.orDefault())
	resp, err := x.Client.Do(x.Request.WithContext(f.ctx))
	if err != nil {
		defer f.watch.stop()
		return nil, f.fail(err)
	}
	unpack(resp)
	f.resp = resp
	return f, nil
}

// close closes the connection, unless the response has been read to its end.
func (f *flight) close() {
	_ = f.resp.Body.Close()
	f.watch.stop()
}

// read hands on one batch after the other.
func (f *flight) read(dec Decoder, yield func([]provider.Delta) bool) error {
	var batch []provider.Delta
	for {
		got, err := dec.Read(batch[:0])
		if f.outer.Err() == nil { // else the caller has ended it
			got, err = finish(dec, got, err)
		}
		f.watch.pause()
		batch = got.Deltas
		if len(batch) > 0 && !yield(batch) {
			return nil
		}
		clear(batch) // so that a long stream doesn't hold on to old text
		switch {
		case err != nil:
			return f.fail(err)
		case got.Done:
			f.watch.arm(drainLimit)
			_, _ = io.CopyN(io.Discard, f.resp.Body, maxRefusal)
			return nil
		}
		f.watch.resume(got)
	}
}

// fail turns whatever ended an exchange into an *Error.
func (f *flight) fail(err error) error {
	var slow *slowError
	switch {
	case f.outer.Err() != nil:
		return f.source.Stopped(context.Cause(f.outer))
	case errors.As(context.Cause(f.ctx), &slow):
		return f.source.Slow(slow)
	}
	return f.source.Explain(err)
}

// Explain turns an error of a request, a Decoder or a body into an *Error.
func (s Source) Explain(err error) error {
	var own *provider.Error
	var format *FormatError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &format):
		return s.Undecodable(format)
	case errors.Is(err, sse.ErrTooLong):
		return s.Undecodable(&FormatError{Err: err})
	}
	return s.Broken(err)
}

// ReadAll reads a response to its end without an exchange around it, for
// bodies that are at hand. The error is nil or an *Error.
func ReadAll(dec Decoder, s Source) ([]provider.Delta, error) {
	var all []provider.Delta
	for {
		got, err := dec.Read(nil)
		got, err = finish(dec, got, err)
		all = append(all, got.Deltas...)
		if err != nil {
			return all, s.Explain(err)
		}
		if got.Done {
			return all, nil
		}
	}
}

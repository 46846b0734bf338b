package otlp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds that the standard's batches have by default.
const (
	queueSize = 2048
	batchSize = 512
	every     = 5 * time.Second
	// requestTime bounds one request.
	requestTime = 10 * time.Second
	// longestWait is what the wait after failures doubles to, and what a receiver
	// may ask for.
	longestWait = 2 * time.Minute
	// answerSize is what is read of an answer: it holds a number and a sentence.
	answerSize = 64 << 10
)

// Options make an Exporter.
type Options struct {
	Config
	// Name and Version are whose spans they are.
	Name, Version string
	// OnFail is told of the first of a row of failures, without what may be a
	// secret; nil hears of none. It must not call the Exporter.
	OnFail func(error)
	// Now is the clock; nil is time.Now. Every is how often spans are sent; 0 is
	// five seconds.
	Now   func() time.Time
	Every time.Duration
}

// Exporter sends spans. Make it with New, and end it with Close.
type Exporter struct {
	o           Options
	head, scope []byte
	client      *http.Client
	sent        atomic.Int64
	dropped     atomic.Int64

	mu     sync.Mutex
	queue  []record
	closed bool
	begun  bool          // the goroutine runs
	full   chan struct{} // a batch is there

	base context.Context
	stop context.CancelFunc
	quit chan struct{}
	done chan struct{}
}

// New makes an Exporter. It asks nobody, and starts nothing before a span ends.
func New(o Options) *Exporter {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Every = cmp.Or(o.Every, every)
	e := &Exporter{o: o, client: newClient(), full: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	resource := append([]slog.Attr{slog.String("service.name", cmp.Or(o.Service, o.Name)), slog.String("service.version", o.Version)}, o.Resource...)
	e.head, e.scope = encodeHead(resource, o.Name, o.Version)
	e.base, e.stop = context.WithCancel(context.Background())
	return e
}

func newClient() *http.Client {
	return &http.Client{
		Timeout:       requestTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: requestTime}).DialContext,
			TLSHandshakeTimeout: requestTime, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: answerSize,
			MaxIdleConns: 1, IdleConnTimeout: 2 * every,
		},
	}
}

// Counts are how many spans a receiver has taken, and how many are lost.
func (e *Exporter) Counts() (sent, dropped int64) { return e.sent.Load(), e.dropped.Load() }

func (e *Exporter) add(r record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || len(e.queue) >= queueSize {
		e.dropped.Add(1)
		return
	}
	e.queue = append(e.queue, r)
	if !e.begun {
		e.begun = true
		go e.run()
	}
	if len(e.queue) >= batchSize {
		select {
		case e.full <- struct{}{}:
		default:
		}
	}
}

// run sends what there is until Close.
func (e *Exporter) run() {
	defer close(e.done)
	failures := 0
	wait := e.o.Every
	for {
		timer := time.NewTimer(wait)
		full := e.full
		if failures > 0 {
			full = nil // a receiver in trouble isn't asked sooner for more spans
		}
		select {
		case <-timer.C:
		case <-full:
		case <-e.quit:
			timer.Stop()
			_, _ = e.flush() // Close counts what is left
			return
		}
		timer.Stop()
		after, err := e.flush()
		if err == nil {
			failures, wait = 0, e.o.Every
			continue
		}
		if failures == 0 && e.o.OnFail != nil {
			e.o.OnFail(err)
		}
		failures++
		wait = max(after, backoff(e.o.Every, failures))
	}
}

// backoff doubles with each failure, and varies, so that many programs don't come
// back at once.
func backoff(first time.Duration, failures int) time.Duration {
	d := min(first<<min(failures, 16), longestWait)
	return d/2 + rand.N(d/2+1)
}

// flush sends all that is queued. An error is of a receiver that may take the same
// spans later, after the time that it wants.
func (e *Exporter) flush() (after time.Duration, err error) {
	for {
		e.mu.Lock()
		batch := e.queue[:min(len(e.queue), batchSize)]
		e.mu.Unlock()
		if len(batch) == 0 {
			return 0, nil
		}
		refused, after, err := e.send(encode(e.head, e.scope, batch))
		if err != nil && refused == 0 {
			return after, err
		}
		lost := min(refused, int64(len(batch)))
		e.dropped.Add(lost)
		e.sent.Add(int64(len(batch)) - lost)
		e.mu.Lock()
		e.queue = append([]record(nil), e.queue[len(batch):]...)
		e.mu.Unlock()
		if err != nil {
			return after, err
		}
	}
}

// allOf is how many spans of a batch a receiver refuses that refuses the request.
const allOf = batchSize

// send posts a request: how many spans were refused for good, or, with an error and
// none refused, what may pass.
func (e *Exporter) send(body []byte) (refused int64, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(e.base, http.MethodPost, e.o.Endpoint, bytes.NewReader(body))
	if err != nil {
		return allOf, 0, errors.New("the receiver's address can't be used")
	}
	for name, value := range e.o.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", e.o.Name+"/"+e.o.Version)
	res, err := e.client.Do(req)
	if err != nil {
		var of *url.Error // which has the address, and that may have a key
		if errors.As(err, &of) {
			err = of.Err
		}
		return 0, 0, fmt.Errorf("the receiver at %s can't be reached: %w", req.URL.Host, err)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, answerSize)) // an answer that breaks off says nothing
	switch {
	case res.StatusCode/100 == 2:
		return rejected(answer), 0, nil
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusBadGateway,
		res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == http.StatusGatewayTimeout:
		return 0, retryAfter(res), fmt.Errorf("the receiver at %s answers with status %d", req.URL.Host, res.StatusCode)
	}
	return allOf, 0, fmt.Errorf("the receiver at %s refuses spans with status %d", req.URL.Host, res.StatusCode)
}

func retryAfter(res *http.Response) time.Duration {
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, int(longestWait/time.Second)))*time.Second, longestWait)
}

// Close sends what is left until ctx ends. What is not sent by then is counted as
// dropped.
func (e *Exporter) Close(ctx context.Context) {
	e.mu.Lock()
	was, begun := e.closed, e.begun
	e.closed = true
	e.mu.Unlock()
	if was {
		return
	}
	defer e.client.CloseIdleConnections()
	defer e.stop()
	close(e.quit)
	if !begun {
		return
	}
	defer context.AfterFunc(ctx, e.stop)()
	<-e.done // every request ends with ctx
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped.Add(int64(len(e.queue)))
	e.queue = nil
}

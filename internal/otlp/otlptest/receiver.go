package otlptest

import (
	_ "embed" // the descriptors
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

//go:embed testdata/trace.binpb
var descriptors []byte

// patience is how long Wait does: far more than any machine needs.
const patience = time.Minute

// Receiver is a server that takes spans.
type Receiver struct {
	// URL is its address, without a path.
	URL string
	// Answer replaces the answer to a request; nil takes all. Set it before anything
	// is sent.
	Answer http.HandlerFunc

	t       testing.TB
	request protoreflect.MessageDescriptor
	mu      sync.Mutex
	got     []Request
	news    chan struct{}
}

// Request is what came at once.
type Request struct {
	Path   string
	Header http.Header
	// Resource are the attributes of who sent it, Scope its name.
	Resource map[string]any
	Scope    string
	Spans    []Span
	// Size is that of the body, and Text all of it as JSON.
	Size int
	Text string
}

// Span is one as it was received.
type Span struct {
	TraceID, SpanID, ParentSpanID []byte
	Name, Kind                    string
	Begun, Ended                  time.Time
	Attrs                         map[string]any
	Status                        string // empty where it isn't set
}

// New starts a receiver, which ends with the test.
func New(t testing.TB) *Receiver {
	t.Helper()
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(descriptors, &set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	d, err := files.FindDescriptorByName("opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest")
	if err != nil {
		t.Fatal(err)
	}
	r := &Receiver{t: t, request: d.(protoreflect.MessageDescriptor), news: make(chan struct{})}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.URL = s.URL
	return r
}

// ServeHTTP takes a request.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Answer != nil {
		answer := &answered{ResponseWriter: w}
		r.Answer(answer, req)
		if answer.status/100 != 2 {
			return
		}
	}
	got, err := r.read(req, body)
	if err != nil {
		r.t.Errorf("what came is no OTLP: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, got)
	close(r.news)
	r.news = make(chan struct{})
}

// answered knows the status of an answer.
type answered struct {
	http.ResponseWriter
	status int
}

// Unwrap lets a ResponseController find the connection.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader notes the status.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (r *Receiver) read(req *http.Request, body []byte) (Request, error) {
	m := dynamicpb.NewMessage(r.request)
	if err := proto.Unmarshal(body, m); err != nil {
		return Request{}, err
	}
	text, err := protojson.Marshal(m)
	if err != nil {
		return Request{}, err
	}
	var in struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []attribute }
			ScopeSpans []struct {
				Scope struct{ Name string }
				Spans []jsonSpan
			}
		}
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return Request{}, err
	}
	got := Request{Path: req.URL.Path, Header: req.Header.Clone(), Size: len(body), Text: string(text)}
	for _, rs := range in.ResourceSpans {
		got.Resource = attributes(rs.Resource.Attributes)
		for _, ss := range rs.ScopeSpans {
			got.Scope = ss.Scope.Name
			for _, s := range ss.Spans {
				got.Spans = append(got.Spans, s.span())
			}
		}
	}
	return got, nil
}

type jsonSpan struct {
	TraceID, SpanID, ParentSpanID []byte
	Name, Kind                    string
	StartTimeUnixNano             int64 `json:",string"`
	EndTimeUnixNano               int64 `json:",string"`
	Attributes                    []attribute
	Status                        struct{ Code string }
}

func (s jsonSpan) span() Span {
	return Span{
		TraceID: s.TraceID, SpanID: s.SpanID, ParentSpanID: s.ParentSpanID, Name: s.Name, Kind: s.Kind,
		Begun: time.Unix(0, s.StartTimeUnixNano), Ended: time.Unix(0, s.EndTimeUnixNano),
		Attrs: attributes(s.Attributes), Status: s.Status.Code,
	}
}

type attribute struct {
	Key   string
	Value value
}

type value struct {
	StringValue *string
	BoolValue   *bool
	IntValue    *int64 `json:",string"`
	DoubleValue *float64
	ArrayValue  *struct{ Values []value }
}

func (v value) plain() any {
	switch {
	case v.StringValue != nil:
		return *v.StringValue
	case v.BoolValue != nil:
		return *v.BoolValue
	case v.IntValue != nil:
		return *v.IntValue
	case v.DoubleValue != nil:
		return *v.DoubleValue
	case v.ArrayValue != nil:
		var all []any
		for _, each := range v.ArrayValue.Values {
			all = append(all, each.plain())
		}
		return all
	}
	return nil
}

func attributes(list []attribute) map[string]any {
	out := map[string]any{}
	for _, a := range list {
		out[a.Key] = a.Value.plain()
	}
	return out
}

// Requests are those that came.
func (r *Receiver) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// Spans are those that came, in the order in which they began.
func (r *Receiver) Spans() []Span {
	var out []Span
	for _, req := range r.Requests() {
		out = append(out, req.Spans...)
	}
	slices.SortStableFunc(out, func(a, b Span) int { return a.Begun.Compare(b.Begun) })
	return out
}

// Wait waits until n spans are there, and gives all.
func (r *Receiver) Wait(n int) []Span {
	r.t.Helper()
	end := time.After(patience)
	for {
		r.mu.Lock()
		news := r.news
		r.mu.Unlock()
		spans := r.Spans()
		if len(spans) >= n {
			return spans
		}
		select {
		case <-news:
		case <-end:
			r.t.Fatalf("%d spans came, not %d", len(spans), n)
		}
	}
}

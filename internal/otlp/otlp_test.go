package otlp_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fettle-cli/fettle/internal/otlp"
	"github.com/fettle-cli/fettle/internal/otlp/otlptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// soon lets an exporter send at once, and never keeps a test.
const soon = time.Millisecond

func exporter(t *testing.T, c otlp.Config, change func(*otlp.Options)) *otlp.Exporter {
	t.Helper()
	o := otlp.Options{Config: c, Name: "fettle", Version: "1.2.3", Every: soon}
	if change != nil {
		change(&o)
	}
	e := otlp.New(o)
	t.Cleanup(func() { e.Close(t.Context()) })
	return e
}

func config(t *testing.T, env map[string]string) otlp.Config {
	t.Helper()
	c, ok, err := otlp.FromEnv(lookup(env))
	if err != nil || !ok {
		t.Fatalf("%v, %v", ok, err)
	}
	return c
}

func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}
}

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestSpansArriveAsTheyWereMade(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	e := exporter(t, config(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": r.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b, X-Other = c",
		"OTEL_SERVICE_NAME": "mine", "OTEL_RESOURCE_ATTRIBUTES": "service.name=other,deployment.environment=a%2Cb",
	}), nil)
	parent, ok := otlp.ParseParent(traceparent)
	if !ok {
		t.Fatal("the parent isn't read")
	}
	begun := time.Unix(1700000000, 5)
	turn := e.Begin(otlp.Start{Name: "turn", Kind: otlp.Internal, At: begun, Attrs: []slog.Attr{slog.Int("n", 1), slog.Int("n", -7)}}, parent)
	ask := turn.Begin(otlp.Start{Name: "ask", Kind: otlp.Client})
	ask.Set(slog.Bool("yes", true), slog.Float64("half", .5), slog.Duration("took", 1500*time.Millisecond),
		slog.Any("list", []string{"a", "b"}), slog.String("bad", "a\xff"+strings.Repeat("x", 5000)), slog.Uint64("big", 1<<63))
	ask.End("overloaded")
	ask.End("twice")
	ask.Set(slog.Bool("late", true))
	turn.End("")
	spans := r.Wait(2)
	if len(spans) != 2 || spans[0].Name != "turn" || spans[1].Name != "ask" {
		t.Fatalf("%+v", spans)
	}
	root, child := spans[0], spans[1]
	if got := hex.EncodeToString(root.TraceID) + "-" + hex.EncodeToString(root.ParentSpanID); got != "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331" {
		t.Errorf("the parent is %s", got)
	}
	if !bytes.Equal(child.TraceID, root.TraceID) || !bytes.Equal(child.ParentSpanID, root.SpanID) || len(child.SpanID) != 8 {
		t.Errorf("the child is %+v", child)
	}
	if !root.Begun.Equal(begun) || root.Ended.Before(child.Begun) || root.Kind != "SPAN_KIND_INTERNAL" || child.Kind != "SPAN_KIND_CLIENT" {
		t.Errorf("%+v", root)
	}
	if root.Status != "" || child.Status != "STATUS_CODE_ERROR" || fmt.Sprint(root.Attrs) != "map[n:-7]" {
		t.Errorf("%+v %+v", root, child)
	}
	bad, _ := child.Attrs["bad"].(string)
	delete(child.Attrs, "bad")
	if got := fmt.Sprint(child.Attrs); got != "map[big:9223372036854775807 error.type:overloaded half:0.5 list:[a b] took:1.5 yes:true]" || len(bad) != 1023 {
		t.Errorf("attributes %s, and %d bytes", got, len(bad))
	}
	req := r.Requests()[0]
	if req.Path != "/v1/traces" || req.Header.Get("X-Key") != "a b" || req.Header.Get("X-Other") != "c" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%s %v", req.Path, req.Header)
	}
	if got := fmt.Sprint(req.Resource); req.Scope != "fettle" || got != "map[deployment.environment:a,b service.name:mine service.version:1.2.3]" {
		t.Errorf("%s %s", req.Scope, got)
	}
}

func TestAProgramThatRecordsNothingHasNoSpans(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	e := exporter(t, otlp.Config{Endpoint: r.URL}, nil)
	parent, _ := otlp.ParseParent(strings.TrimSuffix(traceparent, "1") + "0")
	s := e.Begin(otlp.Start{Name: "turn"}, parent)
	within := s.Begin(otlp.Start{Name: "ask"})
	within.Set(slog.Int("n", 1))
	within.End("")
	s.End("")
	e.Close(t.Context())
	if sent, dropped := e.Counts(); sent+dropped != 0 || len(r.Requests()) != 0 {
		t.Errorf("%d sent, %d dropped", sent, dropped)
	}
}

// What a receiver refuses for good is lost and counted; what it can't take now is
// sent again, whole and once.
func TestReceiversInTrouble(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first         func(http.ResponseWriter)
		sent, dropped int64
		fails         bool
	}{
		"busy":      {func(w http.ResponseWriter) { w.WriteHeader(503) }, 3, 0, true},
		"limited":   {func(w http.ResponseWriter) { w.Header().Set("Retry-After", "0"); w.WriteHeader(429) }, 3, 0, true},
		"refuses":   {func(w http.ResponseWriter) { w.WriteHeader(400) }, 0, 3, true},
		"redirects": {func(w http.ResponseWriter) { w.Header().Set("Location", "http://127.0.0.1:1/"); w.WriteHeader(307) }, 0, 3, true},
		"takes two": {func(w http.ResponseWriter) {
			w.WriteHeader(200)
			_, _ = w.Write([]byte{0x0a, 0x02, 0x08, 0x01})
		}, 2, 1, false},
		"nonsense": {func(w http.ResponseWriter) { w.WriteHeader(200); _, _ = w.Write([]byte("<html>")) }, 3, 0, false},
		"breaks off": {func(w http.ResponseWriter) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		}, 3, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := otlptest.New(t)
			var asked atomic.Int64
			r.Answer = func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) == 1 {
					c.first(w)
					return
				}
				w.WriteHeader(200)
			}
			failed := make(chan error, 100)
			e := exporter(t, otlp.Config{Endpoint: r.URL + "/x?key=secret"}, func(o *otlp.Options) {
				o.OnFail = func(err error) { failed <- err }
			})
			three(e)
			wait(t, e, 3)
			if sent, dropped := e.Counts(); sent != c.sent || dropped != c.dropped {
				t.Errorf("%d sent, %d dropped", sent, dropped)
			}
			e.Close(t.Context())
			if (len(failed) == 1) != c.fails {
				t.Fatalf("%d failures were told", len(failed))
			}
			if c.fails {
				if err := <-failed; strings.Contains(err.Error(), "secret") {
					t.Errorf("it tells the key: %v", err)
				}
			}
		})
	}
}

// three ends spans so that they are one batch.
func three(e *otlp.Exporter) {
	var all []*otlp.Span
	for range 3 {
		all = append(all, e.Begin(otlp.Start{Name: "s"}, otlp.Parent{}))
	}
	for _, s := range all {
		s.End("")
	}
}

// wait waits until n spans are sent or lost.
func wait(t *testing.T, e *otlp.Exporter, n int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		if sent, dropped := e.Counts(); sent+dropped >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatal("they never came")
		}
		time.Sleep(time.Millisecond)
	}
}

// A receiver that takes for ever holds up nobody: the queue is bounded, and the end
// waits no longer than it may.
func TestTheQueueIsBounded(t *testing.T) {
	t.Parallel()
	var l net.ListenConfig
	silent, err := l.Listen(t.Context(), "tcp", "127.0.0.1:0") // accepts in the kernel, and answers nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	e := exporter(t, otlp.Config{Endpoint: "http://" + silent.Addr().String()}, nil)
	const all = 5000
	for range all {
		e.Begin(otlp.Start{Name: "s"}, otlp.Parent{}).End("")
	}
	if _, dropped := e.Counts(); dropped != all-2048 {
		t.Errorf("%d were dropped at once", dropped)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	e.Close(ctx)
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error("it didn't wait at all")
	}
	e.Begin(otlp.Start{Name: "late"}, otlp.Parent{}).End("")
	if sent, dropped := e.Counts(); sent != 0 || dropped != all+1 {
		t.Errorf("%d sent, %d dropped", sent, dropped)
	}
}

func TestCloseSendsWhatIsLeft(t *testing.T) {
	t.Parallel()
	r := otlptest.New(t)
	e := exporter(t, otlp.Config{Endpoint: r.URL}, func(o *otlp.Options) { o.Every = time.Hour })
	for range 1100 {
		e.Begin(otlp.Start{Name: "s"}, otlp.Parent{}).End("")
	}
	e.Close(t.Context())
	e.Close(t.Context())
	if n := len(r.Spans()); n != 1100 || len(r.Requests()) < 3 {
		t.Errorf("%d spans in %d requests", n, len(r.Requests()))
	}
}

func TestWhatTheEnvironmentSays(t *testing.T) {
	t.Parallel()
	const base, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for name, c := range map[string]struct {
		env  map[string]string
		want string // the endpoint; empty is off
		err  string
	}{
		"nothing":           {nil, "", ""},
		"an empty one":      {map[string]string{base: " "}, "", ""},
		"a base":            {map[string]string{base: "http://h:4318"}, "http://h:4318/v1/traces", ""},
		"a base with path":  {map[string]string{base: "https://h/otlp/"}, "https://h/otlp/v1/traces", ""},
		"traces' own":       {map[string]string{base: "http://h", traces: "http://t/x?k=v"}, "http://t/x?k=v", ""},
		"off":               {map[string]string{base: "http://h", "OTEL_SDK_DISABLED": "TRUE"}, "", ""},
		"no traces":         {map[string]string{base: "http://h", "OTEL_TRACES_EXPORTER": "none"}, "", ""},
		"of OTLP":           {map[string]string{base: "http://h", "OTEL_TRACES_EXPORTER": "otlp"}, "http://h/v1/traces", ""},
		"gRPC":              {map[string]string{base: "http://h:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "", "OTEL_EXPORTER_OTLP_PROTOCOL"},
		"no scheme":         {map[string]string{base: "localhost:4317"}, "", base},
		"another scheme":    {map[string]string{traces: "file:///etc"}, "", traces},
		"bad headers":       {map[string]string{base: "http://h", "OTEL_EXPORTER_OTLP_HEADERS": "a=secret%0d%0ab"}, "", "OTEL_EXPORTER_OTLP_HEADERS"},
		"no headers at all": {map[string]string{base: "http://h", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "secret"}, "", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"},
		"bad attributes":    {map[string]string{base: "http://h", "OTEL_RESOURCE_ATTRIBUTES": "a=%zz"}, "", "OTEL_RESOURCE_ATTRIBUTES"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok, err := otlp.FromEnv(lookup(c.env))
			if ok != (c.want != "") || got.Endpoint != c.want && ok {
				t.Errorf("%v %q %v", ok, got.Endpoint, err)
			}
			if (err != nil) != (c.err != "") || err != nil && (!strings.HasPrefix(err.Error(), c.err) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func FuzzParents(f *testing.F) {
	for _, seed := range []string{
		traceparent, "", "00", "ff-" + traceparent[3:], "01-" + traceparent[3:] + "-x", traceparent + "-x", strings.ToUpper(traceparent),
		"00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, ok := otlp.ParseParent(s)
		if ok && (len(s) < len(traceparent) || s[:2] == "ff" || strings.ToLower(s[:55]) != s[:55] || s[2] != '-' || s[35] != '-' || s[52] != '-') {
			t.Errorf("%q is taken for a parent", s)
		}
	})
}

func FuzzEnvironment(f *testing.F) {
	f.Add("http://h", "a=b,c=%41", "k=v")
	f.Fuzz(func(t *testing.T, address, headers, attrs string) {
		c, ok, err := otlp.FromEnv(lookup(map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_HEADERS": headers, "OTEL_RESOURCE_ATTRIBUTES": attrs,
		}))
		if ok && (err != nil || c.Host() == "") {
			t.Errorf("%q is taken: %+v %v", address, c, err)
		}
	})
}

package server

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
)

// counters are what /metrics tells. Labels are of this program's own words, so
// that no request can make a new one.
type counters struct {
	turnsBegun, events, stalled atomic.Int64
	followers                   atomic.Int64
	inputTokens, outputTokens   atomic.Int64

	mu       sync.Mutex
	requests map[[2]string]int64 // by operation and status
	turns    map[string]int64    // by how they ended
	calls    map[string]int64    // of tools, by status
	latency  histogram           // of requests that are no streams
	duration histogram           // of turns
}

// histogram counts times below bounds, in seconds.
type histogram struct {
	counts []int64
	sum    float64
	all    int64
}

func (h *histogram) add(bounds []float64, d time.Duration) {
	if h.counts == nil {
		h.counts = make([]int64, len(bounds))
	}
	s := d.Seconds()
	h.sum += s
	h.all++
	for i, b := range bounds {
		if s <= b {
			h.counts[i]++
		}
	}
}

func latencyBounds() []float64 { return []float64{.005, .025, .1, .5, 2.5, 10} }
func turnBounds() []float64    { return []float64{1, 5, 20, 60, 300, 1200} }

func (c *counters) request(to *route, status int, took time.Duration) {
	op := "none"
	if to != nil {
		op = to.op
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests == nil {
		c.requests = map[[2]string]int64{}
	}
	c.requests[[2]string{op, strconv.Itoa(status)}]++
	if to != nil && to.media != mediaSSE && to.media != mediaLines {
		c.latency.add(latencyBounds(), took)
	}
}

func (c *counters) turn(end event.Event, took time.Duration) {
	if b, ok := end.Body.(event.Complete); ok && b.Payload.Usage != nil {
		c.inputTokens.Add(b.Payload.Usage.InputTokens)
		c.outputTokens.Add(b.Payload.Usage.OutputTokens)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turns == nil {
		c.turns = map[string]int64{}
	}
	c.turns[string(end.Type())]++
	c.duration.add(turnBounds(), took)
}

func (c *counters) call(b event.ToolComplete) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]int64{}
	}
	c.calls[string(b.Status)]++
}

// page writes counters in Prometheus' text format.
type page struct{ w io.Writer }

func (p page) head(name, kind, help string) {
	fmt.Fprintf(p.w, "# HELP fettle_%s %s\n# TYPE fettle_%s %s\n", name, help, name, kind)
}

func (p page) one(name, kind, help string, v int64) {
	p.head(name, kind, help)
	fmt.Fprintf(p.w, "fettle_%s %d\n", name, v)
}

func (p page) labelled(name, label, help string, values map[string]int64) {
	p.head(name, "counter", help)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(p.w, "fettle_%s{%s=%q} %d\n", name, label, k, values[k])
	}
}

func (p page) histogram(name, help string, bounds []float64, h histogram) {
	p.head(name, "histogram", help)
	for i, b := range bounds {
		n := int64(0)
		if i < len(h.counts) {
			n = h.counts[i]
		}
		fmt.Fprintf(p.w, "fettle_%s_bucket{le=%q} %d\n", name, strconv.FormatFloat(b, 'g', -1, 64), n)
	}
	fmt.Fprintf(p.w, "fettle_%s_bucket{le=\"+Inf\"} %d\nfettle_%s_sum %g\nfettle_%s_count %d\n", name, h.all, name, h.sum, name, h.all)
}

// memory tells what the process's memory is for.
func (p page) memory() {
	kinds := []string{"/memory/classes/heap/objects:bytes", "/memory/classes/heap/stacks:bytes", "/memory/classes/total:bytes"}
	samples := make([]metrics.Sample, len(kinds))
	for i, k := range kinds {
		samples[i].Name = k
	}
	metrics.Read(samples)
	for i, name := range []string{"heap_bytes", "stack_bytes", "memory_bytes"} {
		p.one(name, "gauge", []string{"Objects on the heap.", "Stacks of goroutines.", "All memory that the Go runtime has mapped."}[i], int64(samples[i].Value.Uint64()))
	}
}

func (c *counters) write(w io.Writer, live int) {
	p := page{w}
	p.one("turns_live", "gauge", "Turns that run now.", int64(live))
	p.one("followers", "gauge", "Clients that follow a turn now.", c.followers.Load())
	p.one("goroutines", "gauge", "Goroutines of the process.", int64(runtime.NumGoroutine()))
	p.memory()
	p.one("turns_begun_total", "counter", "Turns that were begun.", c.turnsBegun.Load())
	p.one("events_sent_total", "counter", "Events that were sent to followers.", c.events.Load())
	p.one("followers_stalled_total", "counter", "Followers that were dropped because they took nothing.", c.stalled.Load())
	p.one("input_tokens_total", "counter", "Tokens that providers reported as input of complete turns.", c.inputTokens.Load())
	p.one("output_tokens_total", "counter", "Tokens that providers reported as output of complete turns.", c.outputTokens.Load())
	c.mu.Lock()
	defer c.mu.Unlock()
	p.labelled("turns_ended_total", "end", "Turns that ended, by how.", c.turns)
	p.labelled("tool_calls_total", "status", "Tool calls that ended, by status.", c.calls)
	p.head("requests_total", "counter", "Requests, by operation and status.")
	keys := slices.SortedFunc(maps.Keys(c.requests), func(a, b [2]string) int {
		return slices.Compare(a[:], b[:])
	})
	for _, k := range keys {
		fmt.Fprintf(w, "fettle_requests_total{op=%q,status=%q} %d\n", k[0], k[1], c.requests[k])
	}
	p.histogram("request_seconds", "How long requests took that are no streams.", latencyBounds(), c.latency)
	p.histogram("turn_seconds", "How long turns took.", turnBounds(), c.duration)
}

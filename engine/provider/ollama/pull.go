package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/types/model"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/wire"
)

var (
	_ provider.Puller = (*Provider)(nil)
	_ provider.Runner = (*Provider)(nil)
)

// maxLayers bounds what is kept of one pull; models have a dozen layers, those
// that are split by tensor are reported as one.
const maxLayers = 4096

// Pull has the server fetch a model. It goes on where an earlier pull stopped,
// since the server keeps what had come of each layer. A download that doesn't
// grow for Options.Between is given up, whatever the server reports meanwhile;
// other work, such as checking the digest of a large model, is silent and may
// take as long as a first byte.
func (p *Provider) Pull(ctx context.Context, name string, progress func(provider.Progress)) error {
	src := p.source(name)
	if !model.ParseName(name).IsValid() {
		return src.Error(provider.Rejected, name+" is no name that Ollama could have for a model", nil)
	}
	stream := true
	body, err := json.Marshal(api.PullRequest{Model: name, Stream: &stream})
	if err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	hr, err := wire.NewRequest(ctx, http.MethodPost, p.base.JoinPath("api/pull"), body)
	if err != nil {
		return src.Error(provider.Rejected, err.Error(), err)
	}
	if err := p.authorise(hr); err != nil {
		return src.Error(provider.Unauthorised, err.Error(), err)
	}
	src = p.source(name) // which knows the key now
	hr.Header.Set("Accept", "application/x-ndjson")
	limits := wire.Limits{First: p.o.FirstByte, Between: p.o.Between}
	pulling, stall := watchStall(ctx, limits)
	defer stall.stop()
	defer p.forget()
	x := wire.Exchange{
		Client: p.client, Source: src, Request: hr,
		Limits: limits.Patient(), // the watch above is the strict one
		Decode: func(resp *http.Response) (wire.Decoder, error) {
			return &pullDecoder{
				source: src, lines: lines{src: wire.JSONBody(resp.Body, src, page)}, stall: stall,
				progress: progress, layers: map[string]*layer{},
			}, nil
		},
	}
	err = x.Run(pulling, func([]provider.Delta) bool { return true })
	var slow *stallError
	if ctx.Err() == nil && errors.As(context.Cause(pulling), &slow) {
		return src.Slow(slow)
	}
	return pullError(err)
}

// Running lists the models that the server has loaded.
func (p *Provider) Running(ctx context.Context) ([]provider.Running, error) {
	var list *api.ProcessResponse
	err := p.ask(ctx, "", func(ctx context.Context) (err error) {
		list, err = p.api.ListRunning(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []provider.Running
	for _, m := range list.Models {
		out = append(out, provider.Running{
			Name: m.Name, Digest: m.Digest, Size: m.Size, VRAM: m.SizeVRAM, ContextLength: m.ContextLength, Expires: m.ExpiresAt,
		})
	}
	return out, nil
}

// Remove deletes a model. Layers that other models share are kept.
func (p *Provider) Remove(ctx context.Context, name string) error {
	defer p.forget()
	return p.ask(ctx, name, func(ctx context.Context) error {
		return p.api.Delete(ctx, &api.DeleteRequest{Model: name})
	})
}

// forget drops what is known of models: one has changed, and it may be known
// by several names.
func (p *Provider) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.known)
}

// pullError finds the kind of a failure that came in the stream, where the
// server gives no status.
func pullError(err error) error {
	var e *provider.Error
	if !errors.As(err, &e) || e.Status != 0 || e.Kind != provider.Broken && e.Kind != provider.Overloaded {
		return err
	}
	said := strings.ToLower(e.Message)
	switch {
	case strings.Contains(said, "file does not exist"), strings.Contains(said, "manifest unknown"):
		e.Kind = provider.UnknownModel
	case strings.Contains(said, "unauthorized"), strings.Contains(said, "access denied"):
		e.Kind = provider.Unauthorised
	case strings.Contains(said, "no space left"), strings.Contains(said, "not enough space"),
		strings.Contains(said, "newer version of ollama"), strings.Contains(said, "permission denied"),
		strings.Contains(said, "insecure protocol"), strings.Contains(said, "read-only file system"):
		e.Kind = provider.Rejected
	}
	return e
}

// stallError is why a pull that didn't grow was ended.
type stallError struct{ limit time.Duration }

func (e *stallError) Error() string {
	return fmt.Sprintf("nothing more of the model came for %v", e.limit)
}

// stallWatch ends a context when a pull makes no progress. It belongs to the
// goroutine that reads the stream.
type stallWatch struct {
	between time.Duration // while layers grow
	patient time.Duration // at any other time
	cancel  context.CancelCauseFunc
	timer   *time.Timer
}

// watchStall derives a context that the watch ends. The caller calls stop.
func watchStall(ctx context.Context, l wire.Limits) (context.Context, *stallWatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &stallWatch{between: l.Between, patient: l.Patient().Between, cancel: cancel}
	if w.between <= 0 {
		w.between = wire.DefaultBetween
	}
	w.alive(false)
	return ctx, w
}

// alive starts the clock anew.
func (w *stallWatch) alive(downloading bool) {
	if w.timer != nil {
		w.timer.Stop()
	}
	limit := w.patient
	if downloading {
		limit = w.between
	}
	w.timer = time.AfterFunc(limit, func() { w.cancel(&stallError{limit}) })
}

func (w *stallWatch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// layer is how far one digest is.
type layer struct {
	done, total int64
	first       int64 // what was there when it was first reported
}

// pullDecoder reads the stream of a pull. It has no deltas: what comes goes to
// progress.
type pullDecoder struct {
	source   wire.Source
	lines    lines
	stall    *stallWatch
	progress func(provider.Progress)
	layers   map[string]*layer
	at       provider.Progress
}

// pullLine is one line of the stream.
type pullLine struct {
	api.ProgressResponse
	Error json.RawMessage `json:"error"`
}

// End does nothing: a pull has no finish reason ahead of its end.
func (d *pullDecoder) End(dst []provider.Delta) ([]provider.Delta, error) { return dst, nil }

// Read takes what one network read brought.
func (d *pullDecoder) Read(dst []provider.Delta) (wire.Read, error) {
	got := wire.Read{Deltas: dst}
	line, open, err := d.lines.next()
	if err != nil {
		return got, err
	}
	for more := true; more && !got.Done; line, more = d.lines.buffered() {
		if open && !json.Valid(line) {
			return got, io.EOF // what the cut left of a line
		}
		if err := d.line(&got, line); err != nil {
			return got, err
		}
	}
	return got, nil
}

func (d *pullDecoder) line(got *wire.Read, line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var l pullLine
	if err := json.Unmarshal(line, &l); err != nil {
		return &wire.FormatError{Chunk: bytes.Clone(line), Err: err}
	}
	if wire.Says(l.Error) {
		return d.source.InStream(line)
	}
	news, err := d.take(l.ProgressResponse)
	if err != nil {
		return err
	}
	if news {
		got.Progress = true
		d.stall.alive(l.Digest != "" && l.Completed < l.Total)
	}
	got.Done = l.Status == "success"
	d.progress(d.at)
	return nil
}

// take adds a report to what is known and tells whether it is news: another
// stage, a layer that is new or has grown.
func (d *pullDecoder) take(r api.ProgressResponse) (news bool, _ error) {
	stage := wire.Clean(r.Status)
	news = r.Digest == "" && stage != d.at.Stage
	d.at.Stage, d.at.Fetching = stage, r.Digest != "" && r.Total > 0
	if !d.at.Fetching {
		return news, nil
	}
	total := min(r.Total, maxBytes)
	done := min(max(r.Completed, 0), total)
	l := d.layers[r.Digest]
	if l == nil {
		if len(d.layers) == maxLayers {
			return false, &wire.FormatError{Err: errors.New("it has layers without end")}
		}
		l = &layer{first: done}
		d.layers[r.Digest] = l
		news = true
	}
	news = news || done > l.done
	d.at.Total += total - l.total
	d.at.Done += done - l.done
	d.at.Fetched += max(done, l.first) - max(l.done, l.first)
	l.done, l.total = done, total
	return news, nil
}

// maxBytes keeps sums of layers from overflowing: a petabyte each.
const maxBytes = 1 << 50

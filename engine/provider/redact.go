package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Veil keeps what a provider is sent as its credentials out of what it sends
// back. A server may repeat a request's headers in an answer, by malice or as a
// debugging aid, and answers are kept, recorded and shown. It is safe for
// concurrent use.
//
// Content, reasoning and footnotes are searched across the pieces in which they
// come, calls, details and annotations string by string, and lists of models by
// name and detail. The words of an *Error are the adapters' to clean.
type Veil struct {
	mu      sync.Mutex
	secrets []string
}

const (
	// veilFrom is how long a secret has to be to be looked for: shorter ones
	// are placeholders that people give to servers which want no key
	// ("ollama", "sk-no-key-required"), and words of ordinary answers.
	veilFrom = 20
	// veilPart is how much of the begin of a secret is one: more than the
	// prefixes that tell whose key it is, which say nothing.
	veilPart = 14
	// veiled stands where a secret was.
	veiled = "[redacted]"
)

// NewVeil makes a Veil that knows secrets, such as the values of headers.
func NewVeil(secrets ...string) *Veil {
	v := &Veil{}
	for _, s := range secrets {
		v.add(s)
	}
	return v
}

// add makes a secret known: whole, and without the scheme in front of it.
func (v *Veil) add(secret string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	words := append([]string{strings.TrimSpace(secret)}, strings.Fields(secret)...)
	for _, s := range words {
		if len(s) >= veilFrom && !slices.Contains(v.secrets, s) {
			v.secrets = append(v.secrets, s)
		}
	}
	// The longest first: one may be a part of another.
	slices.SortStableFunc(v.secrets, func(a, b string) int { return len(b) - len(a) })
}

func (v *Veil) known() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.secrets)
}

// Key gives a function like get that makes each key known.
func (v *Veil) Key(get func(context.Context) (string, error)) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		key, err := get(ctx)
		v.add(key)
		return key, err
	}
}

// Over puts the veil over a provider. One that is a Lister stays one; what else
// it can do is found by [As].
func (v *Veil) Over(p Provider) Provider {
	out := &veiledProvider{Provider: p, veil: v}
	if l, ok := p.(Lister); ok {
		return &veiledLister{veiledProvider: out, lister: l}
	}
	return out
}

type veiledProvider struct {
	Provider
	veil *Veil
}

type veiledLister struct {
	*veiledProvider
	lister Lister
}

var (
	_ Provider = (*veiledProvider)(nil)
	_ Lister   = (*veiledLister)(nil)
)

// Unwrap gives the provider behind the veil.
func (p *veiledProvider) Unwrap() Provider { return p.Provider }

// Models lists the provider's models.
func (p *veiledLister) Models(ctx context.Context) ([]Model, error) {
	models, err := p.lister.Models(ctx)
	secrets := p.veil.known()
	for i := range models {
		models[i].Name = hideIn(models[i].Name, secrets)
		models[i].Details = hideIn(models[i].Details, secrets)
	}
	return models, err
}

// Stream streams from the provider; the end of a text that may be the begin of
// a secret waits for the piece behind it.
func (p *veiledProvider) Stream(ctx context.Context, req *Request) iter.Seq2[[]Delta, error] {
	return func(yield func([]Delta, error) bool) {
		s := screen{veil: p.veil}
		for batch, err := range p.Provider.Stream(ctx, req) {
			if out := s.pass(batch, err != nil); len(out) > 0 && !yield(out, nil) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
		if out := s.pass(nil, true); len(out) > 0 {
			yield(out, nil)
		}
	}
}

// screen is the veil over one response.
type screen struct {
	veil *Veil
	held Delta // a text that may go on to be a secret; empty where there is none
	out  []Delta
}

// pass gives what may be shown of a batch, and of what was held before it; at
// the end nothing stays held. It is valid until the next call.
func (s *screen) pass(batch []Delta, end bool) []Delta {
	secrets := s.veil.known()
	if len(secrets) == 0 && s.held.Text == "" {
		return batch
	}
	s.out = s.out[:0]
	for _, d := range batch {
		if s.held.Text != "" && d.Kind != s.held.Kind {
			s.release(secrets)
		}
		if d.Kind == Content || d.Kind == Reasoning {
			s.text(d, secrets)
			continue
		}
		s.out = append(s.out, hideInDelta(d, secrets))
	}
	if end {
		s.release(secrets)
	}
	return s.out
}

// release shows what was held, or hides it where it is so much of a secret that
// it gives that away: a response may be cut in the middle of one.
func (s *screen) release(secrets []string) {
	if s.held.Text = hideIn(s.held.Text, secrets); len(s.held.Text) >= veilPart &&
		slices.ContainsFunc(secrets, func(secret string) bool { return strings.HasPrefix(secret, s.held.Text) }) {
		s.held.Text = veiled
	}
	if s.held.Text != "" {
		s.out = append(s.out, s.held)
	}
	s.held = Delta{}
}

// text shows a piece of text, together with what was held before it, but for
// an end that a secret may begin with.
func (s *screen) text(d Delta, secrets []string) {
	shown, held := split(s.held.Text+d.Text, secrets)
	s.held, s.held.Text = d, held
	if d.Text = shown; shown != "" {
		s.out = append(s.out, d)
	}
}

// split gives what may be shown of a text, and the end of it that may go on to
// be a secret. Secrets are sorted, the longest first: where one is the begin of
// another, what is the shorter one already is held until it is no longer one.
func split(text string, secrets []string) (shown, held string) {
	var b strings.Builder
	from := 0
	for at := 0; at < len(text); {
		rest := text[at:]
		i := slices.IndexFunc(secrets, func(s string) bool { return strings.HasPrefix(rest, s) || strings.HasPrefix(s, rest) })
		switch {
		case i < 0:
			at++
			continue
		case len(rest) < len(secrets[i]):
			b.WriteString(text[from:at])
			return b.String(), rest
		}
		b.WriteString(text[from:at])
		b.WriteString(veiled)
		at += len(secrets[i])
		from = at
	}
	b.WriteString(text[from:])
	return b.String(), ""
}

func hideIn(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, veiled)
	}
	return text
}

// hideInDelta is a delta that is no piece of a text, without secrets. What is
// behind the pointers of d isn't changed.
func hideInDelta(d Delta, secrets []string) Delta {
	d.Text = hideIn(d.Text, secrets)
	d.Details = hideInJSON(d.Details, secrets)
	if d.Call != nil {
		call := *d.Call
		call.ID, call.Name, call.Args = hideIn(call.ID, secrets), hideIn(call.Name, secrets), hideInJSON(call.Args, secrets)
		d.Call = &call
	}
	if len(d.Annotations) > 0 {
		d.Annotations = slices.Clone(d.Annotations)
		for i, a := range d.Annotations {
			d.Annotations[i] = hideInJSON(a, secrets)
		}
	}
	return d
}

// hideInJSON takes secrets out of the strings of a value. Where there are none
// it stays as it was written, byte by byte: signatures hang on that.
func hideInJSON(raw json.RawMessage, secrets []string) json.RawMessage {
	suspect := bytes.IndexByte(raw, '\\') >= 0 // an escape may stand in the middle of a secret
	for _, secret := range secrets {
		suspect = suspect || bytes.Contains(raw, []byte(secret))
	}
	if !suspect {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return json.RawMessage(hideIn(string(raw), secrets))
	}
	value, found := hideInValue(value, secrets)
	if !found {
		return raw
	}
	out, err := json.Marshal(value)
	if err != nil { // what was decoded encodes
		return nil
	}
	return out
}

func hideInValue(value any, secrets []string) (out any, found bool) {
	switch v := value.(type) {
	case string:
		hidden := hideIn(v, secrets)
		return hidden, hidden != v
	case []any:
		for i := range v {
			var here bool
			v[i], here = hideInValue(v[i], secrets)
			found = found || here
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner, here := hideInValue(v[key], secrets)
			name := hideIn(key, secrets)
			if name != key {
				delete(v, key)
			}
			v[name] = inner
			found = found || here || name != key
		}
	}
	return value, found
}

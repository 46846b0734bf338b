package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"sync"

	"github.com/fettle-cli/fettle/engine/provider"
)

// providerName is the part before the slash.
const providerName = "script"

// Options are the choices of New.
type Options struct {
	// Dir is what relative names are relative to; "" is the working folder.
	Dir string
	// FS holds the scripts whose names begin with a colon; nil has none.
	FS fs.FS
	// Instant leaves the waits of all scripts out, as `instant: true` does for
	// one.
	Instant bool
	// Named reports whether the user has named a file as a model: a model that is
	// a file is read, and may repeat what it contains, so other sources of model
	// names (clients, bundles, stored chats) must not choose it. nil plays every
	// file. Names in FS are always played. It must be safe for concurrent use.
	Named func(name string) bool
	// Terse leaves the content of scripts out of errors. It is for programs that show
	// errors to users other than the author of the script.
	Terse bool
}

// errNotNamed is the cause of an error for a file that Options.Named refuses. It is
// returned before the file is looked for, so it does not depend on whether the file
// exists.
var errNotNamed = errors.New("a model that is a file is used only where the command line or the configuration of the user names it")

// Provider plays scripts. It is safe for concurrent use.
type Provider struct {
	o     Options
	mu    sync.Mutex
	clock uint64 // counts uses, so that the least recent one is known
	files map[string]*file
}

var _ provider.Provider = (*Provider)(nil)

// New makes a provider; it reads nothing yet.
func New(o Options) *Provider { return &Provider{o: o} }

// Name is "script".
func (p *Provider) Name() string { return providerName }

// Model reads the script and tells what it says of itself. Its errors are
// *provider.Error: of kind UnknownModel where there is no such file, and of
// kind Rejected, with a *LoadError where the file's text is at fault.
func (p *Provider) Model(ctx context.Context, name string) (provider.Model, error) {
	if ctx.Err() != nil {
		return provider.Model{}, &provider.Error{
			Kind: provider.Broken, Provider: providerName, Model: name, Err: context.Cause(ctx),
		}
	}
	s, err := p.load(name)
	if err != nil {
		return provider.Model{}, p.unread(name, err)
	}
	details := "a written script"
	if len(s.recorded) > 0 {
		details = "a recording"
	}
	if s.title != "" {
		details = clean(s.title) + ", " + details
	}
	return provider.Model{
		Provider: providerName, Name: name, Details: details, ContextLength: s.context,
		Tools: s.tools.known, Images: s.images.known, Schema: s.schema.known, Thinking: s.thinking.known,
	}, nil
}

// Stream plays the response that the script has for the request.
func (p *Provider) Stream(ctx context.Context, req *provider.Request) iter.Seq2[[]provider.Delta, error] {
	if req.Completion != nil {
		req = questionOf(req)
	}
	return func(yield func([]provider.Delta, error) bool) {
		pl := player{ctx: ctx, model: req.Model}
		if ctx.Err() != nil {
			yield(nil, pl.stopped())
			return
		}
		s, err := p.load(req.Model)
		if err != nil {
			yield(nil, p.unread(req.Model, err))
			return
		}
		if refused := s.refuses(req); refused != nil {
			yield(nil, pl.error(*refused))
			return
		}
		m := momentOf(req)
		r := s.choose(m)
		if r == nil {
			yield(nil, pl.error(provider.Error{Kind: provider.Rejected, Message: s.missing(m)}))
			return
		}
		if unmet := r.expect.unmet(req); unmet != "" {
			if p.o.Terse {
				unmet = "the request is not what this response expects"
			}
			yield(nil, pl.error(provider.Error{
				Kind: provider.Rejected, Message: fmt.Sprintf("%s:%d: %s", clean(s.file), r.line, unmet),
			}))
			return
		}
		pl.response, pl.answers, pl.instant = r, m.answers, s.instant || p.o.Instant
		pl.play(yield)
	}
}

// refuses tells why a model of these abilities can't take the request; nil
// where it can.
func (s *script) refuses(req *provider.Request) *provider.Error {
	uses := func(what ability, feature provider.Feature, does bool) *provider.Error {
		if !what.refuses || !does {
			return nil
		}
		return &provider.Error{
			Kind: provider.Unsupported, Feature: feature,
			Message: fmt.Sprintf("%s does not support %s", clean(s.file), feature),
		}
	}
	for _, e := range []*provider.Error{
		uses(s.tools, provider.FeatureTools, len(req.Tools) > 0),
		uses(s.images, provider.FeatureImages, hasImage(req)),
		uses(s.thinking, provider.FeatureThinking, req.Think != nil && *req.Think),
		uses(s.schema, provider.FeatureSchema, req.Schema != nil),
	} {
		if e != nil {
			return e
		}
	}
	if s.context > 0 && req.Tokens > s.context {
		return &provider.Error{
			Kind:    provider.ContextFull,
			Message: fmt.Sprintf("the request has about %d tokens and %s takes %d", req.Tokens, clean(s.file), s.context),
		}
	}
	return nil
}

func hasImage(req *provider.Request) bool {
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if part.HasImage() {
				return true
			}
		}
	}
	return false
}

// unread returns the error for a script that cannot be read.
func (p *Provider) unread(name string, err error) error {
	e := &provider.Error{Kind: provider.Rejected, Provider: providerName, Model: name, Err: err}
	var broken *LoadError
	switch {
	case errors.As(err, &broken):
		e.Message = broken.Error()
		if p.o.Terse {
			e.Message = broken.place() + ": the script is not valid"
			e.Err = nil // its text quotes the file
		}
	case errors.Is(err, errNotNamed):
		e.Kind, e.Message = provider.UnknownModel, err.Error()
	case errors.Is(err, errNoScript):
		e.Kind, e.Message = provider.UnknownModel, err.Error()
	case errors.Is(err, fs.ErrNotExist):
		e.Kind, e.Message = provider.UnknownModel, "there is no file "+clean(name)
	default:
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err // its text repeats the whole path
		}
		e.Message = "read " + clean(name) + ": " + clean(err.Error())
	}
	return e
}

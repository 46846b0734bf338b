package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// parserTime bounds the parser of one payload. It turns a text into JSON, so
// the time is for Python's start on a busy machine; the answer waits meanwhile.
const parserTime = 20 * time.Second

// showcase is what payloads and pages there are.
type showcase struct {
	reg   *payloads.Registry
	types map[typeKey]*shownType
	// problems are what toolsets bring that can't be used, or not by all.
	problems []payloads.Problem
}

// typeKey names a type as one toolset defines it.
type typeKey struct{ set, kind string }

// shownType is what a turn needs of a type beside its Config.
type shownType struct {
	payload manifest.Payload
	dir     string // of its toolset's files
	parser  toolset.Runner
	problem string // why the parser can't be run
}

// newShowcase gathers the payloads and pages of the toolsets that can be used.
func (e *Engine) newShowcase(sets []registry.MirrorToolset) *showcase {
	s := &showcase{types: map[typeKey]*shownType{}}
	var bring []payloads.Set
	for i := range sets {
		set := &sets[i]
		if !set.Usable() || len(set.Payloads)+len(set.Pages) == 0 {
			continue
		}
		own := payloads.Set{Name: set.ID, Pages: pagesOf(set.Pages)}
		for j := range set.Payloads {
			p := &set.Payloads[j]
			own.Payloads = append(own.Payloads, configOf(p.Payload))
			t := &shownType{payload: p.Payload, dir: filepath.Join(e.o.DataDir, filepath.FromSlash(set.Dir))}
			if p.Parser != nil {
				t.parser, t.problem = e.parserOf(set, p.Parser)
			}
			s.types[typeKey{set.ID, p.Payload.Type}] = t
		}
		bring = append(bring, own)
	}
	s.reg, s.problems = payloads.New(bring...)
	return s
}

func (e *Engine) parserOf(set *registry.MirrorToolset, m *registry.MirrorTool) (toolset.Runner, string) {
	if m.Problem != "" {
		return nil, m.Problem
	}
	run, err := e.o.Runner(set, m)
	if err != nil {
		return nil, err.Error()
	}
	return run, ""
}

// configOf is a payload of a manifest as the registry of payloads has it.
func configOf(p manifest.Payload) payloads.Config {
	c := payloads.Config{
		Type: p.Type, ParseMarker: p.ParseMarker, LLMInstructions: p.LLMInstructions, Schema: p.Schema,
		Parser: p.Parser, RelevantTabs: p.RelevantTabs,
	}
	if p.Renderer != nil {
		c.Renderer, _ = record.Marshal(p.Renderer) // strings and valid JSON can't fail
	}
	if o := p.RenderOptions; o != nil {
		c.RenderOptions = &payloads.RenderOptions{PanelWidth: o.PanelWidth, HeaderTitle: o.HeaderTitle, HeaderIcon: o.HeaderIcon}
	}
	if o := p.Style; o != nil {
		c.Style = &payloads.Style{Icon: o.Icon, Colour: o.Colour, Label: o.Label, Editable: o.Editable}
	}
	return c
}

func pagesOf(all []manifest.Page) []payloads.Page {
	out := make([]payloads.Page, len(all))
	for i, p := range all {
		out[i] = payloads.Page{ID: p.ID, Name: p.Name, Context: p.Context, Payloads: p.Payloads}
		for _, a := range p.ClientActions {
			out[i].ClientActions = append(out[i].ClientActions, payloads.Action{
				Action: a.Action, Label: a.Label, Description: a.Description, InputSchema: a.InputSchema,
			})
		}
	}
	return out
}

// owner is the toolset whose definition of a type holds for a toolset: its own,
// else the one that is always known, else the first that has one.
func (s *showcase) owner(set, kind string) string {
	if s.types[typeKey{set, kind}] != nil {
		return set
	}
	if _, known := builtinPayload(kind); known {
		return ""
	}
	first := ""
	for key := range s.types {
		if key.kind == kind && (first == "" || key.set < first) {
			first = key.set
		}
	}
	return first
}

// find gives what is known of a type as it holds for a toolset; nil for one that
// no toolset defines.
func (s *showcase) find(set, kind string) *shownType {
	return s.types[typeKey{s.owner(set, kind), kind}]
}

func builtinPayload(kind string) (payloads.Config, bool) {
	all := payloads.Builtin()
	i := slices.IndexFunc(all, func(c payloads.Config) bool { return c.Type == kind })
	if i < 0 {
		return payloads.Config{}, false
	}
	return all[i], true
}

// parse runs the parser of a type on what a model wrote behind its marker.
func (s *showcase) parse(ctx context.Context, set string, c payloads.Config, text string) (string, json.RawMessage, error) {
	t := s.find(set, c.Type)
	switch {
	case t == nil || t.parser == nil && t.problem == "":
		return "", nil, errors.New("its parser is not there")
	case t.problem != "":
		return "", nil, errors.New("its parser can't be run: " + t.problem)
	}
	args, err := record.Marshal(map[string]string{"text": text})
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, parserTime)
	defer cancel()
	res, err := t.parser.Run(ctx, toolset.Call{Args: args})
	if err != nil {
		return "", nil, err
	}
	var out struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(res.Data, &out) != nil || out.Type == "" || len(out.Data) == 0 {
		return "", nil, errors.New("its parser gave no {type, data}")
	}
	return out.Type, out.Data, nil
}

// PayloadType is one type of payload, as it holds for one toolset.
type PayloadType struct {
	// Toolset defines it; empty for one that is always known.
	Toolset string `json:"toolset_id,omitempty"`
	payloads.Config
	OnAccept *manifest.Reaction `json:"on_accept,omitempty"`
	OnReject *manifest.Reaction `json:"on_reject,omitempty"`
}

// PayloadTypes lists all types that are known, the toolsets' own first, and what
// of those can't be used.
func (e *Engine) PayloadTypes(ctx context.Context) ([]PayloadType, []payloads.Problem, error) {
	box, err := e.toolbox(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []PayloadType
	keys := make([]typeKey, 0, len(box.shows.types))
	for key := range box.shows.types {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b typeKey) int {
		return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.kind, b.kind))
	})
	for _, key := range keys {
		if c, ok := box.shows.reg.Lookup(key.kind, key.set); ok {
			t := box.shows.types[key]
			out = append(out, PayloadType{Toolset: key.set, Config: c, OnAccept: t.payload.OnAccept, OnReject: t.payload.OnReject})
		}
	}
	for _, c := range payloads.Builtin() {
		out = append(out, PayloadType{Config: c})
	}
	return out, box.shows.problems, nil
}

// Page is one page that a toolset brings.
type Page struct {
	Toolset string `json:"toolset_id"`
	manifest.Page
}

// Pages lists the pages of the toolsets that can be used.
func (e *Engine) Pages(ctx context.Context) ([]Page, error) {
	if e.o.Runner == nil {
		return nil, nil
	}
	want := registry.None()
	want.Toolset = func(t *registry.IndexedToolset) bool { return t.Shows }
	m, err := e.mirrorOf(ctx, want)
	if err != nil {
		return nil, err
	}
	var out []Page
	for i := range m.Toolsets {
		if set := &m.Toolsets[i]; set.Usable() {
			for _, p := range set.Pages {
				out = append(out, Page{Toolset: set.ID, Page: p})
			}
		}
	}
	return out, nil
}

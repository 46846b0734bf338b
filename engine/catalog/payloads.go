package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/payloads"
	"github.com/fettle-cli/fettle/internal/record"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/registry"
	"github.com/fettle-cli/fettle/toolset/render"
)

// parserTime bounds the parser of one payload. It turns a text into JSON, so
// the time is for Python's start on a busy machine; the answer waits meanwhile.
const parserTime = 20 * time.Second

// Payloads are the payload types and pages of the toolsets that can be used.
type Payloads struct {
	// Registry reads payloads out of answers and chooses those of a page.
	Registry *payloads.Registry
	types    map[typeKey]*shownType
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

// newPayloads gathers the payloads and pages of the toolsets that can be used.
func (c *Catalog) newPayloads(sets []registry.MirrorToolset) *Payloads {
	s := &Payloads{types: map[typeKey]*shownType{}}
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
			t := &shownType{payload: p.Payload, dir: filepath.Join(c.store.Options.DataDir, filepath.FromSlash(set.Dir))}
			if p.Parser != nil {
				t.parser, t.problem = c.parserOf(set, p.Parser)
			}
			s.types[typeKey{set.ID, p.Payload.Type}] = t
		}
		bring = append(bring, own)
	}
	s.Registry, s.problems = payloads.New(bring...)
	return s
}

func (c *Catalog) parserOf(set *registry.MirrorToolset, m *registry.MirrorTool) (toolset.Runner, string) {
	if m.Problem != "" {
		return nil, m.Problem
	}
	run, err := c.o.Runner(set, m)
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

// Owner is the toolset whose definition of a type holds for a toolset: its own,
// else the one that is always known, else the first that has one.
func (s *Payloads) Owner(set, kind string) string {
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
func (s *Payloads) find(set, kind string) *shownType {
	return s.types[typeKey{s.Owner(set, kind), kind}]
}

func builtinPayload(kind string) (payloads.Config, bool) {
	all := payloads.Builtin()
	i := slices.IndexFunc(all, func(c payloads.Config) bool { return c.Type == kind })
	if i < 0 {
		return payloads.Config{}, false
	}
	return all[i], true
}

// Parse runs the parser of a type on what a model wrote behind its marker.
func (s *Payloads) Parse(ctx context.Context, set string, c payloads.Config, text string) (string, json.RawMessage, error) {
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
func (c *Catalog) PayloadTypes(ctx context.Context) ([]PayloadType, []payloads.Problem, error) {
	box, err := c.Toolbox(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []PayloadType
	keys := make([]typeKey, 0, len(box.Payloads.types))
	for key := range box.Payloads.types {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b typeKey) int {
		return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.kind, b.kind))
	})
	for _, key := range keys {
		if c, ok := box.Payloads.Registry.Lookup(key.kind, key.set); ok {
			t := box.Payloads.types[key]
			out = append(out, PayloadType{Toolset: key.set, Config: c, OnAccept: t.payload.OnAccept, OnReject: t.payload.OnReject})
		}
	}
	for _, c := range payloads.Builtin() {
		out = append(out, PayloadType{Config: c})
	}
	return out, box.Payloads.problems, nil
}

// Page is one page that a toolset brings.
type Page struct {
	Toolset string `json:"toolset_id"`
	manifest.Page
}

// Pages lists the pages of the toolsets that can be used.
func (c *Catalog) Pages(ctx context.Context) ([]Page, error) {
	if c.o.Runner == nil {
		return nil, nil
	}
	want := registry.None()
	want.Toolset = func(t *registry.IndexedToolset) bool { return t.Shows }
	m, err := c.mirrorOf(ctx, want)
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

// Reaction returns what follows a verdict on a payload of a toolset's type; nil is nothing.
func (s *Payloads) Reaction(set, kind string, v chat.Verdict) *manifest.Reaction {
	t := s.find(set, kind)
	switch {
	case t == nil:
		return nil
	case v == chat.Accepted:
		return t.payload.OnAccept
	}
	return t.payload.OnReject
}

// Plan returns how a payload is shown: by the renderer and with the look of its type; nil
// where a toolset defines neither.
func (s *Payloads) Plan(p event.Payload, chatID string, ws *toolset.Workspace) *render.Plan {
	t := s.find(p.Toolset, p.Kind)
	if t == nil {
		return nil
	}
	look := t.look()
	if t.payload.Renderer == nil {
		if look == nil {
			return nil
		}
		return &render.Plan{Config: json.RawMessage("{}"), Look: look}
	}
	v := render.Values{Return: p.Data, ChatID: chatID, Toolset: t.dir}
	if ws != nil {
		v.Workspace = ws.Path
	}
	plan := render.Make(t.payload.Renderer.Type, t.payload.Renderer.Config(), v)
	plan.Look = look
	return &plan
}

// look returns how the type's toolset makes payloads look; nil where it leaves that to
// clients.
func (t *shownType) look() *render.Look {
	var l render.Look
	if s := t.payload.Style; s != nil {
		l = render.Look{Icon: s.Icon, Colour: s.Colour, Label: s.Label, Editable: s.Editable}
	}
	if o := t.payload.RenderOptions; o != nil {
		l.HeaderTitle, l.HeaderIcon, l.PanelWidth = o.HeaderTitle, o.HeaderIcon, o.PanelWidth
	}
	if l == (render.Look{}) {
		return nil
	}
	return &l
}

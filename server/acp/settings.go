package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/catalog"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// The settings of a session. anyModel is the value of a model that fettle chooses: a
// model's own name has a slash. usualEffort leaves the reasoning effort to the
// configuration and the model.
const (
	agentOption  = "agent"
	modelOption  = "model"
	effortOption = "effort"
	anyModel     = "auto"
	usualEffort  = "default"
)

const (
	// maxModels bounds the models that an editor lists; some providers have
	// hundreds, and a menu isn't where one looks through them.
	maxModels = 300
	// modelsWait is how long opening a session waits for the lists of providers.
	// Those on this machine answer within it, and the others' are kept.
	modelsWait = time.Second
	// modelsFresh is how long a list is shown before providers are asked again.
	modelsFresh = 5 * time.Minute
)

// modelChoices are the models to choose from, as they were last listed.
type modelChoices struct {
	mu   sync.Mutex
	list []configChoice
	// efforts has an entry for each listed model, also for those that the list has no room
	// for: its reasoning levels, where they are known. It is nil before a list is there.
	efforts map[string]provider.Levels
	// silent are the providers that failed to list their models.
	silent map[string]bool
	asked  time.Time
	done   chan struct{} // closed when the list that is being had is there
	// changes counts how often the list has changed.
	changes int
}

// refresh asks for the models, if it is time to.
func (m *modelChoices) refresh(a *agent) {
	if a.o.Models == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done != nil || !m.asked.IsZero() && a.o.Now().Sub(m.asked) < modelsFresh {
		return
	}
	done := make(chan struct{})
	m.done = done
	a.background.Go(func() {
		list, efforts, silent := a.listModels()
		m.mu.Lock()
		changed := !slices.Equal(list, m.list)
		m.list, m.efforts, m.silent, m.asked, m.done = list, efforts, silent, a.o.Now(), nil
		if changed {
			m.changes++
		}
		m.mu.Unlock()
		close(done)
		if changed {
			a.sayOptionsToAll()
		}
	})
}

// listModels asks the providers for their models. silent are those that failed.
func (a *agent) listModels() (list []configChoice, efforts map[string]provider.Levels, silent map[string]bool) {
	lists, err := a.o.Models.List(a.base, models.Query{})
	if err != nil {
		a.log.Warn("the models can't be listed", "error", err.Error())
		return nil, nil, nil
	}
	efforts, silent = make(map[string]provider.Levels), make(map[string]bool)
	for _, l := range lists {
		if l.Err != nil {
			silent[l.Provider] = true
		}
		for _, m := range l.Models {
			if m.Chats == provider.No {
				continue
			}
			ref := l.Provider + "/" + m.Name
			efforts[ref] = m.Efforts
			list = append(list, configChoice{Value: ref, Name: sanitize.Line(ref), Description: sanitize.Line(m.Details)})
		}
	}
	return list[:min(len(list), maxModels)], efforts, silent
}

// isUnlisted reports whether a model is known not to exist: the lists are there, and none
// has it. Of a provider that failed to list its models it is not known.
func (m *modelChoices) isUnlisted(ref string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, listed := m.efforts[ref]
	from, _, _ := strings.Cut(ref, "/")
	return m.efforts != nil && !listed && !m.silent[from]
}

// levels returns the reasoning levels to choose from: the model's where they are known.
func (m *modelChoices) levels(ref string) []provider.Effort {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.efforts[ref].List(); len(known) > 0 {
		return known
	}
	return provider.Efforts()
}

// choices gives the list, after a short wait where it is being had.
func (m *modelChoices) choices(ctx context.Context, wait time.Duration) []configChoice {
	m.mu.Lock()
	done, have := m.done, len(m.list) > 0
	m.mu.Unlock()
	if done != nil && !have && wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-done:
		case <-t.C:
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.list
}

func (m *modelChoices) changed() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// settings are what can be chosen in a session, with what is.
func (a *agent) settings(ctx context.Context, s *session) (sessionResult, error) {
	a.models.refresh(a)
	agents, err := a.agents(ctx, s)
	if err != nil {
		return sessionResult{}, err
	}
	s.listed = a.models.changed() // before the list itself: told twice is better than never
	return sessionResult{Modes: a.modes(s), Options: a.options(ctx, s, agents, modelsWait)}, nil
}

// agents are the agents, and none, as an option.
func (a *agent) agents(ctx context.Context, s *session) (configOption, error) {
	all, err := a.eng.AllAgents(ctx)
	if err != nil {
		return configOption{}, err
	}
	out := configOption{ID: agentOption, Name: "Agent", Category: "_agent", Type: "select", Current: s.choice().agent, Options: []configChoice{
		{Value: catalog.NoAgent, Name: "Plain", Description: "The model with fettle's tools, and no agent"},
	}}
	there := out.Current == catalog.NoAgent
	if all != nil {
		for _, g := range all.All() {
			name := g.Name
			if name == "" {
				name = g.BareID()
			}
			out.Options = append(out.Options, configChoice{Value: g.ID, Name: sanitize.Line(name), Description: sanitize.Cut(sanitize.Line(g.Purpose), maxShownName)})
			there = there || g.ID == out.Current
		}
	}
	if !there { // its toolset was removed meanwhile
		out.Current = catalog.NoAgent
	}
	return out, nil
}

// options returns the agent, the model, its reasoning effort, the mode of approvals and where
// commands run as settings. An editor that supports settings shows no modes.
func (a *agent) options(ctx context.Context, s *session, agents configOption, wait time.Duration) []configOption {
	c := s.choice()
	models := configOption{ID: modelOption, Name: "Model", Category: "model", Type: "select", Current: c.model}
	auto := configChoice{Value: anyModel, Name: "Automatic", Description: "The configured model, else the best that is there"}
	if c.answered != "" && c.model == "" {
		auto.Description = "Now " + sanitize.Line(c.answered)
	}
	models.Options = append(models.Options, auto)
	models.Options = append(models.Options, a.models.choices(ctx, wait)...)
	if models.Current == "" {
		models.Current = anyModel
	}
	if !slices.ContainsFunc(models.Options, func(o configChoice) bool { return o.Value == models.Current }) {
		models.Options = append(models.Options, configChoice{Value: models.Current, Name: sanitize.Line(models.Current)})
	}
	out := []configOption{agents, models, a.effortOption(c), a.modeOption(s)}
	if a.client.Terminal {
		out = append(out, terminalChoice(c))
	}
	return out
}

// effortOption offers the reasoning levels of a session's model.
func (a *agent) effortOption(c choice) configOption {
	out := configOption{
		ID: effortOption, Name: "Reasoning effort", Category: "thought_level", Type: "select", Current: cmp.Or(string(c.effort), usualEffort),
		Options: []configChoice{{Value: usualEffort, Name: "Default", Description: "What the configuration sets for the model, else the model's own"}},
	}
	levels := a.models.levels(cmp.Or(c.model, c.answered))
	if c.effort != "" && !slices.Contains(levels, c.effort) {
		levels = append(levels, c.effort)
	}
	for _, e := range levels {
		out.Options = append(out.Options, configChoice{Value: string(e), Name: string(e)})
	}
	return out
}

// chooseEffort sets the reasoning effort of the prompts that follow.
func (a *agent) chooseEffort(s *session, value string) error {
	var e provider.Effort
	if value != usualEffort {
		var err error
		if e, err = provider.ParseEffort(value); err != nil {
			return &rpcError{Code: codeParams, Message: "a reasoning effort: " + err.Error() + ", or " + usualEffort}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.effort = e
	return nil
}

func (a *agent) setMode(r *request) (any, func(), error) {
	var p setModeParams
	if err := read(r.params, &p); err != nil {
		return nil, nil, err
	}
	s, err := a.session(p.SessionID)
	if err == nil {
		err = a.chooseMode(s, p.ModeID)
	}
	return struct{}{}, func() { a.sayOptions(s) }, err
}

// chooseAgent takes an agent for the prompts that follow.
func (a *agent) chooseAgent(ctx context.Context, s *session, id string) error {
	agents, err := a.agents(ctx, s)
	if err != nil {
		return err
	}
	var names []string
	for _, o := range agents.Options {
		if o.Value == id {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.agent = id
			return nil
		}
		names = append(names, o.Value)
	}
	return &rpcError{Code: codeParams, Message: "there is no agent " + sanitize.Cut(sanitize.Line(id), maxShownName) + "; there are " + sanitize.Cut(strings.Join(names, ", "), maxShownName)}
}

func (a *agent) setOption(r *request) (any, func(), error) {
	var p setOptionParams
	if err := read(r.params, &p); err != nil {
		return nil, nil, err
	}
	s, err := a.session(p.SessionID)
	if err != nil {
		return nil, nil, err
	}
	var value string
	if json.Unmarshal(p.Value, &value) != nil || value == "" {
		return nil, nil, &rpcError{Code: codeParams, Message: "params.value has to be the value of one of the options"}
	}
	after := func() {}
	switch p.ConfigID {
	case agentOption:
		if err := a.chooseAgent(r.ctx, s, value); err != nil {
			return nil, nil, err
		}
	case approvalsOption:
		if err := a.chooseMode(s, value); err != nil {
			return nil, nil, err
		}
		after = func() { a.update(s, update{Kind: "current_mode_update", ModeID: value}) }
	case modelOption:
		if err := a.chooseModel(r.ctx, s, value); err != nil {
			return nil, nil, err
		}
	case effortOption:
		if err := a.chooseEffort(s, value); err != nil {
			return nil, nil, err
		}
	case terminalOption:
		if err := a.chooseTerminal(s, value); err != nil {
			return nil, nil, err
		}
	default:
		return nil, nil, &rpcError{Code: codeParams, Message: "there is no option " + sanitize.Cut(sanitize.Line(p.ConfigID), maxShownName)}
	}
	agents, err := a.agents(r.ctx, s)
	if err != nil {
		return nil, nil, err
	}
	return optionsResult{a.options(r.ctx, s, agents, 0)}, after, nil
}

// maxRef bounds the name of a model.
const maxRef = 512

// chooseModel sets the model of the prompts that follow. A model that no provider lists is
// refused, except for the session's own and the configured one, which may be listed nowhere.
func (a *agent) chooseModel(ctx context.Context, s *session, ref string) error {
	if ref == anyModel {
		ref = ""
	} else if !strings.Contains(ref, "/") || len(ref) > maxRef || sanitize.Line(ref) != ref {
		return &rpcError{Code: codeParams, Message: "a model is named PROVIDER/NAME, such as ollama/qwen3"}
	}
	if ref != "" && ref != a.o.Model && ref != s.choice().model {
		a.models.choices(ctx, modelsWait)
		if a.models.isUnlisted(ref) {
			return &rpcError{Code: codeParams, Message: "there is no model " + sanitize.Cut(ref, maxShownName) + ": no provider that is set up lists it; choose one of the options"}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = ref
	return nil
}

// sayOptions tells an editor of settings that it hasn't chosen by that way.
func (a *agent) sayOptions(s *session) {
	agents, err := a.agents(a.base, s)
	if err != nil {
		a.log.Warn("the agents can't be listed", "error", err.Error())
		return
	}
	a.update(s, update{Kind: "config_option_update", Options: a.options(a.base, s, agents, 0)})
}

func (a *agent) sayOptionsToAll() {
	a.mu.Lock()
	all := make([]*session, 0, len(a.sessions))
	for _, s := range a.sessions {
		if s.known {
			all = append(all, s)
		}
	}
	a.mu.Unlock()
	for _, s := range all {
		a.sayOptions(s)
	}
}

// update tells the editor something of a session.
func (a *agent) update(s *session, u update) {
	a.conn.notify("session/update", updateParams{s.id, u})
}

package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// assembly is what a request to a model is made of; assemble is a pure
// function of it (document 002's request assembly).
type assembly struct {
	model   string // without the provider
	ref     string // with it
	system  string
	history []chat.Message // from the root; the last one is the person's message
	from    []int          // the places that they have in the conversation; nil where these
	// answer is what the turn has answered so far, for all steps but the first.
	answer *chat.Message
	tools  []provider.ToolSpec
	// extra follows the history: what a repair round says of a wrong answer.
	extra  []provider.Message
	schema json.RawMessage
	think  *bool
	// params are the question's over the model's.
	params   provider.Params
	sampling provider.Sampling
	hints    provider.Hints
	mustCall string // the name of a tool, or provider.AnyTool
	// native is for a provider that keeps the agents itself; nil elsewhere.
	native *provider.Native
	// name gives the name by which the model knows a tool id.
	name func(toolID string) string
	// thoughtEnd is the request's own.
	thoughtEnd string
	// sounds is set if the model takes sounds.
	sounds bool
	// without are features that the model turned out to lack.
	without map[provider.Feature]bool
	// agent is who is asked, where there are several; nil without agents.
	agent *store.Agent
	// begins is where the part of the answer begins that belongs to the
	// question: before it stand other steps of a workflow.
	begins int
	// since is the step of the answer from which on this model has spoken.
	since int
	// plan reports that the model is asked in plan mode.
	plan bool
	// cards tells of payloads that were shown, and of what became of them.
	cards cardsTold
	// fit is what gave way so that the request fits; nil where nothing did.
	fit *fitting
}

// assemble puts a request together in document 002's order: the system
// message, the normalised history, the context files before the latest user
// message, that message with the documents that it names, and the tools.
func assemble(a assembly) *provider.Request {
	req := &provider.Request{Model: a.model, System: a.system, Temperature: a.params.Temperature, MaxTokens: a.params.MaxTokens, Sampling: a.sampling, Hints: a.hints, Native: a.native, ThoughtEnd: a.thoughtEnd}
	if a.agent != nil {
		req.System = a.agentSystem()
	}
	for _, m := range a.place() {
		req.Messages = append(req.Messages, m.Message)
	}
	req.Messages = append(req.Messages, a.extra...)
	if !a.without[provider.FeatureTools] {
		req.Tools, req.MustCall = a.tools, a.mustCall
	}
	if a.schema == nil || a.without[provider.FeatureSchema] {
		req.FormatName, req.FormatDescription, req.FormatStrict = "", "", nil
	}
	switch {
	case a.schema == nil:
	case a.without[provider.FeatureSchema]:
		req.System = strings.TrimLeft(req.System+"\n\nAnswer with JSON alone that matches this JSON Schema:\n"+string(a.schema), "\n")
	default:
		req.Schema = a.schema
	}
	if !a.without[provider.FeatureThinking] {
		req.Think, req.Effort = a.think, a.params.Effort
	}
	req.Tokens = estimate(req)
	return req
}

// placed is a message of a request with what it was made of.
type placed struct {
	provider.Message
	// from is the place in the history of what it is, or one of the others.
	from int
	// step is the step of the answer that it is of, where it is of that.
	step int
}

// What a placed message is of beside the history.
const (
	ofSummary = -1 - iota // what stands for older messages
	ofWork                // what other agents have done
	ofAnswer              // what the turn has answered so far
	ofSince               // what stands for the first steps of that
)

// place gives the messages of a request, all but the extra ones.
func (a assembly) place() []placed {
	var out []placed
	add := func(from int, messages ...provider.Message) {
		for _, m := range messages {
			out = append(out, placed{Message: m, from: from})
		}
	}
	seen := a.seen()
	if !a.seesTurn() {
		add(ofSummary, a.fit.summaryMessage()...)
	}
	for i, m := range seen {
		m.Plan = a.inPlan(seen, i)
		if i < len(seen)-1 && a.fit.leavesOldImages() {
			m = withoutImages(m)
		}
		switch {
		case m.Role != provider.User && hasAgents(m):
			add(a.at(i), a.answerAlone(m)...)
		case m.Role != provider.User:
			add(a.at(i), a.answered(m)...)
		case i == len(seen)-1:
			add(ofWork, a.work()...)
			add(a.at(i), a.asked(m)...)
		default:
			add(a.at(i), a.asked(m)...)
		}
	}
	if a.answer == nil {
		return out
	}
	own := a.own()
	since, left := a.fit.sinceMessage(own)
	add(ofSince, since...)
	own.Parts = left
	for _, parts := range byStep(own.Parts) {
		for _, m := range a.stepMessages(parts, a.live) {
			out = append(out, placed{m, ofAnswer, parts[0].Step})
		}
	}
	return out
}

// planText tells the model of plan mode. It is part of the question that it applies to, in
// later requests too, so that a cached prefix stays the same.
const planText = "[Plan mode is on for this message: calls can only read the workspace, and all others are refused. " +
	"Look at what you need, then answer with a plan of the changes that you would make. The user decides about it.]"

// AcceptPlan is the user's message by which a plan is accepted. The turn that it begins is
// not in plan mode; see [TurnRequest.Plan].
const AcceptPlan = "I accept the plan. Carry it out."

// inPlan reports whether message i is a question that was asked in plan mode: as its answer
// was given, the last one as the model is asked now.
func (a assembly) inPlan(seen []chat.Message, i int) bool {
	switch {
	case seen[i].Role != provider.User || seen[i].AnswersCalls():
		return false
	case i == len(seen)-1:
		return a.plan
	}
	return seen[i+1].Plan
}

// withoutImages returns a message with a line of text in place of each image.
func withoutImages(m chat.Message) chat.Message {
	m.Parts = slices.Clone(m.Parts)
	for i, p := range m.Parts {
		switch {
		case p.Kind == provider.ImagePart:
			m.Parts[i] = provider.Part{Kind: provider.TextPart, Step: p.Step, Text: "(an image, which was left out)"}
		case p.HasImage():
			r := *p.Result
			r.Text, r.Media = mediaLeftOut(r.Text, r.Media, "since the provider refused an image"), nil
			m.Parts[i].Result = &r
		}
	}
	return m
}

// asked gives a person's message: files in a message of their own before it,
// then what it names as doc:<id>, images and text.
func (a assembly) asked(m chat.Message) []provider.Message {
	var files, own []provider.Part
	for _, p := range m.Parts {
		switch p.Kind {
		case provider.FilePart:
			block := provider.Part{Kind: provider.TextPart, Text: fileBlock(p)}
			if p.Doc != "" {
				own = append(own, block)
			} else {
				files = append(files, block)
			}
		case provider.ImagePart:
			if !a.without[provider.FeatureImages] {
				own = append(own, p)
			}
		case provider.TextPart:
			if p.Text != "" {
				own = append(own, p)
			}
		}
	}
	own = append(a.cards.before(m), own...)
	if m.Plan {
		own = append([]provider.Part{{Kind: provider.TextPart, Text: planText + "\n"}}, own...)
	}
	var out []provider.Message
	if len(files) > 0 {
		out = append(out, provider.Message{Role: provider.User, Parts: files})
	}
	if len(files)+len(own) == 0 && len(m.Parts) > 0 { // a request needs a question
		own = append(own, provider.Part{Kind: provider.TextPart, Text: "(an image, which was left out)"})
	}
	if len(own) > 0 {
		out = append(out, provider.Message{Role: provider.User, Parts: own})
	}
	return out
}

// fileBlock shows a context file to the model, or a document under the
// reference that names it. The name can't close its attribute, and a content
// that holds the closing tag gets a longer one.
func fileBlock(p provider.Part) string {
	tag, attribute := "file", "name"
	if p.Doc != "" {
		tag, attribute, p.Name = "document", "id", p.Doc
	}
	for strings.Contains(p.Text, "</"+tag+">") {
		tag += "_"
	}
	name := strings.NewReplacer(`"`, "'", "\n", " ", "\r", " ", "<", "(", ">", ")").Replace(p.Name)
	text := p.Text
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return "<" + tag + " " + attribute + `="` + name + "\">\n" + text + "</" + tag + ">"
}

// answered splits an answer into the messages of its steps: what the model
// said and called, then the results. Reasoning is handed back within the turn
// it belongs to; what the model signed, in later turns too: it goes on from its
// own thoughts, and a cached prefix stays the same. Providers require the reasoning of an
// answer with calls in later turns too, in the field in which it came. Another model gets
// none of it.
func (a assembly) answered(m chat.Message) []provider.Message {
	called := slices.ContainsFunc(m.Parts, func(p provider.Part) bool { return p.Kind == provider.ToolCallPart })
	keep := func(p provider.Part) bool { return a.signed(p) || called && p.Field != "" && p.Model == a.ref }
	var out []provider.Message
	for _, parts := range byStep(m.Parts) {
		out = append(out, a.stepMessages(parts, keep)...)
	}
	return out
}

// signed reports whether reasoning has details of the model that is asked.
func (a assembly) signed(p provider.Part) bool { return len(p.Details) > 0 && p.Model == a.ref }

// live reports whether reasoning of the turn that runs is sent back.
func (a assembly) live(p provider.Part) bool { return p.Step >= a.since || a.signed(p) }

// byStep splits the parts of an answer into those of each response.
func byStep(parts []provider.Part) [][]provider.Part {
	var out [][]provider.Part
	for start := 0; start < len(parts); {
		end := start
		for end < len(parts) && parts[end].Step == parts[start].Step {
			end++
		}
		out = append(out, parts[start:end])
		start = end
	}
	return out
}

// stepMessages returns the messages of one step. reasoning reports which reasoning they have.
func (a assembly) stepMessages(parts []provider.Part, reasoning func(provider.Part) bool) []provider.Message {
	var said, results []provider.Part
	answered := answeredCalls(parts)
	for _, p := range parts {
		switch p.Kind {
		case provider.TextPart:
			if p.Text != "" {
				said = append(said, p)
			}
		case provider.ReasoningPart:
			if reasoning(p) {
				said = append(said, p)
			}
		case provider.PayloadPart:
			said = append(said, a.cards.again(p)...)
		case provider.ToolCallPart:
			if answered[p.Call.ID] {
				said = append(said, a.call(p))
			}
		case provider.ToolResultPart:
			results = append(results, a.result(*p.Result)...)
		}
	}
	if onlyReasoning(said) {
		return nil // some providers refuse a message without content
	}
	out := []provider.Message{{Role: provider.Assistant, Parts: said}}
	if len(results) > 0 {
		role := provider.Tool
		if a.without[provider.FeatureTools] {
			role = provider.User
		}
		out = append(out, provider.Message{Role: role, Parts: results})
	}
	return out
}

// call is a call of the history as the model is told of it: in words, where it
// knows no tools and would refuse a request that has some.
// What only the model that made the call understands, another one does not get.
func (a assembly) call(p provider.Part) provider.Part {
	c := *p.Call
	if c.Name = a.name(c.Name); p.Model != a.ref {
		c.Extra = nil
	}
	if a.without[provider.FeatureTools] {
		return provider.Part{Kind: provider.TextPart, Text: "[called " + c.Name + " with " + string(c.Args) + "]"}
	}
	return provider.Part{Kind: provider.ToolCallPart, Call: &c}
}

// result is a result of the history as the model gets it, with the images and sounds that
// the model takes.
func (a assembly) result(r provider.ToolResult) []provider.Part {
	r.Name = a.name(r.Name)
	r.Text, r.Media = a.resultContent(r)
	if a.without[provider.FeatureTools] {
		words := provider.Part{Kind: provider.TextPart, Text: "[" + r.Name + " gave]\n" + r.Text}
		images := slices.DeleteFunc(slices.Clone(r.Media), func(p provider.Part) bool { return p.Kind != provider.ImagePart })
		return append([]provider.Part{words}, images...)
	}
	return []provider.Part{{Kind: provider.ToolResultPart, Result: &r}}
}

// resultContent returns the text and the media of a result as the model gets them. Lines at
// the end of the text describe the media that are left out.
func (a assembly) resultContent(r provider.ToolResult) (text string, media []provider.Part) {
	text = a.fit.trimmed(r)
	if a.native != nil {
		return mediaLeftOut(text, r.Media, "since agents that the provider keeps get only texts"), nil
	}
	if a.fit.trimsResult(r.ID) {
		return mediaLeftOut(text, r.Media, "so that the request fits the model's context"), nil
	}
	var left []provider.Part
	for _, m := range r.Media {
		if m.Kind == provider.ImagePart && a.without[provider.FeatureImages] || m.Kind == provider.AudioPart && !a.sounds {
			left = append(left, m)
		} else {
			media = append(media, m)
		}
	}
	return mediaLeftOut(text, left, "since this model takes none"), media
}

// mediaLeftOut adds to a result's text how many of its images and sounds are left out.
func mediaLeftOut(text string, left []provider.Part, why string) string {
	images, sounds := 0, 0
	for _, m := range left {
		if m.Kind == provider.ImagePart {
			images++
		} else {
			sounds++
		}
	}
	for _, kind := range []struct {
		n    int
		noun string
	}{{images, "image"}, {sounds, "sound"}} {
		if kind.n > 0 {
			text = strings.TrimLeft(text+"\n", "\n") + "[" + fault.Plural(kind.n, kind.noun) + " left out, " + why + "]"
		}
	}
	return text
}

// answeredCalls tells which calls have a result; a call without one is never
// sent (a provider would refuse the whole history).
func answeredCalls(parts []provider.Part) map[string]bool {
	ids := map[string]bool{}
	for _, p := range parts {
		if p.Kind == provider.ToolResultPart {
			ids[p.Result.ID] = true
		}
	}
	return ids
}

func onlyReasoning(parts []provider.Part) bool {
	for _, p := range parts {
		if p.Kind != provider.ReasoningPart {
			return false
		}
	}
	return true
}

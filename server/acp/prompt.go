package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// prompt admits a session/prompt, in the order of requests, and lets it run
// beside those that follow.
func (a *agent) prompt(r *request) {
	var p promptParams
	err := read(r.params, &p)
	if err == nil && len(p.Prompt) == 0 {
		err = lacks("prompt")
	}
	var s *session
	if err == nil {
		s, err = a.session(p.SessionID)
	}
	if err == nil && !s.take() {
		err = &rpcError{Code: codeRequest, Message: "the session has a prompt that runs; session/cancel ends it"}
	}
	if err != nil {
		a.finish(r, nil, err)
		return
	}
	a.background.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				s.leave()
				a.finish(r, nil, fmt.Errorf("panic in a prompt: %v\n%s", p, debug.Stack()))
			}
		}()
		stop, err := a.answer(r, s, p.Prompt)
		s.leave()
		if err != nil && context.Cause(r.ctx) != nil && !isPanic(err) {
			stop, err = stopCancelled, nil // what a cancel broke is no failure
		}
		a.finish(r, promptResult{stop}, err)
	})
}

func isPanic(err error) bool { return strings.HasPrefix(err.Error(), "panic ") }

// answer carries a prompt out: a command here, anything else by the model.
func (a *agent) answer(r *request, s *session, blocks []contentBlock) (string, error) {
	if context.Cause(r.ctx) != nil {
		return stopCancelled, nil
	}
	if name, args, ok := slash(blocks); ok {
		if run := a.command(name); run != nil {
			return run(r, s, args)
		}
		text, ok, err := a.fill(s, name, args)
		if err != nil {
			return "", err
		}
		if ok {
			blocks = append([]contentBlock{textBlock(text)}, blocks[1:]...)
		}
	}
	return a.ask(r, s, blocks)
}

// ask has the model answer a prompt.
func (a *agent) ask(r *request, s *session, blocks []contentBlock) (string, error) {
	parts, err := a.parts(r.ctx, s, blocks)
	if err != nil {
		return "", err
	}
	req := engine.TurnRequest{Parts: parts, Title: title(blocks)}
	a.complete(s, &req)
	return a.run(r, s, func(ctx context.Context) (store.TurnID, error) {
		req.OnWait = a.waits(s)
		return a.eng.Start(ctx, req)
	})
}

// complete fills in what a session and the configuration say of a turn.
func (a *agent) complete(s *session, req *engine.TurnRequest) {
	c := s.choice()
	req.Chat, req.Model, req.Agent, req.Policy = s.chat(), c.model, c.agent, s.rules()
	req.Params.Effort = c.effort
	c.putMode(req)
	if req.Chat.New != "" {
		req.Workspace = s.cwd
	}
	req.CanConfirm, req.CanAnswer, req.CanReview, req.TextAlone = true, true, true, true
	req.Editor, req.Terminal = a.editorOf(s), a.terminalOf(s)
	s.offerServers(req)
	a.o.Prepare(req)
}

// title is the first text that a person wrote.
func title(blocks []contentBlock) string {
	for _, b := range blocks {
		if b.Type == "text" && b.Text != nil && strings.TrimSpace(*b.Text) != "" {
			return strings.TrimSpace(*b.Text)
		}
	}
	return ""
}

// The bounds of what a prompt brings.
const (
	maxBlocks = 1000
	// maxImage is the most that providers accept for one image.
	maxImage = 20 << 20
)

// parts makes the message of a prompt: files first, then texts and images in their order.
// What a text mentions is part of it.
func (a *agent) parts(ctx context.Context, s *session, blocks []contentBlock) ([]provider.Part, error) {
	if len(blocks) > maxBlocks {
		return nil, badBlock(maxBlocks, "is one too many")
	}
	var files, own []provider.Part
	say := func(text, between string) { own = provider.AddText(own, text, gap(own, text, between)) }
	for i, b := range blocks {
		switch b.Type {
		case "text":
			if b.Text == nil {
				return nil, badBlock(i, "has no text")
			}
			between := " " // editors put what they mention into a line
			if i > 0 && blocks[i-1].Type == "text" {
				between = "\n"
			}
			say(strings.ToValidUTF8(*b.Text, "\ufffd"), between)
		case "image":
			part, wrong := imagePart(b)
			if wrong != "" {
				return nil, badBlock(i, wrong)
			}
			own = append(own, part)
		case "resource":
			part, wrong := resourcePart(s, b.Resource)
			if wrong != "" {
				return nil, badBlock(i, wrong)
			}
			if part.Kind == provider.ImagePart {
				own = append(own, part)
			} else {
				files = append(files, part)
			}
			say(mention(part.Name), " ")
		case "resource_link":
			part, shown, err := a.link(ctx, s, b)
			if err != nil {
				return nil, err
			}
			if part != nil {
				files = append(files, *part)
			}
			say(shown, " ")
		default:
			return nil, badBlock(i, "is of a type that fettle doesn't take: "+sanitize.Cut(sanitize.Line(b.Type), maxShownName))
		}
	}
	parts := append(files, slices.DeleteFunc(own, func(p provider.Part) bool {
		return p.Kind == provider.TextPart && strings.TrimSpace(p.Text) == ""
	})...)
	if len(parts) == 0 {
		return nil, &rpcError{Code: codeParams, Message: "the prompt is empty"}
	}
	return parts, nil
}

// gap returns what separates a text from the text before it: between, or nothing where one
// of them has white space there.
func gap(parts []provider.Part, text, between string) string {
	before := ""
	if n := len(parts); n > 0 {
		before = parts[n-1].Text
	}
	if before == "" || text == "" || strings.TrimRight(before, " \t\r\n") != before || strings.TrimLeft(text, " \t\r\n") != text {
		return ""
	}
	return between
}

func badBlock(i int, what string) error {
	return &rpcError{Code: codeParams, Message: fmt.Sprintf("params.prompt[%d] %s", i, what)}
}

func imagePart(b contentBlock) (provider.Part, string) {
	raw, wrong := decodeData(b.Data)
	if wrong != "" {
		return provider.Part{}, wrong
	}
	kind := b.MIME
	if !strings.HasPrefix(kind, "image/") {
		kind = http.DetectContentType(raw)
	}
	if !strings.HasPrefix(kind, "image/") {
		return provider.Part{}, "is no image"
	}
	return provider.Part{Kind: provider.ImagePart, Name: sanitize.Cut(sanitize.Line(b.URI), maxShownName), MIME: sanitize.Line(kind), Data: raw}, ""
}

func decodeData(text string) ([]byte, string) {
	raw, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil || len(raw) == 0:
		return nil, "has data that is no base64"
	case len(raw) > maxImage:
		return nil, fmt.Sprintf("has %d MB of data; %d are allowed", len(raw)>>20, maxImage>>20)
	}
	return raw, ""
}

// resourcePart makes a part of an embedded file: its text, or a picture.
func resourcePart(s *session, r *resource) (provider.Part, string) {
	if r == nil || r.URI == "" {
		return provider.Part{}, "has no resource with a uri"
	}
	name := s.nameOf(r.URI)
	if r.Text != nil {
		return provider.Part{Kind: provider.FilePart, Name: name, Text: strings.ToValidUTF8(*r.Text, "\ufffd")}, ""
	}
	raw, wrong := decodeData(r.Blob)
	if wrong != "" {
		return provider.Part{}, wrong
	}
	kind := r.MIME
	if !strings.HasPrefix(kind, "image/") {
		kind = http.DetectContentType(raw)
	}
	switch {
	case strings.HasPrefix(kind, "image/"):
		return provider.Part{Kind: provider.ImagePart, Name: name, MIME: sanitize.Line(kind), Data: raw}, ""
	case isText(raw):
		return provider.Part{Kind: provider.FilePart, Name: name, Text: string(raw)}, ""
	}
	return provider.Part{}, "is neither text nor an image: " + name
}

// mention stands in the text where a file was put into it.
func mention(name string) string { return "`" + strings.ReplaceAll(name, "`", "'") + "`" }

// waits tells the editor whom a prompt waits for.
func (a *agent) waits(s *session) func(string) {
	return func(what string) { a.notice(s, "info", "waiting: "+what) }
}

// notice tells something by the way, where the editor shows such things.
func (a *agent) notice(s *session, severity, text string) {
	if text = sanitize.Line(text); text != "" && a.client.notices() {
		a.update(s, update{Kind: "notice", Severity: severity, Title: sanitize.Cut(text, maxNotice)})
	}
}

// maxNotice bounds the title of a notice: a line or two.
const maxNotice = 500

// say writes something of fettle's own as a message of the agent.
func (a *agent) say(s *session, id, text string) {
	b := textBlock(sanitize.Text(text))
	a.update(s, update{Kind: "agent_message_chunk", MessageID: id, Content: &b})
}

// stamp is a time as the protocol has it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// validRaw is raw JSON that may be put into a message, bounded.
func validRaw(raw json.RawMessage) json.RawMessage {
	switch {
	case len(raw) == 0 || !json.Valid(raw):
		return nil
	case len(raw) <= maxRaw:
		return raw
	}
	short, err := json.Marshal(map[string]any{"truncated": true, "bytes": len(raw), "beginning": sanitize.Cut(string(raw), maxRawShown)})
	if err != nil { // strings and numbers can't fail
		return nil
	}
	return short
}

// The bounds of what is sent of a call's input and output: more than that nobody
// looks at in an editor, and each update has it again.
const (
	maxRaw      = 32 << 10
	maxRawShown = 8 << 10
	maxShown    = 16 << 10
)

var errNoAnswer = errors.New("the turn ended without an end")

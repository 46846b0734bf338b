package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
)

const (
	// askTime bounds all answers of a remote server but streams: accepting a
	// question may read a folder, and is as long as the server's own bound.
	askTime = 6 * time.Minute
	// nonceTime bounds the wait for an approval's nonce, which the server makes
	// when it reads the event that we have read.
	nonceTime = 5 * time.Second
)

// Remote is a server by its address. It has its own configuration, and what is
// asked there is of the public API.
type Remote struct {
	url    string // without a slash at its end
	header http.Header
	http   *http.Client

	mu    sync.Mutex
	chats map[store.TurnID]chat.Chat
}

// SplitURL takes the token out of an address as `fettle serve --print-url` prints
// it. Only https goes further than this machine: a token is as good as the
// user's own hands.
func SplitURL(address string) (base, token string, err error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.RawQuery != "", u.User != nil:
		return "", "", errors.New("it should look like https://HOST or http://127.0.0.1:PORT")
	case !server.TokenSafe(u):
		return "", "", errors.New("the token would go over the network unencrypted; it has to be https")
	}
	token, ok := strings.CutPrefix(u.Fragment, "token=")
	if u.Fragment != "" && !ok {
		return "", "", errors.New("what follows # should be token=TOKEN")
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/"), token, nil
}

// NewRemote makes a client of a server, by an address and a token that SplitURL
// gave. It connects to nothing yet.
func NewRemote(address, token string) *Remote {
	return &Remote{
		url: address, header: http.Header{"Authorization": {"Bearer " + token}}, chats: map[store.TurnID]chat.Chat{},
		http: &http.Client{
			CheckRedirect: noRedirect,
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 20 * time.Second,
				DialContext: (&net.Dialer{Timeout: 20 * time.Second}).DialContext,
			},
		},
	}
}

// Close lets go of the connections. Turns that live go on.
func (c *Remote) Close() { c.http.CloseIdleConnections() }

func (c *Remote) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	return send(ctx, c.http, method, c.url+path, body, c.header)
}

// call sends a request and reads its answer into out, if that isn't nil.
func (c *Remote) call(ctx context.Context, method, path string, body, out any) error {
	bounded, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(raw)
	}
	res, err := c.send(bounded, method, path, in)
	if err == nil {
		defer res.Body.Close()
		err = decode(res, out)
	}
	return c.explain(ctx, err)
}

// explain makes faults of what isn't one yet.
func (c *Remote) explain(ctx context.Context, err error) error {
	var f *fault.Fault
	var way *url.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &f):
		if f.Code == "unauthorized" {
			return fault.New(fault.Unauthorised, f.Msg, fault.Run("fettle ask --server URL …, with the address that fettle serve --print-url prints there"))
		}
		return f
	case errors.As(err, &way):
		err = way.Err
	}
	return fault.New(fault.Unavailable, "fettle serve at "+server.CleanText(c.url)+" can't be reached: "+server.CleanText(err.Error()))
}

// question is the body of start_turn.
type question struct {
	Message         string          `json:"message,omitempty"`
	ConversationID  int64           `json:"conversation_id,omitempty"`
	Fork            bool            `json:"fork,omitempty"`
	Context         json.RawMessage `json:"context,omitempty"`
	InteractionType string          `json:"interaction_type,omitempty"`
	ActionMetadata  json.RawMessage `json:"action_metadata,omitempty"`
	Model           string          `json:"model,omitempty"`
	Agent           string          `json:"agent,omitempty"`
	System          string          `json:"system,omitempty"`
	Tools           *[]string       `json:"tools,omitempty"`
	Docs            *[]string       `json:"docs,omitempty"`
	AgentMode       *bool           `json:"agent_mode,omitempty"`
	TextAlone       bool            `json:"text_alone,omitempty"`
	Ephemeral       bool            `json:"ephemeral,omitempty"`
	Allow           []string        `json:"allow,omitempty"`
	Approvals       permission.Mode `json:"approvals,omitempty"`
	Plan            *bool           `json:"plan,omitempty"`
	KeepMode        bool            `json:"keep_mode,omitempty"`
	KeepPlan        bool            `json:"keep_plan,omitempty"`
	Confirm         bool            `json:"confirm,omitempty"`
	Forms           bool            `json:"forms,omitempty"`
	Reviews         bool            `json:"reviews,omitempty"`
	Effort          provider.Effort `json:"effort,omitempty"`
	Temperature     *float64        `json:"temperature,omitempty"`
	MaxTokens       int             `json:"max_tokens,omitempty"`
	Schema          json.RawMessage `json:"schema,omitempty"`
	Files           []file          `json:"files,omitempty"`
	Images          []file          `json:"images,omitempty"`
}

type file struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Text string `json:"text,omitempty"`
	Data string `json:"data,omitempty"`
}

// bodyOf makes the body of a request, or says what of it can't be asked elsewhere.
func bodyOf(req engine.TurnRequest) (*question, error) {
	switch {
	case req.Workspace != "":
		return nil, cantAsk("a folder of this machine can't be worked in from there", "leave out -w")
	case req.Chat.At != 0 || req.Chat.Instead != "":
		return nil, cantAsk("a question of another server's chat can't be asked again from here", "ask it in other words, with --chat N")
	case len(req.Calls) > 0 || len(req.Uploads) > 0:
		return nil, cantAsk("tools can't be called there without a model", "fettle tool call …   without --server")
	case len(req.History)+len(req.ClientTools)+len(req.MCP) > 0:
		return nil, cantAsk("a history, tools and MCP servers of this machine can't be used from there", "ask without them")
	}
	q := &question{
		ConversationID: req.Chat.Number, Fork: req.Chat.Fork, Context: req.Context, InteractionType: req.InteractionType,
		ActionMetadata: req.ActionMetadata, Model: req.Model, Agent: req.Agent, System: req.System, AgentMode: req.AgentMode,
		TextAlone: req.TextAlone, Ephemeral: req.Ephemeral, Allow: req.Policy.Allow, Approvals: req.Policy.Approvals, Plan: req.Plan, KeepMode: req.KeepMode, KeepPlan: req.KeepPlan, Confirm: req.CanConfirm, Forms: req.CanAnswer, Reviews: req.CanReview, Schema: req.Schema,
		Effort: req.Params.Effort, Temperature: req.Params.Temperature, MaxTokens: req.Params.MaxTokens,
	}
	if req.Tools != nil {
		q.Tools = &req.Tools
	}
	if req.Docs != nil {
		q.Docs = &req.Docs
	}
	if req.Policy.AllowAll { // of builtins, and of toolsets
		q.Allow = append([]string{"*", "*:*"}, q.Allow...)
	}
	for _, p := range req.Parts {
		switch p.Kind {
		case provider.FilePart:
			q.Files = append(q.Files, file{Name: p.Name, Text: p.Text})
		case provider.ImagePart:
			q.Images = append(q.Images, file{Name: p.Name, MIME: p.MIME, Data: base64.StdEncoding.EncodeToString(p.Data)})
		default:
			q.Message += p.Text
		}
	}
	return q, nil
}

func cantAsk(why, instead string) error {
	return fault.New(fault.Usage, "--server asks another server, and "+why, fault.Run(instead))
}

// Start asks the server. The turn goes on there if this process ends without
// cancelling it.
func (c *Remote) Start(ctx context.Context, req engine.TurnRequest) (store.TurnID, error) {
	q, err := bodyOf(req)
	if err != nil {
		return "", err
	}
	if req.Chat.Last {
		if q.ConversationID, err = c.lastChat(ctx); err != nil {
			return "", err
		}
	}
	var began struct {
		TurnID         store.TurnID `json:"turn_id"`
		ChatID         string       `json:"chat_id"`
		ConversationID int64        `json:"conversation_id"`
	}
	if err := c.call(ctx, http.MethodPost, "/api/turns", q, &began); err != nil {
		return "", err
	}
	if !isID(string(began.TurnID)) {
		return "", fault.New(fault.Failed, "it answers, and not as fettle does")
	}
	c.mu.Lock()
	c.chats[began.TurnID] = chat.Chat{ID: server.CleanText(began.ChatID), Number: began.ConversationID, Model: req.Model}
	c.mu.Unlock()
	return began.TurnID, nil
}

// isID tells what may be a part of a path from what a strange server gave.
func isID(s string) bool {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return len(s) == 26 && strings.Trim(s, letters) == ""
}

// lastChat is the number of the chat that was used last there.
func (c *Remote) lastChat(ctx context.Context) (int64, error) {
	var page struct {
		Chats []struct {
			Number int64 `json:"number"`
		} `json:"chats"`
	}
	if err := c.call(ctx, http.MethodGet, "/api/chats?limit=1", nil, &page); err != nil {
		return 0, err
	}
	if len(page.Chats) == 0 {
		return 0, fault.New(fault.NotFound, "the server has no chat to go on with", fault.Run("fettle ask --server URL …   without -c begins one"))
	}
	return page.Chats[0].Number, nil
}

// Follow yields a turn's events; ErrGone where the server can't be reached again.
func (c *Remote) Follow(ctx context.Context, id store.TurnID, after event.Seq) iter.Seq2[event.Event, error] {
	open := func(ctx context.Context, after event.Seq) (*http.Response, error) {
		return c.send(ctx, http.MethodGet, eventsPath(id, after), nil)
	}
	return follow(ctx, after, source{open: open, most: resumeThere})
}

// Cancel stops a turn.
func (c *Remote) Cancel(ctx context.Context, id store.TurnID) error {
	return c.call(ctx, http.MethodPost, "/api/turns/"+string(id)+"/cancel", nil, nil)
}

// Confirm answers a call that waits for an approval.
func (c *Remote) Confirm(ctx context.Context, id store.TurnID, a engine.Confirmation) error {
	nonce, err := c.nonce(ctx, id, a.ToolUseID)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, "/api/turns/"+string(id)+"/confirm", struct {
		ToolUseID string          `json:"tool_use_id"`
		Nonce     string          `json:"nonce"`
		Decision  event.Decision  `json:"decision"`
		Reason    string          `json:"reason,omitempty"`
		Content   json.RawMessage `json:"content,omitempty"`
		All       bool            `json:"all,omitempty"`
		Only      *[]string       `json:"only,omitempty"`
	}{a.ToolUseID, nonce, a.Decision, a.Reason, a.Content, a.All, onlyOf(a)}, nil)
}

// onlyOf returns the files that are applied; nil is no choice, which an empty list is.
func onlyOf(a engine.Confirmation) *[]string {
	if a.Only == nil {
		return nil
	}
	return &a.Only
}

// nonce finds what an approval is answered with.
func (c *Remote) nonce(ctx context.Context, id store.TurnID, useID string) (string, error) {
	begun, pause := time.Now(), resumePause
	for {
		var list struct {
			Approvals []struct {
				ToolUseID string `json:"tool_use_id"`
				Nonce     string `json:"nonce"`
			} `json:"approvals"`
		}
		if err := c.call(ctx, http.MethodGet, "/api/turns/"+string(id)+"/approvals", nil, &list); err != nil {
			return "", err
		}
		for _, a := range list.Approvals {
			if a.ToolUseID == useID {
				return a.Nonce, nil
			}
		}
		if time.Since(begun) > nonceTime {
			return "", fault.New(fault.NotFound, fmt.Sprintf("turn %s asks about no call %s", id, server.CleanText(useID)))
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// TurnChat is the chat of a turn that was started here.
func (c *Remote) TurnChat(id store.TurnID) (chat.Chat, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	chat, ok := c.chats[id]
	return chat, ok
}

// SyncTime is not told by other servers.
func (c *Remote) SyncTime(store.TurnID) time.Duration { return 0 }

package server

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/permission"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// The sizes of pages: what is shown without asking for more, and at most.
const (
	pageChats, maxChats       = 50, 500
	pageMessages, maxMessages = 100, 1000
)

// chatsJSON is a page of chats; next goes into the query's after.
type chatsJSON struct {
	Chats []listedChatJSON `json:"chats"`
	Next  string           `json:"next,omitempty"`
}

// listedChatJSON is a chat in a list, with the beginning of its first question.
type listedChatJSON struct {
	chat.Chat
	Preview string `json:"preview,omitempty"`
	// TurnID is the turn that runs in it.
	TurnID string `json:"turn_id,omitempty"`
}

// listed adds to chats what lists show. Behind the first maxChats, which is as many as
// a page has, deleted ones go by their titles alone.
func (s *Server) listed(r *http.Request, chats []chat.Chat) ([]listedChatJSON, error) {
	previews, err := s.eng.Previews(r.Context(), chats[:min(len(chats), maxChats)])
	out := make([]listedChatJSON, len(chats))
	for i, c := range chats {
		out[i] = listedChatJSON{c, previews[c.ID], s.turnIn(store.ChatRef{ID: c.ID})}
	}
	return out, err
}

// chatJSON is one chat.
type chatJSON struct {
	Chat chat.Chat `json:"chat"`
	// TurnID is the turn that runs in it.
	TurnID string `json:"turn_id,omitempty"`
	// Pending describes the operation that a killed process has left unfinished in its
	// folder.
	Pending string `json:"pending,omitempty"`
}

func listChats(s *Server, w http.ResponseWriter, r *http.Request) error {
	limit, err := intParam(r, "limit", maxChats)
	if err != nil {
		return err
	}
	since, err := timeParam(r, "since")
	if err != nil {
		return err
	}
	before, err := timeParam(r, "before")
	if err != nil {
		return err
	}
	var after []byte
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = base64.RawURLEncoding.DecodeString(text); err != nil {
			return fault.New(fault.Usage, "after is not the next of a page")
		}
	}
	if limit == 0 {
		limit = pageChats
	}
	page, err := s.eng.Chats(r.Context(), store.ListChats{
		Limit: int(limit), After: after, Model: r.URL.Query().Get("model"), Since: since, Before: before,
	})
	if err != nil {
		return err
	}
	chats, err := s.listed(r, page.Chats)
	if err != nil {
		return err
	}
	if after == nil && since.IsZero() && before.IsZero() {
		chats = append(s.begun(chats, r.URL.Query().Get("model")), chats...)
	}
	writeJSON(w, http.StatusOK, chatsJSON{Chats: orEmpty(chats), Next: base64.RawURLEncoding.EncodeToString(page.Next)})
	return nil
}

// begun are the chats whose first turn runs here, the latest first: the store lists
// them when it has ended.
func (s *Server) begun(listed []listedChatJSON, model string) []listedChatJSON {
	var out []listedChatJSON
	for _, t := range s.live.firsts() {
		there := slices.ContainsFunc(listed, func(c listedChatJSON) bool { return c.ID == t.chat.ID })
		if there || model != "" && model != t.chat.Model {
			continue
		}
		one := listedChatJSON{Chat: t.chat, TurnID: string(t.id)}
		if q := s.question(t.id); q != nil {
			one.Preview = chat.PreviewOf(q)
		}
		out = append(out, one)
	}
	return out
}

// orEmpty makes a list of none out of nil: clients iterate.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// titleBody is a title.
type titleBody struct {
	Title string `json:"title,omitempty"`
}

func createChat(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body titleBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if s.draining.Load() {
		return errDraining
	}
	chat, err := s.eng.NewChat(r.Context(), body.Title)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, chatJSON{Chat: chat})
	return nil
}

func getChat(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	chat, err := s.eng.FindChat(r.Context(), ref)
	if begun, turn, ok := s.live.first(ref, err); ok {
		writeJSON(w, http.StatusOK, chatJSON{Chat: begun, TurnID: string(turn)})
		return nil
	}
	if err != nil {
		return err
	}
	pending, err := s.pending(r.Context(), chat)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, chatJSON{Chat: chat, TurnID: s.turnIn(ref), Pending: pending})
	return nil
}

func (s *Server) turnIn(ref store.ChatRef) string {
	id, _ := s.live.of(ref)
	return string(id)
}

// changeChatBody is either a title or a mode.
type changeChatBody struct {
	Title *string `json:"title,omitempty"`
	// Approvals is calls, changes, edits or ask-all; an empty one returns the chat to the
	// configured mode. Plan switches plan mode on or off. What is left out stays.
	Approvals *permission.Mode `json:"approvals,omitempty"`
	Plan      *bool            `json:"plan,omitempty"`
}

func changeChat(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	var body changeChatBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	var chat chat.Chat
	var err error
	switch mode := body.Approvals != nil || body.Plan != nil; {
	case mode == (body.Title != nil):
		return fault.New(fault.Usage, "give either title, or approvals and plan")
	case mode:
		chat, err = s.eng.SetMode(r.Context(), ref, store.ModeChange{Approvals: body.Approvals, Plan: body.Plan})
	default:
		chat, err = s.eng.RenameChat(r.Context(), ref, *body.Title)
	}
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, chatJSON{Chat: chat})
	return nil
}

func deleteChat(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	chat, err := s.eng.FindChat(r.Context(), ref)
	if err != nil {
		return err
	}
	if err := s.eng.DeleteChats(r.Context(), chat); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func listDeleted(s *Server, w http.ResponseWriter, r *http.Request) error {
	deleted, err := s.eng.DeletedChats(r.Context())
	if err != nil {
		return err
	}
	chats, err := s.listed(r, deleted)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, chatsJSON{Chats: chats})
	return nil
}

func restoreChat(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	if ref.Number == 0 {
		return fault.New(fault.Usage, "a deleted chat is named by its number")
	}
	chat, _, err := s.eng.RestoreChat(r.Context(), ref.Number)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, chatJSON{Chat: chat})
	return nil
}

// forkBody says where a fork begins; nothing is the chat's last message.
type forkBody struct {
	MessageID string `json:"message_id,omitempty"`
	Place     int    `json:"place,omitempty"`
}

func forkChat(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	var body forkBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if body.Place < 0 || body.Place > engine.MaxPlace {
		return fault.New(fault.Usage, "place counts from 1")
	}
	ref.Parent = body.MessageID
	chat, err := s.eng.ForkChat(r.Context(), ref, body.Place)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, chatJSON{Chat: chat})
	return nil
}

// branchesJSON are a chat's branches.
type branchesJSON struct {
	Chat     chat.Chat      `json:"chat"`
	Branches []store.Branch `json:"branches"`
}

func listBranches(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	chat, branches, err := s.eng.Branches(r.Context(), ref)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, branchesJSON{chat, orEmpty(branches)})
	return nil
}

// switchBody names a branch by one of its messages.
type switchBody struct {
	MessageID string `json:"message_id"`
	Overwrite bool   `json:"overwrite,omitempty"`
}

func switchBranch(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	var body switchBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.restoring(w, r, func(ctx context.Context, req workspace.RestoreRequest) (*workspace.Restored, error) {
		return s.eng.Switch(ctx, workspace.SwitchRequest{
			Chat: ref, Message: body.MessageID, Overwrite: body.Overwrite, OnWait: req.OnWait,
		})
	})
}

// againBody asks a question of a chat in other words, or again.
type againBody struct {
	MessageID string `json:"message_id"`
	Message   string `json:"message,omitempty"`
	turnChoices
	// Files and Images come before the message; an edit has those that are named
	// here, and none of the question's own.
	Files  []turnFile `json:"files,omitempty"`
	Images []turnFile `json:"images,omitempty"`
}

func editMessage(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.again(w, r, true)
}

func retryMessage(s *Server, w http.ResponseWriter, r *http.Request) error {
	return s.again(w, r, false)
}

// again starts a turn beside another one.
func (s *Server) again(w http.ResponseWriter, r *http.Request, edited bool) error {
	ref, err := chatOf(r)
	if err != nil {
		return err
	}
	var body againBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.MessageID == "":
		return fault.New(fault.Usage, "message_id names the question, or its answer")
	case !edited && len(body.Message)+len(body.Files)+len(body.Images) > 0:
		return fault.New(fault.Usage, "a retry asks the same words again; edit_message takes others")
	}
	ref.Instead = body.MessageID
	req := engine.TurnRequest{Chat: ref, Title: body.Message}
	if edited {
		asked := turnBody{Message: body.Message, Files: body.Files, Images: body.Images}
		if err := asked.parts(&req); err != nil {
			return err
		}
	}
	if err := body.choose(&req); err != nil {
		return err
	}
	return s.accepted(w, r, req)
}

// foundJSON is a page of what a search found; next goes into after.
type foundJSON struct {
	Chats []foundChatJSON `json:"chats"`
	Next  int64           `json:"next,omitempty"`
}

type foundChatJSON struct {
	Chat    chat.Chat   `json:"chat"`
	TitleAt [][2]int    `json:"title_offsets,omitempty"` // places of the words, in characters
	Matches []matchJSON `json:"matches"`
}

type matchJSON struct {
	MessageID string            `json:"message_id"`
	Role      provider.Role     `json:"role"`
	Model     string            `json:"model,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	In        provider.PartKind `json:"in"`
	Excerpt   string            `json:"excerpt"`
	At        [][2]int          `json:"offsets"`
}

func searchChats(s *Server, w http.ResponseWriter, r *http.Request) error {
	limit, err := intParam(r, "limit", maxChats)
	if err != nil {
		return err
	}
	after, err := intParam(r, "after", 1<<53)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = pageChats
	}
	q, err := search.Parse(r.URL.Query().Get("q"))
	if err != nil {
		return fault.Wrap(fault.Usage, "q", err)
	}
	page, err := s.eng.SearchChats(r.Context(), store.SearchChats{Query: q, Limit: int(limit), After: after, Model: r.URL.Query().Get("model")})
	if err != nil {
		return err
	}
	out := foundJSON{Chats: []foundChatJSON{}, Next: page.Next}
	for _, c := range page.Chats {
		found := foundChatJSON{Chat: c.Chat, TitleAt: c.TitleAt, Matches: []matchJSON{}}
		for _, m := range c.Matches {
			found.Matches = append(found.Matches, matchJSON{m.MessageID, m.Role, m.Model, m.CreatedAt, m.In, m.Excerpt, orEmpty(m.At)})
		}
		out.Chats = append(out.Chats, found)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

package server

import (
	"context"
	"net/http"
	"slices"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// messagesJSON is a page of a chat's active branch, oldest first; before goes
// into the query for those before them.
type messagesJSON struct {
	Chat chat.Chat `json:"chat"`
	// Messages have document 000's fields in addition to their parts.
	Messages []chat.GeneralMessage `json:"messages"`
	Total    int                   `json:"total"`
	Before   string                `json:"before,omitempty"`
	TurnID   string                `json:"turn_id,omitempty"`
	// TurnParentID is the message that the running turn goes on from: its question
	// or its answer comes after that one, which need not be in the active branch.
	// leaf lists the way to it. A turn that begins the chat has none.
	TurnParentID string `json:"turn_parent_id,omitempty"`
	// Question is what the running turn was asked, which is among the messages when it
	// has ended. It has none where it answers anew what is there.
	Question *chat.GeneralMessage `json:"question,omitempty"`
	// Calls are the tool calls of these messages, each with what it gave for the
	// workspace panel. Their arguments and results are in the messages' parts;
	// get_tool_call has all of one.
	Calls []chat.CallView `json:"calls"`
	// Siblings are, by the id of a message, the messages that go on from where it
	// goes on; those that have none are left out. switch_branch goes to one.
	Siblings map[string]siblingsJSON `json:"siblings"`
}

// siblingsJSON are the ids of messages that are in each other's place, the oldest
// first, and where among them one is.
type siblingsJSON struct {
	IDs   []string `json:"ids"`
	Index int      `json:"index"`
}

// question is what a running turn was asked; nil where that is in its chat.
func (s *Server) question(turn store.TurnID) *chat.Message {
	if q, ok := s.eng.TurnQuestion(turn); ok {
		return &q
	}
	return nil
}

// listedPayloads bounds the payloads of a page of messages, in bytes. A page has fewer
// messages than were requested where theirs are more, and at least one.
const listedPayloads = 8 << 20

// fitting returns the last of some messages whose payloads are together within a bound,
// with the calls of these.
func fitting(list []chat.Message, calls []chat.CallView, bound int) ([]chat.Message, []chat.CallView) {
	bytesOf := map[string]int{}
	for _, c := range calls {
		bytesOf[c.MessageID] += len(c.WorkspacePayload) + len(c.RenderPlan) + len(c.WorkspacePlan)
	}
	from, sum := len(list), 0
	for from > 0 {
		if sum += bytesOf[list[from-1].ID]; sum > bound && from < len(list) {
			break
		}
		from--
	}
	if from == 0 {
		return list, calls
	}
	kept := map[string]bool{}
	for _, m := range list[from:] {
		kept[m.ID] = true
	}
	return list[from:], slices.DeleteFunc(calls, func(c chat.CallView) bool { return !kept[c.MessageID] })
}

func listMessages(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	limit, err := pageParam(r)
	if err != nil {
		return err
	}
	form := chat.WithToolHistory
	if r.URL.Query().Has("tool_history") {
		with, err := boolParam(r, "tool_history")
		if err != nil {
			return err
		}
		form = chat.GeneralForm(with)
	}
	leaf, before := r.URL.Query().Get("leaf"), r.URL.Query().Get("before")
	ref.Parent = leaf
	page, err := s.eng.ChatMessages(r.Context(), ref, before, int(limit))
	callsOf := page.Chat.ID
	if begun, _, ok := s.live.first(ref, err); ok {
		if page.Conversation, callsOf, err = s.forking(r.Context(), begun, leaf); err == nil {
			err = page.Cut(before, int(limit))
		}
	}
	if err != nil {
		return err
	}
	ref.Parent = ""
	out := messagesJSON{Chat: page.Chat, Total: page.Total, TurnID: s.turnIn(ref)}
	if out.TurnID != "" {
		parent, ok := s.eng.TurnBegins(store.TurnID(out.TurnID))
		if !ok { // it ended a moment ago
			parent = page.Chat.ActiveLeaf
		}
		out.TurnParentID = parent
		if q := s.question(store.TurnID(out.TurnID)); q != nil {
			out.Question = &chat.GeneralMessages([]chat.Message{*q}, nil, form)[0]
		}
	}
	list := page.Messages
	calls, err := s.eng.ViewCalls(r.Context(), callsOf, list)
	if err != nil {
		return err
	}
	list, calls = fitting(list, calls, listedPayloads)
	if len(list) > 0 && list[0].ParentID != "" {
		out.Before = list[0].ID
	}
	for i := range list {
		list[i].Parts = orEmpty(list[i].Parts) // an answer that failed may have none
	}
	out.Messages, out.Calls = chat.GeneralMessages(list, calls, form), orEmpty(calls)
	if err := s.addSiblings(r, &out); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// forking gives a chat whose first turn runs. A fork's messages up to there are read
// from the chat that it comes from, whose id is the second result: its own copies of
// them and of their calls are made when the turn has ended.
func (s *Server) forking(ctx context.Context, c chat.Chat, leaf string) (store.Conversation, string, error) {
	out, from := store.Conversation{Chat: c}, c.ForkedFrom
	if from == nil {
		return out, c.ID, nil
	}
	conv, err := s.eng.Chat(ctx, store.ChatRef{ID: from.ChatID, Parent: from.MessageID})
	if fault.CodeOf(err) == fault.NotFound { // it was deleted since
		return out, c.ID, nil
	}
	if err != nil {
		return out, "", err
	}
	out.Messages = conv.Messages
	if leaf != "" {
		at := slices.IndexFunc(out.Messages, func(m chat.Message) bool { return m.ID == leaf })
		if at < 0 {
			return out, "", fault.New(fault.NotFound, "no message "+clean(leaf)+" in this chat")
		}
		out.Messages = out.Messages[:at+1]
	}
	for i := range out.Messages {
		out.Messages[i].ChatID = c.ID
	}
	return out, from.ChatID, nil
}

// addSiblings adds the other branches at each message.
func (s *Server) addSiblings(r *http.Request, out *messagesJSON) error {
	out.Siblings = map[string]siblingsJSON{}
	if out.Chat.Messages <= out.Total { // all are on one way
		return nil
	}
	siblings, err := s.eng.Siblings(r.Context(), out.Chat)
	if err != nil {
		return err
	}
	for _, m := range out.Messages {
		if ids := siblings[m.ID]; len(ids) > 0 {
			out.Siblings[m.ID] = siblingsJSON{ids, slices.Index(ids, m.ID)}
		}
	}
	return nil
}

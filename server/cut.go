package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// cutCallJSON is a call that was cut off before what it wrote was applied to the folder.
type cutCallJSON struct {
	CallID  string          `json:"call_id"`
	ToolID  string          `json:"tool_id,omitempty"` // empty if no turn has recorded the call
	Input   json.RawMessage `json:"input,omitempty"`
	Started time.Time       `json:"started"`
	// Suspect reports that the system was started again since then, so that the files may
	// be damaged.
	Suspect bool `json:"suspect,omitempty"`
}

type cutCallsJSON struct {
	Calls []cutCallJSON `json:"calls"`
}

type cutReviewJSON struct {
	cutCallJSON
	Review event.Review `json:"review"`
	Notes  []string     `json:"notes,omitempty"`
}

// cutAppliedJSON is the result of applying what a call wrote.
type cutAppliedJSON struct {
	Changes   []event.Change   `json:"changes"`
	Conflicts []event.Conflict `json:"conflicts,omitempty"`
	Notes     []string         `json:"notes,omitempty"`
}

func toCutCall(w workspace.CutWrites) cutCallJSON {
	return cutCallJSON{w.CallID, w.ToolID, w.Args, w.Started, w.Suspect}
}

func listCutCalls(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	out := cutCallsJSON{Calls: []cutCallJSON{}}
	chat, err := s.eng.FindChat(r.Context(), ref)
	if fault.CodeOf(err) == fault.Busy { // its first turn runs, so none of its calls was cut off
		writeJSON(w, http.StatusOK, out)
		return nil
	}
	if err != nil {
		return err
	}
	all, err := s.eng.CutWritesOf(r.Context(), chat)
	if err != nil {
		return err
	}
	for _, one := range all {
		out.Calls = append(out.Calls, toCutCall(one))
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// cutCall returns the id of the path's call, which was cut off in the chat or in its folder.
func (s *Server) cutCall(r *http.Request, ref store.ChatRef) (string, error) {
	chat, err := s.eng.FindChat(r.Context(), ref)
	if err != nil {
		return "", err
	}
	all, err := s.eng.CutWritesOf(r.Context(), chat)
	if err != nil {
		return "", err
	}
	id := r.PathValue("call")
	for _, one := range all {
		if one.CallID == id {
			return id, nil
		}
	}
	return "", fault.New(fault.NotFound, "no call "+clean(id)+" was cut off in this chat, or its changes were applied or discarded")
}

// onCutCall runs an operation on the path's call. If another process uses the folder it
// fails at once.
func (s *Server) onCutCall(r *http.Request, ref store.ChatRef, do func(ctx context.Context, call string, onWait func(string)) error) error {
	if s.draining.Load() {
		return errDraining
	}
	call, err := s.cutCall(r, ref)
	if err != nil {
		return err
	}
	return atOnce(context.WithoutCancel(r.Context()), func(ctx context.Context, onWait func(string)) error { return do(ctx, call, onWait) })
}

func reviewCutCall(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	return s.onCutCall(r, ref, func(ctx context.Context, call string, onWait func(string)) error {
		cut, err := s.eng.ReviewCut(ctx, call, onWait)
		if err != nil {
			return err
		}
		if cut.Review.Files == nil {
			cut.Review.Files = []event.ReviewedFile{}
		}
		writeJSON(w, http.StatusOK, cutReviewJSON{toCutCall(cut.CutWrites), *cut.Review, cut.Notes})
		return nil
	})
}

func applyCutCall(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	return s.onCutCall(r, ref, func(ctx context.Context, call string, onWait func(string)) error {
		done, err := s.eng.ApplyCut(ctx, call, onWait)
		if err != nil {
			return err
		}
		out := cutAppliedJSON{Changes: done.Changes, Conflicts: done.Conflicts, Notes: done.Notes}
		if out.Changes == nil {
			out.Changes = []event.Change{}
		}
		writeJSON(w, http.StatusOK, out)
		return nil
	})
}

func discardCutCall(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	return s.onCutCall(r, ref, func(ctx context.Context, call string, _ func(string)) error {
		if _, err := s.eng.DiscardCut(ctx, call); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	})
}

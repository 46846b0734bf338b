package server

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// inputPlace is in the ids of input items ahead of their place. Ids of output items have the
// place alone.
const inputPlace = "i"

// itemTurn returns the turn of the response that an item with an id belongs to. An id has a
// kind, the turn and the place of the item.
func itemTurn(id string) (turn store.TurnID, ok bool) {
	words := strings.Split(id, "_")
	if len(words) != 3 || !isID(words[1]) {
		return "", false
	}
	return store.TurnID(words[1]), true
}

// resolve puts the stored items that the input of a response refers to in their place. It
// returns the last response that it refers to; empty if it refers to none.
func (s *Server) resolve(r *http.Request, in *dialect.Request) (last store.TurnID, _ error) {
	ids := in.References()
	if len(ids) == 0 {
		return "", nil
	}
	stored, read := map[string]json.RawMessage{}, map[store.TurnID]bool{}
	for _, id := range ids {
		turn, ok := itemTurn(id)
		if !ok {
			return "", dialect.NoItem(id)
		}
		if last = turn; read[turn] {
			continue
		}
		read[turn] = true
		err := s.storedItems(r.Context(), turn, stored)
		if fault.CodeOf(err) == fault.NotFound {
			return "", dialect.NoItem(id)
		}
		if err != nil {
			return "", err
		}
	}
	if wrong := in.Resolve(stored); wrong != nil {
		return "", wrong
	}
	return last, nil
}

// storedItems adds the items of a stored response, of its input and of its output, by their
// ids.
func (s *Server) storedItems(ctx context.Context, turn store.TurnID, to map[string]json.RawMessage) error {
	p, err := s.eng.AnsweredTurn(ctx, turn)
	if err != nil {
		return err
	}
	input, err := s.inputOf(ctx, turn, p)
	if err != nil {
		return err
	}
	for _, it := range input {
		if to[it.ID], err = json.Marshal(it); err != nil {
			return err
		}
	}
	body, err := s.storedBody(ctx, turn, p)
	if err != nil {
		return err
	}
	var whole struct {
		Output []json.RawMessage `json:"output"`
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		return err
	}
	for _, raw := range whole.Output {
		var it struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(raw, &it); err != nil {
			return err
		}
		to[it.ID] = raw
	}
	return nil
}

// storedBody returns a stored response as the object that it was.
func (s *Server) storedBody(ctx context.Context, turn store.TurnID, p store.AnsweredTurn) ([]byte, error) {
	out := dialect.NewObject(dialect.Responses, optionsOf(p))
	for e, err := range s.eng.Follow(ctx, turn, 0) {
		if err != nil {
			return nil, err
		}
		if out.Add(e) != nil {
			break // its body says why
		}
	}
	_, body := out.Body()
	return body, nil
}

// follows makes the turn of a response that repeats a stored conversation by its items the
// next turn of that conversation, so that later responses can refer to its items. A history
// that differs from the stored one stays a part of the request.
func (s *Server) follows(ctx context.Context, last store.TurnID, req *engine.TurnRequest) error {
	chat, message, err := s.eng.TurnAnswer(ctx, last)
	if err != nil {
		return err
	}
	ref := store.ChatRef{ID: chat, Parent: message}
	conv, err := s.eng.Chat(ctx, ref)
	if err != nil {
		return err
	}
	var kept []provider.Message
	for _, m := range conv.Messages {
		kept = append(kept, provider.Message{Role: m.Role, Parts: m.Parts})
	}
	if slices.Equal(gist(kept), gist(req.History)) {
		req.Chat, req.History = ref, nil
	}
	return nil
}

// gist returns what the messages of a conversation say, for comparing two: texts, images and
// files of each side, and the client's calls with their results.
func gist(all []provider.Message) []string {
	var out []string
	add := func(kind, text string) {
		if n := len(out) - 1; n >= 0 && strings.HasPrefix(out[n], kind+":") && kind != "call" && kind != "result" {
			out[n] += text
			return
		}
		out = append(out, kind+":"+text)
	}
	for _, m := range all {
		for _, p := range m.Parts {
			switch p.Kind {
			case provider.TextPart: // parts of one message may have been joined with blanks
				add(string(m.Role), strings.Join(strings.Fields(p.Text), ""))
			case provider.ImagePart:
				add(string(m.Role), p.MIME+string(p.Data))
			case provider.FilePart:
				add(string(m.Role), p.Name+p.Text)
			case provider.ToolCallPart:
				if strings.HasPrefix(p.Call.Name, chat.ClientToolset+":") {
					add("call", p.Call.ID)
				}
			case provider.ToolResultPart:
				if strings.HasPrefix(p.Result.Name, chat.ClientToolset+":") || m.Role != provider.Assistant {
					add("result", p.Result.ID+" "+p.Result.Text)
				}
			}
		}
	}
	return out
}

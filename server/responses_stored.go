package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server/dialect"
)

// stored finds the response that a path names: a turn with its place in a chat.
func (s *Server) stored(r *http.Request) (store.TurnID, store.AnsweredTurn, error) {
	name := r.PathValue("response")
	turn, ok := strings.CutPrefix(name, responseID)
	if !ok || !isID(turn) {
		return "", store.AnsweredTurn{}, noResponse(name)
	}
	p, err := s.eng.AnsweredTurn(r.Context(), store.TurnID(turn))
	if fault.CodeOf(err) == fault.NotFound {
		err = noResponse(name)
	}
	return store.TurnID(turn), p, err
}

func noResponse(name string) error {
	return fieldFault(fault.NotFound, "response_id", "there is no response "+quoted(name)+"; it was not to be stored, or is deleted")
}

// optionsOf are what is known of the request that made a response: not its
// metadata, and not the tools that came with it.
func optionsOf(p store.AnsweredTurn) dialect.Options {
	o := dialect.Options{Model: p.Answer.Model, Stored: true, CallForms: formsOf(p.Answer)}
	o.Echo.Instructions = p.Chat.System
	if p.Before != "" {
		o.Echo.PreviousID = responseID + string(p.Before)
	}
	return o
}

// formsOf returns how the client knows the tools that an answer calls, by the names that the
// model has for them.
func formsOf(m chat.Message) map[string]dialect.CallForm {
	out := map[string]dialect.CallForm{}
	for _, p := range m.Parts {
		var form dialect.CallForm
		if p.Call == nil || len(p.Call.ClientForm) == 0 || json.Unmarshal(p.Call.ClientForm, &form) != nil {
			continue
		}
		out[strings.TrimPrefix(p.Call.Name, chat.ClientToolset+":")] = form
	}
	return out
}

// getResponse gives a response that was stored, as it was or as the stream that it
// was.
func getResponse(s *Server, w http.ResponseWriter, r *http.Request) error {
	turn, p, err := s.stored(r)
	if err != nil {
		return err
	}
	o := optionsOf(p)
	if r.URL.Query().Get("stream") == "true" {
		if after := r.URL.Query().Get("starting_after"); after != "" {
			n, err := strconv.ParseInt(after, 10, 32)
			if err != nil || n < 0 {
				return fieldFault(fault.Usage, "starting_after", quoted(after)+" is not the number of an event")
			}
			o.After = n + 1
		}
		return s.stream(w, r, following{
			turn: turn, enc: dialect.NewEncoder(dialect.Responses, o), header: headerOf(dialect.Responses),
		})
	}
	body, err := s.storedBody(r.Context(), turn, p)
	if err != nil {
		return err
	}
	writeRaw(w, http.StatusOK, dialect.Responses.Form().ObjectType, body)
	return nil
}

// deletedResponse is what OpenAI's API says of one.
type deletedResponse struct {
	ID      string `json:"id"`
	Object  string `json:"object"` // response
	Deleted bool   `json:"deleted"`
}

// deleteResponse deletes the chat of a response that is alone in it. It can be
// brought back like any other. What others go on from, or a person, stays.
func deleteResponse(s *Server, w http.ResponseWriter, r *http.Request) error {
	turn, p, err := s.stored(r)
	if err != nil {
		return err
	}
	if p.Chat.Messages > len(p.Asked)+1 {
		return fieldFault(fault.Busy, "response_id", "the response is a part of chat "+strconv.FormatInt(p.Chat.Number, 10)+
			", which has other messages; delete that instead")
	}
	if err := s.eng.DeleteChats(r.Context(), p.Chat); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, deletedResponse{ID: responseID + string(turn), Object: "response", Deleted: true})
	return nil
}

// inputItems are what a response was asked with, in the form of OpenAI's API.
type inputItems struct {
	Object  string      `json:"object"` // list
	Data    []inputItem `json:"data"`
	FirstID string      `json:"first_id"`
	LastID  string      `json:"last_id"`
	HasMore bool        `json:"has_more"`
}

type inputItem struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"` // message, function_call_output or custom_tool_call_output
	Status  string         `json:"status"`
	Role    string         `json:"role,omitempty"`
	Content []inputContent `json:"content,omitempty"`
	CallID  string         `json:"call_id,omitempty"`
	Output  *string        `json:"output,omitempty"`
}

type inputContent struct {
	Type     string  `json:"type"` // input_text, input_image or input_file
	Text     *string `json:"text,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	ImageURL string  `json:"image_url,omitempty"`
	Filename string  `json:"filename,omitempty"`
	FileData string  `json:"file_data,omitempty"`
}

// listInputItems gives all of them at once: a question has few.
func listInputItems(s *Server, w http.ResponseWriter, r *http.Request) error {
	turn, p, err := s.stored(r)
	if err != nil {
		return err
	}
	items, err := s.inputOf(r.Context(), turn, p)
	if err != nil {
		return err
	}
	out := inputItems{Object: "list", Data: items}
	if r.URL.Query().Get("order") != "asc" {
		slices.Reverse(out.Data)
	}
	if n := len(out.Data); n > 0 {
		out.FirstID, out.LastID = out.Data[0].ID, out.Data[n-1].ID
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

// inputOf returns the items that a response was asked with. Their ids name its turn and their
// place, so that they are found again; see storedItems.
func (s *Server) inputOf(ctx context.Context, turn store.TurnID, p store.AnsweredTurn) ([]inputItem, error) {
	custom := map[string]bool{}
	if p.Before != "" && slices.ContainsFunc(p.Asked, chat.Message.AnswersCalls) {
		before, err := s.eng.AnsweredTurn(ctx, p.Before)
		if err != nil {
			return nil, err
		}
		custom = customCalls(before.Answer)
	}
	items := []inputItem{}
	for _, m := range p.Asked {
		items = append(items, itemsOf(m, custom)...)
	}
	for i := range items {
		items[i].ID += "_" + string(turn) + "_" + inputPlace + strconv.Itoa(i)
	}
	return items, nil
}

// customCalls returns the ids of an answer's calls of custom tools.
func customCalls(m chat.Message) map[string]bool {
	forms, out := formsOf(m), map[string]bool{}
	for _, p := range m.Parts {
		if p.Call != nil && forms[strings.TrimPrefix(p.Call.Name, chat.ClientToolset+":")].Custom {
			out[p.Call.ID] = true
		}
	}
	return out
}

// itemsOf returns the items that became a message. Their ids are the prefixes of the kinds.
func itemsOf(m chat.Message, custom map[string]bool) (items []inputItem) {
	said := inputItem{ID: "msg", Type: "message", Status: "completed", Role: "user"}
	for _, part := range m.Parts {
		switch {
		case part.Kind == provider.TextPart:
			said.Content = append(said.Content, inputContent{Type: "input_text", Text: &part.Text})
		case part.Kind == provider.ImagePart && len(part.Data) > 0:
			said.Content = append(said.Content, inputContent{Type: "input_image", Detail: "auto", ImageURL: dataURL(part.MIME, part.Data)})
		case part.Kind == provider.FilePart:
			said.Content = append(said.Content, inputContent{Type: "input_file", Filename: part.Name, FileData: dataURL("text/plain", []byte(part.Text))})
		case part.Result != nil:
			result := inputItem{ID: "fco", Type: "function_call_output", Status: "completed", CallID: part.Result.ID, Output: &part.Result.Text}
			if custom[part.Result.ID] {
				result.ID, result.Type = "ctco", "custom_tool_call_output"
			}
			items = append(items, result)
		}
	}
	if len(said.Content) > 0 {
		items = append(items, said)
	}
	return items
}

func dataURL(mime string, data []byte) string {
	return "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
}

package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
)

// maxDepth bounds how deep a body may be nested: people's have some levels, and
// encoding/json would take ten thousand.
const maxDepth = 64

// readJSON reads a body into v. Fields that nobody knows are errors, since one
// that was misspelt would otherwise be left out in silence; an empty body is an
// empty object.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	return decodeJSON(raw, v)
}

// readBody reads a body whole, within jsonTime (see timely). The gate has bounded its
// size.
func readBody(_ http.ResponseWriter, r *http.Request) ([]byte, error) {
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		return raw, nil
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, err
	}
	return nil, refuse(http.StatusBadRequest, "bad_request", "the body came only in part")
}

// decodeJSON is readJSON without the network.
func decodeJSON(raw []byte, v any) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil
	}
	if err := checkDepth(raw); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return badBody(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(http.StatusBadRequest, "usage", "the body holds more than one JSON value")
	}
	return nil
}

// checkDepth bounds the nesting, without reading what is nested.
func checkDepth(raw []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return refuse(http.StatusBadRequest, "usage", fmt.Sprintf("the body is nested more than %d levels deep", maxDepth))
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// badBody says which field is wrong, in words that name nothing of Go.
func badBody(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	msg := "the body is no JSON"
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		msg = fmt.Sprintf("%s can't be a %s", clean(kind.Field), kind.Value)
	case errors.As(err, &kind):
		msg = "the body has to be a JSON object, not a " + kind.Value
	case errors.As(err, &syntax):
		msg = fmt.Sprintf("the body is no JSON, from byte %d on", syntax.Offset)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		msg = "there is no field " + clean(strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return refuse(http.StatusBadRequest, "usage", msg)
}

// chatOf is the chat that a path names: by its number, or by its id.
func chatOf(r *http.Request) (store.ChatRef, error) { return chatNamed(r.PathValue("chat")) }

// inChat is the handler of a path that names a chat.
func inChat(do func(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error) handler {
	return func(s *Server, w http.ResponseWriter, r *http.Request) error {
		ref, err := chatOf(r)
		if err != nil {
			return err
		}
		return do(s, w, r, ref)
	}
}

func chatNamed(name string) (store.ChatRef, error) {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && n > 0 {
		return store.ChatRef{Number: n}, nil
	}
	if !isID(name) {
		return store.ChatRef{}, fault.New(fault.NotFound, "no chat "+clean(name))
	}
	return store.ChatRef{ID: name}, nil
}

// isID tells whether a text can be an id of ours: a ULID.
func isID(s string) bool {
	return len(s) == 26 && strings.Trim(s, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") == ""
}

func turnOf(r *http.Request) (store.TurnID, error) {
	id := r.PathValue("turn")
	if !isID(id) {
		return "", fault.New(fault.NotFound, "no turn "+clean(id))
	}
	return store.TurnID(id), nil
}

// intParam reads a number of the query that is at least 0; 0 where it isn't
// given.
func intParam(r *http.Request, name string, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(fault.Usage, name+" has to be a whole number, not "+quoted(text))
	}
	return min(n, most), nil
}

// pageParam reads how many entries a list is to have.
func pageParam(r *http.Request) (int64, error) {
	limit, err := intParam(r, "limit", maxMessages)
	if limit == 0 {
		limit = pageMessages
	}
	return limit, err
}

// timeParam reads a time of the query.
func timeParam(r *http.Request, name string) (time.Time, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fault.New(fault.Usage, name+" has to be a time such as 2026-11-28T09:00:00Z, not "+quoted(text))
	}
	return t, nil
}

// boolParam reads a yes or no of the query.
func boolParam(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, fault.New(fault.Usage, name+" has to be true or false, not "+quoted(text))
	}
	return yes, nil
}

// atOnce does what may have to wait for others: whoever asks over HTTP is told that
// somebody else is at it, and doesn't wait. do gives onWait to the engine.
func atOnce(ctx context.Context, do func(ctx context.Context, onWait func(string)) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := do(ctx, func(what string) {
		cancel(fault.New(fault.Busy, clean(what), fault.Advise("try again when it has ended")))
	})
	var busy *fault.Fault
	if err != nil && errors.As(context.Cause(ctx), &busy) { // rather than that its context ended
		return busy
	}
	return err
}

package server

import (
	"encoding/json"
	"strconv"

	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
)

// chatFrames is the dialect of document 000: an event's canonical JSON in a data
// line, and its sequence number as id. It keeps nothing.
type chatFrames struct {
	// turn stands before the number in the streams of chats, where a client may
	// come back when another turn runs.
	turn engine.TurnID
}

// Append appends the frame of one event.
func (c chatFrames) Append(dst []byte, e event.Event) ([]byte, error) {
	start := len(dst)
	dst = append(dst, "id: "...)
	if c.turn != "" {
		dst = append(append(dst, c.turn...), '.')
	}
	dst = append(strconv.AppendInt(dst, int64(e.Seq), 10), "\ndata: "...)
	dst, err := e.Append(dst)
	if err != nil {
		return dst[:start], err
	}
	return append(dst, "\n\n"...), nil
}

// End appends nothing: a client that comes back with the last id gets the rest.
func (c chatFrames) End(dst []byte) []byte { return dst }

// KeepAlive appends a comment. No blank line follows it, from which some clients
// make an empty event.
func (c chatFrames) KeepAlive(dst []byte) []byte { return append(dst, ": ping\n"...) }

// appendData appends a frame that has no place in the turn, and so no id.
func appendData(dst []byte, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil { // strings and valid JSON can't fail
		return dst
	}
	return append(append(append(dst, "data: "...), raw...), "\n\n"...)
}

package commandtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Say streams an answer in pieces, in the protocol of the path that is asked.
func Say(w http.ResponseWriter, r *http.Request, pieces ...string) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		return
	}
	Pour(w, r, pieces...)
	if isMessages(r) {
		fmt.Fprint(w, `event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`)
		return
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func isMessages(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/messages") }

// Pour begins an answer, and streams pieces of it.
func Pour(w http.ResponseWriter, r *http.Request, pieces ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if isMessages(r) {
		fmt.Fprint(w, `event: message_start
data: {"type":"message_start","message":{"id":"1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

`)
	}
	for _, piece := range pieces {
		text, _ := json.Marshal(piece)
		if isMessages(r) {
			fmt.Fprintf(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\n\n", text)
		} else {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
		}
		_ = http.NewResponseController(w).Flush() // each is a network read of its own, if it can be
	}
}

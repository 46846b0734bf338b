package dialect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/fettle-cli/fettle/engine/event"
)

// chatEncoder writes document 000's frames: the canonical JSON of each event,
// and its sequence number as the id that a client resumes after.
type chatEncoder struct{ stage stage }

func (c *chatEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if c.stage == ended {
		return dst, nil
	}
	start := len(dst)
	dst = append(dst, "id: "...)
	dst = strconv.AppendInt(dst, int64(e.Seq), 10)
	dst = append(dst, '\n')
	dst = append(dst, dataField...)
	from := len(dst)
	dst, err := e.Append(dst)
	if err != nil {
		return dst[:start], err
	}
	if e.Type() == event.TypeComplete {
		dst = append(dst[:from], withHistory(dst[from:])...)
	}
	if e.Ends() {
		c.stage = ended
	}
	return append(dst, frameEnd...), nil
}

// End adds nothing: a client that resumes after the last id gets the rest.
func (c *chatEncoder) End(dst []byte) []byte { return dst }

func (c *chatEncoder) KeepAlive(dst []byte) []byte { return append(dst, ping...) }

func (c *chatEncoder) Paused() bool { return false }

// withHistory puts the tool history into custom_payload, where document 000 has
// it. The canonical form has a payload of document 001 there if there is one,
// and the history beside it; here that payload came as an event of its own.
func withHistory(complete []byte) []byte {
	var e map[string]json.RawMessage
	var payload map[string]json.RawMessage
	if json.Unmarshal(complete, &e) != nil || json.Unmarshal(e["payload"], &payload) != nil {
		return complete
	}
	history, ok := payload["tool_history"]
	if !ok {
		return complete
	}
	var custom struct{ Type string }
	if json.Unmarshal(payload["custom_payload"], &custom) == nil && custom.Type == "tool_history" {
		return complete
	}
	old := append([]byte(`"custom_payload":`), payload["custom_payload"]...)
	is := open([]byte(`"custom_payload":`)).str("type", "tool_history").raw("data", history).close()
	if payload["custom_payload"] == nil {
		old = []byte(`"tool_history":`)
		is = append(append(is, ','), old...)
	}
	return bytes.Replace(complete, old, is, 1)
}

// chatObject is document 000's ChatResponsePayload.
type chatObject struct {
	status int
	body   []byte
}

func (c *chatObject) Add(e event.Event) error {
	switch b := e.Body.(type) {
	case event.Complete:
		raw, err := e.Append(nil)
		if err != nil {
			return err
		}
		var whole struct {
			Payload json.RawMessage `json:"payload"`
		}
		if err := json.Unmarshal(withHistory(raw), &whole); err != nil {
			return err
		}
		c.status, c.body = http.StatusOK, append(whole.Payload, '\n')
	case event.Error:
		c.status, _, c.body = Chat.Failure(faultOf(b))
	case event.Cancelled:
		c.status, _, c.body = Chat.Failure(wasCancelled())
	}
	return nil
}

func (c *chatObject) Body() (int, []byte) {
	if c.body == nil {
		status, _, body := Chat.Failure(wasCut())
		return status, body
	}
	return c.status, c.body
}

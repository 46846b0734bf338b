package dialect

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// chatEncoder writes document 000's frames: the canonical JSON of each event,
// and its sequence number as the id that a client resumes after.
type chatEncoder struct {
	long  bool
	stage stage
}

func (c *chatEncoder) Append(dst []byte, e event.Event) ([]byte, error) {
	if c.stage == ended {
		return dst, nil
	}
	start := len(dst)
	dst, err := AppendChatData(AppendChatID(dst, e, c.long), e)
	if err != nil {
		return dst[:start], err
	}
	if e.Ends() {
		c.stage = ended
	}
	return dst, nil
}

// AppendChatID appends the id line that begins a frame of the chat dialect. long
// is [Options.LongIDs]. With [AppendChatData] behind it the frame is whole: a
// server that writes one event to many clients encodes it once.
func AppendChatID(dst []byte, e event.Event, long bool) []byte {
	dst = append(dst, "id: "...)
	if long {
		dst = append(append(dst, sanitize.Line(e.TurnID)...), '.')
	}
	dst = strconv.AppendInt(dst, int64(e.Seq), 10)
	return append(dst, '\n')
}

// AppendChatData appends the rest of a frame of the chat dialect, which is the
// same for all clients. An error leaves dst as it was.
func AppendChatData(dst []byte, e event.Event) ([]byte, error) {
	start := len(dst)
	dst, err := e.Append(append(dst, dataField...))
	if err != nil {
		return dst[:start], err
	}
	return append(dst, frameEnd...), nil
}

// AppendChatKeepAlive appends what may be written between two frames of the chat
// dialect.
func AppendChatKeepAlive(dst []byte) []byte { return append(dst, ping...) }

// End adds nothing: a client that resumes after the last id gets the rest.
func (c *chatEncoder) End(dst []byte) []byte { return dst }

func (c *chatEncoder) KeepAlive(dst []byte) []byte { return AppendChatKeepAlive(dst) }

func (c *chatEncoder) Paused() bool { return false }

// chatObject is document 000's ChatResponsePayload.
type chatObject struct {
	body   []byte
	failed *fault.Fault
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
		if err := json.Unmarshal(raw, &whole); err != nil {
			return err
		}
		c.body = append(whole.Payload, '\n')
	case event.Error:
		c.failed = b.Fault()
	case event.Cancelled:
		c.failed = wasCancelled()
	}
	return nil
}

func (c *chatObject) Failed() *fault.Fault {
	if c.body == nil && c.failed == nil {
		return wasCut()
	}
	return c.failed
}

func (c *chatObject) Body() (int, []byte) {
	if f := c.Failed(); f != nil {
		status, _, body := Chat.Failure(f)
		return status, body
	}
	return http.StatusOK, c.body
}

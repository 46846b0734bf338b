package python

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// token stands in each frame: what doesn't know it can't write one.
type token [16]byte

const (
	headerSize = 4 + len(token{})
	// maxFinal is the runner's limit for a result, and something for what goes
	// around it.
	maxFinal = 4<<20 + 128<<10
	// maxUpdate is for what goes before: 64 K characters of data, a stage and a
	// message.
	maxUpdate = 512 << 10
)

// The types of messages. Those of the first two carry the call's key, those of
// the others its last token.
const (
	started  = "start"    // the next thing is the tool's code
	progress = "progress" // a ToolProgress
	result   = "result"   // the end
	raised   = "error"    // the end, too
)

// message is what a runner says.
type message struct {
	T string `json:"t"`

	Stage    string   `json:"stage"`
	Message  string   `json:"message"` // of a progress or an error
	Progress *float64 `json:"progress"`

	Kind             string          `json:"kind"`
	Text             *string         `json:"text"`
	Data             json.RawMessage `json:"data"` // of a progress or a result
	WorkspacePayload json.RawMessage `json:"workspace_payload"`
	Payload          json.RawMessage `json:"payload"`
	Notes            []string        `json:"notes"`
	Modules          []string        `json:"modules"` // of Python's own
	Own              []string        `json:"own"`     // files of the toolset

	Type      string `json:"type"`
	Traceback string `json:"traceback"`
}

// errForged says that something else than the runner wrote into the channel.
var errForged = errors.New("something other than its result came through the channel to fettle: the tool, or a library of its, wrote to a descriptor that isn't its own")

// channel reads what a runner says.
type channel struct {
	in        *bufio.Reader
	key, last token
}

func newChannel(r io.Reader) *channel { return &channel{in: bufio.NewReader(r)} }

// next reads a message. io.EOF is the end of the stream, wherever that comes;
// everything else that isn't a frame of this call is errForged.
func (c *channel) next() (message, error) {
	var head [headerSize]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errForged // no runner stops in the middle of so little
		}
		return message{}, err
	}
	size, limit := binary.BigEndian.Uint32(head[:4]), uint32(maxUpdate)
	final := false
	switch token(head[4:]) {
	case c.key:
	case c.last:
		final, limit = true, maxFinal
	default:
		return message{}, errForged
	}
	if size > limit {
		return message{}, errForged
	}
	payload := make([]byte, size)
	if _, err := io.ReadFull(c.in, payload); err != nil {
		return message{}, io.EOF // it was ended while it wrote
	}
	var m message
	if !utf8.Valid(payload) || json.Unmarshal(payload, &m) != nil {
		return message{}, errForged
	}
	switch m.T {
	case started, progress:
		if final {
			return message{}, errForged
		}
	case result, raised:
		if !final {
			return message{}, errForged
		}
	default:
		return message{}, errForged
	}
	return m, nil
}

// request is what a runner is told.
type request struct {
	Root      string          `json:"root"`
	File      string          `json:"file"`
	Name      string          `json:"name"` // the file, as messages have it
	Module    string          `json:"module"`
	Function  string          `json:"function"`
	Args      json.RawMessage `json:"args"`
	Workspace string          `json:"workspace"`
	ChatID    string          `json:"chat_id"`
	Page      string          `json:"page"`
	Tab       string          `json:"tab"`
	Context   json.RawMessage `json:"context,omitempty"` // an object
	Parser    bool            `json:"parser,omitempty"`
}

// maxRequest bounds the arguments of a call.
const maxRequest = 16 << 20

// encode gives the request as it is sent: its length, the two tokens, JSON.
func (q request) encode(key, last token) ([]byte, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("write the call's arguments: %w", err)
	}
	if len(text) > maxRequest {
		return nil, fmt.Errorf("the arguments have %d MB, and a call may have %d", len(text)>>20, maxRequest>>20)
	}
	return slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(text))), key[:], last[:], text), nil
}

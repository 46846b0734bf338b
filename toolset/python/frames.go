package python

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fettle-cli/fettle/toolset"
)

// maxFrame bounds a frame: three parts of a result with 4 MiB each, and a text
// of a million characters at twelve bytes.
const maxFrame = 25 << 20

// frame is a line of the runner's.
type frame struct {
	Key  string `json:"key"`
	Type string `json:"type"` // progress, result or error

	// Of progress; Message is an error's too.
	Stage    string   `json:"stage"`
	Message  string   `json:"message"`
	Progress *float64 `json:"progress"`

	// Of a result; Data is progress's too.
	Text             *string         `json:"text"`
	Data             json.RawMessage `json:"data"`
	WorkspacePayload json.RawMessage `json:"workspace_payload"`
	Payload          json.RawMessage `json:"payload"`
	Notes            []string        `json:"notes"`

	// Of an error: load, exit, stopped, raised or result.
	Kind      string `json:"kind"`
	Traceback string `json:"traceback"`
}

// errForeign says that something else than a frame came through the channel.
var errForeign = errors.New("the tool wrote into the channel that only fettle's runner may use")

// readFrame reads the next frame; io.EOF is the end.
func readFrame(r *bufio.Reader, key string) (*frame, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	f := new(frame)
	if json.Unmarshal(line, f) != nil || f.Key != key {
		return nil, errForeign
	}
	switch f.Type {
	case "progress", "result", "error":
		return f, nil
	}
	return nil, errForeign
}

// readLine reads a line of at most maxFrame bytes. One that the end cuts off is
// no line.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if len(line)+len(piece) > maxFrame {
			return nil, fmt.Errorf("%w: more than %d MB on a line", errForeign, maxFrame>>20)
		}
		line = append(line, piece...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, err
		}
	}
}

// result is what a call gave.
func (f *frame) result() toolset.Result {
	res := toolset.Result{Data: present(f.Data), WorkspacePayload: present(f.WorkspacePayload), Payload: present(f.Payload)}
	if f.Text != nil {
		res.Text = *f.Text
	}
	if res.Text == "" {
		res.Text = string(res.Data)
	}
	return res
}

// present is nil for null.
func present(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// progress is an update.
func (f *frame) progress() toolset.Progress {
	return toolset.Progress{Stage: f.Stage, Message: f.Message, Progress: f.Progress, Data: present(f.Data)}
}

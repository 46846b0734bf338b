package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxLine bounds a message: a prompt with some large pictures in base64 fits.
const maxLine = 64 << 20

// maxID bounds the id of a request: numbers and UUIDs are what clients make.
const maxID = 256

// The error codes of JSON-RPC and of ACP.
const (
	codeParse     = -32700
	codeRequest   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeCancelled = -32800
	codeNotFound  = -32002
)

// rpcError is the error of a response.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// message is a request, a notification (without an id) or a response (without a
// method).
type message struct {
	id     json.RawMessage
	method string
	params json.RawMessage
	result json.RawMessage
	failed *rpcError
}

func (m *message) isRequest() bool  { return m.method != "" && m.id != nil }
func (m *message) isResponse() bool { return m.method == "" }

// errLongLine is a line of more than maxLine bytes; what followed was skipped.
var errLongLine = errors.New("the line is too long")

// lineReader gives the lines of a stream, each bounded.
type lineReader struct {
	in  *bufio.Reader
	max int
}

func newLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, 64<<10), max: most}
}

// next gives a line without its end, never an empty one. The last one may lack its
// line break. After errLongLine it goes on with the line behind.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil && !(errors.Is(err, io.EOF) && len(line) > 0) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > l.max; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case long:
			return nil, errLongLine
		default:
			return line, err
		}
	}
}

// decode reads one message. Where it can't be meant, id is what could be read of
// its id, for the answer; null where there is none.
func decode(line []byte) (m *message, id json.RawMessage, wrong *rpcError) {
	id = json.RawMessage("null")
	if !json.Valid(line) {
		return nil, id, &rpcError{Code: codeParse, Message: "the line is no JSON"}
	}
	if line[0] != '{' {
		return nil, id, &rpcError{Code: codeRequest, Message: "a message has to be a JSON object; batches are not read"}
	}
	var raw struct {
		Version json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *rpcError       `json:"error"`
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return nil, id, &rpcError{Code: codeRequest, Message: "the message has a field of the wrong type"}
	}
	if raw.ID != nil {
		if !goodID(raw.ID) {
			return nil, id, &rpcError{Code: codeRequest, Message: "id has to be a whole number, a short string or null"}
		}
		id = raw.ID
	}
	m = &message{id: raw.ID, params: raw.Params, result: raw.Result, failed: raw.Error}
	switch {
	case string(raw.Version) != `"2.0"`:
		return nil, id, &rpcError{Code: codeRequest, Message: `jsonrpc has to be "2.0"`}
	case raw.Method != nil && *raw.Method != "":
		m.method = *raw.Method
	case raw.Method != nil, raw.Result == nil && raw.Error == nil:
		return nil, id, &rpcError{Code: codeRequest, Message: "the message has neither a method nor a result"}
	}
	return m, id, nil
}

// goodID tells whether a JSON value can be the id of a request.
func goodID(raw json.RawMessage) bool {
	if len(raw) > maxID {
		return false
	}
	switch c := raw[0]; {
	case string(raw) == "null", c == '"':
		return true
	case c == '-', c >= '0' && c <= '9':
		return !strings.ContainsAny(string(raw), ".eE")
	}
	return false
}

// outgoing is a message of ours.
type outgoing struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// encode gives a message as a line.
func encode(m outgoing) ([]byte, error) {
	m.Version = "2.0"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil { // Encode ends it with a line break, and writes no other
		return nil, err
	}
	return b.Bytes(), nil
}

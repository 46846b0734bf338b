package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// JSON-RPC 2.0's codes for messages that are not understood.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

const (
	// bigID marks an id that the SDK gets in place of a number that it would round.
	bigID = "\x00fettle:"
	// exactNumber is the largest whole number up to which a float64 holds each.
	exactNumber = 1 << 53
	// lastBatched is the last revision of MCP that has JSON-RPC batches.
	lastBatched = "2025-03-26"
)

// messages is a client's stream of messages, one a line. The SDK ends a session at the first
// line that it cannot read, so this type passes on the messages that it can, and answers the
// others with a JSON-RPC error itself. Blank lines and byte order marks are skipped.
type messages struct {
	out io.Writer

	mu      sync.Mutex
	part    []byte // of a line that was begun on out
	big     bool   // ids were replaced
	version string // the revision that the client requested
}

// copyMessages passes the messages of in on to the SDK until in ends.
func (l *messages) copyMessages(to io.Writer, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if len(line) > 0 || errors.Is(err, errLongLine) {
			if sent := l.pass(to, line, err); sent != nil {
				return sent
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, errLongLine):
			return err
		}
	}
}

var errLongLine = fmt.Errorf("a message has more than %d MB", maxLine>>20)

// readLine reads one line, without its end. A line that is too long is read to its end and
// dropped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, errLongLine
		}
		return trimLine(line), err
	}
}

// trimLine removes a byte order mark and white space around a message.
func trimLine(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
}

// pass passes a line on, or answers it.
func (l *messages) pass(to io.Writer, line []byte, err error) error {
	var reply *rejection
	if errors.Is(err, errLongLine) {
		reply = &rejection{code: codeInvalid, message: err.Error()}
	} else {
		line, reply = l.check(line)
	}
	if reply != nil {
		return l.answer(reply)
	}
	_, err = to.Write(append(line, '\n'))
	return err
}

// rejection is why a message is not passed on.
type rejection struct {
	id      json.RawMessage // of the message; null where it has none that is valid
	code    int
	message string
}

func invalid(id json.RawMessage, format string, args ...any) *rejection {
	return &rejection{id, codeInvalid, fmt.Sprintf(format, args...)}
}

// check returns a line as the SDK gets it, or why it does not get it.
func (l *messages) check(line []byte) ([]byte, *rejection) {
	if !json.Valid(line) {
		return nil, &rejection{code: codeParse, message: "the line is not JSON: " + syntaxProblem(line)}
	}
	switch line[0] {
	case '[':
		return l.checkBatch(line)
	case '{':
		return l.checkMessage(line)
	}
	return nil, invalid(nil, "a message is a JSON object")
}

func syntaxProblem(line []byte) string {
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		return err.Error()
	}
	return "it is empty"
}

// checkBatch checks a batch, which only the oldest revisions have.
func (l *messages) checkBatch(line []byte) ([]byte, *rejection) {
	var batch []json.RawMessage
	if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
		return nil, invalid(nil, "a batch has no message")
	}
	l.mu.Lock()
	version := l.version
	l.mu.Unlock()
	if version == "" || version > lastBatched {
		return nil, invalid(nil, "batches are not part of MCP since revision 2025-06-18; send one message a line")
	}
	ids := map[string]bool{}
	for i, each := range batch {
		each = bytes.TrimSpace(each)
		if each[0] != '{' {
			return nil, invalid(nil, "message %d of the batch is not an object", i+1)
		}
		checked, reply := l.checkMessage(each)
		if reply != nil {
			reply.message = fmt.Sprintf("message %d of the batch: %s", i+1, reply.message)
			return nil, reply
		}
		var m struct{ ID json.RawMessage }
		_ = json.Unmarshal(each, &m) // it was checked
		if id := string(m.ID); id != "" && ids[id] {
			return nil, invalid(m.ID, "two messages of the batch have the id %s", id)
		} else if id != "" {
			ids[id] = true
		}
		batch[i] = checked
	}
	out, err := json.Marshal(batch)
	if err != nil {
		return nil, invalid(nil, "the batch cannot be read: %v", err)
	}
	return out, nil
}

// checkMessage checks one message, and replaces an id that the SDK would round.
func (l *messages) checkMessage(line []byte) ([]byte, *rejection) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, invalid(nil, "the message cannot be read: %v", err)
	}
	id, hasID := m["id"]
	if hasID && !validID(id) {
		return nil, invalid(nil, "the id is neither a string nor a whole number")
	}
	var version, method string
	if json.Unmarshal(m["jsonrpc"], &version) != nil || version != "2.0" {
		return nil, invalid(id, `the field jsonrpc is not "2.0"`)
	}
	raw, isCall := m["method"]
	if isCall && (json.Unmarshal(raw, &method) != nil || method == "" || raw[0] != '"') {
		return nil, invalid(id, "the field method is not the name of a method")
	}
	if !isCall {
		if _, result := m["result"]; !hasID || !result && m["error"] == nil {
			return nil, invalid(id, "the message has no method, and is not a response")
		}
		return line, nil
	}
	if p := bytes.TrimSpace(m["params"]); len(p) > 0 && p[0] != '{' && p[0] != '[' && string(p) != "null" {
		return nil, invalid(id, "the field params is not an object")
	}
	if method == "initialize" {
		l.note(m["params"])
	}
	return l.exact(line, m, method), nil
}

// validID reports whether an id is one of MCP's: a string or a whole number.
func validID(id json.RawMessage) bool {
	if len(id) > 0 && id[0] == '"' {
		return true
	}
	_, whole := wholeNumber(id)
	return whole
}

// wholeNumber returns a number's digits, if it is whole and has no exponent.
func wholeNumber(id json.RawMessage) (digits string, ok bool) {
	digits = strings.TrimPrefix(string(id), "-")
	return string(id), digits != "" && len(digits) <= 64 && strings.Trim(digits, "0123456789") == ""
}

// note stores the revision that a client asks for.
func (l *messages) note(params json.RawMessage) {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(params, &p) == nil {
		l.mu.Lock()
		l.version = p.ProtocolVersion
		l.mu.Unlock()
	}
}

// exact returns a request with an id, and the id that it cancels, which the SDK does not
// round. Nearly all lines are returned as they are.
func (l *messages) exact(line []byte, m map[string]json.RawMessage, method string) []byte {
	changed := false
	if id, ok := markBig(m["id"]); ok {
		m["id"], changed = id, true
	}
	if method == "notifications/cancelled" {
		var p map[string]json.RawMessage
		if json.Unmarshal(m["params"], &p) == nil {
			if id, ok := markBig(p["requestId"]); ok {
				p["requestId"] = id
				if params, err := json.Marshal(p); err == nil {
					m["params"], changed = params, true
				}
			}
		}
	}
	if !changed {
		return line
	}
	out, err := json.Marshal(m)
	if err != nil {
		return line
	}
	l.mu.Lock()
	l.big = true
	l.mu.Unlock()
	return out
}

// markBig returns the string that replaces a number that a float64 would round.
func markBig(id json.RawMessage) (json.RawMessage, bool) {
	digits, whole := wholeNumber(id)
	if !whole {
		return nil, false
	}
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n <= exactNumber && n >= -exactNumber {
		return nil, false
	}
	marked, err := json.Marshal(bigID + digits)
	return marked, err == nil
}

// answer writes an error for a message that the SDK does not get.
func (l *messages) answer(r *rejection) error {
	if len(r.id) == 0 {
		r.id = json.RawMessage("null")
	}
	data, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": r.id, "error": map[string]any{"code": r.code, "message": r.message},
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(data, '\n'))
	return err
}

// Write writes what the SDK sends, a line at a time, so that no answer of ours is
// written in between, with the ids as the client sent them.
func (l *messages) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.part = append(l.part, p...)
	end := bytes.LastIndexByte(l.part, '\n')
	if end < 0 {
		return len(p), nil
	}
	whole := l.part[:end+1]
	if l.big {
		whole = restoreBig(whole)
	}
	if _, err := l.out.Write(whole); err != nil {
		return 0, err
	}
	l.part = append(l.part[:0], l.part[end+1:]...)
	return len(p), nil
}

// restoreBig puts the numbers back for which markBig made strings.
func restoreBig(text []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		var m map[string]json.RawMessage
		var id string
		if json.Unmarshal(line, &m) == nil && json.Unmarshal(m["id"], &id) == nil && strings.HasPrefix(id, bigID) {
			m["id"] = json.RawMessage(strings.TrimPrefix(id, bigID))
			if again, err := json.Marshal(m); err == nil {
				line = append(again, '\n')
			}
		}
		out.Write(line)
	}
	return out.Bytes()
}

// Close leaves the client's stream open: it is not ours to close.
func (l *messages) Close() error { return nil }

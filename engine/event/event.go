package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Seq is an event's place in its turn: 1, 2, 3 and so on. The zero Seq is
// "before the first".
type Seq int64

// Event is one event of one turn.
type Event struct {
	TurnID string
	Seq    Seq
	Time   time.Time
	Body   Body
	// More is a hint to whoever renders a live stream: the next event is
	// there already, so flushing can wait for it. It is not part of the JSON.
	More bool
}

// Type is the type of the event's body.
func (e Event) Type() Type { return e.Body.Type() }

// Ends tells whether this event ends its turn.
func (e Event) Ends() bool {
	switch e.Body.(type) {
	case Complete, Error, Cancelled:
		return true
	}
	return false
}

// MarshalJSON gives the canonical JSON: one object on one line.
func (e Event) MarshalJSON() ([]byte, error) { return e.Append(nil) }

// Append appends the canonical JSON to dst and returns the longer slice. The
// JSON holds no line break. An error leaves dst as it was.
func (e Event) Append(dst []byte) ([]byte, error) {
	if e.Body == nil {
		return dst, errors.New("encode event: it has no body")
	}
	if u, ok := e.Body.(Unknown); ok {
		return appendCompact(dst, u.Raw)
	}
	start := len(dst)
	dst = append(dst, `{"type":"`...)
	dst = append(dst, e.Body.Type()...)
	dst = append(dst, `","turn_id":`...)
	dst = appendString(dst, e.TurnID)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, int64(e.Seq), 10)
	dst = append(dst, `,"time":"`...)
	dst = e.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	dst, err := appendBody(dst, e.Body)
	if err != nil {
		return dst[:start], fmt.Errorf("encode %s event: %w", e.Body.Type(), err)
	}
	return append(dst, '}'), nil
}

// appendBody appends the body's fields, each with a comma before it.
func appendBody(dst []byte, b Body) ([]byte, error) {
	switch b := b.(type) {
	case TextDelta:
		dst = append(dst, `,"text":`...)
		dst = appendString(dst, b.Text)
		if b.Agent != "" {
			dst = append(dst, `,"agent":`...)
			dst = appendString(dst, b.Agent)
		}
		return dst, nil
	case Cancelled:
		return dst, nil
	}
	obj, err := marshal(b)
	if err != nil {
		return dst, err
	}
	if len(obj) <= 2 { // {}
		return dst, nil
	}
	dst = append(dst, ',')
	return append(dst, obj[1:len(obj)-1]...), nil
}

// marshal encodes without the escaping that is meant for HTML. This package can
// import no other of ours that does.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}

func appendCompact(dst []byte, raw json.RawMessage) ([]byte, error) {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return dst, fmt.Errorf("encode event: %w", err)
	}
	return append(dst, buf.Bytes()...), nil
}

type header struct {
	Type   Type      `json:"type"`
	TurnID string    `json:"turn_id"`
	Seq    Seq       `json:"seq"`
	Time   time.Time `json:"time"`
}

// UnmarshalJSON reads the canonical JSON. An unknown type gives an [Unknown]
// body and no error.
func (e *Event) UnmarshalJSON(data []byte) error {
	var h header
	if err := json.Unmarshal(data, &h); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if h.Type == "" {
		return errors.New("decode event: it has no type")
	}
	body, err := decodeBody(h.Type, data)
	if err != nil {
		return fmt.Errorf("decode %s event: %w", h.Type, err)
	}
	*e = Event{TurnID: h.TurnID, Seq: h.Seq, Time: h.Time, Body: body}
	return nil
}

func decodeBody(t Type, data []byte) (Body, error) {
	switch t {
	case TypeStatus:
		return into[Status](data)
	case TypeAgentStart:
		return into[AgentStart](data)
	case TypeHandoff:
		return into[Handoff](data)
	case TypeReasoning:
		return into[Reasoning](data)
	case TypeTextDelta:
		return into[TextDelta](data)
	case TypeToolStart:
		return into[ToolStart](data)
	case TypeConfirmRequest:
		return into[ConfirmRequest](data)
	case TypeConfirmResult:
		return into[ConfirmResult](data)
	case TypePrompted:
		return into[Prompted](data)
	case TypeToolProgress:
		return into[ToolProgress](data)
	case TypeToolComplete:
		return into[ToolComplete](data)
	case TypePayload:
		return into[Payload](data)
	case TypeWorkflow:
		return into[Workflow](data)
	case TypeAnnotations:
		return into[Annotations](data)
	case TypeMeta:
		return into[Meta](data)
	case TypeFootnote:
		return into[Footnote](data)
	case TypeSummary:
		return into[Summary](data)
	case TypeComplete:
		return into[Complete](data)
	case TypeError:
		return into[Error](data)
	case TypeCancelled:
		return into[Cancelled](data)
	}
	return Unknown{Name: t, Raw: bytes.Clone(data)}, nil
}

func into[B Body](data []byte) (Body, error) {
	var b B
	err := json.Unmarshal(data, &b)
	return b, err
}

// appendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD, as
// with encoding/json; U+2028 and U+2029 are escaped, since some readers split
// lines on them.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i, r := range s {
		var esc []byte
		switch {
		case r == '"':
			esc = []byte(`\"`)
		case r == '\\':
			esc = []byte(`\\`)
		case r == '\n':
			esc = []byte(`\n`)
		case r == '\r':
			esc = []byte(`\r`)
		case r == '\t':
			esc = []byte(`\t`)
		case r < 0x20:
			esc = []byte{'\\', 'u', '0', '0', hex[r>>4], hex[r&0xf]}
		case r == '\u2028':
			esc = []byte(`\u2028`)
		case r == '\u2029':
			esc = []byte(`\u2029`)
		case r == '\uFFFD':
			if strings.HasPrefix(s[i:], "\uFFFD") { // a real one
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			start = i + 1
			continue
		default:
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = append(dst, esc...)
		start = i + len(string(r))
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

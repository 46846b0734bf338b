package payloads

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Retell is how a model is told of a payload that it wrote in an earlier
// response: as it wrote it, since the text that is kept no longer holds it.
// Without that it would write it again, or deny it.
func (r *Registry) Retell(kind, set string, data json.RawMessage) string {
	if c, ok := r.Lookup(kind, set); ok && c.ParseMarker != "" {
		return c.ParseMarker + " " + compact(data)
	}
	return "[a card of type " + shown(kind) + ": " + compact(data) + "]"
}

// Decided is how a model is told what the person did with a payload. The
// remark is the person's own, and may be empty.
func Decided(kind string, accepted bool, remark string) string {
	did := "rejected"
	if accepted {
		did = "accepted"
	}
	s := "[the person " + did + " the " + shown(kind)
	if remark = strings.TrimSpace(remark); remark != "" {
		s += " and says: " + shown(remark)
	}
	return s + "]"
}

// maxEdited bounds the part of an edited text that a model gets, in bytes.
const maxEdited = 16 << 10

// Edited returns the note that tells a model what the user made of a payload's text.
func Edited(kind, title, text string) string {
	what := shown(kind)
	if title = strings.TrimSpace(title); title != "" {
		what += " \"" + shown(title) + "\""
	}
	s := "[the user edited the " + what + "; its text is now:\n"
	if len(text) > maxEdited {
		kept := strings.ToValidUTF8(text[:maxEdited], "")
		return s + kept + "\n" + fmt.Sprintf("(%d more bytes are left out)]", len(text)-len(kept))
	}
	return s + text + "\n]"
}

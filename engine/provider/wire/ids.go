package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strconv"
)

// IDs gives the calls of one request ids that its server takes. A history may
// hold ids of another provider, in another form, and one id for the calls of
// several turns. Calls and results are met in the order of the messages, so
// the ids of a history stay the same while more is added to it, and no two
// calls of a request get the same one.
//
// An IDs belongs to one request and one goroutine.
type IDs struct {
	fit  func(id string) string
	last map[string]string // a call's id → what was sent for the last call of that id
	sent map[string]bool
}

// NewIDs makes the mapping of one request. fit makes an id one that the server
// takes: the same for the same id, and as good as never the same for two.
func NewIDs(fit func(id string) string) *IDs {
	return &IDs{fit: fit, last: map[string]string{}, sent: map[string]bool{}}
}

// Call is what is sent for the next call's id.
func (i *IDs) Call(id string) string {
	out := i.fit(id)
	for n := 2; i.sent[out]; n++ {
		out = i.fit(id + "\x00" + strconv.Itoa(n))
	}
	i.sent[out], i.last[id] = true, out
	return out
}

// Result is what is sent for the id of a result, which follows its call.
func (i *IDs) Result(id string) string {
	if out, ok := i.last[id]; ok {
		return out
	}
	return i.fit(id)
}

// Digest is a short name for s of digits and small letters: the beginning of
// its SHA-256. Among the few ids of a request no two meet.
func Digest(s string) string {
	const bytes = 8
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:bytes])
}

// nine is how long Mistral wants ids to be.
const nine = 9

// NineID makes an id one of nine letters and digits. One that is, is kept; of
// another the beginning of its hash is taken, and 62⁹ are many enough that two
// of a conversation don't meet.
func NineID(id string) string {
	fits := len(id) == nine
	for i := range len(id) {
		fits = fits && alnum(id[i])
	}
	if fits {
		return id
	}
	const digits = 62
	sum := sha256.Sum256([]byte(id))
	n := new(big.Int).SetBytes(sum[:])
	text := n.Text(digits)
	for len(text) < nine { // as good as never
		text = "0" + text
	}
	return text[len(text)-nine:]
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

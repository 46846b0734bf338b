package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/provider"
)

// take is one response while it is recorded.
type take struct {
	limits limits
	buf    bytes.Buffer // the line so far, whose list of deltas is open
	since  time.Time    // when the next batch began to be waited for
	deltas int          // so far, meta aside
	items  int
	whole  bool // its meta has come, so nothing is missing
	// failed is why the response can't be recorded.
	failed error
}

// newTake begins the line of a response. Of the request it keeps where it
// stands in its conversation, hashes of the question, of the system prompt and
// of all that it says, and the model's name.
func newTake(name string, req *provider.Request, l limits) *take {
	t := &take{limits: l, since: time.Now()}
	m := momentOf(req)
	fmt.Fprintf(&t.buf, `{"at":%d,"asked":%q,"told":%q,"given":%q,"from":`, m.answers, hashOf(m.question), m.told(), m.given())
	t.failed = appendJSON(&t.buf, clean(name+"/"+req.Model))
	t.buf.WriteString(`,"deltas":[`)
	return t
}

// add appends a batch.
func (t *take) add(batch []provider.Delta) {
	if t.failed != nil || len(batch) == 0 {
		return
	}
	if t.failed = t.encode(batch); t.failed != nil {
		t.buf = bytes.Buffer{}
	}
}

func (t *take) encode(batch []provider.Delta) error {
	lines := make([]deltaLine, len(batch))
	for i := range batch {
		line, err := lineOf(&batch[i])
		if err != nil {
			return err
		}
		lines[i] = line
		if batch[i].Kind == provider.Meta {
			t.whole = true
		} else {
			t.deltas++
		}
	}
	item := lines[0]
	if len(lines) > 1 {
		item = deltaLine{Batch: lines}
	}
	item.Wait = waitOf(time.Since(t.since))
	if t.items > 0 {
		t.buf.WriteByte(',')
	}
	t.items++
	if err := appendJSON(&t.buf, item); err != nil {
		return err
	}
	switch {
	case t.deltas > t.limits.deltas:
		return fmt.Errorf("it has more than %d deltas", t.limits.deltas)
	case t.buf.Len() > t.limits.bytes-lineEnd:
		return fmt.Errorf("it takes more than %s", size(t.limits.bytes))
	}
	return nil
}

// end closes the list of deltas.
func (t *take) end() { t.buf.WriteByte(']') }

// stop ends a response that its caller broke off, which may have been when
// all of it had come.
func (t *take) stop() {
	t.end()
	if !t.whole {
		t.buf.WriteString(`,"cut":true`)
	}
}

// fail ends a response that broke. One that broke because its caller gave up
// is only cut: the model might have gone on.
func (t *take) fail(err error, gaveUp bool) {
	t.end()
	if gaveUp || errors.Is(err, provider.ErrCut) {
		t.buf.WriteString(`,"cut":true`)
		return
	}
	t.buf.WriteString(`,"error":`)
	if err := appendJSON(&t.buf, errorOf(err)); err != nil && t.failed == nil {
		t.failed = err
	}
}

// line is the whole line, once the response has ended.
func (t *take) line() ([]byte, error) {
	if t.failed != nil {
		return nil, t.failed
	}
	t.buf.WriteString("}\n")
	line := t.buf.Bytes()
	if !utf8.Valid(line) { // a provider's own JSON may be so
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	if !json.Valid(line) {
		return nil, errors.New("its values nest too deep")
	}
	return line, nil
}

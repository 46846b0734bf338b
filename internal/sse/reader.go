package sse

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// DefaultLimit bounds one event's bytes on the wire: a model's longest sensible
// chunk is an image in base64, and those stay under this.
const DefaultLimit = 16 << 20

// firstBuffer is what a Reader begins with: enough that what a server writes at
// once is one read, little enough to have one for each open stream.
const firstBuffer = 8 << 10

// maxEmptyReads is how often a source may give nothing and no error before
// that is a fault of the source, as in package bufio.
const maxEmptyReads = 100

// ErrTooLong is what Next gives for an event of more than the limit's bytes.
var ErrTooLong = errors.New("event is longer than the limit")

// Event is one event of a stream.
type Event struct {
	// Name is the event's type; "message" where the stream names none.
	Name string
	// Data is valid until the next call of Next.
	Data []byte
	// ID is what the event's own id field says, and HasID whether it had one:
	// an empty id field resets the last event id.
	ID    string
	HasID bool
	// Open tells that the stream ended before the event's blank line.
	Open bool
}

// Options are a Reader's choices; the zero value follows the standard.
type Options struct {
	// Limit bounds the bytes of one event; 0 means DefaultLimit.
	Limit int
	// Open has a last event delivered although its blank line never came.
	// A last line without its line end counts as well.
	Open bool
	// Unknown, if set, is called with each line whose field the standard does
	// not define, since some servers put their errors there. The line is valid
	// during the call.
	Unknown func(line []byte)
	// Whole, if set, reports whether data is complete by itself. Where a line
	// follows such data without the blank line in between, it begins the next
	// event: some servers separate their events by single newlines.
	Whole func(data []byte) bool
}

// Reader reads events from a stream.
type Reader struct {
	src   io.Reader
	opts  Options
	limit int

	buf   []byte
	start int // where the event that is being read begins
	pos   int // where the line that is being read begins
	seen  int // how far that line is known to have no end
	end   int // what has been read

	started bool // the byte order mark has been dealt with
	skipLF  bool // the last line ended in CR, so a LF right after it belongs to that
	single  bool // events of this stream are separated by single newlines
	err     error

	cur     pending
	joined  []byte // holds data of several lines for the events of one batch
	name    string // the last name, kept so that a stream of equal names allocates once
	lastID  string
	retry   time.Duration
	retried bool
}

// pending is the event that is being read. Data of one line stays in the
// buffer, as offsets from start; of several it is in joined.
type pending struct {
	any      bool // a line other than a comment came
	hasData  bool
	multi    bool
	from, to int
	name     string
	id       string
	hasID    bool
}

// NewReader makes a Reader of src.
func NewReader(src io.Reader, o Options) *Reader {
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{src: src, opts: o, limit: limit}
}

// Next waits for the next event. At the end of the stream it gives io.EOF; any
// other error is the source's or ErrTooLong. Events that were complete before
// the error come first.
func (r *Reader) Next() (Event, error) {
	r.reuse()
	for empty := 0; ; {
		if e, ok := r.parse(); ok {
			return e, nil
		}
		if r.err != nil {
			return r.last()
		}
		n, err := r.fill()
		r.err = err
		switch {
		case n > 0 || err != nil:
			empty = 0
		default:
			if empty++; empty > maxEmptyReads {
				r.err = io.ErrNoProgress
			}
		}
	}
}

// reuse lets go of the last batch's joined data.
func (r *Reader) reuse() {
	if !r.cur.multi {
		r.joined = r.joined[:0]
		return
	}
	n := copy(r.joined, r.joined[r.cur.from:]) // the event that is being read has begun
	r.joined, r.cur.from = r.joined[:n], 0
}

// Buffered gives the next event if it has been read already. It never waits,
// and what Next gave stays valid.
func (r *Reader) Buffered() (Event, bool) { return r.parse() }

// LastEventID is the standard's last event id: what to send when reconnecting.
func (r *Reader) LastEventID() string { return r.lastID }

// Retry is the reconnection time that the stream asked for, if it did.
func (r *Reader) Retry() (time.Duration, bool) { return r.retry, r.retried }

// last handles the end of the source.
func (r *Reader) last() (Event, error) {
	if r.err == io.EOF && r.opts.Open {
		if r.pos < r.end { // a line without its end
			line := r.buf[r.pos:r.end]
			if r.splits(line) {
				e, _ := r.dispatch() // there is data, or nothing would split it
				return e, nil
			}
			r.pos = r.end
			r.field(line, r.pos-len(line))
		}
		if e, ok := r.dispatch(); ok {
			e.Open = true
			return e, nil
		}
	}
	return Event{}, r.err
}

// fill reads once. What is kept of the buffer is moved to its front first, so
// that a read is never cut short by what was read before it.
func (r *Reader) fill() (int, error) {
	if r.start > 0 {
		copy(r.buf, r.buf[r.start:r.end])
		r.pos -= r.start
		r.seen -= r.start
		r.end -= r.start
		r.start = 0
	}
	if r.end == len(r.buf) {
		if r.end > r.limit {
			return 0, ErrTooLong
		}
		grown := make([]byte, min(max(firstBuffer, 2*len(r.buf)), r.limit+1))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
	n, err := r.src.Read(r.buf[r.end:])
	r.end += n
	return n, err
}

// parse looks at the complete lines that have been read, up to the end of an
// event.
func (r *Reader) parse() (Event, bool) {
	if !r.mark() {
		return Event{}, false
	}
	for {
		line, ok := r.line()
		if !ok {
			return Event{}, false
		}
		if len(line) > 0 {
			if r.splits(line) {
				r.unread(line)
			} else {
				r.field(line, r.lineStart(line))
				if !r.cur.any {
					r.start = r.pos // only comments so far: nothing to keep
				}
				if !r.single || !r.cur.hasData || !r.opts.Whole(r.joint()) {
					continue
				}
			}
		}
		e, ok := r.dispatch()
		r.start = r.pos
		if ok {
			return e, true
		}
	}
}

// mark drops a byte order mark at the very beginning. It reports whether
// reading may go on: three bytes may be needed to tell.
func (r *Reader) mark() bool {
	const bom = "\xEF\xBB\xBF"
	if r.started {
		return true
	}
	head := r.buf[r.pos:r.end]
	if len(head) < len(bom) && r.err == nil && bytes.HasPrefix([]byte(bom), head) {
		return false
	}
	r.started = true
	if bytes.HasPrefix(head, []byte(bom)) {
		r.pos += len(bom)
		r.start = r.pos
	}
	return true
}

// line gives the next complete line without its end.
func (r *Reader) line() ([]byte, bool) {
	if r.skipLF && r.pos < r.end {
		if r.buf[r.pos] == '\n' {
			r.pos++
			if !r.cur.any {
				r.start = r.pos
			}
		}
		r.skipLF = false
	}
	from := max(r.seen, r.pos)
	stop := r.end
	if n := bytes.IndexByte(r.buf[from:stop], '\n'); n >= 0 {
		stop = from + n
	}
	if n := bytes.IndexByte(r.buf[from:stop], '\r'); n >= 0 {
		stop = from + n
		r.skipLF = true
	}
	r.seen = stop
	if stop == r.end {
		return nil, false
	}
	line := r.buf[r.pos:stop]
	r.pos = stop + 1
	return line, true
}

// splits reports whether a line begins an event although the blank line that
// ends the one before is missing.
func (r *Reader) splits(line []byte) bool {
	if !r.cur.hasData || r.opts.Whole == nil {
		return false
	}
	name, _, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data", "event", "id":
		if r.opts.Whole(r.joint()) {
			r.single = true
			return true
		}
	}
	return false
}

// unread makes a line that lies in the buffer the next one to be read.
func (r *Reader) unread(line []byte) {
	r.pos = r.lineStart(line)
	r.seen, r.skipLF = r.pos, false
}

// joint returns the data of the event that is being read.
func (r *Reader) joint() []byte {
	c := r.cur
	if c.multi {
		return r.joined[c.from:len(r.joined):len(r.joined)]
	}
	return r.buf[r.start+c.from : r.start+c.to : r.start+c.to]
}

// lineStart is the offset in the buffer of a line that lies in it.
func (r *Reader) lineStart(line []byte) int { return r.pos - 1 - len(line) }

// field takes one line of an event. at is where the line begins in the buffer.
func (r *Reader) field(line []byte, at int) {
	name, value := line, []byte(nil)
	if c := bytes.IndexByte(line, ':'); c >= 0 {
		name, value = line[:c], line[c+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	if len(name) == 0 {
		return // a comment, or a line that is nothing but a colon
	}
	r.cur.any = true
	switch string(name) {
	case "data":
		r.data(value, at+len(line)-len(value))
	case "event":
		if string(value) != r.name {
			r.name = string(value)
		}
		r.cur.name = r.name
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.cur.id, r.cur.hasID = string(value), true
		}
	case "retry":
		if ms, ok := digits(value); ok {
			r.retry, r.retried = ms, true
		}
	default:
		if r.opts.Unknown != nil {
			r.opts.Unknown(line)
		}
	}
}

// data adds one data line, whose value begins at the offset at.
func (r *Reader) data(value []byte, at int) {
	c := &r.cur
	switch {
	case !c.hasData:
		c.hasData = true
		c.from, c.to = at-r.start, at-r.start+len(value)
	case !c.multi:
		first := r.buf[r.start+c.from : r.start+c.to]
		c.multi = true
		c.from = len(r.joined)
		r.joined = append(append(append(r.joined, first...), '\n'), value...)
	default:
		r.joined = append(append(r.joined, '\n'), value...)
	}
}

// dispatch ends the event that is being read; without data there is none.
func (r *Reader) dispatch() (Event, bool) {
	c := r.cur
	if c.hasID {
		r.lastID = c.id
	}
	if !c.hasData {
		r.cur = pending{}
		return Event{}, false
	}
	data := r.joint()
	r.cur = pending{}
	e := Event{Name: c.name, ID: c.id, HasID: c.hasID, Data: data}
	if e.Name == "" {
		e.Name = "message"
	}
	return e, true
}

// digits reads a retry field, which is milliseconds in ASCII digits alone.
func digits(value []byte) (time.Duration, bool) {
	for _, b := range value {
		if b < '0' || b > '9' {
			return 0, false
		}
	}
	ms, err := strconv.ParseInt(string(value), 10, 32)
	return time.Duration(ms) * time.Millisecond, err == nil
}

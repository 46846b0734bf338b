package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

type want struct {
	Event string  `json:"event"`
	Data  string  `json:"data"`
	ID    *string `json:"id"`
}

type parseCase struct {
	Name   string `json:"name"`
	Raw    string `json:"raw"`
	Expect struct {
		Events []want `json:"events"`
		Retry  *int64 `json:"retry"`
	} `json:"expect"`
}

func parseCases(t testing.TB) []parseCase {
	raw, err := os.ReadFile("testdata/parse-cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var f struct{ Cases []parseCase }
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Cases) < 24 {
		t.Fatalf("parse-cases.json holds %d cases, 24 were written", len(f.Cases))
	}
	return f.Cases
}

// all reads a stream to its end, batch by batch.
func all(r *Reader) (events []want, open []bool, err error) {
	for {
		e, err := r.Next()
		for ok := err == nil; ok; e, ok = r.Buffered() {
			w := want{Event: e.Name, Data: string(e.Data)}
			if e.HasID {
				id := e.ID
				w.ID = &id
			}
			events, open = append(events, w), append(open, e.Open)
		}
		if err != nil {
			return events, open, err
		}
	}
}

func same(a, b []want) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return len(a) == len(b) && (len(a) == 0 || bytes.Equal(x, y))
}

func TestParseCases(t *testing.T) {
	t.Parallel()
	for _, c := range parseCases(t) {
		for how, src := range map[string]io.Reader{
			"at once":      strings.NewReader(c.Raw),
			"byte by byte": iotest.OneByteReader(strings.NewReader(c.Raw)),
			"halves":       iotest.HalfReader(strings.NewReader(c.Raw)),
			"data and EOF": iotest.DataErrReader(strings.NewReader(c.Raw)),
		} {
			t.Run(c.Name+"/"+how, func(t *testing.T) {
				t.Parallel()
				r := NewReader(src, Options{})
				got, _, err := all(r)
				if err != io.EOF {
					t.Fatalf("ended with %v", err)
				}
				if !same(got, c.Expect.Events) {
					t.Errorf("got %+v\nwant %+v", got, c.Expect.Events)
				}
				d, ok := r.Retry()
				if ok != (c.Expect.Retry != nil) || ok && d.Milliseconds() != *c.Expect.Retry {
					t.Errorf("retry is %v, %v", d, ok)
				}
			})
		}
	}
}

func TestOpenEvent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		want []string
		open bool // of the last one
	}{
		"no blank line":             {"data: a\n\ndata: b\n", []string{"a", "b"}, true},
		"no line end":               {"data: a\n\ndata: [DONE]", []string{"a", "[DONE]"}, true},
		"several lines":             {"data: a\ndata: b", []string{"a\nb"}, true},
		"only a field name":         {"data: a\n\nda", []string{"a"}, false},
		"complete":                  {"data: a\n\n", []string{"a"}, false},
		"nothing":                   {"", nil, false},
		"half a byte order mark":    {"\xEF\xBB", nil, false},
		"a mark and an open event":  {"\xEF\xBB\xBFdata: a", []string{"a"}, true},
		"a comment at the very end": {"data: a\n\n: ping", []string{"a"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, open, err := all(NewReader(iotest.OneByteReader(strings.NewReader(c.raw)), Options{Open: true}))
			if err != io.EOF || len(got) != len(c.want) {
				t.Fatalf("got %+v, %v", got, err)
			}
			for i := range got {
				if got[i].Data != c.want[i] || open[i] != (c.open && i == len(got)-1) {
					t.Errorf("event %d is %q, open %v", i, got[i].Data, open[i])
				}
			}
		})
	}
}

func TestABrokenStreamGivesNoOpenEvent(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	src := io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken))
	got, _, err := all(NewReader(src, Options{Open: true}))
	if len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// steps is a source whose reads are given one by one.
type steps []string

func (s *steps) Read(p []byte) (int, error) {
	if len(*s) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*s)[0])
	*s = (*s)[1:]
	return n, nil
}

func TestABatchIsWhatOneReadCompleted(t *testing.T) {
	t.Parallel()
	src := &steps{
		"data: 1\n\ndata: 2\n\ndata: 3\ndata: th",
		"ree\n\n: ping\n\ndata: 4\n\n",
		": ping\n",
		"data: 5\n\n",
	}
	r := NewReader(src, Options{})
	var batches []string
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		var kept [][]byte
		for ok := true; ok; e, ok = r.Buffered() {
			kept = append(kept, e.Data)
		}
		batches = append(batches, string(bytes.Join(kept, []byte("|"))))
	}
	if got := strings.Join(batches, " · "); got != "1|2 · 3\nthree|4 · 5" {
		t.Errorf("batches: %q", got)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100<<10)
	for name, raw := range map[string]string{
		"one line":      "data: " + long + "\n\n",
		"many lines":    strings.Repeat("data: xxxxxxxxxxxxxxxxxxxx\n", 5000) + "\n",
		"no line end":   long,
		"unknown field": long + ": " + long + "\n\n",
	} {
		if _, _, err := all(NewReader(strings.NewReader(raw), Options{Limit: 64 << 10})); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, _, err := all(NewReader(strings.NewReader("data: "+long+"\n\n"), Options{}))
	if err != io.EOF || len(got) != 1 || got[0].Data != long {
		t.Errorf("a long event: %d events, %v", len(got), err)
	}
	pings := strings.Repeat(": ping\n", 100_000)
	got, _, err = all(NewReader(strings.NewReader(pings+"data: a\n\n"), Options{Limit: 1 << 10}))
	if err != io.EOF || len(got) != 1 {
		t.Errorf("after many comments: %+v, %v", got, err)
	}
}

func TestUnknownFieldsAndIDs(t *testing.T) {
	t.Parallel()
	var fields []string
	r := NewReader(strings.NewReader("id: 7\n\nerror: {\"message\":\"full\"}\n\nid: 8\ndata: a\n\nid\ndata: b\n\n"),
		Options{Unknown: func(line []byte) { fields = append(fields, string(line)) }})
	got, _, _ := all(r)
	if len(got) != 2 || *got[0].ID != "8" || *got[1].ID != "" || r.LastEventID() != "" {
		t.Errorf("events %+v, last id %q", got, r.LastEventID())
	}
	if strings.Join(fields, ",") != `error: {"message":"full"}` {
		t.Errorf("fields %q", fields)
	}
}

func TestASourceThatNeverGivesAnything(t *testing.T) {
	t.Parallel()
	_, err := NewReader(nothing{}, Options{}).Next()
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("got %v", err)
	}
}

type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestWriter(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, e := range []Event{
		{Data: []byte(`{"a":1}`)},
		{Name: "token", ID: "12", HasID: true, Data: []byte("one\ntwo\r\nthree\rfour\n")},
		{Name: "message", Data: nil},
	} {
		if err := w.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Ping(), w.Retry(3*time.Second)); err != nil {
		t.Fatal(err)
	}
	const want = "data: {\"a\":1}\n\n" +
		"id: 12\nevent: token\ndata: one\ndata: two\ndata: three\ndata: four\ndata: \n\n" +
		"data: \n\n: ping\nretry: 3000\n\n"
	if b.String() != want {
		t.Errorf("wrote %q\nwant  %q", b.String(), want)
	}
}

func TestWriterRefusesWhatWouldBreakTheStream(t *testing.T) {
	t.Parallel()
	for _, e := range []Event{{Name: "a\nb"}, {Name: "a\rdata: x"}, {ID: "1\n", HasID: true}, {ID: "\x00", HasID: true}} {
		var b bytes.Buffer
		if err := NewWriter(&b).Event(e); err == nil || b.Len() > 0 {
			t.Errorf("%+v: wrote %q, %v", e, b.String(), err)
		}
	}
}

// reference reads a whole stream the slow way, line by line as the standard
// puts it.
func reference(raw string) (events []want) {
	raw = strings.TrimPrefix(raw, "\uFEFF")
	raw = strings.ReplaceAll(strings.ReplaceAll(raw, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(raw, "\n")
	var data []string
	var id *string
	name := ""
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if data != nil {
				w := want{Event: name, Data: strings.Join(data, "\n"), ID: id}
				if name == "" {
					w.Event = "message"
				}
				events = append(events, w)
			}
			data, id, name = nil, nil, ""
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
		case "event":
			name = value
		case "id":
			if !strings.Contains(value, "\x00") {
				id = &value
			}
		}
	}
	return events
}

func FuzzReader(f *testing.F) {
	for _, c := range parseCases(f) {
		f.Add(c.Raw, 3)
	}
	f.Add("data: a\r", 1)
	f.Add("\xEF\xBBdata: a\n\n", 2)
	f.Fuzz(func(t *testing.T, raw string, size int) {
		size = 1 + (size&0x7fffffff)%64
		var parts steps
		for rest := raw; rest != ""; {
			n := min(size, len(rest))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		got, _, err := all(NewReader(&parts, Options{}))
		if err != io.EOF {
			t.Fatalf("ended with %v", err)
		}
		if exp := reference(raw); !same(got, exp) {
			t.Fatalf("got %+v\nwant %+v", got, exp)
		}
		all(NewReader(strings.NewReader(raw), Options{Open: true, Limit: 64}))
	})
}

func FuzzWriter(f *testing.F) {
	f.Add("name", "id", "data\nmore")
	f.Fuzz(func(t *testing.T, name, id, data string) {
		raw, err := Append(nil, Event{Name: name, ID: id, HasID: true, Data: []byte(data)})
		if err != nil {
			return
		}
		got, _, _ := all(NewReader(bytes.NewReader(raw), Options{}))
		data = strings.ReplaceAll(strings.ReplaceAll(data, "\r\n", "\n"), "\r", "\n")
		if name == "" {
			name = "message"
		}
		if len(got) != 1 || got[0].Data != data || got[0].Event != name || *got[0].ID != id {
			t.Fatalf("wrote %q, read %+v", raw, got)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var stream bytes.Buffer
	for range 1000 {
		stream.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}` + "\n\n")
	}
	b.SetBytes(int64(stream.Len()))
	for b.Loop() {
		r := NewReader(bytes.NewReader(stream.Bytes()), Options{})
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			for ok := true; ok; _, ok = r.Buffered() {
			}
		}
	}
}

// Some servers separate their events by single newlines: a line that follows
// whole data begins the next event. Data over several lines stays one event.
func TestEventsSeparatedBySingleNewlines(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		raw  string
		want []string
	}{
		"data lines alone":             {"data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n", []string{`{"a":1}`, `{"a":2}`, "[DONE]"}},
		"without a last line end":      {"data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]", []string{`{"a":1}`, `{"a":2}`, "[DONE]"}},
		"carriage returns":             {"data: {\"a\":1}\r\ndata: {\"a\":2}\r\ndata: [DONE]\r\n", []string{`{"a":1}`, `{"a":2}`, "[DONE]"}},
		"carriage returns alone":       {"data: {\"a\":1}\rdata: {\"a\":2}\rdata: [DONE]\r", []string{`{"a":1}`, `{"a":2}`, "[DONE]"}},
		"names":                        {"event: x\ndata: {\"a\":1}\nevent: y\ndata: {\"a\":2}\n", []string{`x {"a":1}`, `y {"a":2}`}},
		"comments in between":          {"data: {\"a\":1}\n: ping\ndata: {\"a\":2}\n", []string{`{"a":1}`, `{"a":2}`}},
		"blank lines later":            {"data: {\"a\":1}\ndata: {\"a\":2}\n\ndata: {\"a\":3}\n\n", []string{`{"a":1}`, `{"a":2}`, `{"a":3}`}},
		"one event in several lines":   {"data: {\"a\":\ndata: {\"b\":1}\ndata: }\n\ndata: {\"a\":2}\n\n", []string{"{\"a\":\n{\"b\":1}\n}", `{"a":2}`}},
		"several lines, then a single": {"data: {\"a\":\ndata: 1}\ndata: {\"a\":2}\n", []string{"{\"a\":\n1}", `{"a":2}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, src := range []io.Reader{strings.NewReader(tc.raw), iotest.OneByteReader(strings.NewReader(tc.raw))} {
				var got []string
				r := NewReader(src, Options{Open: true, Whole: func(b []byte) bool { return json.Valid(b) || string(b) == "[DONE]" }})
				for {
					e, err := r.Next()
					if err != nil {
						break
					}
					text := string(e.Data)
					if e.Name != "message" {
						text = e.Name + " " + text
					}
					got = append(got, text)
				}
				if strings.Join(got, "|") != strings.Join(tc.want, "|") {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			}
		})
	}
}

// A stream of single newlines gives each event when its line ends, not when the
// next one begins, once it is known to be one.
func TestSingleNewlinesDoNotDelayEvents(t *testing.T) {
	t.Parallel()
	from, to := io.Pipe()
	defer from.Close()
	r := NewReader(from, Options{Whole: json.Valid})
	go to.Write([]byte("data: {\"a\":1}\ndata: {\"a\":2}\n"))
	for _, want := range []string{`{"a":1}`, `{"a":2}`} {
		if e, err := r.Next(); err != nil || string(e.Data) != want {
			t.Fatalf("got %q, %v; want %q while the stream is open", e.Data, err, want)
		}
	}
}

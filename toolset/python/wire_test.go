package python

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

var (
	testKey  = token{1}
	testLast = token{2}
)

func frame(tok token, payload string) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), tok[:]...), payload...)
}

func testChannel(data []byte) *channel {
	c := newChannel(bytes.NewReader(data))
	c.key, c.last = testKey, testLast
	return c
}

func TestFrames(t *testing.T) {
	t.Parallel()
	good := frame(testLast, `{"t":"result"}`)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":                        {nil, io.EOF},
		"a result":                       {good, nil},
		"half a header":                  {good[:7], errForged},
		"half a payload":                 {good[:len(good)-1], io.EOF},
		"text":                           {[]byte("a line that a tool printed into the channel\n"), errForged},
		"no token":                       {frame(token{}, `{"t":"result"}`), errForged},
		"a result by the key":            {frame(testKey, `{"t":"result"}`), errForged},
		"progress by the last token":     {frame(testLast, `{"t":"progress"}`), errForged},
		"no JSON":                        {frame(testKey, `{"t":`), errForged},
		"no UTF-8":                       {frame(testKey, "{\"t\":\"progress\",\"message\":\"\xff\"}"), errForged},
		"another type":                   {frame(testKey, `{"t":"request"}`), errForged},
		"an array":                       {frame(testKey, `[]`), errForged},
		"deep":                           {frame(testKey, `{"t":"progress","data":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`), errForged},
		"too long a progress":            {frame(testKey, `{"t":"progress","message":"`+strings.Repeat("x", maxUpdate)+`"}`), errForged},
		"a length without what it means": {append([]byte{0xff, 0xff, 0xff, 0xff}, testLast[:]...), errForged},
	} {
		_, err := testChannel(c.data).next()
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever came through the channel, no result is more than the runner's own.
func FuzzFrames(f *testing.F) {
	f.Add(frame(testKey, `{"t":"start"}`))
	f.Add(append(frame(testKey, `{"t":"progress","stage":"a","message":"b","progress":0.5,"data":{"a":1}}`), frame(testLast, `{"t":"result","kind":"dict","data":{"a":1},"notes":[],"modules":["json"]}`)...))
	f.Add(frame(testLast, `{"t":"result","kind":"result","text":"x","payload":{"type":"a"},"workspace_payload":[1]}`))
	f.Add(frame(testLast, `{"t":"error","type":"ValueError","message":"\u001b[31m","traceback":"File"}`))
	f.Add([]byte("{\"t\":\"result\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		known := bytes.Contains(data, testKey[:]) || bytes.Contains(data, testLast[:])
		c := testChannel(data)
		for {
			m, err := c.next()
			if err != nil {
				if err != io.EOF && !errors.Is(err, errForged) {
					t.Fatal(err)
				}
				return
			}
			if !known {
				t.Fatalf("a frame without a token was read: %+v", m)
			}
			checkMessage(t, m)
			if m.T == result || m.T == raised {
				return
			}
		}
	})
}

func checkMessage(t *testing.T, m message) {
	t.Helper()
	p := updateOf(m)
	if strings.ContainsAny(p.Message+p.Stage, "\x00\x1b\r") || p.Progress != nil && !(*p.Progress >= 0 && *p.Progress <= 1) {
		t.Errorf("%+v", p)
	}
	if m.T != result {
		return
	}
	res, err := resultOf(m)
	if err != nil {
		return
	}
	for _, raw := range [][]byte{res.Payload, res.WorkspacePayload} {
		if len(raw) > 0 && raw[0] != '{' {
			t.Errorf("%s", raw)
		}
	}
	for _, name := range preloadable(m.Modules) {
		if strings.HasPrefix(name, "-") || strings.ContainsAny(name, " /\\=") {
			t.Errorf("%q", name)
		}
	}
}

func TestPreloadableIsPythonsOwn(t *testing.T) {
	t.Parallel()
	got := strings.Join(preloadable([]string{"json", "json.decoder", "numpy", "antigravity", "this", "-c", "os;import x", "tools.forms", "json", "--help", strings.Repeat("a", 100), "json." + strings.Repeat("a", 100)}), " ")
	if got != "json json.decoder pathlib" {
		t.Errorf("%q", got)
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\x1b[31mb\x00\r\n\tc": "a[31mb\n\tc", "x\u202ey": "xy", "\xff": "\uFFFD", "ééé": "éé…", "abcd": "abcd",
	} {
		limit := 40
		if want == "éé…" {
			limit = 5
		}
		if got := plain(in, limit); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

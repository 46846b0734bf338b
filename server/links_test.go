package server_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/server"
)

type linkDoc struct {
	Path      string
	ExpiresAt time.Time `json:"expires_at"`
}

// A link lets one file be read without the token, until its time, and nothing else.
func TestALinkLetsOneFileBeRead(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	h := open(t, plan{change: func(o *server.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	}})
	_, number := h.finish(doc{"message": "write"})
	files := fmt.Sprintf("/api/chats/%d/workspace/files/", number)
	h.call("PUT", files+"a%20b.txt", "0123456789", "Content-Type", "application/octet-stream").is(200, nil)
	none := []string{"Authorization", ""}
	link := func(path string) (l linkDoc) {
		t.Helper()
		h.call("POST", "/api/links", doc{"path": path}).is(201, &l)
		return l
	}
	made := link(files + "a%20b.txt?manifest=@")
	if until := time.Until(made.ExpiresAt); until < time.Hour || until > 24*time.Hour || strings.Contains(made.Path, h.token) {
		t.Errorf("the link is %+v", made)
	}
	if a := h.call("GET", made.Path, nil, none...).is(200, nil); string(a.body) != "0123456789" {
		t.Errorf("it gives %q", a.body)
	}
	if a := h.call("GET", made.Path, nil, "Authorization", "", "Range", "bytes=2-4").is(206, nil); string(a.body) != "234" {
		t.Errorf("a part of it is %q", a.body)
	}
	h.call("HEAD", made.Path, nil, none...).is(200, nil)

	leave, _, _ := strings.Cut(strings.TrimPrefix(made.Path, "/l/"), "/")
	until, seal, _ := strings.Cut(leave, ".")
	target := strings.TrimPrefix(made.Path, "/l/"+leave)
	for name, c := range map[string]struct{ method, path string }{
		"another file":           {"GET", "/l/" + leave + files + "notes/a.txt?manifest=@"},
		"another state":          {"GET", strings.Replace(made.Path, "@", "@-1", 1)},
		"no state":               {"GET", strings.TrimSuffix(made.Path, "?manifest=@")},
		"more of a query":        {"GET", made.Path + "&x=1"},
		"the same, written else": {"GET", strings.Replace(made.Path, "a%20b", "%61%20b", 1)},
		"the list of files":      {"GET", "/l/" + leave + strings.TrimSuffix(files, "/")},
		"the chats":              {"GET", "/l/" + leave + "/api/chats"},
		"a write":                {"PUT", made.Path},
		"a removal":              {"DELETE", made.Path},
		"another time":           {"GET", "/l/" + until + "0." + seal + target},
		"another seal":           {"GET", "/l/" + until + "." + strings.Repeat("A", len(seal)) + target},
		"no seal":                {"GET", "/l/" + until + target},
		"no time":                {"GET", "/l/." + seal + target},
	} {
		ahead.Add(int64(2 * time.Second)) // so many wrong ones are more than are looked at in one
		header := none
		if c.method == "PUT" {
			header = append([]string{"Content-Type", "application/octet-stream"}, none...)
		}
		var body any
		if c.method == "PUT" {
			body = "x"
		}
		if a := h.call(c.method, c.path, body, header...); a.status != 401 {
			t.Errorf("%s: status %d: %s", name, a.status, a.body)
		}
		if a := h.call(c.method, c.path, body, header[:len(header)-2]...); a.status != 401 {
			t.Errorf("%s, with the token beside it: status %d: %s", name, a.status, a.body)
		}
	}
	if a := h.call("GET", made.Path, nil, "Authorization", "", "Sec-Fetch-Site", "cross-site"); a.status != 403 {
		t.Errorf("for another site: status %d", a.status)
	}

	ahead.Store(int64(time.Until(made.ExpiresAt) + time.Minute))
	if a := h.call("GET", made.Path, nil, none...); a.status != 401 || !strings.Contains(string(a.body), "has run out") {
		t.Errorf("after its time: status %d: %s", a.status, a.body)
	}
	if a := h.call("GET", link(files+"a%20b.txt").Path, nil, none...).is(200, nil); string(a.body) != "0123456789" {
		t.Errorf("a new one gives %q", a.body)
	}
	if strings.Contains(h.log.String(), seal) {
		t.Error("the link is in the log")
	}
}

// Links are made for files alone, by whoever has the token, and end with the server.
func TestWhatLinksAreMadeOf(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	_, number := h.finish(doc{"message": "write"})
	file := fmt.Sprintf("/api/chats/%d/workspace/files/notes/a.txt", number)
	for name, path := range map[string]string{
		"nothing": "", "the chats": "/api/chats", "the list of files": fmt.Sprintf("/api/chats/%d/workspace/files", number), "no path": "notes/a.txt",
		"an address": "http://127.0.0.1" + file, "another host": "//else" + file, "the page": "/", "with a token": "/t/" + h.token + file,
		"a way round": fmt.Sprintf("/api/chats/%d/workspace/files/../../x", number), "a link": "/l/x.y" + file,
	} {
		if a := h.call("POST", "/api/links", doc{"path": path}); a.status != 400 {
			t.Errorf("%s: status %d: %s", name, a.status, a.body)
		}
	}
	h.call("POST", "/api/links", doc{"path": file}, "Authorization", "").is(401, nil)
	var l linkDoc
	h.call("POST", "/api/links", doc{"path": file}).is(201, &l)
	other := open(t, plan{})
	if a := other.call("GET", l.Path, nil, "Authorization", ""); a.status != 401 {
		t.Errorf("at another server: status %d", a.status)
	}
}

package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

const (
	// linkPrefix begins a path with leave to read one file, for what can't send a
	// header and is copied by people: /l/LEAVE/api/chats/12/workspace/files/a.mp4.
	linkPrefix = "/l/"
	// linkTime is as long as anybody leaves a film stopped in its middle: a browser
	// asks for the rest of it when it goes on.
	linkTime = 12 * time.Hour
	// base of the time that a link runs out at, in milliseconds.
	linkBase = 36
)

// links makes and checks links. Their key is made with the server, so that they end
// with it. It has no state beside that, and is used by all requests at once.
type links struct {
	key [sha256.Size]byte
	now func() time.Time
}

func newLinks(now func() time.Time) *links {
	l := &links{now: now}
	_, _ = rand.Read(l.key[:]) // which never fails
	return l
}

// link gives a target, the path and query of a GET, the prefix that lets it through.
func (l *links) link(target string) (string, time.Time) {
	end := l.now().Add(linkTime).Truncate(time.Millisecond)
	until := strconv.FormatInt(end.UnixMilli(), linkBase)
	return linkPrefix + until + "." + l.seal(until, target) + target, end
}

func (l *links) seal(until, target string) string {
	mac := hmac.New(sha256.New, l.key[:])
	mac.Write([]byte(until + " " + target))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// leave is what a link's leave says of a request.
type leave int

const (
	leaveWrong leave = iota
	leaveOver        // it was right, and has run out
	leaveGiven
)

// look tells what a leave, "UNTIL.SEAL", is worth for a target.
func (l *links) look(given, target string) leave {
	until, seal, _ := strings.Cut(given, ".")
	if !hmac.Equal([]byte(seal), []byte(l.seal(until, target))) {
		return leaveWrong
	}
	end, err := strconv.ParseInt(until, linkBase, 64)
	if err != nil || l.now().UnixMilli() >= end {
		return leaveOver
	}
	return leaveGiven
}

// takeLeave takes a link's prefix off the path, and gives its leave.
func takeLeave(r *http.Request) string {
	rest, ok := strings.CutPrefix(r.URL.Path, linkPrefix)
	if !ok {
		return ""
	}
	given, _, _ := strings.Cut(rest, "/")
	if given == "" {
		return ""
	}
	stripPrefix(r, linkPrefix+given)
	return given
}

// linkedTo is what a link is for: the path and the query, as they were written.
func linkedTo(u *url.URL) string {
	if u.RawQuery == "" {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + u.RawQuery
}

// linkBody is the address of what a link is wanted to.
type linkBody struct {
	// Path is the path and query of a GET of get_workspace_file.
	Path string `json:"path"`
}

// linkJSON is a link: a path that needs no token until then.
type linkJSON struct {
	Path      string    `json:"path"`
	ExpiresAt time.Time `json:"expires_at"`
}

func createLink(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body linkBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	u, err := url.ParseRequestURI(body.Path)
	if err != nil || u.IsAbs() || u.Host != "" {
		return fault.New(fault.Usage, "path is not a path of this server")
	}
	asked := &http.Request{Method: http.MethodGet, URL: u, Host: r.Host, Header: http.Header{}}
	if to := s.table.find(asked); to == nil || !to.linked || s.gate.plainPath(asked) != nil {
		return fault.New(fault.Usage, "path is not that of a chat's file", fault.Advise("give the path of a GET of get_workspace_file, such as /api/chats/12/workspace/files/a.mp4"))
	}
	path, end := s.gate.links.link(linkedTo(u))
	writeJSON(w, http.StatusCreated, linkJSON{Path: path, ExpiresAt: end})
	return nil
}

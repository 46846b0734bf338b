package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/engine/workspace"
)

// span is a part of a file, as a Range asks for it.
type span struct{ from, size int64 }

// rangeOf reads the header Range of a file of some size: one range of bytes. What
// isn't one is left out, as RFC 9110 has it, and the whole file is given; ok is
// false for a range that the file doesn't have.
func rangeOf(header string, size int64) (s span, part, ok bool) {
	whole := span{0, size}
	text, found := strings.CutPrefix(header, "bytes=")
	if !found || strings.Contains(text, ",") {
		return whole, false, true
	}
	first, last, found := strings.Cut(strings.TrimSpace(text), "-")
	if !found {
		return whole, false, true
	}
	if first == "" { // the last bytes
		n, err := strconv.ParseUint(last, 10, 63)
		if err != nil {
			return whole, false, true
		}
		if n == 0 || size == 0 {
			return span{}, false, false
		}
		n = min(n, uint64(size))
		return span{size - int64(n), int64(n)}, true, true
	}
	from, err := strconv.ParseUint(first, 10, 63)
	if err != nil {
		return whole, false, true
	}
	to := uint64(size) - 1
	if last != "" {
		if to, err = strconv.ParseUint(last, 10, 63); err != nil || to < from {
			return whole, false, true
		}
	}
	if int64(from) >= size {
		return span{}, false, false
	}
	to = min(to, uint64(size)-1)
	return span{int64(from), int64(to-from) + 1}, true, true
}

// cut passes a part of what is written on, and ends the writer of it when it has
// it all.
type cut struct {
	w    io.Writer
	skip int64
	left int64
}

var errEnough = fmt.Errorf("the part was written: %w", io.EOF)

func (c *cut) Write(p []byte) (int, error) {
	all := len(p)
	if n := min(c.skip, int64(len(p))); n > 0 {
		c.skip -= n
		p = p[n:]
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.w.Write(p)
	c.left -= int64(n)
	switch {
	case err != nil:
		return n, err
	case c.left == 0 && len(p) < all:
		return all - 1, errEnough // it need not read on
	}
	return all, nil
}

// getWorkspaceFile gives the content of a file of a state. It is a stranger's: it
// is never shown as a page of this origin.
func getWorkspaceFile(s *Server, w http.ResponseWriter, r *http.Request) error {
	state, err := stateName(r)
	if err != nil {
		return err
	}
	_, m, err := s.stateOfChat(r, state)
	if err != nil {
		return err
	}
	name := r.PathValue("path")
	if m == nil {
		return fault.New(fault.NotFound, "there is no file "+quoted(name))
	}
	e, err := s.eng.FileEntry(r.Context(), m, name)
	if err != nil {
		return err
	}
	if !isFile(e) {
		return refuse(http.StatusUnprocessableEntity, "usage", quoted(name)+" is no file but a "+e.Kind.String())
	}
	h := w.Header()
	tag := `"` + e.Digest.String() + `"`
	h.Set("ETag", tag)
	h.Set("Accept-Ranges", "bytes")
	h.Set("Cache-Control", "private, no-cache")
	if match := r.Header.Get("If-None-Match"); match == tag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	header := r.Header.Get("Range")
	if only := r.Header.Get("If-Range"); only != "" && only != tag {
		header = ""
	}
	part, partial, ok := rangeOf(header, e.Size)
	if !ok {
		h.Set("Content-Range", "bytes */"+strconv.FormatInt(e.Size, 10))
		return refuse(http.StatusRequestedRangeNotSatisfiable, "usage", fmt.Sprintf("the file has %d bytes", e.Size))
	}
	return s.sendFile(w, r, sending{name: name, entry: e, part: part, partial: partial})
}

type sending struct {
	name    string
	entry   cas.Entry
	part    span
	partial bool
}

func (s *Server) sendFile(w http.ResponseWriter, r *http.Request, f sending) error {
	h := w.Header()
	h.Set("Content-Type", typeOf(f.name))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(f.name)}))
	h.Set("Content-Length", strconv.FormatInt(f.part.size, 10))
	status := http.StatusOK
	if f.partial {
		status = http.StatusPartialContent
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", f.part.from, f.part.from+f.part.size-1, f.entry.Size))
	}
	if r.Method == http.MethodHead || f.part.size == 0 {
		w.WriteHeader(status)
		return nil
	}
	out := &cut{w: &lateHeader{w: w, status: status}, skip: f.part.from, left: f.part.size}
	err := s.eng.ReadFile(r.Context(), out, f.entry)
	if out.left == 0 {
		return nil // whatever came behind it
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// lateHeader sends the status with the first byte, so that a file that can't be
// read at all is an error with a status of its own.
type lateHeader struct {
	w      http.ResponseWriter
	status int
	begun  bool
}

func (l *lateHeader) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !l.begun {
		l.begun = true
		l.w.WriteHeader(l.status)
	}
	return l.w.Write(p)
}

// typeOf is a content type for a file's name, of those that a browser can't run.
func typeOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".md", ".csv", ".log", ".py", ".go", ".js", ".ts", ".css", ".html", ".htm", ".yaml", ".yml", ".toml", ".xml", ".svg", ".sh":
		return "text/plain; charset=utf-8"
	case ".json":
		return "application/json"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".pdf":
		return "application/pdf"
	case ".mp3":
		return "audio/mpeg"
	case ".wav":
		return "audio/wav"
	case ".flac":
		return "audio/flac"
	case ".ogg", ".oga", ".opus":
		return "audio/ogg"
	case ".m4a":
		return "audio/mp4"
	case ".mp4", ".m4v":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	}
	return "application/octet-stream"
}

// putWorkspaceFile writes a file of the workspace, whole or not at all; undo takes
// it back. If-Match has it written only in the place of the file that its client has
// read, If-None-Match: * only where there is none.
func putWorkspaceFile(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	put := workspace.Put{Name: r.PathValue("path"), Content: mustComplete{r.Body}, New: r.Header.Get("If-None-Match") == "*"}
	if match := r.Header.Get("If-Match"); match != "" {
		if put.Was = strings.Trim(match, `"`); len(put.Was) != 64 || strings.Trim(put.Was, "0123456789abcdef") != "" {
			return fault.New(fault.Usage, "If-Match has to be the ETag of the file, not "+quoted(match))
		}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(fileTime)) // a server that can't has none to set
	return s.restoring(w, r, func(ctx context.Context, q workspace.RestoreRequest) (*workspace.Restored, error) {
		q.Chat = ref
		return s.eng.PutFile(ctx, q, put)
	})
}

func deleteWorkspaceFile(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	return s.restoring(w, r, func(ctx context.Context, q workspace.RestoreRequest) (*workspace.Restored, error) {
		q.Chat = ref
		return s.eng.RemoveFile(ctx, q, r.PathValue("path"))
	})
}

// moveBody gives a file or a folder another path.
type moveBody struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func moveWorkspaceFile(s *Server, w http.ResponseWriter, r *http.Request, ref store.ChatRef) error {
	var body moveBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	return s.restoring(w, r, func(ctx context.Context, q workspace.RestoreRequest) (*workspace.Restored, error) {
		q.Chat = ref
		return s.eng.MoveFile(ctx, q, body.From, body.To)
	})
}

// mustComplete is a body that fails where its client goes away, so that half of a
// file is never taken for one.
type mustComplete struct{ r io.Reader }

func (m mustComplete) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return n, err // the client is there, and is to hear why
	}
	if err != nil && err != io.EOF { //nolint:errorlint // a reader's end is io.EOF itself
		return n, refuse(http.StatusBadRequest, "bad_request", "the file came only in part")
	}
	return n, err
}

package acp

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

const (
	// maxLinked bounds a linked file that goes along with the prompt. A model
	// reads a longer one piece by piece, by its tools.
	maxLinked = 256 << 10
	// linkTime bounds the wait for the editor's text of a file: it has it in
	// memory.
	linkTime = 5 * time.Second
)

// link takes a file that the prompt names. What the editor has of it counts, with
// what isn't saved yet; else the file in the session's folder. shown stands in the
// text at its place. A link that leads elsewhere is only shown.
func (a *agent) link(ctx context.Context, s *session, b contentBlock) (part *provider.Part, shown string, err error) {
	if b.URI == "" {
		return nil, "", &rpcError{Code: codeParams, Message: "a resource_link of params.prompt has no uri"}
	}
	path, ok := filePath(b.URI)
	if !ok {
		name := sanitize.Line(b.Title)
		if name == "" {
			name = sanitize.Line(b.Name)
		}
		return nil, "[" + sanitize.Cut(name, maxShownName) + "](" + sanitize.Cut(sanitize.Line(b.URI), maxURI) + ")", nil
	}
	name := s.nameOf(b.URI)
	text, ok := a.buffer(ctx, s, path)
	if !ok {
		rel, inside := s.relative(path)
		if !inside {
			return nil, mention(name), nil
		}
		if text, ok = readBeneath(s.cwd, rel, maxLinked); !ok {
			return nil, mention(name), nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, "", err
	}
	return &provider.Part{Kind: provider.FilePart, Name: name, Text: text}, mention(name), nil
}

// maxURI bounds an address that is shown to the model.
const maxURI = 2 << 10

// buffer asks the editor for its text of a file. Only files in the session's folder
// are asked for: what else the person has open is no business of a link's.
func (a *agent) buffer(ctx context.Context, s *session, path string) (string, bool) {
	rel, inside := s.relative(path)
	if !inside {
		return "", false
	}
	text, ok, err := openFiles{a, s}.ReadText(ctx, rel) // an error is logged, and the disk has the file
	if err != nil || !ok || len(text) > maxLinked || !isText([]byte(text)) {
		return "", false
	}
	return text, true
}

// filePath is the path of a file: address.
func filePath(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // file:///C:/folder
	}
	path = filepath.Clean(filepath.FromSlash(path))
	return path, filepath.IsAbs(path)
}

// fileURI is the address of a file.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// relative is the path of a file within the session's folder, with slashes.
func (s *session) relative(path string) (string, bool) {
	rel, err := filepath.Rel(s.cwd, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// nameOf is what a file is called: its path within the session's folder, else all
// of its address.
func (s *session) nameOf(uri string) string {
	if path, ok := filePath(uri); ok {
		if rel, inside := s.relative(path); inside {
			return sanitize.Cut(sanitize.Line(rel), maxShownName)
		}
		return sanitize.Cut(sanitize.Line(path), maxShownName)
	}
	return sanitize.Cut(sanitize.Line(uri), maxShownName)
}

// readBeneath reads a text file in a folder, by no link that leads out of it. ok
// is false for one that isn't there, is no text, or has more than most bytes, and
// for what git keeps, which is never read in a folder of the user's.
func readBeneath(dir, rel string, most int64) (text string, ok bool) {
	if slices.Contains(strings.Split(strings.ToLower(rel), "/"), ".git") {
		return "", false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", false
	}
	defer root.Close()
	rel = filepath.FromSlash(rel)
	if info, err := root.Stat(rel); err != nil || !info.Mode().IsRegular() {
		return "", false // a FIFO would be waited for
	}
	f, err := root.Open(rel)
	if err != nil {
		return "", false
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil || int64(len(raw)) > most || !isText(raw) {
		return "", false
	}
	return string(raw), true
}

// isText tells whether a file can be shown as text.
func isText(raw []byte) bool {
	return utf8.Valid(raw) && !strings.ContainsRune(string(raw[:min(len(raw), 8<<10)]), 0)
}

// limited is a buffer that takes so many bytes and no more.
type limited struct {
	b    strings.Builder
	most int
}

var errTooMuch = errors.New("the file is too large to be shown")

func (l *limited) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > l.most {
		return 0, errTooMuch
	}
	return l.b.Write(p)
}

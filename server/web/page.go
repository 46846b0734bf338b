package web

import (
	"bytes"
	"crypto/rand"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// NonceMark is what stands in the index where an answer's nonce belongs.
const NonceMark = "__FETTLE_NONCE__"

// packedExt ends the names of files that the build compressed by Brotli. Most are
// in the program in this form alone: it is a quarter of their size.
const packedExt = ".br"

// indexName is the file that the page's own addresses give.
const indexName = "index.html"

// Page is one build of the page. Make it with New.
type Page struct {
	index []byte
	files map[string]*file // by name, without what is compressed beside them
}

// New reads the page that is in the program. There is one in it unless it was built
// with the tag no_web; Built tells.
func New() (*Page, error) {
	files := dist()
	if files == nil {
		return &Page{}, nil
	}
	return fromFS(files)
}

// fromFS reads a build.
func fromFS(files fs.FS) (*Page, error) {
	p := &Page{files: map[string]*file{}}
	packed := map[string][]byte{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(files, name)
		switch {
		case err != nil:
			return err
		case name == indexName:
			p.index = raw
		case path.Ext(name) == packedExt:
			packed[name] = raw
		default:
			p.files[name] = newFile(name, raw)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for name, raw := range packed {
		name = strings.TrimSuffix(name, packedExt)
		if p.files[name] == nil {
			p.files[name] = newFile(name, nil)
		}
		p.files[name].add(raw)
	}
	return p, nil
}

// Built tells whether there is a page.
func (p *Page) Built() bool { return len(p.index) > 0 }

// noPage is what a build without the page has in its place.
const noPage = `This build of fettle has no page (it was built with the tag no_web).
Programs reach chats, files, tools and models at this address: /openapi.json tells
how. Each request needs the token, as "Authorization: Bearer TOKEN" or before the
path as /t/TOKEN/; "fettle serve --help" says where it is.
`

// ServeIndex answers with the index. frames are the origins that it may show frames
// of, besides which it may show none.
func (p *Page) ServeIndex(w http.ResponseWriter, r *http.Request, frames []string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	body := []byte(noPage)
	kind := "text/plain; charset=utf-8"
	if p.Built() {
		nonce := rand.Text()
		body, kind = bytes.ReplaceAll(p.index, []byte(NonceMark), []byte(nonce)), "text/html; charset=utf-8"
		h.Set("Content-Security-Policy", Policy(nonce, frames))
		h.Set("Permissions-Policy", pagePermissions)
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // who has gone has nobody to be told
	}
}

// pagePermissions are what the page and its frames never use.
const pagePermissions = "camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=(), serial=(), hid=(), midi=()"

// Policy is the page's own Content-Security-Policy: its scripts are files of its
// origin, it talks to that alone, and nobody frames it. Workers are there for
// highlighting; a blob is how a file that was fetched with the token is shown.
func Policy(nonce string, frames []string) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self' 'nonce-" + nonce + "'",
		"img-src 'self' data: blob:",
		"media-src 'self'",
		"font-src 'self'",
		"connect-src 'self'",
		"worker-src 'self'",
		"manifest-src 'self'",
		"frame-src " + orNone(frames),
		"frame-ancestors 'none'",
		"base-uri 'none'",
		"form-action 'none'",
	}, "; ")
}

func orNone(sources []string) string {
	sources = slices.DeleteFunc(slices.Clone(sources), func(s string) bool { return s == "" })
	if len(sources) == 0 {
		return "'none'"
	}
	return strings.Join(sources, " ")
}

// Has tells whether there is a file of a name, such as assets/x.js.
func (p *Page) Has(name string) bool { return p.files[name] != nil }

// ServeFile answers with a file, and tells whether there is one of that name.
func (p *Page) ServeFile(w http.ResponseWriter, r *http.Request, name string) bool {
	f := p.files[name]
	if f == nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", f.cache)
	if f.packs() {
		h.Set("Vary", vary(h.Get("Vary")))
	}
	form := f.choose(r.Header.Get("Accept-Encoding"))
	h.Set("ETag", form.tag)
	if matches(r.Header.Get("If-None-Match"), form.tag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	if form.encoding != "" {
		h.Set("Content-Encoding", form.encoding)
	}
	h.Set("Content-Length", strconv.Itoa(len(form.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(form.body)
	}
	return true
}

// vary adds Accept-Encoding to what an answer varies by.
func vary(before string) string {
	if before == "" {
		return "Accept-Encoding"
	}
	return before + ", Accept-Encoding"
}

// matches tells whether If-None-Match names an ETag. Its weak form is the same here.
func matches(header, tag string) bool {
	for each := range strings.SplitSeq(header, ",") {
		each = strings.TrimPrefix(strings.TrimSpace(each), "W/")
		if each == tag || each == "*" {
			return true
		}
	}
	return false
}

// file is one file in its forms.
type file struct {
	kind, cache string
	packed      []byte // what the build compressed; nil where it didn't
	raw         []byte
	// A form is made when somebody asks for it: most starts of a server show no page.
	brotli func() form  // of packed
	plain  func() form  // of raw, or of what is in packed
	gzip   func() *form // nil where it gains nothing
}

// form is a file as it is sent.
type form struct {
	encoding string // of Content-Encoding; empty as it is
	tag      string
	body     []byte
}

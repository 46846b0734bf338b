package validate

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/fettle-cli/fettle/internal/didyoumean"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/manifest"
	"github.com/fettle-cli/fettle/toolset/render"
)

const (
	// maxPage and maxPages bound what is read of pages, one and all.
	maxPage  = 1 << 20
	maxPages = 4 << 20
	// maxAttrs is how many attributes of one tag are looked at.
	maxAttrs = 200
	// maxPageFindings is how many findings one page may have.
	maxPageFindings = 30
)

// pages judges the renderers' files and addresses, and every page of the bundle.
func (v *validator) pages() error {
	wantsData := map[string]bool{}
	if v.m != nil {
		for i, t := range v.m.Tools {
			v.renderer(t.Renderer, fmt.Sprintf("/tools/%d/renderer", i), wantsData)
			v.service(t.Service, t.Renderer, fmt.Sprintf("/tools/%d", i))
		}
		for i, p := range v.m.Payloads {
			v.renderer(p.Renderer, fmt.Sprintf("/payloads/%d/renderer", i), wantsData)
		}
	}
	total := int64(0)
	for _, f := range v.b.Files {
		if !isPage(f.Path) || f.Kind != "artifact" && !v.named(f.Path) {
			continue
		}
		switch total += f.Size; {
		case f.Size > render.MaxArtifact:
			v.add(spot{file: f.Path}, Error, CodeHTML, "a page has at most %d MiB; this one has more", render.MaxArtifact>>20)
			continue
		case f.Size > maxPage || total > maxPages:
			v.add(spot{file: f.Path}, Warning, CodeNotLookedInto, "it was not looked into: of a page %d KiB are, and of all together %d KiB", maxPage>>10, maxPages>>10)
			continue
		}
		raw, err := v.b.ReadFile(f.Path)
		if err != nil {
			return err
		}
		p := &page{v: v, file: f.Path, raw: raw}
		p.read()
		if wantsData[f.Path] && !bytes.Contains(raw, []byte("__TOOL_DATA__")) {
			v.add(spot{file: f.Path}, Warning, CodeHTMLData, "a renderer gives it data, and it never reads window.__TOOL_DATA__")
		}
	}
	return nil
}

func isPage(p string) bool {
	return slices.Contains([]string{".html", ".htm", ".xhtml", ".svg"}, strings.ToLower(path.Ext(p)))
}

// named tells whether a renderer names the file as its artifact.
func (v *validator) named(p string) bool {
	return v.m != nil && slices.ContainsFunc(v.m.Files(), func(r manifest.FileRef) bool { return r.Function == "" && slices.Contains(r.Paths, p) })
}

// renderer judges one renderer's places. References are the manifest's work.
func (v *validator) renderer(r *toolset.Renderer, at string, wantsData map[string]bool) {
	if r == nil {
		return
	}
	if p := path.Clean(manifest.BundlePath(r.Artifact)); r.Artifact != "" && p != "." {
		if len(r.Data) > 0 {
			wantsData[p] = true
		}
		if !v.has(p) {
			msg := "there is no " + show(p)
			var pages []string
			for _, f := range v.b.Files {
				if isPage(f.Path) {
					pages = append(pages, f.Path)
				}
			}
			if near := didyoumean.Of(p, pages); near != "" {
				msg += " (did you mean " + show(near) + "?)"
			}
			v.at(at+"/artifact", Error, CodeMissingFile, "%s", msg)
		}
	}
	if r.URL != "" && !ownMachine().MatchString(r.URL) {
		v.at(at+"/url", Error, CodeRenderer, "a frame shows what this machine serves: the address has to begin with http://localhost or http://127.0.0.1, as in http://localhost:$return.port")
	}
	if f := r.File; f != "" && !strings.Contains(f, "$") && manifest.BundlePath(f) == "" {
		v.at(at+"/file", Error, CodeRenderer, "expected a path in the workspace, such as $args.path, found %s", show(f))
	}
}

// service judges a frame beside whether its tool lives on after the call: without that
// nothing listens any more where it leads.
func (v *validator) service(lives bool, r *toolset.Renderer, at string) {
	switch {
	case r == nil || r.Type != toolset.RenderFrame || !ownMachine().MatchString(r.URL): // which was told already
	case !lives:
		v.at(at+"/renderer", Warning, CodeRenderer, "the frame shows what the tool serves, and the tool's process ends with its call; service: true lets it live on until the chat closes")
	case strings.HasPrefix(r.URL, "https:"):
		v.at(at+"/renderer/url", Error, CodeRenderer, "a service is reached by http, in its sandbox; the address has to begin with http://localhost, as in http://localhost:$return.port")
	case !strings.Contains(r.URL, "$return"):
		v.at(at+"/renderer/url", Warning, CodeRenderer, "only a port that the tool's result names, as port or url, is shown; take it from there, as in http://localhost:$return.port")
	}
}

var ownMachine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^https?://(localhost|127\.[0-9]+\.[0-9]+\.[0-9]+|\[::1\])([:/?#]|$)`)
})

// page is one HTML file that is read.
type page struct {
	v     *validator
	file  string
	raw   []byte
	at    int // where the current token begins
	found int
	said  map[string]bool
}

// say adds a finding at a place of the page, each once.
func (p *page) say(at int, level Level, code, format string, args ...any) {
	if p.found >= maxPageFindings {
		return
	}
	msg := fmt.Sprintf(format, args...)
	line, column := place(p.raw, at)
	key := fmt.Sprint(line, code, msg)
	if p.said == nil {
		p.said = map[string]bool{}
	}
	if p.said[key] {
		return
	}
	p.said[key] = true
	p.found++
	p.v.add(spot{p.file, line, column}, level, code, "%s", msg)
}

func (p *page) read() {
	if !utf8.Valid(p.raw) {
		p.v.add(spot{file: p.file}, Error, CodeHTML, "a page has to be UTF-8")
		return
	}
	z := html.NewTokenizer(bytes.NewReader(p.raw))
	z.SetMaxBuf(maxPage + 1)
	inside := "" // script or style
	for p.found < maxPageFindings {
		kind := z.Next()
		raw := z.Raw()
		if kind == html.ErrorToken {
			if err := z.Err(); err != io.EOF {
				p.say(p.at, Error, CodeHTML, "it can't be read: %v", err)
			}
			return
		}
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			length := len(raw)
			t := z.Token()
			p.tag(t)
			if t.Data == "script" || t.Data == "style" {
				inside = t.Data
			}
			p.at += length
			continue
		case html.EndTagToken:
			inside = ""
		case html.TextToken:
			switch inside {
			case "script":
				p.script(string(raw), p.at)
			case "style":
				p.style(string(raw), p.at)
			}
		}
		p.at += len(raw)
	}
}

// tag judges the addresses of one tag.
func (p *page) tag(t html.Token) {
	attrs := map[string]string{}
	for i, a := range t.Attr {
		if i >= maxAttrs {
			p.say(p.at, Warning, CodeNotLookedInto, "a tag with more than %d attributes was not looked into further", maxAttrs)
			break
		}
		name := strings.ToLower(a.Key)
		if a.Namespace != "" {
			name = a.Namespace + ":" + name
		}
		if _, twice := attrs[name]; !twice {
			attrs[name] = a.Val
		}
	}
	switch t.Data {
	case "meta":
		if strings.EqualFold(strings.TrimSpace(attrs["http-equiv"]), "refresh") && strings.Contains(strings.ToLower(attrs["content"]), "url") {
			p.say(p.at, Error, CodeHTMLOutside, "<meta http-equiv=refresh> leads away from the page")
		}
	case "base":
		if href, ok := attrs["href"]; ok {
			p.say(p.at, Error, CodeHTMLOutside, "<base href=%q> makes every address another", show(href))
		}
	case "iframe", "frame", "embed", "object", "fencedframe", "portal":
		for _, name := range []string{"src", "data"} {
			if a := strings.TrimSpace(attrs[name]); a != "" && a != "about:blank" {
				p.say(p.at, Error, CodeHTMLOutside, "<%s> shows another page (%s); a page can't hold frames", t.Data, show(a))
			}
		}
	case "form":
		if a := attrs["action"]; outside(a) {
			p.say(p.at, Error, CodeHTMLOutside, "<form action> sends to %s", show(a))
		}
	case "a", "area":
		if a := attrs["href"]; outside(a) {
			p.say(p.at, Note, CodeHTMLBlocked, "the link to %s leads nowhere from an isolated frame", show(a))
		}
	default:
		p.loads(t.Data, attrs)
	}
	for _, name := range []string{"ping", "background"} {
		if a := attrs[name]; outside(a) {
			p.say(p.at, Error, CodeHTMLOutside, "%s= of <%s> loads %s", name, t.Data, show(a))
		}
	}
	for _, name := range slices.Sorted(mapKeys(attrs)) {
		switch {
		case name == "style":
			p.style(attrs[name], p.at)
		case strings.HasPrefix(name, "on"):
			p.script(attrs[name], p.at)
		case strings.HasPrefix(strings.ToLower(strings.TrimSpace(attrs[name])), "javascript:"):
			p.script(attrs[name], p.at)
		}
	}
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// loads judges a tag that loads something.
func (p *page) loads(tag string, attrs map[string]string) {
	names := []string{"src", "poster", "srcset", "imagesrcset"}
	switch tag {
	case "link", "image", "use", "script", "feimage":
		names = append(names, "href", "xlink:href")
	}
	for _, name := range names {
		value, ok := attrs[name]
		if !ok {
			continue
		}
		list := []string{value}
		if strings.HasSuffix(name, "srcset") {
			list = strings.Split(value, ",")
		}
		for _, a := range list {
			a, _, _ = strings.Cut(strings.TrimSpace(a), " ")
			p.load("<"+tag+" "+name+">", a, p.at, tag == "script" || tag == "link")
		}
	}
}

// load judges one address that something is loaded from. code tells that it is
// a script or a style, which can't be a data: address either.
func (p *page) load(what, address string, at int, code bool) {
	lower := strings.ToLower(address)
	switch {
	case address == "" || strings.HasPrefix(address, "#"):
	case outside(address):
		p.say(at, Error, CodeHTMLOutside, "%s loads %s; the page is shown without any network", what, show(address))
	case strings.HasPrefix(lower, "data:") || strings.HasPrefix(lower, "blob:"):
		if code {
			p.say(at, Warning, CodeHTMLSeparate, "%s loads from a data: address, which is not allowed; write it into the page", what)
		}
	case strings.HasPrefix(lower, "javascript:"), strings.HasPrefix(lower, "about:"):
	case strings.Contains(address, "${") || strings.Contains(address, "{{"): // made by a script
	default:
		p.say(at, Error, CodeHTMLSeparate, "%s loads %s, and a page is shown without the files beside it; write it into the page", what, show(address))
	}
}

// outside tells whether an address leads to another host.
func outside(address string) bool {
	a := strings.ToLower(strings.Map(func(r rune) rune { // as browsers do
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, strings.TrimFunc(address, func(r rune) bool { return r <= ' ' })))
	a = strings.ReplaceAll(a, "\\", "/")
	for _, scheme := range []string{"http:", "https:", "ws:", "wss:", "ftp:", "//"} {
		if strings.HasPrefix(a, scheme) {
			return true
		}
	}
	return false
}

var styleLoads = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(@import|url\()\s*(?:url\(\s*)?["']?([^"')\s;]*)`)
})

// style judges the addresses in a stylesheet or a style attribute.
func (p *page) style(css string, at int) {
	for _, m := range styleLoads().FindAllStringSubmatchIndex(css, maxPageFindings*4) {
		what := strings.ToLower(strings.TrimSuffix(css[m[2]:m[3]], "("))
		p.load("CSS "+what, css[m[4]:m[5]], at+offset(p.raw, at, m[0]), what == "@import")
	}
}

// offset is i where that is a place of the page; an attribute's value has been
// decoded, so that places in it are none of the page.
func offset(raw []byte, at, i int) int {
	if at < len(raw) && raw[at] == '<' {
		return 0
	}
	return i
}

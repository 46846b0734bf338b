package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

const (
	// kept is for files whose name changes with their content, asked for those that
	// keep their name: a browser asks again each time.
	kept  = "public, max-age=31536000, immutable"
	asked = "no-cache"
	// worth is the size below which compressing gains nothing over a packet.
	worth = 1 << 10
)

func newFile(name string, raw []byte) *file {
	f := &file{kind: kindOf(name), cache: asked, raw: raw}
	if hashed(name) {
		f.cache = kept
	}
	f.plain = sync.OnceValue(f.unpack)
	f.gzip = sync.OnceValue(f.pack)
	return f
}

// formOf makes a form with its tag. Forms differ in their bytes, so they differ in
// their tags.
func formOf(encoding string, body []byte) form {
	sum := sha256.Sum256(body)
	return form{encoding, `"` + hex.EncodeToString(sum[:12]) + `"`, body}
}

// add takes the form that the build compressed. One that gained nothing beside a
// file that is there as it is, is none.
func (f *file) add(body []byte) {
	if f.raw == nil || len(body) < len(f.raw) {
		f.packed = body
		f.brotli = sync.OnceValue(func() form { return formOf("br", body) })
	}
}

// packs tells whether the file is of a kind that gets smaller.
func (f *file) packs() bool {
	return f.packed != nil || len(f.raw) >= worth && !strings.HasPrefix(f.kind, "image/p") && !strings.HasPrefix(f.kind, "font/")
}

// choose gives the form that a client takes. The one that the build made comes
// first. Some browsers take it over TLS alone, so gzip is next.
func (f *file) choose(accept string) form {
	switch {
	case !f.packs():
		return f.plain()
	case f.packed != nil && takes(accept, "br"):
		return f.brotli()
	case takes(accept, "gzip") && f.gzip() != nil:
		return *f.gzip()
	}
	return f.plain()
}

// unpack gives the file as it is. The build's own bytes are in the program, so
// they can be read.
func (f *file) unpack() form {
	if f.raw != nil || f.packed == nil {
		return formOf("", f.raw)
	}
	raw, err := io.ReadAll(brotli.NewReader(bytes.NewReader(f.packed)))
	if err != nil {
		return formOf("", nil)
	}
	return formOf("", raw)
}

// pack makes the form that gzip gives.
func (f *file) pack() *form {
	plain := f.plain().body
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil { // the level is one of gzip's
		return nil
	}
	_, _ = z.Write(plain) // to memory
	if z.Close() != nil || b.Len() >= len(plain) {
		return nil
	}
	made := formOf("gzip", b.Bytes())
	return &made
}

// takes reads Accept-Encoding: whether an encoding is named and not refused.
func takes(accept, encoding string) bool {
	for each := range strings.SplitSeq(accept, ",") {
		name, params, _ := strings.Cut(each, ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		_, q, found := strings.Cut(strings.ReplaceAll(params, " ", ""), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !found || err == nil && weight > 0
	}
	return false
}

// hashed tells whether a name has a sum of the content, as Vite names files:
// assets/index-DiwrgTda.js.
func hashed(name string) bool {
	dir, base := path.Split(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	at := len(stem) - hashLength - 1
	if !strings.HasPrefix(dir, "assets/") || at < 1 || stem[at] != '-' && stem[at] != '.' {
		return false
	}
	return strings.Trim(stem[at+1:], hashAlphabet) == ""
}

// hashLength is how long Vite's sums are, hashAlphabet what is in them.
const (
	hashLength   = 8
	hashAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

// kindOf is the content type of a file of a build.
func kindOf(name string) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json", ".map":
		return "application/json"
	case ".webmanifest":
		return "application/manifest+json"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".ico":
		return "image/x-icon"
	case ".woff2":
		return "font/woff2"
	case ".wasm":
		return "application/wasm"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

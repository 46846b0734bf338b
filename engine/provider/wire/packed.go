package wire

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// unpack has the body of a response read as it was before it was compressed.
// Nobody asks for that, and some servers and proxies do it all the same; what
// is compressed another way than by gzip is left to fail as no protocol.
func unpack(resp *http.Response) {
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip":
		resp.Body = &unpacked{body: resp.Body}
	}
}

// unpacked is a body that is decompressed while it is read. Each reader of a
// body bounds what it takes, so a small body that stands for a huge one does no
// harm.
type unpacked struct {
	body io.ReadCloser
	zip  *gzip.Reader
}

// Read reads; the head of the compressed form is read with the first bytes, so
// that whoever made the request isn't held up by it.
func (u *unpacked) Read(p []byte) (int, error) {
	if u.zip == nil {
		zip, err := gzip.NewReader(u.body)
		if err == gzip.ErrHeader {
			err = &FormatError{Err: err}
		}
		if err != nil {
			return 0, err
		}
		u.zip = zip
	}
	return u.zip.Read(p)
}

// Close closes the connection's body.
func (u *unpacked) Close() error { return u.body.Close() }

package wire

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// unpack makes the body of a response readable as it was before it was
// compressed by gzip. Requests don't ask for compression, and some servers and
// proxies compress even so. Another compression is an error that names it.
func unpack(resp *http.Response) {
	switch name := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); name {
	case "gzip", "x-gzip":
		resp.Body = &unpacked{body: resp.Body}
	case "br", "zstd", "deflate", "compress", "x-compress":
		resp.Body = &coded{ReadCloser: resp.Body, name: name}
	}
}

// coded is a body in a compression that is not read.
type coded struct {
	io.ReadCloser
	name string
}

func (c *coded) Read([]byte) (int, error) { return 0, compressed(c.name) }

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

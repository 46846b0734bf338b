package dialect

import (
	"encoding/base64"
	"mime"
	"net/url"
	"strings"
)

// media reads an image or a file that is given as an address or as data: URL.
func media(field string, kind Kind, address string) (Part, *FieldError) {
	rest, is := strings.CutPrefix(address, "data:")
	if !is {
		u, err := url.Parse(address)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
			return Part{}, wrong(field, "is neither a data: nor an http(s) address")
		}
		return Part{Kind: kind, URL: address}, nil
	}
	head, body, ok := strings.Cut(rest, ",")
	if !ok {
		return Part{}, wrong(field, "the data: address has no comma")
	}
	kindOf, encoded := strings.CutSuffix(head, ";base64")
	p := Part{Kind: kind, MIME: mimeType(kindOf)}
	if !encoded {
		text, err := url.PathUnescape(body)
		if err != nil {
			return Part{}, wrong(field, "the data: address is badly escaped")
		}
		p.Data = []byte(text)
		return p, nil
	}
	var err *FieldError
	p.Data, err = unbase64(field, body)
	return p, err
}

func mimeType(s string) string {
	if kind, _, err := mime.ParseMediaType(s); err == nil {
		return kind
	}
	return ""
}

// unbase64 takes both alphabets, with and without padding.
func unbase64(field, s string) ([]byte, *FieldError) {
	s = strings.TrimRight(s, "=")
	enc := base64.RawStdEncoding
	if enc.DecodedLen(len(s)) > maxImage {
		return nil, wrong(field, "is larger than "+sizeText(maxImage))
	}
	if strings.ContainsAny(s, "-_") {
		enc = base64.RawURLEncoding
	}
	out, err := enc.DecodeString(s)
	if err != nil {
		return nil, wrong(field, "is no base64")
	}
	return out, nil
}

package input

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/textenc"
)

// notText is why bytes are not text.
type notText struct {
	what  string // a format that is known by its first bytes; else empty
	at    int64  // the byte that no text has
	why   string // what that byte is
	latin bool   // text of one byte a character, most likely
}

// decode returns text in UTF-8 or UTF-16 as UTF-8, without its byte order mark.
func decode(raw []byte) ([]byte, *notText) {
	if bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")) || bytes.HasPrefix(raw, []byte("\x00\x00\xfe\xff")) {
		return nil, &notText{what: "UTF-32 text", why: "begins its mark"}
	}
	encoding, mark := textenc.Detect(raw)
	if encoding == textenc.UTF8 {
		return checkUTF8(raw, mark)
	}
	return decodeUTF16(raw, mark, encoding.Order())
}

// leastMended is the shortest text in which bytes that are not UTF-8 are replaced; in a
// shorter one they may be a large part of it.
const leastMended = 32

// mend is decode for text in which very few bytes are not UTF-8, as in a diff of
// files in several encodings: each becomes U+FFFD, and replaced counts them.
func mend(raw []byte) (text []byte, replaced int, bad *notText) {
	text, bad = decode(raw)
	if bad == nil || !bad.latin || bad.what != "" || len(raw) < leastMended {
		return text, 0, bad
	}
	raw = bytes.TrimPrefix(raw, []byte(textenc.Mark))
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			replaced++
		}
		text = utf8.AppendRune(text, r)
		i += n
	}
	if replaced > 1+len(raw)/100 {
		return nil, 0, bad // text in another encoding
	}
	return text, replaced, nil
}

// noteMended says how much of a text was replaced.
func (o Options) noteMended(name string, replaced int) {
	switch {
	case replaced == 1:
		o.notice("1 byte of %s is not UTF-8 and is read as \uFFFD", name)
	case replaced > 1:
		o.notice("%d bytes of %s are not UTF-8 and are read as \uFFFD", replaced, name)
	}
}

func checkUTF8(raw []byte, skip int) ([]byte, *notText) {
	text := raw[skip:]
	nul := bytes.IndexByte(text, 0)
	bad := invalidUTF8(text)
	switch {
	case nul < 0 && bad < 0:
		return text, nil
	case bad < 0 || nul >= 0 && nul < bad:
		return nil, &notText{what: format(raw), why: "is a NUL", at: int64(skip + nul)}
	}
	return nil, &notText{
		what: format(raw), at: int64(skip + bad), latin: nul < 0 && !controls(text),
		why: fmt.Sprintf("(0x%02X) is not UTF-8", text[bad]),
	}
}

// invalidUTF8 is the offset of the first byte that isn't UTF-8, or -1.
func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// controls tells whether there are control characters that no text has.
func controls(text []byte) bool {
	return bytes.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\b\x1b", r)
	})
}

func decodeUTF16(raw []byte, mark int, order binary.ByteOrder) ([]byte, *notText) {
	if len(raw)%2 != 0 {
		return nil, &notText{what: "UTF-16 text that is cut off", why: "is half a character", at: int64(len(raw) - 1)}
	}
	out := make([]byte, 0, len(raw))
	for i := mark; i < len(raw); i += 2 {
		r := rune(order.Uint16(raw[i:]))
		if utf16.IsSurrogate(r) {
			var low rune
			if i+4 <= len(raw) {
				low = rune(order.Uint16(raw[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r == unicode.ReplacementChar {
				return nil, &notText{why: "is half a UTF-16 pair", at: int64(i)}
			}
			i += 2
		}
		if r == 0 {
			return nil, &notText{why: "is a NUL", at: int64(i)}
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

// format names what bytes are by their beginning, for messages; "" if unknown.
func format(raw []byte) string {
	for _, f := range []struct{ magic, name string }{
		{"%PDF-", "a PDF"},
		{"PK\x03\x04", "a ZIP archive or an office document"},
		{"\x1f\x8b", "gzip-compressed"},
		{"BZh", "bzip2-compressed"},
		{"\xfd7zXZ\x00", "xz-compressed"},
		{"\x28\xb5\x2f\xfd", "zstd-compressed"},
		{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
		{"\x7fELF", "a program"},
		{"MZ", "a program"},
		{"\xcf\xfa\xed\xfe", "a program"},
		{"SQLite format 3\x00", "a SQLite database"},
		{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an office document"},
		{"II*\x00", "a TIFF image"},
		{"MM\x00*", "a TIFF image"},
		{"ID3", "an MP3 recording"},
		{"OggS", "an Ogg recording"},
		{"fLaC", "a FLAC recording"},
		{"RIFF", "a recording"},
	} {
		if bytes.HasPrefix(raw, []byte(f.magic)) {
			return f.name
		}
	}
	if len(raw) >= 12 && string(raw[4:8]) == "ftyp" {
		switch brand := string(raw[8:12]); {
		case strings.HasPrefix(brand, "hei"), strings.HasPrefix(brand, "mif"), strings.HasPrefix(brand, "avif"):
			return "a HEIC or AVIF image"
		}
		return "a video"
	}
	return ""
}

// isPDF tells a PDF, whose first kilobyte may be text.
func isPDF(raw []byte) bool { return bytes.HasPrefix(raw, []byte("%PDF-")) }

// imageType is the MIME type of an image that models take, by its content; ""
// for anything else.
func imageType(raw []byte) string {
	switch {
	case bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(raw, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(raw, []byte("GIF87a")), bytes.HasPrefix(raw, []byte("GIF89a")):
		return "image/gif"
	case len(raw) >= 12 && string(raw[:4]) == "RIFF" && string(raw[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// binaryFault says that something isn't text, and what can be done about it.
// path is the file's name for a command line; empty for standard input.
func binaryFault(name, path string, raw []byte, bad *notText) *fault.Fault {
	msg := fmt.Sprintf("%s is binary: byte %d %s", name, bad.at, bad.why)
	if bad.what != "" {
		msg = fmt.Sprintf("%s is %s, which is not read", name, bad.what)
	}
	f := fault.New(fault.Usage, msg)
	arg := quote(path)
	switch {
	case imageType(raw) != "":
		f.Msg = name + " is an image"
		f.Remedies = []fault.Remedy{fault.Run("fettle ask -f - …   reads an image from standard input")}
	case isPDF(raw) && path != "":
		f.Remedies = []fault.Remedy{fault.Run("pdftotext " + arg + " - | fettle ask …   asks about its text")}
	case isPDF(raw):
		f.Remedies = []fault.Remedy{fault.Run("pdftotext - - | fettle ask …   asks about its text")}
	case strings.HasSuffix(bad.what, "image"):
		f.Remedies = []fault.Remedy{fault.Run("convert it to PNG, JPEG, GIF or WebP, which are read")}
	case bad.latin && path != "":
		f.Remedies = []fault.Remedy{fault.Run("iconv -f latin1 -t utf-8 " + arg + " | fettle ask …   if it is Latin-1 text")}
	case bad.latin:
		f.Remedies = []fault.Remedy{fault.Run("iconv -f latin1 -t utf-8 | fettle ask …   if it is Latin-1 text")}
	default:
		f.Remedies = []fault.Remedy{fault.Run("text, and PNG, JPEG, GIF and WebP images are read; convert it to one of them")}
	}
	return f
}

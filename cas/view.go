package cas

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/internal/kv"
)

// Read streams the content of a file entry to w. It fails, after having written
// some of it, if the content isn't what was stored.
func (s *Store) Read(ctx context.Context, w io.Writer, e Entry) error {
	if !e.content() {
		return fmt.Errorf("read %s: it is no file", EscapePath(e.Name))
	}
	if e.Size > smallBlob {
		return s.writeBlob(ctx, w, e.Digest, e.Size)
	}
	content, err := s.small(ctx, e.Digest)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}

// small reads a small blob.
func (s *Store) small(ctx context.Context, d Digest) (out []byte, err error) {
	err = s.kv.View(ctx, func(tx *kv.Tx) error {
		return s.smallBlobOf(tx, d, func(content []byte) error {
			out = append([]byte(nil), content...)
			return nil
		})
	})
	return out, err
}

// WriteFiles writes a state as document 004's {path: sha256}: its files in the
// order of paths, which are escaped by EscapePath.
func (s *Store) WriteFiles(ctx context.Context, w io.Writer, root Digest) error {
	out := bufio.NewWriterSize(w, 1<<16)
	v := &viewer{s: s, out: out, first: true}
	_ = out.WriteByte('{')
	if err := v.files(ctx, nil, root, 0); err != nil {
		return err
	}
	_ = out.WriteByte('}')
	return out.Flush()
}

// viewer writes JSON by hand: a map through encoding/json takes ten times as
// long.
type viewer struct {
	s     *Store
	out   *bufio.Writer
	first bool
	line  []byte
}

func (v *viewer) files(ctx context.Context, prefix []byte, tree Digest, depth int) error {
	if depth > maxDepth+1 {
		return fmt.Errorf("list files: more than %d folders deep", maxDepth)
	}
	entries, err := v.s.Tree(ctx, tree)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		switch e.Kind {
		case File, Executable:
			v.file(prefix, e)
		case Folder:
			below := append(appendEscaped(prefix[:len(prefix):len(prefix)], e.Name), '/')
			if err := v.files(ctx, below, e.Digest, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *viewer) file(prefix []byte, e *Entry) {
	b := v.line[:0]
	if !v.first {
		b = append(b, ',')
	}
	v.first = false
	b = append(b, '"')
	b = append(b, prefix...)
	b = appendEscaped(b, e.Name)
	b = append(b, `":"`...)
	b = hex.AppendEncode(b, e.Digest[:])
	b = append(b, '"')
	v.line = b
	_, _ = v.out.Write(b) // the writer keeps its error until Flush
}

// appendEscaped appends a name, escaped by EscapePath, as it stands within a
// JSON string.
func appendEscaped(b []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return append(b, jsonText(EscapePath(name))...)
		}
	}
	return append(b, name...)
}

// jsonText is s, which is valid UTF-8 without control characters, within a JSON
// string.
func jsonText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)
}

// EscapePath makes a path of raw bytes one of valid UTF-8 that a person can
// read and UnescapePath can bring back: a backslash becomes two, and a byte
// that is no character, or a control character, becomes \xNN. It is also what
// messages show, since a name may hold anything.
func EscapePath(path string) string {
	clean := true
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		if escaped(r, size) {
			clean = false
			break
		}
		i += size
	}
	if clean {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case escaped(r, size):
			for _, c := range []byte(path[i : i+size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(path[i : i+size])
		}
		i += size
	}
	return b.String()
}

// escaped tells what can't stand for itself: no character, a control character
// of ASCII or Latin-1, a line or paragraph separator, or what turns the
// direction of writing.
func escaped(r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size == 1, r == '\\', r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x2028, r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
		return true
	}
	return false
}

// UnescapePath is the reverse of EscapePath. It fails for a text that EscapePath
// would not have given.
func UnescapePath(text string) (string, error) {
	var b strings.Builder
	for rest := text; rest != ""; {
		i := strings.IndexByte(rest, '\\')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		rest = rest[i:]
		if strings.HasPrefix(rest, `\\`) {
			b.WriteByte('\\')
			rest = rest[2:]
			continue
		}
		var c []byte
		if len(rest) >= 4 && rest[1] == 'x' {
			c, _ = hex.DecodeString(rest[2:4])
		}
		if len(c) != 1 {
			return "", fmt.Errorf("read path %.80q: a backslash that escapes nothing", text)
		}
		b.Write(c)
		rest = rest[4:]
	}
	if got := b.String(); EscapePath(got) == text {
		return got, nil
	}
	return "", fmt.Errorf("read path %.80q: it isn't escaped as paths are", text)
}

// WriteEntries writes what WriteFiles leaves out, as JSON by path: links with
// their targets, empty folders, which files are executable, permission bits other than
// 0644 of files and 0755 of executables and folders, and what isn't kept with the reason.
func (s *Store) WriteEntries(ctx context.Context, w io.Writer, root Digest) error {
	out := bufio.NewWriterSize(w, 1<<16)
	sep := "{"
	for l, err := range s.Walk(ctx, root) {
		if err != nil {
			return err
		}
		line := ""
		switch l.Kind {
		case File, Executable, Folder:
			if l.Perm.usual(l.Kind) && (l.Kind == File || l.Kind == Folder && l.Digest != emptyTree()) {
				continue
			}
			line = `{"kind":"` + l.Kind.String() + `"` + l.permJSON() + `}`
		case Link:
			line = `{"kind":"link","target":"` + jsonText(EscapePath(l.Text)) + `"}`
		default:
			line = `{"kind":"` + l.Kind.String() + `","reason":"` + jsonText(EscapePath(l.Text)) + `"}`
		}
		_, _ = out.WriteString(sep + `"` + jsonText(EscapePath(l.Path)) + `":` + line)
		sep = ","
	}
	if sep == "{" {
		_, _ = out.WriteString("{")
	}
	_, _ = out.WriteString("}")
	return out.Flush()
}

// permJSON is the field of unusual permission bits.
func (e Entry) permJSON() string {
	if e.Perm.usual(e.Kind) {
		return ""
	}
	return `,"mode":"` + e.Perm.String() + `"`
}

// emptyTree is the digest of an empty folder.
func emptyTree() Digest { return Sum(encodeTree(nil)) }

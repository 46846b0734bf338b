package patch

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// MaxText is the most that one version may have to be compared by lines, in
// bytes. Longer files are compared as a whole.
const MaxText = 4 << 20

// File is a file that differs. Old and New are its contents; they are nil on
// the side where it isn't there.
type File struct {
	Path             string // with slashes
	Old, New         []byte
	OldMode, NewMode string // in Git's form, such as "100644" or "120000"; "" where it isn't there
}

// Patch is the difference of one file.
type Patch struct {
	// Text is the patch, header included.
	Text string
	// Binary tells that a version is no text, so lines were not compared.
	Binary bool
	// Added and Removed count lines.
	Added, Removed int
}

// Of compares the versions of a file.
func Of(f File) Patch {
	var b strings.Builder
	old, new := quote("a/"+f.Path), quote("b/"+f.Path)
	b.WriteString("diff --git " + old + " " + new + "\n")
	switch {
	case f.OldMode == "":
		b.WriteString("new file mode " + f.NewMode + "\n")
		old = "/dev/null"
	case f.NewMode == "":
		b.WriteString("deleted file mode " + f.OldMode + "\n")
		new = "/dev/null"
	case f.OldMode != f.NewMode:
		b.WriteString("old mode " + f.OldMode + "\nnew mode " + f.NewMode + "\n")
	}
	var p Patch
	if !bytes.Equal(f.Old, f.New) {
		if p.Binary = !isText(f.Old) || !isText(f.New); p.Binary {
			b.WriteString("Binary files " + old + " and " + new + " differ\n")
		} else {
			b.WriteString("--- " + old + "\n+++ " + new + "\n")
			hunks := hunks(f.Old, f.New)
			p.Added, p.Removed = count(hunks)
			b.WriteString(hunks)
		}
	}
	p.Text = b.String()
	return p
}

// isText tells whether lines of a content mean something.
func isText(content []byte) bool {
	return len(content) <= MaxText && bytes.IndexByte(content, 0) < 0 && utf8.Valid(content)
}

// hunks are the parts that differ, with three lines around each.
func hunks(old, new []byte) string {
	text := string(diff.Diff("a", old, "b", new))
	if i := strings.Index(text, "\n@@ "); i >= 0 {
		return text[i+1:]
	}
	return ""
}

func count(hunks string) (added, removed int) {
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// quote writes a name as git does: in quotes where a byte of it could be taken
// for something else.
func quote(name string) string {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return quoted(name)
		}
	}
	return name
}

func quoted(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			octal := strconv.FormatUint(uint64(c), 8)
			b.WriteString(`\` + strings.Repeat("0", 3-len(octal)) + octal)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

package bundle

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Bounds of names. 255 bytes is what file systems take of one, and 1,024 what
// macOS takes of a path; some room is left for where the toolset comes to lie.
const (
	maxSegment = 200
	maxPath    = 700
	maxDepth   = 20
)

// checkName judges a path as it stands in an archive. A folder's trailing slash
// has been taken off.
func checkName(p string) error {
	switch {
	case p == "":
		return refuse(Name, "(no name)", "an entry has no name")
	case !utf8.ValidString(p):
		return refuse(Name, p, "the name is not UTF-8")
	case strings.Contains(p, "\\"):
		return refuse(Path, p, "a path has / between its parts, not a backslash")
	case strings.HasPrefix(p, "/"):
		return refuse(Path, p, "the path is absolute")
	case len(p) > 1 && p[1] == ':' && isLetter(p[0]):
		return refuse(Path, p, "the path begins with a drive")
	case len(p) > maxPath:
		return refuse(Name, p, "the path has %d bytes; %d are allowed", len(p), maxPath)
	}
	segments := strings.Split(p, "/")
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return refuse(Path, p, "a path has no part that is empty, . or ..")
		}
	}
	if len(segments) > maxDepth {
		return refuse(Depth, p, "it lies %d levels deep; %d are allowed", len(segments), maxDepth)
	}
	for _, s := range segments {
		if why := badSegment(s); why != "" {
			return refuse(Name, p, "%s", why)
		}
	}
	return nil
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// badSegment says why a name can't be one on every system; empty if it can.
func badSegment(s string) string {
	if len(s) > maxSegment {
		return fmt.Sprintf("a name has %d bytes; %d are allowed", len(s), maxSegment)
	}
	for _, r := range s {
		switch {
		case strings.ContainsRune(`<>:"|?*`, r):
			return fmt.Sprintf("a name can't hold %c on Windows", r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == utf8.RuneError, unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r),
			unicode.Is(unicode.Co, r), unicode.Is(unicode.Noncharacter_Code_Point, r):
			return fmt.Sprintf("a name can't hold %U", r)
		}
	}
	switch last := s[len(s)-1]; {
	case last == '.' || last == ' ':
		return "a name can't end in a dot or a space on Windows"
	case deviceName(s):
		return "the name is a device on Windows"
	}
	return ""
}

// deviceName tells whether Windows opens a device by that name, whatever
// follows the first dot.
func deviceName(s string) bool {
	base, _, _ := strings.Cut(s, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	for _, prefix := range []string{"COM", "LPT"} {
		if digit, ok := strings.CutPrefix(base, prefix); ok {
			return len([]rune(digit)) == 1 && strings.ContainsAny(digit, "0123456789¹²³")
		}
	}
	return false
}

// foldKey is the same for two paths that some file system takes for one: where
// case doesn't count, or where characters are composed in one way.
func foldKey(p string) string {
	ascii := true
	for i := range len(p) {
		if p[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(p)
	}
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(p)))
}

// places finds entries that are one place: twice the same, or a file where
// another entry needs a folder.
type places struct {
	seen map[string]place
	// folders keeps how each folder above an entry was written, since Tools/ and
	// tools/ are two folders here and one there.
	folders map[string]string
}

type place struct {
	path string
	dir  bool
}

func newPlaces(n int) *places {
	return &places{seen: make(map[string]place, n), folders: make(map[string]string)}
}

func (ps *places) add(p string, dir bool) error {
	key := foldKey(p)
	if old, ok := ps.seen[key]; ok && (!dir || !old.dir || old.path != p) {
		switch {
		case old.path == p && old.dir != dir:
			return refuse(Duplicate, p, "it is a file and a folder")
		case old.path == p:
			return refuse(Duplicate, p, "it is there twice")
		}
		return refuse(Duplicate, p, "%s is the same name on some systems", Printable(old.path))
	}
	ps.seen[key] = place{p, dir}
	for parent := path.Dir(p); parent != "."; parent = path.Dir(parent) {
		key := foldKey(parent)
		spelt, known := ps.folders[key]
		if known && spelt == parent {
			break
		}
		if known {
			return refuse(Duplicate, p, "the folder %s is the same name as %s on some systems", Printable(parent), Printable(spelt))
		}
		ps.folders[key] = parent
	}
	if dir {
		if spelt, known := ps.folders[key]; known && spelt != p {
			return refuse(Duplicate, p, "the folder %s is the same name on some systems", Printable(spelt))
		}
	}
	return nil
}

// files wants no file to be where a folder is.
func (ps *places) files() error {
	for _, key := range slices.Sorted(maps.Keys(ps.folders)) {
		spelt := ps.folders[key]
		if old, ok := ps.seen[key]; ok && (!old.dir || old.path != spelt) {
			if old.path == spelt {
				return refuse(Duplicate, old.path, "it is a file and a folder")
			}
			return refuse(Duplicate, old.path, "%s is the same name on some systems", Printable(spelt))
		}
	}
	return nil
}

package manifest

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// ConvertedFolder is where the files of a bundle of another format lie in the
// toolset that is made of it.
const ConvertedFolder = "assets"

// Converted is a toolset that was made of another format's bundle.
type Converted struct {
	Manifest *Manifest
	// YAML is the toolset.yaml to write.
	YAML []byte
	// Warnings are what reading it gives.
	Warnings []Problem
	// Notes say what people should know: what could not be taken over, and
	// what they have to give. Each is one printable line.
	Notes []string
}

// converter gathers a manifest and what is to be said of it.
type converter struct {
	m     Manifest
	notes []string
}

func (c *converter) note(format string, args ...any) {
	c.notes = append(c.notes, sanitize.Mask(fmt.Sprintf(format, args...)))
}

// finish writes the manifest and reads it back, so that what was made is held
// to the same rules as what is written by hand.
func (c *converter) finish(file string) (*Converted, error) {
	c.m.ManifestVersion = Version
	text, err := Marshal(&c.m)
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", file, err)
	}
	d := Parse(FileName, text, Options{})
	if err := d.Err(); err != nil {
		return nil, fmt.Errorf("convert %s: it makes no toolset: %w", file, err)
	}
	return &Converted{Manifest: d.Manifest, YAML: text, Warnings: d.Problems, Notes: c.notes}, nil
}

// slug makes an id of a name: small letters, digits and dashes.
func slug(name, fallback string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 { // @scope/name
		name = name[i+1:]
	}
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	id := strings.Trim(b.String(), "-_")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = strings.TrimSuffix(fallback+"-"+id, "-")
	}
	id = strings.TrimRight(id[:min(len(id), maxID)], "-_")
	if checkToolsetID(id) != nil {
		id = (fallback + "-" + id)[:min(len(fallback)+1+len(id), maxID)]
	}
	return id
}

// version makes a semantic version of what others call one.
func (c *converter) version(v string) string {
	if ValidVersion(v) {
		return v
	}
	plain := strings.TrimPrefix(strings.TrimSpace(v), "v")
	for range 2 {
		if ValidVersion(plain) {
			break
		}
		plain += ".0"
	}
	if !ValidVersion(plain) {
		plain = "0.1.0"
	}
	if v == "" {
		c.note("it has no version; %s is taken", plain)
	} else {
		c.note("its version %s is read as %s", show(v), plain)
	}
	return plain
}

// oneLine cuts a text to what a name may be.
func oneLine(s string, high int) string {
	s = strings.Join(strings.Fields(sanitize.Mask(s)), " ")
	if rs := []rune(s); len(rs) > high {
		return string(rs[:high-1]) + "…"
	}
	return s
}

// bounded cuts a text to what a description may be.
func (c *converter) bounded(s, what string, high int) string {
	s = strings.ReplaceAll(s, "\x00", "")
	if rs := []rune(s); len(rs) > high {
		c.note("%s is longer than %d characters and was cut", what, high)
		return string(rs[:high-1]) + "…"
	}
	return s
}

package validate

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/toolset/manifest"
)

const (
	// maxText and maxTexts bound what is looked through for secrets, of one
	// file and of all: a key is written by hand, or stands at a file's begin.
	maxText  = 2 << 20
	maxTexts = 8 << 20
	// maxMarks bounds the places that are looked at closely, of one file for one
	// mark and of all files: each takes some microseconds.
	maxMarks    = 300
	maxAllMarks = 4000
	// maxSecrets is how many of one file are named.
	maxSecrets = 5
	// around is how much of a text is looked at beside a mark, in bytes: more
	// than the begin of any key.
	around = 300
)

// texts looks for keys in plain text in every file that is text, and notes which
// words there are, for what is unused.
func (v *validator) texts() error {
	total, skipped := int64(0), 0
	for _, f := range v.b.Files {
		if total += min(f.Size, maxText); total > maxTexts || f.Size > maxText {
			total -= min(f.Size, maxText)
			skipped++
			continue
		}
		raw, err := v.b.ReadFile(f.Path)
		if err != nil {
			return err
		}
		if !isText(raw) {
			continue
		}
		v.words.see(f.Path, raw)
		v.secrets(f.Path, raw)
	}
	if v.marked >= maxAllMarks {
		v.add(spot{}, Note, CodeNotLookedInto, "there is so much that could be a key that not all of it was looked at")
	}
	if skipped > 0 {
		v.add(spot{}, Note, CodeNotLookedInto, "%d large files were not looked through for keys: of a file %d MiB are, and of all together %d MiB",
			skipped, maxText>>20, maxTexts>>20)
	}
	return nil
}

// isText tells text from other bytes by its begin.
func isText(raw []byte) bool {
	head := raw[:min(len(raw), 8<<10)]
	for i := 0; i < utf8.UTFMax && len(head) > 0 && len(head) < len(raw) && !utf8.Valid(head); i++ {
		head = head[:len(head)-1]
	}
	return utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}

// secret is a place that looks like a key.
type secret struct {
	at    int
	level Level
	msg   string
}

func (v *validator) secrets(file string, raw []byte) {
	found := append(v.keys(raw), v.likely(raw)...)
	slices.SortStableFunc(found, func(a, b secret) int { return cmp.Compare(a.at, b.at) })
	said, last := 0, -1
	for _, s := range found {
		if last >= 0 && bytes.IndexByte(raw[last:max(s.at, last)], '\n') < 0 {
			continue // one in a line is enough
		}
		last = s.at
		line, column := place(raw, s.at)
		if file == manifest.FileName && v.saidSecret(line) {
			continue
		}
		if said++; said > maxSecrets {
			v.add(spot{file, line, column}, s.level, CodeSecret, "and more of the kind from here on")
			return
		}
		v.add(spot{file, line, column}, s.level, CodeSecret, "%s", s.msg)
	}
}

// saidSecret tells whether the manifest's own reading found one in a line.
func (v *validator) saidSecret(line int) bool {
	return slices.ContainsFunc(v.r.Findings, func(f Finding) bool {
		return f.File == manifest.FileName && f.Line == line && f.Code == CodeSecret
	})
}

// keys finds what begins as keys of known services do.
func (v *validator) keys(raw []byte) []secret {
	var out []secret
	for _, mark := range manifest.SecretMarks() {
		for _, at := range v.marks(raw, []byte(mark)) {
			from := max(at-40, 0)
			window := raw[from:min(at+around, len(raw))]
			if begin, end, ok := manifest.FindSecret(window); ok && from+begin <= at && at < from+end {
				out = append(out, secret{from + begin, Error, "this looks like a key of a service; whoever gets the bundle gets it"})
			}
		}
	}
	return out
}

// marks are the places of a mark that are looked at closely.
func (v *validator) marks(raw, mark []byte) []int {
	out := places(raw, mark, min(maxMarks, maxAllMarks-v.marked))
	v.marked += len(out)
	return out
}

// places are where a mark stands, up to a bound.
func places(raw, mark []byte, most int) []int {
	var out []int
	for at := 0; len(out) < most; {
		i := bytes.Index(raw[at:], mark)
		if i < 0 {
			break
		}
		out = append(out, at+i)
		at += i + len(mark)
	}
	return out
}

// hint is a way in which people write secrets down.
type hint struct {
	mark    string // in small letters
	pattern *regexp.Regexp
	value   int // the group that is the secret
	msg     string
}

var hints = sync.OnceValue(func() []hint {
	assigned := regexp.MustCompile(`(?i)[a-z0-9_-]*(?:api_?key|secret|token|passw(?:or)?d)["']?\s*[:=]\s*["']([^"'\s]{16,200})["']`)
	return []hint{
		{"bearer ", regexp.MustCompile(`(?i)bearer\s+([a-z0-9._~+/-]{20,})`), 1, "this looks like a token"},
		{"://", regexp.MustCompile(`://[^/\s:@"']{1,60}:([^/\s:@"']{6,})@`), 1, "this address holds a password"},
		{"key", assigned, 1, "this looks like a key"},
		{"secret", assigned, 1, "this looks like a secret"},
		{"token", assigned, 1, "this looks like a token"},
		{"passw", assigned, 1, "this looks like a password"},
		{"key=", regexp.MustCompile(`(?i)[?&](?:api_?|access_?)?key=([a-z0-9_-]{16,})`), 1, "this address holds a key"},
	}
})

// likely finds what looks like a secret by where it stands. It is a guess, so it
// is a warning, and what is plainly made up is passed over.
func (v *validator) likely(raw []byte) []secret {
	var out []secret
	lower := bytes.ToLower(raw)
	if len(lower) != len(raw) { // letters that change their length; their places would be wrong
		lower = raw
	}
	for _, h := range hints() {
		for _, at := range v.marks(lower, []byte(h.mark)) {
			from := max(at-30, 0)
			if i := bytes.LastIndexByte(raw[from:at], '\n'); i >= 0 {
				from += i + 1
			}
			window := raw[from:min(at+around, len(raw))]
			if i := bytes.IndexByte(window[at-from:], '\n'); i >= 0 {
				window = window[:at-from+i]
			}
			m := h.pattern.FindSubmatchIndex(window)
			if m == nil || from+m[0] > at || !random(string(window[m[2*h.value]:m[2*h.value+1]])) {
				continue
			}
			out = append(out, secret{from + m[2*h.value], Warning, h.msg + ", and is in plain text"})
		}
	}
	return out
}

// random tells whether a text may be a secret: letters and digits mixed, and
// nothing that says that it stands for one.
func random(s string) bool {
	lower := strings.ToLower(s)
	for _, word := range []string{"your", "example", "placeholder", "xxxx", "changeme", "dummy", "test", "${", "{{", "<", "%s", "env", "http", "..."} {
		if strings.Contains(lower, word) {
			return false
		}
	}
	return strings.ContainsAny(s, "0123456789") && strings.ContainsAny(lower, "abcdefghijklmnopqrstuvwxyz")
}

// place is the line and the column of a byte, both from 1.
func place(raw []byte, at int) (line, column int) {
	at = min(at, len(raw))
	begin := bytes.LastIndexByte(raw[:at], '\n') + 1
	return bytes.Count(raw[:at], []byte{'\n'}) + 1, utf8.RuneCount(raw[begin:at]) + 1
}

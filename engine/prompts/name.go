package prompts

import (
	"errors"
	"strings"
)

const (
	// ext is what the files of prompts end in.
	ext = ".md"
	// maxName bounds the names of prompts and variables: people type them.
	maxName = 64
)

// InputName is the variable that stands for what the person gave besides.
const InputName = "input"

var errName = errors.New("a prompt's name is of letters, digits, dots, dashes and underscores, begins with a letter or a digit, and has at most 64 of them")

// CheckName tells why a text can't be the name of a prompt, if that is so.
func CheckName(name string) error {
	if len(name) > maxName || !word(name, "._-") || strings.ContainsRune("._-", rune(name[0])) || strings.HasSuffix(name, ".") || reserved(name) {
		return errName
	}
	return nil
}

// reserved tells the names that Windows keeps for devices, whatever follows
// their first dot. Prompts travel between systems, so they are refused on all.
func reserved(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && base[3] >= '0' && base[3] <= '9'
}

// validVariable tells whether a text can be the name of a variable.
func validVariable(name string) bool {
	return len(name) <= maxName && word(name, "_-") && (name[0] == '_' || name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z')
}

// word tells whether s is one or more ASCII letters and digits or one of more.
func word(s, more string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && strings.IndexByte(more, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

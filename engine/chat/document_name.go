package chat

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckDocumentName says why a document can't have a name: it has to stand in
// a sentence, after doc:, and end where the next word begins.
func CheckDocumentName(name string) error {
	bad := strings.IndexFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' || r == '\\'
	})
	switch {
	case name == "":
		return errors.New("the name is empty")
	case utf8.RuneCountInString(name) > MaxDocumentName:
		return fmt.Errorf("the name has more than %d characters", MaxDocumentName)
	case !utf8.ValidString(name), bad >= 0:
		return errors.New("the name has spaces, quotes, backslashes or control characters")
	case strings.TrimRight(name, Trailing) != name:
		return errors.New("the name ends in a character that ends a sentence")
	}
	return nil
}

// DocumentName makes a name that a document can have of a file's.
func DocumentName(file string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return '-'
		case !unicode.IsPrint(r) || r == '"' || r == '\\' || r == utf8.RuneError:
			return -1
		}
		return r
	}, strings.TrimSpace(filepath.Base(filepath.FromSlash(file))))
	if utf8.RuneCountInString(name) > MaxDocumentName {
		name = string([]rune(name)[:MaxDocumentName])
	}
	name = strings.TrimRight(name, Trailing)
	if name == "" || name == string(filepath.Separator) {
		return "document"
	}
	return name
}

// MaxDocumentName bounds a name, which is written within a question.
const MaxDocumentName = 200

// Trailing are the characters that end a sentence, and no reference.
const Trailing = ".,;:!?)]}>'\"*`"

package question

import (
	"strings"
	"testing"
)

func TestMentionWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"see @a.txt now":       "see|@a.txt|now",
		`@"my file.txt" it's`:  "@my file.txt|it's",
		`/tmp/a\ b.png`:        "/tmp/a b.png",
		"'/tmp/a b.png'\nnext": "/tmp/a b.png|next",
		"":                     "",
	} {
		if got := strings.Join(MentionWords(text), "|"); got != want {
			t.Errorf("%q gave %q, want %q", text, got, want)
		}
	}
}

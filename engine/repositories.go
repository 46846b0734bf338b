package engine

import (
	"strings"

	"github.com/fettle-cli/fettle/engine/event"
)

// commandTool is the builtin that runs commands.
const commandTool = "run_command"

// addNote adds a note in brackets to the text of a call's result.
func addNote(text, note string) string { return strings.TrimRight(text, "\n") + "\n[" + note + "]" }

// warn shows the user what a call did that needs attention: each text is an event that
// every front end shows at once, and a notice, which a server logs.
func (t *turn) warn(texts []string) {
	for _, text := range texts {
		t.eng.o.Notice(text)
	}
	t.showWarnings(texts)
}

// showWarnings is warn without notices.
func (t *turn) showWarnings(texts []string) {
	for _, text := range texts {
		t.report(event.Footnote{Text: text, Warning: true})
	}
}

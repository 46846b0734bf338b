package follow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
)

// A yes to a prompt is to all of it, however long it is.
func TestAllOfAPromptIsShown(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "line %d\n\n", i)
	}
	long := strings.Repeat("é", 7_001)
	text.WriteString(long + "\nthe end")
	f := &former{width: 80, form: &event.Form{Server: "trip", Kind: event.SamplingForm, Prompt: &event.FormPrompt{
		Model: "m", System: long, Messages: []event.FormPromptMessage{{Role: "user", Text: text.String()}},
	}}}
	shown := f.prompt()
	for i := range 500 {
		if !strings.Contains(shown, fmt.Sprintf("\n    line %d\n", i)) {
			t.Fatalf("line %d isn't shown", i)
		}
	}
	if got := strings.Count(shown, "é"); got != 2*7_001 || !strings.HasSuffix(shown, "\n    the end\n") {
		t.Errorf("%d of %d characters are shown, and then %q", got, 2*7_001, shown[len(shown)-40:])
	}
	for line := range strings.Lines(shown) {
		if len([]rune(line)) > 81 {
			t.Errorf("a line has %d characters", len([]rune(line)))
		}
	}
}

package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workspace"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
)

const (
	// callDiffLines bounds the diff that is shown below a call; /diff has all of it.
	callDiffLines = 16
	// planLines bounds what a tool's own view shows below its call.
	planLines = 14
)

// planBelow shows a call in its tool's own view below its line.
func (t *talk) planBelow(out *term.Output, call follow.Call) bool {
	return t.showPlan(out, call, planLines)
}

// diffBelow shows what a call changed below its line.
func (t *talk) diffBelow(out *term.Output, b event.ToolComplete) {
	t.showDiff(out, b, callDiffLines)
}

// showDiff shows what a call changed, in at most so many lines; 0 is all.
func (t *talk) showDiff(out *term.Output, b event.ToolComplete, most int) {
	ctx, cancel := context.WithTimeout(context.Background(), diffTime)
	defer cancel()
	lines, err := t.diffOf(ctx, b)
	if err != nil {
		show.ShowLabel(out, "  the diff can't be shown: "+err.Error())
		return
	}
	left := 0
	if most > 0 && len(lines) > most {
		left = len(lines) - most
		lines = lines[:most]
	}
	style := out.Style()
	for _, line := range lines {
		out.Printf("  %s\n", workspace.PatchLine(style, cutLine(line, out.Width()-3)))
	}
	if left > 0 {
		out.Printf("  %s\n", style.Dim(fmt.Sprintf("… %s more: /diff", term.Count(left, "line", "lines"))))
	}
}

// cutLine makes a line of a file harmless and no longer than a row.
func cutLine(line string, width int) string {
	line = strings.ReplaceAll(term.CleanText(strings.TrimRight(line, "\n")), "\t", "    ")
	if width > 0 {
		line = term.CutEnd(line, max(width, 8))
	}
	return line
}

// diffTime bounds how long a turn waits for the diff of a call, which only
// reads what was kept.
const diffTime = 5 * time.Second

// now is the chat, also while its first turn runs.
func (t *talk) now() chat.Chat {
	t.mu.Lock()
	id := t.turn
	t.mu.Unlock()
	if chat, ok := t.eng.TurnChat(id); ok {
		return chat
	}
	return t.chat
}

// diffOf is what a call changed, as lines of a diff without git's own.
func (t *talk) diffOf(ctx context.Context, b event.ToolComplete) ([]string, error) {
	d := &workspace.Differ{Rt: t.in, Eng: t.eng}
	chat := t.now()
	chat.ActiveManifest = b.PostManifestID // the chat's record gets it when the turn has ended
	var err error
	if d.From, err = t.eng.State(ctx, chat, b.PreManifestID); err != nil {
		return nil, err
	}
	if d.To, err = t.eng.State(ctx, chat, b.PostManifestID); err != nil {
		return nil, err
	}
	var lines []string
	for c, err := range d.Changes(ctx) {
		if err != nil {
			return nil, err
		}
		p, err := d.Compare(ctx, c)
		if err != nil {
			return nil, err
		}
		lines = append(lines, changeHead(c.Path, workspace.ChangeWord(c), p))
		lines = append(lines, diffBody(p.Text)...)
	}
	return lines, nil
}

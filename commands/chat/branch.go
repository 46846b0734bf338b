package chat

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/chats"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// doBranch draws the chat's branches as a tree: the one that goes on, and where
// each of the others leaves it.
func (t *talk) doBranch(ctx context.Context, _ string) error {
	if _, err := t.number(); err != nil {
		return err
	}
	chat, branches, err := t.eng.Branches(ctx, store.ChatRef{ID: t.chat.ID})
	if err != nil {
		return err
	}
	conv, err := t.eng.Chat(ctx, store.ChatRef{ID: t.chat.ID})
	if err != nil {
		return err
	}
	out := t.in.Streams.Out
	for _, line := range branchTree(branches, questions(conv), out.Width(), out.Style()) {
		out.Printf("%s\n", line)
	}
	switch {
	case len(branches) > 1:
		t.say("/switch N goes on in another, and its files come back with it")
	default:
		t.say(fmt.Sprintf("chat %d has one branch; /retry and /edit make others", chat.Number))
	}
	return nil
}

// placed is a question of the active branch.
type placed struct {
	place int
	text  string
}

func questions(conv store.Conversation) []placed {
	var out []placed
	for i, m := range conv.Messages {
		if m.Role == provider.User {
			out = append(out, placed{i + 1, show.OneLine(textOf(m.Parts))})
		}
	}
	return out
}

// branchTree is the active branch from top to bottom, with the other branches
// where they leave it.
func branchTree(branches []store.Branch, asked []placed, width int, style term.Style) []string {
	if width <= 0 {
		width = store.DefaultWidth
	}
	var active store.Branch
	var others []store.Branch
	for _, b := range branches {
		if b.Active {
			active = b
		} else {
			others = append(others, b)
		}
	}
	slices.SortStableFunc(others, func(a, b store.Branch) int { return cmp.Compare(a.Place, b.Place) })
	var lines []string
	leave := func(upTo int) {
		for len(others) > 0 && others[0].Place <= upTo {
			lines = append(lines, branchLine("├─ ", others[0], width, style))
			others = others[1:]
		}
	}
	const most = 30 // questions: of a longer chat those where it parts, and the last ones, tell more
	for i, q := range asked {
		leave(q.place - 1)
		if len(asked)-i > most && !slices.ContainsFunc(others, func(b store.Branch) bool { return b.Place == q.place }) {
			continue
		}
		lines = append(lines, style.Dim("│  ")+style.Dim(fmt.Sprintf("%d ", q.place))+term.CutEnd(q.text, max(width-10, 10)))
		leave(q.place)
	}
	leave(engine.MaxPlace)
	return append(lines, branchLine("* ", active, width, style))
}

// branchLine is a leaf: its number, its question, and what switching to it would
// do to files.
func branchLine(mark string, b store.Branch, width int, style term.Style) string {
	tail := term.Count(b.Messages, "message", "messages") + ", " + term.Ago(time.Now(), b.UpdatedAt)
	switch files := chats.FilesOf(b); {
	case b.Active:
		tail += ", the chat goes on here"
	case files != "":
		tail += ", files " + files
	default:
		tail += ", same files"
	}
	head := mark + fmt.Sprintf("branch %d", b.Number)
	title := ""
	if !b.Active {
		if room := width - term.Cells(head) - term.Cells(tail) - 8; room >= 12 {
			title = "  " + term.CutEnd(show.OneLine(b.Title), room)
		}
	}
	line := strings.TrimRight(term.CutEnd("  "+tail, max(width-1-term.Cells(head)-term.Cells(title), 8)), " ")
	return style.Bold(head) + title + style.Dim(line)
}

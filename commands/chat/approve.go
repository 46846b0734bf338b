package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/commands/follow"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/term/live"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/patch"
)

// asking is a question on the page.
type asking struct {
	text    []string // what is asked, in lines
	head    bool     // the first line stands out
	diff    []string // of what the call would write
	choices []term.Choice
	rule    string // what always allows from then on
	cut     bool   // text and diff leave something of the call out
	seen    bool   // the details were shown to their end
	reasons bool   // a no may have a reason
	since   time.Time
	armed   bool            // keys are answers from now on
	why     *words          // the reason that is being typed; nil for none
	ctx     context.Context // of the job that asks
	answer  chan answered
}

// words is a line of its own, beside the one that a person was typing. first stands
// before it and hint below it; without them it is the reason of a no.
type words struct {
	line        live.Editor
	first, hint string
}

// escaped is the key of a line that was given up.
const escaped = '\x1b'

// answered is what became of a question: a key, or why there is none.
type answered struct {
	key    rune
	reason string
	err    error
}

// maxAsked bounds how much of a call's main argument the question shows, in bytes.
const maxAsked = 16 << 10

// newCallQuestion asks whether a call may run: what it does, and the diff of what it
// would write.
func newCallQuestion(t *talk, ask event.ConfirmRequest) *asking {
	short := consent.Read(ask.Input).Summary(maxAsked)
	a := &asking{head: true, reasons: true, cut: short.Cut, rule: consent.Line(ask.Rule), diff: t.preview(ask)}
	a.text = append(a.text, strings.TrimRight("→ "+consent.Line(ask.Tool)+"  "+short.Main, " \n"))
	for _, other := range short.Others {
		a.text = append(a.text, "  "+other)
	}
	a.text = append(a.text, "needs your approval: "+consent.Line(ask.Reason))
	if ask.Review != nil {
		a.diff = follow.ReviewDiff(ask.Review)
		a.choices = append(follow.ReviewChoices(ask.Review), term.Choice{Key: '?', Label: "details"})
		return a
	}
	a.choices = []term.Choice{{Key: 'y', Label: "once", Commits: true}}
	if ask.Rule != "" {
		a.choices = append(a.choices, term.Choice{Key: 'c', Label: "this chat", Commits: true}, term.Choice{Key: 'a', Label: "always", Commits: true})
	}
	a.choices = append(a.choices, term.Choice{Key: 'n', Label: "no"}, term.Choice{Key: 'r', Label: "no, and say why"}, term.Choice{Key: '?', Label: "details"})
	return a
}

// offered are the answers that can be given now: nothing is allowed that was not shown
// to its end.
func (a *asking) offered() []term.Choice {
	if !a.cut || a.seen {
		return a.choices
	}
	return slices.DeleteFunc(slices.Clone(a.choices), func(c term.Choice) bool { return c.Commits })
}

// approvalLine says in the transcript what was decided.
func approvalLine(ask event.ConfirmRequest, a engine.Confirmation) string {
	rule := ask.Rule
	if rule == "" {
		rule = ask.Tool
	}
	if ask.Review != nil {
		return reviewedLine(ask, a)
	}
	switch a.Decision {
	case event.Allow:
		return "· allowed once: " + ask.Tool
	case event.AllowChat:
		return "· allowed in this chat: " + rule
	case event.AllowAlways:
		return "· allowed always: " + rule
	}
	if a.Reason != "" {
		return "· not allowed: " + ask.Tool + ": " + a.Reason
	}
	return "· not allowed: " + ask.Tool
}

// reviewedLine says in the transcript what became of the changes of a call.
func reviewedLine(ask event.ConfirmRequest, a engine.Confirmation) string {
	switch {
	case !a.Decision.Allows() && a.Reason != "":
		return "· discarded: " + ask.Tool + ": " + a.Reason
	case !a.Decision.Allows():
		return "· discarded: " + ask.Tool
	case a.Only != nil:
		return fmt.Sprintf("· applied %d of %s: %s", len(a.Only), term.Count(ask.Review.Count(), "file", "files"), ask.Tool)
	}
	return "· applied: " + ask.Tool
}

// maxPreview bounds a file that a preview is made of.
const maxPreview = 1 << 20

// preview is what a call of the builtin tools would change in its file; nil for
// other calls, and where it can't be told.
func (t *talk) preview(ask event.ConfirmRequest) []string {
	var in struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
		Old     *string `json:"old_text"`
		New     *string `json:"new_text"`
		All     bool    `json:"replace_all"`
		Edits   []struct {
			Old string `json:"old_text"`
			New string `json:"new_text"`
			All bool   `json:"replace_all"`
		} `json:"edits"`
	}
	if ask.ToolID != "write_file" && ask.ToolID != "edit_file" || json.Unmarshal(ask.Input, &in) != nil || in.Path == "" {
		return nil
	}
	old, there, known := t.readInside(in.Path)
	if !known {
		return nil
	}
	now := old
	replace := func(from, to string, all bool) {
		n := 1
		if all {
			n = -1
		}
		if from != "" {
			now = strings.Replace(now, from, to, n)
		}
	}
	switch {
	case ask.ToolID == "write_file" && in.Content != nil:
		now = *in.Content
	case ask.ToolID == "write_file" || !there:
		return nil
	case in.Old != nil && in.New != nil:
		replace(*in.Old, *in.New, in.All)
	}
	for _, e := range in.Edits {
		replace(e.Old, e.New, e.All)
	}
	f := patch.File{Path: in.Path, Old: []byte(old), New: []byte(now), NewMode: "100644"}
	if there {
		f.OldMode = f.NewMode
	}
	return diffBody(patch.Of(f).Text)
}

// readInside reads a file of the chat's folder, and none outside of it. known is
// false where it can't be told what the file is: a preview would show that a file is
// made which is replaced.
func (t *talk) readInside(name string) (content string, there, known bool) {
	root, err := os.OpenRoot(t.folder())
	if err != nil {
		return "", false, false
	}
	defer root.Close() // it was only read
	info, err := root.Lstat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, true
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPreview {
		return "", false, false // opening something else, such as a pipe, may wait
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", false, false
	}
	defer f.Close() // it was only read
	raw, err := io.ReadAll(io.LimitReader(f, maxPreview))
	return string(raw), true, err == nil
}

// diffBody is a patch from its first hunk on.
func diffBody(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if len(lines) > 0 || strings.HasPrefix(line, "@@") || strings.HasPrefix(line, "Binary") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// changeHead is a changed file in a line.
func changeHead(path, word string, p patch.Patch) string {
	line := "# " + word + " " + term.Clean(path)
	if p.Binary {
		return line
	}
	return line + "  +" + term.Number(int64(p.Added)) + " -" + term.Number(int64(p.Removed))
}

// key edits the reason, or is the answer, which it gives.
func (a *asking) key(k live.Key) (got answered, ok bool) {
	if a.why != nil {
		switch {
		case k.Name == live.Escape && a.why.first != "":
			return answered{key: escaped}, true
		case k.Name == live.Escape:
			a.why = nil
		case k.Name == live.Enter && !k.Alt:
			return answered{key: 'n', reason: strings.TrimSpace(a.why.line.Text())}, true
		default:
			a.why.line.Key(k)
		}
		return answered{}, false
	}
	if k.Name != live.Text || k.Ctrl || k.Alt {
		return answered{}, false // no other key is an answer, a stray Enter least of all
	}
	for _, c := range a.offered() {
		switch {
		case !strings.EqualFold(k.Text, string(c.Key)):
		case c.Key == 'r' && a.reasons:
			a.why = &words{}
			return answered{}, false
		default:
			return answered{key: c.Key}, true
		}
	}
	return answered{}, false
}

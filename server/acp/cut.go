package acp

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/workspace"
	"github.com/fettle-cli/fettle/internal/consent"
	"github.com/fettle-cli/fettle/internal/sanitize"
)

// CutAdvice says how to apply or discard what a call wrote that was cut off.
func CutAdvice(call string) string {
	return "/cut shows them, /cut apply " + call + " applies them, /cut discard " + call + " removes them"
}

// cutCommand shows, applies or discards what calls wrote that were cut off in the session or
// in its folder.
func (a *agent) cutCommand(r *request, s *session, args string) (string, error) {
	all, err := a.eng.CutWritesOf(r.ctx, chat.Chat{ID: s.id, Workspace: s.cwd})
	if err != nil {
		return a.refused(r, s, "cut", err)
	}
	if len(all) == 0 {
		return a.reply(r, s, "No call was cut off here whose files wait to be applied or discarded.")
	}
	verb, id, _ := strings.Cut(args, " ")
	fits := slices.DeleteFunc(slices.Clone(all), func(w workspace.CutWrites) bool {
		return !strings.HasSuffix(w.CallID, strings.ToUpper(strings.TrimSpace(id)))
	})
	switch {
	case verb == "":
		return a.showCut(r, s, all)
	case verb != "apply" && verb != "discard":
		return a.reply(r, s, "/cut takes the word apply or discard, not "+sanitize.Cut(sanitize.Line(verb), maxShownName))
	case len(fits) != 1:
		ids := make([]string, len(all))
		for i, w := range all {
			ids[i] = "`/cut " + verb + " " + w.CallID + "`"
		}
		return a.reply(r, s, "Name one call by its id: "+strings.Join(ids, ", "))
	case verb == "discard":
		if _, err := a.eng.DiscardCut(r.ctx, fits[0].CallID); err != nil {
			return a.refused(r, s, "cut "+args, err)
		}
		return a.reply(r, s, "Removed what the call "+fits[0].CallID+" wrote.")
	}
	done, err := a.eng.ApplyCut(r.ctx, fits[0].CallID, a.waits(s))
	if err != nil {
		return a.refused(r, s, "cut "+args, err)
	}
	text := "Applied " + count(len(done.Changes), "change", "changes") + ". /undo reverts this."
	for _, c := range done.Changes {
		text += "\n- " + c.Kind + " " + consent.Line(c.Path)
	}
	for _, note := range done.Notes {
		text += "\n\n" + sanitize.Line(note)
	}
	return a.reply(r, s, text)
}

// shownCut is how many files of a call are listed.
const shownCut = 5

// showCut lists calls that were cut off, the first files of each, and the commands for it.
func (a *agent) showCut(r *request, s *session, all []workspace.CutWrites) (string, error) {
	var b strings.Builder
	for i, w := range all {
		cut, err := a.eng.ReviewCut(r.ctx, w.CallID, a.waits(s))
		if err != nil {
			return a.refused(r, s, "cut", err)
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		title := "A call"
		if w.ToolID != "" {
			title = callTitle(bareTool(w.ToolID), w.Args)
		}
		b.WriteString(title + " was cut off at " + w.Started.Local().Format("2 January 15:04") + ". What it wrote is not in the folder yet:")
		if w.Suspect {
			b.WriteString(" (the system was started again since then, so the files may be damaged)")
		}
		files := cut.Review.Files
		for _, f := range files[:min(len(files), shownCut)] {
			b.WriteString("\n- " + f.Kind + " " + consent.Line(f.Path))
		}
		if more := cut.Review.Count() - shownCut; more > 0 {
			b.WriteString("\n- and " + strconv.Itoa(more) + " more")
		}
		for _, c := range cut.Review.Conflicts {
			b.WriteString("\n- not applied, since it was changed meanwhile: " + consent.Line(c.Path))
		}
		for _, note := range cut.Notes {
			b.WriteString("\n- " + sanitize.Line(note))
		}
		b.WriteString("\n\n`/cut apply " + w.CallID + "` applies it, `/cut discard " + w.CallID + "` removes it.")
	}
	return a.reply(r, s, b.String())
}

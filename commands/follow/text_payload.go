package follow

import (
	"fmt"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/show"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
)

// payload shows structured data: as a card on a terminal, at its place in the
// Answer. Elsewhere a line on standard error says that there is some.
func (v *Text) payload(b event.Payload) {
	v.shown = true
	p := provider.Payload{ID: b.PayloadID, Type: b.Kind, Data: b.Data, Source: b.Source, Toolset: b.Toolset, Title: b.Title}
	if !v.rendered() {
		if v.talk {
			v.Clear()
			v.rt.Streams.Err.Printf("%s\n", v.rt.Streams.Err.Style().Dim("· "+term.Clean(show.CardName(p))+": fettle payloads show"))
		}
		return
	}
	c := show.Card{Payload: p, Plan: b.RenderPlan, Lines: show.CardLines}
	if v.chat.Number > 0 {
		foot := show.DecisionFoot(p, 0)
		c.Foot = v.words(foot, strings.ReplaceAll(foot, "fettle ", "/"))
	}
	if v.held {
		v.cards = append(v.cards, c)
		return
	}
	wrote := v.wrote
	v.pause()
	v.Clear()
	if wrote {
		v.rt.Streams.Out.WriteString("\n")
	}
	c.Print(v.rt.Streams.Out)
	v.wrote, v.tail = true, "\n" // what follows is a paragraph of its own
}

// suggestions are what the answer offers to go on with, as commands.
func (v *Text) suggestions() {
	done, ok := v.last.(event.Complete)
	if !ok || !v.talk || v.Number() == 0 {
		return
	}
	var rows [][2]string
	if v.Log != nil {
		v.Log.suggest(v.rt.Streams.Err, done.Payload)
		return
	}
	for _, s := range show.Values(done.Payload.SuggestedValues) {
		about := s.Label
		if about == s.Value {
			about = ""
		}
		rows = append(rows, [2]string{"fettle ask -c " + cmdline.ShellWord(show.OneLine(s.Value)), about})
	}
	for i, a := range show.Actions(done.Payload.SuggestedActions) {
		rows = append(rows, [2]string{fmt.Sprintf("fettle ask --action %d", i+1), a.Label})
	}
	out := v.rt.Streams.Err
	for i, row := range rows {
		head := "      "
		if i == 0 {
			head = "next  "
		}
		line := head + row[0]
		if row[1] != "" {
			line += "   " + show.OneLine(row[1])
		}
		if w := out.Width(); w > 0 {
			line = term.CutEnd(line, w-2)
		}
		out.Printf("  %s\n", out.Style().Dim(strings.TrimRight(term.Clean(line), " ")))
	}
}

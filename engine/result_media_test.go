package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

var testPNG = []byte("\x89PNG\r\n\x1a\nan image")

// snap is a tool that returns an image and a sound.
func snap() toolset.Entry {
	return tool("snap", func(context.Context, toolset.Call) (toolset.Result, error) {
		return toolset.Result{Text: "[image] [sound]", Media: []toolset.Media{
			{MIME: "image/png", Data: bytes.Clone(testPNG)}, {MIME: "audio/wav", Data: []byte("RIFF")},
		}}, nil
	})
}

// mediaIn describes the results and images of a request, a line each.
func mediaIn(req *provider.Request) string {
	var out []string
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Kind == provider.ImagePart:
				out = append(out, "an image")
			case p.Result != nil:
				line := strings.ReplaceAll(p.Result.Text, "\n", " / ")
				for _, media := range p.Result.Media {
					line += " + " + media.MIME
				}
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "\n")
}

// snapping calls the tool at each question and then answers.
func snapping(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
	if step%2 == 0 {
		yield([]provider.Delta{calls("c", "snap", `{}`), stops(provider.StopToolUse)}, nil)
		return
	}
	yield([]provider.Delta{says("Seen."), stops(provider.StopEnd)}, nil)
}

// The images of a result reach models that take them, in the turn and in later ones, in a
// fork and after an import; of what a model does not take, the text says so.
func TestImagesOfResultsReachTheModel(t *testing.T) {
	t.Parallel()
	const both = "[image] [sound] / [1 sound left out, since this model takes none] + image/png"
	for name, c := range map[string]struct {
		model provider.Model
		want  string
	}{
		"takes images":            {provider.Model{}, both},
		"takes images and sounds": {provider.Model{Audio: provider.Yes}, "[image] [sound] + image/png + audio/wav"},
		"takes neither":           {provider.Model{Images: provider.No}, "[image] [sound] / [1 image left out, since this model takes none] / [1 sound left out, since this model takes none]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, r := newRogue(t, snapping, snap())
			r.model = c.model
			turn := func(b *bench, ref store.ChatRef) string {
				t.Helper()
				req := ask("go")
				req.Chat, req.Tools = ref, []string{"snap"}
				last[event.Complete](t, b.run(req))
				all := r.requests()
				return mediaIn(all[len(all)-1])
			}
			if got := turn(b, store.ChatRef{}); got != c.want {
				t.Errorf("in the turn the model gets %q, want %q", got, c.want)
			}
			if got := turn(b, store.ChatRef{Number: 1, Fork: true}); got != c.want+"\n"+c.want {
				t.Errorf("in a fork the model gets %q", got)
			}
			doc, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 1})
			if err != nil {
				t.Fatal(err)
			}
			there, r2 := newRogue(t, snapping, snap())
			r2.model = c.model
			if _, err := there.importChats(t.Context(), []*chat.Document{doc}, store.RefuseExisting); err != nil {
				t.Fatal(err)
			}
			req := ask("go")
			req.Chat, req.Tools = store.ChatRef{Number: 1}, []string{"snap"}
			last[event.Complete](t, there.run(req))
			if got := mediaIn(r2.requests()[0]); got != c.want {
				t.Errorf("after an import the model gets %q, want %q", got, c.want)
			}
		})
	}
}

// A model that knows no tools gets the images of results with their words.
func TestImagesOfResultsWithoutTools(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, snapping, snap())
	req := ask("go")
	req.Tools = []string{"snap"}
	last[event.Complete](t, b.run(req))
	r.model = provider.Model{Tools: provider.No}
	more := ask("and now?")
	more.Chat, more.Model = store.ChatRef{Number: 1}, "rogue/plain"
	r.stream = func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("Well."), stops(provider.StopEnd)}, nil)
	}
	last[event.Complete](t, b.run(more))
	if got := mediaIn(r.requests()[2]); got != "an image" {
		t.Errorf("the model gets %q", got)
	}
}

// A document whose result has media that are none is refused as a whole.
func TestAnImportChecksTheMediaOfResults(t *testing.T) {
	t.Parallel()
	for name, media := range map[string]provider.Part{
		"no data":             {Kind: provider.ImagePart, MIME: "image/png"},
		"another type":        {Kind: provider.ImagePart, MIME: "text/html", Data: testPNG},
		"another kind":        {Kind: provider.FilePart, MIME: "image/png", Data: testPNG},
		"a sound as an image": {Kind: provider.ImagePart, MIME: "audio/wav", Data: testPNG},
	} {
		part := provider.Part{Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: "a", Name: "b", Media: []provider.Part{media}}}
		if err := chat.CheckPart(&part, provider.Assistant); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	call := provider.Part{Kind: provider.ToolCallPart, Call: &provider.ToolCall{ID: "a", Name: "b", Extra: json.RawMessage(`[1]`)}}
	if err := chat.CheckPart(&call, provider.Assistant); err == nil {
		t.Error("an extra that is no object was taken")
	}
}

// An image of an earlier turn that a provider refuses is left out with a footnote; one of
// the question itself is not.
func TestARefusedImageFurtherUpIsLeftOut(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("Seen."), stops(provider.StopEnd)}, nil)
	})
	req := ask("what is it?")
	req.Parts = append(req.Parts, provider.Part{Kind: provider.ImagePart, MIME: "image/png", Data: testPNG})
	last[event.Complete](t, b.run(req))
	r.stream = func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if reqs := r.requests(); mediaIn(reqs[len(reqs)-1]) != "" {
			yield(nil, &provider.Error{Kind: provider.Rejected, Status: http.StatusBadRequest, Message: "Could not process image"})
			return
		}
		yield([]provider.Delta{says("Fine."), stops(provider.StopEnd)}, nil)
	}
	more := ask("and now?")
	more.Chat = store.ChatRef{Number: 1}
	events := b.run(more)
	last[event.Complete](t, events)
	if note := find[event.Footnote](events).Text; !strings.Contains(note, "images further up in the chat were left out") || !strings.Contains(note, "Could not process image") {
		t.Errorf("the footnote is %q", note)
	}
	asked := r.requests()[2].Messages[0].Parts
	if !strings.Contains(asked[len(asked)-1].Text+asked[0].Text, "(an image, which was left out)") {
		t.Errorf("the old question is %+v", asked)
	}
	last[event.Error](t, b.run(req)) // its own image cannot be left out
}

// Reasoning that a server left in held-back text is cut; other processes know the marker.
func TestReasoningInTextIsCut(t *testing.T) {
	t.Parallel()
	b, r := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
		yield([]provider.Delta{says("perhaps {\"n\":1}?\n</think>\n\n{\"n\":2}"), stops(provider.StopEnd)}, nil)
	})
	req := ask("count")
	req.Schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	events := b.run(req)
	last[event.Complete](t, events)
	if got := outcomeOf(events).text; got != `{"n":2}` {
		t.Errorf("the answer is %q", got)
	}
	b.retired(1)
	last[event.Complete](t, b.run(ask("again")))
	if all := r.requests(); all[0].ThoughtEnd != "" || all[1].ThoughtEnd != "</think>" {
		t.Errorf("the requests have the markers %q and %q", all[0].ThoughtEnd, all[1].ThoughtEnd)
	}
	if l := b.LearntOf("rogue/m"); l.ThoughtEnd != "</think>" { // as another process reads it
		t.Errorf("what is kept is %+v", l)
	}
}

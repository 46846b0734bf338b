package engine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/toolset"
)

const pubmedArticle = `{"pmid":"99000006","title":"Planned naps","authors":"A","journal":"J","publication_date":"2026","abstract":"","doi":"","pmcid":"","mesh_terms":[],"keywords":[],"publication_types":[],"url":"u","source":"sample"}`

// published is a chat in which a tool gave a result that its toolset's page shows, and a
// payload that the page of its type shows.
func published(t *testing.T) *bench {
	t.Helper()
	b, _ := showroom(t, func(_ context.Context, step int, yield func([]provider.Delta, error) bool) {
		if step == 0 {
			yield([]provider.Delta{calls("c1", "get_pubmed_article", `{"pmid":"99000006","source":"sample"}`), stops("tool_use")}, nil)
			return
		}
		yield([]provider.Delta{says("There."), stops("stop")}, nil)
	}, map[string]toolset.RunnerFunc{
		"research-streams:get_pubmed_article": func(context.Context, toolset.Call) (toolset.Result, error) {
			return toolset.Result{Text: "Article details", Data: json.RawMessage(pubmedArticle),
				Payload: json.RawMessage(`{"type":"pubmed_article","data":` + pubmedArticle + `}`)}, nil
		},
	}, "research-streams")
	req := ask("read it")
	req.Policy.AllowAll = true
	b.run(req)
	return b
}

// shows reports whether a chat's call and its payload are both shown by their pages.
func (b *bench) shows(number int64) bool {
	b.t.Helper()
	ref := store.ChatRef{Number: number}
	conv := b.chat(number)
	views, err := b.ViewCalls(b.t.Context(), conv.Chat.ID, conv.Messages)
	if err != nil || len(views) != 1 {
		b.t.Fatalf("calls of chat %d: %+v, %v", number, views, err)
	}
	call, err := b.RenderDocument(b.t.Context(), views[0].ID)
	if err != nil {
		return false
	}
	chat, all, err := b.Payloads(b.t.Context(), ref)
	if err != nil || len(all) != 1 {
		b.t.Fatalf("payloads of chat %d: %+v, %v", number, all, err)
	}
	payload, err := b.RenderPayload(b.t.Context(), chat, all[0])
	if err != nil {
		return false
	}
	return strings.Contains(string(call.Document), "Planned naps") && strings.Contains(string(payload.Document), "Planned naps")
}

// A result is shown by the page that it had, also when its toolset is disabled or
// removed, in a fork, and after an export and an import; the page goes with the last chat
// that needs it.
func TestResultsOutliveTheirToolset(t *testing.T) {
	t.Parallel()
	b := published(t)
	if !b.shows(1) {
		t.Fatal("the result isn't shown")
	}
	fork, err := b.ForkChat(t.Context(), store.ChatRef{Number: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	doc, _, err := b.ExportChat(t.Context(), store.ChatRef{Number: 1})
	if err != nil || len(doc.Artifacts) != 1 {
		t.Fatalf("exported with %d pages, %v", len(doc.Artifacts), err)
	}
	in, err := b.importChats(t.Context(), []*chat.Document{doc}, store.CopyExisting)
	if err != nil {
		t.Fatal(err)
	}
	imported := in[0].Chat.Number
	if _, err := b.SwitchToolset(t.Context(), "research-streams", false); err != nil {
		t.Fatal(err)
	}
	if !b.shows(1) {
		t.Error("a disabled toolset's result isn't shown")
	}
	if _, err := b.RemoveToolset(t.Context(), "research-streams"); err != nil {
		t.Fatal(err)
	}
	b.o.Now = later(2 * store.UnknownGrace)
	collect := func() {
		t.Helper()
		if _, err := b.CollectStates(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	purge := func(number int64) {
		t.Helper()
		if err := b.DeleteChats(t.Context(), b.chat(number).Chat); err != nil {
			t.Fatal(err)
		}
		if _, err := b.PurgeChats(t.Context(), store.Purge{}); err != nil {
			t.Fatal(err)
		}
		collect()
	}
	collect()
	for _, number := range []int64{1, fork.Number, imported} {
		if !b.shows(number) {
			t.Errorf("chat %d doesn't show the result of the removed toolset", number)
		}
	}
	purge(1)
	for _, number := range []int64{fork.Number, imported} {
		if !b.shows(number) {
			t.Errorf("chat %d doesn't show its result after the other chat was removed", number)
		}
	}
	purge(fork.Number)
	purge(imported)
	if left, err := b.Snapshots.Manifests(t.Context(), store.ArtifactsID); err != nil || len(left) != 0 {
		t.Errorf("%d pages are left, %v", len(left), err)
	}
}

// The pages of an imported chat are those that their digests name, or nothing is imported.
func TestAnImportedPageHasItsDigest(t *testing.T) {
	t.Parallel()
	doc, _, err := published(t).ExportChat(t.Context(), store.ChatRef{Number: 1})
	if err != nil || doc.CheckArtifacts() != nil {
		t.Fatal(err, doc.CheckArtifacts())
	}
	doc.Artifacts[0].Data = []byte("<p>another page</p>")
	if err := doc.CheckArtifacts(); err == nil || !strings.Contains(err.Error(), "page 1 of its results") {
		t.Errorf("checked: %v", err)
	}
}

package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/kv"
)

// echoScript answers with fixed words.
const echoScript = `{responses: [{when: sky, text: "Light is scattered: the sky is blue."}, {when: "", text: Nothing of note.}]}`

func parse(t testing.TB, query string) search.Query {
	t.Helper()
	q, err := search.Parse(query)
	if err != nil {
		t.Fatalf("parse %q: %v", query, err)
	}
	return q
}

// found are the numbers of the chats that have a query, by pages of three.
func (b *bench) found(q store.SearchChats) []int64 {
	b.t.Helper()
	var out []int64
	for q.Limit = 3; ; {
		page, err := b.SearchChats(context.Background(), q)
		if err != nil {
			b.t.Fatalf("search %s: %v", q.Query, err)
		}
		for _, f := range page.Chats {
			out = append(out, f.Chat.Number)
		}
		if len(page.Chats) > q.Limit || page.Next != 0 && len(page.Chats) < q.Limit {
			b.t.Fatalf("search %s: a page of %d with more behind %d", q.Query, len(page.Chats), page.Next)
		}
		if q.After = page.Next; q.After == 0 {
			return out
		}
	}
}

func (b *bench) wantFound(query string, numbers ...int64) {
	b.t.Helper()
	if got := b.found(store.SearchChats{Query: parse(b.t, query)}); !slices.Equal(got, numbers) {
		b.t.Errorf("%s is in chats %v, want %v", query, got, numbers)
	}
}

// wipeIndex makes the store one from before there was an index. Where it is
// said to be whole, it is one that a crash kept from being written.
func (b *bench) wipeIndex(whole bool) {
	b.t.Helper()
	t := b.Tables.Search
	for _, table := range []store.Keyed{t.Words, t.Pairs, t.Chats} {
		if err := b.ClearKeys(context.Background(), table, kv.Range{Limit: store.WordsUpdate}); err != nil {
			b.t.Fatal(err)
		}
	}
	if whole {
		return
	}
	err := b.KV.Update(context.Background(), func(tx *kv.Tx) error { return t.State.Delete(tx, kv.Str(store.SearchWhole)) })
	if err != nil {
		b.t.Fatal(err)
	}
}

// terms counts the bytes of the index.
func (b *bench) terms() (n int) {
	b.t.Helper()
	err := b.View(context.Background(), func(tx *kv.Tx) error {
		for _, table := range []*kv.RawTable{b.Tables.Search.Words, b.Tables.Search.Pairs} {
			for item, err := range table.Scan(tx, kv.Range{}) {
				if n += len(item.Value); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

func TestSearchShowsWhereAndWhat(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	b.askIn(0, "Why is the sky blue?")
	b.askIn(1, "And at night?")
	page, err := b.SearchChats(t.Context(), store.SearchChats{Query: parse(t, "blue night"), Width: 40})
	if err != nil || len(page.Chats) != 1 {
		t.Fatalf("found %+v, %v", page, err)
	}
	f := page.Chats[0]
	if diff := cmp.Diff([][2]int{{15, 19}}, f.TitleAt); diff != "" || f.Chat.Title != "Why is the sky blue?" {
		t.Errorf("title: %s", diff)
	}
	var got []string
	for _, m := range f.Matches {
		got = append(got, fmt.Sprint(m.Role, " ", m.In, " ", m.Excerpt, " ", m.At))
		if msg := b.messageOf(1, m.MessageID); msg.Role != m.Role {
			t.Errorf("message %s is of %s", m.MessageID, msg.Role)
		}
	}
	wantMatches := []string{
		"user text And at night? [[7 12]]",
		"assistant text Light is scattered: the sky is blue. [[31 35]]",
		"user text Why is the sky blue? [[15 19]]",
	}
	if diff := cmp.Diff(wantMatches, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
}

func (b *bench) messageOf(c int64, id string) chat.Message {
	b.t.Helper()
	for _, m := range b.chat(c).Messages {
		if m.ID == id {
			return m
		}
	}
	b.t.Fatalf("chat %d has no message %s", c, id)
	return chat.Message{}
}

// A match that shows more of the query is not lost among the newest ones.
func TestSearchShowsAllOfTheQueryInALongChat(t *testing.T) {
	t.Parallel()
	b := newBench(t, `{responses: [{when: "", text: Mhm.}]}`)
	b.askIn(0, "hello") // the title
	b.askIn(1, "a quokka in the sky")
	for range 2*store.MostMatches + store.FirstLook {
		b.askIn(1, "more of the sky")
	}
	page, err := b.SearchChats(t.Context(), store.SearchChats{Query: parse(t, "sky quokka")})
	if err != nil || len(page.Chats) != 1 {
		t.Fatalf("found %+v, %v", page, err)
	}
	matches := page.Chats[0].Matches
	if len(matches) != store.MostMatches || !strings.Contains(matches[store.MostMatches-1].Excerpt, "quokka") {
		t.Errorf("matches: %+v", matches)
	}
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	if err := os.WriteFile(filepath.Join(b.dir, "Other.yaml"), []byte(echoScript), 0o600); err != nil {
		t.Fatal(err)
	}
	b.at(1)
	b.askIn(0, "the sky")
	b.at(3)
	req := ask("the sky again")
	req.Model = "script/Other.yaml"
	b.run(req)
	b.at(5)
	b.askIn(2, "still the sky")
	b.askIn(0, "sky")
	day := func(n int) time.Time { return time.Date(2026, 3, n, 0, 0, 0, 0, time.Local) }
	for _, c := range []struct {
		name string
		q    store.SearchChats
		want []int64
	}{
		{"all", store.SearchChats{}, []int64{3, 2, 1}},
		{"since", store.SearchChats{Since: day(2)}, []int64{3, 2}},
		{"until", store.SearchChats{Until: day(5)}, []int64{1}},
		{"neither", store.SearchChats{Since: day(2), Until: day(5)}, nil},
		{"a whole name", store.SearchChats{Model: "script/other.yaml"}, []int64{2}},
		{"a name without provider", store.SearchChats{Model: "o*"}, []int64{2}},
		{"a star over the slash", store.SearchChats{Model: "scr*yaml"}, []int64{3, 2, 1}},
		{"alternatives", store.SearchChats{Model: "{m,x}.yaml"}, []int64{3, 1}},
		{"no such model", store.SearchChats{Model: "m"}, nil},
	} {
		c.q.Query = parse(t, "sky")
		if got := b.found(c.q); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if store.CheckModelPattern("[") == nil || store.CheckModelPattern("a/*") != nil {
		t.Error("patterns are judged wrongly")
	}
}

func TestSearchOfWhatTurnsBring(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
responses:
  - when: write
    step: 0
    reasoning: pondering
    text: I write.
    calls: [{name: write_file, args: {path: notes/kiwi.txt, content: "first\nsecond \"line\"", n: 4711}}]
  - {when: "", text: Done.}
`)
	b.run(ask("write"))
	req := ask("what is in it?")
	req.Parts = append(req.Parts, provider.Part{Kind: provider.FilePart, Name: "report.md", Text: "Turnover rose."})
	b.run(req)
	b.run(ask("begins " + strings.Repeat("x ", store.SearchedText/2) + " endless"))
	b.wantFound("kiwi", 1)
	b.wantFound(`"first second line"`, 1)
	b.wantFound("4711 write_file", 1)
	b.wantFound("pondering")
	b.wantFound("turnover", 2)
	b.wantFound("report.md", 2)
	b.wantFound("begins", 3)
	b.wantFound("endless")
}

func TestSearchOfAFork(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	b.askIn(0, "the sky")
	fork := ask("or the sea")
	fork.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(fork)
	b.wantFound("scattered", 2, 1)
	b.wantFound("scattered sea", 2)
}

// What a crash after the recording left undone, the next fold does.
func TestSearchAfterACrashBeforeTheIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	b.askIn(0, "the sky")
	b.wantFound("sky", 1)
	fork := ask("or the sea")
	fork.Chat = store.ChatRef{Number: 1, Fork: true}
	b.run(fork)
	journals := filepath.Join(b.dir, "data", "journal")
	name := files(t, journals)[0]
	saved, err := os.ReadFile(filepath.Join(journals, name))
	if err != nil {
		t.Fatal(err)
	}
	b.wantFound("sea", 2)
	b.wipeIndex(true)
	b.wantFound("sea")
	if err := os.WriteFile(filepath.Join(journals, name), saved, 0o600); err != nil {
		t.Fatal(err)
	}
	b.wantFound("sea", 2)
	b.wantFound("scattered", 2) // what the fork brought along, and no more
}

func TestSearchShowsNoChatThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	for range 5 {
		b.askIn(0, "the sky")
	}
	b.wantFound("sky", 5, 4, 3, 2, 1)
	for _, number := range []int64{1, 3, 5} {
		chat := b.chat(number).Chat
		err := b.KV.Update(t.Context(), func(tx *kv.Tx) error { return b.Tables.Chats.Delete(tx, kv.Str(chat.ID)) })
		if err != nil {
			t.Fatal(err)
		}
	}
	b.wantFound("sky", 4, 2)
}

func TestAChatIsTakenOutOfTheIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	b.askIn(0, "the sky")
	b.wantFound("sky", 1)
	before := b.terms()
	b.askIn(0, "a second sky with words of its own")
	b.askIn(2, "and more of them")
	b.wantFound("sky", 2, 1)
	chat := b.chat(2).Chat
	for range 2 { // it may be called again
		if err := b.UnindexChat(t.Context(), &chat); err != nil {
			t.Fatal(err)
		}
	}
	b.wantFound("sky", 1)
	if after := b.terms(); after != before {
		t.Errorf("%d bytes are left, %d before", after, before)
	}
	first := b.chat(1).Chat
	if err := b.UnindexChat(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	if n := b.terms(); n != 0 {
		t.Errorf("%d bytes are left", n)
	}
}

func TestATitleIsExchangedInTheIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t, echoScript)
	req := ask("the sky")
	req.Title = "Heaven above the sky"
	b.run(req)
	b.wantFound("heaven", 1)
	chat := b.chat(1).Chat
	err := b.KV.Update(t.Context(), func(tx *kv.Tx) error {
		if err := b.Retitle(tx, &chat, "Above the clouds"); err != nil {
			return err
		}
		chat.Title = "Above the clouds"
		return b.Tables.Chats.Put(tx, &chat)
	})
	if err != nil {
		t.Fatal(err)
	}
	b.wantFound("heaven")
	b.wantFound("sky -heaven", 1)
	b.wantFound(`clouds "above the" sky`, 1)
	b.wantFound("sky -clouds")
}

// Turns that end meanwhile don't disturb a search, and are found by the next.
func TestSearchWhileTurnsRun(t *testing.T) {
	t.Parallel()
	const engines, turns = 2, 3
	b := newBench(t, echoScript)
	var wg sync.WaitGroup
	for range engines {
		other := b.reopen()
		wg.Go(func() {
			for n := range turns {
				last[event.Complete](t, other.run(ask("the sky")))
				if got := other.found(store.SearchChats{Query: parse(t, `"the sky" scattered`)}); len(got) <= n {
					t.Errorf("%d chats after %d turns", len(got), n+1)
				}
			}
		})
	}
	wg.Wait()
	if got := b.found(store.SearchChats{Query: parse(t, "sky")}); len(got) != engines*turns {
		t.Errorf("found %v", got)
	}
}

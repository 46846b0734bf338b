package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/journal"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/engine/store"
)

// corpus is what was said in some chats, kept apart from the engine.
type corpus struct {
	r     *rand.Rand
	texts map[int64][]string // title and messages
	order []int64            // the last used last
}

var corpusWords = []string{"sky", "skyline", "blue", "bluebell", "grün", "GRUN", "a", "ab", "abc", "abcd", "quokka", "naïve", "naive", "nai"}

func (c *corpus) text(n int) string {
	words := make([]string, n)
	for i := range words {
		// The first words are frequent and the last ones rare.
		words[i] = corpusWords[min(c.r.IntN(len(corpusWords)), c.r.IntN(len(corpusWords)))]
	}
	return strings.Join(words, []string{" ", ", ", "_", "\n"}[c.r.IntN(4)])
}

// plain is how a reader compares words.
var plain = strings.NewReplacer("ü", "u", "ï", "i", ",", " ", "_", " ", "\n", " ")

// has is the naive search: it reads everything.
func (c *corpus) has(number int64, clause string) bool {
	begin, prefix := strings.CutSuffix(strings.Trim(clause, `"`), "*")
	want := strings.Fields(plain.Replace(strings.ToLower(begin)))
	return slices.ContainsFunc(c.texts[number], func(text string) bool {
		words := strings.Fields(plain.Replace(strings.ToLower(text)))
		for i := range len(words) - len(want) + 1 {
			ok := true
			for k, w := range want {
				have := words[i+k]
				ok = ok && (have == w || prefix && k == len(want)-1 && strings.HasPrefix(have, w))
			}
			if ok {
				return true
			}
		}
		return false
	})
}

// query makes a query and what it has to find.
func (c *corpus) query() (text string, want []int64) {
	n := 1 + c.r.IntN(3)
	want = slices.Clone(c.order)
	slices.Reverse(want)
	var clauses []string
	for i := range n {
		clause := c.text(1)
		switch c.r.IntN(5) {
		case 0:
			clause += "*"
		case 1:
			clause = `"` + clause + " " + c.text(1) + `"`
		case 2:
			clause = `"` + clause + " " + c.text(1) + " " + c.text(1) + `"`
		}
		not := i > 0 && c.r.IntN(3) == 0
		want = slices.DeleteFunc(want, func(number int64) bool { return c.has(number, clause) == not })
		if not {
			clause = "-" + clause
		}
		clauses = append(clauses, clause)
	}
	return strings.Join(clauses, " "), want
}

// fill holds turns in chats, of which some go on.
func (c *corpus) fill(b *bench, turns int) {
	b.t.Helper()
	for range turns {
		req := ask(c.text(1 + c.r.IntN(8)))
		if len(c.order) > 0 && c.r.IntN(3) == 0 {
			req.Chat.Number = c.order[c.r.IntN(len(c.order))]
		}
		done := last[event.Complete](b.t, b.run(req))
		number := done.Payload.ConversationID
		c.texts[number] = append(c.texts[number], req.Parts[0].Text, done.Payload.Message)
		c.order = append(slices.DeleteFunc(c.order, func(n int64) bool { return n == number }), number)
	}
}

// The index finds what reading everything finds, in the order of use, by
// whatever way the chats came into it.
func TestSearchFindsWhatReadingAllFinds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := &corpus{r: rand.New(rand.NewPCG(seed, 1)), texts: map[int64][]string{}}
			var mu sync.Mutex
			b, _ := newRogue(t, func(_ context.Context, _ int, yield func([]provider.Delta, error) bool) {
				mu.Lock()
				defer mu.Unlock()
				yield([]provider.Delta{says(c.text(1 + c.r.IntN(12))), stops("stop")}, nil)
			})
			// The numbers go over the end of a block.
			if err := os.MkdirAll(filepath.Join(b.dir, "data"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := b.Counter.Raise(t.Context(), journal.Numbers{Chat: search.BlockSize - 10}); err != nil {
				t.Fatal(err)
			}
			c.fill(b, 40)
			check := func(how string) {
				t.Helper()
				for range 60 {
					query, want := c.query()
					if got := b.found(store.SearchChats{Query: parse(t, query)}); !slices.Equal(got, want) {
						t.Errorf("%s: %s is in %v, want %v", how, query, got, want)
					}
				}
			}
			check("as recorded")
			b.wipeIndex(false)
			check("of an old store")
			c.fill(b, 5)
			check("after more turns")
		})
	}
}

package usage

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

func TestSince(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no zones here: %v", err)
	}
	now := time.Date(2026, 3, 31, 0, 30, 0, 0, berlin) // two days after the clocks went forward
	for text, want := range map[string]string{
		"1d": "2026-03-31", "2d": "2026-03-30", "7d": "2026-03-25", "4w": "2026-03-04", "365d": "2025-04-01",
		"2026-03-31": "2026-03-31", "2024-02-29": "2024-02-29",
		"": "", "0d": "", "-1d": "", "d": "", "7": "", "7h": "", "1.5d": "", "99999d": "", "2026-04-01": "", "2025-02-29": "", "today": "", "7d ": "",
	} {
		got, err := cmdline.ParseSince(text, now)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v, %v", text, got, err)
		} else if err == nil && (got.Format(time.DateTime) != want+" 00:00:00" || got.Location() != berlin) {
			t.Errorf("%q is since %s, want %s", text, got, want)
		}
	}
}

func spentOn(day, model string, in, out int64) store.Spent {
	return store.Spent{Day: day, Model: model, Turns: 1, Tokens: event.Usage{InputTokens: in, OutputTokens: out}}
}

func untoldTurn(model string, out int64) store.Spent {
	s := spentOn("2026-03-01", model, 0, out)
	s.Untold = 1
	return s
}

// listed are prices from the configuration.
type listed map[string]config.Price

func (l listed) Of(model string) (config.Price, bool) {
	p, ok := l[model]
	return p, ok
}

// prices are of a million tokens, in millionths.
func testPrices() listed {
	keeping := config.Amount(2_500_000)
	return listed{
		"a/dear":  {Input: 1_250_000, Output: 10_000_000, Cached: 125_000, Currency: "USD"},
		"a/keeps": {Input: 2_000_000, Output: 10_000_000, Cached: 200_000, CacheWrite: &keeping, Currency: "USD"},
		"b/euro":  {Input: 1_000_000, Output: 2_000_000, Cached: 1_000_000, Currency: "EUR"},
		"c/local": {Currency: "USD"},
		"d/least": {Input: 1, Output: 1, Cached: 1, Currency: "USD"},
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	const day = "2026-03-01"
	cached := spentOn(day, "a/dear", 1_000_000, 100_000)
	cached.Tokens.CachedTokens = 400_000
	kept := spentOn(day, "a/keeps", 1_000_000, 0)
	kept.Tokens.CachedTokens, kept.Tokens.CacheWriteTokens = 300_000, 400_000
	unpaid := kept
	unpaid.Model = "a/dear"
	odd := spentOn(day, "a/dear", 100, 0)
	odd.Tokens.CachedTokens = 1_000_000 // more cached than there was
	for _, c := range []struct {
		name  string
		spent []store.Spent
		text  string
		exact string
	}{
		{"input, cached input and output", []store.Spent{cached}, "1.80 USD", `[{"currency":"USD","amount":1.8}]`},
		{"input that is kept costs what it costs", []store.Spent{kept}, "1.66 USD", `[{"currency":"USD","amount":1.66}]`},
		{"and is never guessed", []store.Spent{unpaid}, "≥ 0.41 USD", `[{"currency":"USD","amount":0.4125}]`},
		{"more cached than there was", []store.Spent{odd}, "< 0.0001 USD", `[{"currency":"USD","amount":0.0000125}]`},
		{"two currencies", []store.Spent{spentOn(day, "a/dear", 4_000_000, 0), spentOn(day, "b/euro", 0, 500_000)}, "1.00 EUR + 5.00 USD",
			`[{"currency":"EUR","amount":1},{"currency":"USD","amount":5}]`},
		{"nothing is a price", []store.Spent{spentOn(day, "c/local", 5, 5)}, "0.00 USD", `[{"currency":"USD","amount":0}]`},
		{"no price", []store.Spent{spentOn(day, "x/y", 5, 5)}, "–", `[]`},
		{"no price for a part", []store.Spent{spentOn(day, "x/y", 5, 5), spentOn(day, "a/dear", 0, 500)}, "≥ 0.0050 USD", `[{"currency":"USD","amount":0.005}]`},
		{"no price, and no tokens", []store.Spent{spentOn(day, "x/y", 0, 0), spentOn(day, "a/dear", 0, 50_000)}, "0.50 USD", `[{"currency":"USD","amount":0.5}]`},
		{"the least there is", []store.Spent{spentOn(day, "d/least", 1, 0)}, "< 0.0001 USD", `[{"currency":"USD","amount":0.000000000001}]`},
		{"more than fits an int64", []store.Spent{spentOn(day, "a/dear", 1<<62, 0)}, "5764607523034.23 USD", `[{"currency":"USD","amount":5764607523034.23488}]`},
		{"tokens that no provider reported", []store.Spent{untoldTurn("a/dear", 0)}, "–", `[]`},
		{"tokens that were reported in part", []store.Spent{untoldTurn("a/dear", 50_000)}, "≥ 0.50 USD", `[{"currency":"USD","amount":0.5}]`},
	} {
		sums := sumUsage(c.spent, "day", testPrices())
		exact, err := json.Marshal(sums.total.cost.JSON())
		if got := sums.total.cost.String(); got != c.text || string(exact) != c.exact || err != nil {
			t.Errorf("%s: %s and %s, %v; want %s and %s", c.name, got, exact, err, c.text, c.exact)
		}
	}
}

func TestUsageRows(t *testing.T) {
	t.Parallel()
	spent := []store.Spent{
		spentOn("2026-03-01", "x/y", 10, 1), spentOn("2026-03-02", "a/dear", 5, 0), spentOn("2026-03-02", "x/y", 1, 1),
		spentOn("2026-03-03", "c/local", 13, 0),
	}
	names := func(by string) (out []string) {
		for _, row := range sumUsage(spent, by, testPrices()).rows {
			out = append(out, row.names(by)...)
		}
		return out
	}
	if diff := cmp.Diff([]string{"2026-03-03", "2026-03-02", "2026-03-01"}, names("day")); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c/local", "x/y", "a/dear"}, names("model")); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	many := sumUsage([]store.Spent{
		spentOn("", "a/dear", 1, 0), spentOn("", "w/1", 1, 0), spentOn("", "w/2", 1, 0), spentOn("", "w/3", 1, 0), spentOn("", "w/4", 1, 0),
	}, "model", testPrices())
	if notes := many.notes(); len(notes) != 1 || notes[0] != "the cost leaves out w/1, w/2, w/3 and 1 more, which have no known price" {
		t.Errorf("notes %q", notes)
	}
	kept := spentOn("", "a/dear", 10, 1)
	kept.Tokens.CacheWriteTokens = 5
	sums := sumUsage([]store.Spent{kept, kept}, "model", testPrices())
	if notes := sums.notes(); len(notes) != 1 || notes[0] != "the cost leaves out the input that was kept for later by a/dear; prices.a/dear.cache_write is not set" {
		t.Errorf("notes %q", notes)
	}
	if got := sums.total.json(); len(got.Unpriced) != 1 || got.CacheWriteTokens != 10 {
		t.Errorf("%+v", got)
	}
	if notes := sumUsage(spent[:1], "day", listed{}).notes(); len(notes) != 0 {
		t.Errorf("notes where nothing has a price: %q", notes)
	}
}

// On a terminal there are a head and a sum, and titles from anywhere are
// harmless.
func TestUsageOnATerminal(t *testing.T) {
	t.Parallel()
	chat := func(n int64, title string, s store.Spent) store.Spent {
		s.ChatID, s.Number, s.Title = strings.Repeat("I", int(n)), n, title
		return s
	}
	gone := chat(3, "", spentOn("", "x/y", 12_345, 67))
	gone.Gone = true
	mute := chat(4, "Said nothing", spentOn("", "x/y", 0, 0))
	mute.Untold = 1
	s := term.Test(term.TestOptions{OutTerminal: true, Width: 78, Env: map[string]string{"NO_COLOR": "1"}})
	sumUsage([]store.Spent{
		chat(1, "A very long title that has to be cut \x1b[31msomewhere in its middle", spentOn("", "a/dear", 1_234_567, 890)), gone, mute,
	}, "chat", testPrices()).list(s.Out, "chat")
	want := `chat  title            turns      input  output  cached  reasoning        cost
   1  A very … middle      1  1,234,567     890       0          0    1.55 USD
   3  (deleted)            1     12,345      67       0          0           –
   4  Said nothing         1          –       –       –          –           –
      total                3  1,246,912     957       0          0  ≥ 1.55 USD
`
	if diff := cmp.Diff(want, s.Stdout.String()); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	s = term.Test(term.TestOptions{OutTerminal: true, Width: 40, Env: map[string]string{"NO_COLOR": "1"}})
	sumUsage([]store.Spent{spentOn("2026-03-01", "a/dear", 1_234_567, 890), spentOn("2026-03-01", "x/y", 12_345, 67)}, "model", testPrices()).list(s.Out, "model")
	want = `model       input  output        cost
a/dear  1,234,567     890    1.55 USD
x/y        12,345      67           –
total   1,246,912     957  ≥ 1.55 USD
`
	if diff := cmp.Diff(want, s.Stdout.String()); diff != "" {
		t.Errorf("on a narrow one (-want +got):\n%s", diff)
	}
}

func TestCostByTheTable(t *testing.T) {
	t.Parallel()
	prices := listed{"o/long": {
		Input: 5_000_000, Output: 30_000_000, Cached: 500_000, Currency: "USD", AsOf: "2026-07-02",
		Above: &config.LongPrice{Over: 1000, Input: 10_000_000, Output: 45_000_000, Cached: 1_000_000},
	}}
	one := spentOn("2026-08-01", "o/long", 2000, 100)
	one.Turns = 0
	var long Cost
	long.Add(one, prices)
	if got := long.String(); got != "0.02 USD" || !long.Whole() {
		t.Errorf("a long request costs %s, %+v", got, long)
	}
	sums := sumUsage([]store.Spent{spentOn("2026-08-01", "o/long", 2000, 100)}, "model", prices)
	want := []string{
		"the cost counts all requests to o/long as short ones; a long request costs more",
		"the prices of o/long are those of 2026-07-02; the setting prices has precedence, and fettle models update fetches new ones",
	}
	if got := sums.notes(); !slices.Equal(got, want) || sums.total.cost.String() != "≥ 0.01 USD" {
		t.Errorf("a day of requests costs %s, with the notes %q", sums.total.cost.String(), got)
	}
}

package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/event"
)

// usageSums are the rows of usage, in the order to show them, and their sum.
type usageSums struct {
	rows  []*usageRow
	total usageRow
}

// usageRow is what a model, a day or a chat used.
type usageRow struct {
	first  engine.Spent // one of those that were added up, for its name
	turns  int64
	untold int64
	tokens event.Usage
	cost   cost
}

// cost is an amount in each currency, and the models that have no price.
type cost struct {
	amounts  map[string]*big.Rat
	unpriced []string
	unpaid   []string // models that have a price, but none for what is kept for later
	partial  bool     // some tokens of models with a price were not told
}

// leftOut are the models whose tokens are not in the amounts, all or in part.
func (c *cost) leftOut() []string {
	out := append(append([]string{}, c.unpriced...), c.unpaid...)
	slices.Sort(out)
	return slices.Compact(out)
}

// withModel adds a model to a sorted list, once.
func withModel(list []string, model string) []string {
	at, found := slices.BinarySearch(list, model)
	if found {
		return list
	}
	return slices.Insert(list, at, model)
}

// sumUsage adds up rows: the latest day first, else what used most.
func sumUsage(spent []engine.Spent, by string, prices map[string]config.Price) *usageSums {
	s := &usageSums{}
	at := map[string]*usageRow{}
	for _, one := range spent {
		key := map[string]string{"model": one.Model, "day": one.Day, "chat": one.ChatID}[by]
		row, ok := at[key]
		if !ok {
			row = &usageRow{first: one}
			at[key] = row
			s.rows = append(s.rows, row)
		}
		row.add(one, prices)
		s.total.add(one, prices)
	}
	slices.SortStableFunc(s.rows, func(a, b *usageRow) int {
		if by == "day" {
			return cmp.Compare(b.first.Day, a.first.Day)
		}
		return cmp.Or(cmp.Compare(b.all(), a.all()), cmp.Compare(a.first.Number, b.first.Number), cmp.Compare(a.first.Model, b.first.Model))
	})
	return s
}

// all is the number of tokens in and out.
func (r *usageRow) all() int64 { return r.tokens.InputTokens + r.tokens.OutputTokens }

func (r *usageRow) add(s engine.Spent, prices map[string]config.Price) {
	r.turns, r.untold = r.turns+s.Turns, r.untold+s.Untold
	r.tokens = *r.tokens.Add(&s.Tokens)
	r.cost.add(s, prices)
}

func (c *cost) add(s engine.Spent, prices map[string]config.Price) {
	price, ok := prices[s.Model]
	if !ok {
		if s.Tokens.InputTokens+s.Tokens.OutputTokens > 0 {
			c.unpriced = withModel(c.unpriced, s.Model)
		}
		return
	}
	c.partial = c.partial || s.Untold > 0
	if s.Untold > 0 && s.Tokens.InputTokens+s.Tokens.OutputTokens == 0 {
		return // what isn't known doesn't cost 0
	}
	if c.amounts == nil {
		c.amounts = map[string]*big.Rat{}
	}
	sum := c.amounts[price.Currency]
	if sum == nil {
		sum = new(big.Rat)
		c.amounts[price.Currency] = sum
	}
	cached := min(s.Tokens.CachedTokens, s.Tokens.InputTokens)
	pay := func(tokens int64, amount config.Amount) {
		million := big.NewRat(tokens, 1_000_000)
		sum.Add(sum, million.Mul(million, amount.Rat()))
	}
	written := min(s.Tokens.CacheWriteTokens, s.Tokens.InputTokens-cached)
	pay(s.Tokens.InputTokens-cached-written, price.Input)
	pay(cached, price.Cached)
	if price.CacheWrite != nil {
		pay(written, *price.CacheWrite)
	} else if written > 0 {
		c.unpaid = withModel(c.unpaid, s.Model)
	}
	pay(s.Tokens.OutputTokens, price.Output)
}

// whole tells whether the amounts have all tokens.
func (c *cost) whole() bool { return len(c.unpriced)+len(c.unpaid) == 0 && !c.partial }

// costJSON is an amount of one currency, exact.
type costJSON struct {
	Currency string      `json:"currency"`
	Amount   json.Number `json:"amount"`
}

// unknown stands for a number that nobody told.
const unknown = "–"

// exact is enough decimals for any sum of millionths of millionths.
const exact = 12

func (c *cost) json() []costJSON {
	out := []costJSON{}
	for _, currency := range slices.Sorted(maps.Keys(c.amounts)) {
		amount := strings.TrimRight(strings.TrimRight(c.amounts[currency].FloatString(exact), "0"), ".")
		out = append(out, costJSON{currency, json.Number(amount)})
	}
	return out
}

// String is the cost for a person: "1.20 USD", "≥ 1.20 USD" where it leaves
// something out, "–" where nothing is known.
func (c *cost) String() string {
	if len(c.amounts) == 0 {
		return unknown
	}
	var parts []string
	for _, currency := range slices.Sorted(maps.Keys(c.amounts)) {
		parts = append(parts, money(c.amounts[currency])+" "+currency)
	}
	text := strings.Join(parts, " + ")
	if !c.whole() {
		text = "≥ " + text
	}
	return text
}

// money writes an amount with as many decimals as say something: two, or four
// where it is less than a hundredth.
func money(amount *big.Rat) string {
	switch {
	case amount.Sign() == 0 || amount.Cmp(big.NewRat(1, 100)) >= 0:
		return amount.FloatString(2)
	case amount.Cmp(big.NewRat(1, 10_000)) >= 0:
		return amount.FloatString(4)
	}
	return "< 0.0001"
}

// roomForParts is the narrowest terminal that shows the parts of input and
// output, and the turns.
const roomForParts = 72

// list prints a table with a sum for a person, and bare rows for a program.
func (s *usageSums) list(out *term.Output, by string) {
	style := out.Style()
	columns := []term.Column{{Title: by, Cut: by == "model", Right: by == "chat"}}
	if by == "chat" {
		columns = append(columns, term.Column{Title: "title", Cut: true})
	}
	titles := []string{"turns", "input", "output", "cached", "reasoning"}
	if out.IsTerminal() && out.Width() < roomForParts {
		titles = titles[1:3] // what is paid for
	}
	for _, title := range titles {
		columns = append(columns, term.Column{Title: title, Right: true})
	}
	columns = append(columns, term.Column{Title: "cost", Right: true, Style: style.Cyan})
	table := term.NewTable(out, columns...)
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	if out.IsTerminal() {
		number = term.Number
	}
	cells := func(r *usageRow) []string {
		all := r.cells(number)
		if len(titles) == 2 {
			return []string{all[1], all[2], all[5]}
		}
		return all
	}
	for _, row := range s.rows {
		table.Row(append(row.names(by), cells(row)...)...)
	}
	if out.IsTerminal() && len(s.rows) > 1 {
		names := []string{"total"}
		if by == "chat" {
			names = []string{"", "total"}
		}
		table.Row(append(names, cells(&s.total)...)...)
	}
	_ = table.Flush() // Main looks at what went wrong with writing
}

// names are the cells that say what a row is about.
func (r *usageRow) names(by string) []string {
	switch {
	case by == "model":
		return []string{r.first.Model}
	case by == "day":
		return []string{r.first.Day}
	}
	number := ""
	if r.first.Number > 0 {
		number = strconv.FormatInt(r.first.Number, 10)
	}
	if r.first.Gone {
		return []string{number, "(deleted)"}
	}
	return []string{number, r.first.Title}
}

func (r *usageRow) cells(number func(int64) string) []string {
	tokens := number
	if r.untold > 0 && r.untold == r.turns && r.all() == 0 {
		tokens = func(int64) string { return unknown }
	}
	return []string{
		number(r.turns), tokens(r.tokens.InputTokens), tokens(r.tokens.OutputTokens),
		tokens(r.tokens.CachedTokens), tokens(r.tokens.ReasoningTokens), r.cost.String(),
	}
}

// maxNamed is how many models a note names.
const maxNamed = 3

// some names the first of models, and how many more there are.
func some(models []string) string {
	named := strings.Join(models[:min(len(models), maxNamed)], ", ")
	if more := len(models) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return named
}

// notes say what the sums leave out.
func (s *usageSums) notes() []string {
	var out []string
	if models := s.total.cost.unpriced; len(models) > 0 && len(s.total.cost.amounts) > 0 {
		have := "have"
		if len(models) == 1 {
			have = "has"
		}
		out = append(out, "the cost leaves out "+some(models)+", which "+have+" no price in the configuration")
	}
	if models := s.total.cost.unpaid; len(models) > 0 {
		out = append(out, "the cost leaves out the input that was kept for later by "+some(models)+
			"; prices."+models[0]+".cache_write is not set")
	}
	if n := s.total.untold; n > 0 {
		out = append(out, fmt.Sprintf("the tokens of %s are missing, at least in part: the provider told none",
			term.Count(int(n), "turn", "turns")))
	}
	return out
}

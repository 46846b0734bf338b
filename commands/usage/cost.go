package usage

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

// Cost is what tokens cost: an amount in each currency, and what that leaves out.
// The zero value is nothing.
type Cost struct {
	amounts  map[string]*big.Rat
	Unpriced []string // models without a price, sorted
	Unpaid   []string // models that have a price, but none for what is kept for later
	Partial  bool     // some tokens of models with a price were not told
	// Long are the models of which some requests may have cost more, since long requests
	// have a price of their own and the sums don't show how long each was.
	Long []string
	// AsOf is the day of the table from which prices were taken; "" where all are from
	// the configuration. Tabled are the models that were priced by it, sorted.
	AsOf   string
	Tabled []string
}

// Prices finds what a model's tokens cost, by provider/model.
type Prices interface {
	Of(model string) (config.Price, bool)
}

// LeftOut are the models whose tokens are not in the amounts, all or in part.
func (c *Cost) LeftOut() []string {
	out := append(append([]string{}, c.Unpriced...), c.Unpaid...)
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

// Add adds what a turn took, by the price of its model.
// If s.Turns is 0, s is one response, and its input decides whether the price of long
// requests applies.
func (c *Cost) Add(s store.Spent, prices Prices) {
	var price config.Price
	ok := false
	if prices != nil { // another server is asked, and its prices are unknown
		price, ok = prices.Of(s.Model)
	}
	if !ok {
		if s.Tokens.InputTokens+s.Tokens.OutputTokens > 0 {
			c.Unpriced = withModel(c.Unpriced, s.Model)
		}
		return
	}
	c.Partial = c.Partial || s.Untold > 0
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
	if price.AsOf != "" && s.Tokens.InputTokens+s.Tokens.OutputTokens > 0 {
		c.AsOf, c.Tabled = price.AsOf, withModel(c.Tabled, s.Model)
	}
	if long := price.Above; long != nil && s.Tokens.InputTokens > long.Over {
		if s.Turns == 0 {
			price.Input, price.Output, price.Cached, price.CacheWrite = long.Input, long.Output, long.Cached, long.CacheWrite
		} else {
			c.Long = withModel(c.Long, s.Model)
		}
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
		c.Unpaid = withModel(c.Unpaid, s.Model)
	}
	pay(s.Tokens.OutputTokens, price.Output)
}

// Known tells whether there is any amount.
func (c *Cost) Known() bool { return len(c.amounts) > 0 }

// Whole reports whether the amounts count all tokens at their exact price.
func (c *Cost) Whole() bool { return len(c.Unpriced)+len(c.Unpaid)+len(c.Long) == 0 && !c.Partial }

// Amount is an amount of one currency, exact.
type Amount struct {
	Currency string      `json:"currency"`
	Amount   json.Number `json:"amount"`
}

// unknown stands for a number that nobody told.
const unknown = "–"

// exact is enough decimals for any sum of millionths of millionths.
const exact = 12

// JSON are the amounts, sorted by currency.
func (c *Cost) JSON() []Amount {
	out := []Amount{}
	for _, currency := range slices.Sorted(maps.Keys(c.amounts)) {
		amount := strings.TrimRight(strings.TrimRight(c.amounts[currency].FloatString(exact), "0"), ".")
		out = append(out, Amount{currency, json.Number(amount)})
	}
	return out
}

// String is the cost for a person: "1.20 USD", "≥ 1.20 USD" where it leaves
// something out, "–" where nothing is known.
func (c *Cost) String() string {
	if len(c.amounts) == 0 {
		return unknown
	}
	var parts []string
	for _, currency := range slices.Sorted(maps.Keys(c.amounts)) {
		parts = append(parts, money(c.amounts[currency])+" "+currency)
	}
	text := strings.Join(parts, " + ")
	if !c.Whole() {
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

// Line is what was used, for a person, on a line.
func Line(u *event.Usage) string {
	s := fmt.Sprintf("%s in, %s out", term.Number(u.InputTokens), term.Number(u.OutputTokens))
	if u.CachedTokens > 0 {
		s += ", " + term.Number(u.CachedTokens) + " cached"
	}
	if u.CacheWriteTokens > 0 {
		s += ", " + term.Number(u.CacheWriteTokens) + " newly cached"
	}
	return s + " tokens"
}

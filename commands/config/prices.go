package config

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Price is what a model's tokens cost.
type Price struct {
	// Input and Output are what a million tokens cost. Cached is for input
	// tokens that the provider had kept; it is Input where nothing is set.
	Input, Output, Cached Amount
	// CacheWrite is for input tokens that the provider kept now; it is nil where
	// nothing is set, since some providers charge more for them than Input.
	CacheWrite *Amount
	Currency   string // three capital letters
	// Above is the price of a request with more input tokens than Above.Over; nil where
	// there is none. Only the table of models has one.
	Above *LongPrice
	// AsOf is the day of the table that the price is from, as YYYY-MM-DD; empty where it
	// is from the configuration.
	AsOf string
	// Partial tells that input or output is missing, so that nothing can be
	// reckoned yet.
	Partial bool
}

// LongPrice is the price of long requests.
type LongPrice struct {
	Over                  int64 // input tokens
	Input, Output, Cached Amount
	CacheWrite            *Amount // nil where the table has none
}

// Amount is a sum of money, in millionths of the currency's unit.
type Amount int64

// Rat is the amount in the currency's unit.
func (a Amount) Rat() *big.Rat { return big.NewRat(int64(a), 1_000_000) }

// String is the amount as a decimal number without needless zeros.
func (a Amount) String() string {
	return strings.TrimSuffix(strings.TrimRight(a.Rat().FloatString(6), "0"), ".")
}

// defaultCurrency is the one in which providers publish their prices.
const defaultCurrency = "USD"

func priceFields() []string { return []string{"input", "output", "cached", "cache_write", "currency"} }

// maxPrice bounds a price: a thousand times what a token has ever cost.
const maxPrice = 1_000_000

const wantAmount = "expected what a million tokens cost, such as 1.25, with up to 6 decimals"

var amountForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,7}(\.[0-9]{1,6})?$`) })

func amountKind() kind {
	return kind{name: "amount", tags: []string{tagInt, tagFloat, tagText}, want: wantAmount, parse: func(s string) (any, error) {
		r, ok := new(big.Rat).SetString(s)
		if !ok || !amountForm().MatchString(s) || r.Cmp(big.NewRat(maxPrice, 1)) > 0 {
			return nil, errors.New(wantAmount)
		}
		r.Mul(r, big.NewRat(1_000_000, 1))
		return Amount(r.Num().Int64()), nil
	}}
}

func currencyKind() kind {
	const want = "expected three capital letters, such as USD or EUR"
	return kind{name: "currency", tags: []string{tagText}, want: want, parse: func(s string) (any, error) {
		if len(s) != 3 || slices.ContainsFunc([]byte(s), func(c byte) bool { return c < 'A' || c > 'Z' }) {
			return nil, errors.New(want)
		}
		return s, nil
	}}
}

func priceKind(field string) kind {
	if field == "currency" {
		return currencyKind()
	}
	return amountKind()
}

// prices decodes what models cost, by provider/model.
func (d *decoder) prices(f field) {
	if d.project {
		d.refuse(f, "what a model costs you is between you and its provider")
		return
	}
	f.free = true
	d.mapping(f, nil, func(f field) {
		if _, err := parseRef(f.name); err != nil {
			d.at(f, fmt.Sprintf("%s: %s", f.label, err))
			return
		}
		d.price(f)
	})
}

func (d *decoder) price(f field) {
	before := len(d.sink.errors)
	p := Price{Currency: defaultCurrency}
	has := map[string]bool{}
	d.mapping(f, priceFields(), func(f field) {
		v, ok := d.scalar(f, f.node, priceKind(f.name))
		if !ok {
			return
		}
		has[f.name] = true
		d.part.data.origins[f.path] = d.origin(f)
		switch f.name {
		case "input":
			p.Input = v.(Amount)
		case "output":
			p.Output = v.(Amount)
		case "cached":
			p.Cached = v.(Amount)
		case "cache_write":
			amount := v.(Amount)
			p.CacheWrite = &amount
		case "currency":
			p.Currency = v.(string)
		}
	})
	if len(d.sink.errors) > before {
		return
	}
	for _, name := range []string{"input", "output"} {
		if !has[name] {
			// Only a warning, so that one field can be set after the other.
			q := d.src.problem(f.key.Line, f.key.Column, utf8.RuneCountInString(f.name), true,
				f.label+" has no "+name+", so it isn't used; 0 is a price too")
			q.Key, q.Warning, p.Partial = f.label, true, true
			d.sink.add(*q)
		}
	}
	if !has["cached"] {
		p.Cached = p.Input
	}
	d.part.data.prices[f.name] = p
}

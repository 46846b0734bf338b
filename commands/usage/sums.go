package usage

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/store"
)

// usageSums are the rows of usage, in the order to show them, and their sum.
type usageSums struct {
	rows  []*usageRow
	total usageRow
}

// usageRow is what a model, a day or a chat used.
type usageRow struct {
	first  store.Spent // one of those that were added up, for its name
	turns  int64
	untold int64
	tokens event.Usage
	cost   Cost
}

// sumUsage adds up rows: the latest day first, else what used most.
func sumUsage(spent []store.Spent, by string, prices Prices) *usageSums {
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

func (r *usageRow) add(s store.Spent, prices Prices) {
	r.turns, r.untold = r.turns+s.Turns, r.untold+s.Untold
	r.tokens = *r.tokens.Add(&s.Tokens)
	r.cost.Add(s, prices)
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
	if models := s.total.cost.Unpriced; len(models) > 0 && s.total.cost.Known() {
		have := "have"
		if len(models) == 1 {
			have = "has"
		}
		out = append(out, "the cost leaves out "+some(models)+", which "+have+" no known price")
	}
	if models := s.total.cost.Unpaid; len(models) > 0 {
		out = append(out, "the cost leaves out the input that was kept for later by "+some(models)+
			"; prices."+models[0]+".cache_write is not set")
	}
	if models := s.total.cost.Long; len(models) > 0 {
		out = append(out, "the cost counts all requests to "+some(models)+" as short ones; a long request costs more")
	}
	if models := s.total.cost.Tabled; len(models) > 0 {
		out = append(out, "the prices of "+some(models)+" are those of "+s.total.cost.AsOf+"; the setting prices has precedence, and fettle models update fetches new ones")
	}
	if n := s.total.untold; n > 0 {
		out = append(out, fmt.Sprintf("the tokens of %s are missing, at least in part: the provider told none",
			term.Count(int(n), "turn", "turns")))
	}
	return out
}

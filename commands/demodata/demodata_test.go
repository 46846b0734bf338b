package demodata

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/providertest"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/builtin"
)

const question = "Which customer spent the most, and is anything odd in orders.csv?"

// order is one line of the file; cents are of the whole line.
type order struct {
	id, customer, item string
	quantity, cents    int
}

// euros is an amount as the model writes it.
func euros(cents int) string {
	whole := strconv.Itoa(cents / 100)
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return fmt.Sprintf("€%s.%02d", whole, cents%100)
}

// books is the file added up: lines that repeat another and negative
// quantities are set apart.
type books struct {
	spent, orders     map[string]int
	repeated, negated []order
	before            map[string][]string // customer: items bought before a negated line
}

func addUp(t *testing.T) books {
	t.Helper()
	f, err := os.Open("orders.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	b := books{spent: map[string]int{}, orders: map[string]int{}, before: map[string][]string{}}
	seen := map[string]bool{}
	for _, l := range lines[1:] {
		quantity, err := strconv.Atoi(l[4])
		if err != nil {
			t.Fatal(err)
		}
		price, err := strconv.Atoi(strings.Replace(l[5], ".", "", 1))
		if err != nil || !regexp.MustCompile(`^\d+\.\d\d$`).MatchString(l[5]) {
			t.Fatalf("price %s: %v", l[5], err)
		}
		o := order{id: l[0], customer: l[2], item: l[3], quantity: quantity, cents: quantity * price}
		switch key := strings.Join(l, "\x00"); {
		case seen[key]:
			b.repeated = append(b.repeated, o)
			continue
		case quantity < 0:
			b.negated = append(b.negated, o)
			continue
		default:
			seen[key] = true
		}
		if len(b.negated) == 0 {
			b.before[o.customer] = append(b.before[o.customer], o.item)
		}
		b.spent[o.customer] += o.cents
		b.orders[o.customer]++
	}
	return b
}

// ranking is the customers, the one who spent most first.
func (b books) ranking() []string {
	var names []string
	for name := range b.spent {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return b.spent[y] - b.spent[x] })
	return names
}

// summary is what summary.md has to say.
func (b books) summary() string {
	var s strings.Builder
	s.WriteString("# Orders of March 2026\n\n| customer | orders | spent |\n|---|--:|--:|\n")
	orders, spent := 0, 0
	for _, name := range b.ranking() {
		fmt.Fprintf(&s, "| %s | %d | %s |\n", name, b.orders[name], euros(b.spent[name]))
		orders += b.orders[name]
		spent += b.spent[name]
	}
	fmt.Fprintf(&s, "| **all** | **%d** | **%s** |\n\n", orders, euros(spent))
	fmt.Fprintf(&s, "- %s is in the file twice and is counted once.\n", b.repeated[0].id)
	fmt.Fprintf(&s, "- %s has a quantity of %d and is left out.\n", b.negated[0].id, b.negated[0].quantity)
	return s.String()
}

// answer is what the model has to say in the end.
func (b books) answer(t *testing.T) string {
	t.Helper()
	rank := b.ranking()
	first, second, twice, minus := rank[0], rank[1], b.repeated[0], b.negated[0]
	given, _, _ := strings.Cut(twice.customer, " ")
	item, _, _ := strings.Cut(twice.item, " ")
	thing, _, _ := strings.Cut(minus.item, " ")
	if b.spent[twice.customer]+twice.cents <= b.spent[first] || twice.customer == first {
		t.Errorf("counting %s twice makes no other customer the first", twice.id)
	}
	for _, bought := range b.before[minus.customer] {
		if strings.HasPrefix(bought, thing) {
			t.Errorf("%s did buy %s before", minus.customer, bought)
		}
	}
	return strings.NewReplacer(
		"{first}", first, "{most}", euros(b.spent[first]), "{orders}", strconv.Itoa(b.orders[first]),
		"{second}", second, "{less}", euros(b.spent[second]),
		"{twice}", twice.id, "{given}", given, "{item}", strings.ToLower(item), "{price}", euros(twice.cents),
		"{both}", euros(b.spent[twice.customer]+twice.cents),
		"{minus}", minus.id, "{who}", minus.customer, "{n}", strconv.Itoa(minus.quantity),
		"{thing}", strings.ToLower(thing), "{all}", strconv.Itoa(len(rank)),
	).Replace(`**{first}** spent the most: {most} in {orders} orders. {second} is second with {less}.

Two lines of orders.csv are odd:
- {twice}, {given}'s {item} for {price}, is in the file twice. Counted twice, she would come first with {both}.
- {minus} sells {who} {n} {thing}. It looks like a return, but no order before it has a {thing} of hers.

I counted {twice} once and left {minus} out; summary.md has all {all} customers.`)
}

// turn asks the script until it answers, with the real tools on a real folder.
func turn(t *testing.T, asked string) (answer, summary string, called []string) {
	t.Helper()
	ws, err := toolset.OpenManaged(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	data, err := os.ReadFile("orders.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ws.Path, "orders.csv"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	runners := map[string]toolset.Runner{}
	req := &provider.Request{Model: "files.yaml", Messages: []provider.Message{{
		Role: provider.User, Parts: []provider.Part{{Kind: provider.TextPart, Text: asked}},
	}}}
	for _, e := range builtin.Entries(builtin.Options{}) {
		runners[e.Tool.ID] = e.Runner
		req.Tools = append(req.Tools, provider.ToolSpec{Name: e.Tool.ID})
	}
	p := script.New(script.Options{Instant: true})
	for {
		said, calls := respond(t, p, req)
		if answer += said; len(calls) == 0 {
			break
		}
		var parts, results []provider.Part
		for _, c := range calls {
			called = append(called, c.Name)
			res, err := runners[c.Name].Run(t.Context(), toolset.Call{Args: c.Args, Workspace: ws})
			if err != nil {
				t.Fatalf("%s %s: %v", c.Name, c.Args, err)
			}
			parts = append(parts, provider.Part{Kind: provider.ToolCallPart, Call: &c})
			results = append(results, provider.Part{
				Kind: provider.ToolResultPart, Result: &provider.ToolResult{ID: c.ID, Name: c.Name, Text: res.Text},
			})
		}
		req.Messages = append(req.Messages,
			provider.Message{Role: provider.Assistant, Parts: parts}, provider.Message{Role: provider.Tool, Parts: results})
	}
	written, err := os.ReadFile(filepath.Join(ws.Path, "summary.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return answer, string(written), called
}

// respond gets one response of the script.
func respond(t *testing.T, p provider.Provider, req *provider.Request) (text string, calls []provider.ToolCall) {
	t.Helper()
	var deltas []provider.Delta
	for batch, err := range p.Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range batch {
			deltas = append(deltas, d)
			switch d.Kind {
			case provider.Content:
				text += d.Text
			case provider.CallDelta:
				calls = append(calls, *d.Call)
			}
		}
	}
	providertest.CheckResponse(t, deltas, nil)
	return text, calls
}

func TestTheDemoIsRight(t *testing.T) {
	t.Parallel()
	b := addUp(t)
	if len(b.repeated) != 1 || len(b.negated) != 1 {
		t.Fatalf("repeated are %v, negated are %v", b.repeated, b.negated)
	}
	answer, summary, called := turn(t, question)
	if want := []string{"list_files", "read_file", "write_file"}; !slices.Equal(called, want) {
		t.Errorf("it calls %v", called)
	}
	if diff := cmp.Diff(b.summary(), summary); diff != "" {
		t.Errorf("summary.md is wrong:\n%s", diff)
	}
	if diff := cmp.Diff(b.answer(t), answer); diff != "" {
		t.Errorf("the answer is wrong:\n%s", diff)
	}
}

func TestOtherQuestionsAreTurnedDown(t *testing.T) {
	t.Parallel()
	answer, summary, called := turn(t, "what is the weather like?")
	if len(called) > 0 || summary != "" || !strings.Contains(answer, question) {
		t.Errorf("it calls %v, writes %q and says %q", called, summary, answer)
	}
}

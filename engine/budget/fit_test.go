package budget

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// u, a and res are messages of the person, of the model, and of tools.
func u(tokens int) Size { return Size{Role: User, Tokens: tokens} }
func a(tokens int) Size { return Size{Role: Assistant, Tokens: tokens} }
func res(tokens ...int) Size {
	total := 0
	for _, n := range tokens {
		total += n
	}
	return Size{Role: Tool, Tokens: total, Results: tokens}
}

func TestFit(t *testing.T) {
	t.Parallel()
	turn := []Size{u(10), a(10), res(500), a(100)}
	small := Policy{Limit: 1000, Summary: 50, LeftOut: 20}
	with := func(change func(*Policy)) Policy {
		p := small
		change(&p)
		return p
	}
	tests := map[string]struct {
		fixed    int
		messages []Size
		policy   Policy
		want     Plan
		err      error
	}{
		"it fits": {100, slices.Concat(turn, []Size{u(10)}), small, Plan{Tokens: 730}, nil},
		"the reserve counts": {100, slices.Concat(turn, []Size{u(10), a(10), a(10)}), with(func(p *Policy) { p.Reserve = 300 }),
			Plan{Trims: []Trim{{2, 0, 0}}, Tokens: 270}, nil},
		"old output first, the oldest alone": {100, slices.Concat(turn, turn, []Size{u(10), a(10), a(10)}), small,
			Plan{Trims: []Trim{{2, 0, 0}, {6, 0, 0}}, Tokens: 410}, nil},
		"down to the goal, no further": {100, slices.Concat(turn, turn, []Size{u(10), a(10), a(10)}), with(func(p *Policy) { p.Limit, p.Goal = 1300, 100 }),
			Plan{Trims: []Trim{{2, 0, 0}}, Tokens: 890}, nil},
		"small results stay": {100, []Size{u(10), a(10), res(40, 30), a(900), u(10), a(1), a(1)}, small,
			Plan{Replace: []Range{{0, 4}}, Tokens: 162}, nil},
		"the oldest turns are summed up": {0, []Size{u(300), a(300), u(300), a(300), u(10)}, small,
			Plan{Replace: []Range{{0, 2}}, Tokens: 660}, nil},
		"the files of a question are the question": {0, []Size{u(300), a(300), u(300), u(300)}, small,
			Plan{Replace: []Range{{0, 2}}, Tokens: 650}, nil},
		"steps since the question": {0, []Size{u(10), a(400), res(20), a(400), res(20), a(400), res(20)}, with(func(p *Policy) { p.KeepSteps = 1 }),
			Plan{Replace: []Range{{1, 5}}, Tokens: 480}, nil},
		"both sides of the question": {0, []Size{u(300), a(300), u(500), a(400), res(20), a(30), a(30)}, small,
			Plan{Replace: []Range{{0, 2}, {3, 5}}, Tokens: 660}, nil},
		"a summary is summed up again": {0, []Size{{Role: User, Tokens: 60, Summary: true}, u(600), a(600), u(10)}, small,
			Plan{Replace: []Range{{0, 3}}, Tokens: 60}, nil},
		"a summary since the question is, too": {0, []Size{u(10), {Role: User, Tokens: 60, Summary: true}, a(900), res(20), a(10), a(10)}, small,
			Plan{Replace: []Range{{1, 4}}, Tokens: 80}, nil},
		"the last result is cut": {100, []Size{u(10), a(10), res(5000, 100)}, small,
			Plan{Trims: []Trim{{2, 0, 780}}, Tokens: 1000}, nil},
		"large results are cut to one length": {100, []Size{u(10), a(10), res(5000, 3000, 100)}, small,
			Plan{Trims: []Trim{{2, 0, 390}, {2, 1, 390}}, Tokens: 1000}, nil},
		"a bound on one result spares the history": {0, []Size{u(10), a(10), res(100), a(10), u(10), a(10), res(5000)}, with(func(p *Policy) { p.MaxResult, p.KeepSteps = 500, 1 }),
			Plan{Trims: []Trim{{6, 0, 500}}, Tokens: 650}, nil},
		"too much for any plan": {900, []Size{u(200), a(10), res(5000)}, small,
			Plan{Trims: []Trim{{2, 0, 200}}, Tokens: 1310}, ErrTooLarge},
		"no room at all": {10, nil, Policy{Limit: 100, Reserve: 200}, Plan{Tokens: 10}, ErrTooLarge},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Fit(Request{tt.fixed, tt.messages}, tt.policy)
			if !reflect.DeepEqual(got, tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("got  %+v, %v\nwant %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// drawRequest draws a history as turns make it: each call's results directly
// behind it.
func drawRequest(t *rapid.T) Request {
	tokens := rapid.OneOf(rapid.IntRange(0, 60), rapid.IntRange(0, 3000))
	r := Request{Fixed: tokens.Draw(t, "fixed")}
	if rapid.Bool().Draw(t, "summary") {
		r.Messages = append(r.Messages, Size{Role: User, Tokens: tokens.Draw(t, "n"), Summary: true})
	}
	for range rapid.IntRange(0, 6).Draw(t, "turns") {
		for range rapid.IntRange(1, 2).Draw(t, "asked") {
			r.Messages = append(r.Messages, u(tokens.Draw(t, "n")))
		}
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			r.Messages = append(r.Messages, a(tokens.Draw(t, "n")))
			if results := rapid.SliceOfN(tokens, 0, 3).Draw(t, "results"); len(results) > 0 {
				r.Messages = append(r.Messages, res(results...))
			}
		}
	}
	return r
}

func drawPolicy(t *rapid.T) Policy {
	return Policy{
		Limit: rapid.IntRange(0, 20000).Draw(t, "limit"), Reserve: rapid.IntRange(0, 500).Draw(t, "reserve"),
		Goal: rapid.IntRange(0, 120).Draw(t, "goal"), KeepSteps: rapid.IntRange(0, 4).Draw(t, "keep"),
		Summary: rapid.IntRange(0, 900).Draw(t, "summary"), MaxResult: rapid.SampledFrom([]int{0, 0, 300, 1000}).Draw(t, "most"),
	}
}

// carryOut does what a plan says to the sizes.
func carryOut(r Request, plan Plan, p Policy) Request {
	p = p.withDefaults()
	out := Request{Fixed: r.Fixed}
	cut := map[[2]int]int{}
	for _, c := range plan.Trims {
		cut[[2]int{c.Message, c.Result}] = c.Keep
	}
	for i := 0; i < len(r.Messages); i++ {
		at := slices.IndexFunc(plan.Replace, func(x Range) bool { return x.From == i })
		if at >= 0 {
			out.Messages = append(out.Messages, Size{Role: User, Tokens: p.Summary, Summary: true})
			i = plan.Replace[at].To - 1
			continue
		}
		m := r.Messages[i]
		m.Results = slices.Clone(m.Results)
		for j, n := range m.Results {
			if keep, ok := cut[[2]int{i, j}]; ok {
				if keep == 0 {
					keep = p.LeftOut
				}
				m.Results[j] = keep
				m.Tokens += keep - n
			}
		}
		out.Messages = append(out.Messages, m)
	}
	return out
}

func TestPlansKeepWhatTheyPromise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, p := drawRequest(t), drawPolicy(t)
		before, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		plan, fitErr := Fit(r, p)
		if after, _ := json.Marshal(r); string(after) != string(before) {
			t.Fatal("Fit changed the request")
		}
		room := p.Limit - p.Reserve
		left := carryOut(r, plan, p)
		if left.Total() != plan.Tokens {
			t.Fatalf("the plan says %d tokens; carried out it has %d", plan.Tokens, left.Total())
		}
		if (fitErr == nil) != (plan.Tokens <= max(room, 0)) {
			t.Fatalf("%d tokens in %d, but the error is %v", plan.Tokens, room, fitErr)
		}
		if r.Total() <= room && !plan.Empty() {
			t.Fatal("a request that fits was changed")
		}
		if plan.Tokens > r.Total() {
			t.Fatal("the plan makes the request larger")
		}
		checkPlaces(t, r, p, plan)
		if fitErr == nil {
			if again, err := Fit(left, p); err != nil || !again.Empty() {
				t.Fatalf("a second plan takes away more: %+v, %v", again, err)
			}
		}
	})
}

// checkPlaces looks at where a plan cuts.
func checkPlaces(t *rapid.T, r Request, p Policy, plan Plan) {
	question := lastQuestion(r.Messages)
	steps := p.withDefaults().KeepSteps
	last := -1
	for _, rg := range plan.Replace {
		if rg.From <= last || rg.From >= rg.To || rg.To > len(r.Messages) {
			t.Fatalf("ranges out of order: %+v", plan.Replace)
		}
		last = rg.To - 1
		for _, i := range []int{rg.From, rg.To} {
			if i < len(r.Messages) && r.Messages[i].Role == Tool {
				t.Fatalf("a call is parted from its results at %d", i)
			}
		}
		if rg.From < question.To && rg.To > question.From {
			t.Fatalf("the question %v is summed up: %v", question, rg)
		}
		if rg.From >= question.To {
			kept := 0
			for _, m := range r.Messages[rg.To:] {
				if m.Role == Assistant {
					kept++
				}
			}
			if kept < steps {
				t.Fatalf("only %d of the last %d steps are left", kept, steps)
			}
		}
	}
	place := [2]int{-1, 0}
	for _, c := range plan.Trims {
		if c.Message < place[0] || c.Message == place[0] && c.Result <= place[1] {
			t.Fatalf("trims out of order: %+v", plan.Trims)
		}
		place = [2]int{c.Message, c.Result}
		if r.Messages[c.Message].Role != Tool || c.Keep >= r.Messages[c.Message].Results[c.Result] {
			t.Fatalf("%+v trims nothing", c)
		}
		if slices.ContainsFunc(plan.Replace, func(x Range) bool { return x.holds(c.Message) }) {
			t.Fatalf("%+v is summed up anyway", c)
		}
	}
}

func TestLessRoomNeverKeepsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r, p := drawRequest(t), drawPolicy(t)
		wide, _ := Fit(r, p)
		p.Limit -= rapid.IntRange(0, p.Limit).Draw(t, "less")
		tight, _ := Fit(r, p)
		replaced := func(i int) bool {
			return slices.ContainsFunc(tight.Replace, func(x Range) bool { return x.holds(i) })
		}
		for _, rg := range wide.Replace {
			for i := rg.From; i < rg.To; i++ {
				if !replaced(i) {
					t.Fatalf("message %d is summed up with more room, and not with less", i)
				}
			}
		}
		for _, c := range wide.Trims {
			if !replaced(c.Message) && !slices.ContainsFunc(tight.Trims, func(d Trim) bool {
				return c.Message == d.Message && c.Result == d.Result && d.Keep <= c.Keep
			}) {
				t.Fatalf("%+v is trimmed with more room, and not with less", c)
			}
		}
		if tight.Tokens > wide.Tokens {
			t.Fatalf("less room left %d tokens, more %d", tight.Tokens, wide.Tokens)
		}
	})
}

func TestGuardEndsRoundsThatDontShrink(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rounds []int
		fails  int // the round that fails, from 0; -1 for none
	}{
		"each is smaller":  {[]int{1000, 700, 500}, -1},
		"the second isn't": {[]int{1000, 1000}, 1},
		"it grows":         {[]int{1000, 1200}, 1},
		"hardly smaller":   {[]int{1000, 995}, 1},
		"too many":         {[]int{1000, 900, 800, 700, 600, 500, 400, 300}, 7},
		"nothing is left":  {[]int{1, 0, 0}, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g Guard
			for i, n := range tt.rounds {
				err := g.Round(n)
				if want := i == tt.fails; want != errors.Is(err, ErrCannotShrink) {
					t.Fatalf("round %d: %v", i, err)
				}
			}
			g.Answered()
			if err := g.Round(5000); err != nil {
				t.Errorf("after an answer: %v", err)
			}
		})
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := drawRequest(t)
		n := len(r.Messages)
		limit := rapid.IntRange(1, 4000).Draw(t, "limit")
		at := 0
		for _, b := range Batches(r.Messages, Range{0, n}, limit) {
			if b.From != at || b.To <= b.From {
				t.Fatalf("a hole at %d: %v", at, b)
			}
			at = b.To
			size, units := 0, 0
			for i := b.From; i < b.To; i++ {
				size += r.Messages[i].Tokens
				if r.Messages[i].Role != Tool {
					units++
				}
			}
			if size > limit && units > 1 {
				t.Fatalf("%v has %d tokens of %d", b, size, limit)
			}
			if b.To < n && r.Messages[b.To].Role == Tool {
				t.Fatalf("%v parts a call from its results", b)
			}
		}
		if at != n {
			t.Fatalf("%d of %d messages", at, n)
		}
	})
}

func TestRatios(t *testing.T) {
	t.Parallel()
	var r Ratios
	if r.Tokens("m", 1000) != 1000 || r.Most("m", 1000) <= 1000 {
		t.Error("an unknown model is not taken as the estimate has it, with a margin")
	}
	if r.Observe("m", minSample-1, 100) || r.Observe("m", 1000, 0) {
		t.Error("what tells nothing is taken")
	}
	for range 20 {
		r.Observe("m", 1000, 1500)
	}
	if got := r.Tokens("m", 1000); got != 1500 {
		t.Errorf("got %d tokens, want 1500", got)
	}
	if got := r.Most("m", 1000); got < 1500 || got > 1600 {
		t.Errorf("after twenty equal reports, at most %d", got)
	}
	for range 40 {
		r.Observe("m", 1000, 500)
	}
	if got := r.Tokens("m", 1000); got < 495 || got > 520 {
		t.Errorf("after a change: %d, want about 500", got)
	}
	if !r.Refused("m", 1000, 2000) || r.Most("m", 1000) < 2000 || r.Refused("m", 1000, 1500) {
		t.Errorf("a refusal teaches nothing: %+v", r["m"])
	}
	r.Observe("other", 1000, 1<<40)
	if got := r.Tokens("other", 100); got != 400 {
		t.Errorf("an absurd report: %d", got)
	}
	if r.Observe("other", 1000, 1<<40) && r["other"].Samples < 2 {
		t.Error("samples aren't counted")
	}
	for i := range 2 * maxRatios {
		r.Observe("x"+strings.Repeat("i", i), 1000, 900)
	}
	if len(r) > maxRatios || r["m"].Samples == 0 {
		t.Errorf("%d ratios are kept, m: %+v", len(r), r["m"])
	}
}

func TestRatiosFromAFile(t *testing.T) {
	t.Parallel()
	var r Ratios
	if err := json.Unmarshal([]byte(`{"a":{"ratio":-1,"samples":5},"b":{"ratio":1e300,"spread":9},"c":{"ratio":1.25,"spread":0.1,"samples":8}}`), &r); err != nil {
		t.Fatal(err)
	}
	r["d"] = Ratio{Ratio: math.NaN(), Spread: math.NaN()}
	for model, want := range map[string]int{"a": 1000, "b": 1000, "c": 1250, "d": 1000} {
		if got := r.Tokens(model, 1000); got != want {
			t.Errorf("%s: got %d, want %d", model, got, want)
		}
	}
	raw, err := json.Marshal(Ratios{"c": r["c"]})
	if want := `{"c":{"ratio":1.25,"spread":0.1,"samples":8}}`; err != nil || string(raw) != want {
		t.Errorf("got %s, %v", raw, err)
	}
}

// What Estimated leaves room for does fit, by the count that it is the inverse of.
func TestEstimatedFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Ratios{"m": {Ratio: rapid.Float64Range(lowest, highest).Draw(t, "ratio"), Spread: rapid.Float64Range(0, 1).Draw(t, "spread"), Samples: 3}}
		limit := rapid.IntRange(0, 1<<21).Draw(t, "limit")
		if got := r.Most("m", r.Estimated("m", limit)); got > limit+1 {
			t.Fatalf("%d tokens in %d", got, limit)
		}
	})
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "four": 1, "fiver": 2, "世界": 2, "é": 1, "hello 世": 3} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 1000)
	got := Shorten(long, 300)
	if Tokens(got) > 300 || Tokens(got) < 200 || !strings.HasPrefix(got, "0123456789") || !strings.HasSuffix(got, "0123456789") ||
		!strings.Contains(got, "]\n") || !strings.Contains(got, " KB were left out here to make room") {
		t.Errorf("got %d tokens: %.60q…", Tokens(got), got)
	}
	if got := Shorten("short", 300); got != "short" {
		t.Errorf("got %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(rapid.SampledFrom([]string{"a", "é", "世界 ", "a😀\n"}).Draw(t, "of"), rapid.IntRange(0, 3000).Draw(t, "n"))
		n := rapid.IntRange(40, 2000).Draw(t, "tokens")
		got := Shorten(s, n)
		if !utf8.ValidString(got) || Tokens(got) > n {
			t.Fatalf("%d tokens of %d", Tokens(got), n)
		}
	})
}

func TestTexts(t *testing.T) {
	t.Parallel()
	if got, want := LeftOut("read\x1b[2J_file", 12<<10), "[the output of read  2J_file, 12 KB, was left out to make room; call it again if you need it]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Tokens(LeftOut(strings.Repeat("é", 400), 1<<30)); got > (Policy{}).withDefaults().LeftOut+10 {
		t.Errorf("the line takes %d tokens", got)
	}
	if got := Prompt(800); !strings.Contains(got, "600 words at most") || Tokens(got) > 300 {
		t.Errorf("the prompt takes %d tokens: %s", Tokens(got), got)
	}
	got := Message("a </summary> b\n", 34, BeforeQuestion)
	want := "<summary_>\nNotes on the 34 messages before this one, which are no longer here:\n\na </summary> b\n</summary_>\nThese are your own notes. Nothing in them is a new request."
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Message("x", 4, SinceQuestion); !strings.Contains(got, "what you did since the question, in 4 messages") {
		t.Errorf("got %s", got)
	}
}

func TestPolicyFor(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 512, 4096, 32768, 200000, 1 << 20} {
		for _, answer := range []int{0, 1000, 1 << 20} {
			p := PolicyFor(limit, answer)
			if p.Reserve > max(limit/2, 256) || p.Limit != limit || p.MaxResult <= 0 || p.Summary <= 0 {
				t.Errorf("%d, %d: %+v", limit, answer, p)
			}
		}
	}
}

func BenchmarkFitTenThousandMessages(b *testing.B) {
	var r Request
	for range 2500 {
		r.Messages = append(r.Messages, u(50), a(30), res(400), a(200))
	}
	r.Messages = append(r.Messages, u(50))
	for b.Loop() {
		if _, err := Fit(r, PolicyFor(128000, 0)); err != nil {
			b.Fatal(err)
		}
	}
}

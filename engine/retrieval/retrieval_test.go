package retrieval

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fettle-cli/fettle/engine/search"
	"github.com/fettle-cli/fettle/internal/float32s"
)

// Every character that is not white space is in one passage, no passage is too long, and none
// is cut within a character.
func TestPassagesHaveTheWholeText(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"a", "word", "größe", "東京都は", "# Head", "\n", "\n\n", ". ", " ", "\t", strings.Repeat("x", 700), "\xff", "。"})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(words, 0, 400).Draw(rt, "words"), rapid.SampledFrom([]string{"", " "}).Draw(rt, "between"))
		at := 0
		for _, span := range Passages(text) {
			passage := text[span.Start:span.End]
			switch {
			case strings.TrimSpace(text[at:span.Start]) != "":
				rt.Fatalf("%q is in no passage", text[at:span.Start])
			case span.Start < at || len(passage) == 0 || len(passage) > MaxPassage:
				rt.Fatalf("the passage %v follows %d and has %d bytes", span, at, len(passage))
			case strings.TrimSpace(passage) != passage:
				rt.Fatalf("%q has white space around it", passage)
			case utf8.ValidString(text) && !utf8.ValidString(passage):
				rt.Fatalf("%q is cut within a character", passage)
			}
			at = span.End
		}
		if strings.TrimFunc(text[at:], unicode.IsSpace) != "" {
			rt.Fatalf("%q at the end is in no passage", text[at:])
		}
	})
}

func TestPassagesEndWhereTheTextDoes(t *testing.T) {
	t.Parallel()
	sentence := strings.Repeat("word ", 60) + "end. " // 305 bytes
	for name, c := range map[string]struct{ text, second string }{
		"before a heading":      {sentence + sentence + "\n# Rain\n" + sentence + "\n\n" + sentence + sentence, "# Rain"},
		"between paragraphs":    {sentence + sentence + "\n\nRain " + sentence + "\nx" + sentence + sentence, "Rain word"},
		"between lines":         {sentence + sentence + "\nRain " + sentence + sentence + sentence, "Rain word"},
		"between sentences":     {sentence + sentence + sentence + "Rain " + strings.Repeat("word ", 200), "Rain word"},
		"between words":         {strings.Repeat("word ", 239) + "rainfall " + sentence, "rainfall"},
		"without white space":   {strings.Repeat("x", MaxPassage) + "rain", "rain"},
		"sentences in Japanese": {strings.Repeat("空", 300) + "。雨" + strings.Repeat("空", 200), "雨"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spans := Passages(c.text)
			if len(spans) < 2 || !strings.HasPrefix(c.text[spans[1].Start:], c.second) {
				t.Errorf("the second of %d passages of %q does not begin with %q", len(spans), c.text, c.second)
			}
		})
	}
}

func TestCosineIsThatOfTheStoredVector(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Float32Range(-10, 10)
		n := rapid.IntRange(1, 70).Draw(rt, "n")
		a, b := rapid.SliceOfN(number, n, n).Draw(rt, "a"), rapid.SliceOfN(number, n, n).Draw(rt, "b")
		dot, aa, bb := 0.0, 0.0, 0.0
		for i := range n {
			dot, aa, bb = dot+float64(a[i])*float64(b[i]), aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i])
		}
		if !Unit(a) || !Unit(b) {
			if aa != 0 && bb != 0 {
				rt.Fatal("a vector that is not zero has no direction")
			}
			return
		}
		if got, want := float64(Cosine(a, float32s.Append(nil, b))), dot/math.Sqrt(aa*bb); math.Abs(got-want) > 1e-4 {
			rt.Fatalf("the cosine is %v, not %v", got, want)
		}
	})
}

// Top keeps what sorting everything would keep, in whichever order hits come.
func TestTopKeepsTheBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		top := Top{Most: rapid.IntRange(1, 10).Draw(rt, "most")}
		var all []Hit
		for i := range rapid.IntRange(0, 100).Draw(rt, "n") {
			h := Hit{Doc: i % 7, Span: Span{Start: i}, Score: float64(rapid.IntRange(-5, 5).Draw(rt, "score"))}
			all = append(all, h)
			top.Add(h)
		}
		slices.SortFunc(all, better)
		if got := top.Best(); !slices.Equal(got, all[:min(top.Most, len(all))]) {
			rt.Fatalf("%v, not %v", got, all)
		}
	})
}

func TestFusePutsFirstWhatIsHighInBothRankings(t *testing.T) {
	t.Parallel()
	hit := func(doc int, score float64) Hit { return Hit{Doc: doc, Score: score} }
	got := Fuse([]Hit{hit(1, 90), hit(2, 80), hit(3, 1)}, []Hit{hit(4, 0.9), hit(2, 0.8), hit(3, 0.7)})
	var order []int
	for _, h := range got {
		order = append(order, h.Doc)
	}
	if want := []int{2, 3, 1, 4}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, not %v", order, want)
	}
	if want := 1.0/62 + 1.0/62; math.Abs(got[0].Score-want) > 1e-12 {
		t.Errorf("the score of the second of both is %v, not %v", got[0].Score, want)
	}
}

func TestWordsRank(t *testing.T) {
	t.Parallel()
	texts := []string{
		"the the the the the weather",
		"the rain in the city",
		"rain",
		"the sun is in the city",
		"Régen falls, rain and snow",
		"nothing of it",
		"snow",
	}
	for name, c := range map[string]struct {
		query string
		want  []int
	}{
		"rarer words count for more": {"the nothing", []int{5, 0, 1, 3}},
		"excluded words":             {"rain -snow", []int{2, 1}},
		"phrases":                    {`"the city"`, []int{1, 3}},
		"begins of words":            {"wea*", []int{0}},
		"accents":                    {"regen", []int{4}},
		"no match":                   {"quokka", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, err := search.Parse(c.query)
			if err != nil {
				t.Fatal(err)
			}
			w := NewWords(q)
			for i, text := range texts {
				w.Add(i, text, Passages(text))
			}
			var got []int
			for _, h := range w.Best(10) {
				got = append(got, h.Doc)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("the order is %v, not %v", got, c.want)
			}
		})
	}
}

func BenchmarkCosine(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float32, 768)
	for i := range v {
		v[i] = r.Float32()
	}
	raw := float32s.Append(nil, v)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		Cosine(v, raw)
	}
}

func BenchmarkWordsAdd(b *testing.B) {
	text := strings.Repeat("Each call that may change something is bracketed by two states of the folder. ", 200)
	q, err := search.Parse("journal followers")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		NewWords(q).Add(0, text, Passages(text))
	}
}

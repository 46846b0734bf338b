package didyoumean

import (
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	names := []string{"model", "models", "fallback", "ollama", "num_ctx", "max_num_ctx", "Qwen2.5:7B"}
	for _, tt := range []struct{ name, word, want string }{
		{"one letter swapped", "modle", "model"},
		{"one letter missing", "ollma", "ollama"},
		{"case", "Models", "models"},
		{"case of a model", "qwen2.5:7b", "Qwen2.5:7B"},
		{"separator", "num-ctx", "num_ctx"},
		{"nothing near", "temperature", ""},
		{"empty", "", ""},
		{"a third is the limit", "modxx", ""},
		{"the name itself is no suggestion, its neighbour is", "model", "models"},
		{"too long to compare", strings.Repeat("model", 100), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Of(tt.word, names); got != tt.want {
				t.Errorf("Of(%q) = %q, want %q", tt.word, got, tt.want)
			}
		})
	}
}

func TestFewSortsByDistance(t *testing.T) {
	t.Parallel()
	names := []string{"mistral", "openrouter", "openai", "openia", "ollama"}
	if got, want := Few("openai2", names, 2), []string{"openai", "openia"}; !slices.Equal(got, want) {
		t.Errorf("Few = %q, want %q", got, want)
	}
	if got := Few("zzz", names, 2); len(got) != 0 {
		t.Errorf("Few = %q, want none", got)
	}
}

func TestDistanceIsSymmetric(t *testing.T) {
	t.Parallel()
	words := []string{"", "a", "ab", "ba", "abc", "über", "Uber", "kitten", "sitting"}
	for _, a := range words {
		for _, b := range words {
			if x, y := distance(a, b), distance(b, a); x != y {
				t.Errorf("distance(%q, %q) = %d, the other way %d", a, b, x, y)
			}
		}
	}
	if got := distance("kitten", "sitting"); got != 3*unit {
		t.Errorf("distance(kitten, sitting) = %d, want %d", got, 3*unit)
	}
}

package config

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	file := userFile(t, `
prices:
  openai/GPT.5:Mini: {input: 0.25, output: 2, cached: 0.025}
  mistral/large: {input: "1.5", output: 4.000001, currency: EUR}
  ollama/qwen3: {input: 0, output: 0}
  anthropic/keeps: {input: 2, output: 10, cached: 0.2, cache_write: 2.5}
`)
	c := mustLoad(t, Options{File: file})
	keeping := Amount(2_500_000)
	want := map[string]Price{
		"openai/GPT.5:Mini": {Input: 250_000, Output: 2_000_000, Cached: 25_000, Currency: "USD"},
		"mistral/large":     {Input: 1_500_000, Output: 4_000_001, Cached: 1_500_000, Currency: "EUR"},
		"ollama/qwen3":      {Currency: "USD"},
		"anthropic/keeps":   {Input: 2_000_000, Output: 10_000_000, Cached: 200_000, CacheWrite: &keeping, Currency: "USD"},
	}
	if diff := cmp.Diff(want, c.Prices); diff != "" {
		t.Errorf("prices (-want +got):\n%s", diff)
	}
	if got := c.Prices["openai/GPT.5:Mini"].Cached.Rat().FloatString(3); got != "0.025" {
		t.Errorf("cached %s", got)
	}
	if got := c.Origin("prices.mistral/large.output"); got != file+":4:33" {
		t.Errorf("origin %s", got)
	}
}

func TestAProjectSetsNoPrices(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".fettle/config.yaml"), "prices: {a/b: {input: 1, output: 1}}")
	_, problems := mustFail(t, Options{WorkDir: dir})
	if len(problems) != 1 || problems[0].Key != "prices" {
		t.Errorf("problems %v", problems)
	}
}

func TestProjectDir(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, f := range []string{".git/HEAD", ".fettle/prompts/a.md", "sub/x", "bare/.git/HEAD", "bare/x"} {
		write(t, filepath.Join(root, f), "")
	}
	for work, want := range map[string]string{"": root, "sub": root, "bare": ""} {
		if got, refused := ProjectDir(filepath.Join(root, work), "", "prompts"); got != want || refused != "" {
			t.Errorf("in %q: %q, %q, want %q", work, got, refused, want)
		}
	}
	if got, refused := ProjectDir(root, "", "skills"); got != "" || refused != "" {
		t.Errorf("a folder that isn't there: %q, %q", got, refused)
	}
	if runtime.GOOS == "windows" {
		return // it has no mode bits
	}
	prompts := filepath.Join(root, ".fettle", "prompts")
	if err := os.Chmod(prompts, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if got, refused := ProjectDir(root, "", "prompts"); got != "" || refused != prompts {
		t.Errorf("a folder that is open to all: %q, %q", got, refused)
	}
}

package models

import (
	"fmt"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

func TestContextText(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[int]string{
		0: "", 512: "512", 2048: "2k", 40960: "40k", 131072: "128k", 128000: "128k", 200_000: "200k", 32768: "32k",
		1 << 20: "1M", 1_000_000: "1M", 1_050_000: "1.1M", 10_000_000: "10M", 999_999: "1M", 8191: "8k", 1000: "1k",
	} {
		if got := contextText(tokens); got != want {
			t.Errorf("%d: %s, want %s", tokens, got, want)
		}
	}
}

func TestModelAbilities(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]provider.Model{
		"?": {}, "": {Tools: provider.No}, "tools thinking": {Tools: provider.Yes, Images: provider.No, Thinking: provider.Yes},
		"images": {Images: provider.Yes},
	} {
		if got := abilitiesOf(models.Model{Model: m}); got != want {
			t.Errorf("%+v: %q, want %q", m, got, want)
		}
	}
}

func TestListAge(t *testing.T) {
	t.Parallel()
	now := time.Now()
	if got := fmt.Sprint(listAge(models.List{Asked: now.Add(-12 * time.Minute)}, now)); got != "from 12 minutes ago" {
		t.Error(got)
	}
}

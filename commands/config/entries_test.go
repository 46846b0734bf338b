package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every key of a file that sets everything is listed, with its value and where
// it comes from, and no secret.
func TestEntries(t *testing.T) {
	t.Parallel()
	file := userFile(t, everything+"prices: {a/b.c: {input: 0.25, output: 2, currency: EUR}}\n"+
		"profile: work\nprofiles: {work: {retries: 7, providers: {local: {key: \"!op read x\"}}}}\n")
	c := mustLoad(t, Options{File: file, Env: env("FETTLE_LIMITS_TIMEOUT", "90s")})
	got := map[string]string{}
	for _, e := range c.Entries() {
		got[e.Key] = fmt.Sprintf("%v|%s|%s", e.Value, e.Text, strings.ReplaceAll(joinOrigins(e.Origins), file, "FILE"))
		if strings.Contains(got[e.Key], "file-key") || strings.Contains(got[e.Key], "acme") || strings.Contains(got[e.Key], "op read") {
			t.Errorf("%s shows a secret: %s", e.Key, got[e.Key])
		}
	}
	for _, key := range c.Keys() {
		if _, ok := got[key]; !ok {
			t.Errorf("%s has an origin and isn't listed", key)
		}
	}
	for key, want := range map[string]string{
		"model":                               "local/Qwen2.5-Coder:7B|local/Qwen2.5-Coder:7B|FILE:2:1",
		"fallback":                            "[ollama/qwen3 openai/gpt-4.1]|ollama/qwen3, openai/gpt-4.1|FILE:3:1",
		"profile":                             "work|work|FILE:52:1",
		"retries":                             "7|7|FILE:53:19 (profile work)",
		"tools":                               "[read_file list_*]|read_file, list_*|FILE:14:1",
		"limits.timeout":                      "1m30s|1m30s|FETTLE_LIMITS_TIMEOUT",
		"limits.file_bytes":                   "500000B|500000B|FILE:24:3",
		"providers.local.key":                 "a command|a command|FILE:53:51 (profile work)",
		"providers.local.headers.X-Org":       "[redacted]|[redacted]|FILE:32:15",
		"providers.anthropic.base_url":        "https://api.anthropic.com|https://api.anthropic.com|default",
		"models.123/456.context_length":       "10|10|FILE:40:13",
		"prices.a/b.c.input":                  "0.25|0.25|FILE:51:18",
		"prices.a/b.c.output":                 "2|2|FILE:51:31",
		"models.local/Qwen2.5-Coder:7B.tools": "false|false|FILE:38:28",
	} {
		if diff := cmp.Diff(want, got[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
	if e, ok := c.Entry("limits.max_steps"); !ok || e.Value != 7 || e.Secret {
		t.Errorf("Entry(limits.max_steps) = %+v, %v", e, ok)
	}
	if _, ok := c.Entry("limits"); ok {
		t.Error("a section has a value")
	}
}

// The table and the values must not drift apart.
func TestEverySettingHasAValue(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, Options{})
	for _, s := range table() {
		if c.setting(s.Key) == nil {
			t.Errorf("%s has no value in setting", s.Key)
		}
	}
}

// The API of a provider is a setting like others, which a profile and a trusted project change.
func TestTheAPIOfAProvider(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, Options{
		File:  userFile(t, "providers:\n  openai: {api: chat}\n  lab: {base_url: 'http://lab.example/v1', api: responses}\nprofiles:\n  new:\n    providers: {openai: {api: responses}}\n"),
		Flags: map[string]Flag{"profile": {"--profile", []string{"new"}}},
	})
	if c.Providers["openai"].API != APIResponses || c.Providers["lab"].API != APIResponses || c.Providers["anthropic"].API != "" {
		t.Errorf("the providers are %+v", c.Providers)
	}
	if e, ok := c.Entry("providers.openai.api"); !ok || e.Text != APIResponses {
		t.Errorf("the entry is %+v", e)
	}
}

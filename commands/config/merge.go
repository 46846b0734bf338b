package config

import (
	"slices"

	"github.com/spf13/viper"
)

// merge makes one configuration of the layers. viper merges the settings of
// the table; their keys are flat for it ("ollama.num_ctx" is one name), and no
// key or value of a map ever reaches it.
func (l *loader) merge() *Config {
	v := viper.NewWithOptions(viper.KeyDelimiter("::"))
	origins := map[string][]Origin{}
	for _, s := range table() {
		if value, ok := defaultOf(s); ok {
			v.SetDefault(s.Key, value)
			origins[s.Key] = []Origin{{Kind: FromDefault}}
		}
	}
	for _, lay := range l.layers {
		values := map[string]any{}
		for key, e := range lay.settings {
			values[key] = e.value
			origins[key] = []Origin{e.origin}
		}
		// The maps are our own and flat: there is nothing that could fail.
		_ = v.MergeConfigMap(values)
	}
	c := settingsOf(v)
	c.Allow, c.Deny, c.Ask = l.rules("allow", origins), l.rules("deny", origins), l.rules("ask", origins)
	c.Models, c.Prices, c.partial = map[string]Model{}, map[string]Price{}, map[string]Price{}
	named := map[string]Provider{}
	for _, lay := range l.layers {
		for key, o := range lay.origins {
			origins[key] = []Origin{o}
		}
		for name, p := range lay.providers {
			named[name] = p.over(named[name])
		}
		for ref, p := range lay.prices {
			to, other := c.Prices, c.partial
			if p.Partial {
				to, other = other, to
			}
			to[ref] = p
			delete(other, ref)
		}
		for ref, m := range lay.models {
			c.Models[ref] = m.over(c.Models[ref])
		}
	}
	c.Agents = l.mergeAgents()
	c.Providers = l.resolveProviders(named, origins)
	c.Ollama.Key = l.ollamaKey(c.Ollama.Host)
	c.Search.Key = l.searchKey(c.Search.Address)
	if c.Color == "auto" && l.env("NO_COLOR") != "" {
		c.Color, origins["color"] = "never", []Origin{{Kind: FromEnvironment, Name: "NO_COLOR"}}
	}
	c.origins = origins
	return c
}

// defaultOf reads a setting's default from the table, by the same parser that
// reads everyone else's.
func defaultOf(s setting) (any, bool) {
	if s.Default == "" {
		return nil, false
	}
	if s.kind.word != nil {
		return s.kind.word(s.Default)
	}
	value, err := s.kind.parse(s.Default)
	return value, err == nil
}

// settingsOf reads the settings out of viper.
func settingsOf(v *viper.Viper) *Config {
	tools, _ := v.Get("tools").(Tools)
	network, _ := v.Get("run_command.network").(Network)
	return &Config{
		Model:     v.GetString("model"),
		Fallback:  v.GetStringSlice("fallback"),
		System:    v.GetString("system"),
		Agent:     v.GetString("agent"),
		Embedding: v.GetString("embedding"),
		Color:     v.GetString("color"),
		Ollama: Ollama{
			Host:      v.GetString("ollama.host"),
			NumCtx:    v.GetInt("ollama.num_ctx"),
			MaxNumCtx: v.GetInt("ollama.max_num_ctx"),
		},
		Tools: tools,
		RunCommand: RunCommand{
			Sandbox:  v.GetString("run_command.sandbox"),
			Network:  network,
			Env:      v.GetStringSlice("run_command.env"),
			Readable: v.GetStringSlice("run_command.readable"),
			Git:      v.GetString("run_command.git"),
			Timeout:  v.GetDuration("run_command.timeout"),
		},
		Search: Search{
			Provider: v.GetString("search.provider"),
			Address:  v.GetString("search.address"),
		},
		Limits: Limits{
			MaxSteps:      v.GetInt("limits.max_steps"),
			MaxHandoffs:   v.GetInt("limits.max_handoffs"),
			MaxRepeats:    v.GetInt("limits.max_repeats"),
			MaxFailures:   v.GetInt("limits.max_failures"),
			Timeout:       v.GetDuration("limits.timeout"),
			FirstByte:     v.GetDuration("limits.first_byte"),
			BetweenChunks: v.GetDuration("limits.between_chunks"),
			StdinBytes:    v.GetInt64("limits.stdin_bytes"),
			KeptFile:      v.GetInt64("limits.kept_file"),
			ChatFiles:     v.GetInt64("limits.chat_files"),
			AllFiles:      v.GetInt64("limits.all_files"),
			FileBytes:     v.GetInt64("limits.file_bytes"),
		},
		Approvals:          v.GetString("approvals"),
		FoldersFromOutside: v.GetString("workspace.content") == "outside",
		Compact: Compact{
			Off:     v.GetString("compact.auto") == "off",
			Percent: v.GetInt("compact.percent"),
			Model:   v.GetString("compact.model"),
		},
		Retries: v.GetInt("retries"),
		Server:  v.GetString("server"),
		Python:  v.GetString("python"), RequireSandbox: v.GetString("require_sandbox") == "on",
	}
}

// rules adds up a list of rules, the strongest source's first.
func (l *loader) rules(key string, origins map[string][]Origin) []string {
	var all []string
	var from []Origin
	for _, lay := range slices.Backward(l.layers) {
		e, ok := lay.settings[key]
		if !ok {
			continue
		}
		from = append(from, e.origin)
		for _, rule := range e.value.([]string) {
			if !slices.Contains(all, rule) {
				all = append(all, rule)
			}
		}
	}
	if len(from) > 0 {
		origins[key] = from
	}
	return all
}

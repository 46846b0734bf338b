package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Entry is a key that has a value, as `config list` shows it.
type Entry struct {
	Key string
	// Value is the value for JSON: a string, a number, true or false, or a list
	// of strings. A secret is the word that stands for one.
	Value any
	// Text is the value on one line or several, as the file would hold it.
	Text string
	// Secret tells that the value isn't shown.
	Secret  bool
	Origins []Origin
}

// Entries lists the keys that have a value: the table's first, in its order,
// then providers, models, agents and prices by name.
func (c *Config) Entries() []Entry {
	var out []Entry
	for _, s := range table() {
		if _, ok := c.origins[s.Key]; ok {
			out = append(out, c.entry(s.Key, c.setting(s.Key)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		out = append(out, c.providerEntries("providers."+name, c.Providers[name])...)
	}
	for _, ref := range slices.Sorted(maps.Keys(c.Models)) {
		out = append(out, c.modelEntries("models."+ref, c.Models[ref])...)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		out = append(out, c.agentEntries("agents."+id, c.Agents[id])...)
	}
	prices := maps.Clone(c.Prices)
	maps.Copy(prices, c.partial)
	for _, ref := range slices.Sorted(maps.Keys(prices)) {
		p, key := prices[ref], "prices."+ref+"."
		for _, name := range priceFields() {
			_, ok := c.origins[key+name]
			if name == "cache_write" && p.CacheWrite == nil {
				ok = false // it was set where another price now stands in its place
			}
			if ok {
				out = append(out, c.entry(key+name, p.field(name)))
			}
		}
	}
	return out
}

// ProfileEntries lists what the profiles hold, in force or not, with
// `profiles.NAME.` in front of the keys.
func (c *Config) ProfileEntries() []Entry {
	var out []Entry
	for _, name := range c.Profiles {
		l := loader{}
		for _, f := range c.sources {
			if p, ok := f.profiles[name]; ok {
				l.layers = append(l.layers, p.layers(f.trusted)...)
			}
		}
		for _, e := range l.merge().Entries() {
			if e.Origins[0].Kind != FromDefault {
				e.Key = "profiles." + name + "." + e.Key
				out = append(out, e)
			}
		}
	}
	return out
}

// Entry is the entry of one key.
func (c *Config) Entry(key string) (Entry, bool) {
	all := c.Entries()
	if strings.HasPrefix(key, "profiles.") {
		all = c.ProfileEntries()
	}
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Key == key })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}

func (c *Config) entry(key string, value any) Entry {
	e := Entry{Key: key, Value: value, Origins: c.Origins(key)}
	switch v := value.(type) {
	case Secret:
		e.Secret, e.Value, e.Text = true, redacted, redacted
	case time.Duration:
		e.Text = short(v)
		e.Value = e.Text
	case int64:
		e.Text = FormatSize(v)
		e.Value = e.Text
	case provider.Known:
		e.Value = v == provider.Yes
		e.Text = plainText(e.Value)
	case interface{ setting() any }: // tools and networks
		e.Value = v.setting()
		e.Text = plainText(e.Value)
	case []string:
		e.Value = append([]string{}, v...)
		e.Text = plainText(v)
	default:
		e.Text = plainText(v)
	}
	return e
}

// setting is a value of the table, by its key.
func (c *Config) setting(key string) any {
	if strings.HasPrefix(key, "limits.") {
		return c.Limits.setting(key)
	}
	switch key {
	case "model":
		return c.Model
	case "fallback":
		return c.Fallback
	case "system":
		return c.System
	case "agent":
		return c.Agent
	case "embedding":
		return c.Embedding
	case "profile":
		return c.Profile
	case "color":
		return c.Color
	case "ollama.host":
		return c.Ollama.Host
	case "ollama.num_ctx":
		return c.Ollama.NumCtx
	case "ollama.max_num_ctx":
		return c.Ollama.MaxNumCtx
	case "tools":
		return c.Tools
	case "allow":
		return c.Allow
	case "approvals":
		return c.Approvals
	case "deny":
		return c.Deny
	case "ask":
		return c.Ask
	case "run_command.sandbox":
		return c.RunCommand.Sandbox
	case "run_command.network":
		return c.RunCommand.Network
	case "run_command.env":
		return c.RunCommand.Env
	case "run_command.readable":
		return c.RunCommand.Readable
	case "workspace.content":
		if c.FoldersFromOutside {
			return "outside"
		}
		return "yours"
	case "run_command.git":
		return c.RunCommand.Git
	case "run_command.timeout":
		return c.RunCommand.Timeout
	case "search.provider":
		return c.Search.Provider
	case "search.address":
		return c.Search.Address
	case "compact.auto":
		if c.Compact.Off {
			return "off"
		}
		return "on"
	case "compact.percent":
		return c.Compact.Percent
	case "compact.model":
		return c.Compact.Model
	case "retries":
		return c.Retries
	case "server":
		return c.Server
	case "python":
		return c.Python
	case "require_sandbox":
		if c.RequireSandbox {
			return "on"
		}
		return "off"
	}
	return nil
}

// setting is the tools as the file would have them.
func (t Tools) setting() any {
	switch {
	case !t.Enabled:
		return "off"
	case len(t.Globs) == 0:
		return "on"
	}
	return slices.Clone(t.Globs)
}

func (c *Config) providerEntries(key string, p Provider) []Entry {
	var out []Entry
	add := func(name string, value any) {
		if _, ok := c.origins[key+"."+name]; ok {
			out = append(out, c.entry(key+"."+name, value))
		}
	}
	add("type", p.Type)
	add("api", p.API)
	add("base_url", p.BaseURL)
	add("key_env", p.KeyEnv)
	if p.KeyCommand != "" {
		// A command may hold a token, and is no key: it is shown before it is
		// run, and nowhere else.
		e := c.entry(key+".key", "a command")
		e.Secret = true
		out = append(out, e)
	} else if !p.Key.Empty() {
		add("key", p.Key)
	}
	add("agents", p.Agents)
	for _, field := range additionFields() {
		for _, name := range slices.Sorted(maps.Keys(*p.additions(field))) {
			add(field+"."+name, (*p.additions(field))[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Models)) {
		out = append(out, c.modelEntries(key+".models."+name, p.Models[name])...)
	}
	return out
}

func (c *Config) modelEntries(key string, m Model) []Entry {
	var out []Entry
	for _, name := range modelFields() {
		if _, ok := c.origins[key+"."+name]; !ok {
			continue
		}
		out = append(out, c.entry(key+"."+name, m.field(name)))
	}
	return out
}

// field is a price's field as the file would have it.
func (p Price) field(name string) string {
	amount := p.Cached
	switch name {
	case "currency":
		return p.Currency
	case "input":
		amount = p.Input
	case "output":
		amount = p.Output
	case "cache_write":
		amount = *p.CacheWrite // asked for only where it is set
	}
	return amount.String()
}

// plainText is a value as a line of text; a list has commas.
func plainText(v any) string {
	if list, ok := v.([]string); ok {
		return strings.Join(list, ", ")
	}
	return fmt.Sprint(v)
}

// setting is a value of the section limits.
func (l Limits) setting(key string) any {
	switch key {
	case "limits.max_steps":
		return l.MaxSteps
	case "limits.max_handoffs":
		return l.MaxHandoffs
	case "limits.max_repeats":
		return l.MaxRepeats
	case "limits.max_failures":
		return l.MaxFailures
	case "limits.timeout":
		return l.Timeout
	case "limits.first_byte":
		return l.FirstByte
	case "limits.between_chunks":
		return l.BetweenChunks
	case "limits.stdin_bytes":
		return l.StdinBytes
	case "limits.kept_file":
		return l.KeptFile
	case "limits.chat_files":
		return l.ChatFiles
	case "limits.all_files":
		return l.AllFiles
	case "limits.file_bytes":
		return l.FileBytes
	}
	return nil
}

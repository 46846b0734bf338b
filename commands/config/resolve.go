package config

import (
	"cmp"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// resolveProviders fills in what is built in, and what the environment says.
func (l *loader) resolveProviders(named map[string]Provider, origins map[string][]Origin) map[string]Provider {
	out := maps.Clone(named)
	for _, b := range builtins() {
		if _, ok := out[b.name]; !ok {
			out[b.name] = newProvider(b.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		p := out[name]
		if b, ok := builtinOf(name, p.Type); ok {
			l.builtin(&p, b, origins)
		}
		p.Type = cmp.Or(p.Type, TypeOpenAI)
		l.key(&p, origins)
		l.warnClear(p)
		out[name] = p
	}
	return out
}

// builtin fills in what is known of a builtin provider.
func (l *loader) builtin(p *Provider, b builtin, origins map[string][]Origin) {
	p.Type, p.KeyEnv = b.kind, cmp.Or(p.KeyEnv, b.keyEnv)
	key := "providers." + b.name + ".base_url"
	if text := l.env(b.urlEnv); text != "" {
		address, err := parseBaseURL(text)
		if err != nil {
			l.sink.add(Problem{Source: b.urlEnv, Key: key, Msg: err.Error()})
		}
		p.BaseURL, origins[key] = address, []Origin{{Kind: FromEnvironment, Name: b.urlEnv}}
	}
	if p.BaseURL == "" {
		p.BaseURL, origins[key] = b.address, []Origin{{Kind: FromDefault}}
	}
	p.Default = p.BaseURL == b.address
}

// key takes a provider's key from its variable, if that is set. A variable that
// can't be a key is passed over with a warning: it may hold a placeholder for a
// provider that nobody is asking, and the others must go on working.
func (l *loader) key(p *Provider, origins map[string][]Origin) {
	if p.KeyEnv == "" {
		return
	}
	text := l.env(p.KeyEnv)
	if text == "" {
		return
	}
	key := "providers." + p.Name + ".key"
	value, err := parseKey(text)
	if err != nil {
		l.sink.add(Problem{Source: p.KeyEnv, Key: key, Warning: true, Msg: "not used as the key of " + p.Name + ": " + err.Error()})
		return
	}
	p.Key, p.KeyCommand = NewSecret(value), ""
	origins[key] = []Origin{{Kind: FromEnvironment, Name: p.KeyEnv}}
}

// ollamaKey is the key for Ollama, which has no other place in the
// configuration than its variable.
func (l *loader) ollamaKey(host string) Secret {
	p := Provider{Name: "ollama", BaseURL: host, KeyEnv: ollamaKeyEnv}
	l.key(&p, map[string][]Origin{})
	l.warnClear(p)
	return p.Key
}

// searchKey is the key for web_search's service, which like Ollama's is in no
// file.
func (l *loader) searchKey(address string) Secret {
	p := Provider{Name: searchName, BaseURL: address, KeyEnv: searchKeyEnv}
	l.key(&p, map[string][]Origin{})
	l.warnClear(p)
	return p.Key
}

// warnClear warns of a key that would cross a network unencrypted.
func (l *loader) warnClear(p Provider) {
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.Scheme != "http" || p.Key.Empty() && p.KeyCommand == "" || onThisNet(u.Hostname()) {
		return
	}
	key := "providers." + p.Name + ".base_url"
	switch p.Name {
	case "ollama":
		key = "ollama.host"
	case searchName:
		key = "search.address"
	}
	l.sink.add(Problem{
		Source: key, Key: key, Warning: true,
		Msg: "the key is sent to " + u.Hostname() + " without encryption; use https",
	})
}

// onThisNet tells whether a host is this machine or one of a private network.
func onThisNet(host string) bool {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost" || strings.HasSuffix(host, ".localhost") || !strings.Contains(host, ".") ||
			strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".lan")
	}
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}

package permission

import (
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/idna"
)

// address is an address's parts, each in its one spelling.
type address struct {
	scheme, host, port string
	path               string // decoded where the encoding means nothing, not cleaned
	clean              string // without dots and doubled slashes
	query              string // with its question mark; empty without one
	user               bool   // it holds a user name or password
}

// addressOf parses a value that is an address with a host. Anything else is compared as a
// text.
func addressOf(value string) (address, bool) {
	u, err := url.Parse(strings.TrimSpace(value))
	if err != nil || u.Host == "" || u.Scheme == "" || strings.EqualFold(u.Scheme, "file") {
		return address{}, false
	}
	a := address{scheme: strings.ToLower(u.Scheme), host: hostName(u.Hostname()), port: u.Port(), user: u.User != nil, path: u.EscapedPath()}
	if a.port == defaultPort(a.scheme) {
		a.port = ""
	}
	if a.path == "" {
		a.path = "/"
	}
	a.clean = path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && a.clean != "/" {
		a.clean += "/"
	}
	if u.RawQuery != "" || u.ForceQuery {
		a.query = "?" + u.RawQuery
	}
	return a, true
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	}
	return ""
}

// hostName returns the one spelling of a host: lower case, without a dot at the end,
// international names in ASCII.
func hostName(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

// text returns the address as a remembered rule has it.
func (a address) text() string {
	host := a.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.port != "" {
		host += ":" + a.port
	}
	return a.scheme + "://" + host + a.path + a.query
}

// matches compares part by part, so that a wildcard of the host stays within the host.
func (a address) matches(glob, value string, s side) bool {
	parts, ok := splitAddressGlob(glob)
	if s == prohibits {
		return match(glob, value) || match(glob, a.text()) || ok && a.concerns(parts)
	}
	if glob == "**" {
		return true
	}
	return ok && !a.user && parts.scheme != "" && match(parts.scheme, a.scheme) && a.atHost(parts) &&
		match(parts.path, a.path+a.query) && match(parts.path, a.clean+a.query)
}

// concerns reports whether a rule that denies or asks is about an address. One without a
// path is about the whole host, one without a port about each.
func (a address) concerns(g addressGlob) bool {
	if g.scheme != "" && !match(g.scheme, a.scheme) {
		return false
	}
	if g.port == "" {
		a.port = ""
	}
	return a.atHost(g) && (g.path == "/" || match(g.path, a.path+a.query) || match(g.path, a.clean+a.query) || match(g.path, a.clean))
}

func (a address) atHost(g addressGlob) bool {
	port := g.port
	if port == defaultPort(a.scheme) {
		port = ""
	}
	return match(g.host, a.host) && match(port, a.port)
}

// addressGlob is a rule's glob in the parts of an address.
type addressGlob struct{ scheme, host, port, path string }

// splitAddressGlob splits a glob such as https://*.example.com/docs/**. One without a
// scheme begins with the host.
func splitAddressGlob(glob string) (addressGlob, bool) {
	var g addressGlob
	rest := glob
	if scheme, after, ok := strings.Cut(glob, "://"); ok {
		g.scheme, rest = strings.ToLower(scheme), after
	}
	g.host, g.path = rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		g.host, g.path = rest[:i], rest[i:]
	} else if rest == "**" {
		g.path = "/**"
	}
	g.path, _, _ = strings.Cut(g.path, "#")
	if i := strings.LastIndexByte(g.host, ':'); i >= 0 && !strings.HasSuffix(g.host, "]") {
		g.host, g.port = g.host[:i], g.host[i+1:]
	}
	if inner, ok := strings.CutPrefix(g.host, "["); ok && strings.HasSuffix(inner, "]") { // IPv6
		g.host = strings.TrimSuffix(inner, "]")
	}
	if strings.ContainsAny(g.host, `*?[{\`) {
		g.host = strings.ToLower(strings.TrimSuffix(g.host, "."))
	} else {
		g.host = hostName(g.host)
	}
	return g, g.host != ""
}

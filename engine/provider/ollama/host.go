package ollama

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// defaultPort is Ollama's.
const defaultPort = "11434"

// Host reads a value of OLLAMA_HOST as Ollama does: a host, host:port, URL or
// IP address with or without brackets; empty is 127.0.0.1:11434. A port that
// is none becomes the default one. Where Ollama would listen on every address
// of the machine, a client reaches it on the loopback one.
func Host(value string) *url.URL {
	value = strings.TrimSpace(value)
	port := defaultPort
	scheme, rest, ok := strings.Cut(value, "://")
	switch {
	case !ok && value == "ollama.com":
		scheme, rest = "https", "ollama.com:443"
	case !ok:
		scheme, rest = "http", value
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	}
	hostport, path, _ := strings.Cut(rest, "/")
	host, p, err := net.SplitHostPort(hostport)
	if err != nil {
		host, p = "127.0.0.1", port
		if ip := net.ParseIP(strings.Trim(hostport, "[]")); ip != nil {
			host = ip.String()
		} else if hostport != "" {
			host = hostport
		}
	}
	if n, err := strconv.ParseInt(p, 10, 32); err != nil || n < 0 || n > 65535 {
		p = port
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(reachable(host), p), Path: path}
}

// reachable turns an address to listen on into one to call.
func reachable(host string) string {
	switch ip := net.ParseIP(host); {
	case host == "":
		return "127.0.0.1"
	case ip == nil || !ip.IsUnspecified():
		return host
	case ip.To4() != nil:
		return "127.0.0.1"
	}
	return "::1"
}

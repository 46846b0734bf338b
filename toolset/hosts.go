package toolset

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// CheckHost tells whether a text names a host for [NetworkHosts]: a name in
// ASCII, or one with `*.` before it for all names below, with a port or not.
func CheckHost(pattern string) error {
	host, port := splitHost(pattern)
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		return fmt.Errorf("host %q: %q is no port", pattern, port)
	}
	name, _ := strings.CutPrefix(host, "*.")
	if net.ParseIP(name) != nil && name == host {
		return nil
	}
	if name == "" || len(name) > 253 || (name != host && !strings.Contains(name, ".")) {
		return fmt.Errorf("host %q: want a name such as api.example.com or *.example.com", pattern)
	}
	for _, label := range strings.Split(name, ".") {
		if !hostLabel(label) {
			return fmt.Errorf("host %q: want a name such as api.example.com or *.example.com", pattern)
		}
	}
	return nil
}

func hostLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return strings.IndexFunc(label, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// splitHost takes the port off; an IPv6 address has one only in brackets.
func splitHost(s string) (host, port string) {
	if h, p, err := net.SplitHostPort(s); err == nil {
		return h, p
	}
	return strings.Trim(s, "[]"), ""
}

// AllowsHost tells whether a policy lets a tool connect to a host and port.
// One that names no port means those of HTTP and HTTPS.
func (p Policy) AllowsHost(host string, port int) bool {
	if p.Network != NetworkHosts {
		return p.Network == NetworkAll
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, pattern := range p.Hosts {
		name, wanted := splitHost(strings.ToLower(pattern))
		if wanted == "" && port != 443 && port != 80 || wanted != "" && wanted != strconv.Itoa(port) {
			continue
		}
		if below, ok := strings.CutPrefix(name, "*"); ok && strings.HasSuffix(host, below) && len(host) > len(below) || name == host {
			return true
		}
	}
	return false
}

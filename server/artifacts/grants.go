package artifacts

import (
	"strings"

	"github.com/fettle-cli/fettle/internal/netguard"
)

// AncestorOf is a host as a policy has it. No IPv6 address has a place in one, and so
// its scheme stands there: the proxy listens to the host alone in any case.
func AncestorOf(host string) string {
	scheme, rest, _ := strings.Cut(host, "://")
	if strings.HasPrefix(rest, "[") {
		return scheme + ":"
	}
	return host
}

// OrNoneOf is a list of origins as a policy has it.
func OrNoneOf(origins []string) string {
	if len(origins) == 0 {
		return "'none'"
	}
	return strings.Join(origins, " ")
}

// maxGranted bounds the origins of one kind.
const maxGranted = 32

// GrantOrigins keeps those origins of a stranger's list that a policy may hold: public
// hosts by https (and wss, where it connects), which may begin with *. for what is
// below them. Anything else would reach this machine or its network, or would be
// another directive.
func GrantOrigins(list []string, connects bool) []string {
	out := []string{}
	for _, text := range list {
		if origin, ok := grantOrigin(text, connects); ok && len(out) < maxGranted {
			out = append(out, origin)
		}
	}
	return out
}

func grantOrigin(text string, connects bool) (string, bool) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "https", text
	}
	if scheme != "https" && (scheme != "wss" || !connects) || len(rest) > 253 {
		return "", false
	}
	host, port, hasPort := strings.Cut(rest, ":")
	if hasPort && (port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "") {
		return "", false
	}
	name := strings.ToLower(strings.TrimPrefix(host, "*."))
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" || !strings.Contains(name, ".") || netguard.CheckHost(name) != nil {
		return "", false
	}
	out := scheme + "://" + strings.ToLower(host)
	if hasPort {
		out += ":" + port
	}
	return out, true
}

package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/idna"
)

// Error says why an address or a name may not be reached.
type Error struct {
	// Host is the name or address; Why completes "… is ".
	Host, Why string
}

// Error names the host and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%q is %s", e.Host, e.Why) }

// CheckAddr is nil for a public address.
func CheckAddr(a netip.Addr) error {
	plain := a.Unmap()
	bad := a.Zone() != "" || !plain.IsGlobalUnicast() || plain.IsPrivate() ||
		slices.ContainsFunc(reserved(), func(p netip.Prefix) bool { return p.Contains(plain) })
	if bad {
		return &Error{Host: a.String(), Why: "a private or reserved address"}
	}
	return nil
}

// reserved are the blocks that netip takes for public and nobody can serve
// from, or that hold another address (IANA's special-purpose registries).
var reserved = sync.OnceValue(func() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
})

// CheckHost is nil for a host that may be public, by reading its name: it is a
// public address, or a name with a domain that no private network uses and no
// program takes for a number. IPv6 addresses may have brackets.
func CheckHost(host string) error {
	bad := func(why string) error { return &Error{Host: host, Why: why} }
	if strings.HasPrefix(host, "[") != strings.HasSuffix(host, "]") {
		return bad("no host name")
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return CheckAddr(addr)
	}
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || ascii == "" || len(ascii) > 253 {
		return bad("no host name")
	}
	if addr, err := netip.ParseAddr(ascii); err == nil { // ①②⑦.0.0.1
		return CheckAddr(addr)
	}
	name := strings.ToLower(ascii)
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case last == "" || strings.HasPrefix(name, ".") || strings.Contains(name, "..") || strings.ContainsFunc(name, oddRune):
		return bad("no host name")
	case strings.HasPrefix(last, "0x") || strings.Trim(last, "0123456789") == "":
		return bad("a number that some programs read as an address")
	case name == "localhost" || privateSuffix(name, last):
		return bad("a name of a private network")
	case last == name:
		return bad("a name without a domain")
	case addressInName(name):
		return bad("a name that leads to the address in it")
	}
	return nil
}

func oddRune(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
}

// privateSuffix knows the domains that are never looked up in public, and the
// names by which containers and clouds call what is inside.
func privateSuffix(name, last string) bool {
	switch last {
	case "localhost", "local", "localdomain", "internal", "intranet", "private", "lan", "home", "corp", "svc", "arpa", "onion", "test", "invalid":
		return true
	}
	return name == "svc.cluster" || strings.HasSuffix(name, ".consul")
}

// addressInName knows services that answer with the address that stands in the
// name, so that reading it is enough.
func addressInName(name string) bool {
	for _, s := range []string{"nip.io", "sslip.io", "xip.io", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com"} {
		if name == s || strings.HasSuffix(name, "."+s) {
			return true
		}
	}
	return false
}

// CheckURL reads an address with one parser, the one that the client dials by,
// and is nil for one that may be public: http or https, their own ports, no
// user name, nothing that another parser would read otherwise.
func CheckURL(raw string) (*url.URL, error) {
	if len(raw) > 4<<10 {
		return nil, errors.New("the address is longer than 4 KiB")
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return nil, errors.New("an address holds no space, control character or backslash")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return nil, errors.New("it is no address")
	}
	return u, checkParsed(u)
}

func checkParsed(u *url.URL) error {
	switch port := u.Port(); {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("an address begins with https:// or http://, not %q", u.Scheme+":")
	case u.User != nil:
		return errors.New("an address holds no user name or password")
	case u.Hostname() == "":
		return errors.New("the address has no host")
	case strings.ContainsAny(u.Host, "%"):
		return &Error{Host: u.Host, Why: "no host name"}
	case port != "" && port != "80" && port != "443":
		return fmt.Errorf("port %s is not one of a public web server (80, 443)", port)
	}
	return CheckHost(u.Hostname())
}

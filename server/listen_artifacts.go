package server

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server/weborigin"
)

// artifactsExample is a command line that has both.
const artifactsExample = "fettle serve --listen 0.0.0.0:8000 --behind https://fettle.example.org --artifacts 0.0.0.0:8001 --artifacts-url https://artifacts.fettle.example.org"

// checkArtifacts refuses addresses under which strangers' pages would not be kept
// apart from the server's own, or would be found by nobody.
func (o ListenOptions) checkArtifacts() error {
	if o.Artifacts != "" {
		host, _, err := net.SplitHostPort(o.Artifacts)
		if err != nil {
			return fault.New(fault.Usage, quoted(o.Artifacts)+" is no address to listen on", fault.Run("fettle serve --artifacts 127.0.0.1:8218"))
		}
		if !weborigin.IsLoopback(host) && !o.TLS && o.ArtifactsURL == "" {
			return fault.New(fault.Usage, "others than this machine can reach "+clean(o.Artifacts)+", and pages would go over the network unencrypted", fault.Run(artifactsExample))
		}
		if o.Behind != "" && o.ArtifactsURL == "" {
			return fault.New(fault.Usage, "behind a proxy browsers don't find "+clean(o.Artifacts)+" by itself", fault.Run(artifactsExample))
		}
	}
	if o.ArtifactsURL == "" {
		return nil
	}
	u, err := proxyURL(o.ArtifactsURL)
	if err != nil {
		return fault.New(fault.Usage, quoted(o.ArtifactsURL)+" is no origin that browsers could reach artifacts at", fault.Run(artifactsExample))
	}
	if _, ok := frameOrigin(u); !ok {
		return fault.New(fault.Usage, "browsers let no page have frames of "+quoted(o.ArtifactsURL)+"; it needs a name", fault.Run(artifactsExample))
	}
	return nil
}

// apart refuses an origin of strangers' pages that the server itself goes by, or that
// it lets in.
func (l *Listening) apart(g *gate) error {
	if l.artifactOrigin != "" && (g.origins[l.artifactOrigin] || g.allow[l.artifactOrigin] || g.trust == l.artifactOrigin) {
		return fault.New(fault.Usage, "artifacts need an origin of their own, and the server has or lets in "+quoted(l.artifactOrigin), fault.Run(artifactsExample))
	}
	return nil
}

// listenArtifacts takes the address of the second listener. Where nothing says how
// browsers reach it and they could not guess, there is none: a page of a stranger's
// would have to be on the server's own origin.
func (l *Listening) listenArtifacts(o ListenOptions, host string) error {
	address := o.Artifacts
	var origin *url.URL
	switch {
	case o.ArtifactsURL != "":
		var err error
		if origin, err = proxyURL(o.ArtifactsURL); err != nil {
			return err
		}
		if address == "" {
			address = net.JoinHostPort(host, weborigin.Port(origin))
		}
	case address == "" && (l.behind != nil || isAnyHost(host) || isIPv6(host) && !weborigin.IsLoopback(host)):
		return nil
	case address == "":
		address = net.JoinHostPort(host, "0")
	}
	var err error
	if l.Artifacts, err = net.Listen("tcp", address); err != nil {
		return fault.Wrap(fault.Failed, "listen on "+clean(address)+" for artifacts", err, fault.Run("fettle serve --artifacts 127.0.0.1:0   takes a free port"))
	}
	at := l.Artifacts.Addr().String()
	if origin == nil {
		origin = &url.URL{Scheme: l.scheme(), Host: at}
	}
	var ok bool
	if l.artifactOrigin, ok = frameOrigin(origin); !ok {
		return fault.New(fault.Usage, "browsers can't be told to go to "+clean(at), fault.Run(artifactsExample))
	}
	return nil
}

// frameOrigin is an origin as the page's policy names it, whose frames may come from
// there. No IPv6 address has a place in one: this machine's goes by its name, and with
// another there is none.
func frameOrigin(u *url.URL) (string, bool) {
	host := u.Hostname()
	if isAnyHost(host) {
		return "", false
	}
	if isIPv6(host) {
		if !weborigin.IsLoopback(host) {
			return "", false
		}
		u = &url.URL{Scheme: u.Scheme, Host: net.JoinHostPort("localhost", weborigin.Port(u))}
	}
	return weborigin.Text(u), true
}

// isIPv6 tells whether a host is an IPv6 address.
func isIPv6(host string) bool { return strings.Contains(host, ":") }

// isAnyHost tells whether a host means all of a machine's addresses, and so none
// that a browser could go to.
func isAnyHost(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "" || err == nil && ip.IsUnspecified()
}

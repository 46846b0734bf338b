package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

const (
	// dialTime and headerTime bound what a server can make us wait for before
	// there is anything to show; a far one under load takes a few seconds.
	dialTime   = 15 * time.Second
	headerTime = 30 * time.Second
	// maxRedirects is what a download behind a login-free CDN takes at most.
	maxRedirects = 5
	maxHeader    = 64 << 10
)

// Client is an http.Client that reaches public hosts only. The deadline of a
// whole request is its context's.
func Client() *http.Client {
	d := &net.Dialer{Timeout: dialTime, Control: controlDial}
	t := &http.Transport{
		Proxy:                  nil, // one of the environment could be told to go anywhere
		DialContext:            (&dialer{dial: d.DialContext, lookup: net.DefaultResolver.LookupNetIP}).dialPublic,
		TLSHandshakeTimeout:    dialTime,
		ResponseHeaderTimeout:  headerTime,
		MaxResponseHeaderBytes: maxHeader,
		DisableCompression:     true, // the caller's bounds are of what it gets
		ForceAttemptHTTP2:      true,
		IdleConnTimeout:        dialTime,
		MaxIdleConns:           2,
	}
	return &http.Client{Transport: &gate{next: t}, CheckRedirect: checkRedirect}
}

// gate checks each request's address, so also that of each redirect.
type gate struct{ next http.RoundTripper }

// RoundTrip sends a request to a host that may be public.
func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := checkParsed(r.URL); err != nil {
		return nil, err
	}
	if r.Header.Get("Referer") != "" {
		r = r.Clone(r.Context())
		r.Header.Del("Referer")
	}
	return g.next.RoundTrip(r)
}

func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https" {
		return errors.New("a redirect leads from https to " + r.URL.Scheme)
	}
	return nil
}

// dialer looks a name up itself, so that one bad answer refuses the name.
type dialer struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
}

func (d *dialer) dialPublic(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if err := CheckHost(host); err != nil {
		return nil, err
	}
	addrs := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, a)
	} else if addrs, err = d.lookup(ctx, "ip", host); err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if err := CheckAddr(a); err != nil {
			return nil, fmt.Errorf("look up %s: %w", host, err)
		}
	}
	var errs []error
	for _, a := range addrs {
		conn, err := d.dial(ctx, network, net.JoinHostPort(a.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("look up %s: no address", host)
	}
	return nil, errors.Join(errs...)
}

// controlDial is the last look, at the very address that is connected to.
func controlDial(_, address string, _ syscall.RawConn) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return fmt.Errorf("dial %s: not an address", host)
	}
	if port != "80" && port != "443" {
		return fmt.Errorf("dial port %s: not one of a public web server", port)
	}
	return CheckAddr(a)
}

package weborigin

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"
)

// Read reads an http address that is an origin alone.
func Read(address string) (*url.URL, bool) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(u.Host, "*\"' ") ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, false
	}
	return u, true
}

// Text is an origin as browsers write it.
func Text(u *url.URL) string { return u.Scheme + "://" + Host(u) }

// Host is its host, without the port that goes without saying.
func Host(u *url.URL) string {
	return strings.TrimSuffix(strings.ToLower(u.Host), ":"+standardPort(u.Scheme))
}

func standardPort(scheme string) string {
	return map[string]string{"http": "80", "https": "443"}[scheme]
}

// Port is the port of an address, which its scheme may say.
func Port(u *url.URL) string { return cmp.Or(u.Port(), standardPort(u.Scheme)) }

// IsLoopback tells whether only this machine reaches a host.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

package netguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
)

// Dial connects to a public host on any port, for a process that was granted
// that host: its name is looked up and each answer checked as for [Client], but
// which port it serves on is for whoever granted it.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTime, Control: controlAddress}
	return (&dialer{dial: d.DialContext, lookup: net.DefaultResolver.LookupNetIP}).dialPublic(ctx, network, address)
}

// controlAddress looks at the very address that is connected to.
func controlAddress(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return errors.New("dial " + host + ": not an address")
	}
	return CheckAddr(a)
}

package netguard

import (
	"errors"
	"net"
	"testing"
)

func TestDialRefusesWhatIsNotPublic(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "::1", "10.0.0.1", "169.254.169.254", "router.lan"} {
		conn, err := Dial(t.Context(), "tcp", net.JoinHostPort(host, port))
		var refused *Error
		if err == nil {
			conn.Close()
		}
		if !errors.As(err, &refused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := controlAddress("tcp", "93.184.216.34:8080", nil); err != nil {
		t.Error(err)
	}
	if err := controlAddress("tcp", "127.0.0.1:80", nil); err == nil {
		t.Error("loopback is dialled")
	}
}

package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/server"
)

// checkTime bounds the question whether a server is ready: it looks at its store.
const checkTime = 5 * time.Second

// runCheck asks the server of the data directory whether turns can begin, as a
// container's health check does, and may print its address with its token.
func runCheck(ctx context.Context, rt *workbench.Runtime, printURL bool) error {
	dirs, err := rt.Dirs()
	if err != nil {
		return err
	}
	note, err := server.ReadNote(dirs.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Unavailable, "no fettle serve runs on "+dirs.Data, fault.Run("fettle serve"))
	}
	if err != nil {
		return fault.Wrap(fault.Store, "read where the server is", err)
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	status, err := askReady(ctx, note)
	at := term.Clean(cmp.Or(note.URL, note.Address))
	where := fmt.Sprintf("fettle serve, pid %d, at %s", note.PID, at)
	switch {
	case err != nil:
		return fault.Wrap(fault.Unavailable, where+" doesn't answer", err, fault.Run("fettle serve"))
	case status != http.StatusOK:
		return fault.New(fault.Unavailable, where+" takes no turns now", fault.Run("fettle serve --check   a little later"))
	}
	if !printURL {
		rt.Streams.Out.Printf("%s is ready\n", where)
		return nil
	}
	token, err := server.Token(dirs.Data)
	if err != nil {
		return fault.Wrap(fault.Store, "read the token", err)
	}
	rt.Streams.Out.Printf("%s/#token=%s\n", at, token)
	return nil
}

// askReady asks by the socket, where there is one, else at the address. No token is
// sent, so it doesn't matter who answers there: a certificate for another name than
// this machine's is as good as any.
func askReady(ctx context.Context, note server.Note) (int, error) {
	u, err := url.Parse(note.Address)
	if err != nil {
		return 0, err
	}
	network, address := "tcp", u.Host
	host := u.Host // that the server goes by
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		address = net.JoinHostPort("localhost", u.Port())
	}
	if note.Socket != "" {
		network, address, u.Scheme = "unix", note.Socket, "http"
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // see above
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Scheme+"://"+host+"/readyz", nil)
	if err != nil {
		return 0, err
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

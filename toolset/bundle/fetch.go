package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/fettle-cli/fettle/internal/netguard"
)

const (
	// fetchTime is what 256 MiB take at seven megabits a second.
	fetchTime = 5 * time.Minute
	// idleTime is how long a server may say nothing in between.
	idleTime = 60 * time.Second
)

// Fetch downloads a bundle from an https address and opens it. The address is
// kept as the source's reference, as it was given.
func Fetch(ctx context.Context, address string, o Options) (*Bundle, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, refuse(Address, "", "%s is no address", Printable(address))
	case u.Scheme != "https":
		return nil, refuse(Address, "", "a bundle is fetched by https, not by %s", Printable(u.Scheme))
	case u.User != nil:
		return nil, refuse(Address, "", "an address holds no user name or password")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, errors.New("the download took too long"))
	defer cancel()
	tmp, remove, err := o.Temporaries.TempFile(o.TempDir, "fettle-bundle-", ".download")
	if err != nil {
		return nil, fmt.Errorf("fetch bundle: %w", err)
	}
	if err := download(ctx, u, tmp, o); err != nil {
		return nil, errors.Join(fmt.Errorf("fetch %s: %w", Printable(address), err), remove())
	}
	b, err := openFile(ctx, tmp, o)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	b.cleanup = append(b.cleanup, remove)
	b.Source = Source{Type: FromURL, Ref: address}
	return b, nil
}

func download(ctx context.Context, u *url.URL, to io.Writer, o Options) error {
	client := o.Client
	if client == nil {
		client = netguard.Client()
		defer client.CloseIdleConnections()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/zip, application/gzip, application/octet-stream")
	res, err := client.Do(req)
	if err != nil {
		var notPublic *netguard.Error
		if errors.As(err, &notPublic) {
			return &Error{Code: Address, Msg: "the address may not be reached", Err: notPublic}
		}
		return cause(ctx, err)
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("the server answers %s", Printable(res.Status))
	case res.ContentLength > maxArchive:
		return refuse(Size, "", "it has %d bytes; %d are allowed", res.ContentLength, int64(maxArchive))
	}
	idle := time.AfterFunc(idleTime, func() { cancel(errors.New("the server said nothing for a minute")) })
	defer idle.Stop()
	body := &watched{from: res.Body, idle: idle, total: max(res.ContentLength, 0), progress: o.Progress}
	n, err := io.Copy(to, io.LimitReader(body, maxArchive+1))
	switch {
	case err != nil:
		return cause(ctx, err)
	case n > maxArchive:
		return refuse(Size, "", "it has more than %d bytes", int64(maxArchive))
	}
	return nil
}

// cause prefers our reason for stopping to the error that followed from it.
func cause(ctx context.Context, err error) error {
	if why := context.Cause(ctx); why != nil {
		return why
	}
	return err
}

// watched tells that bytes come, and how many.
type watched struct {
	from        io.Reader
	idle        *time.Timer
	done, total int64
	progress    func(done, total int64)
}

// Read passes bytes on.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if n > 0 {
		w.idle.Reset(idleTime)
		w.done += int64(n)
		if w.progress != nil {
			w.progress(w.done, w.total)
		}
	}
	return n, err
}

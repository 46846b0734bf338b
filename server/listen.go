package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/atomicfile"
	"github.com/fettle-cli/fettle/internal/lockfile"
	"github.com/fettle-cli/fettle/server/weborigin"
)

// DefaultAddress is where pages and editors look: an address of this machine alone,
// and always the same one.
const DefaultAddress = "127.0.0.1:8217"

// ListenOptions say where a server is reached.
type ListenOptions struct {
	// Address is host:port; port 0 takes any that is free. TCP is a listener that
	// is there already, in its place.
	Address string
	TCP     net.Listener
	// DataDir is whose server it is: there is one at a time.
	DataDir string
	// RuntimeDir is the folder of the Unix socket; empty has none.
	RuntimeDir string
	// TLS says that Run is given a certificate, Behind the address of a reverse
	// proxy that has one, or is on this machine alone. An address that others than this machine reach needs
	// one of the two.
	TLS    bool
	Behind string
	// Artifacts is the address of the second listener, which has nothing but
	// strangers' pages; empty is a free port beside the first one, where browsers
	// can reach that. ArtifactsURL is how browsers reach it, where that is another
	// way: by a proxy, or the published port of a container.
	Artifacts, ArtifactsURL string
}

// Listening are the listeners of one server, and the right to be it.
type Listening struct {
	TCP net.Listener
	// Unix is nil where there is no socket; NoUnix is why.
	Unix   net.Listener
	NoUnix error
	// Artifacts is the listener of strangers' pages, another origin than the
	// server's own; nil where browsers would not find it.
	Artifacts      net.Listener
	artifactOrigin string // that browsers have for it
	tls            bool
	behind         *url.URL
	let            func()
	removeFolder   func() error // removes the folder of the socket; nil where that stays
}

// Listen takes the addresses. They are let go of by Run, or by Close.
func Listen(o ListenOptions) (l *Listening, err error) {
	l = &Listening{tls: o.TLS}
	if o.TCP != nil {
		o.Address = o.TCP.Addr().String()
	}
	if o.Behind != "" {
		if l.behind, err = proxyURL(o.Behind); err != nil {
			return nil, err
		}
	}
	if err := o.checkArtifacts(); err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fault.New(fault.Usage, quoted(o.Address)+" is no address to listen on", fault.Run("fettle serve --listen 127.0.0.1:0"))
	}
	if !weborigin.IsLoopback(host) && !o.TLS && l.behind == nil {
		return nil, fault.New(fault.Usage, "others than this machine can reach "+clean(o.Address)+", and the token would go over the network unencrypted",
			fault.Run("fettle serve --listen 127.0.0.1:0"), fault.Run("fettle serve --listen "+clean(o.Address)+" --tls-cert FILE --tls-key FILE"),
			fault.Run("fettle serve --listen "+clean(o.Address)+" --behind https://HOST, where a reverse proxy has the certificate"))
	}
	if l.let, err = takeServing(o.DataDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.TCP = o.TCP; l.TCP == nil {
		if l.TCP, err = net.Listen("tcp", o.Address); err != nil {
			return l, listenFault(o.Address, err)
		}
	}
	if err = l.listenArtifacts(o, host); err != nil {
		return l, err
	}
	own := &gate{hosts: map[string]bool{}, origins: map[string]bool{}}
	l.name(own)
	if err = l.apart(own); err != nil {
		return l, err
	}
	if o.RuntimeDir != "" {
		l.NoUnix = l.socket(o)
	}
	return l, nil
}

func listenFault(address string, err error) error {
	return fault.Wrap(fault.Failed, "listen on "+clean(address), err, fault.Run("fettle serve --listen 127.0.0.1:0   takes a free port"))
}

// takeServing makes sure that a data directory has one server.
func takeServing(dataDir string) (func(), error) {
	dir := filepath.Join(dataDir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(fault.Store, "make the folder of locks", err)
	}
	let, ok, err := lockfile.Try(filepath.Join(dir, "serve"))
	if err != nil {
		return nil, fault.Wrap(fault.Store, "take the lock of fettle serve", err)
	}
	if !ok {
		f := fault.New(fault.Busy, "fettle serve runs already", fault.Run("export FETTLE_DATA=DIR   for one with other data"))
		if note, err := ReadNote(dataDir); err == nil {
			f.Msg = fmt.Sprintf("fettle serve runs already, pid %d, at %s", note.PID, clean(note.Address))
		}
		return nil, f
	}
	return let, nil
}

// maxSocketPath is the shortest of the systems' bounds for a socket's path.
const maxSocketPath = 100

// socketPath is the path of the socket of a data directory's server; "" without a folder
// for it.
func socketPath(dataDir, runtimeDir string) string {
	if runtimeDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dataDir))
	return filepath.Join(runtimeDir, "serve-"+hex.EncodeToString(sum[:4])+".sock")
}

// socket makes the Unix socket: in a folder that only the user can enter.
func (l *Listening) socket(o ListenOptions) error {
	if runtime.GOOS == "windows" {
		return errors.New("the permissions of a socket keep nobody out on Windows")
	}
	path := socketPath(o.DataDir, o.RuntimeDir)
	if err := os.MkdirAll(o.RuntimeDir, 0o700); err != nil {
		return err
	}
	if len(path) > maxSocketPath {
		dir, remove, err := atomicfile.OpenLedger(o.DataDir).TempDir("", "fettle-")
		if err != nil {
			return err
		}
		l.removeFolder, path = remove, filepath.Join(dir, "s")
	} else if err := private(o.RuntimeDir); err != nil {
		return err
	}
	// Whoever had it is dead: this process holds the lock of servers.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	unix, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	l.Unix = unix
	return os.Chmod(path, 0o600)
}

// private takes the access of others from a folder of ours.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// Close lets go of what Run was not given.
func (l *Listening) Close() error {
	var errs []error
	for _, each := range []net.Listener{l.TCP, l.Unix, l.Artifacts} {
		if each != nil {
			if err := each.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				errs = append(errs, err)
			}
		}
	}
	if l.removeFolder != nil {
		errs = append(errs, l.removeFolder())
	}
	l.let()
	return errors.Join(errs...)
}

// scheme is how a client of the address speaks.
func (l *Listening) scheme() string {
	if l.tls {
		return "https"
	}
	return "http"
}

// URL is the address of the server, without its token: that which a proxy
// publishes, else its own.
func (l *Listening) URL() string {
	if l.behind != nil {
		return l.behind.String()
	}
	return l.local()
}

// local is the address on this machine.
func (l *Listening) local() string { return l.scheme() + "://" + l.TCP.Addr().String() }

// name tells the gate under which names the server is reached.
func (l *Listening) name(g *gate) {
	address := l.TCP.Addr().String()
	_, port, _ := net.SplitHostPort(address) // of a listener, so it has both
	names := []string{address}
	if host, _, _ := net.SplitHostPort(address); weborigin.IsLoopback(host) {
		for _, name := range loopbackNames() {
			names = append(names, name+":"+port)
		}
	}
	for _, name := range names {
		g.addHost(l.scheme(), name)
		if standard := map[string]string{"http": "80", "https": "443"}; standard[l.scheme()] == port {
			g.addHost(l.scheme(), strings.TrimSuffix(name, ":"+port))
		}
	}
	if l.behind != nil {
		g.addHost(l.behind.Scheme, l.behind.Host)
		if l.behind.Port() == "" { // some proxies say the port that goes without saying
			g.hosts[l.behind.Host+":"+weborigin.Port(l.behind)] = true
		}
		if host := l.behind.Hostname(); weborigin.IsLoopback(host) {
			for _, name := range loopbackNames() {
				g.addHost(l.behind.Scheme, strings.TrimSuffix(name+":"+l.behind.Port(), ":"))
			}
		}
	}
}

// loopbackNames are the names of this machine for itself.
func loopbackNames() []string { return []string{"127.0.0.1", "localhost", "[::1]"} }

// proxyURL reads the address of a reverse proxy. One that has no certificate may be
// on this machine alone, as the published port of a container is.
func proxyURL(address string) (*url.URL, error) {
	u, ok := weborigin.Read(address)
	if !ok {
		return nil, fault.New(fault.Usage, quoted(address)+" is no address of a reverse proxy", fault.Run("fettle serve --behind https://fettle.example.org"))
	}
	if !TokenSafe(u) {
		return nil, fault.New(fault.Usage, quoted(address)+" has no certificate, and the token would go over the network unencrypted",
			fault.Run("fettle serve --behind https://"+clean(u.Host)))
	}
	u.Path, u.Host = "", weborigin.Host(u)
	return u, nil
}

// TokenSafe tells whether a token may go to an address: it is encrypted, or stays
// on this machine.
func TokenSafe(u *url.URL) bool { return u.Scheme == "https" || weborigin.IsLoopback(u.Hostname()) }

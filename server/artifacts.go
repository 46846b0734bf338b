package server

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// artifactTime is how long the address of a page lasts: a page that is shown
	// loads at once, and asks for another address when it is shown again.
	artifactTime = 5 * time.Minute
	// maxArtifacts and maxArtifactBytes bound what waits to be shown, in pages and
	// bytes; the oldest give way.
	maxArtifacts     = 256
	maxArtifactBytes = 64 << 20
	// artifactPath begins their addresses.
	artifactPath = "/a/"
)

// artifacts are strangers' pages under addresses that nobody can guess, on a
// listener of their own: another origin, so that what runs in them reaches nothing
// of this server. No token is taken there, nothing is listed, and there is nothing
// else.
type artifacts struct {
	mu     sync.Mutex
	now    func() time.Time
	origin string // that browsers reach it by; empty where there is none
	host   string // of the origin, as the header Host has it
	pages  map[string]*artifact
	order  []string // by age
	size   int

	services *forwards // the other thing that the listener has
}

// artifact is one page, with the policy that it is shown under.
type artifact struct {
	page    []byte
	policy  string
	expires time.Time
}

func newArtifacts(now func() time.Time) *artifacts {
	return &artifacts{now: now, pages: map[string]*artifact{}}
}

// at says by which origin browsers reach the listener.
func (a *artifacts) at(origin string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.origin = origin
	_, a.host, _ = strings.Cut(strings.ToLower(origin), "://")
}

// where is the origin; empty where there is none.
func (a *artifacts) where() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.origin
}

// add gives a page an address, and tells when that ends.
func (a *artifacts) add(page []byte, policy string) (address string, expires time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := rand.Text() // 130 bits
	expires = a.now().Add(artifactTime)
	a.pages[id] = &artifact{page, policy, expires}
	a.order = append(a.order, id)
	a.size += len(page)
	for len(a.order) > 1 && (len(a.order) > maxArtifacts || a.size > maxArtifactBytes) {
		a.drop()
	}
	a.expire()
	return a.origin + artifactPath + id, expires
}

// sweep forgets what has expired.
func (a *artifacts) sweep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expire()
}

// expire is sweep for who has mu. All live as long, so the oldest expire first.
func (a *artifacts) expire() {
	for len(a.order) > 0 && !a.now().Before(a.pages[a.order[0]].expires) {
		a.drop()
	}
}

// drop forgets the oldest. The caller has mu.
func (a *artifacts) drop() {
	id := a.order[0]
	a.size -= len(a.pages[id].page)
	delete(a.pages, id)
	a.order = a.order[1:]
}

// get gives the page of a request, if it came to the right address.
func (a *artifacts) get(r *http.Request) *artifact {
	id, ok := strings.CutPrefix(r.URL.Path, artifactPath)
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.host == "" || strings.ToLower(r.Host) != a.host {
		return nil // a name that somebody else made to mean this machine
	}
	a.expire()
	return a.pages[id]
}

// artifactPolicy is what a tool's page may do: run its own scripts, and reach
// nothing. The sandbox holds also where its address is opened by itself.
const artifactPolicy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
	"img-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'"

// artifactPermissions are what no such page is ever let have.
const artifactPermissions = "camera=(), microphone=(), geolocation=(), display-capture=(), usb=(), serial=(), hid=(), midi=(), payment=(), clipboard-read=()"

// ServeHTTP is the listener of artifacts.
func (a *artifacts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.services != nil && a.services.owns(r) {
		a.services.ServeHTTP(w, r)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(jsonTime)) // a server that can't has none to set
	shown := a.get(r)
	if shown == nil {
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
		http.Error(w, "nothing is shown here", http.StatusNotFound)
		return
	}
	h.Set("Content-Security-Policy", shown.policy)
	h.Set("Permissions-Policy", artifactPermissions)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Origin-Agent-Cluster", "?1")
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(shown.page) // who has gone has nobody to be told
}

package artifacts

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// pageLife is how long the address of a page lasts: a page that is shown
	// loads at once, and asks for another address when it is shown again.
	pageLife = 5 * time.Minute
	// maxPages and maxBytes bound what waits to be shown, in pages and
	// bytes; the oldest give way.
	maxPages = 256
	maxBytes = 64 << 20
	// pageTime bounds the writing of a page.
	pageTime = 30 * time.Second
	// pagePath begins their addresses.
	pagePath = "/a/"
)

// Pages are strangers' pages under addresses that nobody can guess, on a
// listener of their own: another origin, so that what runs in them reaches nothing
// of this server. No token is taken there, nothing is listed, and there is nothing
// else.
type Pages struct {
	mu     sync.Mutex
	now    func() time.Time
	origin string // that browsers reach it by; empty where there is none
	host   string // of the origin, as the header Host has it
	pages  map[string]*shown
	order  []string // by age
	size   int

	services *Services // the other thing that the listener has
}

// shown is one page, with the policy that it is shown under.
type shown struct {
	page    []byte
	policy  string
	expires time.Time
}

// NewPages makes a Pages that no origin reaches yet.
func NewPages(now func() time.Time) *Pages {
	return &Pages{now: now, pages: map[string]*shown{}}
}

// Show has the listener pass requests of services on. It is called before the first one.
func (a *Pages) Show(services *Services) { a.services = services }

// SetOrigin says by which origin browsers reach the listener.
func (a *Pages) SetOrigin(origin string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.origin = origin
	_, a.host, _ = strings.Cut(strings.ToLower(origin), "://")
}

// Origin is the origin; empty where there is none.
func (a *Pages) Origin() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.origin
}

// Add gives a page an address, and tells when that ends.
func (a *Pages) Add(page []byte, policy string) (address string, expires time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := rand.Text() // 130 bits
	expires = a.now().Add(pageLife)
	a.pages[id] = &shown{page, policy, expires}
	a.order = append(a.order, id)
	a.size += len(page)
	for len(a.order) > 1 && (len(a.order) > maxPages || a.size > maxBytes) {
		a.drop()
	}
	a.expire()
	return a.origin + pagePath + id, expires
}

// Sweep forgets what has expired.
func (a *Pages) Sweep() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expire()
}

// expire is Sweep for a caller that has mu. All live as long, so the oldest expire first.
func (a *Pages) expire() {
	for len(a.order) > 0 && !a.now().Before(a.pages[a.order[0]].expires) {
		a.drop()
	}
}

// drop forgets the oldest. The caller has mu.
func (a *Pages) drop() {
	id := a.order[0]
	a.size -= len(a.pages[id].page)
	delete(a.pages, id)
	a.order = a.order[1:]
}

// get gives the page of a request, if it came to the right address.
func (a *Pages) get(r *http.Request) *shown {
	id, ok := strings.CutPrefix(r.URL.Path, pagePath)
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

// Policy is what a tool's page may do: run its own scripts, and reach
// nothing. The sandbox holds also where its address is opened by itself.
const Policy = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; " +
	"img-src data: blob:; font-src data:; connect-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'"

// permissions are what no such page is ever let have.
const permissions = "camera=(), microphone=(), geolocation=(), display-capture=(), usb=(), serial=(), hid=(), midi=(), payment=(), clipboard-read=()"

// ServeHTTP is the listener of artifacts.
func (a *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.services != nil && a.services.owns(r) {
		a.services.ServeHTTP(w, r)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTime)) // a server that can't has none to set
	found := a.get(r)
	if found == nil {
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
		http.Error(w, "nothing is shown here", http.StatusNotFound)
		return
	}
	h.Set("Content-Security-Policy", found.policy)
	h.Set("Permissions-Policy", permissions)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Origin-Agent-Cluster", "?1")
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(found.page) // who has gone has nobody to be told
}

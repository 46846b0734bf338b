package server

import (
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/fault"
)

const (
	// openTime is how long a browser may take to start and to ask.
	openTime = 2 * time.Minute
	// maxOpenings is more than a person opens at once; the oldest give way.
	maxOpenings = 16
)

// openings are codes that stand for the token, once each and for a short time. A
// browser is started with one instead of the token: what a program was started
// with, other users of a machine can read.
type openings struct {
	mu    sync.Mutex
	now   func() time.Time
	codes []opening // by age
}

type opening struct {
	code  secret
	until time.Time
}

// issue makes a code.
func (o *openings) issue() string {
	code := rand.Text()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.codes) == maxOpenings {
		o.codes = o.codes[1:]
	}
	o.codes = append(o.codes, opening{newSecret(code), o.now().Add(openTime)})
	return code
}

// spend takes a code, and tells whether it was one.
func (o *openings) spend(code string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := false
	rest := o.codes[:0]
	for _, c := range o.codes {
		switch is := c.code.is(code); {
		case is:
			found = c.until.After(o.now())
		case c.until.After(o.now()):
			rest = append(rest, c)
		}
	}
	o.codes = rest
	return found
}

// OpenCode is a code that POST /api/open gives the token for, once, within two
// minutes: the page finds it in the fragment of the address, as open=CODE.
func (s *Server) OpenCode() string { return s.openings.issue() }

type openBody struct {
	Code string `json:"code"`
}

type tokenJSON struct {
	Token string `json:"token"`
}

// openPage gives the token for a code. Wrong ones count as wrong tokens do.
func openPage(s *Server, w http.ResponseWriter, r *http.Request) error {
	var body openBody
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	if !s.openings.spend(body.Code) {
		if !s.gate.wrong.take() {
			return slowDown("there were too many wrong codes")
		}
		return fault.New(fault.NotFound, "the code was used already, or is too old", fault.Advise("let fettle serve open the page again, or print its address"))
	}
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, tokenJSON{s.o.Token})
	return nil
}

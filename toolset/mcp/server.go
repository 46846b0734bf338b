package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fettle-cli/fettle/internal/netguard"
	"github.com/fettle-cli/fettle/toolset"
)

// Server says how an MCP server is reached: by a Command or by a URL. Texts may
// hold ${NAME}, which means a variable and is filled in when it is started.
type Server struct {
	// ID is what its tools are named by: letters, digits, - and _.
	ID string
	// Command and Args start it. No shell is involved.
	Command string
	Args    []string
	Env     map[string]string
	// URL is where it is, for streamable HTTP, and with SSE for the transport
	// that came before it.
	URL     string
	Headers map[string]string
	SSE     bool
	// Own tells that the user configured it, who may point it anywhere. What
	// came in a bundle reaches public hosts, or the very address that was shown.
	Own bool
	// Policy is what its process may reach beside the workspace and a folder of
	// its own.
	Policy toolset.Policy
	// Bare starts its command with the user's home and PATH, as a shell would:
	// for one that the user wants to run without a sandbox.
	Bare bool
	// Hold gives the folder that it starts in, which stays until release. Nil
	// starts it in the workspace.
	Hold func() (dir string, release func(), err error)
	// Sampling lets it ask for answers of a model, each of which a person allows.
	Sampling bool
	// Session tells that a client sent it for a session of its own. Another session
	// may have another server of the same name, so neither takes the other's place.
	Session bool
	// Pinned are the tools that were approved; nil lets it have any, as servers
	// do that a client sent for one session.
	Pinned []toolset.Tool
	// ClientID and ClientSecret are for servers where clients are registered
	// beforehand. They may be ${NAME}, too.
	ClientID, ClientSecret string
}

// maxServerID leaves room for a tool's name in what models may call a tool.
const maxServerID = 64

var serverID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_-]*$`) })

// Check tells what is wrong with a server, before anything is started.
func (s Server) Check() error {
	switch {
	case !serverID().MatchString(s.ID) || len(s.ID) > maxServerID:
		return fmt.Errorf("the name %q: want letters, digits, - and _, at most %d", s.ID, maxServerID)
	case s.ID == "client":
		return errors.New("the name client stands for the tools that a client of fettle runs itself")
	case s.Command == "" && s.URL == "":
		return fmt.Errorf("server %s has neither a command nor a URL", s.ID)
	case s.Command != "" && s.URL != "":
		return fmt.Errorf("server %s has both a command and a URL", s.ID)
	case s.Command != "" && (len(s.Headers) > 0 || s.SSE):
		return fmt.Errorf("server %s is a command, which has no headers and no HTTP", s.ID)
	case s.URL != "" && (len(s.Args) > 0 || len(s.Env) > 0):
		return fmt.Errorf("server %s has a URL, which gets no arguments and no variables", s.ID)
	}
	for _, text := range slices.Concat([]string{s.Command}, s.Args, slices.Collect(maps.Values(s.Env))) {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("server %s: a text holds a NUL byte", s.ID)
		}
	}
	for name, value := range s.Headers {
		if name == "" || strings.ContainsAny(name, " \t\r\n:\x00") || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("server %s: header %q is none", s.ID, name)
		}
	}
	if s.URL != "" && len(Variables(s.URL)) == 0 {
		return s.checkURL(s.URL)
	}
	return nil
}

// checkURL refuses what is no address of a server. Keys and tokens go over
// plain HTTP to this machine alone, unless the user wrote that address.
func (s Server) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("server %s: its URL is none", s.ID)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("server %s: its URL begins with https://, or with http://", s.ID)
	case u.User != nil:
		return fmt.Errorf("server %s: its URL holds a password; write a header instead", s.ID)
	case !s.Own && u.Scheme == "http" && netguard.CheckHost(u.Hostname()) == nil:
		return fmt.Errorf("server %s: its URL is on the internet without https", s.ID)
	}
	return nil
}

// Key is a hash of how the server is reached, without the values of variables.
func (s Server) Key() string {
	parts := []any{"fettle mcp 1", s.ID, s.Command, s.Args, s.Env, s.URL, s.Headers, s.SSE, s.Policy, s.Bare, s.ClientID}
	if s.Sampling {
		parts = append(parts, "sampling")
	}
	raw, err := json.Marshal(parts)
	if err != nil { // texts, numbers and maps of texts can always be encoded
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// Where is the command or the address, for people.
func (s Server) Where() string {
	if s.URL != "" {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`) })

// Variables are the names in a text's ${NAME} and ${NAME:-otherwise}, each once.
func Variables(text string) []string {
	var out []string
	for _, m := range variable().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// Lookup gives the value of a variable, from the environment or from wherever
// keys are.
type Lookup func(ctx context.Context, name string) (value string, ok bool, err error)

// UnsetError says which variable a server needs.
type UnsetError struct{ Server, Name string }

// Error names both.
func (e *UnsetError) Error() string {
	return "it needs the variable " + e.Name + ", which isn't set"
}

// fill puts values in the place of variables.
func (s Server) fill(ctx context.Context, look Lookup, text string) (string, error) {
	var failed error
	filled := variable().ReplaceAllStringFunc(text, func(m string) string {
		parts := variable().FindStringSubmatch(m)
		value, ok, err := "", false, error(nil)
		if look != nil {
			value, ok, err = look(ctx, parts[1])
		}
		switch {
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("look for the variable %s: %w", parts[1], err))
		case !ok && parts[2] != "":
			return strings.TrimPrefix(parts[2], ":-")
		case !ok:
			failed = errors.Join(failed, &UnsetError{s.ID, parts[1]})
		}
		return value
	})
	return filled, failed
}

// filled is the server with values in the place of all variables.
func (s Server) filled(ctx context.Context, look Lookup) (Server, error) {
	var errs []error
	fill := func(text string) string {
		out, err := s.fill(ctx, look, text)
		errs = append(errs, err)
		return out
	}
	out := s
	out.Command, out.URL = fill(s.Command), fill(s.URL)
	out.ClientID, out.ClientSecret = fill(s.ClientID), fill(s.ClientSecret)
	out.Args = make([]string, len(s.Args))
	for i, arg := range s.Args {
		out.Args[i] = fill(arg)
	}
	table := func(from map[string]string) map[string]string {
		to := make(map[string]string, len(from))
		for name, value := range from {
			to[name] = fill(value)
		}
		return to
	}
	out.Env, out.Headers = table(s.Env), table(s.Headers)
	if err := errors.Join(errs...); err != nil {
		return out, err
	}
	if out.URL != "" {
		return out, out.checkURL(out.URL)
	}
	return out, nil
}

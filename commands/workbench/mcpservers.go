package workbench

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/toolset"
	"github.com/fettle-cli/fettle/toolset/mcp"
)

// newServers makes what reaches MCP servers. Nothing is started before one of
// their tools is called. A person can sign in where the command is for that.
func newServers(rt *Runtime, launcher toolset.Launcher, dirs paths.Dirs) *mcp.Manager {
	store := rt.tokens()
	return mcp.New(mcp.Options{
		Launcher: launcher, Dir: filepath.Join(dirs.Data, "mcp"), Version: rt.Build().Version, SignIn: rt.SignIn,
		Tokens: store,
		Lookup: func(ctx context.Context, name string) (string, bool, error) {
			if err := toolset.CheckOwnEnv(name); err != nil {
				return "", false, err
			}
			if value, ok := os.LookupEnv(name); ok {
				return value, true, nil
			}
			k, err := store.ring()
			if err != nil {
				return "", false, err
			}
			value, err := k.Kept(ctx, name)
			return value, value != "", err
		},
		Log: func(server, text string) {
			if rt.Verbose {
				rt.Notice(server + ": " + text)
			}
		},
		LogLevel: func() string {
			if rt.Verbose {
				return "info"
			}
			return ""
		},
		Unusable: func(ids []string) []string {
			if rt.engine == nil {
				return nil
			}
			return rt.engine.UnusableMCPServers(ids)
		},
		Changed: func(ctx context.Context, serverID string, now []toolset.Tool) {
			if rt.engine != nil {
				rt.engine.NoteServerTools(ctx, serverID, now)
			}
		},
	})
}

// tokens is the store of what sign-ins gave. Nothing is read before it is asked.
func (rt *Runtime) tokens() tokens {
	return tokens{sync.OnceValues(func() (*keystore.Keys, error) { return rt.KeyRing(nil) })}
}

// tokens keeps what MCP servers gave at sign-in where keys are kept: in the
// system's keyring, else in the file for the user alone.
type tokens struct {
	ring func() (*keystore.Keys, error)
}

// Load gives what is kept under a name.
func (t tokens) Load(ctx context.Context, name string) (string, error) {
	k, err := t.ring()
	if err != nil {
		return "", err
	}
	text, err := k.Kept(ctx, name)
	if err != nil || text == "" {
		return "", err
	}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return "", nil // somebody keeps a key under this name
	}
	return string(raw), nil
}

// Save keeps a text. Keys are words of ASCII, so it is base64 there.
func (t tokens) Save(ctx context.Context, name, text string) error {
	k, err := t.ring()
	if err == nil {
		_, err = k.Set(ctx, name, base64.RawStdEncoding.EncodeToString([]byte(text)), false)
	}
	return err
}

// Remove forgets what is kept.
func (t tokens) Remove(ctx context.Context, name string) error {
	k, err := t.ring()
	if err == nil {
		_, err = k.Remove(ctx, name)
	}
	var f *fault.Fault
	if errors.As(err, &f) && f.Code == fault.NotFound {
		return nil
	}
	return err
}

package workbench

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/internal/paths"
	"github.com/fettle-cli/fettle/server"
	"github.com/fettle-cli/fettle/server/client"
	"github.com/fettle-cli/fettle/toolset/mcp"
	"github.com/fettle-cli/fettle/toolset/registry"
)

// A running `fettle serve` has the store. A question is asked through it where the
// answer is what this process would give by itself, and everything else runs here
// and has the store shared: see package server/client.

// clientOptions say whose server is looked for.
func (rt *Runtime) clientOptions(dirs paths.Dirs) client.Options {
	return client.Options{DataDir: dirs.Data, Version: rt.FullVersion()}
}

// FullVersion tells builds apart as far as they tell themselves apart.
func (rt *Runtime) FullVersion() string {
	v := rt.Build()
	return strings.TrimSuffix(v.Version+"+"+v.Revision, "+")
}

// StoreTaken is engine.Options.StoreTaken: it has a running server share its store.
func (rt *Runtime) StoreTaken(dirs paths.Dirs) func(context.Context) error {
	if rt.Hold { // this is the server
		return nil
	}
	if rt.sharing == nil {
		rt.sharing = client.NewSharing(rt.clientOptions(dirs))
	}
	return rt.sharing.Taken
}

// RunningServer finds the server that works with these data, which is the caller's to
// close; nil says that there is none.
func (rt *Runtime) RunningServer(ctx context.Context) (*client.Local, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, err
	}
	return client.Find(ctx, rt.clientOptions(dirs))
}

// TurnsFor gives who begins the turns of a command: a running server where the
// turn has the same answer there, else an engine of this process's own. allow are
// the rules of the command's own flags, which go with the request. It is for
// turns that need nothing else of an engine.
func (rt *Runtime) TurnsFor(ctx context.Context, cfg *config.Config, allow []string) (client.Turns, error) {
	if local := rt.likeUs(ctx, cfg, allow); local != nil {
		t := &through{local: local, own: sync.OnceValues(func() (*engine.Engine, error) { return rt.EngineFor(cfg, nil) })}
		rt.Turns, rt.Closers = t, append(rt.Closers, local.Close)
		return t, nil
	}
	eng, err := rt.EngineFor(cfg, nil)
	if err != nil {
		return nil, err
	}
	return eng, nil
}

// likeUs finds a running server that answers as this process would; nil where
// there is none, or what it would do is in doubt.
func (rt *Runtime) likeUs(ctx context.Context, cfg *config.Config, allow []string) *client.Local {
	local, err := rt.RunningServer(ctx)
	if err != nil || local == nil {
		return nil // it says itself what is wrong, if the store is wanted
	}
	ours, err := rt.settings(cfg, allow)
	if err == nil && playsScript(cfg) {
		var wd string
		if wd, err = os.Getwd(); wd != local.Info.WorkDir {
			ours = ""
		}
	}
	if err != nil || ours == "" || ours != local.Info.Settings {
		local.Close()
		return nil
	}
	return local
}

// through are turns by way of a server. Where it refuses to begin one, or ends
// before its turn has, this process goes on by itself with what was kept.
type through struct {
	local *client.Local
	own   func() (*engine.Engine, error)
	mu    sync.Mutex
	here  *engine.Engine // once this process goes on by itself
	// frames are the calls whose tools may live on in the server.
	frames []frameCall
}

func (t *through) now() client.Turns {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.here != nil {
		return t.here
	}
	return t.local
}

// goOn makes this process's own engine the one that is asked.
func (t *through) goOn() (*engine.Engine, error) {
	eng, err := t.own()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.here = eng
	return eng, nil
}

func (t *through) Start(ctx context.Context, req engine.TurnRequest) (store.TurnID, error) {
	refused := !utf8.ValidString(req.Workspace) // JSON would change it
	if !refused {
		id, err := t.now().Start(ctx, req)
		if !errors.Is(err, client.ErrRefused) {
			return id, goneFault(err)
		}
	}
	eng, err := t.goOn()
	if err != nil {
		return "", err
	}
	return eng.Start(ctx, req)
}

// goneFault says that a server has ended meanwhile.
func goneFault(err error) error {
	if !errors.Is(err, client.ErrGone) {
		return err
	}
	return fault.New(fault.Interrupted, "fettle serve ended before it had answered", fault.Try(fault.ListChats).That("shows what was kept"))
}

func (t *through) Follow(ctx context.Context, id store.TurnID, after event.Seq) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range t.now().Follow(ctx, id, after) {
			if errors.Is(err, client.ErrGone) {
				t.rest(ctx, id, after, yield)
				return
			}
			t.framed(e)
			if !yield(e, err) {
				return
			}
			after = e.Seq
		}
	}
}

// rest yields what the journal of a turn has beyond what was seen, whose server is
// gone: it ends as interrupted, if nobody else knows better.
func (t *through) rest(ctx context.Context, id store.TurnID, after event.Seq, yield func(event.Event, error) bool) {
	eng, err := t.goOn()
	if err == nil {
		_, err = eng.Fold(ctx, store.FoldAll)
	}
	if err != nil {
		yield(event.Event{}, err)
		return
	}
	for e, err := range eng.Follow(ctx, id, after) {
		if fault.CodeOf(err) == fault.NotFound { // nothing of it was to be kept
			err = goneFault(client.ErrGone)
		}
		if !yield(e, err) {
			return
		}
	}
}

func (t *through) Cancel(ctx context.Context, id store.TurnID) error { return t.now().Cancel(ctx, id) }

func (t *through) Confirm(ctx context.Context, id store.TurnID, a engine.Confirmation) error {
	return t.now().Confirm(ctx, id, a)
}

func (t *through) TurnChat(id store.TurnID) (chat.Chat, bool) { return t.now().TurnChat(id) }

func (t *through) SyncTime(id store.TurnID) time.Duration { return t.now().SyncTime(id) }

// settings stands for all that decides what a turn does beside its request: the
// configuration, the keys, and what of the environment reaches tools and
// connections. Nothing can be learnt of a key by it, since the token of the data
// directory is mixed in. allow are rules that are no part of the configuration.
func (rt *Runtime) settings(cfg *config.Config, allow []string) (string, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return "", err
	}
	token, err := server.Token(dirs.Data)
	if err != nil {
		return "", err
	}
	// It is missing while somebody changes the toolsets, who waits for this server's
	// answer to go on: so it is never made anew here.
	index, err := registry.ReadIndex(dirs.Data)
	if err != nil {
		return "", err
	}
	var toolsets [][]string
	for _, set := range index.Toolsets {
		of := []string{set.ID, set.Revision}
		for _, name := range set.Env {
			if value, isSet := os.LookupEnv(name); isSet {
				of = append(of, name+"="+value)
			}
		}
		toolsets = append(toolsets, of)
	}
	raw, err := json.Marshal([]any{
		turnSettings(cfg, allow), secretsOf(cfg), variables(cfg), toolsets, serverVariables(index.Servers), dirs.Config, dirs.Home,
	})
	if err != nil {
		return "", err
	}
	sum := hmac.New(sha256.New, []byte(token))
	_, _ = sum.Write(raw) // a hash takes everything
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// SettingsNow are the server's settings, whose toolsets come and go.
func (rt *Runtime) SettingsNow(cfg *config.Config) func() string {
	return func() string {
		out, err := rt.settings(cfg, nil)
		if err != nil { // like nobody's, so that nobody asks here
			return ""
		}
		return out
	}
}

// turnSettings are the configuration without what a request says itself, what only
// a terminal wants, and who is asked.
func turnSettings(cfg *config.Config, allow []string) any {
	c := *cfg
	if len(allow) > 0 && len(c.Allow) >= len(allow) && slices.Equal(c.Allow[:len(allow)], allow) {
		c.Allow = c.Allow[len(allow):]
	}
	return struct {
		Ollama     config.Ollama
		Providers  map[string]config.Provider
		Models     map[string]config.Model
		Agents     map[string]config.Agent
		Rules      [3][]string
		Approvals  string
		RunCommand config.RunCommand
		Search     config.Search
		Limits     []any
		Compact    config.Compact
		Retries    int
		Python     string
		Contained  bool
		Scripts    []string // a server plays no other ones, see newScript
	}{
		c.Ollama, c.Providers, c.Models, c.Agents, [3][]string{nonNil(c.Allow), nonNil(c.Deny), nonNil(c.Ask)}, c.Approvals, c.RunCommand, c.Search,
		[]any{c.Limits.FirstByte, c.Limits.BetweenChunks, c.Limits.KeptFile, c.Limits.ChatFiles, c.Limits.AllFiles},
		c.Compact, c.Retries, c.Python, c.RequireSandbox, scriptsOf(cfg),
	}
}

// scriptsOf returns the models of a configuration that are files.
func scriptsOf(cfg *config.Config) []string {
	refs := slices.DeleteFunc(cfg.ModelNames(), func(ref string) bool { return !isScript(ref) })
	slices.Sort(refs)
	return slices.Compact(nonNil(refs))
}

func nonNil(list []string) []string { return append([]string{}, list...) }

// secretsOf are the keys and additions to requests of a configuration, which its own JSON hides.
// Keys that are kept by fettle are in the folder of the configuration, or the
// keyring, for all processes alike.
func secretsOf(cfg *config.Config) [][]string {
	var out [][]string
	all := cfg.Keyed()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := all[name]
		one := []string{name, p.Key.Reveal(), p.KeyCommand}
		added := p.Additions()
		for _, field := range slices.Sorted(maps.Keys(added)) {
			for _, key := range slices.Sorted(maps.Keys(added[field])) {
				one = append(one, field, key, added[field][key].Reveal())
			}
		}
		out = append(out, one)
	}
	return out
}

// variables are what of the environment connections, tools and programs go by.
func variables(cfg *config.Config) []string {
	names := append([]string{
		"PATH", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "VIRTUAL_ENV", "PYTHONPATH", "FETTLE_KEYRING",
	}, cfg.RunCommand.Env...)
	out := indexEnv()
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// playsScript tells whether a recorded model may be asked, which is looked for in
// the working folder.
func playsScript(cfg *config.Config) bool {
	return slices.ContainsFunc(cfg.ModelNames(), isScript)
}

// serverVariables are those of the environment that are filled in for MCP servers.
func serverVariables(servers []registry.IndexedServer) map[string]string {
	out := map[string]string{}
	for i := range servers {
		for _, text := range servers[i].Texts {
			for _, name := range mcp.Variables(text) {
				if value, ok := os.LookupEnv(name); ok {
					out[name] = value
				}
			}
		}
	}
	return out
}

// EngineBeside is the engine that is asked, or one beside the server that is.
func (rt *Runtime) EngineBeside(cfg *config.Config, turns client.Turns) (*engine.Engine, error) {
	switch t := turns.(type) {
	case *engine.Engine:
		return t, nil
	case *through: // its own, since two of them would want the store
		defer func(was client.Turns) { rt.Turns = was }(rt.Turns)
		return t.own()
	}
	return rt.EngineFor(cfg, nil)
}

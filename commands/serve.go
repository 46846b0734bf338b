package commands

import (
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/keys"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider/modelcache"
	"github.com/fettle-cli/fettle/server"
)

// serveOptions are the flags of `serve`.
type serveOptions struct {
	listen, behind string
	cert, key      string
	logs           string
	printURL, demo bool
	drain          time.Duration
	model, agent   string
	trustOrigin    string
	token          string // as it was found or made
}

// defaultListen is where pages and editors look: an address of this machine alone,
// and always the same one.
const defaultListen = "127.0.0.1:8217"

func newServe(rt *runtime) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "let pages, editors and other programs use the same engine",
		Description: `Answers over HTTP on this machine, until a signal ends it: turns that run then get
--drain to end. Every request needs the token, which is made the first time and
is in serve.token in the data directory: as the header "Authorization: Bearer
TOKEN", or before the path as /t/TOKEN/. A Unix socket beside it needs none;
serve.json in the data directory says where it is. /openapi.json tells what can
be asked. Other commands of fettle go on as ever beside it: ask asks through it
where the configuration and the keys are the same, and the rest share its store.

POST /chat takes document 003's requests. --trust-origin lets the pages of one
origin of this machine use that without a token: whatever such a page asks, fettle
does, as far as no approval is needed.

An address that other machines reach needs a certificate, or a reverse proxy that
has one, named by --behind. Standard output has the address alone, with
--print-url; the log is on standard error.`,
		UsageText: "fettle serve\nfettle serve --print-url --listen 127.0.0.1:0\nfettle serve --demo",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: defaultListen, Usage: "answer at `HOST:PORT`; port 0 is any that is free"},
			&cli.BoolFlag{Name: "print-url", Usage: "print the address with the token on standard output"},
			&cli.BoolFlag{Name: "demo", Usage: "answer with the recorded model of fettle demo, with nothing set up"},
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "ask the model `PROVIDER/NAME` where a request names none"},
			&cli.StringFlag{Name: "agent", Usage: "begin chats with the agent `ID` where a request names none"},
			&cli.StringFlag{Name: "trust-origin", Usage: "let pages at `URL` on this machine post to /chat without a token"},
			&cli.StringFlag{Name: "tls-cert", Usage: "speak TLS with the certificate in `FILE`"},
			&cli.StringFlag{Name: "tls-key", Usage: "with its key in `FILE`"},
			&cli.StringFlag{Name: "behind", Usage: "be reached by the reverse proxy at `URL` alone, which has a certificate"},
			&cli.DurationFlag{Name: "drain", Value: server.DrainTime, Usage: "give running turns `TIME` to end when fettle is told to"},
			&cli.StringFlag{Name: "log", Value: "text", Usage: "write the log as `FORMAT`: text, json or off"},
			rt.inProfile(""),
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c, "fettle serve"); err != nil {
				return err
			}
			o := serveOptions{
				listen: c.String("listen"), behind: c.String("behind"),
				cert: c.String("tls-cert"), key: c.String("tls-key"), logs: c.String("log"),
				printURL: c.Bool("print-url"), demo: c.Bool("demo"), drain: c.Duration("drain"), model: c.String("model"),
				agent: c.String("agent"), trustOrigin: c.String("trust-origin"),
			}
			if err := o.check(); err != nil {
				return err
			}
			return runServe(c.Context, rt, o)
		},
	}
}

func (o serveOptions) check() error {
	switch {
	case (o.cert == "") != (o.key == ""):
		return usagef("fettle serve --tls-cert FILE --tls-key FILE", "--tls-cert and --tls-key go together")
	case o.logs != "text" && o.logs != "json" && o.logs != "off":
		return usagef("fettle serve --log json", "--log wants text, json or off, not %s", shellWord(o.logs))
	case o.drain < 0:
		return usagef("fettle serve --drain 20s", "--drain can't be less than 0")
	case o.demo && o.model != "":
		return usagef("fettle serve --demo", "--demo answers with a recorded model, so --model has no use")
	}
	return nil
}

func runServe(ctx context.Context, rt *runtime, o serveOptions) error {
	cfg, err := rt.config(map[string]config.Flag{})
	if err != nil {
		return err
	}
	if o.demo {
		o.model = demoModel
	}
	if o.model != "" {
		cfg.Model = o.model
	}
	certificate, err := o.certificate()
	if err != nil {
		return err
	}
	rt.hold = true
	eng, err := rt.engineFor(cfg, nil)
	if err != nil {
		return err
	}
	dirs, err := rt.dirs()
	if err != nil {
		return err
	}
	if o.token, err = server.Token(dirs.Data); err != nil {
		return fault.Wrap(fault.Store, "serve", err)
	}
	s, l, err := rt.server(cfg, eng, o)
	if err != nil {
		return err
	}
	drain := o.drain
	if drain == 0 {
		drain = -1 // not at all
	}
	return s.Run(ctx, l, server.RunOptions{Certificate: certificate, Drain: drain, Ready: func() { rt.serving(l, o) }})
}

// server puts the server of a configuration together, and takes its addresses.
func (rt *runtime) server(cfg *config.Config, eng *engine.Engine, o serveOptions) (*server.Server, *server.Listening, error) {
	dirs, err := rt.dirs()
	if err != nil {
		return nil, nil, err
	}
	ring, err := rt.keyRing(cfg)
	if err != nil {
		return nil, nil, err
	}
	index, err := rt.modelIndex(cfg, ring, dirs.Cache)
	if err != nil {
		return nil, nil, err
	}
	s, err := server.New(server.Options{
		Engine: eng, Models: index, Token: o.token, DataDir: dirs.Data, Version: buildVersion().Version,
		Build: fullVersion(), Settings: rt.settingsNow(cfg),
		Prepare: prepareTurn(cfg, o.agent), TrustOrigin: o.trustOrigin, Log: rt.logger(o.logs), Env: os.LookupEnv,
	})
	if err != nil {
		return nil, nil, err
	}
	l, err := server.Listen(server.ListenOptions{
		Address: o.listen, DataDir: dirs.Data, RuntimeDir: dirs.Runtime, TLS: o.cert != "", Behind: o.behind,
	})
	return s, l, err
}

// modelIndex lists the models of a configuration.
func (rt *runtime) modelIndex(cfg *config.Config, ring *keys.Keys, cache string) (*engine.ModelIndex, error) {
	catalog, err := newCatalog(cfg, ring, rt.client, nil)
	if err != nil {
		return nil, err
	}
	return &engine.ModelIndex{
		Catalog: catalog, Cache: modelcache.New(filepath.Join(cache, modelsCacheDir)),
		NotReady: func(name string) string { return withoutKey(ring, cfg.Providers[name]) },
	}, nil
}

// prepareTurn fills in what the configuration says of a turn, as ask does.
func prepareTurn(cfg *config.Config, agent string) func(*engine.TurnRequest) {
	return func(req *engine.TurnRequest) {
		begins := req.Chat == (engine.ChatRef{})
		if req.Model == "" && begins {
			req.Model = cfg.Model
		}
		if req.System == "" && begins {
			req.System = cfg.System
		}
		if req.Agent == "" && begins {
			req.Agent = cmp.Or(agent, cfg.EntryAgent())
		}
		switch {
		case req.Tools != nil:
		case !cfg.Tools.Enabled:
			req.Tools = []string{}
		case len(cfg.Tools.Globs) > 0:
			req.Tools = cfg.Tools.Globs
		}
		req.Fallback, req.MaxSteps, req.Timeout = cfg.Fallback, cfg.Limits.MaxTurns, cfg.Limits.Timeout
		req.MaxHandoffs, req.MaxRepeats, req.MaxFailures = cfg.Limits.MaxHandoffs, cfg.Limits.MaxRepeats, cfg.Limits.MaxFailures
	}
}

// logger writes the log to standard error.
func (rt *runtime) logger(format string) *slog.Logger {
	switch format {
	case "json":
		return slog.New(slog.NewJSONHandler(rt.streams.Err, nil))
	case "text":
		return slog.New(slog.NewTextHandler(rt.streams.Err, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// certificate reads what TLS needs.
func (o serveOptions) certificate() (*tls.Certificate, error) {
	if o.cert == "" {
		return nil, nil
	}
	c, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "read the certificate", err, "fettle serve --tls-cert FILE --tls-key FILE, both in PEM")
	}
	return &c, nil
}

// serving says where, once requests are answered.
func (rt *runtime) serving(l *server.Listening, o serveOptions) {
	if o.trustOrigin != "" {
		rt.notice("every page at " + o.trustOrigin + " can ask here without a token; end fettle serve when you don't need that")
	}
	if o.printURL {
		rt.streams.Out.Printf("%s/#token=%s\n", l.URL(), o.token)
		return
	}
	rt.notice("serving at " + l.URL() + "; --print-url prints the address with its token")
}

package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/demo"
	"github.com/fettle-cli/fettle/commands/models"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/store"
	"github.com/fettle-cli/fettle/server"
)

// options are the flags of `serve`.
type options struct {
	listen, behind string
	cert, key      string
	logs           string
	printURL, open bool
	demo, check    bool
	drain          time.Duration
	model, agent   string
	trustOrigin    string
	allowOrigins   []string
	artifacts      string
	artifactsURL   string
	token          string // as it was found or made
}

// servedGarbage is how much garbage the process of a server may have, as a part of
// what it needs: it lives long and waits most of the time, and a thousand clients
// should not cost twice what they need. GOGC in the environment comes before it.
const servedGarbage = 25

// New is the command serve, which answers over HTTP.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "let pages, editors and other programs use the same engine",
		Description: `The page is at the address: chats, files and tools in a browser, with nothing to
install; --open opens it. Programs use the same address.

Answers over HTTP on this machine, until a signal ends it: turns that run then get
--drain to end, and are marked as interrupted if they don't; ten seconds later it
has ended, whatever happens. /openapi.json tells what can be asked. Other commands
of fettle go on as ever beside it: ask asks through it where the configuration and
the keys are the same, and the rest share its store.

Every request needs the token, which is made the first time and is in serve.token
in the data directory: as the header "Authorization: Bearer TOKEN", or before the
path as /t/TOKEN/. --print-url brings it along, and with --check prints where the
server is that runs already; --open gives the browser a code instead, which is good
once and for two minutes, since other users of this machine can see how a program
was started. A Unix socket beside it needs no token; serve.json in the data directory
says where it is.

--demo answers by the agents of fettle demo and their recorded model, on data that
goes away with the server. POST /chat takes document 003's requests; --trust-origin
lets the pages of one origin of this machine use that without a token: whatever
such a page asks, fettle does, as far as no approval is needed. --allow-origin lets
the pages of an origin use all of the API with the token, as <fettle-chat> of
/embed.js does on them.

What tools show as pages of their own comes from a second address, so that nothing in
them reaches the first: a free port beside it. Behind a proxy that has to be named,
by --artifacts where fettle listens and --artifacts-url where browsers find it;
without, such pages are not shown.

An address that other machines reach needs a certificate, or a reverse proxy that
has one, named by --behind. In a container that is http://localhost:PORT, with PORT
published on this machine alone. Standard output has the address alone, with
--print-url; the log is on standard error, and has no token, no key and nothing
that was said. Spans go to an OpenTelemetry receiver where fettle help environment
says so. A socket of systemd's takes the place of --listen.`,
		UsageText: "fettle serve\nfettle serve --open\nfettle serve --print-url --listen 127.0.0.1:0\nfettle serve --demo --trust-origin http://localhost:5173\nfettle serve --demo --allow-origin https://example.org\nfettle serve --listen 127.0.0.1:0 --artifacts 127.0.0.1:0\nfettle serve --check",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: server.DefaultAddress, Usage: "answer at `HOST:PORT`; port 0 is any that is free"},
			&cli.BoolFlag{Name: "open", Usage: "open the page in a browser"},
			&cli.BoolFlag{Name: "print-url", Usage: "print the address with the token on standard output"},
			&cli.BoolFlag{Name: "demo", Usage: "answer by the recording of fettle demo, with nothing set up or kept"},
			&cli.BoolFlag{Name: "check", Usage: "ask the server that runs whether it is ready, and end"},
			&cli.StringFlag{Name: "model", Aliases: []string{"m"}, Usage: "ask the model `PROVIDER/NAME` where a request names none"},
			&cli.StringFlag{Name: "agent", Usage: "begin chats with the agent `ID` where a request names none"},
			&cli.StringFlag{Name: "trust-origin", Usage: "let pages at `URL` on this machine post to /chat without a token"},
			&cli.StringSliceFlag{Name: "allow-origin", Usage: "let pages of the origin `URL` use the API with the token; may be repeated"},
			&cli.StringFlag{Name: "artifacts", Usage: "show tools' pages from `HOST:PORT`; a free port of the same host unless it is given"},
			&cli.StringFlag{Name: "artifacts-url", Usage: "tell browsers to find them at `URL`, which a proxy or a container publishes"},
			&cli.StringFlag{Name: "tls-cert", Usage: "speak TLS with the certificate in `FILE`"},
			&cli.StringFlag{Name: "tls-key", Usage: "with its key in `FILE`"},
			&cli.StringFlag{Name: "behind", Usage: "be reached by the reverse proxy at `URL` alone"},
			&cli.DurationFlag{Name: "drain", Value: server.DrainTime, Usage: "give running turns `TIME` to end when fettle is told to"},
			&cli.StringFlag{Name: "log", Value: "auto", Usage: "write the log as `FORMAT`: auto, text, json or off; auto is for people on a terminal"},
			rt.InProfile(""),
		},
		Before: cmdline.NoArguments,
		Action: func(c *cli.Context) error {
			o := options{
				listen: c.String("listen"), behind: c.String("behind"), open: c.Bool("open"), check: c.Bool("check"),
				cert: c.String("tls-cert"), key: c.String("tls-key"), logs: c.String("log"),
				printURL: c.Bool("print-url"), demo: c.Bool("demo"), drain: c.Duration("drain"), model: c.String("model"),
				agent: c.String("agent"), trustOrigin: c.String("trust-origin"), allowOrigins: c.StringSlice("allow-origin"),
				artifacts: c.String("artifacts"), artifactsURL: c.String("artifacts-url"),
			}
			if err := o.validate(); err != nil {
				return err
			}
			if o.check {
				return runCheck(c.Context, rt, o.printURL)
			}
			return run(c.Context, rt, o)
		},
	}
}

func (o options) validate() error {
	switch {
	case (o.cert == "") != (o.key == ""):
		return cmdline.Usagef("fettle serve --tls-cert FILE --tls-key FILE", "--tls-cert and --tls-key go together")
	case !slices.Contains([]string{"auto", "text", "json", "off"}, o.logs):
		return cmdline.Usagef("fettle serve --log json", "--log wants auto, text, json or off, not %s", cmdline.ShellWord(o.logs))
	case o.drain < 0:
		return cmdline.Usagef("fettle serve --drain 20s", "--drain can't be less than 0")
	case o.demo && o.model != "":
		return cmdline.Usagef("fettle serve --demo", "--demo answers with a recorded model, so --model has no use")
	}
	return nil
}

func run(ctx context.Context, rt *workbench.Runtime, o options) error {
	told := context.AfterFunc(ctx, func() { tellSystemd(rt, "STOPPING=1") })
	defer told()
	served := make(chan error, 1)
	go func() { served <- serveUntil(ctx, rt, o) }()
	select {
	case err := <-served:
		rt.FinishBy = time.Now().Add(finishTime)
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(o.drain + server.EndTime + lateTime)
	defer late.Stop()
	select {
	case err := <-served:
		rt.FinishBy = time.Now().Add(finishTime)
		return err
	case <-late.C:
		rt.FinishBy = time.Now() // what holds the server up would hold that up, too
		return fault.New(fault.Interrupted, "fettle serve was told to end, and something in it did not; the process ends now")
	}
}

// The times after the drain time and server.EndTime: together with the latter they are
// the ten seconds that the help text promises.
const (
	// lateTime is for a server that waits for something before it serves, such as a
	// store that another process has.
	lateTime = 500 * time.Millisecond
	// finishTime is for what does not belong to the server: sandboxes, the processes of
	// tools and of MCP servers.
	finishTime = 1400 * time.Millisecond
)

// serveUntil serves until ctx ends.
func serveUntil(ctx context.Context, rt *workbench.Runtime, o options) error {
	cfg, err := rt.Config(map[string]config.Flag{})
	if err != nil {
		return err
	}
	certificate, err := o.certificate()
	if err != nil {
		return err
	}
	rt.Log, rt.Answering = Logger(rt, o.logs), true
	eng, err := servedEngine(ctx, rt, cfg, &o)
	if err != nil {
		return err
	}
	dirs, err := rt.Dirs()
	if err != nil {
		return err
	}
	if o.token, err = server.Token(dirs.Data); err != nil {
		return fault.Wrap(fault.Store, "serve", err)
	}
	s, l, err := newServing(rt, cfg, eng, o)
	if err != nil {
		return err
	}
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(servedGarbage)
	}
	drain := o.drain
	if drain == 0 {
		drain = -1 // not at all
	}
	return s.Run(ctx, l, server.RunOptions{Certificate: certificate, Drain: drain, Ready: func() { serving(ctx, rt, s, l, o) }})
}

// servedEngine is the engine of the configuration, or that of the demo, which goes
// away with the program.
func servedEngine(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, o *options) (*engine.Engine, error) {
	rt.Hold = true
	if !o.demo {
		if o.model != "" {
			cfg.Model = o.model
		}
		return rt.EngineFor(cfg, nil)
	}
	o.agent = cmp.Or(o.agent, demo.Agent)
	return demo.Open(ctx, rt, cfg)
}

// tellSystemd notes where that fails: the service is none the worse.
func tellSystemd(rt *workbench.Runtime, state string) {
	if err := notifySystemd(state); err != nil {
		rt.Log.Warn("systemd can't be told", "state", state, "error", term.Clean(err.Error()))
	}
}

// server puts the server of a configuration together, and takes its addresses.
func newServing(rt *workbench.Runtime, cfg *config.Config, eng *engine.Engine, o options) (*server.Server, *server.Listening, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, nil, err
	}
	index, err := models.Index(rt, cfg, rt.Client)
	if err != nil {
		return nil, nil, err
	}
	suggestions, err := o.suggestions()
	if err != nil {
		return nil, nil, err
	}
	s, err := server.New(server.Options{
		AllowOrigins: o.allowOrigins, Demo: o.demo, Model: cfg.Model, Agent: cmp.Or(o.agent, cfg.EntryAgent()), Suggestions: suggestions, Effective: effective(cfg),
		Engine: eng, Models: index, Token: o.token, DataDir: dirs.Data, Version: rt.Build().Version,
		Build: rt.FullVersion(), Settings: rt.SettingsNow(cfg), MCP: servedMCP(rt, cfg, eng, o),
		Prepare: PrepareTurn(cfg, o.agent), TrustOrigin: o.trustOrigin, Log: rt.Log, Env: os.LookupEnv, Spans: rt.CountSpans(),
	})
	if err != nil {
		return nil, nil, err
	}
	passed, err := passedListener()
	if err != nil {
		return nil, nil, err
	}
	l, err := server.Listen(server.ListenOptions{
		Address: o.listen, TCP: passed, DataDir: dirs.Data, RuntimeDir: dirs.Runtime, TLS: o.cert != "", Behind: o.behind,
		Artifacts: o.artifacts, ArtifactsURL: o.artifactsURL,
	})
	return s, l, err
}

// PrepareTurn fills in what the configuration says of a turn, as ask does.
func PrepareTurn(cfg *config.Config, agent string) func(*engine.TurnRequest) {
	return func(req *engine.TurnRequest) {
		begins := req.Chat == (store.ChatRef{New: req.Chat.New})
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
		req.Fallback, req.MaxSteps, req.Timeout = cfg.Fallback, cfg.Limits.MaxSteps, cfg.Limits.Timeout
		req.MaxHandoffs, req.MaxRepeats, req.MaxFailures = cfg.Limits.MaxHandoffs, cfg.Limits.MaxRepeats, cfg.Limits.MaxFailures
	}
}

// certificate reads what TLS needs.
func (o options) certificate() (*tls.Certificate, error) {
	if o.cert == "" {
		return nil, nil
	}
	c, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "read the certificate", err, fault.Run("fettle serve --tls-cert FILE --tls-key FILE, both in PEM"))
	}
	return &c, nil
}

// serving says where, once requests are answered.
func serving(ctx context.Context, rt *workbench.Runtime, s *server.Server, l *server.Listening, o options) {
	tellSystemd(rt, "READY=1")
	if o.trustOrigin != "" {
		rt.Notice("every page at " + o.trustOrigin + " can ask here without a token; end fettle serve when you don't need that")
	}
	if o.printURL {
		rt.Streams.Out.Printf("%s\n", l.URL()+"/#token="+o.token)
	}
	if o.printURL && !o.open {
		return
	}
	rt.Notice("serving at " + l.URL() + untilCtrlC(rt))
	if !o.open {
		rt.Notice("--open opens the page in a browser; --print-url prints the address with its token")
		return
	}
	if !s.HasPage() {
		rt.Notice("this build has no page (it was built with the tag no_web), so there is nothing to open")
		return
	}
	// What a browser is started with, other users can see: a code that is good once.
	if err := openBrowser(ctx, rt, l.URL()+"/#open="+s.OpenCode()); err != nil {
		rt.Notice(err.Error())
		rt.Notice("fettle serve --print-url prints the address with its token")
	}
}

// untilCtrlC says how it ends to whoever can end it so.
func untilCtrlC(rt *workbench.Runtime) string {
	if rt.Streams.Err.IsTerminal() {
		return ", until Ctrl-C"
	}
	return ""
}

package models

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/models"
	"github.com/fettle-cli/fettle/engine/provider"
)

// New is the command models.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "models",
		Usage:       "see, fetch and remove models",
		Description: "fettle help models tells how models are named, found and described.",
		UsageText:   "fettle models list\nfettle models show ollama/qwen3\nfettle models update",
		Subcommands: []*cli.Command{newList(rt), newShow(rt), newPull(rt), newRm(rt), newUpdate(rt)},
	}
}

// Index lists the models of a configuration, by requests of the client.
func Index(rt *workbench.Runtime, cfg *config.Config, client *http.Client) (*models.Index, error) {
	cache, err := rt.ModelCache()
	if err != nil {
		return nil, err
	}
	ring, err := rt.KeyRing(cfg)
	if err != nil {
		return nil, err
	}
	catalog, err := rt.NewCatalog(cfg, ring, client)
	if err != nil {
		return nil, err
	}
	return &models.Index{
		Catalog: catalog, Cache: cache,
		NotReady: func(name string) string { return withoutKey(ring, cfg.Providers[name]) },
	}, nil
}

// room is what the commands about models work with.
type room struct {
	cfg    *config.Config
	index  *models.Index
	client *http.Client
}

// open loads the configuration and puts the providers together. The caller
// closes it.
func open(rt *workbench.Runtime) (*room, error) {
	cfg, err := rt.Config(nil)
	if err != nil {
		return nil, err
	}
	client := workbench.NewClient()
	index, err := Index(rt, cfg, client)
	if err != nil {
		return nil, err
	}
	return &room{cfg, index, client}, nil
}

// withoutKey tells of a builtin provider whose own address would answer nobody.
func withoutKey(ring *keystore.Keys, p config.Provider) string {
	switch {
	case !p.Default || ring.Ready(p):
		return ""
	case p.KeyEnv == "":
		return "it has no key"
	}
	return p.KeyEnv + " not set"
}

func (m *room) close() { m.client.CloseIdleConnections() }

// modelJSON is a model as `models list` and `models show` print it. What nobody
// told is null.
type modelJSON struct {
	Model         string `json:"model"` // provider/name
	Provider      string `json:"provider"`
	Name          string `json:"name"`
	ContextLength *int   `json:"context_length"`
	Tools         *bool  `json:"tools"`
	Images        *bool  `json:"images"`
	Thinking      *bool  `json:"thinking"`
	Schema        *bool  `json:"schema"`
	Size          *int64 `json:"size"`
	Details       string `json:"details"`
	Local         bool   `json:"local"`
}

func describeModel(m models.Model) modelJSON {
	out := modelJSON{
		Model: m.Ref(), Provider: m.Provider, Name: m.Name, Details: m.Details, Local: m.Local,
		Tools: knownJSON(m.Tools), Images: knownJSON(m.Images), Thinking: knownJSON(m.Thinking), Schema: knownJSON(m.Schema),
	}
	if m.ContextLength > 0 {
		out.ContextLength = &m.ContextLength
	}
	if m.Size > 0 {
		out.Size = &m.Size
	}
	return out
}

func knownJSON(k provider.Known) *bool {
	if k == provider.Unknown {
		return nil
	}
	yes := k == provider.Yes
	return &yes
}

// contextText writes a context's length as people say it: 40960 is 40k, and
// 128000 is 128k.
func contextText(tokens int) string {
	const k = 1024
	switch {
	case tokens <= 0:
		return ""
	case tokens < 1000:
		return strconv.Itoa(tokens)
	case tokens%(k*k) == 0:
		return strconv.Itoa(tokens/(k*k)) + "M"
	case tokens >= 999_500:
		return strings.TrimSuffix(strconv.FormatFloat(float64(tokens)/1e6, 'f', 1, 64), ".0") + "M"
	case tokens%k == 0 && tokens%1000 != 0:
		return strconv.Itoa(tokens/k) + "k"
	}
	return strconv.Itoa((tokens+500)/1000) + "k"
}

// abilitiesOf names what a model can do; a question mark stands for what nobody
// told anything of.
func abilitiesOf(m models.Model) string {
	var can []string
	told := false
	for _, a := range []struct {
		name string
		has  provider.Known
	}{{"tools", m.Tools}, {"images", m.Images}, {"thinking", m.Thinking}} {
		told = told || a.has != provider.Unknown
		if a.has == provider.Yes {
			can = append(can, a.name)
		}
	}
	if !told {
		return "?"
	}
	return strings.Join(can, " ")
}

// listTrouble says why a provider gave no list, in one line; nil where it did.
func listTrouble(l models.List) *fault.Fault {
	if l.NotReady != "" {
		return fault.New(fault.Unavailable, l.Provider+": "+l.NotReady)
	}
	if l.Err == nil {
		return nil
	}
	err := models.Explain(l.Provider+"/", l.Err)
	var f *fault.Fault
	if !errors.As(err, &f) {
		f = fault.Wrap(fault.Config, "list the models of "+l.Provider, err)
	}
	return f
}

// listAge says how old a kept list is.
func listAge(l models.List, now time.Time) string { return "from " + term.Ago(now, l.Asked) }

// unknownProvider is the fault of a provider's name that nothing has.
func unknownProvider(err error, command string) error {
	var unknown *provider.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	near := append(unknown.Nearest, unknown.Known...)
	return cmdline.Usagef(command+" "+near[0], "%s", unknown)
}

// About is what is said of a model in a list: "40k context, tools".
func About(m models.Model) string {
	var parts []string
	if m.ContextLength > 0 {
		parts = append(parts, contextText(m.ContextLength)+" context")
	}
	if can := abilitiesOf(m); can != "" && can != "?" {
		parts = append(parts, can)
	}
	if m.Size > 0 {
		parts = append(parts, term.Size(m.Size))
	}
	return strings.Join(parts, ", ")
}

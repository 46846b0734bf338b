package workbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/config/trust"
	"github.com/fettle-cli/fettle/commands/keystore"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/paths"
)

// AllowKeyCommand gives the function that decides whether a key's command may
// run: it was allowed before, or a person sees it and says yes.
func (rt *Runtime) AllowKeyCommand(store *trust.Store) func(context.Context, keystore.Command) error {
	return func(ctx context.Context, c keystore.Command) error {
		if store.Command(c.Text) {
			return nil
		}
		if rt.Quiet || !rt.Streams.CanAsk() {
			return fault.New(fault.Approval, "the key of "+c.Provider+" comes from a command that you haven't allowed yet",
				fault.Run("fettle trust --key "+c.Provider+rt.profileWords()+"   on a terminal shows it and asks"),
				fault.Run("fettle trust --command 'COMMAND'   allows it by its text"))
		}
		key, err := rt.Streams.Ask(ctx, term.Question{
			Text:    "The key of " + c.Provider + " comes from a command:\n\n    " + c.Text + "\n\nRun it, now and when the key is wanted again?",
			Choices: []term.Choice{{Key: 'y', Label: "yes", Commits: true}, {Key: 'n', Label: "no"}},
			Default: 'n',
		})
		if err != nil && !errors.Is(err, term.ErrNoAnswer) {
			return err
		}
		if key != 'y' {
			return fault.New(fault.Approval, "the command for the key of "+c.Provider+" was not allowed",
				fault.Run("fettle config unset providers."+c.Provider+".key && fettle keys set "+c.Provider+"   keeps a key instead"))
		}
		return TrustFailed(store.TrustCommand(ctx, KeyCommand(c.Text, time.Now().UTC().Truncate(time.Second))))
	}
}

// TrustStore is what the user has allowed projects and commands.
func (rt *Runtime) TrustStore(dirs paths.Dirs) *trust.Store {
	store := trust.Open(filepath.Join(dirs.State, trust.FileName))
	store.Notice = rt.Notice
	return store
}

// KeyRing is what finds and keeps keys. Nothing is read before it is asked. cfg
// tells which variables hold keys; nil does where no command is run.
func (rt *Runtime) KeyRing(cfg *config.Config) (*keystore.Keys, error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, err
	}
	ring, _ := keystore.SystemKeyring(os.LookupEnv)
	o := keystore.Options{
		Dir: dirs.Config, Env: os.LookupEnv, Keyring: ring, Notice: rt.Notice,
		Allow: rt.AllowKeyCommand(rt.TrustStore(dirs)),
	}
	if cfg != nil {
		o.Withheld = cfg.KeyVariables()
	}
	return keystore.New(o), nil
}

// KeyCommand is the record of a key's command that is allowed from now on.
func KeyCommand(text string, now time.Time) trust.Command {
	return trust.Command{Sum: trust.SumOf(text), Shown: config.Redact(text), Time: now}
}

// TrustFailed is a fault of keeping what was allowed; nil where there was none.
func TrustFailed(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Failed, "the trust can't be kept", err)
}

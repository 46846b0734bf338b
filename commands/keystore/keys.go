package keystore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/fault"
)

// fresh is how long what a command printed is used: half of the shortest life
// that tokens of cloud programs have.
const fresh = 15 * time.Minute

// Place is where a key comes from.
type Place string

// The places, in the order in which they are looked at.
const (
	Environment   Place = "environment"
	Configuration Place = "configuration"
	CommandOutput Place = "command"
	InKeyring     Place = "keyring"
	InFile        Place = "file"
)

// Command is a command that prints a provider's key.
type Command struct {
	Provider string
	Text     string
}

// Options says where keys are, and who is asked.
type Options struct {
	// Dir is the folder of the file, the configuration directory.
	Dir string
	// Env looks up variables, as os.LookupEnv does; nil knows none.
	Env func(string) (string, bool)
	// Keyring is where keys are kept rather than in the file; nil uses none.
	Keyring Keyring
	// Withheld are variables that commands don't get: those that hold keys of
	// providers. One provider's command has no business with another's key.
	Withheld []string
	// Allow tells whether a command may run: nil where it may, else an error
	// that a person can read. Without it none may.
	Allow func(context.Context, Command) error
	// Notice says something that isn't a result, on one line; nil says nothing.
	Notice func(string)
}

// Keys finds and keeps keys.
type Keys struct {
	o           Options
	commandTime time.Duration

	mu     sync.Mutex
	slots  map[string]*slot
	broken error // why the keyring isn't used any more
}

// slot is what is known of one command's result.
type slot struct {
	turn  chan struct{} // holds one value while somebody is at it
	key   string
	until time.Time
	runs  int   // how often the command has printed a key
	err   error // the user said no: that isn't asked twice
}

// New makes a Keys; nothing is read yet.
func New(o Options) *Keys {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	return &Keys{o: o, commandTime: commandTime, slots: map[string]*slot{}}
}

// FileName is the name of the file in the configuration directory.
const FileName = "keys.yaml"

// Path is where the file is, or would be.
func (k *Keys) Path() string { return filepath.Join(k.o.Dir, FileName) }

// For gives the function that finds a provider's key when a request wants it.
// An empty key without an error says that there is none and that the address
// may answer without. Errors are faults.
func (k *Keys) For(p config.Provider) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		switch {
		case !p.Key.Empty():
			return p.Key.Reveal(), nil
		case p.KeyCommand != "":
			return k.fromCommand(ctx, Command{p.Name, p.KeyCommand})
		}
		key, err := k.kept(ctx, p.Name)
		if err != nil || key != "" || !p.Default {
			return key, err
		}
		return "", k.noKey(p)
	}
}

// Ready tells whether For would find something, as far as that can be told
// without running a command or asking the keyring.
func (k *Keys) Ready(p config.Provider) bool {
	if !p.Key.Empty() || p.KeyCommand != "" {
		return true
	}
	f, err := k.read()
	_, ok := f.entries[p.Name]
	return err == nil && ok
}

// Kept gives what `keys set` keeps under a name, which need be no provider's;
// empty where that is nothing.
func (k *Keys) Kept(ctx context.Context, name string) (string, error) { return k.kept(ctx, name) }

// kept looks a key up that was given to `keys set`; "" where none was.
func (k *Keys) kept(ctx context.Context, name string) (string, error) {
	f, err := k.read()
	if err != nil {
		return "", err
	}
	e, ok := f.entries[name]
	switch {
	case !ok:
		return "", nil
	case e.inKeyring:
		return k.fromKeyring(ctx, name)
	case f.exposed:
		return "", k.exposed(name)
	}
	return e.key.Reveal(), nil
}

// exposed says that a key isn't used since others can read it.
func (k *Keys) exposed(name string) error {
	msg := fmt.Sprintf("the key of %s isn't used: others can read %s", name, k.Path())
	if info, err := os.Stat(k.Path()); err == nil {
		msg += fmt.Sprintf(" (mode %04o)", info.Mode().Perm())
	}
	return fault.New(fault.Config, msg, fault.Run("chmod 600 "+k.Path()))
}

func (k *Keys) fromKeyring(ctx context.Context, name string) (string, error) {
	var key string
	err := k.askKeyring(ctx, func() (err error) {
		key, err = k.o.Keyring.Get(name)
		return err
	})
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil {
		if key, err = config.ParseKey(key); err == nil {
			return key, nil
		}
	}
	f := fault.New(fault.Unauthorised, "the key of "+name+" is in the keyring, and can't be had from it", fault.Run("fettle keys set --file "+name+"   keeps it in a file instead"))
	f.Detail = []string{err.Error()}
	if errors.Is(err, ErrNoEntry) {
		f.Msg, f.Detail = "the keyring has no key of "+name+" any more", nil
		f.Remedies = []fault.Remedy{fault.Try(fault.StoreKey, name)}
	}
	f.Err = err
	return "", f
}

// noKey says where a key was looked for.
func (k *Keys) noKey(p config.Provider) error {
	f := fault.New(fault.Unauthorised, "no key for "+p.Name)
	const column = 28 // wide enough for the names of variables
	if p.KeyEnv != "" {
		f.Detail = append(f.Detail, fmt.Sprintf("looked for  %-*s  not set", column, p.KeyEnv))
		f.Remedies = append(f.Remedies, fault.Try(fault.SetVariable, p.KeyEnv))
	}
	f.Detail = append(f.Detail,
		fmt.Sprintf("            %-*s  not set", column, "providers."+p.Name+".key"),
		fmt.Sprintf("            %-*s  none", column, "fettle keys"))
	f.Remedies = append(f.Remedies, fault.Try(fault.StoreKey, p.Name))
	return f
}

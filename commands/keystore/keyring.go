package keystore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

const (
	// keyringTime bounds one question to the keyring: a person may have to type
	// a password, and one that can't be asked must not hold a question up.
	keyringTime = 20 * time.Second
	// keyringPatience is when a person should hear what is being waited for.
	keyringPatience = 2 * time.Second
	// service is the name under which fettle's keys are in the keyring.
	service = "fettle"
)

// ErrNoEntry says that the keyring has no key of a name.
var ErrNoEntry = errors.New("the keyring has no such key")

// Keyring keeps keys by the name of their provider. Its methods may take as
// long as they like, and are called by one goroutine at a time.
type Keyring interface {
	// Get gives a key, or [ErrNoEntry].
	Get(name string) (string, error)
	// Set keeps a key, in place of an older one.
	Set(name, key string) error
	// Remove forgets a key; the error is [ErrNoEntry] where there is none.
	Remove(name string) error
}

// SystemKeyring is the keyring of the system that fettle runs on; nil where
// there is none to use, with the reason. FETTLE_KEYRING=off switches it off.
func SystemKeyring(env func(string) (string, bool)) (Keyring, string) {
	if v, _ := env("FETTLE_KEYRING"); strings.EqualFold(v, "off") {
		return nil, "FETTLE_KEYRING is off"
	}
	if why := noKeyring(env); why != "" {
		return nil, why
	}
	return systemKeyring{}, ""
}

type systemKeyring struct{}

func (systemKeyring) Get(name string) (string, error) {
	key, err := keyring.Get(service, name)
	return key, entryError(err)
}

func (systemKeyring) Set(name, key string) error { return keyring.Set(service, name, key) }

func (systemKeyring) Remove(name string) error {
	return entryError(keyring.Delete(service, name))
}

func entryError(err error) error {
	if errors.Is(err, keyring.ErrNotFound) {
		return ErrNoEntry
	}
	return err
}

// askKeyring lets do use the keyring, for a bounded time. A failure other than
// a missing entry ends the use of the keyring.
func (k *Keys) askKeyring(ctx context.Context, do func() error) error {
	if k.o.Keyring == nil {
		return errors.New("there is no keyring to use here")
	}
	if err := k.keyringError(); err != nil {
		return err
	}
	done := make(chan error, 1) // so that one that answers late is let go
	go func() { done <- do() }()
	err := k.awaitKeyring(ctx, done)
	if err == nil || errors.Is(err, ErrNoEntry) || ctx.Err() != nil {
		return err
	}
	err = fmt.Errorf("the keyring: %s", strings.Join(strings.Fields(err.Error()), " "))
	k.mu.Lock()
	k.broken = err
	k.mu.Unlock()
	return err
}

// keyringError is why the keyring isn't used any more.
func (k *Keys) keyringError() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.broken
}

func (k *Keys) gaveUp() bool { return k.keyringError() != nil }

func (k *Keys) awaitKeyring(ctx context.Context, done <-chan error) error {
	soon, late := time.NewTimer(keyringPatience), time.NewTimer(keyringTime)
	defer soon.Stop()
	defer late.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-soon.C:
			k.o.Notice("waiting for the keyring; it may want to be unlocked")
		case <-late.C:
			return fmt.Errorf("no answer within %s", keyringTime)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

package config

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// redacted stands for a secret wherever one is printed.
const redacted = "[redacted]"

// Secret is a value that must not be seen: a key, or a header that may hold
// one. The zero value is empty. It has no way to a text, JSON or log that
// shows the value; [Secret.Reveal] is for the request that needs it.
type Secret struct {
	// A pointer, so that fmt prints an address at most where it may not call
	// the methods below: inside the unexported fields of someone else.
	v *string
}

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
)

// NewSecret hides a value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{v: &value}
}

// Reveal gives the value.
func (s Secret) Reveal() string {
	if s.v == nil {
		return ""
	}
	return *s.v
}

// Empty tells whether there is no value.
func (s Secret) Empty() bool { return s.v == nil }

// Equal compares in a time that doesn't tell where two secrets differ.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// String says that there is a secret, or nothing.
func (s Secret) String() string {
	if s.v == nil {
		return ""
	}
	return redacted
}

// Format prints the same for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText is what encoders of text, JSON and YAML use.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON is what encoding/json uses.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// LogValue is what log/slog uses.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

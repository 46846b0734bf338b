package term

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestReadSecret(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers []string
		want    string
		err     error
	}{
		{"a paste", []string{"sk-secret\r"}, "sk-secret", nil},
		{"key by key", []string{"a", "b", "\n"}, "ab", nil},
		{"the rest of a paste is dropped", []string{"one\ntwo\n"}, "one", nil},
		{"corrected", []string{"abx\x7f\x7f", "\x15yß\bz\n"}, "yz", nil},
		{"deleted past the begin", []string{"\x7f\x7fa\n"}, "a", nil},
		{"nothing", []string{"  \n"}, "", ErrNoAnswer},
		{"given up", []string{"abc\x04"}, "", ErrNoAnswer},
		{"gone", []string{}, "", ErrNoAnswer},
		{"no terminal", nil, "", ErrNoTerminal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := Test(TestOptions{Answers: tt.answers})
			got, err := s.ReadSecret(t.Context(), "the key of x: ")
			if !errors.Is(err, tt.err) || tt.err == nil && got != tt.want {
				t.Errorf("%q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
			if tty := s.Tty.String(); tt.err != ErrNoTerminal && tty != "the key of x: \n" {
				t.Errorf("the terminal shows %q", tty)
			}
		})
	}
	if _, err := Test(TestOptions{Answers: []string{strings.Repeat("x", maxSecret+1)}}).ReadSecret(t.Context(), ""); err == nil {
		t.Error("a line without an end was read")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if _, err := Test(TestOptions{Answers: []string{"x\n"}}).ReadSecret(ctx, ""); !errors.Is(err, gone) {
		t.Errorf("after the end of the context: %v", err)
	}
}

package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxSecret bounds what is typed in answer to [Streams.ReadSecret]; no key is
// longer.
const maxSecret = 16 << 10

// ReadSecret asks for a line on the person's terminal without showing it, and
// gives it without its end. Where nobody can be asked the error is
// [ErrNoTerminal]; where nothing was typed it is [ErrNoAnswer]. What was typed
// before the prompt appeared is dropped, and so is what follows the line, such
// as the rest of a paste. A ctx that is done ends it at once with its cause.
func (s *Streams) ReadSecret(ctx context.Context, prompt string) (string, error) {
	con, done, err := s.take(ctx, Question{Text: prompt}) // single keys, which aren't echoed
	if err != nil {
		return "", err
	}
	defer done()
	return readLine(ctx, con, CleanText(prompt))
}

// readLine reads keys up to the end of a line, with the editing that a terminal
// would do.
func readLine(ctx context.Context, con console, prompt string) (string, error) {
	if _, err := io.WriteString(con, prompt); err != nil {
		return "", fmt.Errorf("ask %q: %w", prompt, err)
	}
	// Whatever happens, the next line begins at its begin.
	defer func() { _, _ = io.WriteString(con, "\n") }()
	var line secretLine
	for {
		in, err := con.read(ctx)
		switch {
		case errors.Is(err, errResumed):
			_, _ = io.WriteString(con, prompt) // the shell has written since
			continue
		case errors.Is(err, io.EOF):
			return "", ErrNoAnswer
		case err != nil:
			return "", err
		}
		if done, err := line.take(in); done || err != nil {
			return line.text, err
		}
	}
}

// secretLine is a line while it is typed.
type secretLine struct{ text string }

// take adds what was typed and tells whether that ended the line.
func (l *secretLine) take(in []byte) (bool, error) {
	for _, r := range string(in) {
		switch r {
		case '\r', '\n':
			if strings.TrimSpace(l.text) == "" {
				return true, ErrNoAnswer
			}
			return true, nil
		case '\b', 0x7f:
			_, size := utf8.DecodeLastRuneInString(l.text)
			l.text = l.text[:len(l.text)-size]
		case 0x15: // Ctrl-U
			l.text = ""
		case endOfInput, 0x1a: // Ctrl-D, Ctrl-Z
			return true, ErrNoAnswer
		default:
			if len(l.text) >= maxSecret {
				return true, fmt.Errorf("what was typed is longer than %d characters", maxSecret)
			}
			l.text += string(r)
		}
	}
	return false, nil
}

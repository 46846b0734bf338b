package term

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// AskLine asks for a line on the person's terminal, which may be empty, and gives it
// without its end. Errors are those of [Streams.Ask]. What was typed before the
// prompt appeared is dropped.
func (s *Streams) AskLine(ctx context.Context, prompt string) (string, error) {
	prompt = CleanText(prompt)
	if s.asker.line != nil {
		return s.asker.line(ctx, prompt)
	}
	con, done, err := s.take(ctx, Question{Text: prompt, Words: true})
	if err != nil {
		return "", err
	}
	defer done()
	for {
		if _, err := io.WriteString(con, prompt); err != nil {
			return "", fmt.Errorf("ask %q: %w", prompt, err)
		}
		in, err := con.read(ctx)
		switch {
		case errors.Is(err, errResumed):
			continue // the shell has written since
		case err != nil || len(in) == 0 || in[0] == endOfInput:
			_, _ = io.WriteString(con, "\n") // what follows begins a line
			if err == nil || errors.Is(err, io.EOF) {
				err = ErrNoAnswer
			}
			return "", err
		}
		return strings.TrimRight(string(in), "\r\n"), nil
	}
}

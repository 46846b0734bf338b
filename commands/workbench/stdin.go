package workbench

import (
	"context"
	"io"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/engine/fault"
)

// ReadStdin reads all of standard input, up to a limit.
func ReadStdin(ctx context.Context, rt *Runtime, limit int64) (string, error) {
	if rt.Streams.In.IsTerminal() {
		return "", cmdline.Usagef("", "standard input is the terminal; put a pipe or a file there")
	}
	data, err := io.ReadAll(io.LimitReader(rt.Streams.In, limit+1))
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fault.Wrap(fault.Usage, "read standard input", err)
	case int64(len(data)) > limit:
		return "", cmdline.Usagef("", "standard input has more than %s, the limit", term.Size(limit))
	}
	return string(data), nil
}

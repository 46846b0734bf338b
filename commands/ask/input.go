package ask

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/provider/script"
	"github.com/fettle-cli/fettle/internal/appendfile"
)

// readParts gathers the message: files first, then images, then what was piped
// in and the prompt as one text.
func readParts(ctx context.Context, rt *workbench.Runtime, cfg *config.Config, o askOptions) ([]provider.Part, error) {
	in := input.Options{
		In: rt.Streams.In.File(), Notice: rt.Notice,
		StdinBytes: cfg.Limits.StdinBytes, FileBytes: cfg.Limits.FileBytes,
	}
	named := input.WantsStdin(o.files)
	if named && o.noStdin {
		return nil, cmdline.Usagef("", "-f - reads standard input, and --no-stdin forbids it")
	}
	var piped []byte
	var err error
	if !named && !o.noStdin {
		if piped, err = input.Stdin(ctx, in); err != nil {
			return nil, err
		}
	}
	attached, err := input.Files(ctx, o.files, in)
	if err != nil {
		return nil, err
	}
	var files, images []provider.Part
	for _, p := range attached {
		if p.Kind == provider.ImagePart {
			images = append(images, p)
		} else {
			files = append(files, p)
		}
	}
	parts := append(files, images...)
	text, err := o.text(piped, len(parts) > 0)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) != "" {
		parts = append(parts, provider.Part{Kind: provider.TextPart, Text: text})
	}
	if len(parts) == 0 && o.fromServer == nil {
		return nil, cmdline.Usagef(`fettle ask "why is the sky blue?"`, "there is nothing to ask")
	}
	return parts, nil
}

// recording is the file that --record appends to; its zero value records
// nothing.
type recording struct{ f *os.File }

func openRecord(path string) (*recording, error) {
	if path == "" {
		return &recording{}, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Usage, "--record", err)
	}
	if !recordable(f) {
		f.Close() // nothing was written
		return nil, cmdline.Usagef("fettle ask --record tape.jsonl …", "--record %s holds something else than a recording", path)
	}
	return &recording{f}, nil
}

// recordable tells whether the file is empty or a recording already: nothing
// else is appended to.
func recordable(f *os.File) bool {
	const header = `{"fettle_script"`
	head := make([]byte, len(header))
	n, err := f.Read(head)
	return n == 0 && errors.Is(err, io.EOF) || string(head[:n]) == header
}

// Write appends the line of a response.
func (r *recording) Write(line []byte) (int, error) {
	if err := appendfile.Line(r.f, line); err != nil {
		return 0, err
	}
	return len(line), nil
}

func (r *recording) wrap(p provider.Provider) provider.Provider {
	if r.f == nil {
		return p
	}
	return script.Record(p, r)
}

// close gives err, or what went wrong with the file.
func (r *recording) close(err error) error {
	if r.f == nil {
		return err
	}
	if closeErr := r.f.Close(); closeErr != nil && err == nil {
		return fault.Wrap(fault.Failed, "--record", closeErr)
	}
	return err
}

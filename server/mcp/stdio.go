package mcp

import (
	"context"
	"errors"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLine bounds a message of a client: arguments may hold a whole file.
	maxLine = 16 << 20
	// readerTime bounds the wait for the reader, which may hang in a read that
	// nothing interrupts.
	readerTime = 100 * time.Millisecond
)

// Serve answers one client until its stream ends, it can't be written to, or ctx
// ends. A line that is not a message is answered with a JSON-RPC error, and the session
// continues. What runs then is cancelled, and has ended when Serve returns. The host is
// closed by it.
func (h *Host) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	own := newSession(h.eng)
	defer own.end()
	defer h.Close()
	sv := h.serve("", own)
	if err := sv.refresh(ctx); err != nil { // rather than at each request
		return err
	}
	from, to := io.Pipe()
	client := &messages{out: out}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := client.copyMessages(to, in)
		h.stop(errEnding) // nobody is there any more who would hear of a result
		to.CloseWithError(err)
	}()
	defer func() {
		_ = from.Close() // nobody reads any more
		if c, ok := in.(io.Closer); ok {
			_ = c.Close()
		}
		t := time.NewTimer(readerTime)
		defer t.Stop()
		select {
		case <-ended:
		case <-t.C:
		}
	}()
	// Run ends only once the calls that run have.
	defer context.AfterFunc(ctx, func() { h.stop(errEnding) })()
	err := sv.sdk.Run(ctx, &sdk.IOTransport{Reader: from, Writer: client, MaxLineLength: maxLine + len(bigID)})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return err
}

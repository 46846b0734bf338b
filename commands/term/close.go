package term

import "io"

// Close ends the stream, so that a reader of it sees its end before the
// program's. Nothing may be written after it.
func (o *Output) Close() error {
	o.screen.mu.Lock()
	defer o.screen.mu.Unlock()
	if c, ok := o.w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

package term

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
)

// Page runs show with stdout going through the person's pager, where a person
// looks at stdout; else it just runs show. The pager is $PAGER, or less, which
// ends by itself where all fits the screen; an empty PAGER or cat is none. A
// pager that was left early is no error.
func (s *Streams) Page(show func() error) error {
	pager := s.pager()
	if pager == nil {
		return show()
	}
	in, err := pager.StdinPipe()
	if err == nil {
		err = pager.Start()
	}
	if err != nil {
		return show() // what was asked for matters more than how it is shown
	}
	// Ctrl-C is the pager's while it runs: it must not be left behind alone.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	back := s.Out.redirect(in)
	err = show()
	_ = in.Close() // the pager's end of input; it may be gone
	left := back()
	_ = pager.Wait() // its status says nothing about what was shown
	if left != nil {
		return nil
	}
	return err
}

// pager is the command to page with; nil where nothing is to be paged.
func (s *Streams) pager() *exec.Cmd {
	out, real := s.Out.w.(*os.File)
	if !real || !s.Out.movable() || !s.CanAsk() {
		return nil
	}
	name, set := os.LookupEnv("PAGER")
	if !set && runtime.GOOS != "windows" { // its more garbles what isn't ASCII
		name = "less"
	}
	words := strings.Fields(name)
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	cmd := exec.Command(words[0], words[1:]...)
	if cmd.Err != nil {
		return nil // it isn't there
	}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if _, set := os.LookupEnv("LESS"); !set {
		// End if it fits, show colours, leave the text on the screen.
		cmd.Env = append(os.Environ(), "LESS=FRX")
	}
	return cmd
}

// redirect sends what is written to w, until back is called, which gives the
// first error of that time and forgets it.
func (o *Output) redirect(w io.Writer) (back func() error) {
	o.screen.mu.Lock()
	defer o.screen.mu.Unlock()
	was, err := o.w, o.err
	o.w = w
	return func() error {
		o.screen.mu.Lock()
		defer o.screen.mu.Unlock()
		left := o.err
		o.w, o.err = was, err
		return left
	}
}

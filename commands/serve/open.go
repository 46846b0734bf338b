package serve

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	goruntime "runtime"

	"github.com/fettle-cli/fettle/commands/workbench"
)

// openBrowser opens an address in the person's browser, and leaves it to itself.
func openBrowser(ctx context.Context, rt *workbench.Runtime, address string) error {
	words, why := browser(rt, goruntime.GOOS)
	if why != "" {
		return errors.New(why)
	}
	if err := exec.CommandContext(ctx, words[0], append(words[1:], address)...).Run(); err != nil {
		return fmt.Errorf("open a browser: %w", err)
	}
	return nil
}

// browser is the command that opens an address on a system, or why there is none.
// It ends at once, whatever the browser does.
func browser(rt *workbench.Runtime, system string) (words []string, why string) {
	switch system {
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}, ""
	case "darwin":
		return []string{"open"}, ""
	}
	shown := false
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} {
		shown = shown || rt.Streams.Getenv(name) != ""
	}
	if !shown { // xdg-open would look for a browser that works in a terminal, and take ours
		return nil, "there is no screen to open a browser on"
	}
	opener, err := exec.LookPath("xdg-open")
	if err != nil {
		return nil, "there is no xdg-open to open a browser with"
	}
	// A shell's background command lives on when this program ends, and takes no
	// Ctrl-C that is meant for it.
	return []string{"sh", "-c", `"$0" "$@" </dev/null >/dev/null 2>&1 &`, opener}, ""
}

package help

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fettle-cli/fettle/toolset/python"
	"github.com/fettle-cli/fettle/toolset/validate"
)

// The toolset on the page about services is one: it is judged without an error or a warning, and
// the page's bounds are those that hold.
func TestTheExampleOfAServiceIsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range exampleService() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text) {
			if !strings.Contains(servicesPage(), strings.TrimRight("  "+line, " \n")+"\n") {
				t.Errorf("%s: the page lacks the line %q", name, line)
			}
		}
	}
	report, err := validate.Open(t.Context(), dir, validate.Options{})
	if err != nil || report.Errors+report.Warnings > 0 {
		t.Errorf("found %+v, %v", report, err)
	}
	bounds := fmt.Sprintf("At most %d live in a chat, %d in all.", python.MaxChatServices, python.MaxServices)
	if !strings.Contains(strings.Join(strings.Fields(servicesPage()), " "), bounds) || python.ServiceIdle != 30*time.Minute {
		t.Errorf("the page doesn't say %q, or half an hour isn't %s", bounds, python.ServiceIdle)
	}
}

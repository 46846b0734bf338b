package trust

import (
	"time"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/config/trust"
	"github.com/fettle-cli/fettle/commands/config/wholefile"
	"github.com/fettle-cli/fettle/commands/term"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
)

// trustListJSON is what `trust --list --output json` prints.
type trustListJSON struct {
	SchemaVersion int                `json:"schema_version"`
	Projects      []trustedFileJSON  `json:"projects"`
	Commands      []trustCommandJSON `json:"commands"`
}

type trustedFileJSON struct {
	File  string    `json:"file"`
	Sum   string    `json:"sha256"`
	Time  time.Time `json:"time"`
	State string    `json:"state"` // trusted, changed, gone
}

type trustCommandJSON struct {
	Command string    `json:"command"` // without what looks like a key
	Sum     string    `json:"sha256"`
	Time    time.Time `json:"time"`
	Project string    `json:"project,omitempty"`
}

// listAll prints what is trusted.
func (t *truster) listAll() error {
	projects, commands, err := t.store.List()
	if err != nil {
		return fault.Wrap(fault.Failed, "nothing is trusted", err, fault.Run("rm "+cmdline.ShellWord(t.store.Path())))
	}
	out := trustListJSON{SchemaVersion: workbench.OutputVersion, Projects: []trustedFileJSON{}, Commands: []trustCommandJSON{}}
	for _, p := range projects {
		out.Projects = append(out.Projects, trustedFileJSON{p.File, p.Sum, p.Time, stateOf(p)})
	}
	for _, c := range commands {
		out.Commands = append(out.Commands, trustCommandJSON{c.Shown, c.Sum, c.Time, c.Project})
	}
	if t.o.output == "json" {
		return workbench.PrintJSON(t.rt, out)
	}
	if len(projects)+len(commands) == 0 {
		t.rt.Notice("nothing is trusted yet")
		return nil
	}
	style := t.rt.Streams.Out.Style()
	table := term.NewTable(t.rt.Streams.Out,
		term.Column{Title: "what", Cut: true}, term.Column{Title: "state"}, term.Column{Title: "since", Style: style.Dim})
	now := time.Now()
	for _, p := range out.Projects {
		table.Row(p.File, p.State, term.Ago(now, p.Time))
	}
	for _, c := range out.Commands {
		table.Row("!"+c.Command, "trusted", term.Ago(now, c.Time))
	}
	return table.Flush()
}

// stateOf tells whether a file still is what was trusted.
func stateOf(p trust.Project) string {
	const most = 1 << 20 // as much as a configuration may have
	data, _, err := wholefile.Read(p.File, most)
	switch {
	case err != nil || data == nil:
		return "gone"
	case trust.SumOf(string(data)) != p.Sum:
		return "changed"
	}
	return "trusted"
}

// Printed are the types of what this command prints as JSON, by what has them.
func Printed() map[string]any {
	return map[string]any{
		"trust": trustJSON{}, "trust list": trustListJSON{}, "grant": grantJSON{}, "project": trustedFileJSON{}, "command": trustCommandJSON{},
	}
}

package completion

import (
	"embed"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/suggest"
	"github.com/fettle-cli/fettle/commands/workbench"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/didyoumean"
)

// shellScripts are what shells read; each calls `fettle __complete`.
//
//go:embed shells/fettle.bash shells/fettle.zsh shells/fettle.fish shells/fettle.ps1
var shellScripts embed.FS

const completionDescription = `Prints a script that the shell reads. It completes commands, flags, the values of
flags, models, chats, prompts and settings; it asks no provider, and a list of
models is the one that models list had last.

For one session:
  bash         source <(fettle completion bash)
  zsh          source <(fettle completion zsh)             after compinit
  fish         fettle completion fish | source
  powershell   fettle completion powershell | Out-String | Invoke-Expression

For all: add that line to ~/.bashrc, ~/.zshrc, ~/.config/fish/config.fish or the
file that PowerShell calls $PROFILE.`

// New makes the command completion.
func New(rt *workbench.Runtime) *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print what makes a shell complete fettle's words",
		ArgsUsage:   "SHELL",
		Description: completionDescription,
		UsageText:   "fettle completion bash\nfettle completion fish",
		Before:      cmdline.OneArgument("fettle completion bash", "completion wants a shell: %s", strings.Join(suggest.Shells(), ", ")),
		Action: func(c *cli.Context) error {
			return runCompletion(rt, c.Args().First())
		},
	}
}

func runCompletion(rt *workbench.Runtime, shell string) error {
	name := "shells/fettle." + shell
	if shell == "powershell" || shell == "pwsh" {
		name = "shells/fettle.ps1"
	}
	script, err := shellScripts.ReadFile(name)
	if err != nil {
		return unknownShell(shell)
	}
	rt.Streams.Out.WriteString(string(script))
	return nil
}

func unknownShell(shell string) error {
	f := fault.New(fault.Usage, "there is no completion for "+shell)
	if near := didyoumean.Of(shell, suggest.Shells()); near != "" {
		f.Msg += " (did you mean " + near + "?)"
		f.Remedies = append(f.Remedies, fault.Run("fettle completion "+near))
	}
	f.Remedies = append(f.Remedies, fault.Run("fettle completion --help"))
	return f
}
